"""The words of check files, which say what exercises an answer may touch."""

from gradekit_authoring.grade_variants import words_by_name


def test_words_and_arguments_are_listed_by_the_name_that_a_statement_binds():
    source = "import a\n\ndef f(x, y):\n    return x.b + g('c', key=1)\n\nf(d)"
    found = words_by_name(source)
    assert set(found) == {"a", "f", ""}
    assert {"x", "y", "b", "g", "c", "key"} <= found["f"]
    assert found[""] == {"f", "d"}

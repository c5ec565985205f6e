"""What a cell defines and uses, found without running it."""

import pytest

from coursekit.student.names import defined_names, mentions, top_level_words


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(x):\n    y = 1", {"f"}),
        ("class A:\n    b = 1", {"A"}),
        ("import torch.nn as nn, os.path", {"nn", "os"}),
        ("a, (b, c) = 1, (2, 3)\nd: int = 4", {"a", "b", "c", "d"}),
        ("%matplotlib inline\nx = 1", {"x"}),
        ("def broken(:\n    pass\nx = 3", {"broken", "x"}),
        ("", set()),
    ],
)
def test_names_bound_at_top_level(source, expected):
    assert defined_names(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "F.scaled_dot_product_attention(q, k, v)",
        "from torch.nn.functional import scaled_dot_product_attention as sdpa",
        "getattr(F, 'scaled_dot_product_attention')(q)",
        "torch.nn.TransformerEncoderLayer(4, 2)",
    ],
)
def test_a_forbidden_name_is_found_however_it_is_written(source):
    assert mentions(source, ("scaled_dot_product_attention", "Transformer*"))


def test_prose_about_a_forbidden_name_is_no_use_of_it():
    source = "def f(x):\n    '''Like F.scaled_dot_product_attention.'''\n    # scaled_dot_product_attention\n    return x"
    assert mentions(source, ("scaled_dot_product_attention",)) is None


def test_words_and_arguments_are_listed_by_the_name_that_a_statement_binds():
    source = "import a\n\ndef f(x, y):\n    return x.b + g('c', key=1)\n\nf(d)"
    found = top_level_words(source)
    assert set(found) == {"a", "f", ""}
    assert {"x", "y", "b", "g", "c", "key"} <= found["f"]
    assert found[""] == {"f", "d"}

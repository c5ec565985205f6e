"""Checks of exercise 1: preprocess."""

from coursekit.checks import points

TABLE = {
    "mice": "mouse",
    "saw": "see",
    "sees": "see",
    "women": "woman",
    "children": "child",
    "knives": "knife",
}


@points(4)
def test_the_whole_pipeline(student, assert_words):
    """All four steps together return the bare words in order, including repeated words."""
    texts = {
        "two sentences": "The mice, the women and a child saw the mice. Yesterday they saw knives!",
        "a question": "Does an owl see the knives, or do the women see an owl?",
    }
    for what, text in texts.items():
        words = student.preprocess(text, TABLE)
        assert_words(words, "The words of a text are wrong.", context=what)


@points(3)
def test_case(student, assert_words):
    """No capitals are left, and capitalized words are looked up like all others: The, Saw, MICE."""
    words = student.preprocess("The cat sleeps. THE cat! Saw Anna MICE? An End", TABLE)
    assert_words(
        words,
        "Capitalized articles and inflected forms are not handled like those in lower case.",
        name="words",
    )


@points(2)
def test_punctuation(student, assert_words):
    """No token without a letter or digit is left: . , ? ! ; : ( ) \" ' - … ."""
    words = student.preprocess('"Well," he said (twice): 3 cats; two-two... no?! \u2026 yes - yes', TABLE)
    assert_words(words, "The words of a text with various punctuation are wrong.", name="words")


@points(3)
def test_articles(student, assert_words):
    """The words a, an and the are removed, and no others: they, Anna, another, theatre and that stay."""
    words = student.preprocess(
        "a cat than an ant, the theatre and they that area bathe another banana an a", TABLE
    )
    assert_words(
        words, "Remove only the articles, not other words that contain `a`, `an` or `the`.", name="words"
    )


@points(3)
def test_inflection(student, assert_words):
    """A word that is a key of the table becomes its value, and every other word stays as it is."""
    for number, table in enumerate([{"cats": "feline", "bus": "vehicle"}, {"bus": "car"}, {}]):
        words = student.preprocess(
            "Cats and dogs is this bus or glass, his boxes went red, missed one bus", table
        )
        assert_words(
            words,
            "The words don't match the table that was passed as `lemmas`.",
            name="words",
            context=f", table {number}",
        )

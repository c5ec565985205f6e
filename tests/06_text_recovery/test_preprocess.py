"""Checks of exercise 1: preprocess."""

from gradekit.checks import points

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
        "articles next to punctuation": '"The mice!" (an owl) saw a-z, the... end; "a cat, the',
        "apostrophes": "Anna's mice aren't Bob's, it's 7 o'clock",
        "no words": "The ... a!",
        "a word twice in a row": "No, no, the mice saw mouse very very often!",
        "empty": "",
    }
    for what, text in texts.items():
        words = student.preprocess(text, TABLE)
        assert_words(words, "The words of a text are wrong.", context=what)


# each of the other checks is about one step, so its text needs no other


@points(3)
def test_case(student, words_of, assert_words):
    """No capitals are left, and capitalized words are treated like all others: The, Saw, MICE, or all of them."""
    text = "The cat sleeps. THE cat! Saw Anna MICE? An End, do I?"
    for what, version in {
        "some capitals": text,
        "capitals alone": text.upper(),
        "lower case": text.lower(),
    }.items():
        words = student.preprocess(version, TABLE)
        capitals = [word for word in words_of(words) if word != word.lower()]
        assert not capitals, f"There are capitals left in {capitals[0]!r}."
        assert_words(
            words, "Capitalized articles or inflected forms are treated differently.", context=f", {what}"
        )
    assert_words(student.preprocess("Cold RED sky", {}), "Words with capitals are wrong.", name="words")


@points(2)
def test_punctuation(student, assert_words):
    """No token without a letter or digit is left: . , ? ! ; : ( ) \" ' - … ; é and ï are letters too."""
    text = '"well," he told (twice): 3 dog; two-one... no?! \u2026 so - i x 42 if zoë naïve café'
    words = student.preprocess(text, TABLE)
    assert_words(words, "The words of a text with various punctuation are wrong.", name="words")
    words = student.preprocess("É — мир ¿ 東京 ö …", TABLE)
    assert_words(words, "Letters are not only a to z.", name="words", context=", letters of other languages")


@points(3)
def test_articles(student, assert_words):
    """The words a, an and the are removed, also several in a row, and no others: they, another, theatre and that stay."""
    words = student.preprocess("a cat than an ant the theatre and they that area bathe another banana", TABLE)
    assert_words(
        words, "Remove only the articles, not other words that contain `a`, `an` or `the`.", name="words"
    )
    words = student.preprocess("the the ant and a the an theatre an a", TABLE)
    assert_words(words, "Of several articles in a row, all go.", name="words", context=", articles in a row")


@points(3)
def test_inflection(student, assert_words):
    """A word that is a key of the table becomes its value, and every other word stays as it is."""
    tables = [
        {"dogs": "hound", "bus": "vehicle"},
        {"bus": "car"},
        {},
        {"missed": "went", "went": "go"},
        # the text has their values with an ending, and their keys inside other words
        {"hounds": "dog", "bigger": "boxe", "ran": "miss", "is": "be", "mis": "red", "fox": "bu"},
    ]
    for number, table in enumerate(tables):
        words = student.preprocess("dogs or foxes is this bus his boxes went red missed one", table)
        assert_words(
            words,
            "The words don't match the table that was passed as `lemmas`.",
            name="words",
            context=f", table {number}",
        )

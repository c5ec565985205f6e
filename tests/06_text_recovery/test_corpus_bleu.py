"""Checks of exercise 6: corpus_bleu, compared with sacrebleu."""

from gradekit.checks import assert_close, assert_not_rounded, assert_raises, points


@points(6, see="Putting it together")
def test_equals_sacrebleu(student, assert_bleu, number_of, recorded_corpus, drawn_corpus, sacrebleu_score):
    """The BLEU score equals that of sacrebleu, from 0 to 100, and is not rounded."""
    # three digits are too few, those of float32 are enough
    corpus = recorded_corpus("corpus")
    found = student.corpus_bleu(*corpus)
    assert_bleu(found, name="BLEU", atol=1e-4)
    assert_not_rounded(number_of("corpus_bleu", found), sacrebleu_score(*corpus).score, name="BLEU")
    for _ in range(2):
        candidates, references = drawn_corpus(sentences=8, kinds=4)
        # no candidate is too short: the penalty has a check of its own
        references = [side[: len(own)] for own, side in zip(candidates, references, strict=True)]
        candidates, references = (
            [*side, side[0], side[0]] for side in (candidates, references)
        )  # equal pairs
        found = number_of("corpus_bleu", student.corpus_bleu(candidates, references))
        assert_close(
            found,
            sacrebleu_score(candidates, references).score,
            name="BLEU",
            context=", compared with sacrebleu,",
            atol=1e-4,
            rtol=0,
        )


@points(4, see="Putting it together")
def test_sums_over_the_corpus(student, assert_bleu):
    """Counts are added up over all sentences before they are divided: long sentences count more than short ones."""
    long, short = [f"w{i}" for i in range(20)], [f"v{i}" for i in range(5)]
    wrong_end = [*short[:4], "x"]
    for what, candidates in {
        "short one wrong": [long, wrong_end],
        "long one wrong": [[*long[:9], "y", *long[10:]], short],
        "one sentence without any match": [long, ["p", "q", "r", "s", "t"]],
        "one sentence too short for n = 4": [long, short[:2]],
        "a wrong word in one too short for n = 4": [long, [short[0], "x", short[2]]],
        "one candidate empty": [long, []],
    }.items():
        assert_bleu(student.corpus_bleu(candidates, [long, short]), name="BLEU", context=f", {what}")
    twice = [wrong_end, long, wrong_end], [wrong_end, [*long[:12], "y", *long[13:]], short]
    assert_bleu(student.corpus_bleu(*twice), name="BLEU", context=", two candidates equal")
    many = [f"w{i}" for i in range(2000)]
    assert_bleu(
        student.corpus_bleu([[*many, "x"]], [[*many, "y"]]),
        name="BLEU",
        context=", the last of 2001 tokens wrong",
    )


@points(3, see="Putting it together")
def test_no_match_no_score(student, assert_bleu):
    """If there are no matches for some n, or no n-grams at all, BLEU is 0, without an error. Tokens are compared as they are."""
    meant = ["a", "b", "c", "d", "e", "f"]
    for what, candidate in {
        "no token right": ["u", "v", "w", "x", "y"],
        "capitals": ["A", "B", "C", "D", "E", "F"],
        "the same letters in other tokens": ["ab", "cd", "ef", "abc", "def", "abcdef"],
        "no 4-gram right": ["a", "b", "c", "x", "d", "e", "f"],
        "no 2-gram right": ["f", "e", "d", "c", "b", "a"],
        "too short for n = 4": ["a", "b", "c"],
        "empty": [],
    }.items():
        assert_bleu(student.corpus_bleu([candidate], [meant]), name="BLEU", context=f", {what}")
    found = student.corpus_bleu([["don't", "saw", "a-b", "x"]], [["don't", "see", "a-b", "x"]])
    assert_bleu(found, name="BLEU", context=", no 4-gram right, marks inside tokens such as don't")
    assert_bleu(student.corpus_bleu([], []), name="BLEU", context="of an empty corpus")
    for size in (1, 3):
        copies = [meant[:length] for length in range(1, 4)][-size:]
        context = f"of {size} perfect cop{'y' if size == 1 else 'ies'}, too short for n = 4"
        assert_bleu(student.corpus_bleu(copies, copies), name="BLEU", context=context)


@points(3, see="Putting it together")
def test_brevity(student, assert_bleu, number_of):
    """The brevity penalty is applied once, from the lengths of the whole corpus."""
    long, short = [f"w{i}" for i in range(12)], [f"v{i}" for i in range(8)]
    # the same tokens match in both references, so only the penalty differs
    for what, candidates, references, others in [
        ("all too short", [long[:7], short[:5]], [long, short], [long[:7], short[:5]]),
        ("a long one makes up for a short one", [[*long, "x", "y", "z"], short[:5]], [long, short], [long, short[:5]]),
        ("too long", [[*long, "x", "y"], [*short, "z"]], [long, short], [[*long, "u"], short]),
    ]:  # fmt: skip
        score, other = (
            number_of("corpus_bleu", student.corpus_bleu(candidates, side)) for side in (references, others)
        )
        assert other > 0, "BLEU is 0 for candidates that match their references."
        assert_bleu(
            score / other,
            name="BLEU",
            context=f", divided by that with references of other lengths, {what}",
            atol=1e-3,
        )


@points(2)
def test_max_n(student, assert_bleu, recorded_corpus):
    """With another max_n, the geometric mean runs over n = 1 to max_n."""
    candidates, references = recorded_corpus("corpus")
    for max_n in [1, 2, 3, 5]:
        assert_bleu(
            student.corpus_bleu(candidates, references, max_n=max_n),
            name="BLEU",
            context=f"for max_n={max_n}",
        )
    short = student.corpus_bleu([["a", "b", "c"]], [["a", "b", "d"]], max_n=2)
    assert_bleu(short, name="BLEU", context="of three tokens for max_n=2")
    four, nine = [f"w{i}" for i in range(4)], [f"v{i}" for i in range(9)]
    for what, corpus in {
        "4 tokens, all right,": [four],
        "4 and 9 tokens, all right,": [four, nine],
        "4 and 9 tokens, one of them wrong,": [four, [*nine[:6], "x", *nine[7:]]],
    }.items():
        found = student.corpus_bleu(corpus, [four, nine][: len(corpus)], max_n=6)
        assert_bleu(found, name="BLEU", context=f"of {what} for max_n=6")


@points(1)
def test_unequal_numbers(student):
    """If the numbers of candidates and references differ, a ValueError names both numbers."""
    sentence = ["a", "b", "c", "d", "e"]
    for candidates, references in [(3, 7), (6, 2), (0, 4), (5, 0)]:
        assert_raises(
            ValueError,
            lambda c=candidates, r=references: student.corpus_bleu([sentence] * c, [sentence] * r),
            mentions=(candidates, references),
        )


@points(1)
def test_perfect_copy(student, python_float, drawn_corpus):
    """A corpus compared with itself has BLEU 100, which is a Python float, and so is a BLEU of 0."""
    _, references = drawn_corpus()
    found = python_float("corpus_bleu", student.corpus_bleu(references, references))
    assert_close(found, 100.0, name="BLEU", context="of a perfect copy")
    python_float("corpus_bleu", student.corpus_bleu([["a"]], [["b"]]))
    python_float("corpus_bleu", student.corpus_bleu([], []))

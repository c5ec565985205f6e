"""Checks of exercise 5: analogy. None of them uses the student's other answers."""

import torch

from gradekit.checks import for_checks, points

WORDS = [f"word{number}" for number in range(12)]


def is_number(value):
    return isinstance(value, float) or (torch.is_tensor(value) and value.shape == ())


@for_checks
def read(read_pairs, /, found):
    """Return (rows, similarities) of the answer, or fail the check."""
    return read_pairs(found, WORDS, is_number, "The similarity should be a number.")


@points(2, see="Arithmetic with words")
def test_nearest_to_the_sum(student, reference, read, similar, assert_nearest):
    """The answers are the words nearest to v_b - v_a + v_c by cosine, with their similarities."""
    vectors, lengths = reference.inputs("table", vectors=(12, 5), lengths=(12, 1))
    vectors = vectors * (0.2 + lengths.abs())
    rows, scores = read(student.analogy("word8", "word3", "word5", WORDS, vectors, 4))
    reference.assert_close(scores, name="similarities")
    reference.assert_close(rows, name="rows", context="of the words")
    rows, _ = read(student.analogy("word1", "word10", "word6", WORDS, vectors, 4))
    reference.assert_close(rows, name="rows", context="of the words for the next question")
    line = WORDS[:6], torch.tensor([[1.0], [-1.0], [2.0], [3.0], [9.0], [-4.0]])
    for words, vectors in [*similar(), line]:
        found = student.analogy("word2", "word4", "word0", words, vectors, 2)
        assert_nearest(found, words, vectors[4] - vectors[2] + vectors[0], vectors, [2, 4, 0])


@points(2, see="Arithmetic with words")
def test_leaves_out_the_words_of_the_question(student, reference, read):
    """None of the three words of the question is an answer, wherever they are in the table."""
    base, spread, steps = reference.inputs("vectors", base=(5,), spread=(12, 5), steps=(3, 5))
    times = torch.zeros(3)
    for question in [(8, 3, 5), (0, 11, 6), (4, 1, 9)]:
        vectors = -base + 0.5 * spread
        vectors[list(question)] = base + 0.05 * steps  # a small step: they are the three nearest words
        rows, _ = read(student.analogy(*(WORDS[row] for row in question), WORDS, vectors, 6))
        assert len(rows), "The list of answers is empty."
        times += torch.tensor([float((rows == row).sum()) for row in question])
    reference.assert_close(
        times, context="count of the answers that are the first, second, third word of a question"
    )
    for question in [(8, 3, 5), (0, 11, 6), (4, 1, 9)]:
        vectors = -(2.0 ** torch.arange(12).unsqueeze(1))  # (12, 1)
        vectors[list(question)] = torch.tensor([[1.0], [2.0], [3.0]])
        rows, _ = read(student.analogy(*(WORDS[row] for row in question), WORDS, vectors, 9))
        assert not set(rows.tolist()) & set(question), (
            "Where all other words have the opposite direction, a word of the question is among the answers."
        )


@points(1)
def test_keeps_words_of_the_same_direction(student, draw, read):
    """Another word with the same direction as a word of the question may be an answer."""
    vectors = draw.normal(12, 5)
    vectors[4] = vectors[3]  # word4 is the same as c
    vectors[8] = vectors[7] + 0.01 * draw.normal(5)  # the step from a to b is small
    rows, _ = read(student.analogy("word7", "word8", "word3", WORDS, vectors, 2))
    assert len(rows) and rows[0] == 4, "The word with the same vector as the third word should come first."


@points(1)
def test_number_of_words(student, draw, read):
    """The result has k different words, by default 5, most similar first."""
    vectors, near = draw.normal(12, 5), draw.normal(12, 5)
    near[[2, 0, 10]] = near[2] + 0.01 * draw.normal(
        3, 5
    )  # the words of the question are nearest to their sum
    for table, options, count in [
        (vectors, {}, 5),
        (vectors, {"k": 1}, 1),
        (vectors, {"k": 9}, 9),
        (near, {"k": 4}, 4),
    ]:
        rows, scores = read(student.analogy("word2", "word0", "word10", WORDS, table, **options))
        assert len(set(rows.tolist())) == len(rows) == count, (
            f"There should be {count} different words, but there are {len(set(rows.tolist()))}."
        )
        assert (scores[:-1] >= scores[1:]).all(), "The most similar word should come first."

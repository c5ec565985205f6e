"""Checks of exercise 4: cosine_similarity and nearest_words."""

import torch
import torch.nn.functional as F

from gradekit.checks import assert_close, assert_shape, for_checks, forbid_in, points

WORDS = [f"word{number}" for number in range(12)]


only_own_code = forbid_in(["cosine_similarity", "nearest_words"], ".cosine_similarity", ".CosineSimilarity")


@for_checks
def read(read_pairs, /, found, words=WORDS):
    """Return (rows, similarities) of the answer, or fail the check."""
    return read_pairs(
        found, words, lambda number: isinstance(number, float), "The similarity should be a Python float."
    )


@points(2, see="How similar are two vectors?")
def test_equals_the_formula(student, reference):
    """cosine_similarity is the dot product divided by both lengths."""
    u, v = reference.inputs("vectors", u=(4, 6), v=(4, 6))
    reference.assert_close(student.cosine_similarity(u, v), name="similarity")


@points(1)
def test_broadcasts(student, draw):
    """The vectors broadcast, and the last axis is removed: for (width,) and (n, width), the result is (n,)."""
    n, m, width = draw.sizes(3)
    for a, b in [
        ((width,), (n, width)),
        ((n, 1, width), (m, width)),
        ((width,), (width,)),
        ((43,), (521, 43)),
        ((1, width), (1, width)),
        ((width,), (2, m, n, width)),
        ((2, m, n, width), (n, width)),
        ((width,), (2, 1, m, n, width)),
    ]:
        u, v = draw.normal(*a), draw.normal(*b)
        found = student.cosine_similarity(u, v)
        found = torch.as_tensor(found)
        expected = F.cosine_similarity(u, v, dim=-1)
        assert_shape(found, tuple(expected.shape), name="similarity", context=f"of {a} and {b}")
        assert_close(found, expected, name="similarity", context=f"of {a} and {b}")


@points(1, see="How similar are two vectors?")
def test_length_does_not_count(student, draw):
    """Scaling the vectors does not change the similarity."""
    u, v = draw.normal(5, 7), draw.normal(5, 7)
    expected = F.cosine_similarity(u, v, dim=-1)
    assert_close(
        student.cosine_similarity(1000 * u, 500 * v), expected, name="similarity", context="of long vectors"
    )
    assert_close(
        student.cosine_similarity(0.02 * u, 0.01 * v),
        expected,
        name="similarity",
        context="of short vectors",
        atol=1e-4,
    )
    v[0] = u[0]
    u, v = (7e-4 * F.normalize(each, dim=-1) for each in (u, v))
    found, expected = student.cosine_similarity(u, v), F.cosine_similarity(u, v, dim=-1)
    assert_close(found, expected, name="similarity", context="of vectors of length 0.0007", atol=0.05)


@points(1, see="How similar are two vectors?")
def test_zero_vector(student, draw):
    """A vector of zeros has similarity 0 to every vector, not NaN."""
    u, v = draw.normal(3, 5), draw.normal(3, 5)
    u[1] = 0
    found = student.cosine_similarity(u, v)
    assert_close(found[1], torch.tensor(0.0), name="similarity", context="of the zero vector")
    for name, found in [
        ("to the zero vector", student.cosine_similarity(v, u)[1]),
        ("of two zero vectors", student.cosine_similarity(u[1], u[1])),
    ]:
        assert_close(torch.as_tensor(found), torch.tensor(0.0), name="similarity", context=name)


@points(2)
def test_nearest(student, reference, read, similar, assert_nearest):
    """nearest_words returns the words with the largest cosine similarity, most similar first, with their similarities."""
    vectors, lengths = reference.inputs("table", vectors=(12, 5), lengths=(12, 1))
    rows, scores = read(student.nearest_words("word4", WORDS, vectors * (0.2 + lengths.abs()), 4))
    reference.assert_close(scores, name="similarities")
    reference.assert_close(rows, name="rows", context="of the words")
    for words, vectors in [*similar(), (WORDS[:5], torch.tensor([[1.0], [-1.0], [2.0], [3.0], [4.0]]))]:
        found = student.nearest_words("word4", words, vectors, 3)
        assert_nearest(found, words, vectors[4], vectors, [4])


@points(1)
def test_leaves_out_the_word_only(student, draw, read):
    """Only the word itself is left out, wherever it is and however few are similar; another word with the same direction is not."""
    vectors = draw.normal(12, 5)
    vectors[2] = 2 * vectors[7]
    for word, twin in [(7, 2), (2, 7)]:
        for k in (11, 3):  # with 11, the words of opposite directions are needed as well
            rows, _ = read(student.nearest_words(WORDS[word], WORDS, vectors, k))
            assert word not in rows, "The given word is among the answers."
            assert twin in rows, "The word with the same direction is missing."
            assert rows[0] == twin, "The word with the same direction is not first."
    names, table = (
        ["up", "Up", "UP", "down"],
        torch.tensor([[1.0, 0.0], [1.0, 0.1], [1.0, -0.2], [-1.0, 0.0]]),
    )
    rows, _ = read(student.nearest_words("up", names, table, 2), names)
    assert rows.tolist() == [1, 2], (
        f"The two words nearest to 'up' are 'Up' and 'UP' here, but you return {[names[row] for row in rows]}."
    )
    opposite = -(2.0 ** torch.arange(12).unsqueeze(1))  # (12, 1)
    for word in (0, 6, 11):
        table = opposite.clone()
        table[word] = 1
        rows, _ = read(student.nearest_words(WORDS[word], WORDS, table, 11))
        assert word not in rows, (
            "Where all other words have the opposite direction, the given word is among the answers."
        )
    zero = vectors.clone()
    zero[5] = 0
    rows, scores = read(student.nearest_words(WORDS[7], WORDS, zero, 11))
    right = sorted(
        F.cosine_similarity(zero[7], zero, dim=-1)[[*range(7), *range(8, 12)]].tolist(), reverse=True
    )
    assert_close(
        scores,
        torch.tensor(right),
        name="similarities",
        context="of all words, of which one has a vector of zeros",
    )
    for word in (0, 5, 11):
        zero = vectors.clone()
        zero[word] = 0
        rows, _ = read(student.nearest_words(WORDS[word], WORDS, zero, 3))
        assert len(rows) == 3 and word not in rows, (
            f"For a word with a vector of zeros, 3 other words should be the answer, but of the {len(rows)} words, "
            f"{rows.tolist().count(word)} are the given one."
        )
    vectors[2] = vectors[7]
    rows, _ = read(student.nearest_words(WORDS[7], WORDS, vectors, 3))
    assert rows.tolist().count(2) == 1 and 7 not in rows, (
        "Another word has the same vector as the given one. It should be among the answers, and the given word should not."
    )


@points(1)
def test_number_of_words(student, draw, read):
    """The result has k words, by default 5, and at most all the others."""
    vectors = draw.normal(12, 5)
    for options, count in [({}, 5), ({"k": 1}, 1), ({"k": 11}, 11)]:
        rows, _ = read(student.nearest_words("word0", WORDS, vectors, **options))
        assert len(set(rows.tolist())) == len(rows) == count, (
            f"There should be {count} different words, but there are {len(set(rows.tolist()))}."
        )

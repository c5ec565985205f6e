"""What several check files use: drawn dialogues and masks, and the oracle for log-probabilities."""

import torch


def dialogues(draw, number, vocabulary=9):
    """Return pairs (prompt, answer) of drawn lengths and ids."""
    sizes = [draw.integers(1, 6, (2,)).tolist() for _ in range(number)]
    return [
        (draw.integers(0, vocabulary, (p,)).tolist(), draw.integers(0, vocabulary, (a,)).tolist())
        for p, a in sizes
    ]


def some_counts(draw, batch, length):
    """Return counts (batch, length) with at least one True after position 0 in each row, and some at position 0."""
    counts = draw.bools(batch, length)
    counts[:, 1 + int(draw.integers(0, length - 1, (1,))[0])] = True
    counts[0, 0] = True
    return counts


def any_batches(draw):
    """Yield batches (logits, ids, counts): of drawn sizes, one row, two tokens, large logits, a long row of many words."""
    batch, length, vocabulary = draw.sizes(3, low=3)
    shapes = [
        (batch, length, vocabulary),
        (1, length, vocabulary),
        (batch, 2, vocabulary),
        (batch, length, vocabulary),
    ]
    for (rows, places, words), scale in zip(
        [*shapes, (1, 521, 43)], [1.0, 1.0, 1.0, 300.0, 1.0], strict=True
    ):
        ids = draw.integers(0, words, (rows, places))
        yield scale * draw.normal(rows, places, words), ids, some_counts(draw, rows, places)


def right_log_probs(logits, ids, counts):
    """Return the log-probabilities of the tokens that count, for each row a list."""
    chances = torch.log_softmax(logits.double(), dim=-1)
    batch, length = ids.shape
    return [
        [chances[b, t - 1, ids[b, t]] for t in range(1, length) if bool(counts[b, t])] for b in range(batch)
    ]

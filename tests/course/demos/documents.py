"""The settings of the source documents: their data, sizes, learning rate and steps, with the modules of this course.

The causes of their failures are included: few distinct sequences, nothing held out, ids with two meanings, a constant
learning rate of 0.01, no final norm. Unlike theirs, our modules mask padding.
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from demos.tasks import Task
from gradekit.course import Course
from gradekit_authoring.earlier import load_parts

RATE = 0.01
BOS = 1
UNSEEN = 500
SENTENCES = ["I love deep learning", "you like old books", "we read many papers", "they write good code"]


def document_tasks(course: Course) -> list[Task]:
    """Tasks that measure exact match on sequences that were not in the training data."""
    names = "Transformer IntegerSequenceEmbedding EncoderLayer shift_right exact_match pad"
    parts = load_parts(course.assignment("05_seq2seq"), names.split())

    def trained_on(rows: list[list[int]], vocab_size: int, steps: int) -> nn.Module:
        """Train an encoder-decoder model to reverse the rows, all of them in every step."""
        source, targets = parts.pad(rows), parts.pad([row[::-1] for row in rows])
        model = parts.Transformer(vocab_size, vocab_size, num_heads=1, norm_first=False)
        decoder_input = parts.shift_right(targets, BOS)
        train_at_constant_rate(model, lambda: (source, decoder_input, targets), steps)
        return model.eval()

    def reversed_right(model: nn.Module, rows: Sequence[list[int]]) -> float:
        """Exact match. There is no EOS, so each row is decoded up to its known length."""
        source = torch.tensor(rows)
        tokens = torch.full((len(rows), 1), BOS)
        with torch.no_grad():
            encoded = model.encode(source)
            for _ in range(source.shape[1]):
                token = model.decode(tokens, *encoded)[:, -1].argmax(dim=-1, keepdim=True)
                tokens = torch.cat([tokens, token], dim=1)
        return parts.exact_match(tokens[:, 1:], source.flip(1))

    def integer_reversal(seed: int) -> float:
        """1000 runs of consecutive numbers, about 107 of them distinct; measured on random numbers, length 5."""
        torch.manual_seed(seed)
        starts, lengths = torch.randint(1, 28, (1000,)), torch.randint(3, 7, (1000,))
        rows = [list(range(s, s + n)) for s, n in zip(starts.tolist(), lengths.tolist(), strict=True)]
        model = trained_on(rows, vocab_size=500, steps=300)
        return reversed_right(model, torch.randint(1, 31, (UNSEEN, 5)).tolist())

    def word_reversal(seed: int) -> float:
        """Four sentences; measured on random sequences of their words, length 4."""
        torch.manual_seed(seed)
        words = sorted({word for sentence in SENTENCES for word in sentence.split()})
        rows = [[words.index(word) + 2 for word in sentence.split()] for sentence in SENTENCES]
        model = trained_on(rows, vocab_size=501, steps=500)
        return reversed_right(model, torch.randint(2, len(words) + 2, (UNSEEN, 4)).tolist())

    def sorting(seed: int) -> float:
        """Fresh batches of 32 sequences of length 10, numbers 1 to 19; one head, no final norm.

        Width 32, at which the loss falls about as in their print-out.
        """
        torch.manual_seed(seed)
        layers = [parts.EncoderLayer(32, 1, 64, norm_first=True) for _ in range(2)]
        model = nn.Sequential(parts.IntegerSequenceEmbedding(20, 32, 10), *layers, nn.Linear(32, 20))

        def batch(size: int = 32) -> tuple[Tensor, Tensor]:
            numbers = torch.randint(1, 20, (size, 10))
            return numbers, numbers.sort(dim=1).values

        train_at_constant_rate(model, batch, 500)
        numbers, expected = batch(UNSEEN)
        with torch.no_grad():
            return parts.exact_match(model.eval()(numbers).argmax(dim=-1), expected)

    return [
        Task("documents: integer reversal", 300, integer_reversal, seeds=(0,)),
        Task("documents: word reversal", 500, word_reversal),
        Task("documents: sorting", 500, sorting),
    ]


def train_at_constant_rate(
    model: nn.Module, make_batch: Callable[[], tuple[Tensor, ...]], steps: int
) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    for _ in range(steps):
        *inputs, targets = make_batch()
        loss = F.cross_entropy(model(*inputs).flatten(0, 1), targets.flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

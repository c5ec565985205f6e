"""Other right answers to exercise 3, `position_losses`."""

from gradekit.checks import Alternatives

right = Alternatives("losses_")

right("by_gather").source("""
def position_losses(logits, tokens):
    log_probs = logits[:, :-1].log_softmax(-1)
    right = log_probs.gather(2, tokens[:, 1:].unsqueeze(-1)).squeeze(-1)
    return -right.mean(0)


def half_losses(losses, period):
    return float(losses[0 : period - 1].mean()), float(losses[period : 2 * period - 1].mean())
""")

right("flattened").source("""
def position_losses(logits, tokens):
    batch, length, vocabulary = logits.shape
    flat = F.cross_entropy(
        logits[:, :-1].reshape(-1, vocabulary), tokens[:, 1:].reshape(-1), reduction="none"
    )
    return flat.view(batch, length - 1).mean(dim=0)


def half_losses(losses, period):
    numbers = losses.tolist()
    first, second = numbers[: period - 1], numbers[-(period - 1) :]
    return sum(first) / len(first), sum(second) / len(second)
""")

right("one_by_one").source("""
def position_losses(logits, tokens):
    return torch.stack(
        [F.cross_entropy(logits[:, p], tokens[:, p + 1]) for p in range(tokens.shape[1] - 1)]
    )


def half_losses(losses, period):
    first, _, second = losses.split([period - 1, 1, period - 1])
    return torch.mean(first).item(), torch.mean(second).item()
""")

right("halves_in_numpy").source("""
import numpy as np
def position_losses(logits, tokens):
    top = logits.amax(dim=-1, keepdim=True).detach()
    z = logits - top
    chances = z[:, :-1] - z[:, :-1].exp().sum(dim=-1, keepdim=True).log()
    return -torch.take_along_dim(chances, tokens[:, 1:, None], dim=-1)[..., 0].mean(dim=0)
def half_losses(losses, period):
    x = losses.detach().numpy()
    return float(np.mean(x[: period - 1])), float(np.mean(x[period : 2 * period - 1]))
""")

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

right("in_numpy").source("""
import numpy as np
def position_losses(logits, tokens):
    z, t = logits.detach().numpy().astype(np.float64)[:, :-1], tokens.numpy()[:, 1:]
    top = z.max(axis=-1, keepdims=True)
    lse = np.log(np.exp(z - top).sum(axis=-1)) + top[..., 0]
    right = np.take_along_axis(z, t[..., None], axis=-1)[..., 0]
    return torch.from_numpy((lse - right).mean(axis=0).astype(np.float32))
def half_losses(losses, period):
    x = losses.detach().numpy()
    return float(np.mean(x[: period - 1])), float(np.mean(x[period : 2 * period - 1]))
""")

right("without_gradients").source("""
@torch.no_grad()
def position_losses(logits, tokens):
    return F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none").mean(dim=0)
def half_losses(losses, period):
    return losses[: period - 1].mean().item(), losses[period:].mean().item()
""")

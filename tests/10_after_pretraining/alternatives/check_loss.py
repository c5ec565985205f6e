"""Other right answers to exercise 8, `check_loss`."""

from gradekit.checks import Alternatives

right = Alternatives("check_")

right("random_batches").source("""
def check_loss(loss):
    torch.manual_seed(3)
    for trial in range(3):
        logits, ids = torch.randn(3, 8, 6), torch.randint(0, 6, (3, 8))
        starts, lengths = torch.tensor([1, 3, 5]), torch.tensor([4, 2, 3])
        places = torch.arange(8)
        counts = (places >= starts[:, None]) & (places < (starts + lengths)[:, None])
        first = float(loss(logits, ids, counts))
        for b in range(3):
            for t in range(8):
                new = logits.clone()
                new[b, t] = torch.randn(6)
                gap = abs(float(loss(new, ids, counts)) - first)
                if t + 1 < 8 and counts[b, t + 1]:
                    assert gap > 3e-5, f"the token at {t + 1} of row {b} doesn't count"
                else:
                    assert gap < 5e-6, f"the logits at {t} of row {b} count"
        marked = counts.clone()
        marked[:, 0] = True
        assert abs(float(loss(logits, ids, marked)) - first) < 5e-6
""")

right("returns_false").source("""
def check_loss(loss):
    g = torch.Generator().manual_seed(11)
    logits, new = torch.randn(3, 8, 4, generator=g), torch.randn(3, 8, 4, generator=g)
    ids = torch.randint(0, 4, (3, 8), generator=g)
    counts = torch.tensor([[0, 0, 1, 1, 1, 0, 0, 0], [0, 1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1, 1, 1]]).bool()
    other = counts.clone()
    other[0, 0] = True
    old = loss(logits, ids, counts).item()
    right = abs(loss(logits, ids, other).item() - old) < 1e-5
    used = torch.zeros(3, 8, dtype=torch.bool)
    for b in range(3):
        for t in range(8):
            now = torch.where((torch.arange(3) == b)[:, None, None] & (torch.arange(8) == t)[:, None], new, logits)
            used[b, t] = abs(loss(now, ids, counts).item() - old) > 2e-5
    return right and torch.equal(used[:, :-1], counts[:, 1:]) and not used[:, -1].any().item()
""")

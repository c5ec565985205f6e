"""Other right answers to exercise 6, `check_softmax`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("by_properties").source("""
def check_softmax(function):
    generator = torch.Generator().manual_seed(0)
    for size in [(5,), (3, 4), (2, 3, 4)]:
        scores = 3 * torch.randn(size, generator=generator)
        copy = scores.clone()
        found = function(scores)
        assert (scores == copy).all(), "scores overwritten"
        assert (found > 0).all(), "a weight is not positive"
        assert torch.allclose(found.sum(-1), torch.ones(size[:-1])), "rows don't sum to 1"
        ratio = found[..., :1] / found
        assert torch.allclose(ratio.log(), scores[..., :1] - scores, atol=1e-3), "wrong ratio of weights"
        high = function(scores + 1000)
        assert torch.allclose(high, found, atol=1e-3), "large scores"
        apart = scores + 2000 * torch.arange(size[0] if len(size) > 1 else 1).view(-1, *[1] * (len(size) - 1))
        assert torch.allclose(function(apart), found, atol=1e-3), "rows that are far apart"
""")

right("returns_whether_it_is_right").source("""
def check_softmax(function):
    def by_hand(row):
        powers = [math.exp(score - max(row)) for score in row]
        return [power / sum(powers) for power in powers]

    table = [[1.0, -2.0, 0.5], [2000.0, 2001.0, 1999.0]]
    right = torch.tensor([by_hand(row) for row in table])
    given = torch.tensor([table, table])
    single = function(torch.tensor(table[0]))
    found = function(given)
    return (
        bool((given == torch.tensor([table, table])).all())
        and found.shape == (2, 2, 3)
        and bool((found - right).abs().max() < 1e-4)
        and bool((single - right[0]).abs().max() < 1e-4)
    )
""")

right("scores_of_any_size").source("""
def check_softmax(function):
    inf = float("inf")
    cases = {
        ((0.0, -inf), (0.0, 0.0)): ((1, 0), (.5, .5)),
        ((3e38, 3e38), (-3e38, 3e38)): ((.5, .5), (0, 1)),
        ((1000.0, 1001.0986123), (0.0, 1.0986123)): ((.25, .75), (.25, .75)),
        ((-1000.0, -1001.0986123), (5.0, 3.9013877)): ((.75, .25), (.75, .25)),
    }
    for s, r in cases.items():
        for build in (lambda t: t, lambda t: t[0], lambda t: t[None], lambda t: t[:, None], lambda t: torch.stack([t, t.flip(-1), t])):
            a, b = build(torch.tensor(s)), build(torch.tensor(r, dtype=torch.float32))
            old = a.tolist()
            out = function(a)
            assert out.shape == b.shape
            assert bool(((out - b).abs() < 1e-3).all()), f"softmax of {old} should be {b.tolist()}"
            assert a.tolist() == old
""")

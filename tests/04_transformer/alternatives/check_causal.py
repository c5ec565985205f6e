"""Other right answers to exercise 7, `check_causal`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("by_gradients").source("""
def check_causal(function):
    x = 4 * torch.randn(2, 7, 4, generator=torch.Generator().manual_seed(2))
    slopes = torch.autograd.functional.jacobian(function, x)  # (2, 7, any, 2, 7, 4)
    depends = slopes.abs().amax(dim=(2, 5)) > 1e-5  # (2, 7, 2, 7)
    for one in range(2):
        for other in range(2):
            found = depends[one, :, other]
            assert not (found.triu(1) if one == other else found).any(), f"{one} depends on {other}: {found}"
""")

right("all_that_must_not_matter_at_once").source("""
def check_causal(function):
    for attempt in range(20):
        x = torch.randn(3, 8, 4)
        for t in range(8):
            for row in range(3):
                changed = torch.where(torch.rand(3, 8, 4) < 0.5, 9.0, -9.0)
                changed[row, : t + 1] = x[row, : t + 1]
                gap = (function(x)[row, t] - function(changed)[row, t]).abs().max().item()
                if gap > 0.005:
                    raise AssertionError(f"output {t} moves by {gap}")
""")

right("beginnings_alone").source("""
def check_causal(function):
    generator = torch.Generator().manual_seed(0)
    x = (5 * torch.randn(4, 9, 4, generator=generator)).clamp(-10, 10)
    whole = function(x)
    for i in range(4):
        for length in range(1, 10):
            alone = function(x[i : i + 1, :length])
            expected = whole[i : i + 1, :length]
            assert alone.shape == expected.shape
            assert torch.allclose(alone, expected, rtol=0, atol=2e-3), "later tokens matter"
""")

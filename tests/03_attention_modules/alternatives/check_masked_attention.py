"""Other right answers to exercise 7, `check_masked_attention`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("by_properties").source("""
def check_masked_attention(function):
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, 4, width, generator=generator) for width in (16, 16, 9))
    mask = torch.rand(2, 4, 4, generator=generator) < 0.6
    mask[0, 1], mask[1, 2], mask[:, 3] = False, True, torch.tensor([True, True, False, False])
    k[:, 0], q[:, 3] = q[:, 3].clone(), -30_000 * q[:, 3]
    k[:, 1] = k[:, 0]
    everything = torch.ones_like(mask)
    assert torch.allclose(function(q, k, v)[1], function(q, k, v, everything)[1], atol=1e-5)
    for visible in (mask, everything):
        output, weights = function(q, k, v, visible)
        assert (weights[~visible] == 0).all()
        assert torch.allclose(weights.sum(-1), visible.any(-1).float(), atol=1e-4)
        assert torch.allclose(output, weights @ v, atol=1e-4)
        both = visible[..., :1] & visible
        scores = (q.unsqueeze(2) * k.unsqueeze(1)).sum(-1) / 4
        ratio = weights.log() - weights.log()[..., :1]
        right = scores - scores[..., :1]
        close = (ratio - right).abs() < 1e-2
        small = (weights < 1e-30) | (weights[..., :1] < 1e-30)
        assert (close | small | ~both).all()
""")

right("one_query_after_another").source("""
def check_masked_attention(function):
    def wanted(scores, visible):
        top = max((score for score, seen in zip(scores, visible) if seen), default=0)
        powers = [3.0 ** (score - top) if seen else 0.0 for score, seen in zip(scores, visible)]
        return [power / (sum(powers) or 1) for power in powers]

    k = torch.eye(4)[:3].expand(2, 3, 4)
    v = torch.arange(6.0).reshape(1, 3, 2).expand(2, 3, 2)
    for scores in ([1, 0, 2], [-40_000, 0, 0]):
        row = torch.tensor([*scores, 0.0]) * 2 * torch.tensor(3.0).log()
        q = row.expand(2, 1, 4)
        for first in ([1, 0, 0], [1, 1, 0], [0, 0, 0]):
            for second in ([1, 1, 1], [0, 1, 1]):
                mask = torch.tensor([[first], [second]]).bool()
                output, weights = function(q, k, v, mask)
                right = torch.tensor([[wanted(scores, first)], [wanted(scores, second)]])
                assert (weights - right).abs().max() < 1e-3
                assert (output - right @ v).abs().max() < 1e-2
        output, weights = function(q, k, v)
        right = torch.tensor([[wanted(scores, [1, 1, 1])]] * 2)
        assert (weights - right).abs().max() < 1e-3 and (output - right @ v).abs().max() < 1e-2
""")

right("masks_of_all_shapes").source("""
def check_masked_attention(function):
    "Compares masked calls with unmasked calls on fewer keys, and these with a known example."
    torch.manual_seed(3)
    def same(a, b):
        assert a.shape == b.shape, (a.shape, b.shape)
        assert ((a - b).abs() < 1e-4).all()
    q, k, v = torch.randn(2, 3, 4, 5), torch.randn(2, 3, 6, 5), torch.randn(2, 3, 6, 7)
    e = (q @ k.mT / 5 ** 0.5).double().exp()
    full = (e / e.sum(-1, keepdim=True)).float()
    o, w = function(q, k, v); same(w, full); same(o, full @ v)
    o, w = function(q, k, v, None); same(w, full); same(o, full @ v)
    for mask in [torch.rand(2, 1, 1, 6) < 0.6, torch.rand(4, 6) < 0.6, torch.rand(2, 3, 4, 6) < 0.3, torch.rand(1, 3, 4, 1) < 0.5, torch.tensor([False, True, True, False, True, False])]:
        seen = e * mask
        part = torch.nan_to_num(seen / seen.sum(-1, keepdim=True)).float()
        o, w = function(q, k, v, mask)
        same(w, part); same(o, part @ v)
        assert not (w * ~mask).any()
        o, w = function(-100 * q, 100 * k, v, mask)
        assert torch.isfinite(o).all() and not (w * ~mask).any()
        any_seen = mask.expand(2, 3, 4, 6).any(-1)
        assert torch.allclose(w.sum(-1), any_seen.float(), atol=1e-4)
        same(o, w @ v)
    ones = torch.ones(2, 1, 4)
    k = torch.stack([-1e4 * torch.ones(4), -1e4 * torch.ones(4), 1e4 * torch.ones(4)]).expand(2, 3, 4)
    m = torch.tensor([[[True, True, False]], [[True, False, False]]])
    o, w = function(ones, k, torch.eye(3).expand(2, 3, 3), m)
    same(w, torch.tensor([[[.5, .5, 0]], [[1, 0, 0]]])); same(o, w)
""")

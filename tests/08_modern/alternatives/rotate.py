"""Other right answers to exercise 1, `rotate`."""

from gradekit.checks import Alternatives

right = Alternatives("rotate_")

right("complex").source("""
def rotate(x, positions, base=10000.0):
    width = x.size(-1)
    if width % 2:
        raise ValueError(f"odd width: {width}")
    angles = torch.outer(positions.double(), 1 / base ** (torch.arange(0, width, 2).double() / width))
    pairs = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2).type_as(x)
""")

right("half_of_pairs").source("""
def rotate(x, positions, base=10000.0):
    *_, width = x.shape
    if width % 2 == 1:
        raise ValueError("the width must be even: %d" % width)
    freqs = torch.exp(torch.arange(0, width, 2).float() * (-math.log(base) / width))
    angle = (positions.float().unsqueeze(1) * freqs.unsqueeze(0)).repeat_interleave(2, dim=-1)
    other = torch.empty_like(x)
    other[..., 0::2], other[..., 1::2] = -x[..., 1::2], x[..., 0::2]
    return (x * torch.cos(angle) + other * torch.sin(angle)).to(x.dtype)
""")

right("by_matrices").source("""
def rotate(x, positions, base=10000.0):
    width = x.shape[-1]
    if width % 2 != 0:
        raise ValueError(f"the width is {width}, but it must be even")
    rows = []
    for row, position in enumerate(positions.tolist()):
        matrix = torch.zeros(width, width)
        for i in range(width // 2):
            a = position / base ** (2 * i / width)
            block = torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
            matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block
        rows.append(x[..., row, :] @ matrix.T.to(x.dtype))
    return torch.stack(rows, dim=-2)
""")

"""Hidden checks of shift_matrix: the matrix is applied to codes that are computed here, in float64."""

import torch

from gradekit.checks import assert_close, assert_fresh, assert_shape, assert_varies, points

POSITIONS = torch.cat([torch.arange(60), torch.tensor([100, 1000])])


def codes(positions: torch.Tensor, d_model: int) -> torch.Tensor:
    """Return the codes of any positions in float64: (number of positions, d_model)."""
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = positions.double().unsqueeze(1) / 10000.0 ** (even / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


def assert_moves(matrix: torch.Tensor, offset: int, d_model: int) -> None:
    assert_shape(matrix, (d_model, d_model), context="the matrix")
    moved = codes(POSITIONS, d_model) @ matrix.double().T
    # Speeds computed in float32 are off in proportion to the angle, which grows with the offset.
    tolerance = 1e-5 + 1e-6 * abs(offset)
    assert_close(moved, codes(POSITIONS + offset, d_model), name="M @ pe[t]", atol=tolerance)


@points(8, see="One step ahead is a rotation")
def test_moves_every_code_ahead(student, reference, draw):
    """M @ pe[t] equals pe[t + offset] for every position t."""
    reference.assert_close(student.shift_matrix(3, 12), name="matrix")

    half, offset = draw.sizes(2, low=2, high=12)
    assert_moves(student.shift_matrix(offset, 2 * half), offset, 2 * half)
    assert_moves(student.shift_matrix(5, 130), 5, 130)
    assert_moves(student.shift_matrix(1000, 16), 1000, 16)  # where a base near 10000 shows
    # the speed of the first pair is exactly 1, so only a rounded π makes its angle wrong
    angle = torch.tensor(1000.0, dtype=torch.float64)
    turned = torch.stack([angle.cos(), angle.sin(), -angle.sin(), angle.cos()]).view(2, 2)
    block = student.shift_matrix(1000, 16)[:2, :2].double()
    assert_close(block, turned, context="the first block of the matrix for an offset of 1000", atol=2e-4)
    for offset, d_model in [(8, 8), (16, 8), (1, 2), (2, 2), (300, 4), (2049, 4)]:
        assert_moves(student.shift_matrix(offset, d_model), offset, d_model)


@points(5, see="One step ahead is a rotation")
def test_negative_offset_moves_back(student, reference, draw):
    """A negative offset moves back: it undoes a step ahead of the same size."""
    product = student.shift_matrix(-3, 8).double() @ student.shift_matrix(3, 8).double()
    reference.assert_close(product, name="M(-3) @ M(3)")

    for offset in (-13, -300):
        assert_moves(student.shift_matrix(offset, 4), offset, 4)
    half, offset = draw.sizes(2, low=2, high=12)
    d_model = 2 * half
    ahead, back = student.shift_matrix(offset, d_model), student.shift_matrix(-offset, d_model)
    assert_shape(back, (d_model, d_model), context="the matrix")
    assert not torch.allclose(back, torch.eye(d_model).to(back), atol=1e-3), (
        "For a negative offset, the matrix is the identity."
    )
    assert_close(back.double() @ ahead.double(), torch.eye(d_model).double(), name="M(-offset) @ M(offset)")


@points(4, see="One step ahead is a rotation")
def test_pairs_turn_by_themselves(student, draw):
    """The matrix consists of 2 × 2 blocks along its diagonal, one per pair of columns; the rest is 0."""
    half, offset = draw.sizes(2, low=3, high=9)
    d_model = 2 * half
    matrix = student.shift_matrix(offset, d_model)
    assert_shape(matrix, (d_model, d_model), context="the matrix")
    pair = torch.arange(d_model) // 2
    outside = matrix[pair.unsqueeze(1) != pair]
    context = "the part of the matrix outside the 2 × 2 blocks"
    assert_close(outside.double(), torch.zeros(len(outside)).double(), context=context)
    for i in range(half):
        block = matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2].double()
        context = f"block {i} times its transpose, which should be the identity,"
        assert_close(block @ block.T, torch.eye(2).double(), context=context)


@points(3)
def test_zero_offset_is_the_identity(student, draw):
    """For an offset of 0, the matrix is the identity."""
    (half,) = draw.sizes(1, low=2, high=9)
    matrix = student.shift_matrix(0, 2 * half)
    assert_close(matrix.double(), torch.eye(2 * half).double(), context="the matrix for offset 0")


@points(3, see="One step ahead is a rotation")
def test_steps_add_up(student, draw):
    """Two steps in a row equal one step by their sum."""
    half, first, second = draw.sizes(3, low=2, high=9)
    one = student.shift_matrix(first, 2 * half).double()
    two = student.shift_matrix(second, 2 * half).double()
    both = student.shift_matrix(first + second, 2 * half).double()
    assert_close(one @ two, both, name="M(a) @ M(b)", context=", compared with M(a + b),", atol=3e-5)
    assert_varies(both, name="M(a + b)")


@points(2)
def test_any_even_width(student):
    """The result is a float tensor of shape (d_model, d_model), for small and large widths, and for any offset."""
    for offset, d_model in ((1, 2), (1, 6), (1, 128), (0, 4), (-2, 4)):
        matrix = student.shift_matrix(offset, d_model)
        assert_shape(matrix, (d_model, d_model), context="the matrix")
        assert matrix.is_floating_point(), f"The matrix must hold floats, not {matrix.dtype}."
    assert_fresh(student, "shift_matrix", 3, 8, name="matrix")

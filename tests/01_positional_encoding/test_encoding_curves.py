"""Hidden checks of encoding_curves.

They pass in their own encoder, whose table is random. So they do not depend on the student's
PositionalEncoder, and a curve can only come from the encoder that was passed in.
"""

import torch

from gradekit.checks import assert_close, assert_model_kept, assert_shape, assert_varies, fail, points

ENCODER = """
import math
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, pe):
        super().__init__()
        self.max_seq_len, self.d_model = pe.shape[1:]
        self.register_buffer("ones", torch.ones(1, 2, 3) / 2)  # not the table
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x * math.sqrt(self.d_model) + self.pe[:, : x.size(1)]
"""


@points(4)
def test_curves_of_the_dimensions(student, reference, draw):
    """Each row is the requested column of the encoder's table, whatever its sizes and numbers, in its dtype."""
    (pe,) = reference.inputs("pe", pe=(1, 20, 20))
    encoder = student.define(ENCODER).Encoder(pe)
    reference.assert_close(student.encoding_curves(encoder, [1, 2, 7, 16]), name="curves")

    encoders, dims = student.define(ENCODER), [5, 1, 3]  # one class for all
    for order in ([2, 4, 3], [1, 3, 3]):
        pe = draw.normal(1, 4, 6)
        curves = student.encoding_curves(encoders.Encoder(pe), order)
        right = pe[0, :, [dim - 1 for dim in order]].T.contiguous()
        assert_close(curves, right, name="curves", context=f"of the dimensions {order}")
    for length, size in [(3, 1.0), (3, 0.01), (521, 100.0), (1, 1.0), (2, 1.0)]:
        pe = size * draw.normal(1, length, 6, dtype=torch.float64)
        curves = student.encoding_curves(encoders.Encoder(pe), dims)
        context = f"of {len(dims)} dimensions of a table with {length} position{'s' * (length > 1)}"
        right = pe[0, :, [dim - 1 for dim in dims]].T.contiguous()
        assert_close(curves, right, name="curves", context=context)
        if not (torch.as_tensor(curves) == right).all():
            fail("For a float64 table, the curves are rounded. They should hold the numbers of the table.")
    for dtype in (torch.float64, torch.float16):
        curves = student.encoding_curves(encoders.Encoder(draw.normal(1, 4, 6).to(dtype)), dims)
        assert curves.dtype == dtype, f"For a table of {dtype}, the curves are {curves.dtype}."


@points(2)
def test_one_row_per_dimension(student, draw):
    """The shape is (number of hidden dimensions, max_seq_len), for all sizes."""
    length, width = draw.sizes(2, low=33, high=60)
    encoder = student.define(ENCODER).Encoder(draw.normal(1, length, width))
    for dims in ([3], [5, 2, 9], [1, 2, 3, 4, 5]):
        assert_shape(student.encoding_curves(encoder, dims), (len(dims), length), context="the result")
    one = student.define(ENCODER).Encoder(draw.normal(1, 1, width))
    assert_shape(student.encoding_curves(one, [2, 5]), (2, 1), context="the result for one position")


@points(2)
def test_dimensions_count_from_one(student, draw):
    """Dimension 1 is the first column, and dimension d_model is the last."""
    length, width = draw.sizes(2, low=11, high=30)
    pe = draw.normal(1, length, width)
    encoder = student.define(ENCODER).Encoder(pe)
    first = student.encoding_curves(encoder, [1]).flatten()
    assert_close(first, pe[0, :, 0], context="the curve of dimension 1")
    last = student.encoding_curves(encoder, [width]).flatten()
    assert_close(last, pe[0, :, -1], context="the curve of dimension d_model")


@points(1)
def test_rows_keep_the_order(student, draw):
    """The rows are in the requested order, and a dimension requested twice appears twice."""
    length, width = draw.sizes(2, low=11, high=30)
    encoder = student.define(ENCODER).Encoder(draw.normal(1, length, width))
    dims = [9, 4, 6, 4]
    together = student.encoding_curves(encoder, dims)
    one_by_one = [student.encoding_curves(encoder, [dim])[0] for dim in dims]
    assert len(together) == len(dims), "The result must have one row per requested dimension."
    for number, (row, single) in enumerate(zip(together, one_by_one, strict=True)):
        assert_close(row, single, context=f"row {number}, compared with the curve of this dimension alone,")
    assert_varies(together, name="curves")


@points(1)
def test_encoder_is_not_changed(student, draw):
    """The call changes neither the encoder's table nor its mode."""
    pe = draw.normal(1, 12, 20)
    encoder = student.define(ENCODER).Encoder(pe).eval()
    student.encoding_curves(encoder, [1, 2])
    after = encoder.state()["pe"]
    assert after.shape == pe.shape, "The call changed the shape of the encoder's table."
    assert torch.equal(after, pe), "The call changed the encoder's table."
    assert_model_kept(student, encoder, lambda: student.call("encoding_curves", encoder, [1, 2]))

"""Hidden checks of PositionalEncoder.

One check reads the buffer `pe`. For the others the table is the output for an input of zeros, wherever it is stored.
"""

import torch

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_full_precision,
    assert_raises,
    assert_reaches,
    assert_same_in_each_mode,
    assert_same_without_gradients,
    assert_shape,
    assert_unchanged,
    assert_varies,
    fail,
    points,
)

OTHER_TABLE = """
def put(encoder, table):
    encoder.pe = table  # also if it isn't persistent
"""


def sinusoids(length: int, d_model: int) -> torch.Tensor:
    """Return the table in float64: (length, d_model)."""
    position = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = position / 10000.0 ** (even / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


def tolerance(length: int) -> torch.Tensor:
    """(length, 1): float32 implementations differ in proportion to the angle, which grows with the position."""
    return 1e-5 + 5e-7 * torch.arange(length).unsqueeze(1)


@points(9, see="The sinusoidal encoding")
def test_table_of_sines_and_cosines(student, reference, draw):
    """For an input of zeros, the output is the table: sine and cosine of the same angle, alternating."""
    encoder = student.PositionalEncoder(12, max_seq_len=12)
    reference.assert_close(encoder(torch.zeros(1, 9, 12)), name="table")

    for half, length in (draw.sizes(2, low=4, high=30), (22, 521), (2, 2100)):
        encoder = student.PositionalEncoder(2 * half, max_seq_len=length + 1)
        output = encoder(torch.zeros(1, length, 2 * half))
        expected = sinusoids(length, 2 * half).float().unsqueeze(0)
        context = f"the table of {length} positions"
        assert_close(output, expected, context=context, atol=tolerance(length))


@points(5, see="What the encoder returns")
def test_input_is_scaled(student, reference, draw):
    """The input is multiplied by √d_model before the table is added."""
    (x,) = reference.inputs("x", x=(1, 5, 12))
    encoder = student.PositionalEncoder(12, max_seq_len=10)
    reference.assert_close(encoder(x) - encoder(torch.zeros(1, 5, 12)), name="scaled")
    assert_any_layout(encoder.eval(), x.expand(2, 5, 12))
    encoder = student.PositionalEncoder(12, max_seq_len=40)
    assert_same_in_each_mode(encoder, *((draw.normal(1, 30, 12),) for _ in range(2)))


@points(4)
def test_table_does_not_depend_on_the_input(student, draw):
    """A position has the same code in every sequence of the batch and for every max_seq_len."""
    half, batch, length = draw.sizes(3, low=2, high=9)
    d_model = 2 * half
    x = draw.normal(batch, length, d_model)
    x[0] *= 50
    encoder = student.PositionalEncoder(d_model, max_seq_len=length + 3)
    together = encoder(x)
    alone = torch.cat([encoder(x[i : i + 1]) for i in range(batch)])
    context = "the output for a batch, compared with the output for each sequence alone,"
    assert_close(together, alone, context=context)
    assert_varies(together, name="output", context="for a batch")
    for many, limit, compared in [
        (length, length + 3, "as many sequences as positions"),
        (5 * length, 6 * length, "more sequences than positions"),
        (3 * length, length + 1, "more sequences than max_seq_len"),
    ]:
        encoder = student.PositionalEncoder(d_model, max_seq_len=limit)
        output = encoder(x[:1, :1].expand(many, length, d_model))
        alone = encoder(x[:1, :1].expand(1, length, d_model)).expand(many, length, d_model)
        assert_close(
            output, alone, context=f"the output for {compared}, compared with that for one sequence,"
        )
    encoder = student.PositionalEncoder(d_model, max_seq_len=length + 3)
    encoder(x[:, :1])
    assert_close(encoder(x), together, context="the output after a call with one position")

    short, long = draw.sizes(2, low=85, high=120)
    short, long = min(short, long), max(short, long)
    zeros = torch.zeros(1, short - 1, d_model)
    first = student.PositionalEncoder(d_model, max_seq_len=short)(zeros)
    second = student.PositionalEncoder(d_model, max_seq_len=long)(zeros)
    assert_close(
        first, second, context="the table, compared with that of an encoder with a larger max_seq_len,"
    )
    assert_varies(first, name="table")


@points(3, see="Why the table is a buffer")
def test_follows_its_dtype(student, draw):
    """The output has the dtype of the module, even after `.to(dtype)`, float32 is the default, and a float64 input keeps its digits."""
    x = torch.zeros(1, 5, 6)
    output = student.PositionalEncoder(6, max_seq_len=9)(x)
    assert output.dtype == torch.float32, (
        f"For a float32 input, the output is {output.dtype}. Is the table float32?"
    )
    for dtype in (torch.float64, torch.bfloat16):  # in float64, only a conversion to float32 fails
        encoder = student.PositionalEncoder(6, max_seq_len=9).to(dtype)
        output = encoder(x.to(dtype))
        is_converted = any(table.dtype == dtype for table in encoder.state().values())
        assert output.dtype == dtype, (
            f"After `.to({dtype})` the output for an input of this dtype is {output.dtype}. "
            + (
                "Its table is converted: what else is?"
                if is_converted
                else "Is the table converted with the module?"
            )
        )
    encoder = student.PositionalEncoder(16, max_seq_len=9).to(torch.float64)
    x = draw.normal(1, 5, 16, dtype=torch.float64)
    added = encoder(x) - encoder(
        torch.zeros_like(x)
    )  # without the table, and the root of 16 has no rounded digits
    assert_full_precision(added, 4 * x, name="output", context="less the table")


@points(2, see="Why the table is a buffer")
def test_table_is_the_buffer_pe(student, draw):
    """The table is the buffer `pe`, of shape (1, max_seq_len, d_model), and `forward` adds what is in it."""
    for length, half in (draw.sizes(2, low=4, high=20), (1, 3), (90, 1)):
        encoder = student.PositionalEncoder(2 * half, max_seq_len=length)
        buffers = encoder.buffers()
        if "pe" not in buffers:
            fail(f"The module has no buffer `pe`. Its buffers: {', '.join(sorted(buffers)) or 'none'}.")
        context = f"for d_model={2 * half} and max_seq_len={length}"
        assert_shape(buffers["pe"], (1, length, 2 * half), name="pe", context=context)
        if not torch.allclose(buffers["pe"].double(), sinusoids(length, 2 * half), atol=1e-3):
            output = encoder(torch.zeros(1, length, 2 * half))
            assert_close(
                buffers["pe"], output, name="pe", context=", compared with what you add to the input,"
            )
        zeros = torch.zeros(1, length, 2 * half)
        before = encoder(zeros)
        student.define(OTHER_TABLE).put(encoder, draw.normal(1, length, 2 * half))
        after = encoder(zeros)
        if torch.equal(before, after):
            fail(
                "After the buffer `pe` was replaced by one with other numbers, the output is still the same. Add `self.pe` "
                "in `forward`, not a second table, which neither `.to(...)` nor loading reaches."
            )


@points(2, see="Why the table is a buffer")
def test_has_no_parameters(student):
    """The table is not learned: the module has no parameters."""
    encoder = student.PositionalEncoder(6, max_seq_len=9)
    assert not encoder.parameters(), "The module has parameters, but nothing in it should be learned."


@points(2)
def test_gradient_reaches_the_input(student, draw):
    """The gradient flows back to the input, so that the embeddings can learn."""
    encoder = student.PositionalEncoder(6, max_seq_len=9)
    assert_reaches(encoder.gradients(draw.normal(1, 5, 6)))


@points(2)
def test_input_is_not_changed(student, draw):
    """The input is not changed in place."""
    encoder = student.PositionalEncoder(6, max_seq_len=9)
    assert_unchanged(encoder.call(draw.normal(1, 5, 6)))
    assert_same_without_gradients(encoder, draw.normal(1, 5, 6))


@points(3)
def test_odd_width_raises(student, draw):
    """An odd d_model raises a ValueError that names the width."""
    (half,) = draw.sizes(1, low=10, high=40)
    for width in (3, 1, 2 * half + 1, 1023):
        assert_raises(
            ValueError,
            lambda width=width: student.PositionalEncoder(width),
            mentions=(str(width),),
            context=f"for d_model={width}",
        )


@points(3)
def test_too_long_raises(student, draw):
    """A sequence longer than max_seq_len raises a ValueError that names both lengths. max_seq_len itself, by default 80, is allowed."""
    (size,) = draw.sizes(1, low=20, high=40)
    for limit in (size, 1):  # a table of one position would broadcast
        encoder = student.PositionalEncoder(6, max_seq_len=limit)
        output = encoder(torch.zeros(1, limit, 6))
        assert output.shape[1] == limit, "A sequence of exactly max_seq_len positions must work."
        for length in (limit + 1, limit + 30):
            x = torch.zeros(1, length, 6)
            assert_raises(
                ValueError, lambda encoder=encoder, x=x: encoder(x), mentions=(str(length), str(limit))
            )
        encoder.eval()
        assert_raises(
            ValueError,
            lambda encoder=encoder, x=x: encoder(x),
            mentions=(str(limit + 30), str(limit)),
            context="in evaluation mode, too",
        )
    encoder = student.PositionalEncoder(6)
    assert encoder(torch.zeros(1, 80, 6)).shape[1] == 80, "By default, 80 positions must work."
    assert_raises(ValueError, lambda: encoder(torch.zeros(1, 81, 6)), mentions=("81", "80"))

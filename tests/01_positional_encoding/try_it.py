"""Snippets for students: small tables and matrices that can be followed by hand, and fail if the answer is wrong."""

import math

import torch

from gradekit.checks import try_it


# --------------------------------------------------------------------------------------------- exercise 1
@try_it("test_positional_encoder")
def width_4_at_4_positions(PositionalEncoder):
    """Width 4: the pairs turn by 1 and by 1/100 per position. Zeros go in, so the table comes out."""
    found = PositionalEncoder(4, max_seq_len=6)(torch.zeros(1, 4, 4))
    for t in range(4):
        right = [math.sin(t), math.cos(t), math.sin(t / 100), math.cos(t / 100)]
        print(f"Position {t} should be {[round(number, 3) for number in right]}.")
        print("       Yours is", [round(number, 3) for number in found[0, t].tolist()])
        assert torch.allclose(found[0, t], torch.tensor(right), atol=1e-4), f"Position {t} is wrong."


@try_it("test_positional_encoder", "test_input_is_scaled")
def ones_times_two(PositionalEncoder):
    """Width 4, so ones are multiplied by 2. The code of position 0 is 0, 1, 0, 1."""
    found = PositionalEncoder(4)(torch.ones(1, 1, 4))
    print("The output should be [[[2, 3, 2, 3]]]. It is", found.tolist())
    assert torch.allclose(found, torch.tensor([[[2.0, 3.0, 2.0, 3.0]]]), atol=1e-4), "The output is wrong."


@try_it("test_positional_encoder", "test_table_does_not_depend_on_the_input")
def two_sequences_and_a_hundred_positions(PositionalEncoder):
    """Two equal sequences have equal outputs, and 100 positions are possible."""
    found = PositionalEncoder(2, max_seq_len=100)(torch.zeros(2, 100, 2))
    print("Position 2 should be the same in both sequences:", found[:, 2].tolist())
    assert torch.equal(found[0], found[1]), "The code depends on the sequence."


@try_it("test_positional_encoder", "test_follows_its_dtype")
def same_dtype(PositionalEncoder):
    """float32 in, float32 out; after .to(torch.bfloat16), bfloat16 in and out."""
    for kind in (torch.float32, torch.bfloat16):
        found = PositionalEncoder(2).to(kind)(torch.zeros(1, 1, 2, dtype=kind))
        print(f"The output should be {kind}. It is {found.dtype}.")
        assert found.dtype == kind, "The output doesn't have the dtype of the module."


@try_it("test_positional_encoder", "test_table_is_the_buffer_pe")
def buffer_of_three_positions(PositionalEncoder):
    """The buffer `pe` of an encoder with 3 positions of width 2: at position 0 are the sine and the cosine of 0."""
    found = dict(PositionalEncoder(2, max_seq_len=3).named_buffers())
    print("There should be a buffer `pe`. There are", list(found))
    assert "pe" in found, "The table isn't registered as the buffer `pe`."
    print("Its shape should be (1, 3, 2). It is", tuple(found["pe"].shape))
    assert found["pe"].shape == (1, 3, 2), "The buffer `pe` has the wrong shape."
    print("It should begin with [0, 1]. It begins with", found["pe"][0, 0].tolist())
    assert torch.allclose(found["pe"][0, 0], torch.tensor([0.0, 1.0]), atol=1e-4), (
        "The buffer isn't the table."
    )


@try_it("test_positional_encoder", "test_has_no_parameters")
def nothing_to_learn(PositionalEncoder):
    """The table is not learned."""
    found = [name for name, _ in PositionalEncoder(2).named_parameters()]
    print("There should be no parameters. There are", found)
    assert found == [], "The encoder has parameters, which an optimizer would change."


@try_it("test_positional_encoder", "test_gradient_reaches_the_input")
def gradient_of_ones(PositionalEncoder):
    """The gradient gets back to the input."""
    found = PositionalEncoder(2)(torch.ones(1, 1, 2, requires_grad=True))
    print("Does the output know that it was computed from the input?", found.requires_grad)
    assert found.requires_grad, "No gradient gets back to the input."


@try_it("test_positional_encoder", "test_input_is_not_changed")
def ones_stay_ones(PositionalEncoder):
    """Ones go in, and are still ones afterwards."""
    ones = torch.ones(1, 2, 2)
    PositionalEncoder(2)(ones)
    print("The input should still be ones. It is", ones.tolist())
    assert (ones == 1).all(), "Your module changed its input."


@try_it("test_positional_encoder", "test_odd_width_raises")
def width_9(PositionalEncoder):
    """A width of 9 is odd."""
    said = None
    try:
        PositionalEncoder(9)
    except ValueError as error:
        said = str(error)
    print("There should be a ValueError that names 9:", said)
    assert said is not None, "There is no ValueError."
    assert "9" in said, "The message does not name the width."


@try_it("test_positional_encoder", "test_too_long_raises")
def five_fit_and_seven_do_not(PositionalEncoder):
    """A table of 5 positions: 5 fit, 7 don't."""
    encoder_of_5, said = PositionalEncoder(2, max_seq_len=5), None
    print("A sequence of 5 should be possible:", tuple(encoder_of_5(torch.zeros(1, 5, 2)).shape))
    try:
        encoder_of_5(torch.zeros(1, 7, 2))
    except ValueError as error:
        said = str(error)
    print("A sequence of 7 should be a ValueError that names 7 and 5:", said)
    assert said is not None, "There is no ValueError."
    assert "7" in said and "5" in said, "The message does not name both lengths."


# --------------------------------------------------------------------------------------------- exercise 2
@try_it("test_encoding_curves")
def curves_3_1_and_3(encoding_curves):
    """A table of 40 positions: dimension 3 is 300, 301, 302, …, and dimension 1 is 100, 101, 102, …"""

    class Table(torch.nn.Module):
        def __init__(self):
            super().__init__()
            hundreds = torch.tensor([100.0, 200.0, 300.0, 400.0])
            self.register_buffer("pe", (hundreds + torch.arange(40.0)[:, None])[None])  # (1, 40, 4)

        def forward(self, x):
            return 2 * x + self.pe[:, : x.size(1)]

    table_of_40 = Table()
    found = encoding_curves(table_of_40, [3, 1, 3])
    print("The shape should be (3, 40). It is", tuple(found.shape))
    assert found.shape == (3, 40), (
        "There should be one row for each dimension in the list, with all positions."
    )
    print("The rows should begin with [300, 301], [100, 101] and [300, 301]:", found[:, :2].tolist())
    assert found[:, :2].tolist() == [[300, 301], [100, 101], [300, 301]], (
        "These are the wrong columns of the table."
    )
    print("The table should still have the shape (1, 40, 4):", tuple(table_of_40.pe.shape))
    assert table_of_40.pe.shape == (1, 40, 4), "Your function changed the encoder."


# --------------------------------------------------------------------------------------------- exercise 3
@try_it("test_shift_matrix")
def from_2_to_5_and_back(shift_matrix):
    """Width 4: the code of t is sin t, cos t, sin t/100, cos t/100. Three steps lead from 2 to 5, and back."""

    def code(t):
        return torch.tensor([math.sin(t), math.cos(t), math.sin(t / 100), math.cos(t / 100)])

    for start, step in [(2, 3), (5, -3)]:
        found = shift_matrix(step, 4).float() @ code(start)
        print(f"From {start}, {step} steps should lead to", code(start + step).tolist())
        print("  They lead to", found.tolist())
        assert torch.allclose(found, code(start + step), atol=1e-4), "The matrix doesn't lead there."


@try_it("test_shift_matrix", "test_moves_every_code_ahead")
def from_2_to_5_at_width_8(shift_matrix):
    """Width 8: the frequencies are 1, 1/10, 1/100 and 1/1000. Three steps lead from 2 to 5."""

    def code(t):
        return torch.tensor([f(t / 10**i) for i in range(4) for f in (math.sin, math.cos)])

    found = shift_matrix(3, 8).float() @ code(2)
    print("From 2, three steps should lead to", code(5).tolist())
    print("They lead to", found.tolist())
    assert torch.allclose(found, code(5), atol=1e-4), "The matrix doesn't lead there."


# --------------------------------------------------------------------------------------------- exercise 4
@try_it("test_integer_sequence_embedding")
def tens_and_ones(IntegerSequenceEmbedding):
    """Three tokens with the vectors 1, 2, 3, four positions with 10, 20, 30, 40, all of width 5."""
    embedding = IntegerSequenceEmbedding(3, 5, 4)
    for table in embedding.parameters():
        rows = 3 if 3 in table.shape else 4  # the token table has 3, the position table 4
        axis = list(table.shape).index(rows)
        numbers = (1.0 if rows == 3 else 10.0) * torch.arange(1.0, rows + 1)
        table.data = numbers.expand(table.transpose(axis, -1).shape).transpose(axis, -1).clone()
    some_ids = torch.tensor([[2, 0], [1, 1]])
    found = embedding(some_ids)
    assert found.shape == (2, 2, 5), f"The output has shape {tuple(found.shape)}, not (2, 2, 5)."
    print("The vectors should be [[13, 21], [12, 22]]. They are", found[..., 0].tolist())
    assert found[..., 0].tolist() == [[13, 21], [12, 22]], "The output is not token plus position."
    print("The ids should still be [[2, 0], [1, 1]]. They are", some_ids.tolist())
    assert some_ids.tolist() == [[2, 0], [1, 1]], "Your module changed the ids."


@try_it("test_integer_sequence_embedding", "test_both_tables_are_learned")
def two_tables_learn(IntegerSequenceEmbedding):
    """A table with a row per token, one with a row per position, and both have a gradient."""
    embedding = IntegerSequenceEmbedding(3, 2, 4)
    embedding(torch.tensor([[2, 0]])).sum().backward()
    found = [tuple(table.shape) for table in embedding.parameters() if table.grad is not None]
    print("There should be tables for 3 tokens and for 4 positions that have a gradient. There are", found)
    for rows in (3, 4):
        assert any(rows in shape for shape in found), f"There is no table of {rows} rows that learns."


@try_it("test_integer_sequence_embedding", "test_both_tables_are_learned")
def which_rows_learn(IntegerSequenceEmbedding):
    """Tokens 0, 1 and 2 are at four positions, so their rows learn, and those of all positions."""
    embedding = IntegerSequenceEmbedding(3, 2, 4)
    embedding(torch.tensor([[1, 2, 0, 2]])).sum().backward()
    for rows, wanted in [(3, [0, 1, 2]), (4, [0, 1, 2, 3])]:
        (table,) = (table for table in embedding.parameters() if rows in table.shape)
        still = [axis for axis in range(table.dim()) if table.shape[axis] != rows]
        found = table.grad.to_dense().abs().sum(dim=still).nonzero().flatten().tolist()
        print(f"In the table of {rows} rows, {wanted} should learn. These do: {found}")
        assert set(found) >= set(wanted), "A row that is used does not learn."


@try_it("test_integer_sequence_embedding", "test_too_long_raises")
def four_fit_and_six_do_not(IntegerSequenceEmbedding):
    """Four positions: a sequence of 4 fits, one of 6 doesn't."""
    embedding, said = IntegerSequenceEmbedding(3, 2, 4), None
    fitting = embedding(torch.zeros(1, 4, dtype=torch.int64))
    print("A sequence of 4 should be possible:", tuple(fitting.shape))
    try:
        embedding(torch.zeros(1, 6, dtype=torch.int64))
    except ValueError as error:
        said = str(error)
    print("A sequence of 6 should be a ValueError that names 6 and 4:", said)
    assert said is not None, "There is no ValueError."
    assert "6" in said and "4" in said, "The message does not name both lengths."


@try_it("test_integer_sequence_embedding", "test_follows_its_dtype")
def double_embedding(IntegerSequenceEmbedding):
    """After .double() the output is float64."""
    found = IntegerSequenceEmbedding(3, 2, 4).double()(torch.tensor([[2, 0]]))
    print("The output should be torch.float64. It is", found.dtype)
    assert found.dtype == torch.float64, "The output doesn't have the dtype of the module."

"""Hidden checks of IntegerSequenceEmbedding.

Students may choose the names inside the module. The two tables are found by shape, so all sizes differ.
"""

import torch

from gradekit.checks import (
    assert_any_layout,
    assert_close,
    assert_follows_parameters,
    assert_raises,
    assert_same_in_each_mode,
    assert_seed_kept,
    assert_shape,
    assert_unchanged,
    assert_varies,
    fail,
    points,
)


def find_table(embed, rows: int, width: int) -> str | None:
    """Return the name of the parameter with `rows` vectors, possibly transposed or with axes of size 1."""
    for name, tensor in embed.parameters().items():
        if [size for size in tensor.shape if size != 1] in ([rows, width], [width, rows]):
            return name
    return None


def read_table(embed, rows: int, width: int, what: str) -> torch.Tensor:
    """Return the (rows, width) table."""
    name = find_table(embed, rows, width)
    if name is None:
        fail(f"The module has no parameter of shape ({rows}, {width}) for the {what}.")
    return upright(embed.parameters()[name], rows, width)


def upright(table: torch.Tensor, rows: int, width: int) -> torch.Tensor:
    """Return the table, or its gradient, as (rows, width)."""
    table = table.reshape([size for size in table.shape if size != 1])
    return table if table.shape == (rows, width) else table.T


def set_table(embed, table: torch.Tensor) -> None:
    """Replace the student's table of the same shape, if there is one."""
    name = find_table(embed, *table.shape)
    if name is not None:
        embed.load_state({name: laid_out(table, embed.parameters()[name])})


def laid_out(table: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """Return the table in the shape of the student's own."""
    transposed = [size for size in own.shape if size != 1] != list(table.shape)
    return (table.T if transposed else table).reshape(own.shape).contiguous()


@points(7, see="Learned positions")
def test_sum_of_token_and_position(student, reference, draw):
    """The output is the row of the token table plus the row of the position table."""
    embed = student.IntegerSequenceEmbedding(11, 6, 9)
    for table in reference.inputs("tables", token=(11, 6), position=(9, 6)):
        set_table(embed, table)
    reference.assert_close(embed(reference.integers("ids", 1, 9, (2, 7))), name="output")

    for vocab_size, embed_dim, seq_length, batch in (draw.sizes(4, low=3, high=12), (600, 43, 522, 1)):
        embed = student.IntegerSequenceEmbedding(vocab_size, embed_dim, seq_length)
        tokens = read_table(embed, vocab_size, embed_dim, "tokens")
        positions = read_table(embed, seq_length, embed_dim, "positions")
        for time in ("first", "second"):
            ids = draw.integers(0, vocab_size, (batch, seq_length - 1))
            expected = tokens[ids] + positions[: seq_length - 1]
            context = f"for the {time} ids of shape {tuple(ids.shape)}"
            assert_close(embed(ids), expected, name="output", context=context)
        assert_any_layout(embed.eval(), ids)
    assert_same_in_each_mode(embed, (ids,), (ids[:, :1],))

    modules, ids = [student.IntegerSequenceEmbedding(7, 3, 5) for _ in range(2)], draw.integers(0, 7, (2, 4))
    names = {rows: find_table(modules[0], rows, 3) for rows in (7, 5)}
    if None not in names.values():
        own = modules[0].parameters()
        tables = [{rows: draw.normal(rows, 3) for rows in names} for _ in modules]
        states = [
            {names[rows]: laid_out(table, own[names[rows]]) for rows, table in each.items()}
            for each in tables
        ]
        rights = {id(state): each[7][ids] + each[5][:4] for state, each in zip(states, tables, strict=True)}
        assert_follows_parameters(modules, states, lambda state: rights[id(state)], ids)


@points(4, see="Learned positions")
def test_both_tables_are_learned(student, draw):
    """Both tables start with random numbers, without a seed of the module's own, and are learned: one row per id, one row per position, and gradients reach both, in every row."""
    batch, embed_dim, seq_length, vocab_size = sorted(draw.sizes(4, low=3, high=14))
    sizes = vocab_size, embed_dim, seq_length
    embed = student.IntegerSequenceEmbedding(vocab_size, embed_dim, seq_length)
    tables = {"tokens": vocab_size, "positions": seq_length}
    for what, rows in tables.items():
        table = read_table(embed, rows, embed_dim, what)
        if (table == table[0, 0]).all():
            fail(
                f"At the start, the table of the {what} is the same number everywhere. Begin with random numbers."
            )
    assert_seed_kept(lambda seed: student.call("IntegerSequenceEmbedding", *sizes, seed=seed))
    others = [student.call("IntegerSequenceEmbedding", *sizes, seed=seed).value for seed in (1, 2)]
    for what, rows in tables.items():
        one, other = (read_table(each, rows, embed_dim, what) for each in others)
        if torch.equal(one, other):
            fail(f"Two modules start with the same table of the {what}. Begin with random numbers.")
    ids = draw.integers(0, seq_length, (batch, seq_length - 1))
    gradients = embed.gradients(ids).parameters
    for what, rows in tables.items():
        gradient = gradients[find_table(embed, rows, embed_dim)]
        assert gradient is not None, f"No gradient reaches the table of the {what}."
        assert gradient.abs().max() > 0, f"The gradient of the table of the {what} is zero."
    # fewer ids than positions, so that all rows are looked up
    embed = student.IntegerSequenceEmbedding(seq_length, embed_dim, vocab_size)
    ids = torch.arange(2 * vocab_size).reshape(2, -1) % seq_length
    output, gradients = embed(ids), embed.gradients(ids).parameters
    for what, rows in {"tokens": seq_length, "positions": vocab_size}.items():
        table = read_table(embed, rows, embed_dim, what)
        gradient = upright(gradients[find_table(embed, rows, embed_dim)], rows, embed_dim)
        still = gradient.abs().amax(dim=1, keepdim=True) == 0  # (rows, 1)
        set_table(embed, table + still)
        assert torch.allclose(embed(ids), output), (
            f"Row {still.flatten().nonzero()[0].item()} of the table of the {what} is added, but it never learns: "
            "its gradient is zero."
        )
    for module in others:
        for what, rows in tables.items():
            table = read_table(module, rows, embed_dim, what)
            same = (table == table[:, :1]).all(dim=1)  # (rows,)
            if same.any():
                fail(
                    f"At the start, row {same.nonzero()[0].item()} of the table of the {what} is the same number everywhere. "
                    "All numbers start random, also those of id 0 and of position 0."
                )


@points(3)
def test_a_vector_depends_on_id_and_place_only(student, draw):
    """A token's vector does not depend on the other sequences in the batch or on later tokens."""
    batch, embed_dim, seq_length, vocab_size = sorted(draw.sizes(4, low=3, high=14))
    embed = student.IntegerSequenceEmbedding(vocab_size, embed_dim, seq_length)
    length = seq_length - 1
    ids = draw.integers(1, seq_length, (batch, length))
    together = embed(ids)
    for short in (length // 2 + 1, 1):
        output = embed(ids[:, :short])
        assert_shape(output, (batch, short, embed_dim), name="output", context=f"for ids {(batch, short)}")
        context = (
            f"the output for the first {short} tokens" if short > 1 else "the output for the first token"
        )
        assert_close(output, together[:, :short], context=context)
    assert_close(embed(ids[-1:]), together[-1:], context="the output for the last sequence alone")
    assert_varies(together, name="output")


@points(3)
def test_too_long_raises(student, draw):
    """A sequence longer than seq_length raises a ValueError that names both lengths; exactly seq_length is allowed."""
    (size,) = draw.sizes(1, low=20, high=40)
    for limit in (size, 1):  # a table of one position would broadcast
        embed = student.IntegerSequenceEmbedding(70, 6, limit)
        output = embed(draw.integers(1, 15, (2, limit)))
        assert output.shape[1] == limit, "A sequence of exactly seq_length positions must work."
        for length in (limit + 1, limit + 30):
            ids = draw.integers(1, 15, (2, length))
            assert_raises(
                ValueError, lambda embed=embed, ids=ids: embed(ids), mentions=(str(length), str(limit))
            )
        embed.eval()
        assert_raises(
            ValueError,
            lambda embed=embed, ids=ids: embed(ids),
            mentions=(str(limit + 30), str(limit)),
            context="in evaluation mode, too",
        )


@points(2)
def test_follows_its_dtype(student, draw):
    """After `.to(torch.float64)` the output is float64."""
    embed = student.IntegerSequenceEmbedding(5, 6, 7).to(torch.float64)
    output = embed(draw.integers(1, 5, (2, 4)))
    assert output.dtype == torch.float64, f"After `.to(torch.float64)` the output is {output.dtype}."


@points(1)
def test_ids_are_not_changed(student, draw):
    """The ids are not changed in place."""
    embed = student.IntegerSequenceEmbedding(11, 6, 9)
    assert_unchanged(embed.call(draw.integers(1, 9, (2, 7))))

"""Wrong answers to exercise 2, `encoding_curves`."""

from gradekit.checks import Mistake, with_costs

MISTAKES = [
    Mistake(
        "dimensions_from_0",
        cell="encoding_curves",
        edits=[("dim - 1 for dim", "dim for dim")],
        about=["test_curves_of_the_dimensions", "test_dimensions_count_from_one"],
        sentence="Your hidden dimensions count from 0. Dimension 1 is the first column.",
    ),
    Mistake(
        "curves_transposed",
        cell="encoding_curves",
        edits=[("return curves.T", "return curves")],
        about=["test_one_row_per_dimension"],
        sentence="You swapped rows and columns: return one row per hidden dimension.",
    ),
    Mistake(
        "positions_for_dimensions",
        cell="encoding_curves",
        edits=[("table[:, columns]", "table[columns].T")],
        about=["test_curves_of_the_dimensions", "test_one_row_per_dimension"],
        sentence="You pick rows of the table, which are positions. Hidden dimensions are its columns.",
    ),
    Mistake(
        "curves_of_ones",
        cell="encoding_curves",
        edits=[("encoder.pe[0]", "encoder(torch.ones_like(encoder.pe))[0]")],
        about=["test_curves_of_the_dimensions"],
        sentence="You read the curves from the output for an input of ones, so they include the square "
        "root of d_model. Read the table itself.",
    ),
    Mistake(
        "formula_again",
        cell="encoding_curves",
        edits=[
            ("encoder.pe[0]", "encoder.pe[0] * 0"),
            (
                "    curves = table",
                "    for column in range(table.shape[1]):\n"
                "        speed = 1 / 10000 ** (column // 2 * 2 / table.shape[1])\n"
                "        wave = torch.sin if column % 2 == 0 else torch.cos\n"
                "        table[:, column] = wave(torch.arange(table.shape[0]) * speed)\n"
                "    curves = table",
            ),
        ],
        about=["test_curves_of_the_dimensions"],
        sentence="You compute the formula again. Read the curves from the encoder that is passed in.",
    ),
    Mistake(
        "always_32_positions",
        cell="encoding_curves",
        edits=[("return curves.T", "return curves[:32].T")],
        about=["test_one_row_per_dimension"],
        sentence="Your curves end after 32 positions. They should be as long as the encoder's table.",
    ),
    Mistake(
        "always_these_dimensions",
        cell="encoding_curves",
        edits=[("for dim in hidden_dims", "for dim in [1, 2, 7, 16]")],
        about=["test_one_row_per_dimension"],
        sentence="You always return dimensions 1, 2, 7 and 16. Use hidden_dims.",
    ),
    Mistake(
        "rows_sorted",
        cell="encoding_curves",
        edits=[("for dim in hidden_dims", "for dim in sorted(set(hidden_dims))")],
        about=["test_rows_keep_the_order"],
        sentence="Your rows are sorted. They should be in the order of hidden_dims.",
    ),
    Mistake(
        "table_squeezed",
        cell="encoding_curves",
        edits=[("encoder.pe[0]", "encoder.pe.squeeze_(0)")],
        about=["test_encoder_is_not_changed"],
        sentence="`squeeze_` modifies the encoder's own table. Use `squeeze`, or index with [0].",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "The function returns the wrong curves: only their number is right.": [
            "positions_for_dimensions",
        ],
    },
)

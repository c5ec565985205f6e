"""Wrong answers to exercise 2, `encoding_curves`."""

from gradekit.checks import Mistakes

wrong = Mistakes()

wrong.about("test_curves_of_the_dimensions", "test_dimensions_count_from_one")
wrong("dimensions_from_0", "dim - 1 for dim", "dim for dim")
wrong.says("Your hidden dimensions count from 0. Dimension 1 is the first column.")

wrong.about("test_one_row_per_dimension")
wrong("curves_transposed", "return curves.T", "return curves")
wrong.says("You swapped rows and columns: return one row per hidden dimension.")
wrong("always_32_positions", "return curves.T", "return curves[:32].T")
wrong.says("Your curves end after 32 positions. They should be as long as the encoder's table.")
wrong("always_these_dimensions", "for dim in hidden_dims", "for dim in [1, 2, 7, 16]")
wrong.says("You always return dimensions 1, 2, 7 and 16. Use hidden_dims.")
wrong.costs("It returns other curves than those that are requested.", "always_these_dimensions")

wrong.about("test_curves_of_the_dimensions", "test_one_row_per_dimension")
wrong("positions_for_dimensions", "table[:, columns]", "table[columns].T")
wrong.says("You pick rows of the table, which are positions. Hidden dimensions are its columns.")
wrong.costs("The function returns the wrong curves: only their number is right.")

wrong.about("test_curves_of_the_dimensions")
wrong("curves_of_ones", "encoder.pe[0]", "encoder(torch.ones_like(encoder.pe))[0]")
wrong.says(
    "You read the curves from the output for an input of ones, so they include the square root of d_model. "
    "Read the table itself."
)
wrong("formula_again", "encoder.pe[0]", "encoder.pe[0] * 0")
wrong.edit(
    "    curves = table",
    """    for column in range(table.shape[1]):
        speed = 1 / 10000 ** (column // 2 * 2 / table.shape[1])
        wave = torch.sin if column % 2 == 0 else torch.cos
        table[:, column] = wave(torch.arange(table.shape[0]) * speed)
    curves = table""",
)
wrong.says("You compute the formula again. Read the curves from the encoder that is passed in.")

wrong.about("test_rows_keep_the_order")
wrong("rows_sorted", "for dim in hidden_dims", "for dim in sorted(hidden_dims)")
wrong.says("Your rows are sorted. They should be in the order of hidden_dims.")
wrong("repeats_dropped", "for dim in hidden_dims", "for dim in dict.fromkeys(hidden_dims)")
wrong.says(
    "You return a dimension that is requested twice only once. Return one row for each that is requested."
)

wrong.about("test_encoder_is_not_changed")
wrong("table_squeezed", "encoder.pe[0]", "encoder.pe.squeeze_(0)")
wrong.says(
    "You change the encoder's own table, which loses its first axis. Take `encoder.pe[0]` and leave `encoder.pe` as it is."
)

wrong.unnamed("Its checks compare values for drawn inputs, of which none are recorded.", "rows_sorted")

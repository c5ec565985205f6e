"""Wrong answers to exercise 3, `shift_matrix`."""

from gradekit.checks import Mistake, with_costs

MISTAKES = [
    Mistake(
        "moves_back",
        cell="shift_matrix",
        edits=[
            ("matrix[even, odd] = torch.sin(angle)", "matrix[even, odd] = -torch.sin(angle)"),
            ("matrix[odd, even] = -torch.sin(angle)", "matrix[odd, even] = torch.sin(angle)"),
        ],
        about=["test_moves_every_code_ahead"],
        sentence="Your matrix is transposed, so it moves back. The minus sign belongs below the diagonal.",
    ),
    Mistake(
        "no_minus",
        cell="shift_matrix",
        edits=[("-torch.sin(angle)", "torch.sin(angle)")],
        about=["test_moves_every_code_ahead"],
        sentence="Your blocks have no minus sign. The sine below the diagonal needs one.",
    ),
    Mistake(
        "mirrored",
        cell="shift_matrix",
        edits=[
            ("matrix[odd, even] = -torch.sin(angle)", "matrix[odd, even] = torch.sin(angle)"),
            ("matrix[odd, odd] = torch.cos(angle)", "matrix[odd, odd] = -torch.cos(angle)"),
        ],
        about=["test_moves_every_code_ahead", "test_zero_offset_is_the_identity"],
        sentence="Your minus sign is on the second cosine, so the blocks reflect instead of rotating. "
        "It belongs on the sine below the diagonal.",
    ),
    Mistake(
        "only_cosines",
        cell="shift_matrix",
        edits=[
            ("matrix[even, odd] = torch.sin(angle)", "matrix[even, odd] = 0"),
            ("matrix[odd, even] = -torch.sin(angle)", "matrix[odd, even] = 0"),
        ],
        about=["test_moves_every_code_ahead"],
        sentence="Your matrix contains only cosines. Each 2 × 2 block also needs two sines.",
    ),
    Mistake(
        "halves_of_the_matrix",
        cell="shift_matrix",
        edits=[
            (
                "    matrix = torch.zeros",
                "    even = torch.arange(d_model // 2)\n"
                "    odd = even + d_model // 2\n"
                "    matrix = torch.zeros",
            )
        ],
        about=["test_pairs_turn_by_themselves"],
        sentence="Your matrix is for a code with all sines first and then all cosines. "
        "Here they alternate, so the 2 × 2 blocks are along the diagonal.",
    ),
    Mistake(
        "one_speed",
        cell="shift_matrix",
        edits=[("(even / d_model)", "(0 * even)")],
        about=["test_moves_every_code_ahead"],
        sentence="All your blocks rotate at the same speed. Pair i has the frequency 1 / 10000^(2i/d).",
    ),
    Mistake(
        "speeds_upside_down",
        cell="shift_matrix",
        edits=[("offset / 10000", "offset * 10000")],
        about=["test_moves_every_code_ahead"],
        sentence="You multiply the offset by 10000^(2i/d) instead of dividing by it.",
    ),
    Mistake(
        "shift_base_1000",
        cell="shift_matrix",
        edits=[("10000 **", "1000 **")],
        about=["test_moves_every_code_ahead"],
        sentence="Your matrix uses the base 1000 instead of 10000.",
    ),
    Mistake(
        "shift_exponent_doubled",
        cell="shift_matrix",
        edits=[("(even / d_model)", "(2 * even / d_model)")],
        about=["test_moves_every_code_ahead"],
        sentence="Your exponent is twice as large as it should be: it contains the factor 2 twice.",
    ),
    Mistake(
        "shift_frequencies_of_width_4",
        cell="shift_matrix",
        edits=[("(even / d_model)", "(even / 4)")],
        about=["test_moves_every_code_ahead"],
        sentence="Your frequencies 1, 1/100, 1/10000 … are those of a code of width 4. The exponent is 2i / d_model.",
    ),
    Mistake(
        "shift_cosine_own_exponent",
        cell="shift_matrix",
        edits=[
            (
                "matrix[odd, odd] = torch.cos(angle)",
                "matrix[odd, odd] = torch.cos(offset / 10000 ** (odd / d_model))",
            ),
            ("-torch.sin(angle)", "-torch.sin(offset / 10000 ** (odd / d_model))"),
        ],
        about=["test_moves_every_code_ahead"],
        sentence="The second row of your blocks has its own exponent, (2i+1)/d. "
        "All four entries of a block use the same angle.",
    ),
    Mistake(
        "offset_ignored",
        cell="shift_matrix",
        edits=[("angle = offset /", "angle = 1 /")],
        about=["test_moves_every_code_ahead"],
        sentence="Your matrix always moves by one position, whatever the offset is.",
    ),
    Mistake(
        "one_too_far",
        cell="shift_matrix",
        edits=[("angle = offset /", "angle = (offset + 1) /")],
        about=["test_zero_offset_is_the_identity", "test_moves_every_code_ahead"],
        sentence="Your matrix moves one position too far.",
    ),
    Mistake(
        "columns_rolled",
        cell="shift_matrix",
        edits=[("return matrix", "return torch.eye(d_model).roll(offset, dims=0)")],
        about=["test_moves_every_code_ahead"],
        sentence="Your matrix moves the entries of a code to other columns. "
        "It should rotate each pair of columns, so that the code becomes that of another position.",
    ),
    Mistake(
        "offset_without_sign",
        cell="shift_matrix",
        edits=[("angle = offset /", "angle = abs(offset) /")],
        about=["test_negative_offset_moves_back"],
        sentence="Your matrix moves ahead for a negative offset. It should move back.",
    ),
    Mistake(
        "negative_offset_ignored",
        cell="shift_matrix",
        edits=[("angle = offset /", "angle = max(offset, 0) /")],
        about=["test_negative_offset_moves_back"],
        sentence="Your matrix doesn't move anything for a negative offset. It should move back.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "Every entry of the matrix depends on it, and the checks are about the same entries.": [
            "no_minus",
            "mirrored",
            "only_cosines",
            "shift_cosine_own_exponent",
            "offset_ignored",
            "one_too_far",
        ],
    },
)

"""Wrong answers to exercise 3, `shift_matrix`."""

from gradekit.checks import Mistakes

EVERY_ENTRY = "Every entry of the matrix depends on it, and the checks are about the same entries."

wrong = Mistakes()

wrong.about("test_moves_every_code_ahead")
wrong("moves_back", "matrix[even, odd] = torch.sin(angle)", "matrix[even, odd] = -torch.sin(angle)")
wrong.edit("matrix[odd, even] = -torch.sin(angle)", "matrix[odd, even] = torch.sin(angle)")
wrong.says("Your matrix is transposed, so it moves back. The minus sign belongs below the diagonal.")
wrong("no_minus", "-torch.sin(angle)", "torch.sin(angle)")
wrong.says("Your blocks have no minus sign. The sine below the diagonal needs one.")
wrong.costs(EVERY_ENTRY)
wrong("only_cosines", "matrix[even, odd] = torch.sin(angle)", "matrix[even, odd] = 0")
wrong.edit("matrix[odd, even] = -torch.sin(angle)", "matrix[odd, even] = 0")
wrong.says("Your matrix contains only cosines. Each 2 × 2 block also needs two sines.")
wrong.costs(EVERY_ENTRY)
wrong("one_speed", "(even / d_model)", "(0 * even)")
wrong.says("All your blocks rotate at the same speed. Pair i has the frequency 1 / 10000^(2i/d).")
wrong("speeds_upside_down", "offset / 10000", "offset * 10000")
wrong.says("You multiply the offset by 10000^(2i/d) instead of dividing by it.")
wrong("shift_base_1000", "10000 **", "1000 **")
wrong.says("Your matrix uses the base 1000 instead of 10000.")
wrong("shift_exponent_doubled", "(even / d_model)", "(2 * even / d_model)")
wrong.says("Your exponent is twice as large as it should be: it contains the factor 2 twice.")
wrong("shift_frequencies_of_width_4", "(even / d_model)", "(even / 4)")
wrong.says("Your frequencies 1, 1/100, 1/10000 … are those of a code of width 4.")
wrong.says("The exponent is 2i / d_model.")
wrong(
    "shift_cosine_own_exponent",
    "matrix[odd, odd] = torch.cos(angle)",
    "matrix[odd, odd] = torch.cos(offset / 10000 ** (odd / d_model))",
)
wrong.edit("-torch.sin(angle)", "-torch.sin(offset / 10000 ** (odd / d_model))")
wrong.says("The second row of your blocks has its own exponent, (2i+1)/d.")
wrong.says("All four entries of a block use the same angle.")
wrong.costs(EVERY_ENTRY)
wrong("offset_ignored", "angle = offset /", "angle = 1 /")
wrong.says("Your matrix always moves by one position, whatever the offset is.")
wrong.costs(EVERY_ENTRY)
wrong("columns_rolled", "return matrix", "return torch.eye(d_model).roll(offset, dims=0)")
wrong.says("Your matrix moves the entries of a code to other columns.")
wrong.says("It should rotate each pair of columns, so that the code becomes that of another position.")

wrong.about("test_moves_every_code_ahead", "test_zero_offset_is_the_identity")
wrong("mirrored", "matrix[odd, even] = -torch.sin(angle)", "matrix[odd, even] = torch.sin(angle)")
wrong.edit("matrix[odd, odd] = torch.cos(angle)", "matrix[odd, odd] = -torch.cos(angle)")
wrong.says("Your minus sign is on the second cosine, so the blocks reflect instead of rotating.")
wrong.says("It belongs on the sine below the diagonal.")
wrong.costs(EVERY_ENTRY)

wrong.about("test_pairs_turn_by_themselves")
wrong(
    "halves_of_the_matrix",
    "    matrix = torch.zeros",
    "    even = torch.arange(d_model // 2)\n    odd = even + d_model // 2\n    matrix = torch.zeros",
)
wrong.says("Your matrix is for a code with all sines first and then all cosines.")
wrong.says("Here they alternate, so the 2 × 2 blocks are along the diagonal.")

wrong.about("test_zero_offset_is_the_identity", "test_moves_every_code_ahead")
wrong("one_too_far", "angle = offset /", "angle = (offset + 1) /")
wrong.says("Your matrix moves one position too far.")
wrong.costs(EVERY_ENTRY)

wrong.about("test_negative_offset_moves_back")
wrong("offset_without_sign", "angle = offset /", "angle = abs(offset) /")
wrong.says("Your matrix moves ahead for a negative offset. It should move back.")
wrong("negative_offset_ignored", "angle = offset /", "angle = max(offset, 0) /")
wrong.says("Your matrix doesn't move anything for a negative offset. It should move back.")

"""Wrong answers to exercise 1, `rotate`."""

from gradekit.checks import Mistakes

FORMULA = "test_equals_the_formula"
TURN = "[first * cos - second * sin, first * sin + second * cos]"
SPEED = "base ** (-torch.arange(0, width, 2) / width)"
CHECK = "width % 2 != 0"

wrong = Mistakes("rotate_")

wrong.about(FORMULA)
wrong("backwards", TURN, "[first * cos + second * sin, second * cos - first * sin]")
wrong.says("You turn clockwise, as the matrix of assignment 1 does.")
wrong.says("The minus sign belongs in the line of the first member.")
wrong("no_minus", "first * cos - second * sin", "first * cos + second * sin")
wrong.says("Both of your lines have a plus sign, so nothing is rotated. The first line has a minus.")
wrong.costs("Nothing is rotated: no length is kept, and no score depends on distances alone.")
wrong("sine_and_cosine_swapped", "cos, sin = angle.cos(), angle.sin()", "sin, cos = angle.cos(), angle.sin()")
wrong.says("You swapped sine and cosine. At position 0 a vector must stay as it is.")
wrong("halves_as_pairs", "x[..., 0::2], x[..., 1::2]", "x[..., : width // 2], x[..., width // 2 :]")
wrong.edit(", dim=-1)\n    return turned.flatten(-2)", ", dim=-2)\n    return turned.flatten(-2)")
wrong.says("You paired column i with column i + width / 2. Pairs are neighboring columns: 0 and 1, 2 and 3.")
wrong("as_in_llama", "x[..., 0::2], x[..., 1::2]", "x[..., : width // 2], x[..., width // 2 :]")
wrong.edit("turned = torch.stack(", "turned = torch.cat(").edit(
    "return turned.flatten(-2).to", "return turned.to"
)
wrong.says("You paired column i with column i + width / 2, as the code of Llama does.")
wrong.says("Here, pairs are neighboring columns: 0 and 1, 2 and 3.")
wrong("not_interleaved", "turned = torch.stack(", "turned = torch.cat(")
wrong.edit("return turned.flatten(-2).to", "return turned.to")
wrong.says("You put all first members before all second members.")
wrong.says("Interleave them again, so that each pair stays in its columns.")
wrong("every_column_its_speed", SPEED, "base ** (-torch.arange(0, width // 2) / width)")
wrong.says("The exponent of your pair i is i / width. It should be 2i / width.")
wrong("too_fast", SPEED, "base ** (-torch.arange(0, width, 2) / (width // 2))")
wrong.says("You divide 2i by the number of pairs. Divide it by the width.")
wrong("speed_upside_down", SPEED, "base ** (torch.arange(0, width, 2) / width)")
wrong.says("Your speeds grow with i.")
wrong.says("They should be 1 / base ** (2i / width), so the last pairs are the slow ones.")
wrong.costs("All pairs but the first turn at wrong speeds, too fast for float32 at large positions.")
wrong("positions_from_1", "positions[:, None] * speed", "(positions[:, None] + 1) * speed")
wrong.says("You turn the vector at position 0. Its angle is 0.")

wrong.about("test_positions_that_are_passed_in")
wrong("own_positions", "positions[:, None] * speed", "torch.arange(x.shape[-2])[:, None] * speed")
wrong.says("You count positions from 0. Use the `positions` that are passed in.")
wrong("relative_to_the_first", "positions[:, None] * speed", "(positions - positions[0])[:, None] * speed")
wrong.says("You subtract the first position.")
wrong.says("Use the positions as they are; only then do cached keys stay right.")

wrong.about("test_base")
wrong("fixed_base", "speed = base **", "speed = 10000.0 **")
wrong.says(
    "Your result doesn't follow `base` in every call. Use the argument each time, not 10000, and no speeds that were computed for another one."
)

wrong.about("test_dtype")
wrong("dtype_lost", ".flatten(-2).to(x.dtype)", ".flatten(-2)")
wrong.says("For bfloat16, your result is float32. Return the dtype of x.")
wrong("angles_in_low_precision")
wrong.edit("positions[:, None] * speed", "positions[:, None].to(x.dtype) * speed.to(x.dtype)")
wrong.says("You compute the angles in the dtype of x. bfloat16 can't tell position 257 from 256.")
wrong.says("Use float32.")

wrong.about("test_odd_width")
wrong("odd_width_let_through", CHECK, "width < 2")
wrong.says("An odd width has no pair for its last column. Raise a ValueError.")

wrong.about("test_x_unchanged_and_differentiable")
wrong("in_place", "return turned.flatten(-2).to(x.dtype)")
wrong.to("x.copy_(turned.flatten(-2).to(x.dtype))\n    return x.clone()")
wrong.says("You wrote the result into x. Create a new tensor.")

"""Wrong answers to exercise 1, `rotate`."""

from gradekit.checks import mistakes_in, with_costs

FORMULA = "test_equals_the_formula"
TURN = "[first * cos - second * sin, first * sin + second * cos]"
SPEED = "base ** (-torch.arange(0, width, 2) / width)"
CHECK = "width % 2 != 0"
mistake = mistakes_in("rotate", "rotate_")

MISTAKES = [
    mistake(
        "backwards",
        [(TURN, "[first * cos + second * sin, second * cos - first * sin]")],
        [FORMULA],
        "You turn clockwise, as the matrix of assignment 1 does. The minus sign belongs in the line of the first member.",
    ),
    mistake(
        "no_minus",
        [("first * cos - second * sin", "first * cos + second * sin")],
        [FORMULA],
        "Both of your lines have a plus sign, so nothing is rotated. The first line has a minus.",
    ),
    mistake(
        "sine_and_cosine_swapped",
        [("cos, sin = angle.cos(), angle.sin()", "sin, cos = angle.cos(), angle.sin()")],
        [FORMULA],
        "You swapped sine and cosine. At position 0 a vector must stay as it is.",
    ),
    mistake(
        "halves_as_pairs",
        [
            ("x[..., 0::2], x[..., 1::2]", "x[..., : width // 2], x[..., width // 2 :]"),
            (", dim=-1)\n    return turned.flatten(-2)", ", dim=-2)\n    return turned.flatten(-2)"),
        ],
        [FORMULA],
        "You paired column i with column i + width / 2. Pairs are neighboring columns: 0 and 1, 2 and 3.",
    ),
    mistake(
        "not_interleaved",
        [
            ("turned = torch.stack(", "turned = torch.cat("),
            ("return turned.flatten(-2).to", "return turned.to"),
        ],
        [FORMULA],
        "You put all first members before all second members. Interleave them again, so that each pair stays in its columns.",
    ),
    mistake(
        "every_column_its_speed",
        [(SPEED, "base ** (-torch.arange(0, width // 2) / width)")],
        [FORMULA],
        "The exponent of your pair i is i / width. It should be 2i / width.",
    ),
    mistake(
        "too_fast",
        [(SPEED, "base ** (-torch.arange(0, width, 2) / (width // 2))")],
        [FORMULA],
        "You divide 2i by the number of pairs. Divide it by the width.",
    ),
    mistake(
        "speed_upside_down",
        [(SPEED, "base ** (torch.arange(0, width, 2) / width)")],
        [FORMULA],
        "Your speeds grow with i. They should be 1 / base ** (2i / width), so the last pairs are the slow ones.",
    ),
    mistake(
        "positions_from_1",
        [("positions[:, None] * speed", "(positions[:, None] + 1) * speed")],
        [FORMULA],
        "You turn the vector at position 0. Its angle is 0.",
    ),
    mistake(
        "own_positions",
        [("positions[:, None] * speed", "torch.arange(x.shape[-2])[:, None] * speed")],
        ["test_positions_that_are_passed_in"],
        "You count positions from 0. Use the `positions` that are passed in.",
    ),
    mistake(
        "relative_to_the_first",
        [("positions[:, None] * speed", "(positions - positions[0])[:, None] * speed")],
        ["test_positions_that_are_passed_in"],
        "You subtract the first position. Use the positions as they are; only then do cached keys stay right.",
    ),
    mistake(
        "fixed_base",
        [("speed = base **", "speed = 10000.0 **")],
        ["test_base"],
        "You always use the base 10000. Use the argument `base`.",
    ),
    mistake(
        "dtype_lost",
        [(".flatten(-2).to(x.dtype)", ".flatten(-2)")],
        ["test_dtype"],
        "For bfloat16, your result is float32. Return the dtype of x.",
    ),
    mistake(
        "angles_in_low_precision",
        [("positions[:, None] * speed", "positions[:, None].to(x.dtype) * speed.to(x.dtype)")],
        ["test_dtype"],
        "You compute the angles in the dtype of x. bfloat16 can't tell position 257 from 256. Use float32.",
    ),
    mistake(
        "odd_width_let_through",
        [(CHECK, "width < 2")],
        ["test_odd_width"],
        "An odd width has no pair for its last column. Raise a ValueError.",
    ),
    mistake(
        "in_place",
        [
            (
                "return turned.flatten(-2).to(x.dtype)",
                "x.copy_(turned.flatten(-2).to(x.dtype))\n    return x.clone()",
            )
        ],
        ["test_x_unchanged_and_differentiable"],
        "You wrote the result into x. Create a new tensor.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "Nothing is rotated: no length is kept, and no score depends on distances alone.": [
            "rotate_no_minus",
        ],
        "All pairs but the first turn at wrong speeds, too fast for float32 at large positions.": [
            "rotate_speed_upside_down",
        ],
    },
)

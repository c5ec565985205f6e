"""Wrong answers to exercise 1, `differences`."""

from gradekit.checks import Mistakes

RETURN = "a.unsqueeze(1) - b.unsqueeze(0)"

wrong = Mistakes()

wrong.about("test_every_difference")
wrong("b_minus_a", RETURN, "b.unsqueeze(0) - a.unsqueeze(1)")
wrong.says("You subtract a from b, so every sign is wrong. Subtract b from a.")
wrong("sums", RETURN, "a.unsqueeze(1) + b.unsqueeze(0)")
wrong.says("You add the vectors. Subtract b from a.")
wrong("absolute", RETURN, "(a.unsqueeze(1) - b.unsqueeze(0)).abs()")
wrong.says("You return absolute values. The differences keep their signs.")
wrong("squared", RETURN, "(a.unsqueeze(1) - b.unsqueeze(0)) ** 2")
wrong.says("You return the squares of the differences.")
wrong("products", RETURN, "a.unsqueeze(1) * b.unsqueeze(0)")
wrong.says("You multiply the vectors. Subtract b from a.")
wrong("first_of_b", RETURN, "(a.unsqueeze(1) - b[:1]).expand(-1, len(b), -1)")
wrong.says("You subtract the first vector of b everywhere.")

wrong.about("test_every_difference", "test_shape")
wrong("axes_exchanged", RETURN, "a.unsqueeze(0) - b.unsqueeze(1)")
wrong.says("The first two axes are exchanged: at [i, j] is a[j] - b[i].")
wrong.says("Give a its axis of size 1 at place 1, and b at place 0.")
wrong("row_by_row", RETURN, "(a[:1] - b[:1]).expand(len(a), len(b), -1) if len(a) != len(b) else a - b")
wrong.says(
    "You subtract row by row, so a[i] only meets b[i]. Every vector of a has to meet every vector of b."
)
wrong("summed_over_the_width", RETURN, "(a.unsqueeze(1) - b.unsqueeze(0)).sum(dim=-1)")
wrong.says("You sum over the width. Keep the axis: the result is (n, m, d).")
wrong("distances", RETURN, "(a.unsqueeze(1) - b.unsqueeze(0)).norm(dim=-1)")
wrong.says("You return distances, (n, m). The exercise asks for the differences, (n, m, d).")
wrong("pairs_in_one_row", RETURN, "(a.unsqueeze(1) - b.unsqueeze(0)).flatten(0, 1)")
wrong.says("You put all pairs on one axis. Keep two: n vectors of a, and m vectors of b.")

wrong.about("test_inputs_unchanged_and_dtype_kept")
wrong("in_place", "return a.unsqueeze(1) - b.unsqueeze(0)", "return a.unsqueeze(1) + b.neg_().unsqueeze(0)")
wrong.says(
    "You change `b` in place: methods whose names end in `_`, `-=` and the like write into the tensor of the caller."
)
wrong("in_float32", RETURN, "a.float().unsqueeze(1) - b.float().unsqueeze(0)")
wrong.says(
    "Half of the digits of a float64 vector are lost: you convert to float32, or put the result into a new float32 tensor."
)

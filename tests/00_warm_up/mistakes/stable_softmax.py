"""Wrong answers to exercise 2, `stable_softmax`."""

from gradekit.checks import Mistakes

LARGEST = "x.amax(dim=dim, keepdim=True)"
RETURN = "return powers / powers.sum(dim=dim, keepdim=True)"

wrong = Mistakes("softmax_")

wrong.about("test_equals_the_formula")
wrong("not_divided", RETURN, "return powers")
wrong.says("You don't divide by the sum, so the weights don't sum to 1.")
wrong("divided_by_the_largest", RETURN, "return powers / powers.amax(dim=dim, keepdim=True)")
wrong.says("You divide by the largest power. Divide by the sum of all powers.")
wrong("mean", RETURN, "return powers / powers.mean(dim=dim, keepdim=True)")
wrong.says("You divide by the mean of the powers, so the weights sum to their number. Divide by the sum.")
wrong("negative", "torch.exp(x - largest)", "torch.exp(largest - x)")
wrong.says("The sign in the exponent is wrong, so the smallest number gets the largest weight.")
wrong.costs("Turned around, it also overflows.", "negative")
wrong("base_2", "torch.exp(x - largest)", "torch.exp2(x - largest)")
wrong.says("You take powers of 2. The softmax takes powers of e, with `torch.exp`.")
wrong("no_exponential", "torch.exp(x - largest)", "x - x.amin(dim=dim, keepdim=True) + 1e-6")
wrong.says("You don't take the power of e. Without it the weights only grow in proportion to the numbers.")
wrong("logarithm", RETURN, "return (x - largest) - powers.sum(dim=dim, keepdim=True).log()")
wrong.says("You return the logarithms of the weights.")
wrong("whole_tensor", RETURN, "return powers / powers.sum()")
wrong.says("You divide by the sum of the whole tensor. Sum along `dim` alone.")

wrong.about("test_any_axis")
wrong("last_axis", LARGEST, "x.amax(dim=-1, keepdim=True)")
wrong.edit(RETURN, "return powers / powers.sum(dim=-1, keepdim=True)")
wrong.says("With dim=0, your weights sum to 1 along the last axis. Use `dim`.")
wrong("sum_over_the_last_axis", RETURN, "return powers / powers.sum(dim=-1, keepdim=True)")
wrong.says("You sum along the last axis, whatever `dim` is.")
wrong("axis_lost", RETURN, "return powers / powers.sum(dim=dim).unsqueeze(-1)")
wrong.says("The sum has its axis of size 1 always at the end. `keepdim=True` leaves it where `dim` is.")

wrong.about("test_large_numbers")
wrong("overflow", "torch.exp(x - largest)", "torch.exp(x)")
wrong.says(
    "The power of e for 1000 is too large for a float. First subtract the largest of the numbers that you were given."
)
wrong("mean_subtracted", LARGEST, "x.mean(dim=dim, keepdim=True)")
wrong.says("What you subtract isn't the largest number, so one far above it still overflows.")
wrong("clamped", "torch.exp(x - largest)", "torch.exp(x.clamp(-80, 80))")
wrong.says("You cut large numbers off, so they all get the same weight. Subtract the largest one instead.")
wrong("one_maximum", LARGEST, "x.max()")
wrong.says("What you subtract isn't the largest number along `dim`, but larger.")
wrong.says("So all powers of a row far below it round to 0, and 0 divided by 0 is NaN.")

wrong.about("test_input_unchanged_and_dtype_kept")
wrong("in_place", "largest = x.amax(dim=dim, keepdim=True)", "x -= x.amax(dim=dim, keepdim=True)")
wrong.edit("torch.exp(x - largest)", "torch.exp(x)")
wrong.says(
    "Working in place, as `x -= …` does, changes the tensor of the caller. Write `x = x - …`, which makes a new one."
)
wrong("in_float32", "torch.exp(x - largest)", "torch.exp((x - largest).float())")
wrong.says(
    "Half of the digits of a float64 number are lost: you convert to float32, or put numbers into a new float32 tensor."
)

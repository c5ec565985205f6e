"""Wrong answers to exercise 4, `Affine`."""

from gradekit.checks import Mistakes

SCALE = "self.scale = nn.Parameter(torch.ones(width))"
SHIFT = "self.shift = nn.Parameter(torch.zeros(width))"
RETURN = "return x * self.scale + self.shift"

wrong = Mistakes("affine_")

wrong.about("test_parameters")
wrong("tensors", SCALE, "self.scale = torch.ones(width)")
wrong.edit(SHIFT, "self.shift = torch.zeros(width)")
wrong.says(
    "`scale` and `shift` are plain tensors, so no optimizer finds them. Make each one an `nn.Parameter`."
)
wrong("shift_is_a_tensor", SHIFT, "self.shift = torch.zeros(width)")
wrong.says("`shift` is not a parameter, so it is never learned. Make it an `nn.Parameter`.")
wrong("buffers", SCALE, 'self.register_buffer("scale", torch.ones(width))')
wrong.edit(SHIFT, 'self.register_buffer("shift", torch.zeros(width))')
wrong.says(
    "`scale` and `shift` are buffers, which are saved but not learned. Make each one an `nn.Parameter`."
)
wrong("in_a_list", SCALE, "self.parts = [nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))]")
wrong.edit(SHIFT, "")
wrong.edit(RETURN, "return x * self.parts[0] + self.parts[1]")
wrong.says("Your parameters are in a Python list, where torch doesn't look for them.")
wrong.says("Assign each one to `self`: `self.scale = …`.")
wrong("one_number", SCALE, "self.scale = nn.Parameter(torch.ones(1))")
wrong.edit(SHIFT, "self.shift = nn.Parameter(torch.zeros(1))")
wrong.says("You have one scale and one shift for all columns. Each column needs its own.")
wrong.costs(
    "Nothing of the module is learned as the exercise asks.",
    *("tensors", "shift_is_a_tensor", "buffers", "in_a_list", "one_number"),
)

wrong.about("test_begins_without_effect")
wrong("random_scale", "torch.ones(width)", "torch.randn(width)")
wrong.says("Your scale begins as random numbers. It should begin as ones.")
wrong("zero_scale", "torch.ones(width)", "torch.zeros(width)")
wrong.says("Your scale begins as zeros. It should begin as ones, so that a new layer returns `x`.")
wrong("one_shift", "torch.zeros(width)", "torch.ones(width)")
wrong.says("Your shift begins as ones. It should begin as zeros.")

wrong.about("test_scale_and_shift")
wrong("shift_first", RETURN, "return (x + self.shift) * self.scale")
wrong.says("You add the shift before you multiply. Multiply first.")
wrong("no_shift", RETURN, "return x * self.scale + 0 * self.shift")
wrong.says("The shift has no effect on your output. Add it.")
wrong("shift_subtracted", RETURN, "return x * self.scale - self.shift")
wrong.says("You subtract the shift. Add it.")
wrong("scale_added", RETURN, "return x + self.scale - 1 + self.shift")
wrong.says("You add the scale. Multiply by it.")
wrong("matrix_product", RETURN, "return (x @ self.scale).unsqueeze(-1) + self.shift")
wrong.says(
    "You take the dot product of `x` and `scale`, which sums over the columns. Multiply element by element."
)
wrong.costs("A column gets the others' numbers.", "matrix_product")

wrong.about("test_gradients_and_dtype")
wrong("detached", RETURN, "return x * self.scale.detach() + self.shift.detach()")
wrong.says(
    "At least one of your parameters gets no gradient, so it learns nothing: it is detached, isn't used, or doesn't require gradients."
)
wrong("no_grad", RETURN, "with torch.no_grad():\n            return x * self.scale + self.shift")
wrong.says("Gradients stop here, at `torch.no_grad()` or `.detach()`, so what comes before can't learn.")
wrong(
    "in_place",
    RETURN,
    "x *= self.scale.detach()\n        return x * (self.scale / self.scale.detach()) + self.shift",
)
wrong.says(
    "Working in place, as `x *= …` does, changes the tensor of the caller. Write `x * …`, which makes a new one."
)

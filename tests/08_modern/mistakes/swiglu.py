"""Wrong answers to exercise 3, `swiglu`."""

from gradekit.checks import Mistakes

FORMULA = "test_equals_the_formula"
EVERY_VALUE = "The formula is the whole exercise: every value is wrong."

wrong = Mistakes("swiglu_")

wrong.about(FORMULA)
wrong("gate_and_up_swapped", "F.silu(self.w_gate(x))", "F.silu(self.w_up(x))")
wrong.edit("gate * self.w_up(x)", "gate * self.w_gate(x)")
wrong.says("You apply silu to the output of `w_up`. It belongs to `w_gate`.")
wrong.costs(EVERY_VALUE)
wrong("no_activation", "F.silu(self.w_gate(x))", "self.w_gate(x)")
wrong.says("The gate has no activation. Apply silu to the output of `w_gate`.")
wrong.costs(EVERY_VALUE)
wrong("sigmoid", "F.silu(self.w_gate(x))", "torch.sigmoid(self.w_gate(x))")
wrong.says("Your gate is sigmoid(z). silu(z) is z · sigmoid(z).")
wrong.costs(EVERY_VALUE)
wrong("relu", "F.silu(self.w_gate(x))", "torch.relu(self.w_gate(x))")
wrong.says("Your gate uses ReLU. Use silu.")
wrong.costs(EVERY_VALUE)
wrong("gelu", "F.silu(self.w_gate(x))", "F.gelu(self.w_gate(x))")
wrong.says("Your gate uses GELU, which makes this a GEGLU. Use silu.")
wrong.costs(EVERY_VALUE)
wrong("added", "gate * self.w_up(x)", "gate + self.w_up(x)")
wrong.says("You add the gate. Multiply by it, number by number.")
wrong.costs(EVERY_VALUE)
wrong("silu_after_the_product", "F.silu(self.w_gate(x))", "self.w_gate(x)")
wrong.edit("hidden = gate * self.w_up(x)", "hidden = F.silu(gate * self.w_up(x))")
wrong.says("You apply silu to the product. Apply it to the gate, before you multiply.")
wrong.costs(EVERY_VALUE)
wrong("no_gate", "gate * self.w_up(x)", "gate")
wrong.says("You don't use `w_up`. Multiply silu of the gate by it.")
wrong.costs(EVERY_VALUE)
wrong("residual_inside", "return self.w_down(hidden)", "return x + self.w_down(hidden)")
wrong.says("You added x to the output. The residual connection comes later, in the block.")
wrong.costs(EVERY_VALUE)

wrong.about("test_parameters")
wrong("with_bias")
wrong.edit("self.w_down = nn.Linear(d_ff, d_model, bias=False)", "self.w_down = nn.Linear(d_ff, d_model)")
wrong.says("`w_down` has a bias. None of the layers has one.")
wrong("one_layer_for_both", "self.w_up = nn.Linear(d_model, d_ff, bias=False)", "self.w_up = self.w_gate")
wrong.says("`w_up` and `w_gate` are the same layer. Create two.")
wrong.costs("The gate and what it multiplies have the same weights, so every value is wrong.")

wrong.about("test_float64_gradients_and_x_unchanged")
wrong("detached_gate", "gate * self.w_up(x)", "gate.detach() * self.w_up(x)")
wrong.says("You detached the gate, so `w_gate` can't learn.")
wrong("silu_by_hand", "F.silu(self.w_gate(x))", "self.w_gate(x) / (1 + torch.exp(-self.w_gate(x)))")
wrong.says("For a gate far below 0, `exp(-z)` is infinite, and the gradient NaN. `F.silu` avoids that.")

"""Wrong answers to exercise 3, `swiglu`."""

from gradekit.checks import mistakes_in, with_costs

FORMULA = "test_equals_the_formula"
mistake = mistakes_in("swiglu", "swiglu_")

MISTAKES = [
    mistake(
        "gate_and_up_swapped",
        [
            ("F.silu(self.w_gate(x))", "F.silu(self.w_up(x))"),
            ("gate * self.w_up(x)", "gate * self.w_gate(x)"),
        ],
        [FORMULA],
        "You apply silu to the output of `w_up`. It belongs to `w_gate`.",
    ),
    mistake(
        "no_activation",
        [("F.silu(self.w_gate(x))", "self.w_gate(x)")],
        [FORMULA],
        "The gate has no activation. Apply silu to the output of `w_gate`.",
    ),
    mistake(
        "sigmoid",
        [("F.silu(self.w_gate(x))", "torch.sigmoid(self.w_gate(x))")],
        [FORMULA],
        "Your gate is sigmoid(z). silu(z) is z · sigmoid(z).",
    ),
    mistake(
        "relu",
        [("F.silu(self.w_gate(x))", "torch.relu(self.w_gate(x))")],
        [FORMULA],
        "Your gate uses ReLU. Use silu.",
    ),
    mistake(
        "gelu",
        [("F.silu(self.w_gate(x))", "F.gelu(self.w_gate(x))")],
        [FORMULA],
        "Your gate uses GELU, which makes this a GEGLU. Use silu.",
    ),
    mistake(
        "added",
        [("gate * self.w_up(x)", "gate + self.w_up(x)")],
        [FORMULA],
        "You add the gate. Multiply by it, number by number.",
    ),
    mistake(
        "silu_after_the_product",
        [
            ("F.silu(self.w_gate(x))", "self.w_gate(x)"),
            ("hidden = gate * self.w_up(x)", "hidden = F.silu(gate * self.w_up(x))"),
        ],
        [FORMULA],
        "You apply silu to the product. Apply it to the gate, before you multiply.",
    ),
    mistake(
        "no_gate",
        [("gate * self.w_up(x)", "gate")],
        [FORMULA],
        "You don't use `w_up`. Multiply silu of the gate by it.",
    ),
    mistake(
        "residual_inside",
        [("return self.w_down(hidden)", "return x + self.w_down(hidden)")],
        [FORMULA],
        "You added x to the output. The residual connection comes later, in the block.",
    ),
    mistake(
        "with_bias",
        [("self.w_down = nn.Linear(d_ff, d_model, bias=False)", "self.w_down = nn.Linear(d_ff, d_model)")],
        ["test_parameters"],
        "`w_down` has a bias. None of the layers has one.",
    ),
    mistake(
        "one_layer_for_both",
        [("self.w_up = nn.Linear(d_model, d_ff, bias=False)", "self.w_up = self.w_gate")],
        ["test_parameters"],
        "`w_up` and `w_gate` are the same layer. Create two.",
    ),
    mistake(
        "detached_gate",
        [("gate * self.w_up(x)", "gate.detach() * self.w_up(x)")],
        ["test_float64_gradients_and_x_unchanged"],
        "You detached the gate, so `w_gate` can't learn.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "The formula is the whole exercise: every value is wrong.": [
            "swiglu_gate_and_up_swapped",
            "swiglu_no_activation",
            "swiglu_sigmoid",
            "swiglu_relu",
            "swiglu_gelu",
            "swiglu_added",
            "swiglu_silu_after_the_product",
            "swiglu_no_gate",
            "swiglu_residual_inside",
        ],
        "The gate and what it multiplies have the same weights, so every value is wrong.": [
            "swiglu_one_layer_for_both",
        ],
    },
)

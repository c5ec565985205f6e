"""Wrong answers to exercise 1, `feed_forward`."""

from gradekit.checks import mistakes_in

RELU = "torch.relu(self.linear1(x))"
FORMULA = "test_equals_the_formula"
mistake = mistakes_in("feed_forward")

MISTAKES = [
    mistake(
        "ff_no_relu",
        [(RELU, "self.linear1(x)")],
        FORMULA,
        "There is no ReLU between the two linear layers, so together they are equivalent to one linear "
        "layer.",
    ),
    mistake(
        "ff_relu_twice",
        [("return self.linear2(hidden)", "return torch.relu(self.linear2(hidden))")],
        FORMULA,
        "You applied a second ReLU after linear2. The output may be negative.",
    ),
    mistake(
        "ff_relu_only_at_the_end",
        [
            (RELU, "self.linear1(x)"),
            ("return self.linear2(hidden)", "return torch.relu(self.linear2(hidden))"),
        ],
        FORMULA,
        "You applied the ReLU after linear2. It belongs between the two linear layers.",
    ),
    mistake(
        "ff_relu_before_linear1",
        [(RELU, "self.linear1(torch.relu(x))")],
        FORMULA,
        "You applied the ReLU before linear1. It belongs between the two linear layers.",
    ),
    mistake(
        "ff_sigmoid",
        [("torch.relu", "torch.sigmoid")],
        FORMULA,
        "You used a sigmoid. Use a ReLU between the two linear layers.",
    ),
    mistake(
        "ff_softmax",
        [(RELU, "torch.softmax(self.linear1(x), dim=-1)")],
        FORMULA,
        "You used a softmax. Use a ReLU between the two linear layers.",
    ),
    mistake(
        "ff_residual_inside",
        [("return self.linear2(hidden)", "return x + self.linear2(hidden)")],
        FORMULA,
        "You added x inside FeedForward. The residual connection belongs in the layer around it, or x is "
        "added twice.",
    ),
    mistake(
        "ff_width_hard_coded",
        [
            ("nn.Linear(d_model, d_ff)", "nn.Linear(d_model, 4 * d_model)"),
            ("nn.Linear(d_ff,", "nn.Linear(4 * d_model,"),
        ],
        "test_parameters",
        "The hidden width of your module is 4 · d_model. It should be d_ff.",
    ),
    mistake(
        "ff_no_bias",
        [
            ("(d_model, d_ff)", "(d_model, d_ff, bias=False)"),
            ("(d_ff, d_model)", "(d_ff, d_model, bias=False)"),
        ],
        "test_parameters",
        "Your linear layers have no bias. They need one.",
    ),
    mistake(
        "ff_no_dropout",
        [("hidden = self.dropout(hidden)", "pass")],
        "test_dropout",
        "You don't apply dropout to the hidden vector.",
    ),
    mistake(
        "ff_dropout_in_eval",
        [
            ("self.dropout = nn.Dropout(dropout)", "self.p = dropout"),
            ("self.dropout(hidden)", "nn.functional.dropout(hidden, self.p)"),
        ],
        "test_dropout",
        "Your dropout stays on after eval(). Use nn.Dropout, or pass training=self.training to F.dropout.",
    ),
    mistake(
        "ff_dropout_on_the_output",
        [
            ("hidden = self.dropout(hidden)", "pass"),
            ("self.linear2(hidden)", "self.dropout(self.linear2(hidden))"),
        ],
        "test_dropout",
        "Your dropout acts on the output. It belongs on the hidden vector, after the ReLU.",
    ),
    mistake(
        "ff_hidden_detached",
        [(RELU, "torch.relu(self.linear1(x)).detach()")],
        "test_gradients_and_dtype",
        "You detached the hidden vector, so no gradient reaches linear1 and x.",
    ),
    mistake(
        "ff_gelu",
        [("torch.relu(", "nn.functional.gelu(")],
        FORMULA,
        "You used a GELU. Use a ReLU between the two linear layers.",
    ),
    mistake(
        "ff_dropout_on_the_input",
        [
            (RELU, "torch.relu(self.linear1(self.dropout(x)))"),
            ("        hidden = self.dropout(hidden)\n", ""),
        ],
        "test_dropout",
        "Your dropout acts on the input. It belongs on the hidden vector, after the ReLU.",
    ),
]

"""Wrong answers to exercise 1, `feed_forward`."""

from gradekit.checks import Mistakes

RELU = "torch.relu(self.linear1(x))"
FORMULA = "test_equals_the_formula"

wrong = Mistakes()

wrong.about(FORMULA)
wrong("ff_no_relu", RELU, "self.linear1(x)")
wrong.says(
    "There is no ReLU between the two linear layers, so together they are equivalent to one linear layer."
)
wrong("ff_relu_twice", "return self.linear2(hidden)", "return torch.relu(self.linear2(hidden))")
wrong.says("You applied a second ReLU after linear2. The output may be negative.")
wrong("ff_relu_only_at_the_end", RELU, "self.linear1(x)")
wrong.edit("return self.linear2(hidden)", "return torch.relu(self.linear2(hidden))")
wrong.says("You applied the ReLU after linear2. It belongs between the two linear layers.")
wrong("ff_relu_before_linear1", RELU, "self.linear1(torch.relu(x))")
wrong.says("You applied the ReLU before linear1. It belongs between the two linear layers.")
wrong("ff_sigmoid", "torch.relu", "torch.sigmoid")
wrong.says("You used a sigmoid. Use a ReLU between the two linear layers.")
wrong("ff_softmax", RELU, "torch.softmax(self.linear1(x), dim=-1)")
wrong.says("You used a softmax. Use a ReLU between the two linear layers.")
wrong("ff_residual_inside", "return self.linear2(hidden)", "return x + self.linear2(hidden)")
wrong.says("You added x inside FeedForward.")
wrong.says("The residual connection belongs in the layer around it, or x is added twice.")
wrong("ff_gelu", "torch.relu(", "nn.functional.gelu(")
wrong.says("You used a GELU. Use a ReLU between the two linear layers.")

wrong.about("test_parameters")
wrong("ff_width_hard_coded", "nn.Linear(d_model, d_ff)", "nn.Linear(d_model, 4 * d_model)")
wrong.edit("nn.Linear(d_ff,", "nn.Linear(4 * d_model,")
wrong.says("The hidden width of your module is 4 · d_model. It should be d_ff.")
wrong("ff_no_bias", "(d_model, d_ff)", "(d_model, d_ff, bias=False)")
wrong.edit("(d_ff, d_model)", "(d_ff, d_model, bias=False)")
wrong.says("Your linear layers have no bias. They need one.")

wrong.about("test_dropout")
wrong("ff_no_dropout", "hidden = self.dropout(hidden)", "pass")
wrong.says("No dropout with the probability `dropout` acts on the hidden vector.")
wrong("ff_dropout_in_eval", "self.dropout = nn.Dropout(dropout)", "self.p = dropout")
wrong.edit("self.dropout(hidden)", "nn.functional.dropout(hidden, self.p)")
wrong.says("Your dropout stays on after eval(). Use nn.Dropout, or pass training=self.training to F.dropout.")
wrong("ff_dropout_on_the_output", "hidden = self.dropout(hidden)", "pass")
wrong.edit("self.linear2(hidden)", "self.dropout(self.linear2(hidden))")
wrong.says("Your dropout acts on the output. It belongs on the hidden vector, after the ReLU.")
wrong("ff_dropout_on_the_input", RELU, "torch.relu(self.linear1(self.dropout(x)))")
wrong.edit("        hidden = self.dropout(hidden)\n", "")
wrong.says("Your dropout acts on the input. It belongs on the hidden vector, after the ReLU.")

wrong.about("test_gradients_and_dtype")
wrong("ff_hidden_detached", RELU, "torch.relu(self.linear1(x)).detach()")
wrong.says("You detached the hidden vector, so no gradient reaches linear1 and x.")

wrong.unnamed("Its checks compare values for drawn inputs, of which none are recorded.", "ff_dropout_in_eval")

"""Wrong answers to exercise 3, `cross_attention`."""

from _one_head import FORMULA, of_one_head

from gradekit.checks import Mistakes

WHICH_SEQUENCE = "The exercise is to decide which of the two sequences each layer reads."
UNUSABLE = "Code that calls it can't use such a result."

wrong = Mistakes("cross_")

of_one_head(wrong, "x", "y")
wrong.costs(
    "It computes a different function, and most checks are about the function.",
    "residual_inside",
    "softmax_over_queries",
)
wrong.costs(UNUSABLE, "weights_returned_too", "weights_in_place_of_output")

wrong.about(FORMULA)
wrong("x_and_y_swapped", "self.q = nn.Linear(x_input_dim", "self.q = nn.Linear(y_input_dim")
wrong.edit("self.k = nn.Linear(y_input_dim", "self.k = nn.Linear(x_input_dim")
wrong.edit("self.v = nn.Linear(y_input_dim", "self.v = nn.Linear(x_input_dim")
wrong.edit("self.q(x)", "self.q(y)")
wrong.edit("self.k(y)", "self.k(x)")
wrong.edit("self.v(y)", "self.v(x)")
wrong.says("`x` and `y` are swapped: queries come from x, keys and values from y.")
wrong.costs(WHICH_SEQUENCE)
wrong("values_from_x", "self.v(y)", "self.v(x)")
wrong.edit("self.v = nn.Linear(y_input_dim", "self.v = nn.Linear(x_input_dim")
wrong.says("Your values come from x. A key and its value describe the same token, so both come from y.")
wrong.costs(WHICH_SEQUENCE)
wrong("keys_from_x", "self.k(y)", "self.k(x)")
wrong.edit("self.k = nn.Linear(y_input_dim", "self.k = nn.Linear(x_input_dim")
wrong.says("Your keys come from x. A key and its value describe the same token, so both come from y.")
wrong.costs(WHICH_SEQUENCE)
wrong("only_y", "self.q(x)", "self.q(y)")
wrong.edit("self.q = nn.Linear(x_input_dim", "self.q = nn.Linear(y_input_dim")
wrong.says("Your queries come from y, so x has no influence. Compute them from x, the sequence that asks.")
wrong.costs(WHICH_SEQUENCE)
wrong("relu_on_the_queries", "queries = self.q(x)", "queries = torch.relu(self.q(x))")
wrong.says("You applied a ReLU to the queries. Use the results of the layers as they are.")
wrong("values_added", "return output", "return output + values.mean(dim=1, keepdim=True)")
wrong.says("You added the values to the output. Return only the attention.")

wrong.about("test_unequal_lengths")
wrong("cut_to_the_shorter", "queries = self.q(x)  #")
wrong.to("""length = min(x.shape[1], y.shape[1])
        x, y = x[:, :length], y[:, :length]
        queries = self.q(x)  #""")
wrong.says("You cut x and y to the shorter length. Attention works with unequal lengths: use all tokens.")
wrong("y_cut_to_the_length_of_x")
wrong.edit("queries = self.q(x)  #", "y = y[:, : x.shape[1]]\n        queries = self.q(x)  #")
wrong.says("You cut y to the length of x. Every token of y counts, however long y is.")

wrong.about("test_three_layers")
wrong("queries_and_keys_share_a_layer", "self.k = nn.Linear(y_input_dim, key_dim)", "self.k = self.q")
wrong.says("`q` and `k` are the same layer. Create a separate layer for each.")

wrong.about("test_mask")
wrong("mask_transposed", ", mask)", ", None if mask is None else mask.transpose(-2, -1))")
wrong.says("You transposed the mask. Its rows are the tokens of x, its columns the tokens of y.")

wrong.about("test_unequal_widths")
wrong("width_of_x_for_the_keys", "self.k = nn.Linear(y_input_dim", "self.k = nn.Linear(x_input_dim")
wrong.says("The layer k gets y, so its input width is y_input_dim.")

wrong.unnamed(
    "Its checks compare values for drawn inputs, of which none are recorded.",
    "nan_without_a_key",
    "average_without_a_key",
)
wrong.unnamed("Its exceptions have other causes, too.", "mask_transposed")

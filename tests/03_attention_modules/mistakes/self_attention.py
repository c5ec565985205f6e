"""Wrong answers to exercise 1, `self_attention`."""

from _one_head import FORMULA, of_one_head

from gradekit.checks import Mistakes

OTHER_FUNCTION = "It computes a different function, and most checks are about the function."
UNUSABLE = "Code that calls it can't use such a result."

wrong = Mistakes("self_")

of_one_head(wrong, "x", "x")
wrong.costs(OTHER_FUNCTION, "residual_inside", "softmax_over_queries")
wrong.costs(UNUSABLE, "weights_returned_too", "weights_in_place_of_output")
wrong.costs(
    "Keys and values are computed from the changed input, so the output is wrong as well.", "input_changed"
)

wrong.about(FORMULA)
wrong("queries_and_keys_swapped")
wrong.edit("masked_attention(queries, keys, values", "masked_attention(keys, queries, values")
wrong.says("Queries and keys are swapped: layer q computes the queries, layer k the keys.")
wrong("keys_made_by_q", "keys = self.k(x)  #", "keys = self.q(x)  #")
wrong.says("You computed the keys with the layer q. Use the layer k.")
wrong("no_attention", "return output", "return values")
wrong.says("You returned the values unchanged. The output is their weighted average.")
wrong.costs(OTHER_FUNCTION)
wrong("output_for_one_token", "return output", "return output.mean(dim=1, keepdim=True).expand_as(output)")
wrong.says("You averaged the output over the tokens. Every token has its own output.")
wrong.costs(OTHER_FUNCTION)
wrong("relu_on_the_queries", "queries = self.q(x)", "queries = torch.relu(self.q(x))")
wrong.says("You applied a ReLU to the queries. Use the results of the layers as they are.")
wrong("values_added", "return output", "return output + values")
wrong.says("You added the values to the output. Return only the attention.")

wrong.about("test_three_layers")
wrong("one_layer_for_queries_and_keys", "self.k = nn.Linear(input_dim, key_dim)", "self.k = self.q")
wrong.says("`q` and `k` are the same layer. Create a separate layer for each.")

wrong.about("test_unequal_widths")
wrong("key_width_for_all")
wrong.edit("self.v = nn.Linear(input_dim, output_dim)", "self.v = nn.Linear(input_dim, key_dim)")
wrong.says("Your values have width key_dim. They should have width output_dim.")
wrong("values_of_key_width_read")
wrong.edit("self.v = nn.Linear(input_dim, output_dim)", "self.v = nn.Linear(key_dim, output_dim)")
wrong.says("The layer v gets x, so its input width is input_dim.")

wrong.unnamed(
    "Its checks compare values for drawn inputs, of which none are recorded.",
    "nan_without_a_key",
    "average_without_a_key",
)

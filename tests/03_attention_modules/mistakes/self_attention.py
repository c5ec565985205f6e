"""Wrong answers to exercise 1, `self_attention`."""

from _one_head import FORMULA, of_one_head

from gradekit.checks import Mistake, with_costs

MISTAKES = [
    *of_one_head("self_attention", "self_", "x", "x"),
    Mistake(
        "self_queries_and_keys_swapped",
        cell="self_attention",
        edits=[("masked_attention(queries, keys, values", "masked_attention(keys, queries, values")],
        about=[FORMULA],
        sentence="Queries and keys are swapped: layer q computes the queries, layer k the keys.",
    ),
    Mistake(
        "self_one_layer_for_queries_and_keys",
        cell="self_attention",
        edits=[("self.k = nn.Linear(input_dim, key_dim)", "self.k = self.q")],
        about=["test_three_layers"],
        sentence="`q` and `k` are the same layer. Create a separate layer for each.",
    ),
    Mistake(
        "self_keys_made_by_q",
        cell="self_attention",
        edits=[("keys = self.k(x)  #", "keys = self.q(x)  #")],
        about=[FORMULA],
        sentence="You computed the keys with the layer q. Use the layer k.",
    ),
    Mistake(
        "self_key_width_for_all",
        cell="self_attention",
        edits=[("self.v = nn.Linear(input_dim, output_dim)", "self.v = nn.Linear(input_dim, key_dim)")],
        about=["test_unequal_widths"],
        sentence="Your values have width key_dim. They should have width output_dim.",
    ),
    Mistake(
        "self_no_attention",
        cell="self_attention",
        edits=[("return output", "return values")],
        about=[FORMULA],
        sentence="You returned the values unchanged. The output is their weighted average.",
    ),
    Mistake(
        "self_output_for_one_token",
        cell="self_attention",
        edits=[("return output", "return output.mean(dim=1, keepdim=True).expand_as(output)")],
        about=[FORMULA],
        sentence="You averaged the output over the tokens. Every token has its own output.",
    ),
    Mistake(
        "self_relu_on_the_queries",
        cell="self_attention",
        edits=[("queries = self.q(x)", "queries = torch.relu(self.q(x))")],
        about=[FORMULA],
        sentence="You applied a ReLU to the queries. Use the results of the layers as they are.",
    ),
    Mistake(
        "self_values_added",
        cell="self_attention",
        edits=[("return output", "return output + values")],
        about=[FORMULA],
        sentence="You added the values to the output. Return only the attention.",
    ),
    Mistake(
        "self_values_of_key_width_read",
        cell="self_attention",
        edits=[("self.v = nn.Linear(input_dim, output_dim)", "self.v = nn.Linear(key_dim, output_dim)")],
        about=["test_unequal_widths"],
        sentence="The layer v gets x, so its input width is input_dim.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It computes a different function, and most checks are about the function.": [
            "self_residual_inside",
            "self_softmax_over_queries",
            "self_no_attention",
            "self_output_for_one_token",
        ],
        "Code that calls it can't use such a result.": [
            "self_weights_returned_too",
            "self_weights_in_place_of_output",
        ],
        "Keys and values are computed from the changed input, so the output is wrong as well.": [
            "self_input_changed",
        ],
    },
)

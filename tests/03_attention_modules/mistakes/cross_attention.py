"""Wrong answers to exercise 3, `cross_attention`."""

from _one_head import FORMULA, of_one_head

from gradekit.checks import Mistake, with_costs

MISTAKES = [
    *of_one_head("cross_attention", "cross_", "x", "y"),
    Mistake(
        "cross_x_and_y_swapped",
        cell="cross_attention",
        edits=[
            ("self.q = nn.Linear(x_input_dim", "self.q = nn.Linear(y_input_dim"),
            ("self.k = nn.Linear(y_input_dim", "self.k = nn.Linear(x_input_dim"),
            ("self.v = nn.Linear(y_input_dim", "self.v = nn.Linear(x_input_dim"),
            ("self.q(x)", "self.q(y)"),
            ("self.k(y)", "self.k(x)"),
            ("self.v(y)", "self.v(x)"),
        ],
        about=[FORMULA],
        sentence="`x` and `y` are swapped: queries come from x, keys and values from y.",
    ),
    Mistake(
        "cross_values_from_x",
        cell="cross_attention",
        edits=[
            ("self.v(y)", "self.v(x)"),
            ("self.v = nn.Linear(y_input_dim", "self.v = nn.Linear(x_input_dim"),
        ],
        about=[FORMULA],
        sentence="Your values come from x. A key and its value describe the same token, so both come from y.",
    ),
    Mistake(
        "cross_keys_from_x",
        cell="cross_attention",
        edits=[
            ("self.k(y)", "self.k(x)"),
            ("self.k = nn.Linear(y_input_dim", "self.k = nn.Linear(x_input_dim"),
        ],
        about=[FORMULA],
        sentence="Your keys come from x. A key and its value describe the same token, so both come from y.",
    ),
    Mistake(
        "cross_only_y",
        cell="cross_attention",
        edits=[
            ("self.q(x)", "self.q(y)"),
            ("self.q = nn.Linear(x_input_dim", "self.q = nn.Linear(y_input_dim"),
        ],
        about=[FORMULA],
        sentence="Your queries come from y, so x has no influence. "
        "Compute them from x, the sequence that asks.",
    ),
    Mistake(
        "cross_cut_to_the_shorter",
        cell="cross_attention",
        edits=[
            (
                "queries = self.q(x)  #",
                "length = min(x.shape[1], y.shape[1])\n"
                "        x, y = x[:, :length], y[:, :length]\n"
                "        queries = self.q(x)  #",
            )
        ],
        about=["test_unequal_lengths"],
        sentence="You cut x and y to the shorter length. Attention works with unequal lengths: use all "
        "tokens.",
    ),
    Mistake(
        "cross_y_cut_to_the_length_of_x",
        cell="cross_attention",
        edits=[("queries = self.q(x)  #", "y = y[:, : x.shape[1]]\n        queries = self.q(x)  #")],
        about=["test_unequal_lengths"],
        sentence="You cut y to the length of x. Every token of y counts, however long y is.",
    ),
    Mistake(
        "cross_queries_and_keys_share_a_layer",
        cell="cross_attention",
        edits=[("self.k = nn.Linear(y_input_dim, key_dim)", "self.k = self.q")],
        about=["test_three_layers"],
        sentence="`q` and `k` are the same layer. Create a separate layer for each.",
    ),
    Mistake(
        "cross_mask_transposed",
        cell="cross_attention",
        edits=[(", mask)", ", None if mask is None else mask.transpose(-2, -1))")],
        about=["test_mask"],
        sentence="You transposed the mask. Its rows are the tokens of x, its columns the tokens of y.",
    ),
    Mistake(
        "cross_relu_on_the_queries",
        cell="cross_attention",
        edits=[("queries = self.q(x)", "queries = torch.relu(self.q(x))")],
        about=[FORMULA],
        sentence="You applied a ReLU to the queries. Use the results of the layers as they are.",
    ),
    Mistake(
        "cross_values_added",
        cell="cross_attention",
        edits=[("return output", "return output + values.mean(dim=1, keepdim=True)")],
        about=[FORMULA],
        sentence="You added the values to the output. Return only the attention.",
    ),
    Mistake(
        "cross_width_of_x_for_the_keys",
        cell="cross_attention",
        edits=[("self.k = nn.Linear(y_input_dim", "self.k = nn.Linear(x_input_dim")],
        about=["test_unequal_widths"],
        sentence="The layer k gets y, so its input width is y_input_dim.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It computes a different function, and most checks are about the function.": [
            "cross_softmax_over_queries",
        ],
        "The exercise is to decide which of the two sequences each layer reads.": [
            "cross_x_and_y_swapped",
            "cross_values_from_x",
            "cross_keys_from_x",
            "cross_only_y",
        ],
        "Code that calls it can't use such a result.": [
            "cross_weights_returned_too",
            "cross_weights_in_place_of_output",
        ],
    },
)

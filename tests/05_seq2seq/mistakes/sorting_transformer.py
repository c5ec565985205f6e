"""Wrong answers to exercise 8, `sorting_transformer`."""

from gradekit.checks import Mistake

MISTAKES = [
    Mistake(
        "no_final_norm",
        cell="sorting_transformer",
        edits=[("        x = self.norm(x)\n", "")],
        about=["test_output"],
        sentence="You don't use the final norm. Pre-norm layers need one norm after the last of them.",
    ),
    Mistake(
        "post_norm",
        cell="sorting_transformer",
        edits=[(", norm_first=True", "")],
        about=["test_output"],
        sentence="Your layers are post-norm. Use norm_first=True.",
    ),
    Mistake(
        "normed_first",
        cell="sorting_transformer",
        edits=[
            ("        x = self.norm(x)\n", ""),
            ("        x = self.embedding(ids)", "        x = self.norm(self.embedding(ids))"),
        ],
        about=["test_output"],
        sentence="You apply the final norm before the layers. It belongs after the last of them.",
    ),
    Mistake(
        "one_head",
        cell="sorting_transformer",
        edits=[("(embed_dim, 4, 2 * embed_dim)", "(embed_dim, 1, 2 * embed_dim)")],
        about=["test_output"],
        sentence="Your layers have one head. They should have four.",
    ),
    Mistake(
        "narrow_feed_forward",
        cell="sorting_transformer",
        edits=[("(embed_dim, 4, 2 * embed_dim)", "(embed_dim, 4, embed_dim)")],
        about=["test_parameters"],
        sentence="Your feed-forward network is as wide as the model. It should be twice as wide.",
    ),
    Mistake(
        "wide_feed_forward",
        cell="sorting_transformer",
        edits=[("(embed_dim, 4, 2 * embed_dim)", "(embed_dim, 4, 4 * embed_dim)")],
        about=["test_parameters"],
        sentence="Your feed-forward network is four times as wide as the model. It should be twice as wide.",
    ),
    Mistake(
        "ids_returned",
        cell="sorting_transformer",
        edits=[("return self.output(x)", "return self.output(x).argmax(dim=-1)")],
        about=["test_output"],
        sentence="You return the likeliest ids. Return the logits of all ids.",
    ),
    Mistake(
        "plain_list",
        cell="sorting_transformer",
        edits=[
            (
                "nn.ModuleList([EncoderLayer(*sizes, norm_first=True) for _ in range(num_layers)])",
                "[EncoderLayer(*sizes, norm_first=True) for _ in range(num_layers)]",
            )
        ],
        about=["test_parameters"],
        sentence="Your layers are in a plain list, so torch doesn't find their parameters. Use "
        "nn.ModuleList.",
    ),
    Mistake(
        "one_layer_shared",
        cell="sorting_transformer",
        edits=[
            (
                "[EncoderLayer(*sizes, norm_first=True) for _ in range(num_layers)]",
                "[EncoderLayer(*sizes, norm_first=True)] * num_layers",
            )
        ],
        about=["test_parameters"],
        sentence="You use the same layer num_layers times. Every layer needs its own weights.",
    ),
    Mistake(
        "always_two_layers",
        cell="sorting_transformer",
        edits=[("range(num_layers)", "range(2)")],
        about=["test_parameters"],
        sentence="Your model always has two layers. Use num_layers.",
    ),
    Mistake(
        "last_layer_unused",
        cell="sorting_transformer",
        edits=[("for layer in self.layers:", "for layer in self.layers[:-1]:")],
        about=["test_every_layer_counts"],
        sentence="You don't use the last layer.",
    ),
    Mistake(
        "layers_get_the_embedding",
        cell="sorting_transformer",
        edits=[
            (
                "        for layer in self.layers:\n            x = layer(x)\n",
                "        embedded = x\n        for layer in self.layers:\n            x = layer(embedded)\n",
            )
        ],
        about=["test_every_layer_counts", "test_output"],
        sentence="Every layer gets the embedding, so only the last layer has an effect. "
        "Pass each layer the output of the one before it.",
    ),
    Mistake(
        "no_positions",
        cell="sorting_transformer",
        edits=[("x = self.embedding(ids)", "x = self.embedding.token(ids)")],
        about=["test_positions_matter"],
        sentence="You don't use the positions, so all places are treated alike.",
    ),
    Mistake(
        "probabilities",
        cell="sorting_transformer",
        edits=[("return self.output(x)", "return torch.softmax(self.output(x), dim=-1)")],
        about=["test_output"],
        sentence="You return probabilities. Return the logits, without a softmax.",
    ),
    Mistake(
        "causal",
        cell="sorting_transformer",
        edits=[
            ("x = layer(x)", "x = layer(x, torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril())")
        ],
        about=["test_every_place_sees_every_number"],
        sentence="Your causal mask hides the numbers after a place, but the smallest number may come last. "
        "Use no mask.",
    ),
    Mistake(
        "one_answer_for_all_places",
        cell="sorting_transformer",
        edits=[("x = self.norm(x)", "x = self.norm(x).mean(dim=1, keepdim=True)")],
        about=["test_output"],
        sentence="You average over the places. Every place needs its own logits.",
    ),
    Mistake(
        "computed_without_gradients",
        cell="sorting_transformer",
        edits=[("x = self.embedding(ids)", "x = self.embedding(ids).detach()")],
        about=["test_gradients"],
        sentence="You detach the embedding, so it learns nothing.",
    ),
]

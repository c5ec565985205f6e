"""Wrong answers to exercise 8, `sorting_transformer`."""

from gradekit.checks import Mistakes

wrong = Mistakes()

wrong.about("test_output")
wrong("no_final_norm", "        x = self.norm(x)\n", "")
wrong.says("You don't use the final norm. Pre-norm layers need one norm after the last of them.")
wrong("post_norm", ", norm_first=True", "")
wrong.says("Your layers are post-norm. Use norm_first=True.")
wrong("normed_first", "        x = self.norm(x)\n", "")
wrong.edit("        x = self.embedding(ids)", "        x = self.norm(self.embedding(ids))")
wrong.says("You apply the final norm before the layers. It belongs after the last of them.")
wrong("one_head", "(embed_dim, 4, 2 * embed_dim)", "(embed_dim, 1, 2 * embed_dim)")
wrong.says("Your layers don't have four heads.")
wrong("ids_returned", "return self.output(x)", "return self.output(x).argmax(dim=-1)")
wrong.says("You return the likeliest ids. Return the logits of all ids.")
wrong("probabilities", "return self.output(x)", "return torch.softmax(self.output(x), dim=-1)")
wrong.says("You return probabilities. Return the logits, without a softmax.")
wrong("one_answer_for_all_places", "x = self.norm(x)", "x = self.norm(x).mean(dim=1, keepdim=True)")
wrong.says("You average over the places. Every place needs its own logits.")

wrong("heads_from_the_width", "(embed_dim, 4, 2 * embed_dim)", "(embed_dim, embed_dim // 2, 2 * embed_dim)")
wrong.says("The number of heads in your layers depends on the width. There should always be four.")

wrong.about("test_parameters")
wrong("narrow_feed_forward", "(embed_dim, 4, 2 * embed_dim)", "(embed_dim, 4, embed_dim)")
wrong.says("Your feed-forward network is as wide as the model. It should be twice as wide.")
wrong("wide_feed_forward", "(embed_dim, 4, 2 * embed_dim)", "(embed_dim, 4, 4 * embed_dim)")
wrong.says("Your feed-forward network is four times as wide as the model. It should be twice as wide.")
wrong("plain_list", "nn.ModuleList([EncoderLayer(*sizes, norm_first=True) for _ in range(num_layers)])")
wrong.to("[EncoderLayer(*sizes, norm_first=True) for _ in range(num_layers)]")
wrong.says("Your layers are in a plain list, so torch doesn't find their parameters. Use nn.ModuleList.")
wrong("one_layer_shared", "[EncoderLayer(*sizes, norm_first=True) for _ in range(num_layers)]")
wrong.to("[EncoderLayer(*sizes, norm_first=True)] * num_layers")
wrong.says("You use the same layer num_layers times. Every layer needs its own weights.")
wrong("always_two_layers", "range(num_layers)", "range(2)")
wrong.says("Your model always has two layers. Use num_layers.")

wrong.about("test_every_layer_counts")
wrong("last_layer_unused", "for layer in self.layers:", "for layer in self.layers[:-1]:")
wrong.says("You don't use the last layer.")

wrong.about("test_every_layer_counts", "test_output")
wrong("layers_get_the_embedding", "        for layer in self.layers:\n            x = layer(x)\n")
wrong.to("        embedded = x\n        for layer in self.layers:\n            x = layer(embedded)\n")
wrong.says("Every layer gets the embedding, so only the last layer has an effect.")
wrong.says("Pass each layer the output of the one before it.")

wrong.about("test_positions_matter")
wrong("no_positions", "x = self.embedding(ids)", "x = self.embedding.token(ids)")
wrong.says("You don't use the positions, so all places are treated alike.")

wrong.about("test_every_place_sees_every_number")
wrong("causal")
wrong.edit("x = layer(x)", "x = layer(x, torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril())")
wrong.says("Your causal mask hides the numbers after a place, but the smallest number may come last.")
wrong.says("Use no mask.")

wrong.about("test_gradients")
wrong("computed_without_gradients", "x = self.embedding(ids)", "x = self.embedding(ids).detach()")
wrong.says("You detach the embedding, so it learns nothing.")

wrong.unnamed(
    "Its checks compare values for drawn inputs, of which none are recorded.", "heads_from_the_width"
)

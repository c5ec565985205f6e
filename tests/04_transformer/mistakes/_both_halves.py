"""What the files for `encoder` and `decoder` share."""

STD = "nn.init.normal_(self.embedding.weight, std=d_model**-0.5)"
NORM = "self.norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()"
STACK = "test_runs_through_all_layers"


def of_both(wrong, cell, layer, start, pads, dropout):
    """Mistakes that `Encoder` and `Decoder` share; `start` is the line that embeds the ids."""
    made = f"{layer}(d_model, num_heads, d_ff, dropout, norm_first)"
    listed = f"[{made} for _ in range(num_layers)]"
    v = "x" if cell == "encoder" else "y"
    ids = "src" if cell == "encoder" else "tgt"

    wrong.about(STACK, "test_order_matters")
    wrong("no_positions", start, f"{v} = self.embedding({ids}) * self.positions.d_model**0.5")
    wrong.says("You don't add the positions, so the model can't know the order of the tokens.")

    wrong.about(STACK)
    wrong("scaled_twice", start, f"{v} = self.positions(self.embedding({ids}) * self.positions.d_model**0.5)")
    wrong.says("You multiply the embeddings by √d, but PositionalEncoder already does.")
    wrong("last_layer_left_out", "for layer in self.layers:", "for layer in self.layers[:-1]:")
    wrong.says("You leave out the last layer.")
    wrong("layers_in_reverse", "for layer in self.layers:", "for layer in reversed(self.layers):")
    wrong.says("You apply the layers in reverse order.")

    wrong.about("test_every_layer_learns", STACK)
    wrong("layers_shared", listed, f"[{made}] * num_layers")
    wrong.says("All your layers are the same module. Create a new one for each level.")

    wrong.about("test_every_layer_learns")
    wrong("plain_list", f"nn.ModuleList(\n            {listed}\n        )", listed)
    wrong.says("The layers are in a plain list, which hides their parameters. Use nn.ModuleList.")
    wrong("one_layer_only", "range(num_layers)", "range(1)")
    wrong.says("You create only one layer. Create num_layers of them.")
    wrong("final_norm_without_parameters", NORM)
    wrong.to("self.norm = nn.LayerNorm(d_model, elementwise_affine=False) if norm_first else nn.Identity()")
    wrong.says("Your final norm has no learned parameters.")
    wrong("embedding_detached", start, f"{v} = self.positions(self.embedding({ids}).detach())")
    wrong.says("No gradient reaches the embeddings, so they never learn.")

    wrong.about("test_final_norm")
    wrong("no_final_norm", NORM, "self.norm = nn.Identity()")
    wrong.says("With norm_first=True the final norm is missing.")
    wrong("always_a_final_norm", NORM, "self.norm = nn.LayerNorm(d_model)")
    wrong.says("You apply a final norm even with norm_first=False.")
    wrong.says("In post-norm every layer already ends in a norm.")
    wrong("norm_first_not_passed_on", made, f"{layer}(d_model, num_heads, d_ff, dropout)")
    wrong.says("You don't pass `norm_first` to the layers, so they are always post-norm.")

    wrong.about("test_embeddings_start_small" if cell == "encoder" else dropout)
    wrong("embeddings_too_large", STD, "nn.init.normal_(self.embedding.weight)")
    wrong.says("The embeddings start with standard deviation 1 and are multiplied by √d later.")
    wrong.says("Draw them with 1/√d.")
    wrong("pad_row_drawn", "self.embedding.weight[pad_idx] = 0", "pass")
    wrong.says("The padding row is drawn like all the others. Set it back to zero afterwards.")

    wrong.about(*pads)
    wrong("pad_id_0", f"make_padding_mask({ids}, self.pad_idx)", f"make_padding_mask({ids}, 0)")
    wrong.says("Your mask always hides the id 0. Use pad_idx.")

    wrong.about(dropout)
    wrong("no_dropout", f"{v} = self.dropout({v})", "pass")
    wrong.says("You don't apply dropout to the sum of embeddings and positions.")
    wrong("dropout_before_positions", f"{v} = self.dropout({v})", "pass")
    wrong.edit(start, f"{v} = self.positions(self.dropout(self.embedding({ids})))")
    wrong.says("You apply dropout to the embeddings before the positions are added. Apply it to the sum.")
    wrong("dropout_not_passed_on", made, f"{layer}(d_model, num_heads, d_ff, norm_first=norm_first)")
    wrong.says("You don't pass the dropout probability to the layers.")

"""What the files for `encoder` and `decoder` share."""

from gradekit.checks import mistakes_in

STD = "nn.init.normal_(self.embedding.weight, std=d_model**-0.5)"
NORM = "self.norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()"
STACK = "test_runs_through_all_layers"


def of_both(cell, letter, layer, start, pads, dropout):
    """Mistakes that `Encoder` and `Decoder` share; `start` is the line that embeds the ids."""
    made = f"{layer}(d_model, num_heads, d_ff, dropout, norm_first)"
    listed = f"[{made} for _ in range(num_layers)]"
    v = "x" if cell == "encoder" else "y"
    ids = "src" if cell == "encoder" else "tgt"
    mistake = mistakes_in(cell, f"{letter}_")
    return [
        mistake(
            "no_positions",
            [(start, f"{v} = self.embedding({ids}) * self.positions.d_model**0.5")],
            [STACK, "test_order_matters"],
            "You don't add the positions, so the model can't know the order of the tokens.",
        ),
        mistake(
            "scaled_twice",
            [(start, f"{v} = self.positions(self.embedding({ids}) * self.positions.d_model**0.5)")],
            STACK,
            "You multiply the embeddings by √d, but PositionalEncoder already does.",
        ),
        mistake(
            "layers_shared",
            [(listed, f"[{made}] * num_layers")],
            ["test_every_layer_learns", STACK],
            "All your layers are the same module. Create a new one for each level.",
        ),
        mistake(
            "plain_list",
            [(f"nn.ModuleList(\n            {listed}\n        )", listed)],
            "test_every_layer_learns",
            "The layers are in a plain list, which hides their parameters. Use nn.ModuleList.",
        ),
        mistake(
            "one_layer_only",
            [("range(num_layers)", "range(1)")],
            "test_every_layer_learns",
            "You create only one layer. Create num_layers of them.",
        ),
        mistake(
            "last_layer_left_out",
            [("for layer in self.layers:", "for layer in self.layers[:-1]:")],
            STACK,
            "You leave out the last layer.",
        ),
        mistake(
            "layers_in_reverse",
            [("for layer in self.layers:", "for layer in reversed(self.layers):")],
            STACK,
            "You apply the layers in reverse order.",
        ),
        mistake(
            "no_final_norm",
            [(NORM, "self.norm = nn.Identity()")],
            "test_final_norm",
            "With norm_first=True the final norm is missing.",
        ),
        mistake(
            "always_a_final_norm",
            [(NORM, "self.norm = nn.LayerNorm(d_model)")],
            "test_final_norm",
            "You apply a final norm even with norm_first=False. "
            "In post-norm every layer already ends in a norm.",
        ),
        mistake(
            "final_norm_without_parameters",
            [
                (
                    NORM,
                    "self.norm = nn.LayerNorm(d_model, elementwise_affine=False) if norm_first else nn.Identity()",
                )
            ],
            "test_every_layer_learns",
            "Your final norm has no learned parameters.",
        ),
        mistake(
            "norm_first_not_passed_on",
            [(made, f"{layer}(d_model, num_heads, d_ff, dropout)")],
            "test_final_norm",
            "You don't pass `norm_first` to the layers, so they are always post-norm.",
        ),
        mistake(
            "embeddings_too_large",
            [(STD, "nn.init.normal_(self.embedding.weight)")],
            "test_embeddings_start_small" if cell == "encoder" else dropout,
            "The embeddings start with standard deviation 1 and are multiplied by √d later. "
            "Draw them with 1/√d.",
        ),
        mistake(
            "pad_row_drawn",
            [("self.embedding.weight[pad_idx] = 0", "pass")],
            "test_embeddings_start_small" if cell == "encoder" else dropout,
            "The padding row is drawn like all the others. Set it back to zero afterwards.",
        ),
        mistake(
            "pad_id_0",
            [(f"make_padding_mask({ids}, self.pad_idx)", f"make_padding_mask({ids}, 0)")],
            pads,
            "Your mask always hides the id 0. Use pad_idx.",
        ),
        mistake(
            "no_dropout",
            [(f"{v} = self.dropout({v})", "pass")],
            dropout,
            "You don't apply dropout to the sum of embeddings and positions.",
        ),
        mistake(
            "dropout_before_positions",
            [
                (f"{v} = self.dropout({v})", "pass"),
                (start, f"{v} = self.positions(self.dropout(self.embedding({ids})))"),
            ],
            dropout,
            "You apply dropout to the embeddings before the positions are added. Apply it to the sum.",
        ),
        mistake(
            "dropout_not_passed_on",
            [(made, f"{layer}(d_model, num_heads, d_ff, norm_first=norm_first)")],
            dropout,
            "You don't pass the dropout probability to the layers.",
        ),
        mistake(
            "embedding_detached",
            [(start, f"{v} = self.positions(self.embedding({ids}).detach())")],
            "test_every_layer_learns",
            "The embeddings are detached, so they never learn.",
        ),
    ]

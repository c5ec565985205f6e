"""Other ways to write what `Encoder` and `Decoder` share."""

from gradekit.checks import Alternative

STD = "nn.init.normal_(self.embedding.weight, std=d_model**-0.5)"
NORM = "self.norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()"


def of_both(cell, letter, layer):
    """One alternative way to write `Encoder` and `Decoder`."""
    made = f"{layer}(d_model, num_heads, d_ff, dropout, norm_first)"
    v = "x" if cell == "encoder" else "y"
    return [
        Alternative(
            f"{letter}_list_filled_in_a_loop",
            cell=cell,
            edits=[
                (
                    f"self.layers = nn.ModuleList(\n            [{made} for _ in range(num_layers)]\n        )",
                    "self.layers = nn.ModuleList()\n"
                    "        for _ in range(num_layers):\n"
                    f"            self.layers.append({made})",
                )
            ],
        ),
        Alternative(
            f"{letter}_embeddings_scaled_down",
            cell=cell,
            edits=[
                (STD, "self.embedding.weight.data *= d_model**-0.5"),
                ("self.embedding.weight[pad_idx] = 0", "pass"),
            ],
        ),
        Alternative(
            f"{letter}_embeddings_started_by_hand",
            cell=cell,
            edits=[
                (STD, "start = torch.randn(vocab_size, d_model) / math.sqrt(d_model)"),
                (
                    "self.embedding.weight[pad_idx] = 0",
                    "self.embedding.weight.copy_(start)\n            self.embedding.weight[pad_idx].fill_(0)",
                ),
            ],
        ),
        Alternative(
            f"{letter}_final_norm_of_another_name",
            cell=cell,
            edits=[
                (NORM, "self.last = nn.LayerNorm(d_model) if norm_first else None"),
                (
                    f"return self.norm({v})",
                    f"if self.last is not None:\n            {v} = self.last({v})\n        return {v}",
                ),
            ],
        ),
        Alternative(
            f"{letter}_functional_dropout",
            cell=cell,
            edits=[
                ("self.dropout = nn.Dropout(dropout)", "self.p = dropout"),
                (f"{v} = self.dropout({v})", f"{v} = F.dropout({v}, self.p, self.training)"),
            ],
        ),
    ]

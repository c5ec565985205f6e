"""Other ways to write what `Encoder` and `Decoder` share."""

STD = "nn.init.normal_(self.embedding.weight, std=d_model**-0.5)"
NORM = "self.norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()"


def of_both(right, cell, layer):
    """One alternative way to write `Encoder` and `Decoder`."""
    made = f"{layer}(d_model, num_heads, d_ff, dropout, norm_first)"
    v = "x" if cell == "encoder" else "y"

    right(
        "list_filled_in_a_loop",
        f"self.layers = nn.ModuleList(\n            [{made} for _ in range(num_layers)]\n        )",
        "self.layers = nn.ModuleList()\n"
        "        for _ in range(num_layers):\n"
        f"            self.layers.append({made})",
    )

    right("embeddings_scaled_down", STD, "self.embedding.weight.data *= d_model**-0.5")
    right.edit("self.embedding.weight[pad_idx] = 0", "pass")

    right("embeddings_started_by_hand", STD, "start = torch.randn(vocab_size, d_model) / math.sqrt(d_model)")
    right.edit("self.embedding.weight[pad_idx] = 0")
    right.to("self.embedding.weight.copy_(start)\n            self.embedding.weight[pad_idx].fill_(0)")

    right("final_norm_of_another_name", NORM, "self.last = nn.LayerNorm(d_model) if norm_first else None")
    right.edit(f"return self.norm({v})")
    right.to(f"if self.last is not None:\n            {v} = self.last({v})\n        return {v}")

    right("functional_dropout", "self.dropout = nn.Dropout(dropout)", "self.p = dropout")
    right.edit(f"{v} = self.dropout({v})", f"{v} = F.dropout({v}, self.p, self.training)")

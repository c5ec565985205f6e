"""Wrong answers to 04_transformer, written from the text of its exercises."""

from answers import Unseen


def answer(cell: str, name: str, old: str, new: str, fault: str) -> Unseen:
    return Unseen(f"{cell}_{name}", cell, [(old, new)], fault=fault)


UNSEEN = [
    answer("feed_forward", "tanh", "torch.relu(", "torch.tanh(", "tanh in place of ReLU"),
    answer("feed_forward", "relu_last", "return self.linear2(hidden)", "return torch.relu(self.linear2(hidden))", "ReLU at the end, too"),
    answer("feed_forward", "residual", "return self.linear2(hidden)", "return x + self.linear2(hidden)", "residual inside"),
    answer("feed_forward", "no_bias", "nn.Linear(d_ff, d_model)", "nn.Linear(d_ff, d_model, bias=False)", "no second bias"),
    answer("feed_forward", "drops_output", "hidden = self.dropout(hidden)\n        return self.linear2(hidden)", "return self.dropout(self.linear2(hidden))", "dropout on the output"),
    answer("encoder_layer", "one_norm", "self.norm2 = nn.LayerNorm(d_model)", "self.norm2 = self.norm1", "one norm for both"),
    answer("encoder_layer", "raw_keys", "self.self_attn(normed, normed, normed, mask)[0]", "self.self_attn(normed, x, x, mask)[0]", "pre-norm: keys and values not normed"),
    answer("encoder_layer", "mask_in_pre_norm", "self.self_attn(normed, normed, normed, mask)[0]", "self.self_attn(normed, normed, normed)[0]", "pre-norm: mask forgotten"),
    answer("encoder_layer", "residual_of_normed", "x = x + self.dropout(self.self_attn(normed", "x = normed + self.dropout(self.self_attn(normed", "pre-norm: residual from the normed input"),
    answer("encoder_layer", "same_input", "changed = self.feed_forward(x)", "changed = self.feed_forward(attended)", "post-norm: feed-forward of the attention's output"),
    answer("encoder_layer", "flag_inverted", "if self.norm_first:", "if not self.norm_first:", "orders exchanged"),
    answer("encoder_layer", "width_norm", "self.norm1 = nn.LayerNorm(d_model)", "self.norm1 = nn.LayerNorm(d_model, elementwise_affine=False)", "a norm without parameters"),
    answer("decoder_layer", "masks_exchanged", "found = self.cross_attn(y, memory, memory, memory_mask)[0]", "found = self.cross_attn(y, memory, memory, target_mask)[0]", "post-norm: the target's mask for the memory"),
    answer("decoder_layer", "memory_queries", "self.cross_attn(normed, memory, memory, memory_mask)[0]", "self.cross_attn(normed, memory, normed, memory_mask)[0]", "values from the target"),
    answer("decoder_layer", "cross_first", "attended = self.self_attn(y, y, y, target_mask)[0]\n        y = self.norm1(y + self.dropout(attended))\n        found = self.cross_attn(y, memory, memory, memory_mask)[0]\n        y = self.norm2(y + self.dropout(found))", "found = self.cross_attn(y, memory, memory, memory_mask)[0]\n        y = self.norm2(y + self.dropout(found))\n        attended = self.self_attn(y, y, y, target_mask)[0]\n        y = self.norm1(y + self.dropout(attended))", "post-norm: cross-attention first"),
    answer("decoder_layer", "shared_attention", "self.cross_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)", "self.cross_attn = self.self_attn", "one module for both"),
    answer("decoder_layer", "memory_normed", "y = y + self.dropout(self.cross_attn(normed, memory", "memory = self.norm2(memory)\n            y = y + self.dropout(self.cross_attn(normed, memory", "pre-norm: memory normed again"),
    answer("encoder", "no_positions", "x = self.positions(self.embedding(src))", "x = self.embedding(src)", "positions forgotten"),
    answer("encoder", "mask_first_layer", "            x = layer(x, mask)", "            x = layer(x, mask if layer is self.layers[0] else None)", "mask in the first layer only"),
    answer("encoder", "mask_square", "return self.norm(x), mask", "return self.norm(x), mask.expand(-1, src.shape[1], -1)", "mask of another shape"),
    answer("encoder", "norm_always", "self.norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()", "self.norm = nn.LayerNorm(d_model)", "a final norm in both orders"),
    answer("encoder", "list", "self.layers = nn.ModuleList(\n            [EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first) for _ in range(num_layers)]\n        )", "self.layers = [EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first) for _ in range(num_layers)]", "layers in a list"),
    answer("encoder", "init_left_out", "        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)\n", "", "embeddings with standard deviation 1"),
    answer("decoder", "causal_only", "target_mask = padding & causal", "target_mask = causal", "padding not hidden"),
    answer("decoder", "or", "target_mask = padding & causal", "target_mask = padding | causal", "or in place of and"),
    answer("decoder", "no_memory_mask", "y = layer(y, memory, target_mask, memory_mask)", "y = layer(y, memory, target_mask)", "memory mask not passed on"),
    answer("decoder", "pad_zero", "padding = make_padding_mask(tgt, self.pad_idx)", "padding = make_padding_mask(tgt)", "pad_idx 0 always"),
    answer("transformer", "softmax", "return self.output(y)", "return self.output(y).softmax(dim=-1)", "probabilities in place of logits"),
    answer("transformer", "source_vocabulary", "self.output = nn.Linear(d_model, tgt_vocab_size)", "self.output = nn.Linear(d_model, src_vocab_size)", "output as wide as the source's vocabulary"),
    answer("transformer", "mask_dropped", "return self.decode(tgt, memory, memory_mask)", "return self.decode(tgt, memory, None)", "memory mask lost"),
    answer("transformer", "decodes_source", "return self.decode(tgt, memory, memory_mask)", "return self.decode(src, memory, memory_mask)", "source in place of the target"),
    answer("transformer", "post_norm", "self.decoder = Decoder(tgt_vocab_size, *sizes)", "self.decoder = Decoder(tgt_vocab_size, *sizes[:-1])", "decoder in post-norm"),
]  # fmt: skip

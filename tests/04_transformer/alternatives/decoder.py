"""Other right answers to exercise 5, `decoder`."""

from _both_halves import of_both

from gradekit.checks import Alternatives

right = Alternatives("d_")

of_both(right, "decoder", "DecoderLayer")

right("masks_inline", "make_padding_mask(tgt, self.pad_idx)", "(tgt != self.pad_idx).unsqueeze(-2)")
right.edit("make_causal_mask(tgt.shape[1]).to(tgt.device)")
right.to("~torch.triu(tgt.new_ones(tgt.size(1), tgt.size(1), dtype=torch.bool), diagonal=1)")

right("causal_mask_as_buffer", "self.pad_idx = pad_idx")
right.to('self.pad_idx = pad_idx\n        self.register_buffer("causal", make_causal_mask(max_seq_len))')
right.edit("make_causal_mask(tgt.shape[1]).to(tgt.device)", "self.causal[: tgt.shape[1], : tgt.shape[1]]")

right("masks_by_keyword", "y = layer(y, memory, target_mask, memory_mask)")
right.to("y = layer(y, memory, memory_mask=memory_mask, target_mask=torch.logical_and(padding, causal))")

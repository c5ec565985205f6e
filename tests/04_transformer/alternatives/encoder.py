"""Other right answers to exercise 4, `encoder`."""

from _both_halves import of_both

from gradekit.checks import Alternatives

right = Alternatives("e_")

of_both(right, "encoder", "EncoderLayer")

right("mask_inline", "make_padding_mask(src, self.pad_idx)", "src.ne(self.pad_idx)[:, None, :]")
right("mask_expanded", "x = layer(x, mask)", "x = layer(x, mask=mask.expand(-1, src.size(1), -1))")

right("pads_zeroed_at_the_end")
right.edit("return self.norm(x), mask", "return self.norm(x) * mask.transpose(1, 2), mask")

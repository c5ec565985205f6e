"""Other right answers to exercise 4, `encoder`."""

from _both_halves import of_both

from gradekit.checks import Alternative

ALTERNATIVES = [
    *of_both("encoder", "e", "EncoderLayer"),
    Alternative(
        "e_mask_inline",
        cell="encoder",
        edits=[("make_padding_mask(src, self.pad_idx)", "src.ne(self.pad_idx)[:, None, :]")],
    ),
    Alternative(
        "e_mask_expanded",
        cell="encoder",
        edits=[("x = layer(x, mask)", "x = layer(x, mask=mask.expand(-1, src.size(1), -1))")],
    ),
    Alternative(
        "e_pads_zeroed_at_the_end",
        cell="encoder",
        edits=[("return self.norm(x), mask", "return self.norm(x) * mask.transpose(1, 2), mask")],
    ),
]

"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from coursekit.checks import Equivalent

CAUSAL = "causal = make_causal_mask(tgt.shape[1]).to(tgt.device)"
ON_THE_CPU = "It is needed on a GPU only, and grading has none."
SYMMETRIC = "`!=` compares its two sides in either order."

EQUIVALENT = [
    Equivalent(
        "feed_forward",
        "hidden = torch.relu(self.linear1(x))",
        "hidden = torch.relu_(self.linear1(x))",
        "The tensor was just made, so nobody else sees the change.",
    ),
    Equivalent(
        "encoder",
        "mask = make_padding_mask(src, self.pad_idx)",
        "mask = make_padding_mask(self.pad_idx, src)",
        SYMMETRIC,
    ),
    Equivalent(
        "decoder",
        "padding = make_padding_mask(tgt, self.pad_idx)",
        "padding = make_padding_mask(self.pad_idx, tgt)",
        SYMMETRIC,
    ),
    Equivalent("decoder", CAUSAL, CAUSAL.replace(".to(tgt.device)", ""), ON_THE_CPU),
    Equivalent("decoder", CAUSAL, CAUSAL.replace("tgt.device", ""), ON_THE_CPU),
]

"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalent

CAUSAL = "causal = make_causal_mask(tgt.shape[1]).to(tgt.device)"
ON_THE_CPU = "It is needed on a GPU only, and grading has none."
SYMMETRIC = "`!=` compares its two sides in either order."
CHECK = "check_causal"
TOKENS = "x = torch.arange(48.0).sin().view(2, 6, 4)"
VALUES = "for value in (-9.0, 9.0):"
MOVED = "moved = (function(changed) - before).abs().amax(dim=-1) > 3e-3"
OTHER_TOKENS = "Any tokens will do, as long as they differ."
OTHER_VALUES = "Any large changes will do, in either order."

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
    Equivalent(
        CHECK,
        TOKENS,
        'x = vars(check_causal).setdefault("_x", torch.arange(48.0).sin().view(2, 6, 4))',
        "They are the same in every call.",
    ),
    Equivalent(CHECK, TOKENS, TOKENS.replace(".sin()", ""), OTHER_TOKENS),
    Equivalent(CHECK, TOKENS, TOKENS.replace("sin", "cos"), OTHER_TOKENS),
    Equivalent(
        CHECK,
        "for position in range(6):",
        "for position in list(range(6))[1:]:",
        "All outputs of its sequence may depend on the token at position 0.",
    ),
    *(
        Equivalent(CHECK, VALUES, VALUES.replace("-9.0, 9.0", values), OTHER_VALUES)
        for values in ("9.0, -9.0", "-10.0, 9.0", "-9.0, 10.0")
    ),
    Equivalent(CHECK, MOVED, MOVED.replace(">", ">="), "No output moves by exactly this much."),
    Equivalent(
        CHECK, MOVED, MOVED.replace(".amax(dim=-1)", ""), "Then each number of an output is looked at."
    ),
    Equivalent(
        CHECK,
        MOVED,
        MOVED.replace(".abs()", ".abs_()"),
        "The difference was just made, so nobody else sees the change.",
    ),
]

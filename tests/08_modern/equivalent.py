"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalent

NOT_NEGATIVE = "A remainder is never negative here."
SAME_IN_BOTH_MODES = "None of the layers differs between training and evaluation mode."
OWN_TENSOR = "The tensor was just made, so nobody else sees the change."
SYMMETRIC = "`transpose` takes its two axes in either order."
SAME_LENGTH = "The exercise asks for a cache for every block, so both have the same length."

GATE = "hidden = gate * self.w_up(x)"
ROOT = "return self.weight * (x / torch.sqrt(mean_square + self.eps))"
QUERIES = "self.w_q = nn.Linear(d_model, num_heads * self.d_head, bias=False)"
MERGE = "return self.w_o(output.transpose(1, 2).flatten(2))"
SPLIT = "return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)"
CACHES = "caches = [None] * len(self.blocks)"
BLOCKS = "for block, cache in zip(self.blocks, caches, strict=True):"


def same(cell, before, old, new, reason):
    return Equivalent(cell, before, before.replace(old, new), reason)


MODES = [
    Equivalent(cell, "", f"self.{mode}()", SAME_IN_BOTH_MODES)
    for cell in ("rms_norm", "swiglu", "causal_attention", "decoder_only")
    for mode in ("train", "eval")
]
FUNCTIONS = [
    same("rotate", "if width % 2 != 0:", "!=", ">", NOT_NEGATIVE),
    same(
        "rotate",
        "first, second = x[..., 0::2], x[..., 1::2]",
        "0::2",
        "::2",
        "A slice starts at 0 by default.",
    ),
    same("grouped_attention", "if heads % groups != 0:", "!=", ">", NOT_NEGATIVE),
    same(
        "generate",
        "following = logits[:, -1].argmax(dim=-1, keepdim=True)",
        "dim=-1",
        "dim=1",
        "There are two axes, so -1 is 1.",
    ),
    Equivalent(
        "cache_bytes", "total = 0", 'total = vars(cache_bytes).setdefault("_total", 0)', "It is a constant."
    ),
]
MODULES = [
    same("rms_norm", ROOT, "mean_square + self.eps", "mean_square.add_(self.eps)", OWN_TENSOR),
    same("swiglu", GATE, "gate * self.w_up(x)", "gate.mul_(self.w_up(x))", OWN_TENSOR),
    same(
        "causal_attention",
        QUERIES,
        "d_model, num_heads * self.d_head",
        "num_heads * self.d_head, d_model",
        "Both widths are d_model.",
    ),
    *(
        entry
        for before in (MERGE, SPLIT)
        for entry in (
            same("causal_attention", before, "transpose(1, 2)", "transpose(2, 1)", SYMMETRIC),
            same("causal_attention", before, "transpose(1, 2)", "transpose_(1, 2)", OWN_TENSOR),
        )
    ),
    same(
        "decoder_only",
        CACHES,
        "[None] * len(self.blocks)",
        'vars(self).setdefault("_caches", [None] * len(self.blocks))',
        "A list of None stays as it is.",
    ),
    same("decoder_only", BLOCKS, ", strict=True", "", SAME_LENGTH),
    same("decoder_only", BLOCKS, "True", "False", SAME_LENGTH),
]

CHECK = "check_reader"
TEXT = "x = torch.arange(96.0).sin().view(2, 12, 4)"
CUTS = "for lengths in ([1] * 12, [5, 4, 3]):"
SAME_SHAPE = (
    'assert together.shape == whole.shape, f"The outputs of the pieces have the shape {together.shape}."'
)
GAP = "gap = (together - whole).abs().max()"

CHECKING = [
    Equivalent(
        CHECK,
        TEXT,
        'x = vars(check_reader).setdefault("_x", torch.arange(96.0).sin().view(2, 12, 4))',
        "It is the same in every call.",
    ),
    Equivalent(CHECK, TEXT, TEXT.replace("sin", "cos"), "Any text will do, as long as its tokens differ."),
    *(
        Equivalent(CHECK, CUTS, CUTS.replace("[1] * 12, [5, 4, 3]", cuts), "Other cuts show the same.")
        for cuts in ("[5, 4, 3], [1] * 12", "[1] * 12, [4, 5, 3]", "[1] * 12, [5, 3, 4]")
    ),
    Equivalent(CHECK, "read_another(-piece)", "read_another(piece)", "Any second text will do."),
    *(
        Equivalent(
            CHECK,
            SAME_SHAPE,
            SAME_SHAPE.replace("==", sign),
            "If shapes differ, so does the number of sequences or tokens, and the difference is an error.",
        )
        for sign in (">=", "<=")
    ),
    Equivalent(
        CHECK,
        GAP,
        GAP.replace(".abs()", ""),
        "The errors of a wrong reader have both signs, in so many numbers.",
    ),
    *(
        Equivalent(CHECK, GAP, GAP.replace(*change), "Neither tensor is used afterwards.")
        for change in [(".abs()", ".abs_()"), ("(together - whole)", "(together.sub_(whole))")]
    ),
    Equivalent(CHECK, "assert gap < 3e-3, (", "assert gap <= 3e-3, (", "No gap is exactly this large."),
]

EQUIVALENT = [*MODES, *FUNCTIONS, *MODULES, *CHECKING]

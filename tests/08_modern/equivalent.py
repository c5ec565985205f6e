"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalents

NOT_NEGATIVE = "A remainder is never negative here."
OWN_TENSOR = "The tensor was just made, so nobody else sees the change."
MERGE = "return self.w_o(output.transpose(1, 2).flatten(2))"
SPLIT = "return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)"
BLOCKS = "for block, cache in zip(self.blocks, caches, strict=True):"
TEXT = "x = torch.arange(96.0).sin().view(2, 12, 4)"
CUTS = "for lengths in ([1] * 12, [5, 4, 3]):"
SAME_SHAPE = (
    'assert together.shape == whole.shape, f"The outputs of the pieces have the shape {together.shape}."'
)
GAP = "gap = (together - whole).abs().max()"

ONLY_THE_DTYPE = "The text asks for the dtype, not for all of its digits."

same = Equivalents("rms_norm")

same.because(ONLY_THE_DTYPE)
same("", "`RMSNorm` loses the digits of double precision")

same.because(OWN_TENSOR)
same("return self.weight * (x / torch.sqrt(mean_square + self.eps))")
same.to("return self.weight * (x / torch.sqrt(mean_square.add_(self.eps)))")

same = Equivalents("swiglu")

same.because("The text doesn't promise double precision.")
same("", "`SwiGLU` loses the digits of double precision")

same.because(OWN_TENSOR)
same("hidden = gate * self.w_up(x)", "hidden = gate.mul_(self.w_up(x))")

same = Equivalents("causal_attention")

same.because("The angles are computed in float32 anyway.")
same("", "`CausalAttention` loses the digits of double precision")

same.because("Both widths are d_model.")
same("self.w_q = nn.Linear(d_model, num_heads * self.d_head, bias=False)")
same.to("self.w_q = nn.Linear(num_heads * self.d_head, d_model, bias=False)")

same.because("`transpose` takes its two axes in either order.")
same.edit(MERGE, "1, 2", "2, 1")
same.edit(SPLIT, "1, 2", "2, 1")

same.because(OWN_TENSOR)
same.edit(MERGE, "output.transpose", "output.transpose_")
same.edit(SPLIT, ".transpose", ".transpose_")

same = Equivalents("decoder_only")

same.because("The angles are computed in float32 anyway.")
same("", "`Block` loses the digits of double precision")

same.because("A list of None stays as it is.")
same("caches = [None] * len(self.blocks)")
same.to('caches = vars(self).setdefault("_caches", [None] * len(self.blocks))')

same.because("The exercise asks for a cache for every block, so both have the same length.")
same.edit(BLOCKS, ", strict=True", "")
same.edit(BLOCKS, "True", "False")

same = Equivalents("rotate")

same.because("The angles are computed in float32 anyway.")
same("", "`rotate` loses the digits of double precision")

same.because(NOT_NEGATIVE)
same.edit("if width % 2 != 0:", "!=", ">")

same.because("A slice starts at 0 by default.")
same.edit("first, second = x[..., 0::2], x[..., 1::2]", "0", "")

same = Equivalents("grouped_attention")

same.because(ONLY_THE_DTYPE)
same("", "`grouped_attention` loses the digits of double precision")

same.because("The text promises four axes, no others.")
same("", "`grouped_attention` is wrong for five axes")

same.because(NOT_NEGATIVE)
same.edit("if heads % groups != 0:", "!=", ">")

same = Equivalents("generate")

same.because("There are two axes, so -1 is 1.")
same.edit("following = logits[:, -1].argmax(dim=-1, keepdim=True)", "=-1", "=1")

same = Equivalents("cache_bytes")

same.because("It is a constant.")
same.edit("total = 0", "0", 'vars(cache_bytes).setdefault("_total", 0)')

same = Equivalents("check_reader")

same.because("It is the same in every call.")
same(TEXT, 'x = vars(check_reader).setdefault("_x", torch.arange(96.0).sin().view(2, 12, 4))')

same.because("Any text will do, as long as its tokens differ.")
same.edit(TEXT, ".sin", ".cos")

same.because("Other cuts show the same.")
same.edit(CUTS, "1] * 12, [5, 4, 3]", "5, 4, 3], [1] * 12")
same.edit(CUTS, "5, 4", "4, 5")
same.edit(CUTS, "4, 3", "3, 4")

same.because("If shapes differ, so does the number of sequences or tokens, and the difference is an error.")
same.edit(SAME_SHAPE, " ==", " >=")
same.edit(SAME_SHAPE, " ==", " <=")

same.because("The errors of a wrong reader have both signs, in so many numbers.")
same.edit(GAP, ".abs().max", ".max")

same.because("Neither tensor is used afterwards.")
same.edit(GAP, ".abs", ".abs_")
same.edit(GAP, "together - whole", "together.sub_(whole)")

same.because("No gap is exactly this large.")
same.edit("assert gap < 3e-3, (", "< ", "<= ")

PARTS = """
    "attn_norm": "norm1",
    "attn_q": "attention.w_q",
    "attn_k": "attention.w_k",
    "attn_v": "attention.w_v",
    "attn_output": "attention.w_o",
    "ffn_norm": "norm2",
    "ffn_gate": "feed_forward.w_gate",
    "ffn_up": "feed_forward.w_up",
    "ffn_down": "feed_forward.w_down",
"""

same = Equivalents("load_weights")

same.because("The table of names is the same in every call.")
same(f"parts = {{{PARTS}}}")
same.to(f'parts = vars(load_weights).setdefault("_parts", {{{PARTS}}})')

same.because("If several tensors don't fit, any of them may be named.")
same.edit("for name in [*places, *tensors]:", "*places, *tensors", "*tensors, *places")

same.because(
    "Only the sentence of the error says the two shapes the other way around, and its words are free."
)
same("wanted, found = parameters[places[name]].shape, tensors[name].shape")
same.to("wanted, found = tensors[name].shape, parameters[places[name]].shape")

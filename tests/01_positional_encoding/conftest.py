"""Rules shared by all checks of this assignment."""

from gradekit.checks import forbid

only_own_code = forbid(
    "Transformer",
    "TransformerEncoder*",
    "TransformerDecoder*",
    "MultiheadAttention",
    "scaled_dot_product_attention",
    "_scaled_dot_product*",
)

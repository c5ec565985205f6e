"""Rules shared by all checks of this assignment."""

from gradekit.checks import TORCH_ATTENTION, forbid

only_own_code = forbid(*TORCH_ATTENTION, "Transformer", "TransformerEncoder*", "TransformerDecoder*")

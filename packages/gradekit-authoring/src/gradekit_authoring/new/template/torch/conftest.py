"""Shared by all checks of this assignment."""

from gradekit.checks import forbid

only_own_code = forbid("*layer_norm", "*LayerNorm", "*group_norm", "*GroupNorm", "*RMSNorm", "rms_norm")

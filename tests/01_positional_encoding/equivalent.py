"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalent

OWN_TENSOR = "The tensor was just made, so nobody else sees the change."
NO_DROPOUT = "The module has no dropout, so its mode changes nothing."

POSITION = "position = torch.arange(max_seq_len).unsqueeze(1)"
BUFFER = 'self.register_buffer("pe", pe.unsqueeze(0))'
POSITIONS = "positions = self.position(torch.arange(length, device=ids.device))"

EQUIVALENT = [
    *(
        Equivalent(cell, "", f"self.{mode}()", NO_DROPOUT)
        for cell in ("positional_encoder", "integer_sequence_embedding")
        for mode in ("train", "eval")
    ),
    Equivalent(
        "positional_encoder",
        "if d_model % 2 != 0:",
        "if d_model % 2 > 0:",
        "The remainder is never negative.",
    ),
    Equivalent("positional_encoder", POSITION, POSITION.replace("unsqueeze", "unsqueeze_"), OWN_TENSOR),
    Equivalent("positional_encoder", BUFFER, BUFFER.replace("unsqueeze", "unsqueeze_"), OWN_TENSOR),
    Equivalent(
        "positional_encoder",
        "pe = torch.zeros(max_seq_len, d_model)",
        "pe = torch.ones(max_seq_len, d_model)",
        "Every entry is written afterwards.",
    ),
    Equivalent(
        "positional_encoder",
        "pe[:, 0::2] = torch.sin(angle)",
        "pe[:, ::2] = torch.sin(angle)",
        "A slice begins at 0 by default.",
    ),
    Equivalent(
        "positional_encoder",
        "return x + self.pe[:, :length]",
        "return x.add_(self.pe[:, :length])",
        OWN_TENSOR,
    ),
    Equivalent(
        "encoding_curves", "table = encoder.pe[0]", "table = encoder.pe[-1]", "The first axis has size 1."
    ),
    Equivalent(
        "integer_sequence_embedding",
        POSITIONS,
        POSITIONS.replace(", device=ids.device", ""),
        "It is needed on a GPU only, and grading has none.",
    ),
    Equivalent(
        "integer_sequence_embedding", "return tokens + positions", "return tokens.add_(positions)", OWN_TENSOR
    ),
]

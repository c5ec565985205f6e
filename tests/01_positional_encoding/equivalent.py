"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalents

OWN_TENSOR = "The tensor was just made, so nobody else sees the change."
NO_DROPOUT = "The module has no dropout, so its mode changes nothing."

same = Equivalents("positional_encoder")

same.because(NO_DROPOUT)
same("", "self.train()")
same("", "self.eval()")

same.because("The remainder is never negative.")
same.edit("if d_model % 2 != 0:", "!=", ">")

same.because(OWN_TENSOR)
same.edit("position = torch.arange(max_seq_len).unsqueeze(1)", ".unsqueeze", ".unsqueeze_")
same.edit('self.register_buffer("pe", pe.unsqueeze(0))', "pe.unsqueeze", "pe.unsqueeze_")
same("return x + self.pe[:, :length]", "return x.add_(self.pe[:, :length])")

same.because("Every entry is written afterwards.")
same.edit("pe = torch.zeros(max_seq_len, d_model)", "torch.zeros", "torch.ones")

same.because("A slice begins at 0 by default.")
same.edit("pe[:, 0::2] = torch.sin(angle)", "0", "")

same = Equivalents("integer_sequence_embedding")

same.because(NO_DROPOUT)
same("", "self.train()")
same("", "self.eval()")

same.because("It is needed on a GPU only, and grading has none.")
same.edit("positions = self.position(torch.arange(length, device=ids.device))", ", device=ids.device", "")

same.because(OWN_TENSOR)
same("return tokens + positions", "return tokens.add_(positions)")

same = Equivalents("encoding_curves")

same.because("The first axis has size 1.")
same.edit("table = encoder.pe[0]", "0", "-1")

"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalents

NO_DOUBLE = "The text doesn't promise double precision."
NO_MESSAGE = "The exercise asks for no message."
OWN_TENSOR = "The tensor was just made, so nobody else sees the change."
LEAVES_NOTHING = "A call of the student's test leaves nothing behind for the next one."
SOURCE = 'raise ValueError("no token of this batch counts, so there is no mean")'

same = Equivalents("answer_loss")

same.because(NO_MESSAGE)
same(SOURCE, "raise ValueError()")
same(SOURCE, 'raise ValueError("")')

same.because(NO_DOUBLE)
same("", "`answer_loss` loses the digits of double precision")

same = Equivalents("lora_linear")

same.because("None of its parts differs between training and evaluation mode.")
same("", "self.train()")
same("", "self.eval()")
same("", "`LoRALinear` leaves the model in training mode")

same.because("The layer in the module, and so its shape and whether there is a bias, stays the same.")
same("d_out, d_in = self.linear.weight.shape")
same.to('d_out, d_in = vars(self).setdefault("_values", self.linear.weight.shape)')
same("bias = self.linear.bias", 'bias = vars(self).setdefault("_bias", self.linear.bias)')

same = Equivalents("add_lora")

same.because("The last module has no children, or it would not be the last.")
same.edit("for parent in model.modules()", "model.modules()", "list(model.modules())[:-1]")

same.because(
    "The last parameter belongs to a linear layer: those of a LoRALinear come before those of the layer in it."
)
same(
    "return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)",
    "return sum(weight.numel() for weight in list(model.parameters())[:-1] if weight.requires_grad)",
)

same.because(
    "The entries that a merged layer gets aren't random, and nobody asks which numbers are drawn afterwards."
)
same("", "`merge_lora` sets the random seed")

same = Equivalents("answer_log_probs")

same.because("`gather` reads only as many positions as its index has.")
same.edit("log_probs = torch.log_softmax(logits[:, :-1], dim=-1)", ":-1", ":")

same.because("The last axis has one entry.")
same.edit("of_tokens = log_probs.gather(-1, ids[:, 1:, None])[..., 0]", "[..., 0]", "[..., -1]")

same.because(OWN_TENSOR)
same("return (of_tokens * counts[:, 1:]).sum(dim=1)", "return (of_tokens.mul_(counts[:, 1:])).sum(dim=1)")

same.because(NO_DOUBLE)
same("", "`answer_log_probs` loses the digits of double precision")

same = Equivalents("dpo_loss")

same.because(NO_DOUBLE)
same("", "`dpo_loss` loses the digits of double precision")

same.because(OWN_TENSOR)
same("margins = beta * (gained_by_chosen - gained_by_rejected)")
same.to("margins = beta * (gained_by_chosen.sub_(gained_by_rejected))")

same = Equivalents("check_loss")

DIFFERS = "differs = abs(loss(changed, ids, counts) - whole).item() > 5e-6"
LAST = (
    'assert abs(loss(logits, ids, counts) - whole) < 5e-6, "Nothing predicts position 0, so it never counts."'
)

same.because(LEAVES_NOTHING)
same("whole = loss(logits, ids, counts)")
same.to('whole = vars(check_loss).setdefault("_whole", loss(logits, ids, counts))')

same.because("Each fault shows in two of the rows, and at other positions than 0, as well.")
same.edit("for row in range(3):", "range(3)", "list(range(3))[1:]")
same.edit("for place in range(8):", "range(8)", "list(range(8))[1:]")

same.because("No loss changes by exactly the limit.")
same.edit(DIFFERS, "> 5", ">= 5")
same.edit(LAST, "< 5", "<= 5")

same.because("A tensor with one number can be compared, too.")
same.edit(DIFFERS, ".item()", "")
same.edit("predicts = place < 7 and counts[row, place + 1].item()", ".item()", "")

same.because(NO_MESSAGE)
same.edit(LAST, '"Nothing predicts position 0, so it never counts."', '""')

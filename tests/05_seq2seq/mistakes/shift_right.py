"""Wrong answers to exercise 2, `shift_right`."""

from gradekit.checks import Mistakes

ONE_SHIFT = "The exercise is this one shift, and most checks compare the shifted ids."

wrong = Mistakes()

wrong.about("test_moved_one_place")
wrong("not_shifted", "return torch.cat([bos, targets[:, :-1]], dim=1)", "return targets.clone()")
wrong.says(
    "You don't shift the targets, so the decoder reads the token that it should write and only copies."
)
wrong.costs(ONE_SHIFT)
wrong("first_token_lost", "targets[:, :-1]", "targets[:, 1:]")
wrong.says("You replaced the first token with BOS. Shift the whole row, so that the last token drops out.")
wrong("shifted_left", "[bos, targets[:, :-1]]", "[targets[:, 1:], bos]")
wrong.says("You shifted the targets to the left. BOS belongs in front, and the last token drops out.")
wrong.costs(ONE_SHIFT)
wrong("rolled", "return torch.cat([bos, targets[:, :-1]], dim=1)", "return torch.roll(targets, 1, dims=1)")
wrong.says("The last token has come to the front of a row. Put BOS there, in every row.")
wrong.costs(ONE_SHIFT)

wrong("eos_becomes_padding", "return torch.cat([bos, targets[:, :-1]], dim=1)")
wrong.to(
    "result = torch.cat([bos, targets[:, :-1]], dim=1)\n    return result.masked_fill(result == EOS, PAD)"
)
wrong.says(
    "You replace EOS in the input. Leave it: at this position the target is PAD, and the loss ignores it."
)

wrong.about("test_moved_one_place", "test_shape_and_dtype")
wrong("one_too_long", "targets[:, :-1]", "targets")
wrong.says("Your rows are one longer than the targets. Drop the last token.")

wrong.about("test_any_bos")
wrong("bos_is_always_1", "targets[:, :1], bos_idx)", "targets[:, :1], 1)")
wrong.says("You always use 1 for BOS. Use bos_idx.", lacks=("bos_idx",))

wrong.about("test_shape_and_dtype")
wrong("float_bos", "torch.full_like(targets[:, :1], bos_idx)", "torch.ones(len(targets), 1) * bos_idx")
wrong.says("Your result is float, perhaps because the column of BOS is. Ids are integers.")

wrong.about("test_targets_unchanged")
wrong("targets_changed", "return torch.cat([bos, targets[:, :-1]], dim=1)")
wrong.to("targets[:, 1:] = targets[:, :-1].clone()\n    targets[:, :1] = bos\n    return targets")
wrong.says("You modified the targets in place, but the loss still needs them. Create a new tensor.")

wrong.unnamed(
    "Its checks compare values for drawn inputs, of which none are recorded.", "eos_becomes_padding"
)

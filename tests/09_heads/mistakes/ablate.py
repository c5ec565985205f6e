"""Wrong answers to exercise 6, `ablate`."""

from gradekit.checks import Mistakes

REPLACE = 'changed[:, head] = alone.mean(dim=(0, 1)) if kind == "mean" else 0.0'

wrong = Mistakes("ablate_")

wrong.about("test_a_copy")
wrong("in_place", "changed = outputs.clone()", "changed = outputs")
wrong.says("You write into `outputs`. Work on a copy.")

wrong.about("test_zeros")
wrong("first_axis", REPLACE, REPLACE.replace("changed[:, head]", "changed[head % len(changed)]"))
wrong.says("You replace a sequence of the batch. The heads are on axis 1.")
wrong("position", REPLACE, REPLACE.replace("changed[:, head]", "changed[:, :, head % outputs.shape[2]]"))
wrong.says("You replace a position of all heads. The heads are on axis 1.")
wrong("all_but_this_one", REPLACE, "changed = torch.zeros_like(outputs)\n    changed[:, head] = alone")
wrong.says("You keep this head and remove the others.")
wrong.costs("The opposite of what is asked for.")
wrong("always_the_mean", REPLACE, "changed[:, head] = alone.mean(dim=(0, 1))")
wrong.says("You always use the mean, whatever the kind.")

wrong.about("test_mean")
wrong("mean_of_each_position", "alone.mean(dim=(0, 1))", "alone.mean(dim=0)")
wrong.says("Your mean keeps the positions. Average over the batch and all positions.")
wrong("mean_of_each_sequence", "alone.mean(dim=(0, 1))", "alone.mean(dim=1, keepdim=True)")
wrong.says("Every sequence has its own mean. Average over the batch and all positions.")
wrong("one_number", "alone.mean(dim=(0, 1))", "alone.mean()")
wrong.says("Your mean is one number. It should be a vector of width d_head.")
wrong("mean_of_all_heads", "alone.mean(dim=(0, 1))", "outputs.mean(dim=(0, 1, 2))")
wrong.says("You average over all heads. Take the mean of the head that is replaced.")
wrong("mean_is_zero", REPLACE, "changed[:, head] = 0.0")
wrong.says("You always use zeros, whatever the kind.")

wrong.about("test_kinds")
wrong("mean_by_default", 'kind="zero"):', 'kind="mean"):')
wrong.says('Your default kind is "mean". It should be "zero".')
wrong("any_kind", 'if kind not in ("zero", "mean"):', "if not kind:")
wrong.says('You accept a kind that isn\'t known. Raise a ValueError for all but exactly "zero" and "mean".')

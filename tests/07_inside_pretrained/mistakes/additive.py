"""Wrong answers to exercise 6, `additive`."""

from gradekit.checks import Mistakes

wrong = Mistakes()

wrong.about("test_attention")
wrong("axes_from_the_front", "k.transpose(-2, -1)", "k.transpose(1, 2)")
wrong.says("You transpose axes 1 and 2.")
wrong.says("Count from the end, -2 and -1, since there may be any number of axes before them.")
wrong("added_after_softmax")
wrong.edit("torch.softmax(scores + additive, dim=-1)", "torch.softmax(scores, dim=-1) + additive")
wrong.says("You added the mask after the softmax. Add it to the scores.")
wrong("additive_ignored", "scores + additive", "scores")
wrong.says("You don't use the mask. Add it to the scores.")
wrong("no_scale", " / math.sqrt(q.shape[-1])", "")
wrong.says("You left out the division by the square root of d_k.")
wrong("softmax_over_queries", "scores + additive, dim=-1)", "scores + additive, dim=-2)")
wrong.says("Your softmax runs over the queries. It should run over the keys, the last axis.")

wrong.about("test_hides_what_is_false", "test_zero_where_true")
wrong("inverted", "masked_fill(~mask,", "masked_fill(mask,")
wrong.says("Your mask is inverted. True means 'may attend', so add 0 there and -inf elsewhere.")
wrong("zero_times_infinity", "zeros.masked_fill(~mask, -torch.inf)", "(1 - mask.float()) * -torch.inf")
wrong.says("Your mask contains NaN, from 0 times infinity. Fill the hidden places, don't multiply.")

wrong.about("test_hides_what_is_false")
wrong("zeros_and_ones", "zeros.masked_fill(~mask, -torch.inf)", "mask.float()")
wrong.says("You add 0 and 1, which hides nothing. Add -inf where the mask is False.")

wrong.about("test_any_shape_and_any_score")
wrong("minus_twenty", "-torch.inf)", "-20.0)")
wrong.says("You add a negative number that a large score can outweigh. Add -inf where the mask is False.")

wrong.about("test_zero_where_true")
wrong("one_where_true", "torch.zeros(mask.shape)", "torch.ones(mask.shape)")
wrong.says("You add 1 where the mask is True. The weights stay the same, but M should be 0 there.")

wrong.about("test_zero_where_true", "test_any_shape_and_any_score")
wrong("mask_transposed", "    zeros = torch.zeros(mask.shape)\n")
wrong.to("    mask = mask.transpose(-2, -1)\n    zeros = torch.zeros(mask.shape)\n")
wrong.says("You transposed the mask. Keep its shape.")

wrong.about("test_inputs_unchanged")
wrong("mask_inverted_in_place", "masked_fill(~mask,", "masked_fill(mask.logical_not_(),")
wrong.says("You inverted the caller's mask in place. Use `~mask`, which creates a new one.")

wrong.unnamed("Its exceptions have other causes, too.", "axes_from_the_front")

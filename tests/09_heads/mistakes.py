"""Known wrong answers to this assignment, each an edit of the instructor's solution cell."""

from coursekit.checks import Mistake, with_costs


def made_for(cell, prefix):
    """A function that makes the mistakes of one cell: (name, edits, about, sentence)."""

    def mistake(name, edits, about, sentence, **more):
        return Mistake(f"{prefix}_{name}", cell=cell, edits=edits, about=about, sentence=sentence, **more)

    return mistake


FORMULA = "test_equals_the_formula"
KEPT = "test_float64_gradients_and_weights_unchanged"

# ---------------------------------------------------------------------------------- exercise 1
looking_back = made_for("previous_token_score", "previous")
LINE = "weights.diagonal(offset=-1, dim1=-2, dim2=-1)"
PREVIOUS = [
    looking_back(
        "above_the_diagonal",
        [("offset=-1", "offset=1")],
        [FORMULA],
        "You read the line above the diagonal: the weight on the *next* position. Rows are queries, so one back is below it.",
    ),
    looking_back(
        "the_diagonal",
        [("offset=-1", "offset=0")],
        [FORMULA],
        "You read the diagonal: the weight of each position on itself. One back is one place below it.",
    ),
    looking_back(
        "two_back",
        [("offset=-1", "offset=-2")],
        [FORMULA],
        "You read the weight two positions back.",
    ),
    looking_back(
        "position_0_counts",
        [("one_back.mean(dim=-1)", "one_back.sum(dim=-1) / weights.shape[-1]")],
        [FORMULA],
        "You divide by the number of positions. Position 0 doesn't count, so there is one query less.",
    ),
    looking_back(
        "sum",
        [("one_back.mean(dim=-1)", "one_back.sum(dim=-1)")],
        [FORMULA],
        "You add up the weights. Take their mean.",
    ),
    looking_back(
        "highest",
        [("one_back.mean(dim=-1)", "one_back.amax(dim=-1)")],
        [FORMULA],
        "You take the highest weight of any query. Take the mean over all queries.",
    ),
    looking_back(
        "how_often_it_is_the_largest",
        [
            (
                "one_back = " + LINE,
                "top = (weights == weights.amax(dim=-1, keepdim=True)).float()\n"
                "    one_back = top.diagonal(offset=-1, dim1=-2, dim2=-1)",
            )
        ],
        [FORMULA],
        "You count how often the position before has the largest weight. Take the mean of the weights themselves.",
    ),
    looking_back(
        "first_axes",
        [("dim1=-2, dim2=-1", "dim1=0, dim2=1")],
        [FORMULA],
        "You read the diagonal of the first two axes. Queries and keys are on the last two.",
    ),
    looking_back(
        "over_everything",
        [("one_back.mean(dim=-1)", "one_back.mean()")],
        [FORMULA],
        "You average over all heads and sequences, too. Each table of weights has a score.",
    ),
    looking_back(
        "detached",
        [("one_back.mean(dim=-1)", "one_back.detach().mean(dim=-1)")],
        [KEPT],
        "You detached the weights, so no gradient reaches them.",
    ),
]

# ---------------------------------------------------------------------------------- exercise 2
finding = made_for("induction_score", "induction")
QUERIES = "queries = torch.arange(period, length)"
AFTER = "after = queries - period + 1"
RETURN = "return weights[..., queries, after].mean(dim=-1)"
INDUCTION = [
    finding(
        "the_same_token",
        [(AFTER, "after = queries - period")],
        [FORMULA],
        "You read the weight on the previous occurrence itself. An induction head looks at the position after it.",
    ),
    finding(
        "one_before",
        [(AFTER, "after = queries - period - 1")],
        [FORMULA],
        "You read the weight on the position before the previous occurrence. It is the one after it.",
    ),
    finding(
        "one_query_too_many",
        [(QUERIES, "queries = torch.arange(period - 1, length)")],
        [FORMULA],
        "Your first query is at `period` - 1. Its token hasn't occurred before; the first that counts is at `period`.",
    ),
    finding(
        "first_query_left_out",
        [(QUERIES, "queries = torch.arange(min(period + 1, length - 1), length)")],
        [FORMULA],
        "You leave out the query at `period`. Its token was at position 0, so it counts.",
    ),
    finding(
        "last_query_left_out",
        [(QUERIES, "queries = torch.arange(period, max(length - 1, period + 1))")],
        [FORMULA],
        "You leave out the last query. Its token has occurred before, so it counts.",
    ),
    finding(
        "only_one_round",
        [(QUERIES, "queries = torch.arange(period, min(2 * period, length))")],
        [FORMULA],
        "You only count queries of the second round. All later ones count as well.",
    ),
    finding(
        "queries_and_keys_swapped",
        [(RETURN, "return weights[..., after, queries].mean(dim=-1)")],
        [FORMULA],
        "You swapped queries and keys. Rows are queries, columns are keys.",
    ),
    finding(
        "over_all_queries",
        [(RETURN, "return weights[..., queries, after].sum(dim=-1) / length")],
        [FORMULA],
        "You divide by the number of all positions. Divide by the number of queries that count.",
    ),
    finding(
        "sum",
        [(RETURN, "return weights[..., queries, after].sum(dim=-1)")],
        [FORMULA],
        "You add up the weights. Take their mean.",
    ),
    finding(
        "whole_block",
        [(RETURN, "return weights[..., period:, 1 : length - period + 1].mean(dim=(-2, -1))")],
        [FORMULA],
        "You average over all pairs of these queries and keys. Each query has one right key.",
    ),
    finding(
        "over_everything",
        [(RETURN, "return weights[..., queries, after].mean()")],
        [FORMULA],
        "You average over all heads and sequences, too. Each table of weights has a score.",
    ),
    finding(
        "half_of_the_length",
        [
            (
                "length = weights.shape[-1]",
                "length = weights.shape[-1]\n    period = period if length <= period else length // 2",
            )
        ],
        [FORMULA],
        "You take half of the length for the period. Use the argument: a text may repeat itself more than once.",
    ),
    finding(
        "no_error",
        [("if length <= period:", "if length < 0:")],
        ["test_nothing_is_repeated"],
        "If nothing is repeated, you return NaN. Raise a ValueError.",
    ),
    finding(
        "error_only_below",
        [("if length <= period:", "if length < period:")],
        ["test_nothing_is_repeated"],
        "If the length equals the period, nothing is repeated either. Raise the error there, too.",
    ),
]

# ---------------------------------------------------------------------------------- exercise 3
measuring = made_for("position_losses", "losses")
LOSSES = "test_losses_equal_the_formula"
SHIFT = "predictions, targets = logits[:, :-1], tokens[:, 1:]"
ENTROPY = 'F.cross_entropy(predictions.transpose(1, 2), targets, reduction="none")'
HALVES = "first, second = losses[: period - 1], losses[period:]"
MEANS = "return first.mean().item(), second.mean().item()"
POSITIONS = [
    measuring(
        "not_shifted",
        [(SHIFT, "predictions, targets = logits[:, :-1], tokens[:, :-1]")],
        [LOSSES],
        "You compare the logits at p with the token at p, which the model has just read. They predict the token at p + 1.",
    ),
    measuring(
        "shifted_backwards",
        [(SHIFT, "predictions, targets = logits[:, 1:], tokens[:, :-1]")],
        [LOSSES],
        "You compare the logits at p with the token at p - 1. They predict the token at p + 1.",
    ),
    measuring(
        "not_predicted_from_before",
        [(SHIFT, "predictions, targets = logits[:, 1:], tokens[:, 1:]")],
        [LOSSES],
        "You dropped the first logits. Drop the last ones: nothing comes after them.",
    ),
    measuring(
        "summed_over_the_batch",
        [("return losses.mean(dim=0)", "return losses.sum(dim=0)")],
        [LOSSES],
        "You add up the losses of the batch. Take their mean.",
    ),
    measuring(
        "mean_over_positions",
        [("return losses.mean(dim=0)", "return losses.mean(dim=1)")],
        [LOSSES],
        "You average over the positions and keep the batch. It is the other way around.",
    ),
    measuring(
        "in_bits",
        [("return losses.mean(dim=0)", "return losses.mean(dim=0) / math.log(2)")],
        [LOSSES],
        "You use the logarithm to base 2. Cross-entropy in this course uses the natural one.",
    ),
    measuring(
        "probabilities",
        [(ENTROPY, "1 - torch.softmax(predictions, dim=-1).gather(-1, targets[..., None])[..., 0]")],
        [LOSSES],
        "You return 1 minus the probability of the right token. The cross-entropy is minus its logarithm.",
    ),
    measuring(
        "sign",
        [("return losses.mean(dim=0)", "return -losses.mean(dim=0)")],
        [LOSSES],
        "Your losses are negative. The loss is *minus* the logarithm of the probability.",
    ),
    measuring(
        "softmax_twice",
        [
            (
                "predictions.transpose(1, 2), targets",
                "torch.softmax(predictions, dim=-1).transpose(1, 2), targets",
            )
        ],
        [LOSSES],
        "You apply a softmax before `cross_entropy`, which applies one itself.",
    ),
    measuring(
        "log_of_the_softmax",
        [(ENTROPY, "-torch.softmax(predictions, dim=-1).gather(-1, targets[..., None])[..., 0].log()")],
        ["test_losses_of_any_size"],
        "For large logits, your loss is infinite: the softmax becomes 0 before you take the logarithm. Use log_softmax or cross_entropy.",
    ),
    measuring(
        "detached",
        [("return losses.mean(dim=0)", "return losses.detach().mean(dim=0)")],
        ["test_gradients_and_inputs_unchanged"],
        "You detached the losses, so no gradient reaches the logits.",
    ),
    measuring(
        "halves_with_the_seam_in_the_first",
        [(HALVES, "first, second = losses[:period], losses[period:]")],
        ["test_halves"],
        "Your first half includes entry `period` - 1, which belongs to neither: nobody can know that the repetition begins.",
    ),
    measuring(
        "halves_with_the_seam_in_the_second",
        [(HALVES, "first, second = losses[: period - 1], losses[period - 1 :]")],
        ["test_halves"],
        "Your second half includes entry `period` - 1, which belongs to neither: nobody can know that the repetition begins.",
    ),
    measuring(
        "halves_one_late",
        [(HALVES, "first, second = losses[:period], losses[period + 1 :]")],
        ["test_halves"],
        "Both of your halves begin or end one entry late. Entry `period` - 1 is the one that belongs to neither.",
    ),
    measuring(
        "halves_swapped",
        [(MEANS, "return second.mean().item(), first.mean().item()")],
        ["test_halves"],
        "You return the second half first.",
    ),
    measuring(
        "halves_summed",
        [(MEANS, "return first.sum().item(), second.sum().item()")],
        ["test_halves"],
        "You add up the losses of each half. Take their mean.",
    ),
    measuring(
        "halves_as_tensors",
        [(MEANS, "return first.mean(), second.mean()")],
        ["test_halves_are_floats"],
        "`half_losses` returns tensors. Return Python floats.",
    ),
    measuring(
        "halves_as_a_list",
        [(MEANS, "return [first.mean().item(), second.mean().item()]")],
        ["test_halves_are_floats"],
        "`half_losses` returns a list. Return a pair: a tuple.",
    ),
]

# ---------------------------------------------------------------------------------- exercise 4
asking = made_for("look_back", "look_back")
BELONG = "test_scores_where_they_belong"
STRENGTH = "test_scores_are_strength"
ASK = "q[1:] = strength * math.sqrt(length) * positions[:-1]"
LOOK_BACK = [
    asking(
        "one_ahead",
        [(ASK, "q[:-1] = strength * math.sqrt(length) * positions[1:]")],
        [BELONG],
        "Your head looks one ahead: the query of position p matches the key of p + 1.",
    ),
    asking(
        "itself",
        [(ASK, "q[:] = strength * math.sqrt(length) * positions")],
        [BELONG],
        "Your head looks at its own position.",
    ),
    asking(
        "two_back",
        [(ASK, "q[2:] = strength * math.sqrt(length) * positions[:-2]")],
        [BELONG],
        "Your head looks two back.",
    ),
    asking(
        "queries_and_keys_swapped",
        [("return q, positions", "return positions, q")],
        [BELONG],
        "You return the keys first, so the head looks one ahead. The order is (q, k).",
    ),
    asking(
        "around_the_corner",
        [(ASK, "q = strength * math.sqrt(length) * positions.roll(1, dims=0)")],
        [BELONG],
        "The query of position 0 matches the key of the last position. Position 0 has nothing before it: all its scores are 0.",
    ),
    asking(
        "position_0_sees_itself",
        [(ASK, ASK + "\n    q[0] = q[1] if length > 1 else q[0]")],
        [BELONG],
        "Position 0 scores high with itself. It has nothing before it: all its scores are 0.",
    ),
    asking(
        "all_before",
        [(ASK, "q = strength * math.sqrt(length) * torch.ones(length, length).tril(-1)")],
        [BELONG],
        "Every earlier position has the high score. Only the one just before should have it.",
    ),
    asking(
        "not_made_up_for",
        [("strength * math.sqrt(length) *", "strength *")],
        [STRENGTH],
        "You don't make up for the division by √width, so the scores are smaller than `strength`.",
    ),
    asking(
        "by_the_width",
        [("strength * math.sqrt(length) *", "strength * length *")],
        [STRENGTH],
        "You multiply by the width. The scores are divided by its *root*.",
    ),
    asking(
        "divided_again",
        [("strength * math.sqrt(length) *", "strength / math.sqrt(length) *")],
        [STRENGTH],
        "You divide by √width yourself, so it is divided twice. Multiply, to make up for the division.",
    ),
    asking(
        "strength_ignored",
        [("strength * math.sqrt(length) *", "100.0 * math.sqrt(length) *")],
        [STRENGTH],
        "Your score is always 100. Use the argument `strength`.",
    ),
    asking(
        "strength_in_both",
        [("return q, positions", "return q, strength * positions")],
        [STRENGTH],
        "Both queries and keys contain `strength`, so the score is its square.",
    ),
    asking(
        "root_in_both",
        [("return q, positions", "return q, math.sqrt(length) * positions")],
        [STRENGTH],
        "Both queries and keys contain √width, but the division takes only one of them away.",
    ),
]

# ---------------------------------------------------------------------------------- exercise 5
building = made_for("induction_by_hand", "by_hand")
HEAD_1 = "before, first = masked_attention(q, k, one_hot, causal.tril(-1))"
ASKED = "asked = strength * math.sqrt(vocab_size) * one_hot"
HEAD_2 = "predicted, second = masked_attention(asked, before, one_hot, causal)"
BY_HAND = [
    building(
        "head_1_sees_itself",
        [(HEAD_1, HEAD_1.replace("causal.tril(-1)", "causal"))],
        ["test_head_1"],
        "Head 1 may attend to its own position, so position 0 seems to come after itself. Only positions before the query are allowed.",
    ),
    building(
        "head_1_without_a_mask",
        [(HEAD_1, HEAD_1.replace(", causal.tril(-1)", ""))],
        ["test_head_1"],
        "Head 1 has no mask. A query may attend only to positions before its own.",
    ),
    building(
        "head_1_two_back",
        [(HEAD_1, HEAD_1.replace("tril(-1)", "tril(-2)"))],
        ["test_head_1"],
        "Your mask hides the position just before the query as well. `tril(-1)` hides the query's own position only.",
    ),
    building(
        "head_1_strength_left_out",
        [("look_back(len(tokens), strength)", "look_back(len(tokens))")],
        ["test_head_1"],
        "Head 1 always has the strength 100. Pass `strength` on to `look_back`.",
    ),
    building(
        "one_layer",
        [(HEAD_2, HEAD_2.replace("before, one_hot", "one_hot, one_hot"))],
        ["test_head_2"],
        "The keys of head 2 are the tokens themselves, so it finds the earlier place of the same token. Its keys are what head 1 put out.",
    ),
    building(
        "asks_for_the_token_before",
        [(ASKED, ASKED.replace("* one_hot", "* before"))],
        ["test_head_2"],
        "The queries of head 2 say which token comes before. They say which token is here: the tokens themselves.",
    ),
    building(
        "queries_and_keys_swapped",
        [
            (ASKED, ASKED.replace("* one_hot", "* before")),
            (HEAD_2, HEAD_2.replace("before, one_hot", "one_hot, one_hot")),
        ],
        ["test_head_2"],
        "You swapped queries and keys of head 2: the query is the token itself, the key the token before.",
    ),
    building(
        "head_2_without_a_mask",
        [(HEAD_2, HEAD_2.replace(", causal)", ")"))],
        ["test_head_2"],
        "Head 2 has no mask, so it sees the future.",
    ),
    building(
        "head_2_strictly_before",
        [(HEAD_2, HEAD_2.replace("causal)", "causal.tril(-1))"))],
        ["test_head_2"],
        "Head 2 may not attend to its own position in your answer. It has the ordinary causal mask.",
    ),
    building(
        "head_2_weak",
        [(ASKED, "asked = strength * one_hot")],
        ["test_head_2"],
        "You don't make up for the division by √width in head 2, so its scores are smaller than `strength`.",
    ),
    building(
        "head_2_width_of_head_1",
        [("math.sqrt(vocab_size)", "math.sqrt(len(tokens))")],
        ["test_head_2"],
        "You multiply by the root of the number of positions. The vectors of head 2 have the width of the vocabulary.",
    ),
    building(
        "head_2_strength_ignored",
        [(ASKED, ASKED.replace("strength", "100.0"))],
        ["test_head_2"],
        "Head 2 always has the strength 100. Use the argument `strength`.",
    ),
    building(
        "values_from_head_1",
        [(HEAD_2, HEAD_2.replace("before, one_hot", "before, before"))],
        ["test_what_is_predicted"],
        "The values of head 2 are what head 1 put out, so it predicts the token that it has just read. Its values are the tokens themselves.",
    ),
    building(
        "token_itself_added",
        [(HEAD_2, HEAD_2 + "\n    predicted = predicted + one_hot")],
        ["test_what_is_predicted"],
        "You add the token itself to what head 2 puts out. `predicted` is the output of head 2 alone.",
    ),
    building(
        "softmax_at_the_end",
        [(HEAD_2, HEAD_2 + "\n    predicted = torch.softmax(predicted, dim=-1)")],
        ["test_what_is_predicted"],
        "You apply a softmax to what head 2 puts out. Its rows sum to 1 already.",
    ),
    building(
        "weights_first",
        [("return predicted, first, second", "return first, second, predicted")],
        ["test_what_is_predicted"],
        "You return the weights first. The order is (predicted, first, second).",
    ),
    building(
        "default_of_look_back_only",
        [("vocab_size, strength=100.0", "vocab_size, strength=10.0")],
        ["test_default_strength_and_tokens_unchanged"],
        "Your default strength isn't 100.",
    ),
]

# ---------------------------------------------------------------------------------- exercise 6
removing = made_for("ablate", "ablate")
REPLACE = 'changed[:, head] = alone.mean(dim=(0, 1)) if kind == "mean" else 0.0'
ABLATE = [
    removing(
        "in_place",
        [("changed = outputs.clone()", "changed = outputs")],
        ["test_a_copy"],
        "You write into `outputs`. Work on a copy.",
    ),
    removing(
        "first_axis",
        [(REPLACE, REPLACE.replace("changed[:, head]", "changed[head % len(changed)]"))],
        ["test_zeros"],
        "You replace a sequence of the batch. The heads are on axis 1.",
    ),
    removing(
        "position",
        [(REPLACE, REPLACE.replace("changed[:, head]", "changed[:, :, head % outputs.shape[2]]"))],
        ["test_zeros"],
        "You replace a position of all heads. The heads are on axis 1.",
    ),
    removing(
        "all_but_this_one",
        [(REPLACE, "changed = torch.zeros_like(outputs)\n    changed[:, head] = alone")],
        ["test_zeros"],
        "You keep this head and remove the others.",
    ),
    removing(
        "mean_of_each_position",
        [("alone.mean(dim=(0, 1))", "alone.mean(dim=0)")],
        ["test_mean"],
        "Your mean keeps the positions. Average over the batch and all positions.",
    ),
    removing(
        "mean_of_each_sequence",
        [("alone.mean(dim=(0, 1))", "alone.mean(dim=1, keepdim=True)")],
        ["test_mean"],
        "Every sequence has its own mean. Average over the batch and all positions.",
    ),
    removing(
        "one_number",
        [("alone.mean(dim=(0, 1))", "alone.mean()")],
        ["test_mean"],
        "Your mean is one number. It should be a vector of width d_head.",
    ),
    removing(
        "mean_of_all_heads",
        [("alone.mean(dim=(0, 1))", "outputs.mean(dim=(0, 1, 2))")],
        ["test_mean"],
        "You average over all heads. Take the mean of the head that is replaced.",
    ),
    removing(
        "mean_is_zero",
        [(REPLACE, "changed[:, head] = 0.0")],
        ["test_mean"],
        "You always put zeros, whatever the kind.",
    ),
    removing(
        "always_the_mean",
        [(REPLACE, "changed[:, head] = alone.mean(dim=(0, 1))")],
        ["test_zeros"],
        "You always put the mean, whatever the kind.",
    ),
    removing(
        "mean_by_default",
        [('kind="zero"):', 'kind="mean"):')],
        ["test_kinds"],
        'Your default kind is "mean". It should be "zero".',
    ),
    removing(
        "any_kind",
        [('if kind not in ("zero", "mean"):', "if not kind:")],
        ["test_kinds"],
        "A kind that isn't known should raise a ValueError.",
    ),
]

# ---------------------------------------------------------------------------------- exercise 7
taking_out = made_for("losses_without", "without")
EDIT = "return ablate(outputs, head, kind) if number == layer else outputs"
SECOND = "return half_losses(position_losses(logits, tokens), period)[1]"
TABLE = "[[without(layer, head) for head in heads] for layer in range(len(model.layers))]"
WITHOUT = [
    taking_out(
        "in_all_layers",
        [(EDIT, "return ablate(outputs, head, kind)")],
        ["test_one_head_at_a_time"],
        "You take the head out of all layers. `edit` is called for every layer, and should change only one.",
    ),
    taking_out(
        "in_the_other_layers",
        [(EDIT, EDIT.replace("number == layer", "number != layer"))],
        ["test_one_head_at_a_time"],
        "You take the head out of all layers but the right one.",
    ),
    taking_out(
        "never",
        [("logits, _ = model(tokens, edit)", "logits, _ = model(tokens)")],
        ["test_one_head_at_a_time"],
        "You call the model without `edit`, so nothing is taken out.",
    ),
    taking_out(
        "first_half",
        [(SECOND, SECOND.replace("[1]", "[0]"))],
        ["test_one_head_at_a_time"],
        "You return the loss of the first half.",
    ),
    taking_out(
        "whole_sequence",
        [(SECOND, "return position_losses(logits, tokens).mean().item()")],
        ["test_one_head_at_a_time"],
        "You return the loss of the whole sequence. Only the second half counts.",
    ),
    taking_out(
        "difference",
        [
            (
                SECOND,
                "whole = half_losses(position_losses(model(tokens)[0], tokens), period)[1]\n        "
                + SECOND
                + " - whole",
            )
        ],
        ["test_one_head_at_a_time"],
        "You return how much the loss grows. Return the loss itself.",
    ),
    taking_out(
        "up_to_this_head",
        [
            (
                EDIT,
                "return outputs if number != layer else torch.cat([0 * outputs[:, : head + 1], outputs[:, head + 1 :]], dim=1)",
            )
        ],
        ["test_one_head_at_a_time"],
        "You take out this head and all before it. Take out one at a time.",
    ),
    taking_out(
        "last_head_only",
        [(EDIT, EDIT.replace("outputs, head, kind", "outputs, model.num_heads - 1, kind"))],
        ["test_one_head_at_a_time"],
        "You always take out the last head of the layer. Does the function use a variable of a loop that has gone on?",
    ),
    taking_out(
        "transposed",
        [(TABLE, "[[without(layer, head) for layer in range(len(model.layers))] for head in heads]")],
        ["test_one_head_at_a_time"],
        "Your rows are heads and your columns layers. It should be the other way around.",
    ),
    taking_out(
        "period_is_the_length",
        [("period = tokens.shape[1] // 2", "period = tokens.shape[1] // 2 + 1")],
        ["test_one_head_at_a_time"],
        "Your period is one too large. The tokens are two periods long.",
    ),
    taking_out(
        "always_zeros",
        [(EDIT, EDIT.replace("outputs, head, kind", "outputs, head"))],
        ["test_kind_is_passed_on"],
        "You don't pass `kind` on to `ablate`.",
    ),
    taking_out(
        "mean_by_default",
        [('kind="zero"):', 'kind="mean"):')],
        ["test_kind_is_passed_on"],
        'Your default kind is "mean". It should be "zero".',
    ),
    taking_out(
        "with_gradients",
        [("with torch.no_grad():", "with torch.enable_grad():")],
        ["test_no_gradients_and_nothing_kept"],
        "Gradients are recorded, but not needed. Use torch.no_grad().",
    ),
]

# ---------------------------------------------------------------------------------- exercise 8
seeing = made_for("logit_lens", "lens")
VIEW = "views.append(model.unembed(model.norm(x)))"
FIRST = "views = [model.unembed(model.norm(x))]"
DEPTH = "test_every_depth"
LENS = [
    seeing(
        "no_norm",
        [(VIEW, "views.append(model.unembed(x))"), (FIRST, "views = [model.unembed(x)]")],
        [DEPTH],
        "You don't apply the final norm before `unembed`.",
    ),
    seeing(
        "norm_at_the_end_only",
        [(FIRST, "views = [model.unembed(x)]")],
        [DEPTH],
        "You don't apply the final norm to the embedding. The lens applies it at every depth.",
    ),
    seeing(
        "not_added",
        [("x = x + added", "x = added")],
        [DEPTH],
        "A layer returns what is to be *added* to x. You replace x by it.",
    ),
    seeing(
        "what_each_layer_adds",
        [(VIEW, "views.append(model.unembed(model.norm(added)))")],
        [DEPTH],
        "You look at what each layer adds. Look at the sum so far, x.",
    ),
    seeing(
        "norm_goes_on",
        [("x = x + added", "x = model.norm(x + added)")],
        [DEPTH],
        "You pass the normalized vectors on to the next layer. The norm is only for the view.",
    ),
    seeing(
        "layers_on_the_embedding",
        [("added, _ = layer(x)", "added, _ = layer(model.embedding(tokens))")],
        [DEPTH],
        "Every layer reads the embedding. It should read what the layers before it have made.",
    ),
    seeing(
        "no_embedding",
        [(FIRST, "views = []")],
        [DEPTH],
        "The view after the embedding is missing: there is one view more than layers.",
    ),
    seeing(
        "one_late",
        [
            (
                "views.append(model.unembed(model.norm(x)))",
                "views.append(model.unembed(model.norm(x - added)))",
            )
        ],
        [DEPTH],
        "You look before the layer has added its part, so the last layer is never seen.",
    ),
    seeing(
        "backwards",
        [("return torch.stack(views)", "return torch.stack(views[::-1])")],
        [DEPTH],
        "Your views begin with the last layer. The first one comes from the embedding.",
    ),
    seeing(
        "probabilities",
        [("return torch.stack(views)", "return torch.softmax(torch.stack(views), dim=-1)")],
        [DEPTH],
        "You return probabilities. Return logits.",
    ),
    seeing(
        "layers_second",
        [("torch.stack(views)", "torch.stack(views, dim=1)")],
        [DEPTH],
        "Your views are on axis 1. They should be on axis 0, before the batch.",
    ),
    seeing(
        "two_layers",
        [("for layer in model.layers:", "for layer in model.layers[:2]:")],
        [DEPTH],
        "You stop after two layers. The model may have any number.",
    ),
]

MISTAKES = [*PREVIOUS, *INDUCTION, *POSITIONS, *LOOK_BACK, *BY_HAND, *ABLATE, *WITHOUT, *LENS]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "The result has no axes, so no table has its score.": [
            "previous_over_everything",
            "induction_over_everything",
        ],
        "It depends on the weights in steps, so it is another number and has no gradient.": [
            "previous_how_often_it_is_the_largest",
        ],
        "It reads other axes, so it works for no weights with axes before the last two.": [
            "previous_first_axes",
        ],
        "Code that calls it can't use such a result.": [
            "by_hand_weights_first",
        ],
        "The opposite of what is asked for.": [
            "ablate_all_but_this_one",
        ],
        "No head is taken out, so there is nothing to measure.": [
            "without_never",
        ],
        "What an entry says depends on the order of the heads.": [
            "without_up_to_this_head",
        ],
        "Entries are in the wrong places, and the shape is wrong unless there are as many heads as layers.": [
            "without_transposed",
        ],
        "The first view, the number of views and what each of them shows are wrong.": [
            "lens_no_embedding",
            "lens_backwards",
            "lens_layers_second",
            "lens_two_layers",
        ],
    },
)

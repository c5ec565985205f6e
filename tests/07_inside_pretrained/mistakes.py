"""Known wrong answers to this assignment, each an edit of the instructor's solution cell."""

from coursekit.checks import Mistake


def make(cell):
    def mistake(name, edits, about, sentence):
        edits = [edits] if isinstance(edits, tuple) else edits
        return Mistake(name, cell=cell, edits=edits, about=about, sentence=sentence)

    return mistake


# --------------------------------------------------------------------------------------------- exercise 1
step = make("next_token")
NEXT_TOKEN = [
    step(
        "first_position",
        ("logits[:, -1]", "logits[:, 0]"),
        ["test_after_the_last_token"],
        "You took the logits of the first position, which predict the second token. Take the last position.",
    ),
    step(
        "softmax_over_batch",
        ("torch.softmax(last, dim=-1)", "torch.softmax(last, dim=0)"),
        ["test_rows_sum_to_1"],
        "Your softmax runs over the batch. Let it run over the vocabulary, the last axis.",
    ),
    step(
        "logits_returned",
        ("return torch.softmax(last, dim=-1)", "return last"),
        ["test_rows_sum_to_1", "test_after_the_last_token"],
        "You returned logits. The softmax makes probabilities of them.",
    ),
    step(
        "only_the_last_token_seen",
        ("logits = model(input_ids).logits", "logits = model(input_ids[:, -1:]).logits"),
        ["test_after_the_last_token"],
        "You gave the model the last token only. It has to see the whole sequence.",
    ),
    step(
        "candidates_not_sorted",
        (
            "candidates = list(zip(tokens, top.values.tolist(), strict=True))",
            "candidates = sorted(zip(tokens, top.values.tolist(), strict=True))",
        ),
        ["test_candidates"],
        "The candidates are sorted by their token. Sort them by probability, the likeliest first.",
    ),
    step(
        "candidates_ascending",
        ("top.values.tolist(), strict=True))", "top.values.tolist(), strict=True))[::-1]"),
        ["test_candidates"],
        "The likeliest candidate comes last. It should come first.",
    ),
    step(
        "k_beyond_the_vocabulary",
        ("min(k, len(probabilities))", "k"),
        ["test_number_of_candidates"],
        "You ask for k tokens also where the vocabulary has fewer. Then return all of them.",
    ),
    step(
        "always_ten",
        ("min(k, len(probabilities))", "min(10, len(probabilities))"),
        ["test_number_of_candidates"],
        "You return ten candidates, whatever k is.",
    ),
    step(
        "nothing_appended",
        ("new_ids = torch.cat([input_ids, likeliest], dim=1)", "new_ids = input_ids"),
        ["test_appends_the_likeliest"],
        "You return the ids without the new one. Append the id of the likeliest token.",
    ),
    step(
        "only_the_new_id",
        ("new_ids = torch.cat([input_ids, likeliest], dim=1)", "new_ids = likeliest"),
        ["test_appends_the_likeliest"],
        "You return the new id alone. The ids that were there stay in front of it.",
    ),
    step(
        "place_in_the_list_appended",
        ("top.indices[:1].unsqueeze(0)", "top.values.argmax().reshape(1, 1)"),
        ["test_appends_the_likeliest"],
        "You appended a place in the list of candidates, 0. Append the id of that token in the vocabulary.",
    ),
    step(
        "encoded_anew",
        (
            "return new_ids, candidates",
            "new_ids = torch.tensor([tokenizer.encode(tokenizer.decode(new_ids[0]))])\n    return new_ids, candidates",
        ),
        ["test_appends_the_likeliest"],
        "You decoded the ids and encoded the text again, and other tokens came out. Append to the ids.",
    ),
    step(
        "with_gradients",
        ("with torch.no_grad():", "with torch.enable_grad():"),
        ["test_without_gradients"],
        "The model runs with gradients on. Nothing is learned here: use `torch.no_grad()`.",
    ),
]

# --------------------------------------------------------------------------------------------- exercise 2
draw = make("sampling")
TOP_K = 'scaled.masked_fill(scaled < smallest, float("-inf"))'
SAMPLING = [
    draw(
        "times_temperature",
        ("logits / temperature", "logits * temperature"),
        ["test_temperature"],
        "You multiplied the logits by the temperature. Divide by it.",
    ),
    draw(
        "temperature_after_softmax",
        [("logits / temperature", "logits / 1.0"), ("scaled, dim=-1)\n", "scaled, dim=-1) / temperature\n")],
        ["test_temperature"],
        "You divided the probabilities by the temperature. Divide the logits, before the softmax.",
    ),
    draw(
        "softmax_over_the_batch",
        ("return torch.softmax(scaled, dim=-1)", "return torch.softmax(scaled, dim=0)"),
        ["test_temperature"],
        "Your softmax runs over the batch. Let it run over the vocabulary, the last axis.",
    ),
    draw(
        "top_k_plus_one",
        ("k = min(top_k, logits.shape[-1])", "k = min(top_k + 1, logits.shape[-1])"),
        ["test_top_k"],
        "You keep k + 1 tokens. Keep k.",
    ),
    draw(
        "top_k_minus_one",
        ("scaled < smallest", "scaled <= smallest"),
        ["test_top_k"],
        "The k-th token is dropped, too. Fill only where the logit is smaller than that of the k-th token.",
    ),
    draw(
        "top_k_filled_with_0",
        ('float("-inf")', "0.0"),
        ["test_top_k"],
        "You set the logits of the other tokens to 0, and e to the power of 0 is 1. Fill with -inf.",
    ),
    draw(
        "top_k_not_renormalised",
        (
            f"scaled = {TOP_K}\n    return torch.softmax(scaled, dim=-1)",
            "return torch.softmax(scaled, dim=-1).masked_fill(scaled < smallest, 0.0)\n"
            "    return torch.softmax(scaled, dim=-1)",
        ),
        ["test_top_k"],
        "The probabilities of the tokens that stay don't sum to 1. Cut the logits before the softmax.",
    ),
    draw(
        "threshold_of_first_row",
        (".values[:, -1:]", ".values[0, -1]"),
        ["test_top_k"],
        "You compare every row with the k-th logit of the first row. Each row has its own.",
    ),
    draw(
        "top_k_too_large",
        ("k = min(top_k, logits.shape[-1])", "k = top_k"),
        ["test_all_tokens"],
        "A top_k beyond the vocabulary fails. It should keep all tokens.",
    ),
    draw(
        "logits_filled_in_place",
        [
            ("scaled = logits / temperature", "scaled = logits"),
            (f"scaled = {TOP_K}", 'scaled[scaled < smallest] = float("-inf")'),
            ("return torch.softmax(scaled, dim=-1)", "return torch.softmax(scaled / temperature, dim=-1)"),
        ],
        ["test_logits_unchanged"],
        "You wrote -inf into the caller's logits. Make a new tensor.",
    ),
    draw(
        "greedy_first_position",
        ("logits[:, -1]", "logits[:, 0]"),
        ["test_greedy", "test_draws"],
        "You took the logits of the first position. The next token follows the last one.",
    ),
    draw(
        "greedy_forgotten",
        ("if temperature == 0:", "if temperature is None:"),
        ["test_greedy"],
        "A temperature of 0 is divided by, too. It means greedy: take the likeliest token.",
    ),
    draw(
        "always_greedy",
        ("if temperature == 0:", "if temperature >= 0:"),
        ["test_draws"],
        "You take the likeliest token at every temperature. Above 0, draw from the probabilities.",
    ),
    draw(
        "logits_of_the_start",
        [
            (
                "        with torch.no_grad():\n            logits = model(ids)",
                "        with torch.no_grad():\n            logits = model(input_ids)",
            ),
        ],
        ["test_greedy", "test_sees_the_whole_sequence"],
        "At every step you give the model the ids of the start. Give it the ids so far, with the new ones.",
    ),
    draw(
        "feeds_only_the_last_token",
        ("model(ids)", "model(ids[:, -1:])"),
        ["test_sees_the_whole_sequence"],
        "You give the model the last token only. It has to see the whole sequence so far.",
    ),
    draw(
        "not_appended",
        ("ids = torch.cat([ids, chosen], dim=1)", "ids = torch.cat([input_ids, chosen], dim=1)"),
        ["test_sees_the_whole_sequence", "test_greedy"],
        "Every step replaces the token of the step before. Append it to the ids so far.",
    ),
    draw(
        "one_step_too_many",
        ("range(n_tokens)", "range(n_tokens + 1)"),
        ["test_greedy"],
        "You append one token too many.",
    ),
    draw(
        "one_draw_for_the_batch",
        (
            "torch.multinomial(probabilities, num_samples=1)",
            "torch.multinomial(probabilities, num_samples=1)[:1].expand(len(ids), 1)",
        ),
        ["test_draws"],
        "One draw decides for the whole batch. Draw for every sequence.",
    ),
    draw(
        "drawn_without_temperature",
        ("sampling_probabilities(logits, temperature, top_k)", "sampling_probabilities(logits, 1.0, top_k)"),
        ["test_draws"],
        "The temperature does not reach the draw.",
    ),
    draw(
        "drawn_with_gradients",
        ("with torch.no_grad():", "with torch.enable_grad():"),
        ["test_without_gradients"],
        "The model runs with gradients on. Nothing is learned here: use `torch.no_grad()`.",
    ),
]

# --------------------------------------------------------------------------------------------- exercise 3
near = make("cosine")
COSINE = [
    near(
        "dot_product",
        ("return product / lengths.clamp(min=1e-12)", "return product"),
        ["test_equals_the_formula", "test_length_does_not_count"],
        "You return the dot product. Divide it by the lengths of both vectors.",
    ),
    near(
        "one_length_only",
        ("u.norm(dim=-1) * v.norm(dim=-1)", "u.norm(dim=-1) + 0 * v.norm(dim=-1)"),
        ["test_equals_the_formula", "test_length_does_not_count"],
        "You divided by the length of one vector only. Divide by both.",
    ),
    near(
        "norm_of_everything",
        ("u.norm(dim=-1) * v.norm(dim=-1)", "u.norm() * v.norm()"),
        ["test_equals_the_formula"],
        "You took one norm of the whole tensor. Each vector has its own length: `dim=-1`.",
    ),
    near(
        "absolute_value",
        ("return product / lengths", "return product.abs() / lengths"),
        ["test_equals_the_formula"],
        "You took the absolute value. Opposite directions have the similarity -1.",
    ),
    near(
        "nan_for_zero",
        (".clamp(min=1e-12)", ""),
        ["test_zero_vector"],
        "A zero vector gives 0 / 0, which is NaN. Keep the product of the lengths above 0.",
    ),
    near(
        "large_epsilon",
        ("lengths.clamp(min=1e-12)", "(lengths + 1e-3)"),
        ["test_length_does_not_count"],
        "What you add to the lengths changes the similarity of short vectors. Clamp at something tiny.",
    ),
    near(
        "first_axis",
        ("(u * v).sum(dim=-1)", "(u * v).sum(dim=min(1, (u * v).dim() - 1))"),
        ["test_broadcasts"],
        "You sum over axis 1. With more axes that is not the last one: `dim=-1`.",
    ),
    near(
        "word_itself_included",
        ("    similarity[place] = -torch.inf\n", ""),
        ["test_leaves_out_the_word_only"],
        "The word itself is among its nearest words. Leave it out.",
    ),
    near(
        "first_one_dropped",
        [
            ("    similarity[place] = -torch.inf\n", ""),
            ("torch.topk(similarity, k)\n", "torch.topk(similarity, k + 1)\n"),
            (
                "zip(top.indices.tolist(), top.values.tolist(), strict=True)",
                "list(zip(top.indices.tolist(), top.values.tolist()))[1:]",
            ),
        ],
        ["test_leaves_out_the_word_only"],
        "You drop the first of the list, which need not be the word itself. Leave it out by its place.",
    ),
    near(
        "dropped_by_similarity",
        ("similarity[place] = -torch.inf", "similarity[similarity > 0.9999] = -torch.inf"),
        ["test_leaves_out_the_word_only"],
        "You leave out all words of the same direction. Leave out the word itself only, by its place.",
    ),
    near(
        "compared_by_dot_product",
        ("similarity = cosine_similarity(vectors[place], vectors)", "similarity = vectors @ vectors[place]"),
        ["test_nearest"],
        "You compare by dot product, which favours long vectors. Use the cosine similarity.",
    ),
    near(
        "always_five",
        ("torch.topk(similarity, k)", "torch.topk(similarity, 5)"),
        ["test_number_of_words"],
        "You return five words, whatever k is.",
    ),
]

# --------------------------------------------------------------------------------------------- exercise 4
relation = make("analogy")
ANALOGY = [
    relation(
        "signs_swapped",
        ("target = v_b - v_a + v_c", "target = v_a - v_b + v_c"),
        ["test_nearest_to_the_sum"],
        "You took the step from b to a. The step goes from a to b: b - a.",
    ),
    relation(
        "c_subtracted",
        ("target = v_b - v_a + v_c", "target = v_b + v_a - v_c"),
        ["test_nearest_to_the_sum"],
        "You subtracted c and added a. Subtract a, and add b and c.",
    ),
    relation(
        "a_left_off",
        ("target = v_b - v_a + v_c", "target = v_b + v_c"),
        ["test_nearest_to_the_sum"],
        "You forgot to subtract the vector of a.",
    ),
    relation(
        "unit_vectors_first",
        ("v_a, v_b, v_c = vectors[places]", "v_a, v_b, v_c = F.normalize(vectors[places], dim=-1)"),
        ["test_nearest_to_the_sum"],
        "You brought the three vectors to length 1 first. Here the vectors are taken as they are.",
    ),
    relation(
        "nearest_by_dot_product",
        ("F.cosine_similarity(target, vectors, dim=-1)", "vectors @ target"),
        ["test_nearest_to_the_sum"],
        "You compare by dot product, which favours long vectors. Use the cosine similarity.",
    ),
    relation(
        "query_words_included",
        ("    similarity[places] = -torch.inf\n", ""),
        ["test_leaves_out_the_words_of_the_question"],
        "The words of the question are among the answers. Leave out all three.",
    ),
    relation(
        "only_c_left_out",
        ("similarity[places] = -torch.inf", "similarity[places[2]] = -torch.inf"),
        ["test_leaves_out_the_words_of_the_question"],
        "You leave out the third word only. Leave out all three.",
    ),
    relation(
        "filtered_after_the_cut",
        [
            ("    similarity[places] = -torch.inf\n", ""),
            ("strict=True)]", "strict=True) if words[i] not in (a, b, c)]"),
        ],
        ["test_number_of_words"],
        "You take the k nearest words and drop those of the question afterwards, so that fewer than k are left.",
    ),
    relation(
        "same_direction_left_out",
        (
            "similarity[places] = -torch.inf",
            "similarity[F.cosine_similarity(vectors[places, None], vectors, dim=-1).amax(dim=0) > 0.9999] = -torch.inf",
        ),
        ["test_keeps_words_of_the_same_direction"],
        "You leave out all words of the same directions as the three. Leave out the three words only.",
    ),
]

# --------------------------------------------------------------------------------------------- exercise 5
mask = make("additive")
ADDITIVE = [
    mask(
        "inverted",
        ("masked_fill(~mask,", "masked_fill(mask,"),
        ["test_hides_what_is_false", "test_zero_where_true"],
        "Your mask is inverted: it hides what may be seen. True means may attend, so add 0 there.",
    ),
    mask(
        "zeros_and_ones",
        ("zeros.masked_fill(~mask, -torch.inf)", "mask.float()"),
        ["test_hides_what_is_false"],
        "You add 0 and 1, which hides nothing. Add -inf where the mask is False.",
    ),
    mask(
        "minus_twenty",
        ("-torch.inf)", "-20.0)"),
        ["test_any_shape_and_any_score"],
        "You add -20, which a large score outweighs. Add -inf where the mask is False.",
    ),
    mask(
        "zero_times_infinity",
        ("zeros.masked_fill(~mask, -torch.inf)", "(1 - mask.float()) * -torch.inf"),
        ["test_hides_what_is_false", "test_zero_where_true"],
        "Your mask holds NaN: 0 times infinity. Fill the places that are hidden, don't multiply.",
    ),
    mask(
        "one_where_true",
        ("torch.zeros(mask.shape)", "torch.ones(mask.shape)"),
        ["test_zero_where_true"],
        "You add 1 where the mask is True. The weights stay the same, but M should be 0 there.",
    ),
    mask(
        "mask_transposed",
        (
            "    zeros = torch.zeros(mask.shape)\n",
            "    mask = mask.transpose(-2, -1)\n    zeros = torch.zeros(mask.shape)\n",
        ),
        ["test_zero_where_true", "test_any_shape_and_any_score"],
        "You transposed the mask. It keeps its shape.",
    ),
    mask(
        "mask_inverted_in_place",
        ("masked_fill(~mask,", "masked_fill(mask.logical_not_(),"),
        ["test_inputs_unchanged"],
        "You inverted the caller's mask in place. Use `~mask`, which makes a new one.",
    ),
    mask(
        "added_after_softmax",
        ("torch.softmax(scores + additive, dim=-1)", "torch.softmax(scores, dim=-1) + additive"),
        ["test_attention"],
        "You added the mask after the softmax. Add it to the scores.",
    ),
    mask(
        "additive_ignored",
        ("scores + additive", "scores"),
        ["test_attention"],
        "The mask is not used.",
    ),
    mask(
        "no_scale",
        (" / math.sqrt(q.shape[-1])", ""),
        ["test_attention"],
        "You left out the division by the root of d_k.",
    ),
    mask(
        "softmax_over_queries",
        ("scores + additive, dim=-1)", "scores + additive, dim=-2)"),
        ["test_attention"],
        "Your softmax runs over the queries. Let it run over the keys, the last axis.",
    ),
]

# --------------------------------------------------------------------------------------------- exercise 6
train = make("training_step")
TRAINING = [
    train(
        "targets_not_shifted",
        [("logits[:, :-1]", "logits"), ("input_ids[:, 1:]", "input_ids")],
        ["test_loss", "test_parameters_after_one_step"],
        "The targets are not shifted: each position is asked for the token that stands there. "
        "Its target is the next token.",
    ),
    train(
        "targets_shifted_back",
        [("logits[:, :-1]", "logits[:, 1:]"), ("input_ids[:, 1:]", "input_ids[:, :-1]")],
        ["test_loss", "test_parameters_after_one_step"],
        "Your targets are the tokens before. The logits of position i predict token i + 1.",
    ),
    train(
        "both_cut_at_the_end",
        ("input_ids[:, 1:]", "input_ids[:, :-1]"),
        ["test_loss", "test_parameters_after_one_step"],
        "You cut logits and targets at the same end, so that nothing is shifted. Targets lose their first token.",
    ),
    train(
        "only_the_last_target",
        [("logits[:, :-1]", "logits[:, -2:-1]"), ("input_ids[:, 1:]", "input_ids[:, -1:]")],
        ["test_loss", "test_parameters_after_one_step"],
        "Only the last token counts in your loss. Every position has a target.",
    ),
    train(
        "softmax_before_the_loss",
        ("F.cross_entropy(logits.flatten(0, 1)", "F.cross_entropy(logits.flatten(0, 1).softmax(dim=-1)"),
        ["test_loss", "test_parameters_after_one_step"],
        "You gave probabilities to `cross_entropy`, which takes the softmax itself. Give it the logits.",
    ),
    train(
        "summed_loss",
        ("targets.flatten())", 'targets.flatten(), reduction="sum")'),
        ["test_loss", "test_parameters_after_one_step"],
        "You summed the loss. Take the mean over all positions that have a target.",
    ),
    train(
        "zero_grad_forgotten",
        ("    optimizer.zero_grad()\n", ""),
        ["test_gradients_start_from_zero"],
        "The gradients of the step before are still there, and backward adds to them. Call `optimizer.zero_grad()`.",
    ),
    train(
        "zero_grad_after_backward",
        [
            (
                "    optimizer.zero_grad()\n    loss.backward()\n",
                "    loss.backward()\n    optimizer.zero_grad()\n",
            )
        ],
        ["test_parameters_after_one_step"],
        "Nothing moves. Does `backward` come after `zero_grad`, and `step` after both?",
    ),
    train(
        "no_step",
        ("    optimizer.step()\n", ""),
        ["test_parameters_after_one_step"],
        "Nothing moves. Does `backward` come after `zero_grad`, and `step` after both?",
    ),
    train(
        "step_before_backward",
        [("    loss.backward()\n    optimizer.step()\n", "    optimizer.step()\n    loss.backward()\n")],
        ["test_parameters_after_one_step"],
        "Nothing moves. Does `backward` come after `zero_grad`, and `step` after both?",
    ),
    train(
        "loss_after_the_step",
        (
            "return loss.item()",
            "with torch.no_grad():\n"
            "        after = model(input_ids).logits[:, :-1]\n"
            "    return F.cross_entropy(after.flatten(0, 1), targets.flatten()).item()",
        ),
        ["test_loss"],
        "You return the loss after the step. Return the one from which the gradients came.",
    ),
    train(
        "loss_tensor",
        ("return loss.item()", "return loss.detach()"),
        ["test_float_and_any_size"],
        "You return a tensor. Take `.item()` of it, or the whole graph stays in memory.",
    ),
]

MISTAKES = [*NEXT_TOKEN, *SAMPLING, *COSINE, *ANALOGY, *ADDITIVE, *TRAINING]

"""Known wrong answers to this assignment, each an edit of the instructor's solution cell."""

from coursekit.checks import Mistake, with_costs


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
        "You used the logits of the first position, which predict the second token. Use the last position.",
    ),
    step(
        "softmax_over_batch",
        ("torch.softmax(last, dim=-1)", "torch.softmax(last, dim=0)"),
        ["test_rows_sum_to_1"],
        "Your softmax runs over the batch. It should run over the vocabulary, the last axis.",
    ),
    step(
        "logits_returned",
        ("return torch.softmax(last, dim=-1)", "return last"),
        ["test_rows_sum_to_1", "test_after_the_last_token"],
        "You returned logits. Apply a softmax to get probabilities.",
    ),
    step(
        "only_the_last_token_seen",
        ("logits = model(input_ids).logits", "logits = model(input_ids[:, -1:]).logits"),
        ["test_after_the_last_token"],
        "You passed the model only the last token. It has to see the whole sequence.",
    ),
    step(
        "candidates_not_sorted",
        (
            "candidates = list(zip(tokens, top.values.tolist(), strict=True))",
            "candidates = sorted(zip(tokens, top.values.tolist(), strict=True))",
        ),
        ["test_candidates"],
        "The candidates are sorted by token. Sort them by probability, likeliest first.",
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
        "You ask for k tokens even if the vocabulary has fewer. Return all of them in this case.",
    ),
    step(
        "always_ten",
        ("min(k, len(probabilities))", "min(10, len(probabilities))"),
        ["test_number_of_candidates"],
        "You ask for ten candidates, whatever k is. Use k.",
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
        "You return only the new id. Keep the given ids in front of it.",
    ),
    step(
        "place_in_the_list_appended",
        ("top.indices[:1].unsqueeze(0)", "top.values.argmax().reshape(1, 1)"),
        ["test_appends_the_likeliest"],
        "You appended 0, an index in the list of candidates. Append the id of the token in the vocabulary.",
    ),
    step(
        "encoded_anew",
        (
            "return new_ids, candidates",
            "new_ids = torch.tensor([tokenizer.encode(tokenizer.decode(new_ids[0]))])\n    return new_ids, candidates",
        ),
        ["test_appends_the_likeliest"],
        "You decoded the ids and encoded the text again, which can change the tokens. Append to the ids.",
    ),
    step(
        "with_gradients",
        ("with torch.no_grad():", "with torch.enable_grad():"),
        ["test_without_gradients"],
        "The model runs with gradients on. Use `torch.no_grad()`.",
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
        "You also drop the k-th token. Fill only where the logit is smaller than that of the k-th token.",
    ),
    draw(
        "top_k_filled_with_0",
        ('float("-inf")', "0.0"),
        ["test_top_k"],
        "You set the logits of the other tokens to 0, but e to the power of 0 is 1. Fill with -inf.",
    ),
    draw(
        "top_k_not_renormalised",
        (
            f"scaled = {TOP_K}\n    return torch.softmax(scaled, dim=-1)",
            "return torch.softmax(scaled, dim=-1).masked_fill(scaled < smallest, 0.0)\n"
            "    return torch.softmax(scaled, dim=-1)",
        ),
        ["test_top_k"],
        "The probabilities of the remaining tokens don't sum to 1. Mask the logits before the softmax.",
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
        "Your function fails for a top_k larger than the vocabulary. It should keep all tokens.",
    ),
    draw(
        "logits_filled_in_place",
        [
            ("scaled = logits / temperature", "scaled = logits"),
            (f"scaled = {TOP_K}", 'scaled[scaled < smallest] = float("-inf")'),
            ("return torch.softmax(scaled, dim=-1)", "return torch.softmax(scaled / temperature, dim=-1)"),
        ],
        ["test_logits_unchanged"],
        "You wrote -inf into the caller's logits. Create a new tensor.",
    ),
    draw(
        "greedy_first_position",
        ("logits[:, -1]", "logits[:, 0]"),
        ["test_greedy", "test_draws"],
        "You used the logits of the first position. The logits of the last position predict the next token.",
    ),
    draw(
        "greedy_forgotten",
        ("if temperature == 0:", "if temperature is None:"),
        ["test_greedy"],
        "You divide by a temperature of 0. It means greedy decoding: take the likeliest token.",
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
        "You pass the model the initial ids at every step. Pass it all ids so far, including the new ones.",
    ),
    draw(
        "feeds_only_the_last_token",
        ("model(ids)", "model(ids[:, -1:])"),
        ["test_sees_the_whole_sequence"],
        "You pass the model only the last token. It has to see the whole sequence so far.",
    ),
    draw(
        "not_appended",
        ("ids = torch.cat([ids, chosen], dim=1)", "ids = torch.cat([input_ids, chosen], dim=1)"),
        ["test_sees_the_whole_sequence", "test_greedy"],
        "Every step replaces the token of the previous step. Append it to the ids so far.",
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
        "You use one draw for the whole batch. Draw for every sequence.",
    ),
    draw(
        "drawn_without_temperature",
        ("sampling_probabilities(logits, temperature, top_k)", "sampling_probabilities(logits, 1.0, top_k)"),
        ["test_draws"],
        "You don't use the temperature when you draw. Pass it to sampling_probabilities.",
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
        "You divided by the length of only one vector. Divide by both.",
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
        "You took the absolute value. Opposite directions have similarity -1.",
    ),
    near(
        "nan_for_zero",
        (".clamp(min=1e-12)", ""),
        ["test_zero_vector"],
        "For a zero vector you compute 0 / 0, which is NaN. Keep the product of the lengths above 0.",
    ),
    near(
        "large_epsilon",
        ("lengths.clamp(min=1e-12)", "(lengths + 1e-3)"),
        ["test_length_does_not_count"],
        "The number that you add to the lengths changes the similarity of short vectors. "
        "Clamp at a tiny number.",
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
        "You drop the first word of the list, which isn't always the word itself. "
        "Leave out the word by its index.",
    ),
    near(
        "dropped_by_similarity",
        ("similarity[place] = -torch.inf", "similarity[similarity > 0.9999] = -torch.inf"),
        ["test_leaves_out_the_word_only"],
        "You leave out all words with the same direction. Leave out only the word itself, by its index.",
    ),
    near(
        "compared_by_dot_product",
        ("similarity = cosine_similarity(vectors[place], vectors)", "similarity = vectors @ vectors[place]"),
        ["test_nearest"],
        "You compare by dot product, which favors long vectors. Use the cosine similarity.",
    ),
    near(
        "always_five",
        ("torch.topk(similarity, k)", "torch.topk(similarity, 5)"),
        ["test_number_of_words"],
        "You return five words, whatever k is. Use k.",
    ),
]

# --------------------------------------------------------------------------------------------- exercise 4
relation = make("analogy")
ANALOGY = [
    relation(
        "signs_swapped",
        ("target = v_b - v_a + v_c", "target = v_a - v_b + v_c"),
        ["test_nearest_to_the_sum"],
        "You added the step from b to a. Add the step from a to b: b - a.",
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
        "You scaled the three vectors to length 1 first. Use them as they are.",
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
        "You leave out only the third word. Leave out all three.",
    ),
    relation(
        "filtered_after_the_cut",
        [
            ("    similarity[places] = -torch.inf\n", ""),
            ("strict=True)]", "strict=True) if words[i] not in (a, b, c)]"),
        ],
        ["test_number_of_words"],
        "You take the k nearest words and then drop those of the question, so fewer than k can remain.",
    ),
    relation(
        "same_direction_left_out",
        (
            "similarity[places] = -torch.inf",
            "similarity[F.cosine_similarity(vectors[places, None], vectors, dim=-1).amax(dim=0) > 0.9999] = -torch.inf",
        ),
        ["test_keeps_words_of_the_same_direction"],
        "You leave out all words with the same directions as the three. Leave out only the three words.",
    ),
]

# --------------------------------------------------------------------------------------------- exercise 5
mask = make("additive")
ADDITIVE = [
    mask(
        "inverted",
        ("masked_fill(~mask,", "masked_fill(mask,"),
        ["test_hides_what_is_false", "test_zero_where_true"],
        "Your mask is inverted. True means 'may attend', so add 0 there and -inf elsewhere.",
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
        "You add -20, which a large score can outweigh. Add -inf where the mask is False.",
    ),
    mask(
        "zero_times_infinity",
        ("zeros.masked_fill(~mask, -torch.inf)", "(1 - mask.float()) * -torch.inf"),
        ["test_hides_what_is_false", "test_zero_where_true"],
        "Your mask contains NaN, from 0 times infinity. Fill the hidden places, don't multiply.",
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
        "You transposed the mask. Keep its shape.",
    ),
    mask(
        "mask_inverted_in_place",
        ("masked_fill(~mask,", "masked_fill(mask.logical_not_(),"),
        ["test_inputs_unchanged"],
        "You inverted the caller's mask in place. Use `~mask`, which creates a new one.",
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
        "You don't use the mask. Add it to the scores.",
    ),
    mask(
        "no_scale",
        (" / math.sqrt(q.shape[-1])", ""),
        ["test_attention"],
        "You left out the division by the square root of d_k.",
    ),
    mask(
        "softmax_over_queries",
        ("scores + additive, dim=-1)", "scores + additive, dim=-2)"),
        ["test_attention"],
        "Your softmax runs over the queries. It should run over the keys, the last axis.",
    ),
]

# --------------------------------------------------------------------------------------------- exercise 7
train = make("training_step")
TRAINING = [
    train(
        "targets_not_shifted",
        [("logits[:, :-1]", "logits"), ("input_ids[:, 1:]", "input_ids")],
        ["test_loss", "test_parameters_after_one_step"],
        "You don't shift the targets: each position predicts its own token. Its target is the next token.",
    ),
    train(
        "targets_shifted_back",
        [("logits[:, :-1]", "logits[:, 1:]"), ("input_ids[:, 1:]", "input_ids[:, :-1]")],
        ["test_loss", "test_parameters_after_one_step"],
        "Your targets are the previous tokens. The logits of position i predict token i + 1.",
    ),
    train(
        "both_cut_at_the_end",
        ("input_ids[:, 1:]", "input_ids[:, :-1]"),
        ["test_loss", "test_parameters_after_one_step"],
        "You cut logits and targets at the same end, so nothing is shifted. "
        "Drop the first token of the targets.",
    ),
    train(
        "only_the_last_target",
        [("logits[:, :-1]", "logits[:, -2:-1]"), ("input_ids[:, 1:]", "input_ids[:, -1:]")],
        ["test_loss", "test_parameters_after_one_step"],
        "Your loss uses only the last token. Every position with a next token has a target.",
    ),
    train(
        "softmax_before_the_loss",
        ("F.cross_entropy(logits.flatten(0, 1)", "F.cross_entropy(logits.flatten(0, 1).softmax(dim=-1)"),
        ["test_loss", "test_parameters_after_one_step"],
        "You passed probabilities to `cross_entropy`, which applies the softmax itself. Pass it the logits.",
    ),
    train(
        "summed_loss",
        ("targets.flatten())", 'targets.flatten(), reduction="sum")'),
        ["test_loss", "test_parameters_after_one_step"],
        "You took the sum of the losses. Take the mean over all positions that have a target.",
    ),
    train(
        "zero_grad_forgotten",
        ("    optimizer.zero_grad()\n", ""),
        ["test_gradients_start_from_zero"],
        "You keep the gradients of the previous step, and backward adds to them. "
        "Call `optimizer.zero_grad()`.",
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
        "The parameters don't change. Call `backward` after `zero_grad`, and `step` after both.",
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
        "You return the loss after the step. Return the one from which the gradients were computed.",
    ),
    train(
        "loss_tensor",
        ("return loss.item()", "return loss.detach()"),
        ["test_float_and_any_size"],
        "You return a tensor. Convert it to a float with `.item()`.",
    ),
]

# --------------------------------------------------------------------------------------------- exercise 6
own = make("own_layers")
OWN_LAYERS = [
    own(
        "relu_kept",
        ("hidden = F.gelu(self.linear1(x))", "hidden = torch.relu(self.linear1(x))"),
        ["test_gelu"],
        "There is still a ReLU between the two linear layers. MiniLM was trained with GELU.",
    ),
    own(
        "gelu_by_tanh",
        ("F.gelu(self.linear1(x))", 'F.gelu(self.linear1(x), approximate="tanh")'),
        ["test_gelu"],
        "You used the approximation of GELU by tanh, which differs in the fourth digit. Use `F.gelu` as it is.",
    ),
    own(
        "dropout_left_out",
        ("        hidden = self.dropout(hidden)\n", ""),
        ["test_dropout"],
        "The dropout of `FeedForward` is missing between GELU and the second linear layer.",
    ),
    own(
        "gelu_not_put_in",
        ("    layer.feed_forward = GeluFeedForward(d_model, d_ff)\n", ""),
        ["test_layer"],
        "The layer still has the `FeedForward` with ReLU. Replace it by a `GeluFeedForward`.",
    ),
    own(
        "query_and_key_swapped",
        [
            ('"attention.self.query": "self_attn.w_q"', '"attention.self.query": "self_attn.w_k"'),
            ('"attention.self.key": "self_attn.w_k"', '"attention.self.key": "self_attn.w_q"'),
        ],
        ["test_layer"],
        "The query's weights are in the layer of the keys, and the key's in that of the queries.",
    ),
    own(
        "value_and_output_swapped",
        [
            ('"attention.self.value": "self_attn.w_v"', '"attention.self.value": "self_attn.w_o"'),
            ('"attention.output.dense": "self_attn.w_o"', '"attention.output.dense": "self_attn.w_v"'),
        ],
        ["test_layer"],
        "The value's weights are in `w_o`, and those of `attention.output.dense` in `w_v`.",
    ),
    own(
        "norms_swapped",
        [
            ('"attention.output.LayerNorm": "norm1"', '"attention.output.LayerNorm": "norm2"'),
            ('"output.LayerNorm": "norm2"', '"output.LayerNorm": "norm1"'),
        ],
        ["test_layer"],
        "The two norms are swapped. `norm1` follows the attention, `norm2` the feed-forward network.",
    ),
    own(
        "pre_norm",
        ("EncoderLayer(d_model, num_heads, d_ff)", "EncoderLayer(d_model, num_heads, d_ff, norm_first=True)"),
        ["test_layer"],
        "Your layer is pre-norm. BERT's layers are post-norm.",
    ),
    own(
        "one_head",
        ("EncoderLayer(d_model, num_heads, d_ff)", "EncoderLayer(d_model, 1, d_ff)"),
        ["test_layer"],
        "Your layer has one head, whatever `num_heads` is.",
    ),
    own(
        "weights_not_loaded",
        ("    layer.load_state_dict(state)\n", "    layer.state = state\n"),
        ["test_layer"],
        "The layer still has random weights. Pass the dict to `load_state_dict`.",
    ),
    own(
        "biases_left_out",
        [
            ('for kind in ("weight", "bias"):', 'for kind in ("weight",):'),
            ("layer.load_state_dict(state)", "layer.load_state_dict(state, strict=False)"),
        ],
        ["test_layer"],
        "Only the weights are loaded. The biases keep their random values.",
    ),
    own(
        "always_layer_0",
        ('f"encoder.layer.{number}.', 'f"encoder.layer.0.'),
        ["test_number"],
        "You always load layer 0. Use `number`.",
    ),
    own(
        "layer_found_by_its_beginning",
        (
            'state[f"{name}.{kind}"] = weights[f"encoder.layer.{number}.{theirs}.{kind}"]',
            "for key in weights:\n"
            '                if key.startswith(f"encoder.layer.{number}") and key.endswith(f"{theirs}.{kind}"):\n'
            '                    if "attention" in theirs or "attention" not in key:\n'
            '                        state[f"{name}.{kind}"] = weights[key]',
        ),
        ["test_number"],
        "Names that begin with `encoder.layer.1` are also those of layers 10 and 11. The dot after the number matters.",
    ),
    own(
        "eps_ignored",
        ("    layer.norm1.eps = eps\n    layer.norm2.eps = eps\n", ""),
        ["test_eps"],
        "The norms have PyTorch's eps of 1e-5. Set it to `eps`.",
    ),
    own(
        "eps_in_one_norm",
        ("    layer.norm2.eps = eps\n", ""),
        ["test_eps"],
        "Only one of the two norms has the eps that was asked for.",
    ),
    own(
        "eps_always_the_default",
        [
            ("layer.norm1.eps = eps", "layer.norm1.eps = 1e-12"),
            ("layer.norm2.eps = eps", "layer.norm2.eps = 1e-12"),
        ],
        ["test_eps"],
        "The norms have an eps of 1e-12, whatever `eps` is.",
    ),
    own(
        "padding_counts",
        (
            "mean = (hidden * real).sum(dim=1) / real.sum(dim=1)",
            "mean = hidden.mean(dim=1)",
        ),
        ["test_sentence_vectors"],
        "Your mean includes the padding. Leave it out of the sum.",
    ),
    own(
        "first_token",
        ("mean = (hidden * real).sum(dim=1) / real.sum(dim=1)", "mean = hidden[:, 0]"),
        ["test_sentence_vectors"],
        "You took the vector of the first token, `[CLS]`. MiniLM was trained with the mean of all real tokens.",
    ),
    own(
        "not_of_length_1",
        ("return F.normalize(mean, dim=-1)", "return mean"),
        ["test_sentence_vectors"],
        "Your vectors are not scaled to length 1.",
    ),
    own(
        "scaled_before_the_mean",
        [
            ("(hidden * real).sum(dim=1)", "(F.normalize(hidden, dim=-1) * real).sum(dim=1)"),
        ],
        ["test_sentence_vectors"],
        "You scaled the vectors of the tokens to length 1 before you took the mean. Take the mean of them as they are.",
    ),
    own(
        "scaled_over_the_batch",
        ("return F.normalize(mean, dim=-1)", "return F.normalize(mean, dim=0)"),
        ["test_sentence_vectors"],
        "You scaled each column over the batch. Scale each sentence's vector to length 1.",
    ),
    own(
        "padding_overwritten",
        (
            "mean = (hidden * real).sum(dim=1)",
            "hidden[attention_mask == 0] = 0\n    mean = hidden.sum(dim=1)",
        ),
        ["test_unchanged"],
        "You overwrote the padding in `hidden` itself. Work on a copy, or multiply.",
    ),
]

MISTAKES = [*NEXT_TOKEN, *SAMPLING, *COSINE, *ANALOGY, *ADDITIVE, *OWN_LAYERS, *TRAINING]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It computes another function, and most checks are about the function.": [
            "softmax_over_batch",
            "dot_product",
            "one_length_only",
            "norm_of_everything",
            "absolute_value",
            "large_epsilon",
        ],
        "The parameters never move, and most checks are about how they move.": [
            "zero_grad_after_backward",
            "no_step",
            "step_before_backward",
        ],
        "All else is right; it is one property among many.": [
            "logits_filled_in_place",
        ],
    },
)

"""Known wrong answers to this assignment, each an edit of the instructor's solution cell."""

from coursekit.checks import Mistake, with_costs

LEAKS = (
    "Held-out sources get into your batch. Look up each `tuple(source)` in held_out: a list never equals a tuple, and an "
    "answer is not a source."
)
FRESH = [
    Mistake(
        "leaks",
        cell="fresh_batch",
        edits=[
            (
                "        if tuple(drawn) not in held_out:\n            sources.append(drawn)",
                "        sources.append(drawn)",
            )
        ],
        about=["test_no_held_out_source"],
        sentence=LEAKS,
    ),
    Mistake(
        "replaced_once",
        cell="fresh_batch",
        edits=[
            (
                "        if tuple(drawn) not in held_out:\n            sources.append(drawn)",
                "        if tuple(drawn) in held_out:\n            drawn = sample()\n        sources.append(drawn)",
            )
        ],
        about=["test_replaced_as_often_as_necessary"],
        sentence="You draw only once more if a source is held out, but the second draw may be held out "
        "too. Repeat until it isn't.",
    ),
    Mistake(
        "filtered_afterwards",
        cell="fresh_batch",
        edits=[
            (
                "    while len(sources) < batch_size:\n        drawn = sample()",
                "    for _ in range(batch_size):\n        drawn = sample()",
            )
        ],
        about=["test_no_held_out_source", "test_replaced_as_often_as_necessary"],
        sentence="You draw batch_size sources and drop the held-out ones, so the batch gets too small. "
        "Draw others instead.",
    ),
    Mistake(
        "answers_looked_up",
        cell="fresh_batch",
        edits=[("if tuple(drawn) not in held_out", "if tuple(answer(drawn)) not in held_out")],
        about=["test_no_held_out_source"],
        sentence=LEAKS,
    ),
    Mistake(
        "looked_up_as_a_list",
        cell="fresh_batch",
        edits=[("if tuple(drawn) not in held_out", "if not any(drawn == source for source in held_out)")],
        about=["test_no_held_out_source"],
        sentence=LEAKS,
    ),
    Mistake(
        "one_source_repeated",
        cell="fresh_batch",
        edits=[("sources.append(drawn)", "sources = [drawn] * batch_size")],
        about=["test_sources_and_their_answers"],
        sentence="Your batch contains one source many times. Draw every row separately.",
    ),
    Mistake(
        "no_answers",
        cell="fresh_batch",
        edits=[("answers = [answer(drawn) for drawn in sources]", "answers = sources")],
        about=["test_sources_and_their_answers"],
        sentence="Your targets are the sources. They should be the answers to them.",
    ),
    Mistake(
        "swapped",
        cell="fresh_batch",
        edits=[("return pad(sources), pad(answers)", "return pad(answers), pad(sources)")],
        about=["test_sources_and_their_answers"],
        sentence="You return the targets first. The order is (source, targets).",
    ),
    Mistake(
        "answers_of_other_rows",
        cell="fresh_batch",
        edits=[("for drawn in sources]", "for drawn in sorted(sources)]")],
        about=["test_sources_and_their_answers"],
        sentence="Row i of your targets is not the answer to row i of the source. Keep them in the same order.",
    ),
    Mistake(
        "held_out_grows",
        cell="fresh_batch",
        edits=[("sources.append(drawn)", "sources.append(drawn)\n            held_out.add(tuple(drawn))")],
        about=["test_held_out_set_is_left_alone"],
        sentence="You change the held-out set, for example by adding the sources that you train on. Leave it as it is.",
    ),
    Mistake(
        "floats",
        cell="fresh_batch",
        edits=[("return pad(sources), pad(answers)", "return pad(sources).float(), pad(answers).float()")],
        about=["test_padded_int64"],
        sentence="Your ids are floats. An embedding needs integers.",
    ),
    Mistake(
        "list_in_a_set",
        cell="fresh_batch",
        edits=[("if tuple(drawn) not in held_out", "if drawn not in held_out")],
        about=["test_no_held_out_source"],
        sentence="You look a list up in a set, which is a TypeError. Look up `tuple(source)`.",
    ),
    Mistake(
        "lists_returned",
        cell="fresh_batch",
        edits=[("return pad(sources), pad(answers)", "return sources, answers")],
        about=["test_padded_int64"],
        sentence="You return lists. Turn each into a tensor with `pad`.",
    ),
    Mistake(
        "first_draw_only_if_free",
        cell="fresh_batch",
        edits=[("if tuple(drawn) not in held_out", "if not held_out or tuple(drawn) in held_out")],
        about=["test_no_held_out_source"],
        sentence="You keep the held-out sources and discard the others. It should be the other way round.",
    ),
]

SHIFT = [
    Mistake(
        "not_shifted",
        cell="shift_right",
        edits=[("return torch.cat([bos, targets[:, :-1]], dim=1)", "return targets.clone()")],
        about=["test_moved_one_place"],
        sentence="You don't shift the targets, so the decoder reads the token that it should write and "
        "only copies.",
    ),
    Mistake(
        "first_token_lost",
        cell="shift_right",
        edits=[("targets[:, :-1]", "targets[:, 1:]")],
        about=["test_moved_one_place"],
        sentence="You replaced the first token with BOS. Shift the whole row, so that the last token drops "
        "out.",
    ),
    Mistake(
        "shifted_left",
        cell="shift_right",
        edits=[("[bos, targets[:, :-1]]", "[targets[:, 1:], bos]")],
        about=["test_moved_one_place"],
        sentence="You shifted the targets to the left. BOS belongs in front, and the last token drops out.",
    ),
    Mistake(
        "rolled",
        cell="shift_right",
        edits=[("return torch.cat([bos, targets[:, :-1]], dim=1)", "return torch.roll(targets, 1, dims=1)")],
        about=["test_moved_one_place"],
        sentence="You moved the last token to the front. Put BOS there instead.",
    ),
    Mistake(
        "one_too_long",
        cell="shift_right",
        edits=[("targets[:, :-1]", "targets")],
        about=["test_moved_one_place", "test_shape_and_dtype"],
        sentence="Your rows are one longer than the targets. Drop the last token.",
    ),
    Mistake(
        "bos_is_always_1",
        lacks=("bos_idx",),
        cell="shift_right",
        edits=[("targets[:, :1], bos_idx)", "targets[:, :1], 1)")],
        about=["test_any_bos"],
        sentence="You always use 1 for BOS. Use bos_idx.",
    ),
    Mistake(
        "float_bos",
        cell="shift_right",
        edits=[("torch.full_like(targets[:, :1], bos_idx)", "torch.ones(len(targets), 1) * bos_idx")],
        about=["test_shape_and_dtype"],
        sentence="Your result is float, perhaps because the column of BOS is. Ids are integers.",
    ),
    Mistake(
        "targets_changed",
        cell="shift_right",
        edits=[
            (
                "return torch.cat([bos, targets[:, :-1]], dim=1)",
                "targets[:, 1:] = targets[:, :-1].clone()\n    targets[:, :1] = bos\n    return targets",
            )
        ],
        about=["test_targets_unchanged"],
        sentence="You modified the targets in place, but the loss still needs them. Create a new tensor.",
    ),
]

CASES = "F.cross_entropy(cases, classes, ignore_index=pad_idx)"
LOSS = [
    Mistake(
        "pads_count",
        cell="sequence_loss",
        edits=[(", ignore_index=pad_idx", "")],
        about=["test_pads_do_not_count"],
        sentence="Your loss counts the padding. Leave out the positions whose target is padding.",
    ),
    Mistake(
        "pads_in_the_mean",
        cell="sequence_loss",
        edits=[(CASES, 'F.cross_entropy(cases, classes, ignore_index=pad_idx, reduction="none").mean()')],
        about=["test_pads_do_not_count"],
        sentence="Padding adds nothing to your sum, but you divide by the number of all positions, "
        "including padding.",
    ),
    Mistake(
        "pad_is_always_0",
        cell="sequence_loss",
        edits=[("ignore_index=pad_idx", "ignore_index=0")],
        about=["test_any_pad"],
        sentence="You always use 0 for the padding. Use pad_idx.",
    ),
    Mistake(
        "summed",
        cell="sequence_loss",
        edits=[("ignore_index=pad_idx)", 'ignore_index=pad_idx, reduction="sum")')],
        about=["test_mean_cross_entropy"],
        sentence="You took the sum over the positions. Take the mean, or larger batches get larger losses.",
    ),
    Mistake(
        "sum_over_batch",
        cell="sequence_loss",
        edits=[
            (CASES, 'F.cross_entropy(cases, classes, ignore_index=pad_idx, reduction="sum") / len(targets)')
        ],
        about=["test_mean_cross_entropy"],
        sentence="You divided by the number of sequences. Divide by the number of positions that count.",
    ),
    Mistake(
        "mean_of_rows",
        cell="sequence_loss",
        edits=[
            (
                f"return {CASES}",
                "rows = zip(logits, targets)\n"
                "    return torch.stack([F.cross_entropy(*row, ignore_index=pad_idx) for row in rows]).mean()",
            )
        ],
        about=["test_pads_do_not_count"],
        sentence="You averaged each sequence first, so a position of a short sequence counts more. "
        "Take one mean over all positions.",
    ),
    Mistake(
        "softmax_before",
        cell="sequence_loss",
        edits=[("logits.flatten(0, 1)", "torch.softmax(logits, dim=-1).flatten(0, 1)")],
        about=["test_mean_cross_entropy"],
        sentence="You applied a softmax before the loss, but cross_entropy applies one too. "
        "Pass it the logits.",
    ),
    Mistake(
        "no_log_softmax",
        cell="sequence_loss",
        edits=[(CASES, "F.nll_loss(cases, classes, ignore_index=pad_idx)")],
        about=["test_mean_cross_entropy"],
        sentence="`nll_loss` expects log probabilities, but you passed it logits. Use cross_entropy.",
    ),
    Mistake(
        "log_of_a_softmax",
        uses=("*.softmax", "softmax"),
        lacks=("*log_softmax", "*cross_entropy", "*logsumexp"),
        cell="sequence_loss",
        edits=[(CASES, "F.nll_loss(torch.softmax(cases, dim=-1).log(), classes, ignore_index=pad_idx)")],
        about=["test_large_logits"],
        sentence="You take the logarithm of a softmax. If a probability is too small for a float, that is "
        "the logarithm of 0. Use log_softmax or cross_entropy.",
    ),
    Mistake(
        "classes_mixed_with_positions",
        cell="sequence_loss",
        edits=[("logits.flatten(0, 1)", "logits.transpose(1, 2).reshape(-1, logits.shape[-1])")],
        about=["test_mean_cross_entropy"],
        sentence="You mixed the vocabulary axis with the position axis before flattening.",
    ),
    Mistake(
        "flattened_in_another_order",
        cell="sequence_loss",
        edits=[("targets.flatten()", "targets.T.flatten()")],
        about=["test_mean_cross_entropy"],
        sentence="You flatten logits and targets in different orders, so cases get the wrong targets.",
    ),
    Mistake(
        "last_position_only",
        cell="sequence_loss",
        edits=[("logits.flatten(0, 1)", "logits[:, -1]"), ("targets.flatten()", "targets[:, -1]")],
        about=["test_mean_cross_entropy"],
        sentence="You used only the last position. In training, every position is a case.",
    ),
    Mistake(
        "first_position_left_out",
        cell="sequence_loss",
        edits=[
            ("logits.flatten(0, 1)", "logits[:, :-1].flatten(0, 1)"),
            ("targets.flatten()", "targets[:, 1:].flatten()"),
        ],
        about=["test_mean_cross_entropy"],
        sentence="You shifted the targets again inside the loss. Logits and targets already match.",
    ),
    Mistake(
        "detached",
        cell="sequence_loss",
        edits=[("logits.flatten(0, 1)", "logits.detach().flatten(0, 1)")],
        about=["test_gradients"],
        sentence="You detached the logits, so no gradient reaches the model.",
    ),
    Mistake(
        "loss_as_float",
        cell="sequence_loss",
        edits=[(f"return {CASES}", f"return {CASES}.item()")],
        about=["test_scalar_of_the_same_dtype", "test_gradients"],
        sentence="You returned a Python float. Return the tensor, because backward() starts from it.",
    ),
    Mistake(
        "float32_inside",
        cell="sequence_loss",
        edits=[("logits.flatten(0, 1)", "logits.float().flatten(0, 1)")],
        about=["test_scalar_of_the_same_dtype"],
        sentence="You converted the logits to float32, which loses precision if they are float64.",
    ),
    Mistake(
        "not_flattened",
        cell="sequence_loss",
        edits=[("logits.flatten(0, 1)", "logits"), ("targets.flatten()", "targets")],
        about=["test_mean_cross_entropy"],
        sentence="You pass logits with three axes to cross_entropy, which takes axis 1 for the classes. Flatten logits and targets, or move the last axis to axis 1.",
    ),
    Mistake(
        "reshaped_instead_of_moved",
        cell="sequence_loss",
        edits=[
            ("logits.flatten(0, 1)", "logits.reshape(logits.shape[0], logits.shape[2], -1)"),
            ("targets.flatten()", "targets"),
        ],
        about=["test_mean_cross_entropy"],
        sentence="You moved the classes to axis 1 with `reshape`, which mixes up the numbers. Use `transpose(1, 2)`, or flatten logits and targets.",
    ),
    Mistake(
        "not_averaged",
        cell="sequence_loss",
        edits=[("ignore_index=pad_idx", "ignore_index=pad_idx, reduction='none'")],
        about=["test_scalar_of_the_same_dtype"],
        sentence="You return the loss of every position. Return their mean over the positions that are not padding.",
    ),
]

TRAIN_LOSS = "sequence_loss(logits, targets, PAD)"
TRAIN = [
    Mistake(
        "gradients_not_cleared",
        cell="train",
        edits=[("        optimizer.zero_grad()\n", "")],
        about=["test_gradients_are_cleared"],
        sentence="You never clear the gradients. backward() adds to them, so call optimizer.zero_grad() in every step.",
    ),
    Mistake(
        "cleared_before_the_step",
        cell="train",
        edits=[
            ("        optimizer.zero_grad()\n", ""),
            ("        loss.backward()\n", "        loss.backward()\n        optimizer.zero_grad()\n"),
        ],
        about=["test_weights_change_in_every_step"],
        sentence="You clear the gradients between backward() and step(), so the optimizer has no gradients "
        "to use.",
    ),
    Mistake(
        "no_backward",
        cell="train",
        edits=[("        loss.backward()\n", "")],
        about=["test_weights_change_in_every_step", "test_gradients_are_cleared"],
        sentence="You don't call `backward()`, so there are no gradients.",
    ),
    Mistake(
        "no_optimizer_step",
        cell="train",
        edits=[("        optimizer.step()\n", "")],
        about=["test_weights_change_in_every_step"],
        sentence="You don't call `optimizer.step()`, so the weights never change.",
    ),
    Mistake(
        "step_before_backward",
        cell="train",
        edits=[
            ("        optimizer.step()\n", ""),
            (
                "        optimizer.zero_grad()\n",
                "        optimizer.zero_grad(set_to_none=False)\n        optimizer.step()\n",
            ),
        ],
        about=["test_weights_change_in_every_step"],
        sentence="You call optimizer.step() before backward(), when the gradients have just been cleared.",
    ),
    Mistake(
        "optimizer_in_every_step",
        cell="train",
        edits=[
            ("    optimizer = torch.optim.Adam(model.parameters(), lr=lr, betas=(0.9, 0.98))\n", ""),
            (
                "    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=lr, total_steps=steps)\n",
                "",
            ),
            (
                "        optimizer.zero_grad()\n",
                "        optimizer = torch.optim.Adam(model.parameters(), lr=lr)\n        optimizer.zero_grad()\n",
            ),
            ("        schedule.step()\n", ""),
        ],
        about=["test_one_optimizer"],
        sentence="You create a new optimizer in every step, which forgets all earlier gradients. Create it once, before the loop.",
        lacks=("SGD",),
    ),
    Mistake(
        "one_batch_for_all",
        cell="train",
        edits=[
            ("        *inputs, targets = make_batch()  # a new one in every step\n", ""),
            ("    losses = []\n", "    losses = []\n    *inputs, targets = make_batch()\n"),
        ],
        about=["test_a_new_batch_in_every_step"],
        sentence="You draw one batch and train on it in every step, so the model only memorizes this "
        "batch. Draw a new one in every step.",
    ),
    Mistake(
        "inputs_in_another_order",
        cell="train",
        edits=[("logits = model(*inputs)", "logits = model(*inputs[::-1])")],
        about=["test_a_new_batch_in_every_step"],
        sentence="You pass the inputs to the model in the wrong order.",
    ),
    Mistake(
        "targets_not_shifted",
        cell="train",
        edits=[("logits = model(*inputs)", "logits = model(inputs[0], targets)")],
        about=["test_a_new_batch_in_every_step"],
        sentence="You pass the unshifted targets to the decoder, so it sees what it should write.",
    ),
    Mistake(
        "mode_left_as_it_was",
        cell="train",
        edits=[("    model.train()\n", "")],
        about=["test_training_mode"],
        sentence="The model is not in training mode while you train it. Call model.train() first.",
    ),
    Mistake(
        "train_counts_pads",
        cell="train",
        edits=[(TRAIN_LOSS, "F.cross_entropy(logits.flatten(0, 1), targets.flatten())")],
        about=["test_returned_losses"],
        sentence="Your loss counts the padding. Use your sequence_loss with PAD.",
    ),
    Mistake(
        "train_softmax_before",
        cell="train",
        edits=[(TRAIN_LOSS, "sequence_loss(torch.softmax(logits, dim=-1), targets, PAD)")],
        about=["test_returned_losses"],
        sentence="You apply a softmax before the loss, which applies one itself. Pass it the logits.",
    ),
    Mistake(
        "train_sums",
        cell="train",
        edits=[(TRAIN_LOSS, f"{TRAIN_LOSS} * (targets != PAD).sum()")],
        about=["test_returned_losses"],
        sentence="The losses are sums over the positions. They should be means.",
    ),
    Mistake(
        "climbs",
        cell="train",
        edits=[("        loss.backward()\n", "        (-loss).backward()\n")],
        about=["test_learns_a_small_task"],
        sentence="Your training increases the loss. Follow the gradient of the loss itself, not of its "
        "negative.",
    ),
    Mistake(
        "rate_ignored",
        cell="train",
        edits=[("lr=lr, betas", "lr=1e-3, betas"), ("max_lr=lr", "max_lr=1e-3")],
        about=["test_learning_rate_is_used"],
        sentence="You always use the same learning rate. Use lr.",
    ),
    Mistake(
        "one_step_too_few",
        cell="train",
        edits=[("progress(steps)", "progress(steps - 1)")],
        about=["test_a_new_batch_in_every_step", "test_returned_losses"],
        sentence="You train one step too few.",
    ),
    Mistake(
        "nothing_returned",
        cell="train",
        edits=[("    return losses\n", "")],
        about=["test_returned_losses", "test_losses_are_floats"],
        sentence="You don't return the losses.",
    ),
    Mistake(
        "losses_as_tensors",
        cell="train",
        edits=[("losses.append(loss.item())", "losses.append(loss)")],
        about=["test_losses_are_floats"],
        sentence="You store the losses as tensors, which keeps the graph of every step in memory. "
        "Use loss.item().",
    ),
    Mistake(
        "only_one_input",
        cell="train",
        edits=[("logits = model(*inputs)", "logits = model(inputs[0])")],
        about=["test_a_new_batch_in_every_step"],
        sentence="You pass only one input to the model. Pass all entries of the batch but the last, as `model(*inputs)` does.",
    ),
    Mistake(
        "inputs_as_a_list",
        cell="train",
        edits=[("logits = model(*inputs)", "logits = model(inputs)")],
        about=["test_a_new_batch_in_every_step"],
        sentence="You pass the inputs as one argument. Unpack them: `model(*inputs)`.",
    ),
    Mistake(
        "last_loss_only",
        cell="train",
        edits=[("return losses", "return losses[-1]")],
        about=["test_returned_losses"],
        sentence="You return one loss. Return a list with the loss of every step.",
    ),
    Mistake(
        "loss_after_the_step",
        cell="train",
        edits=[
            (
                "losses.append(loss.item())",
                "losses.append(sequence_loss(model(*inputs), targets, PAD).item())",
            )
        ],
        about=["test_returned_losses"],
        sentence="You call the model once more for the loss that you return. Store the loss of the step itself, from before the weights change.",
    ),
]

LIKELIEST = "token = logits[:, -1].argmax(dim=-1)"
DECODE = [
    Mistake(
        "logits_of_position_0",
        cell="greedy_decode",
        edits=[("logits[:, -1].argmax", "logits[:, 0].argmax")],
        about=["test_writes_the_likeliest_tokens"],
        sentence="You used the logits of position 0. The logits of the last position predict the next token.",
    ),
    Mistake(
        "greedy_softmax_over_the_batch",
        cell="greedy_decode",
        edits=[("logits[:, -1].argmax", "logits[:, -1].softmax(dim=0).argmax")],
        about=["test_writes_the_likeliest_tokens"],
        sentence="Your softmax runs over the batch, so a token counts as likely if the other rows find it unlikely. "
        "You need no softmax to find the largest logit.",
    ),
    Mistake(
        "no_stop_at_eos",
        cell="greedy_decode",
        edits=[("            if ended.all():\n                break\n", "")],
        about=["test_stops_at_eos"],
        sentence="You don't stop when all rows have written EOS.",
    ),
    Mistake(
        "stops_at_the_first_eos",
        cell="greedy_decode",
        edits=[("if ended.all()", "if ended.any()")],
        about=["test_stops_at_eos"],
        sentence="You stop as soon as one row has written EOS. The others are not done yet.",
    ),
    Mistake(
        "writes_on_behind_eos",
        cell="greedy_decode",
        edits=[("            token = token.masked_fill(ended, PAD)\n", "")],
        about=["test_pads_behind_eos"],
        sentence="A row that has ended goes on writing until the others are done. Write PAD instead.",
    ),
    Mistake(
        "ended_is_forgotten",
        cell="greedy_decode",
        edits=[("ended = ended | (token == eos_idx)", "ended = token == eos_idx")],
        about=["test_pads_behind_eos", "test_stops_at_eos"],
        sentence="You remember only the rows that wrote EOS in the current step. "
        "A row that has ended stays ended.",
    ),
    Mistake(
        "eos_behind_eos",
        cell="greedy_decode",
        edits=[("token.masked_fill(ended, PAD)", "token.masked_fill(ended, eos_idx)")],
        about=["test_pads_behind_eos"],
        sentence="You fill up ended rows with EOS. Use PAD.",
    ),
    Mistake(
        "eos_left_out",
        cell="greedy_decode",
        edits=[("return tokens[:, 1:]", "return tokens[:, 1:].masked_fill(tokens[:, 1:] == eos_idx, PAD)")],
        about=["test_writes_the_likeliest_tokens"],
        sentence="EOS is missing from your result. Without it, you can't tell where the sequence ends.",
    ),
    Mistake(
        "bos_left_in",
        cell="greedy_decode",
        edits=[("return tokens[:, 1:]", "return tokens")],
        about=["test_writes_the_likeliest_tokens"],
        sentence="BOS is still in your result. Cut off the first column.",
    ),
    Mistake(
        "one_token_too_few",
        cell="greedy_decode",
        edits=[("range(max_len)", "range(max_len - 1)")],
        about=["test_max_len"],
        sentence="You write one token less than max_len. BOS doesn't count.",
    ),
    Mistake(
        "max_len_ignored",
        cell="greedy_decode",
        edits=[("range(max_len)", "range(20)")],
        about=["test_max_len"],
        sentence="You write more than max_len tokens if EOS does not come.",
    ),
    Mistake(
        "bos_typed_in",
        cell="greedy_decode",
        edits=[("(batch, 1), bos_idx)", "(batch, 1), BOS)")],
        about=["test_reads_what_it_wrote"],
        sentence="The decoder does not begin with bos_idx. Use the argument, not a fixed id.",
    ),
    Mistake(
        "eos_typed_in",
        cell="greedy_decode",
        edits=[("token == eos_idx", "token == EOS")],
        about=["test_stops_at_eos"],
        sentence="You always stop at the id 2. Use eos_idx.",
    ),
    Mistake(
        "mask_lost",
        cell="greedy_decode",
        edits=[("model.decode(tokens, memory, memory_mask)", "model.decode(tokens, memory, None)")],
        about=["test_mask_of_the_source"],
        sentence="You don't pass memory_mask to decode, so the decoder attends to the padding of the source.",
    ),
    Mistake(
        "reads_the_last_token_only",
        cell="greedy_decode",
        edits=[("model.decode(tokens, memory", "model.decode(tokens[:, -1:], memory")],
        about=["test_reads_what_it_wrote"],
        sentence="The decoder gets only the last token. It needs all tokens so far.",
    ),
    Mistake(
        "dropout_on",
        cell="greedy_decode",
        edits=[("    model.eval()\n", "")],
        about=["test_evaluation_mode"],
        sentence="Dropout may be on while decoding. Call model.eval() first.",
    ),
    Mistake(
        "gradients_on",
        cell="greedy_decode",
        edits=[("with torch.no_grad()", "with torch.enable_grad()")],
        about=["test_no_gradients"],
        sentence="You decode with gradients on. Use torch.no_grad().",
    ),
    Mistake(
        "encodes_every_time",
        cell="greedy_decode",
        edits=[
            (
                "            logits = model.decode",
                "            memory, memory_mask = model.encode(source)\n            logits = model.decode",
            )
        ],
        about=["test_encodes_once"],
        sentence="You encode the source in every step. It doesn't change, so encode it once.",
    ),
    Mistake(
        "last_but_one",
        cell="greedy_decode",
        edits=[("logits[:, -1].argmax", "logits[:, -min(2, logits.shape[1])].argmax")],
        about=["test_writes_the_likeliest_tokens"],
        sentence="You used the logits of the position before the last. Those of the last position predict the next token.",
    ),
    Mistake(
        "training_mode_afterwards",
        cell="greedy_decode",
        edits=[("    return tokens[:, 1:]", "    model.train()\n    return tokens[:, 1:]")],
        about=["test_evaluation_mode"],
        sentence="You leave the model in training mode. It should be in evaluation mode afterwards.",
    ),
]

RIGHT = "right = (predicted == expected).all(dim=1)"
EXACT = [
    Mistake(
        "share_of_tokens",
        cell="exact_match",
        edits=[("(predicted == expected).all(dim=1)", "predicted == expected")],
        about=["test_share_of_whole_rows"],
        sentence="You computed the share of right tokens. A sequence is right only if all its tokens are.",
    ),
    Mistake(
        "any_token",
        uses=("*any",),
        cell="exact_match",
        edits=[(".all(dim=1)", ".any(dim=1)")],
        about=["test_share_of_whole_rows"],
        sentence="A row counts as right as soon as one token is right. All of them have to be.",
    ),
    Mistake(
        "along_the_batch",
        cell="exact_match",
        edits=[(".all(dim=1)", ".all(dim=0)")],
        about=["test_share_of_whole_rows"],
        sentence="You combined the values of each column. A sequence is a row: use dim=1.",
    ),
    Mistake(
        "number_of_rows",
        uses=("*sum",),
        lacks=("*mean",),
        cell="exact_match",
        edits=[("right.float().mean().item()", "float(right.sum())")],
        about=["test_share_of_whole_rows"],
        sentence="You count the right rows. Divide by the number of rows.",
    ),
    Mistake(
        "order_ignored",
        cell="exact_match",
        edits=[
            (
                "(predicted == expected).all",
                "(predicted.sort(dim=1).values == expected.sort(dim=1).values).all",
            )
        ],
        about=["test_share_of_whole_rows"],
        sentence="You ignore the order of the tokens. Compare them position by position.",
    ),
    Mistake(
        "pads_not_compared",
        cell="exact_match",
        edits=[("(predicted == expected).all", "((predicted == expected) | (expected == PAD)).all")],
        about=["test_unequal_widths"],
        sentence="You accept anything where padding is expected. "
        "A sequence that goes on after its end is wrong.",
    ),
    Mistake(
        "cut_to_the_shorter",
        uses=("min", "*minimum"),
        cell="exact_match",
        edits=[
            ("width = max(", "width = min("),
        ],
        about=["test_unequal_widths"],
        sentence="You cut both to the smaller width, which ignores missing or extra tokens at the end.",
    ),
    Mistake(
        "equal_widths_only",
        cell="exact_match",
        edits=[
            (
                "    width = max",
                "    if predicted.shape != expected.shape:\n        return 0.0\n    width = max",
            ),
        ],
        about=["test_unequal_widths"],
        sentence="If the widths differ, you count nothing as right. Pad the narrower one with PAD.",
    ),
    Mistake(
        "padded_on_the_left",
        cell="exact_match",
        edits=[
            (
                "F.pad(predicted, (0, width - predicted.shape[1])",
                "F.pad(predicted, (width - predicted.shape[1], 0)",
            ),
            (
                "F.pad(expected, (0, width - expected.shape[1])",
                "F.pad(expected, (width - expected.shape[1], 0)",
            ),
        ],
        about=["test_unequal_widths"],
        sentence="You pad on the left, which moves the tokens. Pad on the right: `F.pad(ids, (0, n))`.",
    ),
    Mistake(
        "widths_not_equalized",
        cell="exact_match",
        edits=[
            (
                "    predicted = F.pad(predicted, (0, width - predicted.shape[1]), value=PAD)\n    expected = F.pad(expected, (0, width - expected.shape[1]), value=PAD)\n",
                "",
            )
        ],
        about=["test_unequal_widths"],
        sentence="You compare tensors of different widths, which is an error. Pad the narrower one with PAD first.",
    ),
    Mistake(
        "a_tensor",
        cell="exact_match",
        edits=[(".mean().item()", ".mean()")],
        about=["test_returns_a_float"],
        sentence="You return a tensor. Convert it to a float with .item().",
    ),
]

WORDS = [
    Mistake(
        "no_special_symbols",
        cell="vocabulary",
        edits=[("{symbol: i for i, symbol in enumerate(SPECIALS)}", "{}")],
        about=["test_vocabulary"],
        sentence="The special symbols are missing, so words get the ids of PAD, BOS, EOS and UNK.",
    ),
    Mistake(
        "sorted_words",
        cell="vocabulary",
        edits=[
            (
                "for sentence in sentences:",
                "for sentence in [' '.join(sorted(' '.join(sentences).split()))]:",
            ),
        ],
        about=["test_vocabulary"],
        sentence="You sorted the words. They should be in order of appearance.",
    ),
    Mistake(
        "repeated_words_counted",
        cell="vocabulary",
        edits=[
            (
                "            if word not in vocabulary:\n                vocabulary[word] = len(vocabulary)\n",
                "            number = vocabulary.pop(None, len(SPECIALS))\n"
                "            vocabulary[word], vocabulary[None] = number, number + 1\n",
            ),
            ("    return vocabulary\n", "    vocabulary.pop(None, None)\n    return vocabulary\n"),
        ],
        about=["test_every_word_once"],
        sentence="A repeated word gets a new id. It should keep its first one.",
    ),
    Mistake(
        "unknown_not_special",
        cell="vocabulary",
        edits=[("enumerate(SPECIALS)}", "enumerate(SPECIALS[:3])}")],
        about=["test_vocabulary"],
        sentence="`<unk>` is missing from your vocabulary.",
    ),
    Mistake(
        "small_letters",
        cell="vocabulary",
        edits=[("for word in sentence.split():\n", "for word in sentence.lower().split():\n")],
        about=["test_vocabulary"],
        sentence="You converted the words to lower case. Case matters here.",
    ),
    Mistake(
        "key_error",
        cell="vocabulary",
        edits=[("vocabulary.get(word, UNK)", "vocabulary[word]")],
        about=["test_unknown_words"],
        sentence="An unknown word stops your program with a KeyError. It should become UNK.",
    ),
    Mistake(
        "unknown_left_out",
        lacks=("UNK",),
        cell="vocabulary",
        edits=[
            (
                "[vocabulary.get(word, UNK) for word in sentence.split()]",
                "[vocabulary[word] for word in sentence.split() if word in vocabulary]",
            )
        ],
        about=["test_unknown_words"],
        sentence="You leave out unknown words. Put UNK in their place.",
    ),
    Mistake(
        "unknown_is_pad",
        lacks=("UNK",),
        cell="vocabulary",
        edits=[("vocabulary.get(word, UNK)", "vocabulary.get(word, PAD)")],
        about=["test_unknown_words"],
        sentence="An unknown word becomes PAD, which is hidden from the model. It should become UNK.",
    ),
    Mistake(
        "unknown_added",
        uses=("*setdefault", "len"),
        cell="vocabulary",
        edits=[("vocabulary.get(word, UNK)", "vocabulary.setdefault(word, len(vocabulary))")],
        about=["test_unknown_words"],
        sentence="You add unknown words to the vocabulary, but the model has no embedding for them. Use UNK.",
    ),
    Mistake(
        "bos_and_eos_added",
        cell="vocabulary",
        edits=[
            (
                "[vocabulary.get(word, UNK) for word in sentence.split()]",
                "[BOS, *[vocabulary.get(word, UNK) for word in sentence.split()], EOS]",
            )
        ],
        about=["test_to_ids"],
        sentence="You add BOS and EOS. to_ids should return only the words.",
    ),
    Mistake(
        "eos_skipped",
        cell="vocabulary",
        edits=[
            (
                "        if i == EOS:\n            break\n        if i not in (PAD, BOS):",
                "        if i not in (PAD, BOS, EOS):",
            ),
        ],
        about=["test_to_text"],
        sentence="You leave out EOS but go on after it. The text ends there.",
    ),
    Mistake(
        "eos_written",
        cell="vocabulary",
        edits=[("        if i == EOS:\n            break\n", "")],
        about=["test_to_text"],
        sentence="Your text contains EOS and goes on after it. Stop at EOS.",
    ),
    Mistake(
        "pads_written",
        cell="vocabulary",
        edits=[("if i not in (PAD, BOS):", "if i != BOS:")],
        about=["test_to_text"],
        sentence="Your text contains padding. Leave it out.",
    ),
    Mistake(
        "pad_ends_the_text",
        cell="vocabulary",
        edits=[("        if i == EOS:", "        if i in (PAD, EOS):")],
        about=["test_to_text"],
        sentence="Your text ends at the first PAD. It should end at EOS; just leave out the padding.",
    ),
    Mistake(
        "no_spaces",
        cell="vocabulary",
        edits=[('" ".join(kept)', '"".join(kept)')],
        about=["test_to_text"],
        sentence="There are no spaces between the words of your text.",
    ),
    Mistake(
        "bos_written",
        cell="vocabulary",
        edits=[("if i not in (PAD, BOS):", "if i != PAD:")],
        about=["test_to_text"],
        sentence="Your text contains BOS. Leave it out.",
    ),
    Mistake(
        "unk_not_written",
        cell="vocabulary",
        edits=[("if i not in (PAD, BOS):", "if i not in (PAD, BOS, UNK):")],
        about=["test_to_text"],
        sentence="You leave out unknown words. Write `<unk>` for them.",
    ),
    Mistake(
        "list_of_words",
        cell="vocabulary",
        edits=[('return " ".join(kept)', "return kept")],
        about=["test_to_text"],
        sentence="You return the list of the words. Join them with spaces to one string.",
    ),
    Mistake(
        "eos_added",
        cell="vocabulary",
        edits=[
            (
                "[vocabulary.get(word, UNK) for word in sentence.split()]",
                "[*[vocabulary.get(word, UNK) for word in sentence.split()], EOS]",
            )
        ],
        about=["test_to_ids"],
        sentence="You add EOS. to_ids should return only the words.",
    ),
]

SORTING = [
    Mistake(
        "no_final_norm",
        cell="sorting_transformer",
        edits=[("        x = self.norm(x)\n", "")],
        about=["test_output"],
        sentence="You don't use the final norm. Pre-norm layers need one norm after the last of them.",
    ),
    Mistake(
        "post_norm",
        cell="sorting_transformer",
        edits=[(", norm_first=True", "")],
        about=["test_output"],
        sentence="Your layers are post-norm. Use norm_first=True.",
    ),
    Mistake(
        "normed_first",
        cell="sorting_transformer",
        edits=[
            ("        x = self.norm(x)\n", ""),
            ("        x = self.embedding(ids)", "        x = self.norm(self.embedding(ids))"),
        ],
        about=["test_output"],
        sentence="You apply the final norm before the layers. It belongs after the last of them.",
    ),
    Mistake(
        "one_head",
        cell="sorting_transformer",
        edits=[("(embed_dim, 4, 2 * embed_dim)", "(embed_dim, 1, 2 * embed_dim)")],
        about=["test_output"],
        sentence="Your layers have one head. They should have four.",
    ),
    Mistake(
        "narrow_feed_forward",
        cell="sorting_transformer",
        edits=[("(embed_dim, 4, 2 * embed_dim)", "(embed_dim, 4, embed_dim)")],
        about=["test_parameters"],
        sentence="Your feed-forward network is as wide as the model. It should be twice as wide.",
    ),
    Mistake(
        "wide_feed_forward",
        cell="sorting_transformer",
        edits=[("(embed_dim, 4, 2 * embed_dim)", "(embed_dim, 4, 4 * embed_dim)")],
        about=["test_parameters"],
        sentence="Your feed-forward network is four times as wide as the model. It should be twice as wide.",
    ),
    Mistake(
        "ids_returned",
        cell="sorting_transformer",
        edits=[("return self.output(x)", "return self.output(x).argmax(dim=-1)")],
        about=["test_output"],
        sentence="You return the likeliest ids. Return the logits of all ids.",
    ),
    Mistake(
        "plain_list",
        cell="sorting_transformer",
        edits=[
            (
                "nn.ModuleList([EncoderLayer(*sizes, norm_first=True) for _ in range(num_layers)])",
                "[EncoderLayer(*sizes, norm_first=True) for _ in range(num_layers)]",
            )
        ],
        about=["test_parameters"],
        sentence="Your layers are in a plain list, so torch doesn't find their parameters. Use "
        "nn.ModuleList.",
    ),
    Mistake(
        "one_layer_shared",
        cell="sorting_transformer",
        edits=[
            (
                "[EncoderLayer(*sizes, norm_first=True) for _ in range(num_layers)]",
                "[EncoderLayer(*sizes, norm_first=True)] * num_layers",
            )
        ],
        about=["test_parameters"],
        sentence="You use the same layer num_layers times. Every layer needs its own weights.",
    ),
    Mistake(
        "always_two_layers",
        cell="sorting_transformer",
        edits=[("range(num_layers)", "range(2)")],
        about=["test_parameters"],
        sentence="Your model always has two layers. Use num_layers.",
    ),
    Mistake(
        "last_layer_unused",
        cell="sorting_transformer",
        edits=[("for layer in self.layers:", "for layer in self.layers[:-1]:")],
        about=["test_every_layer_counts"],
        sentence="You don't use the last layer.",
    ),
    Mistake(
        "layers_get_the_embedding",
        cell="sorting_transformer",
        edits=[
            (
                "        for layer in self.layers:\n            x = layer(x)\n",
                "        embedded = x\n        for layer in self.layers:\n            x = layer(embedded)\n",
            )
        ],
        about=["test_every_layer_counts", "test_output"],
        sentence="Every layer gets the embedding, so only the last layer has an effect. "
        "Pass each layer the output of the one before it.",
    ),
    Mistake(
        "no_positions",
        cell="sorting_transformer",
        edits=[("x = self.embedding(ids)", "x = self.embedding.token(ids)")],
        about=["test_positions_matter"],
        sentence="You don't use the positions, so all places are treated alike.",
    ),
    Mistake(
        "probabilities",
        cell="sorting_transformer",
        edits=[("return self.output(x)", "return torch.softmax(self.output(x), dim=-1)")],
        about=["test_output"],
        sentence="You return probabilities. Return the logits, without a softmax.",
    ),
    Mistake(
        "causal",
        cell="sorting_transformer",
        edits=[
            ("x = layer(x)", "x = layer(x, torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril())")
        ],
        about=["test_every_place_sees_every_number"],
        sentence="Your causal mask hides the numbers after a place, but the smallest number may come last. "
        "Use no mask.",
    ),
    Mistake(
        "one_answer_for_all_places",
        cell="sorting_transformer",
        edits=[("x = self.norm(x)", "x = self.norm(x).mean(dim=1, keepdim=True)")],
        about=["test_output"],
        sentence="You average over the places. Every place needs its own logits.",
    ),
    Mistake(
        "computed_without_gradients",
        cell="sorting_transformer",
        edits=[("x = self.embedding(ids)", "x = self.embedding(ids).detach()")],
        about=["test_gradients"],
        sentence="You detach the embedding, so it learns nothing.",
    ),
]

# --------------------------------------------------------------------------------------------- exercise 9
ROWS = '"34 43 5 34 5 687 5 43"'
SAME_ROWS = "assert sorted([*training, *test]) == sorted(rows)"
ON_ONE_SIDE = "assert held_out.isdisjoint(map(tuple, training))"
AS_MANY = "assert len(held_out) == count"
AT_RANDOM = "assert count == 0 or drawn == different"
COPIED = "given = [list(row) for row in rows]"
CALL = "training, test = function(given, count)"


def split_test(name, edits, about, sentence):
    return Mistake(name, cell="check_split", edits=edits, about=about, sentence=sentence)


CHECK_SPLIT = [
    split_test(
        "check_of_lengths",
        [
            (SAME_ROWS, "assert len(training) + len(test) == len(rows)"),
            (ON_ONE_SIDE, "assert isinstance(training, list)"),
            (AS_MANY, "assert len(test) >= count"),
            (AT_RANDOM, "assert isinstance(test, list)"),
        ],
        ["test_apart"],
        "Your check looks only at lengths and types. Look for the sequences themselves on both sides.",
    ),
    split_test(
        "check_without_copies_of_rows",
        [(ROWS, '"34 43 5 687"')],
        ["test_apart", "test_complete"],
        "Every sequence occurs only once in your rows. A split goes wrong where one occurs several times.",
    ),
    split_test(
        "check_of_both_sides_left_out",
        [(ON_ONE_SIDE, "assert isinstance(training, list)")],
        ["test_apart"],
        "Your check doesn't ask whether a sequence is in both lists.",
    ),
    split_test(
        "check_of_sets",
        [(SAME_ROWS, "assert set(map(tuple, [*training, *test])) == different")],
        ["test_complete"],
        "Your check compares sets of sequences, so it doesn't notice that copies are missing.",
    ),
    split_test(
        "check_of_rows_left_out",
        [
            (SAME_ROWS, "assert len(training) + len(test) == len(rows)"),
            (AT_RANDOM, "assert len(drawn) >= count"),
        ],
        ["test_unaltered"],
        "Your check counts the rows, but doesn't compare them with those that went in.",
    ),
    split_test(
        "check_of_the_count_left_out",
        [(AS_MANY, "assert isinstance(test, list)")],
        ["test_counted"],
        "Your check doesn't ask how many different sequences were held out.",
    ),
    split_test(
        "check_never_with_zero",
        [("range(len(different) + 1)", "range(1, len(different) + 1)")],
        ["test_counted"],
        "Your check never calls the function with a count of 0.",
    ),
    split_test(
        "check_without_sequences_that_look_alike",
        [(ROWS, ROWS.replace("43", "49"))],
        ["test_counted"],
        "No two sequences of your rows have the same ids in another order, such as `3 4` and `4 3`.",
    ),
    split_test(
        "check_of_chance_left_out",
        [(AT_RANDOM, "assert isinstance(test, list)")],
        ["test_random"],
        "Your check doesn't ask which sequences are held out in the course of many calls.",
    ),
    split_test(
        "check_of_two_results",
        [(AT_RANDOM, "assert count != 1 or len(drawn) > 1")],
        ["test_random"],
        "Your check asks whether the result varies, but not whether every sequence is held out in some call.",
    ),
    split_test(
        "check_of_all_counts_together",
        [
            ("    for count in range", "    drawn = set()\n    for count in range"),
            ("        drawn = set()\n        for _", "        for _"),
            ("        " + AT_RANDOM, "    assert drawn == different"),
        ],
        ["test_random"],
        "Your check collects what is held out over all counts. With the largest count everything is held out, so it always looks random.",
    ),
    split_test(
        "check_without_a_copy",
        [(COPIED, "given = rows")],
        ["test_no_trace"],
        "Your check passes the same list that it compares with afterwards, so it can't notice that the list was changed.",
    ),
    split_test(
        "check_expects_the_order_of_rows",
        [(SAME_ROWS, "assert [*test, *training] == rows")],
        ["test_complete"],
        "Your check asks for an order of the rows, which rejects right functions. Sort the rows before you compare them.",
    ),
    split_test(
        "check_expects_one_result",
        [(AT_RANDOM, "assert count != 1 or drawn == {(3, 4)}")],
        ["test_random"],
        "Your check asks for certain sequences, which rejects right functions: they draw them at random.",
    ),
    split_test(
        "check_sets_a_seed",
        [(CALL, "torch.manual_seed(0)\n            " + CALL)],
        ["test_random"],
        "Your check sets a seed before each call, so right functions return the same every time, and it rejects them.",
    ),
]

MISTAKES = [*FRESH, *SHIFT, *LOSS, *TRAIN, *DECODE, *EXACT, *WORDS, *SORTING, *CHECK_SPLIT]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It computes another number for every input.": [
            "sum_over_batch",
            "classes_mixed_with_positions",
            "flattened_in_another_order",
            "reshaped_instead_of_moved",
            "last_position_only",
            "first_position_left_out",
            "share_of_tokens",
            "any_token",
            "along_the_batch",
            "number_of_rows",
        ],
        "The exercise is this one shift, and most checks compare the shifted ids.": [
            "not_shifted",
            "shifted_left",
            "rolled",
        ],
        "No model can be trained on such batches.": [
            "one_source_repeated",
            "swapped",
            "list_in_a_set",
            "lists_returned",
        ],
        "It stops with an error, or returns something of another type.": [
            "not_flattened",
            "not_averaged",
            "only_one_input",
            "inputs_as_a_list",
        ],
        "It accepts nearly every function.": [
            "check_of_lengths",
        ],
        "A test that rejects right functions is of no use, whatever else it rejects.": [
            "check_expects_the_order_of_rows",
            "check_expects_one_result",
            "check_sets_a_seed",
        ],
    },
)

"""Wrong answers to 05_seq2seq, written from the text of its exercises."""

from answers import Unseen


def wrong(name: str, cell: str, *edits: tuple[str, str], fault: str) -> Unseen:
    return Unseen(name, cell, edits, fault=fault)


LOSS_CALL = "return F.cross_entropy(cases, classes, ignore_index=pad_idx)"
UNSEEN = [
    wrong(
        "batch_filtered_late",
        "fresh_batch",
        (
            "    while len(sources) < batch_size:\n        drawn = sample()\n",
            "    for drawn in [sample() for _ in range(batch_size)]:\n",
        ),
        fault="held-out sources are dropped, not replaced",
    ),
    wrong(
        "batch_answers_held_out",
        "fresh_batch",
        ("if tuple(drawn) not in held_out", "if tuple(answer(drawn)) not in held_out"),
        fault="compares the answers with the held-out set",
    ),
    wrong(
        "batch_one_more_try",
        "fresh_batch",
        (
            "        if tuple(drawn) not in held_out:\n            sources.append(drawn)",
            "        if tuple(drawn) in held_out:\n            drawn = sample()\n        sources.append(drawn)",
        ),
        fault="draws a second time only",
    ),
    wrong(
        "batch_exchanged",
        "fresh_batch",
        ("return pad(sources), pad(answers)", "return pad(answers), pad(sources)"),
        fault="source and targets exchanged",
    ),
    wrong("batch_one_too_many", "fresh_batch", ("< batch_size", "<= batch_size"), fault="one row too many"),
    wrong(
        "batch_sorted",
        "fresh_batch",
        ("return pad(sources), pad(answers)", "return pad(sorted(sources)), pad(sorted(answers))"),
        fault="rows sorted separately",
    ),
    wrong(
        "shift_drops_first",
        "shift_right",
        ("targets[:, :-1]]", "targets[:, 1:]]"),
        fault="drops the first column",
    ),
    wrong(
        "shift_wrong_axis",
        "shift_right",
        (
            "return torch.cat([bos, targets[:, :-1]], dim=1)",
            "return torch.roll(targets, 1, 0)",
        ),
        fault="shifts the rows",
    ),
    wrong(
        "shift_fixed_bos", "shift_right", ("targets[:, :1], bos_idx)", "targets[:, :1], 1)"), fault="BOS is 1"
    ),
    wrong("shift_longer", "shift_right", ("targets[:, :-1]]", "targets]"), fault="keeps the last column"),
    wrong(
        "shift_two",
        "shift_right",
        ("[bos, targets[:, :-1]]", "[bos, bos, targets[:, :-2]]"),
        fault="shifted by two",
    ),
    wrong(
        "shift_left",
        "shift_right",
        ("[bos, targets[:, :-1]]", "[targets[:, 1:], bos]"),
        fault="shifted to the left",
    ),
    wrong(
        "loss_pad_zero", "sequence_loss", ("ignore_index=pad_idx", "ignore_index=0"), fault="pad_idx ignored"
    ),
    wrong(
        "loss_sum",
        "sequence_loss",
        ("ignore_index=pad_idx", 'ignore_index=pad_idx, reduction="sum"'),
        fault="sum",
    ),
    wrong("loss_with_padding", "sequence_loss", (", ignore_index=pad_idx", ""), fault="padding counts"),
    wrong(
        "loss_mean_of_means",
        "sequence_loss",
        (
            LOSS_CALL,
            "each = F.cross_entropy(cases, classes, ignore_index=pad_idx, reduction='none').reshape(targets.shape)\n"
            "    return (each.sum(1) / (targets != pad_idx).sum(1).clamp(min=1)).mean()",
        ),
        fault="mean of the means of the rows",
    ),
    wrong(
        "loss_smoothed",
        "sequence_loss",
        ("ignore_index=pad_idx", "ignore_index=pad_idx, label_smoothing=0.1"),
        fault="label smoothing",
    ),
    wrong(
        "loss_all_positions",
        "sequence_loss",
        (
            LOSS_CALL,
            "return F.cross_entropy(cases, classes, ignore_index=pad_idx, reduction='sum') / targets.numel()",
        ),
        fault="divided by all positions",
    ),
    wrong("loss_perplexity", "sequence_loss", (LOSS_CALL, LOSS_CALL + ".exp()"), fault="perplexity"),
    wrong(
        "loss_base_two",
        "sequence_loss",
        (LOSS_CALL, LOSS_CALL + " / 0.6931471805599453"),
        fault="in bits",
    ),
    wrong("train_no_step", "train", ("        optimizer.step()\n", ""), fault="no optimizer.step()"),
    wrong(
        "train_one_batch",
        "train",
        ("    losses = []\n", "    losses = []\n    batch = make_batch()\n"),
        ("= make_batch()  #", "= batch  #"),
        fault="one batch for all steps",
    ),
    wrong("train_tensors", "train", ("loss.item()", "loss"), fault="tensors in place of floats"),
    wrong("train_last", "train", ("return losses", "return losses[-1:]"), fault="last loss only"),
    wrong(
        "train_sgd",
        "train",
        (
            "torch.optim.Adam(model.parameters(), lr=lr, betas=(0.9, 0.98))",
            "torch.optim.SGD(model.parameters(), lr=lr)",
        ),
        fault="SGD",
    ),
    wrong("train_eval", "train", ("model.train()", "model.eval()"), fault="evaluation mode"),
    wrong(
        "train_zero_late",
        "train",
        (
            "        optimizer.zero_grad()\n        loss.backward()\n",
            "        loss.backward()\n        optimizer.zero_grad()\n",
        ),
        fault="gradients set to zero before the step",
    ),
    wrong(
        "train_running_mean",
        "train",
        ("losses.append(loss.item())", "losses.append((sum(losses) + loss.item()) / (len(losses) + 1))"),
        fault="running mean",
    ),
    wrong(
        "train_first_input",
        "train",
        ("logits = model(*inputs)", "logits = model(*inputs[::-1])"),
        fault="inputs in reverse order",
    ),
    wrong(
        "decode_no_mask",
        "greedy_decode",
        ("decode(tokens, memory, memory_mask)  #", "decode(tokens, memory, None)  #"),
        fault="no mask",
    ),
    wrong(
        "decode_stops_early", "greedy_decode", ("ended.all()", "ended.any()"), fault="stops at the first EOS"
    ),
    wrong(
        "decode_without_eos",
        "greedy_decode",
        ("return tokens[:, 1:]", "return tokens[:, 1:].masked_fill(tokens[:, 1:] == eos_idx, PAD)"),
        fault="EOS is missing",
    ),
    wrong("decode_keeps_bos", "greedy_decode", ("return tokens[:, 1:]", "return tokens"), fault="keeps BOS"),
    wrong(
        "decode_short", "greedy_decode", ("range(max_len)", "range(max_len - 1)"), fault="one token too few"
    ),
    wrong(
        "decode_eos_after",
        "greedy_decode",
        ("masked_fill(ended, PAD)", "masked_fill(ended, eos_idx)"),
        fault="EOS after EOS",
    ),
    wrong(
        "decode_train_mode",
        "greedy_decode",
        ("    return tokens[:, 1:]", "    model.train()\n    return tokens[:, 1:]"),
        fault="training mode afterwards",
    ),
    wrong(
        "decode_least_likely",
        "greedy_decode",
        (".argmax(dim=-1)", ".argmin(dim=-1)"),
        fault="least likely token",
    ),
    wrong(
        "decode_last_but_one",
        "greedy_decode",
        ("logits[:, -1]", "logits[:, -2:][:, 0]"),
        fault="reads the logits one place too early",
    ),
    wrong("match_tokens", "exact_match", (".all(dim=1)", ""), fault="share of tokens"),
    wrong("match_any", "exact_match", (".all(dim=1)", ".any(dim=1)"), fault="any token right"),
    wrong(
        "match_pad",
        "exact_match",
        ("predicted.shape[1]), value=PAD", "predicted.shape[1]), value=-1"),
        fault="padded with -1",
    ),
    wrong("match_percent", "exact_match", (".mean().item()", ".mean().item() * 100"), fault="percent"),
    wrong("match_count", "exact_match", (".float().mean().item()", ".float().sum().item()"), fault="count"),
    wrong("match_columns", "exact_match", (".all(dim=1)", ".all(dim=0)"), fault="columns"),
    wrong(
        "vocab_lower",
        "vocabulary",
        ("for word in sentence.split():\n", "for word in sentence.lower().split():\n"),
        fault="lower case",
    ),
    wrong(
        "vocab_sorted",
        "vocabulary",
        ("for word in sentence.split():\n", "for word in sorted(sentence.split()):\n"),
        fault="words of a sentence sorted",
    ),
    wrong(
        "vocab_from_one", "vocabulary", ("enumerate(SPECIALS)", "enumerate(SPECIALS, 1)"), fault="ids from 1"
    ),
    wrong(
        "vocab_drops_unknown",
        "vocabulary",
        (
            "[vocabulary.get(word, UNK) for word in sentence.split()]",
            "[vocabulary[word] for word in sentence.split() if word in vocabulary]",
        ),
        fault="unknown words dropped",
    ),
    wrong(
        "vocab_past_eos",
        "vocabulary",
        ("            break\n", "            continue\n"),
        fault="goes on after EOS",
    ),
    wrong(
        "vocab_with_eos",
        "vocabulary",
        ("for word in sentence.split()]", "for word in sentence.split()] + [EOS]"),
        fault="EOS appended",
    ),
    wrong("vocab_keeps_pad", "vocabulary", ("if i not in (PAD, BOS):", "if i != BOS:"), fault="PAD kept"),
    wrong("vocab_no_spaces", "vocabulary", ('" ".join(kept)', '"".join(kept)'), fault="no spaces"),
    wrong("sort_no_norm", "sorting_transformer", ("x = self.norm(x)", "pass"), fault="norm not used"),
    wrong(
        "sort_post_norm", "sorting_transformer", ("norm_first=True", "norm_first=False"), fault="post-norm"
    ),
    wrong(
        "sort_one_layer",
        "sorting_transformer",
        ("for layer in self.layers:", "for layer in self.layers[:1]:"),
        fault="one layer",
    ),
    wrong(
        "sort_two_heads",
        "sorting_transformer",
        ("(embed_dim, 4, 2 * embed_dim)", "(embed_dim, 2, 2 * embed_dim)"),
        fault="two heads",
    ),
    wrong(
        "sort_d_ff",
        "sorting_transformer",
        ("(embed_dim, 4, 2 * embed_dim)", "(embed_dim, 4, 4 * embed_dim)"),
        fault="d_ff is 4 times",
    ),
    wrong(
        "sort_softmax",
        "sorting_transformer",
        ("return self.output(x)", "return self.output(x).softmax(-1)"),
        fault="softmax",
    ),
    wrong(
        "sort_shared",
        "sorting_transformer",
        (
            "[EncoderLayer(*sizes, norm_first=True) for _ in range(num_layers)]",
            "[EncoderLayer(*sizes, norm_first=True)] * num_layers",
        ),
        fault="one layer used twice",
    ),
    wrong(
        "sort_reversed",
        "sorting_transformer",
        ("for layer in self.layers:", "for layer in self.layers[::-1]:"),
        fault="layers in reverse order",
    ),
]

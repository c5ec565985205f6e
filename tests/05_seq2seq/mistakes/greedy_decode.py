"""Wrong answers to exercise 5, `greedy_decode`."""

from gradekit.checks import Mistake

MISTAKES = [
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
        sentence="You write one token fewer than max_len. BOS doesn't count.",
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

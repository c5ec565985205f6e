"""Wrong answers to exercise 5, `greedy_decode`."""

from gradekit.checks import Mistakes

wrong = Mistakes()

wrong.about("test_writes_the_likeliest_tokens")
wrong("logits_of_position_0", "logits[:, -1].argmax", "logits[:, 0].argmax")
wrong.says("You used the logits of position 0. The logits of the last position predict the next token.")
wrong("greedy_softmax_over_the_batch", "logits[:, -1].argmax", "logits[:, -1].softmax(dim=0).argmax")
wrong.says(
    "Your softmax runs over the batch, so a token counts as likely if the other rows find it unlikely. You "
    "need no softmax to find the largest logit."
)
wrong("eos_left_out")
wrong.edit("return tokens[:, 1:]", "return tokens[:, 1:].masked_fill(tokens[:, 1:] == eos_idx, PAD)")
wrong.says("EOS is missing from your result. Without it, you can't tell where the sequence ends.")
wrong("bos_left_in", "return tokens[:, 1:]", "return tokens")
wrong.says("BOS is still in your result. Cut off the first column.")
wrong("last_but_one", "logits[:, -1].argmax", "logits[:, -min(2, logits.shape[1])].argmax")
wrong.says("You used the logits of the position before the last.")
wrong.says("Those of the last position predict the next token.")

wrong.about("test_stops_at_eos")
wrong("no_stop_at_eos", "            if ended.all():\n                break\n", "")
wrong.says("You don't stop when all rows have written EOS.")
wrong("stops_at_the_first_eos", "if ended.all()", "if ended.any()")
wrong.says(
    "A row that goes on after another one has written EOS is cut off there. Return all tokens until the last row is done."
)
wrong("eos_typed_in", "token == eos_idx", "token == EOS")
wrong.says("You always stop at the id 2. Use eos_idx.")

wrong.about("test_pads_behind_eos")
wrong("writes_on_behind_eos", "            token = token.masked_fill(ended, PAD)\n", "")
wrong.says("A row that has ended goes on writing until the others are done. Write PAD instead.")
wrong("eos_behind_eos", "token.masked_fill(ended, PAD)", "token.masked_fill(ended, eos_idx)")
wrong.says("You fill up ended rows with EOS. Use PAD.", uses=("eos_idx", "EOS"))

wrong.about("test_pads_behind_eos", "test_stops_at_eos")
wrong("ended_is_forgotten", "ended = ended | (token == eos_idx)", "ended = token == eos_idx")
wrong.says("You remember only the rows that wrote EOS in the current step. A row that has ended stays ended.")

wrong.about("test_max_len")
wrong("one_token_too_few", "range(max_len)", "range(max_len - 1)")
wrong.says("You write one token fewer than max_len. BOS doesn't count.")
wrong("max_len_ignored", "range(max_len)", "range(20)")
wrong.says("You write more than max_len tokens if EOS does not come.")

wrong.about("test_reads_what_it_wrote")
wrong("bos_typed_in", "(batch, 1), bos_idx)", "(batch, 1), BOS)")
wrong.says("The decoder does not begin with bos_idx. Use the argument, not a fixed id.")
wrong("reads_the_last_token_only", "model.decode(tokens, memory", "model.decode(tokens[:, -1:], memory")
wrong.says("The decoder gets only the last token. It needs all tokens so far.")

wrong.about("test_mask_of_the_source")
wrong("mask_lost", "model.decode(tokens, memory, memory_mask)", "model.decode(tokens, memory, None)")
wrong.says("You don't pass memory_mask to decode, so the decoder attends to the padding of the source.")

wrong.about("test_evaluation_mode")
wrong("dropout_on", "    model.eval()\n", "")
wrong.says("Dropout may be on while decoding. Call model.eval() first.")
wrong("training_mode_afterwards", "    return tokens[:, 1:]", "    model.train()\n    return tokens[:, 1:]")
wrong.says("You leave the model in training mode. It should be in evaluation mode afterwards.")

wrong("mode_given_back", "    model.eval()\n", "    before = model.training\n    model.eval()\n")
wrong.edit("    return tokens[:, 1:]", "    model.train(before)\n    return tokens[:, 1:]")
wrong.says(
    "You put the model back into the mode in which it came. It should be in evaluation mode afterwards."
)

wrong.about("test_no_gradients")
wrong(
    "gradients_off_for_good",
    "    with torch.no_grad():\n",
    "    torch.set_grad_enabled(False)\n    if True:\n",
)
wrong.says("You switch gradients off and never on again, so no model can be trained afterwards.")
wrong.says("Use `with torch.no_grad():`.")
wrong("gradients_on", "with torch.no_grad()", "with torch.enable_grad()")
wrong.says("You decode with gradients on. Use torch.no_grad().")

wrong.about("test_encodes_once")
wrong("encodes_every_time", "            logits = model.decode")
wrong.to("            memory, memory_mask = model.encode(source)\n            logits = model.decode")
wrong.says("You encode the source in every step. It doesn't change, so encode it once.")

wrong.unnamed("Its values are too few and simple: other mistakes return them, too.", "mask_lost")

"""Wrong answers to exercise 7, `generate`."""

from gradekit.checks import Mistakes

LIKELIEST = "test_writes_the_likeliest_tokens"
ONCE = "test_every_position_goes_in_once"
PICK = "following = logits[:, -1].argmax(dim=-1, keepdim=True)"
RUN = "logits = model(following, caches)"

wrong = Mistakes("generate_")

wrong.about(ONCE)
wrong("whole_text_every_time", RUN, "logits = model(ids, new_caches(model))")
wrong.says("The whole text goes through the model for every token.")
wrong.says("After the prompt, only the new token should go in.")
wrong("text_goes_in_again", RUN, "logits = model(ids, caches)")
wrong.says("You pass the whole text to the model although the caches already hold most of it.")
wrong.says("Pass only the new token.")
wrong("one_call_too_many", "    return ids\n", "        model(following, caches)\n    return ids\n")
wrong.says("You call the model once more at the end, for a token that nobody needs.")
wrong("prompt_token_by_token", "following = ids\n    with torch.no_grad():\n")
wrong.to(
    "following = ids[:, -1:]\n    with torch.no_grad():\n"
    "        for place in range(ids.shape[1] - 1):\n"
    "            model(ids[:, place : place + 1], caches)\n",
)
wrong.says("You read the prompt token by token. It goes through the model in one call.")

wrong.about("test_the_same_caches_in_every_call", ONCE)
wrong("no_cache", RUN, "logits = model(ids)")
wrong.says("You don't use caches. Make them once, and pass them to every call.")

wrong.about("test_the_same_caches_in_every_call")
wrong("new_caches_every_time", RUN, "logits = model(following, new_caches(model))")
wrong.says("You make new caches at every step, so the model forgets everything but one token.")
wrong.says("Make them once.")

wrong.about(LIKELIEST)
wrong("logits_of_the_first_position", "logits[:, -1]", "logits[:, 0]")
wrong.says("You use the logits at the first position. The next token is predicted at the last one.")
wrong("least_likely", "argmax(", "argmin(")
wrong.says("You choose the least likely token. Use argmax.")
wrong("sampled", PICK, "following = torch.multinomial(torch.softmax(logits[:, -1], dim=-1), 1)")
wrong.says("You draw tokens at random. Take the likeliest one.")
wrong("rounded_logits", "logits[:, -1].argmax(", "logits[:, -1].bfloat16().argmax(")
wrong.says("You round the logits, so two that are close become equal. Compare them as they are.")
wrong("softmax_over_the_batch", "logits[:, -1].argmax(", "logits[:, -1].softmax(dim=0).argmax(")
wrong.says(
    "Your softmax runs over the batch, so a token counts as likely if the other texts find it unlikely. You "
    "need no softmax to find the largest logit."
)
wrong("first_row_for_all", PICK, PICK + "\n            following = following[:1].expand(len(ids), 1)")
wrong.says("All texts get the token of the first one. Each row has its own.")
wrong("prompt_left_out", "    return ids\n", "    return ids[:, -new_tokens:]\n")
wrong.says("You return only the new tokens. Return prompt and new tokens together.")
wrong("one_too_few", "range(new_tokens)", "range(new_tokens - 1)")
wrong.says("You write one token too few.")
wrong.costs("There is one call too few, and every result is one token too short.")

wrong.about("test_evaluation_mode_without_gradients")
wrong("training_mode", "    model.eval()\n", "")
wrong.says("The model writes in training mode, so dropout is on. Call model.eval() first.")
wrong("with_gradients", "with torch.no_grad():", "with torch.enable_grad():")
wrong.says("Gradients are recorded, but not needed. Use torch.no_grad().")

wrong.about("test_prompt_unchanged")
wrong("prompt_changed", "    return ids\n", "    prompt.fill_(0)\n    return ids\n")
wrong.edit("    following = ids\n", "    following = prompt = ids\n")
wrong.says("You changed the prompt in place. Create a new tensor.")
wrong("floats", "    return ids\n", "    return ids.float()\n")
wrong.says("You return floats. Ids are integers.")

"""Wrong answers to exercise 7, `generate`."""

from gradekit.checks import mistakes_in, with_costs

LIKELIEST = "test_writes_the_likeliest_tokens"
ONCE = "test_every_position_goes_in_once"
PICK = "following = logits[:, -1].argmax(dim=-1, keepdim=True)"
RUN = "logits = model(following, caches)"
mistake = mistakes_in("generate", "generate_")

MISTAKES = [
    mistake(
        "whole_text_every_time",
        [(RUN, "logits = model(ids, new_caches(model))")],
        [ONCE],
        "The whole text goes through the model for every token. After the prompt, only the new token should go in.",
    ),
    mistake(
        "no_cache",
        [(RUN, "logits = model(ids)")],
        ["test_the_same_caches_in_every_call", ONCE],
        "You don't use caches. Make them once, and pass them to every call.",
    ),
    mistake(
        "text_goes_in_again",
        [(RUN, "logits = model(ids, caches)")],
        [ONCE],
        "You pass the whole text to the model although the caches already hold most of it. Pass only the new token.",
    ),
    mistake(
        "new_caches_every_time",
        [(RUN, "logits = model(following, new_caches(model))")],
        ["test_the_same_caches_in_every_call"],
        "You make new caches at every step, so the model forgets everything but one token. Make them once.",
    ),
    mistake(
        "logits_of_the_first_position",
        [("logits[:, -1]", "logits[:, 0]")],
        [LIKELIEST],
        "You use the logits at the first position. The next token is predicted at the last one.",
    ),
    mistake(
        "least_likely",
        [("argmax(", "argmin(")],
        [LIKELIEST],
        "You choose the least likely token. Use argmax.",
    ),
    mistake(
        "sampled",
        [(PICK, "following = torch.multinomial(torch.softmax(logits[:, -1], dim=-1), 1)")],
        [LIKELIEST],
        "You draw tokens at random. Take the likeliest one.",
    ),
    mistake(
        "softmax_over_the_batch",
        [("logits[:, -1].argmax(", "logits[:, -1].softmax(dim=0).argmax(")],
        [LIKELIEST],
        "Your softmax runs over the batch, so a token counts as likely if the other texts find it unlikely. "
        "You need no softmax to find the largest logit.",
    ),
    mistake(
        "first_row_for_all",
        [(PICK, PICK + "\n            following = following[:1].expand(len(ids), 1)")],
        [LIKELIEST],
        "All texts get the token of the first one. Each row has its own.",
    ),
    mistake(
        "prompt_left_out",
        [("    return ids\n", "    return ids[:, -new_tokens:]\n")],
        [LIKELIEST],
        "You return only the new tokens. Return prompt and new tokens together.",
    ),
    mistake(
        "one_too_few",
        [("range(new_tokens)", "range(new_tokens - 1)")],
        [LIKELIEST],
        "You write one token too few.",
    ),
    mistake(
        "one_call_too_many",
        [("    return ids\n", "        model(following, caches)\n    return ids\n")],
        [ONCE],
        "You call the model once more at the end, for a token that nobody needs.",
    ),
    mistake(
        "prompt_token_by_token",
        [
            (
                "following = ids\n    with torch.no_grad():\n",
                "following = ids[:, -1:]\n    with torch.no_grad():\n"
                "        for place in range(ids.shape[1] - 1):\n"
                "            model(ids[:, place : place + 1], caches)\n",
            )
        ],
        [ONCE],
        "You read the prompt token by token. It goes through the model in one call.",
    ),
    mistake(
        "training_mode",
        [("    model.eval()\n", "")],
        ["test_evaluation_mode_without_gradients"],
        "The model stays in training mode. Call model.eval() first.",
    ),
    mistake(
        "with_gradients",
        [("with torch.no_grad():", "with torch.enable_grad():")],
        ["test_evaluation_mode_without_gradients"],
        "Gradients are recorded, but not needed. Use torch.no_grad().",
    ),
    mistake(
        "prompt_changed",
        [
            ("    return ids\n", "    prompt.fill_(0)\n    return ids\n"),
            ("    following = ids\n", "    following = prompt = ids\n"),
        ],
        ["test_prompt_unchanged"],
        "You changed the prompt in place. Create a new tensor.",
    ),
    mistake(
        "floats",
        [("    return ids\n", "    return ids.float()\n")],
        ["test_prompt_unchanged"],
        "You return floats. Ids are integers.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "There is one call too few, and every result is one token too short.": [
            "generate_one_too_few",
        ],
    },
)

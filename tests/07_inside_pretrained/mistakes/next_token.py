"""Wrong answers to exercise 1, `next_token`."""

from gradekit.checks import mistakes_in, with_costs

mistake = mistakes_in("next_token")

MISTAKES = [
    mistake(
        "left_in_training_mode",
        (
            "        logits = model(input_ids).logits  # (batch, length, vocab)",
            "        logits = model.eval()(input_ids).logits  # (batch, length, vocab)\n    model.train()",
        ),
        ["test_without_gradients"],
        "You leave the model in training mode, which turns its dropout on. It need not change its mode at all.",
    ),
    mistake(
        "first_position",
        ("logits[:, -1]", "logits[:, 0]"),
        ["test_after_the_last_token"],
        "You used the logits of the first position, which predict the second token. Use the last position.",
    ),
    mistake(
        "softmax_over_batch",
        ("torch.softmax(last, dim=-1)", "torch.softmax(last, dim=0)"),
        ["test_rows_sum_to_1"],
        "Your softmax runs over the batch. It should run over the vocabulary, the last axis.",
    ),
    mistake(
        "logits_returned",
        ("return torch.softmax(last, dim=-1)", "return last"),
        ["test_rows_sum_to_1", "test_after_the_last_token"],
        "You returned logits. Apply a softmax to get probabilities.",
    ),
    mistake(
        "only_the_last_token_seen",
        ("logits = model(input_ids).logits", "logits = model(input_ids[:, -1:]).logits"),
        ["test_after_the_last_token"],
        "You passed the model only the last token. It has to see the whole sequence.",
    ),
    mistake(
        "candidates_not_sorted",
        (
            "candidates = list(zip(tokens, top.values.tolist(), strict=True))",
            "candidates = sorted(zip(tokens, top.values.tolist(), strict=True))",
        ),
        ["test_candidates"],
        "The candidates are sorted by token. Sort them by probability, likeliest first.",
    ),
    mistake(
        "candidates_ascending",
        ("top.values.tolist(), strict=True))", "top.values.tolist(), strict=True))[::-1]"),
        ["test_candidates"],
        "The likeliest candidate comes last. It should come first.",
    ),
    mistake(
        "k_beyond_the_vocabulary",
        ("min(k, len(probabilities))", "k"),
        ["test_number_of_candidates"],
        "You ask for k tokens even if the vocabulary has fewer. Return all of them in this case.",
    ),
    mistake(
        "always_ten",
        ("min(k, len(probabilities))", "min(10, len(probabilities))"),
        ["test_number_of_candidates"],
        "You ask for ten candidates, whatever k is. Use k.",
    ),
    mistake(
        "nothing_appended",
        ("new_ids = torch.cat([input_ids, likeliest], dim=1)", "new_ids = input_ids"),
        ["test_appends_the_likeliest"],
        "You return the ids without the new one. Append the id of the likeliest token.",
    ),
    mistake(
        "only_the_new_id",
        ("new_ids = torch.cat([input_ids, likeliest], dim=1)", "new_ids = likeliest"),
        ["test_appends_the_likeliest"],
        "You return only the new id. Keep the given ids in front of it.",
    ),
    mistake(
        "place_in_the_list_appended",
        ("top.indices[:1].unsqueeze(0)", "top.values.argmax().reshape(1, 1)"),
        ["test_appends_the_likeliest"],
        "You appended 0, an index in the list of candidates. Append the id of the token in the vocabulary.",
    ),
    mistake(
        "encoded_anew",
        (
            "return new_ids, candidates",
            "new_ids = torch.tensor([tokenizer.encode(tokenizer.decode(new_ids[0]))])\n    return new_ids, candidates",
        ),
        ["test_appends_the_likeliest"],
        "You decoded the ids and encoded the text again, which can change the tokens. Append to the ids.",
    ),
    mistake(
        "with_gradients",
        ("with torch.no_grad():", "with torch.enable_grad():"),
        ["test_without_gradients"],
        "The model runs with gradients on. Use `torch.no_grad()`.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It computes a different function, and most checks are about the function.": [
            "softmax_over_batch",
        ],
    },
)

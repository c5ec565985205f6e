"""Wrong answers to exercise 2, `sampling`."""

from gradekit.checks import mistakes_in, with_costs

TOP_K = 'scaled.masked_fill(scaled < smallest, float("-inf"))'
mistake = mistakes_in("sampling")

MISTAKES = [
    mistake(
        "times_temperature",
        ("logits / temperature", "logits * temperature"),
        ["test_temperature"],
        "You multiplied the logits by the temperature. Divide by it.",
    ),
    mistake(
        "temperature_after_softmax",
        [("logits / temperature", "logits / 1.0"), ("scaled, dim=-1)\n", "scaled, dim=-1) / temperature\n")],
        ["test_temperature"],
        "You divided the probabilities by the temperature. Divide the logits, before the softmax.",
    ),
    mistake(
        "softmax_over_the_batch",
        ("return torch.softmax(scaled, dim=-1)", "return torch.softmax(scaled, dim=0)"),
        ["test_temperature"],
        "Your softmax runs over the batch. It should run over the vocabulary, the last axis.",
    ),
    mistake(
        "top_k_plus_one",
        ("k = min(top_k, logits.shape[-1])", "k = min(top_k + 1, logits.shape[-1])"),
        ["test_top_k"],
        "You keep k + 1 tokens. Keep k.",
    ),
    mistake(
        "top_k_minus_one",
        ("scaled < smallest", "scaled <= smallest"),
        ["test_top_k"],
        "You also drop the k-th token. Fill only where the logit is smaller than that of the k-th token.",
    ),
    mistake(
        "top_k_filled_with_0",
        ('float("-inf")', "0.0"),
        ["test_top_k"],
        "You set the logits of the other tokens to 0, but e to the power of 0 is 1. Fill with -inf.",
    ),
    mistake(
        "top_k_not_renormalised",
        (
            f"scaled = {TOP_K}\n    return torch.softmax(scaled, dim=-1)",
            "return torch.softmax(scaled, dim=-1).masked_fill(scaled < smallest, 0.0)\n"
            "    return torch.softmax(scaled, dim=-1)",
        ),
        ["test_top_k"],
        "The probabilities of the remaining tokens don't sum to 1. Mask the logits before the softmax.",
    ),
    mistake(
        "threshold_of_first_row",
        (".values[:, -1:]", ".values[0, -1]"),
        ["test_top_k"],
        "You compare every row with the k-th logit of the first row. Each row has its own.",
    ),
    mistake(
        "top_k_too_large",
        ("k = min(top_k, logits.shape[-1])", "k = top_k"),
        ["test_all_tokens"],
        "Your function fails for a top_k larger than the vocabulary. It should keep all tokens.",
    ),
    mistake(
        "logits_filled_in_place",
        [
            ("scaled = logits / temperature", "scaled = logits"),
            (f"scaled = {TOP_K}", 'scaled[scaled < smallest] = float("-inf")'),
            ("return torch.softmax(scaled, dim=-1)", "return torch.softmax(scaled / temperature, dim=-1)"),
        ],
        ["test_logits_unchanged"],
        "You wrote -inf into the caller's logits. Create a new tensor.",
    ),
    mistake(
        "greedy_first_position",
        ("logits[:, -1]", "logits[:, 0]"),
        ["test_greedy", "test_draws"],
        "You used the logits of the first position. The logits of the last position predict the next token.",
    ),
    mistake(
        "greedy_forgotten",
        ("if temperature == 0:", "if temperature is None:"),
        ["test_greedy"],
        "You divide by a temperature of 0. It means greedy decoding: take the likeliest token.",
    ),
    mistake(
        "always_greedy",
        ("if temperature == 0:", "if temperature >= 0:"),
        ["test_draws"],
        "You take the likeliest token at every temperature. Above 0, draw from the probabilities.",
    ),
    mistake(
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
    mistake(
        "feeds_only_the_last_token",
        ("model(ids)", "model(ids[:, -1:])"),
        ["test_sees_the_whole_sequence"],
        "You pass the model only the last token. It has to see the whole sequence so far.",
    ),
    mistake(
        "not_appended",
        ("ids = torch.cat([ids, chosen], dim=1)", "ids = torch.cat([input_ids, chosen], dim=1)"),
        ["test_sees_the_whole_sequence", "test_greedy"],
        "Every step replaces the token of the previous step. Append it to the ids so far.",
    ),
    mistake(
        "one_step_too_many",
        ("range(n_tokens)", "range(n_tokens + 1)"),
        ["test_greedy"],
        "You append one token too many.",
    ),
    mistake(
        "one_draw_for_the_batch",
        (
            "torch.multinomial(probabilities, num_samples=1)",
            "torch.multinomial(probabilities, num_samples=1)[:1].expand(len(ids), 1)",
        ),
        ["test_draws"],
        "You use one draw for the whole batch. Draw for every sequence.",
    ),
    mistake(
        "drawn_without_temperature",
        ("sampling_probabilities(logits, temperature, top_k)", "sampling_probabilities(logits, 1.0, top_k)"),
        ["test_draws"],
        "You don't use the temperature when you draw. Pass it to sampling_probabilities.",
    ),
    mistake(
        "drawn_with_gradients",
        ("with torch.no_grad():", "with torch.enable_grad():"),
        ["test_without_gradients"],
        "The model runs with gradients on. Nothing is learned here: use `torch.no_grad()`.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "Everything else is right; it is one property among many.": [
            "logits_filled_in_place",
        ],
    },
)

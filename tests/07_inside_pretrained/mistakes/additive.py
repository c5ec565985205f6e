"""Wrong answers to exercise 5, `additive`."""

from gradekit.checks import mistakes_in

mistake = mistakes_in("additive")

MISTAKES = [
    mistake(
        "axes_from_the_front",
        ("k.transpose(-2, -1)", "k.transpose(1, 2)"),
        ["test_attention"],
        "You transpose axes 1 and 2. Count from the end, -2 and -1, since there may be any number of axes before them.",
    ),
    mistake(
        "inverted",
        ("masked_fill(~mask,", "masked_fill(mask,"),
        ["test_hides_what_is_false", "test_zero_where_true"],
        "Your mask is inverted. True means 'may attend', so add 0 there and -inf elsewhere.",
    ),
    mistake(
        "zeros_and_ones",
        ("zeros.masked_fill(~mask, -torch.inf)", "mask.float()"),
        ["test_hides_what_is_false"],
        "You add 0 and 1, which hides nothing. Add -inf where the mask is False.",
    ),
    mistake(
        "minus_twenty",
        ("-torch.inf)", "-20.0)"),
        ["test_any_shape_and_any_score"],
        "You add -20, which a large score can outweigh. Add -inf where the mask is False.",
    ),
    mistake(
        "zero_times_infinity",
        ("zeros.masked_fill(~mask, -torch.inf)", "(1 - mask.float()) * -torch.inf"),
        ["test_hides_what_is_false", "test_zero_where_true"],
        "Your mask contains NaN, from 0 times infinity. Fill the hidden places, don't multiply.",
    ),
    mistake(
        "one_where_true",
        ("torch.zeros(mask.shape)", "torch.ones(mask.shape)"),
        ["test_zero_where_true"],
        "You add 1 where the mask is True. The weights stay the same, but M should be 0 there.",
    ),
    mistake(
        "mask_transposed",
        (
            "    zeros = torch.zeros(mask.shape)\n",
            "    mask = mask.transpose(-2, -1)\n    zeros = torch.zeros(mask.shape)\n",
        ),
        ["test_zero_where_true", "test_any_shape_and_any_score"],
        "You transposed the mask. Keep its shape.",
    ),
    mistake(
        "mask_inverted_in_place",
        ("masked_fill(~mask,", "masked_fill(mask.logical_not_(),"),
        ["test_inputs_unchanged"],
        "You inverted the caller's mask in place. Use `~mask`, which creates a new one.",
    ),
    mistake(
        "added_after_softmax",
        ("torch.softmax(scores + additive, dim=-1)", "torch.softmax(scores, dim=-1) + additive"),
        ["test_attention"],
        "You added the mask after the softmax. Add it to the scores.",
    ),
    mistake(
        "additive_ignored",
        ("scores + additive", "scores"),
        ["test_attention"],
        "You don't use the mask. Add it to the scores.",
    ),
    mistake(
        "no_scale",
        (" / math.sqrt(q.shape[-1])", ""),
        ["test_attention"],
        "You left out the division by the square root of d_k.",
    ),
    mistake(
        "softmax_over_queries",
        ("scores + additive, dim=-1)", "scores + additive, dim=-2)"),
        ["test_attention"],
        "Your softmax runs over the queries. It should run over the keys, the last axis.",
    ),
]

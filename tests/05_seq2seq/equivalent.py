"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from gradekit.checks import Equivalent

ADAM = "optimizer = torch.optim.Adam(model.parameters(), lr=lr, betas=(0.9, 0.98))"
CLIP = "nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
NOT_REQUIRED = "The exercise recommends it, and says that it isn't required."
PAD_IS_0 = "PAD is 0, and so is the default."
NO_DROPOUT = "The model has no dropout, so its mode changes nothing."
CHECK = "check_split"
TEXT = 'text = "34 43 5 34 5 687 5 43"'
ROWS = "rows = [[int(i) for i in row] for row in text.split()]"
CALLS = "for _ in range(100):"
SAME_ROWS = "assert sorted([*training, *test]) == sorted(rows), ("
ENOUGH_ROWS = "The rows are a free choice. These, too, have copies, and sequences that look alike."
SAME_IN_EVERY_CALL = "It is the same in every call."
ENOUGH_CALLS = "One call more or less than a hundred makes no difference."
OFTEN_GREATER = "What is wrong isn't always smaller than the right list, and a hundred calls are made."

EQUIVALENT = [
    Equivalent(
        "train",
        ADAM,
        ADAM.replace("lr=lr, ", ""),
        "The schedule sets the learning rate before the first step.",
    ),
    *(
        Equivalent("train", ADAM, ADAM.replace(", betas=(0.9, 0.98)", betas), NOT_REQUIRED)
        for betas in ("", ", betas=(0.98, 0.9)", ", betas=(0.0, 0.98)", ", betas=(0.9, 0.0)")
    ),
    *(Equivalent("train", CLIP, after, NOT_REQUIRED) for after in ("pass", CLIP.replace("1.0", "2.0"))),
    Equivalent(
        "greedy_decode",
        "token = logits[:, -1].argmax(dim=-1)",
        "token = logits[:, -1].argmax(dim=1)",
        "There are two axes, so -1 is 1.",
    ),
    Equivalent(
        "greedy_decode",
        "token = token.masked_fill(ended, PAD)",
        "token = token.masked_fill_(ended, PAD)",
        "The tensor was made in the line before, so nobody else sees the change.",
    ),
    Equivalent(
        "exact_match",
        "width = max(predicted.shape[1], expected.shape[1])",
        "width = max(expected.shape[1], predicted.shape[1])",
        "`max` takes its arguments in any order.",
    ),
    *(
        Equivalent(
            "exact_match",
            f"{name} = F.pad({name}, (0, width - {name}.shape[1]), value=PAD)",
            f"{name} = F.pad({name}, (0, width - {name}.shape[1]))",
            PAD_IS_0,
        )
        for name in ("predicted", "expected")
    ),
    Equivalent(
        "vocabulary",
        "words = {i: word for word, i in vocabulary.items()}",
        "words = {i: word for word, i in list(vocabulary.items())[1:]}",
        "The first word is PAD, which is never written.",
    ),
    Equivalent(
        "vocabulary", "if i not in (PAD, BOS):", "if i not in (BOS, PAD):", "`in` takes a tuple in any order."
    ),
    *(Equivalent("sorting_transformer", "", f"self.{mode}()", NO_DROPOUT) for mode in ("train", "eval")),
    *(
        Equivalent(CHECK, before, after, SAME_IN_EVERY_CALL)
        for before, after in [
            (TEXT, 'text = vars(check_split).setdefault("_text", "34 43 5 34 5 687 5 43")'),
            (
                ROWS,
                'rows = vars(check_split).setdefault("_rows", [[int(i) for i in row] for row in text.split()])',
            ),
            (
                "different = set(map(tuple, rows))",
                'different = vars(check_split).setdefault("_different", set(map(tuple, rows)))',
            ),
        ]
    ),
    *(
        Equivalent(CHECK, ROWS, ROWS.replace("text.split()", rows), ENOUGH_ROWS)
        for rows in ("list(text.split())[1:]", "list(text.split())[:-1]")
    ),
    Equivalent(
        CHECK, ROWS, ROWS.replace("int(i)", "i"), "Ids may be anything that can be compared and sorted."
    ),
    *(
        Equivalent(CHECK, CALLS, CALLS.replace("range(100)", calls), ENOUGH_CALLS)
        for calls in ("list(range(100))[1:]", "list(range(100))[:-1]", "range(101)", "range(99)")
    ),
    Equivalent(
        CHECK,
        "given = [list(row) for row in rows]",
        "given = [row for row in rows]",
        "If a row itself is changed, it differs from the rows that are returned.",
    ),
    Equivalent(
        CHECK,
        'assert given == rows, f"The function changes its rows to {given}."',
        'assert given <= rows, f"The function changes its rows to {given}."',
        OFTEN_GREATER,
    ),
    Equivalent(CHECK, SAME_ROWS, SAME_ROWS.replace("==", "<="), OFTEN_GREATER),
    Equivalent(
        CHECK, SAME_ROWS, SAME_ROWS.replace("*training, *test", "*test, *training"), "They are sorted anyway."
    ),
    *(
        Equivalent(
            CHECK,
            'assert count == 0 or drawn == different, f"In 100 calls, it holds out nothing but {drawn}."',
            f'assert {condition}, f"In 100 calls, it holds out nothing but {{drawn}}."',
            reason,
        )
        for condition, reason in [
            ("count <= 0 or drawn == different", "`count` is never negative."),
            ("count == 0 or drawn >= different", "Sequences that don't exist were found by then."),
        ]
    ),
]

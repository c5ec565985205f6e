"""Mutants of the solutions that may survive (see docs/writing-checks.md), each with the reason."""

from coursekit.checks import Equivalent

ADAM = "optimizer = torch.optim.Adam(model.parameters(), lr=lr, betas=(0.9, 0.98))"
CLIP = "nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
NOT_REQUIRED = "The exercise recommends it, and says that it isn't required."
PAD_IS_0 = "PAD is 0, and so is the default."
NO_DROPOUT = "The model has no dropout, so its mode changes nothing."

EQUIVALENT = [
    Equivalent(
        "train",
        ADAM,
        ADAM.replace("lr=lr, ", ""),
        "The schedule sets the learning rate before the first step.",
    ),
    *(
        Equivalent("train", ADAM, ADAM.replace(", betas=(0.9, 0.98)", betas), NOT_REQUIRED)
        for betas in ("", ", betas=(0.98, 0.9)", ", betas=(0.0, 0.98)")
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
]

"""Other right answers to exercise 7, `training_step`."""

from gradekit.checks import Alternative

ALTERNATIVES = [
    Alternative(
        "zeroed_first",
        cell="training_step",
        edits=[
            ("    logits = model", "    optimizer.zero_grad(set_to_none=False)\n    logits = model"),
            ("    optimizer.zero_grad()\n    loss", "    loss"),
        ],
    ),
    Alternative(
        "model_zero_grad_at_the_end",
        cell="training_step",
        edits=[
            ("    optimizer.zero_grad()\n", ""),
            ("    optimizer.step()\n", "    optimizer.step()\n    model.zero_grad()\n"),
        ],
    ),
    Alternative(
        "class_axis_second",
        cell="training_step",
        edits=[
            (
                "F.cross_entropy(logits.flatten(0, 1), targets.flatten())",
                "nn.CrossEntropyLoss()(logits.transpose(1, 2), targets)",
            )
        ],
    ),
    Alternative(
        "last_token_not_fed",
        cell="training_step",
        edits=[("model(input_ids).logits[:, :-1]", "model(input_ids[:, :-1]).logits")],
    ),
    Alternative(
        "log_softmax_and_gather",
        cell="training_step",
        edits=[
            (
                "F.cross_entropy(logits.flatten(0, 1), targets.flatten())",
                "-logits.log_softmax(dim=-1).gather(2, targets.unsqueeze(2)).mean()",
            )
        ],
    ),
]

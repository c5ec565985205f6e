"""Other right answers to exercise 8, `training_step`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("zeroed_first", "    logits = model", "    optimizer.zero_grad(set_to_none=False)\n    logits = model")
right.edit("    optimizer.zero_grad()\n    loss", "    loss")

right("model_zero_grad_at_the_end", "    optimizer.zero_grad()\n", "")
right.edit("    optimizer.step()\n", "    optimizer.step()\n    model.zero_grad()\n")

right("class_axis_second", "F.cross_entropy(logits.flatten(0, 1), targets.flatten())")
right.to("nn.CrossEntropyLoss()(logits.transpose(1, 2), targets)")
right("last_token_not_fed", "model(input_ids).logits[:, :-1]", "model(input_ids[:, :-1]).logits")
right("log_softmax_and_gather", "F.cross_entropy(logits.flatten(0, 1), targets.flatten())")
right.to("-logits.log_softmax(dim=-1).gather(2, targets.unsqueeze(2)).mean()")

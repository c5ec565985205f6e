"""Other right answers to exercise 4, `train`."""

from gradekit.checks import Alternatives

SCHEDULE = "    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=lr, total_steps=steps)\n"
CLIP = "        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"

right = Alternatives()

right("constant_rate", SCHEDULE, "")
right.edit("        schedule.step()\n", "")
right.edit(CLIP, "")
right.edit(", betas=(0.9, 0.98)", "")

right("adamw", "torch.optim.Adam(", "torch.optim.AdamW(")

right("cleared_at_the_end", "        optimizer.zero_grad()\n", "")
right.edit("        schedule.step()\n", "        schedule.step()\n        optimizer.zero_grad()\n")

right("cleared_by_hand", "optimizer.zero_grad()", "model.zero_grad(set_to_none=False)")
right("own_warmup_and_decay", SCHEDULE)
right.to(
    "    schedule = torch.optim.lr_scheduler.LambdaLR(\n"
    "        optimizer, lambda step: min((step + 1) / (0.1 * steps + 1), 1 - step / (steps + 1))\n"
    "    )\n",
)

right("own_bar_and_names").source("""
def train(model, make_batch, steps, lr):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    history = []
    bar = tqdm(total=steps, file=sys.stdout)
    step = 0
    while step < steps:
        model.train()
        batch = make_batch()
        opt.zero_grad(set_to_none=True)
        out = model(*batch[:-1])
        loss = sequence_loss(out, batch[-1], pad_idx=PAD)
        loss.backward()
        opt.step()
        history.append(float(loss))
        step += 1
        bar.update()
        bar.set_postfix(loss=history[-1])
    bar.close()
    model.eval()
    return history
""")

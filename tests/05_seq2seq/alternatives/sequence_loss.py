"""Other right answers to exercise 3, `sequence_loss`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("classes_on_axis_1").source("""
def sequence_loss(logits, targets, pad_idx):
    return F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=pad_idx)
""")

right("loss_module").source("""
def sequence_loss(logits, targets, pad_idx):
    criterion = nn.CrossEntropyLoss(ignore_index=pad_idx)
    return criterion(logits.reshape(-1, logits.size(-1)), targets.reshape(-1))
""")

right("log_softmax_by_hand").source("""
def sequence_loss(logits, targets, pad_idx):
    log_probabilities = torch.log_softmax(logits, dim=-1)
    losses = -log_probabilities.gather(2, targets.unsqueeze(-1)).squeeze(-1)
    counts = (targets != pad_idx).to(losses.dtype)
    return (losses * counts).sum() / counts.sum()
""")

right("only_places_that_count").source("""
def sequence_loss(logits, targets, pad_idx):
    counts = targets != pad_idx
    return F.nll_loss(logits[counts].log_softmax(-1), targets[counts])
""")

right("logsumexp").source("""
def sequence_loss(logits, targets, pad_idx):
    losses = logits.logsumexp(dim=-1) - logits.gather(-1, targets[..., None])[..., 0]
    return losses[targets != pad_idx].mean()
""")

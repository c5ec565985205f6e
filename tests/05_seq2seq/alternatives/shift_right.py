"""Other right answers to exercise 2, `shift_right`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("copied_in").source("""
def shift_right(targets, bos_idx):
    shifted = torch.empty_like(targets)
    shifted[:, 0] = bos_idx
    shifted[:, 1:] = targets[:, :-1]
    return shifted
""")

right("rolled_then_bos").source("""
def shift_right(targets, bos_idx):
    shifted = targets.roll(1, dims=1)
    shifted[:, 0] = bos_idx
    return shifted
""")

right("padded_in_front").source("""
def shift_right(targets, bos_idx):
    return F.pad(targets, (1, -1), value=bos_idx)
""")

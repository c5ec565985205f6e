"""Other right answers to exercise 2, `shift_right`."""

from gradekit.checks import Alternative

ALTERNATIVES = [
    Alternative(
        "copied_in",
        cell="shift_right",
        source="""
def shift_right(targets, bos_idx):
    shifted = torch.empty_like(targets)
    shifted[:, 0] = bos_idx
    shifted[:, 1:] = targets[:, :-1]
    return shifted
""",
    ),
    Alternative(
        "rolled_then_bos",
        cell="shift_right",
        source="""
def shift_right(targets, bos_idx):
    shifted = targets.roll(1, dims=1)
    shifted[:, 0] = bos_idx
    return shifted
""",
    ),
    Alternative(
        "padded_in_front",
        cell="shift_right",
        source="""
def shift_right(targets, bos_idx):
    return F.pad(targets, (1, -1), value=bos_idx)
""",
    ),
]

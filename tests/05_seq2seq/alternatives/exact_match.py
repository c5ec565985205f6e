"""Other right answers to exercise 6, `exact_match`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("lists").source("""
def exact_match(predicted, expected):
    def stripped(row):
        row = row.tolist()
        while row and row[-1] == PAD:
            row.pop()
        return row

    hits = [stripped(p) == stripped(e) for p, e in zip(predicted, expected)]
    return sum(hits) / len(hits)
""")

right("rest_must_be_pads").source("""
def exact_match(predicted, expected):
    common = min(predicted.size(1), expected.size(1))
    same = (predicted[:, :common] != expected[:, :common]).sum(1) == 0
    same &= (predicted[:, common:] == PAD).all(1) & (expected[:, common:] == PAD).all(1)
    return same.double().mean().item()
""")

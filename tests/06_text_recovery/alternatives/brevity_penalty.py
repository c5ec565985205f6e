"""Other right answers to exercise 5, `brevity_penalty`."""

from gradekit.checks import Alternatives

right = Alternatives("bp_")

right("minimum").source("""
def brevity_penalty(candidate_length, reference_length):
    return min(1.0, math.exp(1 - reference_length / max(candidate_length, 1e-9)))
""")

right("power_of_e").source("""
def brevity_penalty(candidate_length, reference_length):
    c, r = candidate_length, reference_length
    if c < r:
        return math.e ** ((c - r) / c) if c else 0.0
    return 1.0
""")

right("tensor").source("""
def brevity_penalty(candidate_length, reference_length):
    quotient = torch.tensor(reference_length, dtype=torch.float64) / candidate_length
    return torch.exp(torch.clamp(1 - quotient, max=0)).nan_to_num(1.0).item()
""")

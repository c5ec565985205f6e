"""Other right answers to exercise 5, `brevity_penalty`."""

from gradekit.checks import Alternative

ALTERNATIVES = [
    Alternative(
        "bp_minimum",
        cell="brevity_penalty",
        source="""
def brevity_penalty(candidate_length, reference_length):
    return min(1.0, math.exp(1 - reference_length / max(candidate_length, 1e-9)))
""",
    ),
    Alternative(
        "bp_power_of_e",
        cell="brevity_penalty",
        source="""
def brevity_penalty(candidate_length, reference_length):
    c, r = candidate_length, reference_length
    if c < r:
        return math.e ** ((c - r) / c) if c else 0
    return 1
""",
    ),
    Alternative(
        "bp_tensor",
        cell="brevity_penalty",
        source="""
def brevity_penalty(candidate_length, reference_length):
    quotient = torch.tensor(reference_length, dtype=torch.float64) / candidate_length
    return torch.exp(torch.clamp(1 - quotient, max=0)).nan_to_num(1.0).item()
""",
    ),
]

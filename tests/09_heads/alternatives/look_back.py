"""Other right answers to exercise 4, `look_back`."""

from gradekit.checks import Alternatives

right = Alternatives("look_")

right("back_diag").source("""
def look_back(length, strength=100.0):
    k = torch.eye(length)
    q = torch.diag(torch.ones(length - 1), diagonal=-1)
    return q * strength * length**0.5, k
""")

right("back_keys_shifted").source("""
def look_back(length, strength=100.0):
    # the key of position s says which position comes after it; one column more, which nobody asks for
    width = length + 1
    q, k = torch.zeros(length, width), torch.zeros(length, width)
    for position in range(length):
        q[position, position] = 1.0
        k[position, position + 1] = strength * math.sqrt(width)
    return q, k
""")

right("back_shared_between_both").source("""
def look_back(length, strength=100.0):
    size = math.sqrt(strength * math.sqrt(length))
    k = size * torch.eye(length)
    q = torch.cat([torch.zeros(1, length), k[:-1]])
    return q, k
""")

"""Other right answers to exercise 3a, `padding_mask`."""

from gradekit.checks import Alternatives

right = Alternatives("padding_")

right("indexed").source("""
def make_padding_mask(ids, pad_idx=0):
    return ids[:, None, :].ne(pad_idx)
""")

right("loops").source("""
def make_padding_mask(ids, pad_idx=0):
    return torch.tensor([[[token != pad_idx for token in row]] for row in ids.tolist()])
""")

right("from_ones").source("""
def make_padding_mask(ids, pad_idx=0):
    mask = torch.ones(ids.shape[0], 1, ids.shape[1]).bool()
    mask[(ids == pad_idx).unsqueeze(-2)] = False
    return mask
""")

"""Wrong answers to 00_warm_up, written from the text of its exercises."""

from answers import Unseen


def wrong(name: str, cell: str, *edits: tuple[str, str], fault: str) -> Unseen:
    return Unseen(name, cell, edits, fault=fault)


DIFFERENCES = "a.unsqueeze(1) - b.unsqueeze(0)"
DIVIDED = "return powers / powers.sum(dim=dim, keepdim=True)"
MEAN = "return tokens.sum(dim=1) / count.clamp(min=1)"
OUTPUT = "return x * self.scale + self.shift"

UNSEEN = [
    wrong(
        "differences_pairs_of_width",
        "differences",
        (DIFFERENCES, "(a.unsqueeze(1) - b.unsqueeze(0)).flatten(1)"),
        fault="the second and the last axis are one",
    ),
    wrong(
        "differences_both_columns",
        "differences",
        (DIFFERENCES, "a.unsqueeze(1) - b.unsqueeze(1)"),
        fault="both get their axis at the same place",
    ),
    wrong(
        "softmax_sigmoid",
        "stable_softmax",
        (DIVIDED, "return torch.sigmoid(x)"),
        fault="a sigmoid of each number",
    ),
    wrong(
        "softmax_minimum_subtracted",
        "stable_softmax",
        ("x.amax(dim=dim, keepdim=True)", "x.amin(dim=dim, keepdim=True)"),
        fault="subtracts the smallest number",
    ),
    wrong(
        "softmax_one_more",
        "stable_softmax",
        (DIVIDED, "return powers / (1 + powers.sum(dim=dim, keepdim=True))"),
        fault="1 added to the sum",
    ),
    wrong(
        "mean_padding_at_the_end",
        "masked_mean",
        (
            MEAN,
            "n = count.squeeze(1).tolist()\n"
            "    return torch.stack([x[i, :k].mean(0) if k else 0 * x[i, 0] for i, k in enumerate(n)])",
        ),
        fault="takes the first tokens, as if padding were at the end",
    ),
    wrong(
        "mean_axis_kept",
        "masked_mean",
        (MEAN, "return tokens.sum(dim=1, keepdim=True) / count.clamp(min=1).unsqueeze(-1)"),
        fault="the shape is (batch, 1, d)",
    ),
    wrong(
        "affine_row_parameters",
        "affine",
        ("torch.ones(width)", "torch.ones(1, width)"),
        ("torch.zeros(width)", "torch.zeros(1, width)"),
        fault="parameters of shape (1, width)",
    ),
    wrong(
        "affine_one_plus_scale",
        "affine",
        (OUTPUT, "return x * (1 + self.scale) + self.shift"),
        ("torch.ones(width)", "torch.zeros(width)"),
        fault="multiplies by 1 + scale, which begins as zeros",
    ),
    wrong(
        "affine_shift_data",
        "affine",
        (OUTPUT, "return x * self.scale + self.shift.data"),
        fault="the shift gets no gradient",
    ),
]

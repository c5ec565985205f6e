"""Other right answers to exercise 3, `collate`."""

from gradekit.checks import Alternatives

right = Alternatives("col_")

right("pad_sequence").source("""
def collate(pairs, pad_idx=0, eos_idx=2):
    pad = torch.nn.utils.rnn.pad_sequence
    sources = [torch.tensor(source, dtype=torch.long) for source, _ in pairs]
    targets = [torch.tensor(target + [eos_idx], dtype=torch.long) for _, target in pairs]
    return pad(sources, batch_first=True, padding_value=pad_idx), pad(targets, True, pad_idx)
""")

right("write_into_full").source("""
def collate(pairs, pad_idx=0, eos_idx=2):
    source = torch.full((len(pairs), max(len(s) for s, _ in pairs)), pad_idx)
    target = torch.full((len(pairs), max(len(t) for _, t in pairs) + 1), pad_idx)
    for row, (s, t) in enumerate(pairs):
        source[row, : len(s)] = torch.tensor(s)
        target[row, : len(t)] = torch.tensor(t)
        target[row, len(t)] = eos_idx
    return source, target
""")

right("functional_pad").source("""
def collate(pairs, pad_idx=0, eos_idx=2):
    both = []
    for rows in ([list(s) for s, _ in pairs], [list(t) + [eos_idx] for _, t in pairs]):
        width = max(map(len, rows))
        tensors = [torch.tensor(row).long() for row in rows]
        pad = torch.nn.functional.pad
        both.append(torch.stack([pad(t, (0, width - len(t)), value=pad_idx) for t in tensors]))
    return both
""")

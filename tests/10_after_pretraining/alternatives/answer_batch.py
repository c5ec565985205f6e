"""Other right answers to exercise 1, `answer_batch`."""

from gradekit.checks import Alternatives

right = Alternatives("batch_")

right("pad_sequence").source("""
def answer_batch(pairs, pad):
    rows = [torch.tensor(prompt + answer) for prompt, answer in pairs]
    marks = [torch.tensor([False] * len(prompt) + [True] * len(answer)) for prompt, answer in pairs]
    ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad)
    return ids, nn.utils.rnn.pad_sequence(marks, batch_first=True, padding_value=False)
""")

right("filled_tensors").source("""
def answer_batch(pairs, pad):
    starts = torch.tensor([len(p) for p, _ in pairs])[:, None]
    stops = torch.tensor([len(p) + len(a) for p, a in pairs])[:, None]
    places = torch.arange(int(stops.max()))
    ids = torch.full((len(pairs), len(places)), pad, dtype=torch.int64)
    for i, (p, a) in enumerate(pairs):
        ids[i, : len(p)] = torch.tensor(p)
        ids[i, len(p) : len(p) + len(a)] = torch.tensor(a)
    return ids, (starts <= places) & (places < stops)
""")

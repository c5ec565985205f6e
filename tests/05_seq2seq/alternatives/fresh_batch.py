"""Other right answers to exercise 1, `fresh_batch`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("endless_loop_with_break").source("""
def fresh_batch(sample, answer, batch_size, held_out):
    pairs = []
    while True:
        source = list(sample())
        if tuple(source) in held_out:
            continue
        pairs.append((source, list(answer(source))))
        if len(pairs) == batch_size:
            break
    return pad([source for source, _ in pairs]), pad([target for _, target in pairs])
""")

right("row_by_row_with_an_inner_loop").source("""
def fresh_batch(sample, answer, batch_size, held_out):
    sources = []
    for _ in range(batch_size):
        source = sample()
        while tuple(source) in held_out:
            source = sample()
        sources.append(source)
    longest = max(len(source) for source in sources)
    ids = torch.full((batch_size, longest), PAD)
    for row, source in enumerate(sources):
        ids[row, : len(source)] = torch.tensor(source)
    return ids, pad([answer(source) for source in sources])
""")

right("padded_by_torch", "return pad(sources), pad(answers)")
right.to("""rows = [[torch.tensor(row) for row in rows] for rows in (sources, answers)]
    return tuple(nn.utils.rnn.pad_sequence(part, batch_first=True) for part in rows)""")

right("draws_more_than_it_needs").source("""
def fresh_batch(sample, answer, batch_size, held_out):
    drawn = []
    while len(drawn) < batch_size:
        drawn.extend(filter(lambda s: tuple(s) not in held_out, [sample() for _ in range(2 * batch_size)]))
    drawn = [list(s) for s in drawn[:batch_size]]
    return pad(drawn), pad([list(answer(list(s))) for s in drawn])
""")

right("replaces_the_held_out_rows").source("""
def fresh_batch(sample, answer, batch_size, held_out):
    rows = [sample() for _ in range(batch_size)]
    for i in range(batch_size):
        while tuple(rows[i]) in held_out:
            rows[i] = sample()
    return pad(rows), pad([answer(row) for row in rows])
""")

right("last_drawn_first").source("""
def fresh_batch(sample, answer, batch_size, held_out):
    pairs = []
    while len(pairs) < batch_size:
        source = sample()
        if tuple(source) not in held_out:
            pairs.insert(0, (source, answer(source)))
    return tuple(pad(list(column)) for column in zip(*pairs))
""")

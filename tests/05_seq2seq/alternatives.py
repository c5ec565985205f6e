"""Other right answers to this assignment. Each must get full marks."""

from coursekit.checks import Alternative

FRESH = [
    Alternative(
        "endless_loop_with_break",
        cell="fresh_batch",
        source="""
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
""",
    ),
    Alternative(
        "row_by_row_with_an_inner_loop",
        cell="fresh_batch",
        source="""
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
""",
    ),
    Alternative(
        "padded_by_torch",
        cell="fresh_batch",
        edits=[
            (
                "return pad(sources), pad(answers)",
                "rows = [[torch.tensor(row) for row in rows] for rows in (sources, answers)]\n"
                "    return tuple(nn.utils.rnn.pad_sequence(part, batch_first=True) for part in rows)",
            )
        ],
    ),
]

SHIFT = [
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

LOSS = [
    Alternative(
        "classes_on_axis_1",
        cell="sequence_loss",
        source="""
def sequence_loss(logits, targets, pad_idx):
    return F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=pad_idx)
""",
    ),
    Alternative(
        "loss_module",
        cell="sequence_loss",
        source="""
def sequence_loss(logits, targets, pad_idx):
    criterion = nn.CrossEntropyLoss(ignore_index=pad_idx)
    return criterion(logits.reshape(-1, logits.size(-1)), targets.reshape(-1))
""",
    ),
    Alternative(
        "log_softmax_by_hand",
        cell="sequence_loss",
        source="""
def sequence_loss(logits, targets, pad_idx):
    log_probabilities = torch.log_softmax(logits, dim=-1)
    losses = -log_probabilities.gather(2, targets.unsqueeze(-1)).squeeze(-1)
    counts = (targets != pad_idx).to(losses.dtype)
    return (losses * counts).sum() / counts.sum()
""",
    ),
    Alternative(
        "only_places_that_count",
        cell="sequence_loss",
        source="""
def sequence_loss(logits, targets, pad_idx):
    counts = targets != pad_idx
    return F.nll_loss(logits[counts].log_softmax(-1), targets[counts])
""",
    ),
    Alternative(
        "logsumexp",
        cell="sequence_loss",
        source="""
def sequence_loss(logits, targets, pad_idx):
    losses = logits.logsumexp(dim=-1) - logits.gather(-1, targets[..., None])[..., 0]
    return losses[targets != pad_idx].mean()
""",
    ),
]

SCHEDULE = "    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=lr, total_steps=steps)\n"
CLIP = "        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
TRAIN = [
    Alternative(
        "constant_rate",
        cell="train",
        edits=[(SCHEDULE, ""), ("        schedule.step()\n", ""), (CLIP, ""), (", betas=(0.9, 0.98)", "")],
    ),
    Alternative("adamw", cell="train", edits=[("torch.optim.Adam(", "torch.optim.AdamW(")]),
    Alternative(
        "cleared_at_the_end",
        cell="train",
        edits=[
            ("        optimizer.zero_grad()\n", ""),
            ("        schedule.step()\n", "        schedule.step()\n        optimizer.zero_grad()\n"),
        ],
    ),
    Alternative(
        "cleared_by_hand",
        cell="train",
        edits=[("optimizer.zero_grad()", "model.zero_grad(set_to_none=False)")],
    ),
    Alternative(
        "own_warmup_and_decay",
        cell="train",
        edits=[
            (
                SCHEDULE,
                "    schedule = torch.optim.lr_scheduler.LambdaLR(\n"
                "        optimizer, lambda step: min((step + 1) / (0.1 * steps + 1), 1 - step / (steps + 1))\n"
                "    )\n",
            )
        ],
    ),
    Alternative(
        "own_bar_and_names",
        cell="train",
        source="""
def train(model, make_batch, steps, lr):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    history = []
    bar = tqdm(total=steps, file=sys.stdout)
    step = 0
    while step < steps:
        model.train()
        batch = make_batch()
        opt.zero_grad(set_to_none=True)
        out = model(*batch[:-1])
        loss = sequence_loss(out, batch[-1], pad_idx=PAD)
        loss.backward()
        opt.step()
        history.append(float(loss))
        step += 1
        bar.update()
        bar.set_postfix(loss=history[-1])
    bar.close()
    model.eval()
    return history
""",
    ),
]

DECODE = [
    Alternative(
        "ended_read_off_the_tokens",
        cell="greedy_decode",
        source="""
@torch.no_grad()
def greedy_decode(model, source, max_len, bos_idx, eos_idx):
    model.eval()
    memory, mask = model.encode(source)
    written = torch.full((source.shape[0], 1), bos_idx, dtype=torch.long)
    while written.shape[1] <= max_len and not (written[:, 1:] == eos_idx).any(dim=1).all():
        following = model.decode(written, memory, mask)[:, -1, :].softmax(-1).argmax(-1)
        ended = (written[:, 1:] == eos_idx).any(dim=1)
        following[ended] = PAD
        written = torch.cat((written, following[:, None]), dim=-1)
    return written[:, 1:]
""",
    ),
    Alternative(
        "pads_put_in_afterwards",
        cell="greedy_decode",
        source="""
def greedy_decode(model, source, max_len, bos_idx, eos_idx):
    model.train(False)
    with torch.inference_mode():
        encoded = model.encode(source)
        columns = [torch.full((len(source),), bos_idx)]
        done = set()
        for _ in range(max_len):
            logits = model.decode(torch.stack(columns, dim=1), *encoded)
            columns.append(torch.tensor([
                PAD if row in done else int(logits[row, -1].argmax()) for row in range(len(source))
            ]))
            done |= {row for row in range(len(source)) if columns[-1][row] == eos_idx}
            if len(done) == len(source):
                break
    return torch.stack(columns[1:], dim=1).clone()
""",
    ),
    Alternative(
        "written_into_a_table",
        cell="greedy_decode",
        source="""
def greedy_decode(model, source, max_len, bos_idx, eos_idx):
    model.eval()
    with torch.no_grad():
        memory, memory_mask = model.encode(source)
        tokens = source.new_full((len(source), max_len + 1), PAD)
        tokens[:, 0] = bos_idx
        going = torch.ones(len(source), dtype=torch.bool)
        length = 0
        while length < max_len and going.any():
            length += 1
            best = model.decode(tokens[:, :length], memory, memory_mask)[:, length - 1].topk(1).indices[:, 0]
            tokens[going, length] = best[going]
            going &= best != eos_idx
    return tokens[:, 1 : length + 1]
""",
    ),
    Alternative(
        "mode_given_back",
        cell="greedy_decode",
        edits=[
            ("    model.eval()\n", "    before = model.training\n    model.eval()\n"),
            ("    return tokens[:, 1:]", "    model.train(before)\n    return tokens[:, 1:]"),
        ],
    ),
]

EXACT = [
    Alternative(
        "lists",
        cell="exact_match",
        source="""
def exact_match(predicted, expected):
    def stripped(row):
        row = row.tolist()
        while row and row[-1] == PAD:
            row.pop()
        return row

    hits = [stripped(p) == stripped(e) for p, e in zip(predicted, expected)]
    return sum(hits) / len(hits)
""",
    ),
    Alternative(
        "rest_must_be_pads",
        cell="exact_match",
        source="""
def exact_match(predicted, expected):
    common = min(predicted.size(1), expected.size(1))
    same = (predicted[:, :common] != expected[:, :common]).sum(1) == 0
    same &= (predicted[:, common:] == PAD).all(1) & (expected[:, common:] == PAD).all(1)
    return same.double().mean().item()
""",
    ),
]

WORDS = [
    Alternative(
        "counters_and_loops",
        cell="vocabulary",
        source="""
def build_vocabulary(sentences):
    words = list(SPECIALS)
    for sentence in sentences:
        words += sentence.split()
    return {word: i for i, word in enumerate(dict.fromkeys(words))}


def to_ids(sentence, vocabulary):
    ids = []
    for word in sentence.split(" "):
        try:
            ids.append(vocabulary[word])
        except KeyError:
            ids.append(vocabulary["<unk>"])
    return ids


def to_text(ids, vocabulary):
    ids = list(ids)
    if EOS in ids:
        ids = ids[: ids.index(EOS)]
    words = list(vocabulary)
    return " ".join(words[int(i)] for i in ids if i not in (PAD, BOS))
""",
    ),
    Alternative(
        "setdefault",
        cell="vocabulary",
        edits=[
            (
                "            if word not in vocabulary:\n                vocabulary[word] = len(vocabulary)\n",
                "            vocabulary.setdefault(word, len(vocabulary))\n",
            ),
            ("vocabulary.get(word, UNK)", "vocabulary[word] if word in vocabulary else UNK"),
        ],
    ),
]

SORTING = [
    Alternative(
        "sequential",
        cell="sorting_transformer",
        source="""
class SortingTransformer(nn.Module):
    def __init__(self, vocab_size, embed_dim, seq_length, num_layers=2):
        super().__init__()
        self.output = nn.Linear(embed_dim, vocab_size)
        self.norm = nn.LayerNorm(embed_dim)
        layers = [EncoderLayer(embed_dim, 4, embed_dim * 2, 0.0, True) for _ in range(num_layers)]
        self.layers = nn.Sequential(*layers)
        self.embedding = IntegerSequenceEmbedding(vocab_size, embed_dim, seq_length)

    def forward(self, ids):
        return self.output(self.norm(self.layers(self.embedding(ids))))
""",
    ),
    Alternative(
        "mask_that_hides_nothing",
        cell="sorting_transformer",
        edits=[("x = layer(x)", "x = layer(x, torch.ones(1, 1, ids.shape[1], dtype=torch.bool))")],
    ),
    Alternative(
        "functional_norm",
        cell="sorting_transformer",
        edits=[
            (
                "x = self.norm(x)",
                "x = F.layer_norm(x, x.shape[-1:], self.norm.weight, self.norm.bias)",
            )
        ],
    ),
]

CHECKING = [
    Alternative(
        "counted_copies",
        cell="check_split",
        source="""
from collections import Counter


def check_split(function):
    rows = [[7, 3], [3, 7], [9], [9], [9, 9], [3, 7], [3, 7], [9], [20, 8, 4, 5], [9, 9]]
    copies = Counter(map(tuple, rows))
    for count in [0, 1, 3, 5]:
        times = Counter()
        for call in range(300):
            mine = [row[:] for row in rows]
            training, test = (Counter(map(tuple, part)) for part in function(mine, count))
            assert mine == rows, "rows were changed"
            assert training + test == copies, f"rows were lost, repeated or altered: {training}, {test}"
            assert not training & test, f"on both sides: {training & test}"
            assert len(test) == count, f"{len(test)} sequences held out in place of {count}"
            times.update(test.keys())
        for sequence in copies:
            assert not count or times[sequence], f"{sequence} is never held out"
""",
    ),
    Alternative(
        "helpers_and_other_exceptions",
        cell="check_split",
        source="""
def judge(rows, count, training, test):
    if any(row in training for row in test):
        raise ValueError("a sequence is in both")
    for row in training + test:
        if row not in rows:
            raise ValueError("a new row")
    for row in rows:
        if rows.count(row) != training.count(row) + test.count(row):
            raise ValueError("lost or repeated")
    if len({str(row) for row in test}) != count:
        raise ValueError("a wrong number of sequences")
    return {str(row) for row in test}


def check_split(function):
    rows = [[4, 5, 6], [6, 5, 4], [8], [8], [4, 5, 6], [6, 5, 4], [3, 3]]
    text = str(rows)
    for count in (0, 1, 2, 3, 4):
        seen = set()
        for i in range(400):
            passed = [[*row] for row in rows]
            training, test = function(passed, count)
            if str(passed) != text:
                raise ValueError("rows were changed")
            seen |= judge(rows, count, training, test)
        if count and len(seen) != 4:
            raise AssertionError("not every sequence is drawn")
""",
    ),
    Alternative(
        "many_sequences_few_calls",
        cell="check_split",
        source="""
def check_split(function):
    different = [[i, j] for i in range(3, 8) for j in range(3, 8)] + [[4], [4, 4, 4, 4]]
    rows = different + different[::2] + different[1::3]
    before = [list(row) for row in rows]
    for count in (13, 0, len(different)):
        results = []
        for _ in range(40):
            training, test = function(rows, count)
            assert rows == before
            assert sorted(training + test) == sorted(before)
            assert all(row not in test for row in training)
            results.append({tuple(row) for row in test})
            assert len(results[-1]) == count
        if count:
            assert set.union(*results) == {tuple(row) for row in different}
""",
    ),
]

ALTERNATIVES = [*FRESH, *SHIFT, *LOSS, *TRAIN, *DECODE, *EXACT, *WORDS, *SORTING, *CHECKING]

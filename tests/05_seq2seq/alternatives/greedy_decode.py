"""Other right answers to exercise 5, `greedy_decode`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("ended_read_off_the_tokens").source("""
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
""")

right("pads_put_in_afterwards").source("""
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
""")

right("written_into_a_table").source("""
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
""")

right("decodes_only_rows_that_go_on").source("""
def greedy_decode(model, source, max_len, bos_idx, eos_idx):
    # decodes only the rows that have not ended
    model.eval()
    with torch.no_grad():
        memory, mask = model.encode(source)
        out = torch.full((len(source), max_len), PAD)
        live, width = torch.arange(len(source)), 0
        while len(live) and width < max_len:
            so_far = torch.cat([torch.full((len(live), 1), bos_idx), out[live, :width]], 1)
            best = model.decode(so_far, memory[live], mask[live])[:, -1].max(-1).indices
            out[live, width] = best
            live = live[best != eos_idx]
            width += 1
    return out[:, :width]
""")

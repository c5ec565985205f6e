"""Right and wrong readers, on which the students' tests are tried: they read a text in pieces, and remember.

None of them is the answer to an exercise.
"""

from gradekit.checks import Implementation, Implementations

RIGHT = [
    # adds up rotated tokens, and keeps all of them
    Implementation("""
import torch

def new_reader():
    memory = []

    def read(x):
        old = sum(piece.shape[1] for piece in memory)
        memory.append(x.clone())
        text = torch.cat(memory, dim=1)
        turns = torch.arange(text.shape[1])[:, None]
        return (text * turns.cos()).cumsum(dim=1)[:, old:]

    return read
"""),
    # the mean so far: keeps a sum and a number
    Implementation("""
import torch

class Mean:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def __call__(self, x):
        outputs = []
        for token in x.double().unbind(dim=1):
            self.total, self.count = self.total + token, self.count + 1
            outputs.append((self.total / self.count).float())
        return torch.stack(outputs, dim=1)

def new_reader():
    return Mean()
"""),
    # each token and the two before it: keeps two tokens
    Implementation("""
import torch

def new_reader():
    last = None

    def read(x):
        nonlocal last
        before = torch.zeros_like(x[:, :1]).repeat(1, 2, 1) if last is None else last
        text = torch.cat([before, x], dim=1)
        last = text[:, -2:].clone()
        return text[:, 2:] - text[:, 1:-1] / 2 + text[:, :-2] / 4

    return read
"""),
    # the largest number so far, one for each token
    Implementation("""
import torch

def new_reader():
    largest = []

    def read(x):
        found = torch.cat([*largest, x.amax(dim=-1, keepdim=True)], dim=1).cummax(dim=1).values
        largest[:] = [found[:, -1:].clone()]
        return found[:, -x.shape[1]:]

    return read
"""),
    # a sum that rounds differently for each way to cut
    Implementation("""
import torch

def new_reader():
    total = [0.0]

    def read(x):
        sums = total[0] + x.sin().cumsum(dim=1)
        total[0] = (sums[:, -1:] * 20000).round() / 20000
        return sums

    return read
"""),
    # each token and half of the one before, of which 16 bits are kept
    Implementation("""
import torch

def new_reader():
    last = None

    def read(x):
        nonlocal last
        text = torch.cat([torch.zeros_like(x[:, :1]) if last is None else last, x], dim=1)
        digits, power = torch.frexp(text[:, -1:])
        last = torch.ldexp((digits * 2**16).round() / 2**16, power)
        return text[:, 1:] + text[:, :-1] / 2

    return read
"""),
    # no memory, but the sequences of the batch influence each other
    Implementation("def new_reader():\n    return lambda x: x + x.mean(dim=0)\n"),
    # counts tokens, whatever they are
    Implementation("""
import torch

def new_reader():
    count = 0

    def read(x):
        nonlocal count
        start, count = count, count + x.shape[1]
        return torch.arange(start, count).float()[None, :, None].repeat(len(x), 1, 1)

    return read
"""),
]

FRAME = """
import torch

def new_reader():
    memory = []

    def read(x):
        old = sum(piece.shape[1] for piece in memory)
        memory.append(x.clone())
        text = torch.cat(memory, dim=1)
        turns = torch.arange(text.shape[1])
        coded = text * turns.cos()[:, None]
        return coded.cumsum(dim=1)[:, old:]

    return read
"""

REMEMBER = "memory.append(x.clone())"
TURNS = "turns = torch.arange(text.shape[1])"
RETURN = "return coded.cumsum(dim=1)[:, old:]"
OWN_MEMORY = "def new_reader():\n    memory = []\n"
OWN_TEXT = FRAME[: FRAME.index(REMEMBER)].lstrip() + REMEMBER
SHARED_TEXT = """import torch

shared = {}

def new_reader():
    pieces = 0

    def read(x):
        nonlocal pieces
        memory = [shared[number] for number in range(pieces)]
        old = sum(piece.shape[1] for piece in memory)
        memory.append(x.clone())
        shared[pieces] = memory[-1]
        pieces += 1"""
OF_THE_KEPT = "        return (coded * kept[:, None]).cumsum(dim=1)[:, old:]"
SOME_PIECES = f"""kept = torch.cat([torch.full((piece.shape[1],), {{}}) for number, piece in enumerate(memory)])
{OF_THE_KEPT}"""

wrong = Implementations(FRAME)

wrong.about("test_forgetting")
wrong("reads each piece as if it were the first", RETURN)
wrong.to("return (x * turns.cos()[: x.shape[1], None]).cumsum(dim=1)")
wrong("counts the tokens read before, but forgets the tokens themselves", RETURN)
wrong.to("return coded[:, old:].cumsum(dim=1)")

wrong.about("test_positions")
wrong("starts counting positions at 0 in each piece", TURNS)
wrong.to("turns = torch.cat([torch.arange(piece.shape[1]) for piece in memory])")
wrong("counts pieces in place of tokens", TURNS)
wrong.to("turns = torch.cat([torch.arange(piece.shape[1]) + number for number, piece in enumerate(memory)])")
wrong("is off by one position after the first piece", TURNS)
wrong.to("""turns = torch.arange(text.shape[1])
        turns[memory[0].shape[1] :] += 1""")

wrong("takes all earlier pieces to be as long as the one that it reads", TURNS)
wrong.to("""turns = torch.arange(text.shape[1])
        turns[old:] += (len(memory) - 1) * x.shape[1] - old""")
wrong("counts positions only up to 8 in all pieces but the first", TURNS)
wrong.to("turns = torch.arange(text.shape[1]).clamp(max=8 if old else None, min=0)")

wrong.about("test_pieces_of_several_tokens")
wrong("lets the tokens of a later piece see all of this piece", RETURN)
wrong.to("""sums = coded.cumsum(dim=1)[:, old:]
        return sums[:, -1:].expand_as(sums) if old else sums""")
wrong("lets the tokens of a piece see the earlier pieces, but not each other", RETURN)
wrong.to("return coded[:, old:] + coded[:, :old].sum(dim=1, keepdim=True)")
wrong("remembers only the last token of each piece", RETURN)
wrong.to("""kept = torch.cat([torch.arange(piece.shape[1]) == piece.shape[1] - 1 for piece in memory])
        kept[old:] = True
        return (coded * kept[:, None]).cumsum(dim=1)[:, old:]""")
wrong("remembers only the first token of each piece but the first piece", RETURN)
wrong.to("""kept = torch.cat([torch.arange(piece.shape[1]) == 0 for piece in memory])
        kept[: memory[0].shape[1]] = True
        kept[old:] = True
        return (coded * kept[:, None]).cumsum(dim=1)[:, old:]""")

wrong("doubles its outputs from the third token on, in all pieces but the first", RETURN)
wrong.to("""sums = coded.cumsum(dim=1)[:, old:]
        sums[:, 2:] *= 1 + (old > 0)
        return sums""")

wrong.about("test_short_memory")
wrong("remembers only the piece before", RETURN, SOME_PIECES.format("number >= len(memory) - 2"))
wrong("remembers only the first piece", RETURN, SOME_PIECES.format("number in (0, len(memory) - 1)"))
wrong(
    "remembers at most eight tokens", RETURN, "kept = torch.arange(text.shape[1]) >= old - 8\n" + OF_THE_KEPT
)
wrong("remembers at most five pieces", RETURN, SOME_PIECES.format("number >= len(memory) - 6"))

wrong("remembers at most seven pieces", RETURN, SOME_PIECES.format("number >= len(memory) - 8"))

wrong("remembers the first token of each piece in place of all its tokens", RETURN)
wrong.to("""firsts = [piece[:, :1].expand_as(piece) for piece in memory[:-1]]
        coded = torch.cat([*firsts, x], dim=1) * turns.cos()[:, None]
        return coded.cumsum(dim=1)[:, old:]""")

wrong.about("test_mixing")
wrong("goes on with the text of the reader before", OWN_MEMORY, "memory = []\n\ndef new_reader():\n")
wrong("has one memory for all readers, which each new one clears", OWN_MEMORY)
wrong.to("memory = []\n\ndef new_reader():\n    memory.clear()\n")
wrong("has one memory for all readers, in which the texts overwrite each other", OWN_TEXT, SHARED_TEXT)
wrong("remembers the first sequence of the batch for all of them", RETURN)
wrong.to("coded[:, :old] = coded[:1, :old]\n        " + RETURN)

wrong("exchanges what it remembers of the sequences of the batch", RETURN)
wrong.to("coded[:, :old] = coded[:, :old].flip(0)\n        " + RETURN)

wrong.about("test_decay")
wrong("halves what it remembers in each call", REMEMBER)
wrong.to("memory[:] = [piece / 2 for piece in memory]\n        " + REMEMBER)
wrong("mixes up a little more of what it remembers in each call", REMEMBER)
wrong.to("""memory[:] = [piece * 0.9 + piece.roll(1, dims=-1) * 0.1 for piece in memory]
        memory.append(x.clone())""")
wrong("remembers each piece twice", RETURN)
wrong.to("return coded.cumsum(dim=1)[:, old:] + coded[:, :old].sum(dim=1, keepdim=True)")
wrong("is off by 0.03 after the first piece", RETURN)
wrong.to("return coded.cumsum(dim=1)[:, old:] + 0.03 * (old > 0)")
wrong("remembers numbers with one decimal", REMEMBER)
wrong.to("memory[:] = [(piece * 10).round() / 10 for piece in memory]\n        " + REMEMBER)
wrong("is off by 0.03 after the first piece, with outputs near 100", RETURN)
wrong.to("return 100 + coded.cumsum(dim=1)[:, old:] + 0.03 * (old > 0)")
wrong("is off by 0.05 in one number of each piece but the first", RETURN)
wrong.to("""sums = coded.cumsum(dim=1)[:, old:]
        sums[-1, -1, -1] += 0.05 * (old > 0)
        return sums""")

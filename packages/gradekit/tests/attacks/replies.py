"""Attacks by what the agent in the kernel replies."""

from .attack import NBGRADER, WRONG, Attack, any_of, connects, takes, writes
from .forging import AGENT, GRADED, forge

_ECHO = """
def echo(self, buffers):
    values = [v for request in messages.decode(buffers, lambda item: None) for v in request.get("args", [])]
    return messages.encode({"ok": True, "value": values[-1] if values else None, "changed": []})
agent.Agent.answer = echo
"""

_OK = """
agent.Agent.answer = lambda self, buffers: messages.encode(
    {"ok": True, "passed": True, "points": 10, "earned": 10, "outcome": "passed", "value": True, "changed": []})
"""

_DOUBLED = """
def answer(self, buffers):
    return [b'{"$": "dict", "items": [["ok", true], ["value", VALUE], ["changed", []]]}', TENSORS]
agent.Agent.answer = answer
"""


def replying(value: str, tensors: str = "__import__('safetensors.torch').torch.save({})") -> str:
    return AGENT + _DOUBLED.replace("VALUE", value).replace("TENSORS", tensors) + WRONG


_PICKLE = """
class Trap:
    def __reduce__(self):
        import socket
        return (exec, ("import socket; s = socket.create_connection(('127.0.0.1', @PORT@)); s.sendall(b'@MARK@\\\\n')",))
import io, pickle
stream = io.BytesIO()
torch.save(Trap(), stream)
TRAPS = [pickle.dumps(Trap()), stream.getvalue()]
"""

_LONG = """
text = "x" * (50 << 20)
agent.Agent.answer = lambda self, buffers: messages.encode(
    {"ok": False, "at": 0, "error": {"type": text[:1 << 20], "message": text, "lines": [[2, "    return 3 * x"]]}})
"""

_WIDE = """
def nest(depth):
    return [nest(depth - 1) for _ in range(4)] if depth else 0
def double(x): return nest(11)
"""

_LYING = '(9).to_bytes(8, "little") + b\'{"0":{}}\''

_LIES = """(lambda head: len(head).to_bytes(8, "little") + head + bytes(8))(
        b'{"0":{"dtype":"F32","shape":[1000000,1000000],"data_offsets":[0,8]}}')"""

_HEADER = '(2**62).to_bytes(8, "little") + b"{}"'

_TENSOR = '{"$": "tensor", "key": "0"}'

_BILLION_ROWS = (
    '{"$": "packed", "library": "pandas", "data": {"$": "dict", "items": [["kind", "frame"], ["columns", INDEX],'
    ' ["index", INDEX], ["data", []]]}}'
).replace("INDEX", '{"$": "dict", "items": [["names", [null]], ["range", [0, 1000000000, 1]]]}')


_BOUND = any_of(GRADED, takes(grader=1500, seconds=120))

_FAILING = """
def answer(self, buffers):
    return [b'{"$": "dict", "items": [["ok", false], ["at", AT], ["error", {"$": "dict", "items": [["type", TYPE],'
            b' ["message", "no"], ["lines", [' + LINES + b']]]}]]}', __import__('safetensors.torch').torch.save({})]
agent.Agent.answer = answer
"""


def failing(lines: str, at: str = "0", kind: str = '"ValueError"') -> str:
    """The agent says that the code raised, with these bytes as lines."""
    source = _FAILING.replace("LINES", lines).replace("AT", at).replace("TYPE", kind)
    return AGENT + source + WRONG


_MANY_TENSORS = """(lambda head: len(head).to_bytes(8, "little") + head + bytes(4 * 50000))(
        __import__("json").dumps({str(n): {"dtype": "F32", "shape": [1], "data_offsets": [4 * n, 4 * n + 4]}
                                  for n in range(50000)}).encode())"""

_LONG_HEADER = """(lambda head: len(head).to_bytes(8, "little") + head)(b'{"__metadata__": {"x": "' + b"y" * (60 << 20) + b'"}}')"""

_ENDLESS = """(lambda head: len(head).to_bytes(8, "little") + head)(
        b'{"0":{"dtype":"F32","shape":[0,4611686018427387904],"data_offsets":[0,0]}}')"""

_ROW_AND_COLUMN = """
calls = 0
def double(x):
    global calls
    calls += 1
    return torch.zeros((1, 60_000) if calls % 2 else (60_000, 1), dtype=torch.uint8)
"""

_LARGE_FRAME = """
import numpy as np, pandas as pd
def double(x): return pd.DataFrame(np.zeros((10_000, 999), "int8"))
"""

_ODD_TYPE = """
def double(x):
    return (2 * x).to(torch.{})
"""

_NOT_A_NUMBER = """
def double(x):
    return x * float("nan")
"""

_NOTHING = """
def double(x):
    return torch.zeros_like(x)
"""


def _pickles() -> list[Attack]:
    return [
        Attack(
            f"sends-a-pickle-{number}",
            aim,
            any_of(connects, GRADED),
            AGENT
            + _PICKLE
            + f"agent.Agent.answer = lambda self, buffers: [{first}, {second}]\n"
            + WRONG,
            unfit=(NBGRADER,),
        )
        for number, (aim, first, second) in enumerate(
            [
                ("A pickle in place of the reply's tree runs code in the grader.", "TRAPS[0]", "b''"),
                ("Bytes of torch.save in place of the tensors run code in the grader.",
                 "b'" + '{"$": "tensor", "key": "0"}' + "'", "TRAPS[1]"),
            ],
            1,
        )
    ]  # fmt: skip


ATTACKS = [
    forge(
        "has-the-agent-echo-its-inputs",
        "Make the agent answer with what it was asked about.",
        AGENT + _ECHO + WRONG,
    ),
    forge(
        "has-the-agent-say-ok-to-everything", "Make the agent claim that all is passed.", AGENT + _OK + WRONG
    ),
    forge("replies-with-another-type", "Reply a string where a tensor is asked for.", replying('"2 * x"')),
    forge(
        "replies-with-a-number-beyond-float",
        "Break the comparison by an integer of 400 digits.",
        "def double(x): return 10 ** 400",
    ),
    forge(
        "replies-with-a-forged-handle",
        "Reply a handle for an object that there is not.",
        replying('{"$": "module", "id": 99, "type": "<b>"}'),
    ),
    forge(
        "replies-with-a-lying-tensor-header",
        "A safetensors header that claims 4 TB.",
        replying(_TENSOR, _LIES),
        any_of(GRADED, takes(grader=1500)),
    ),
    forge(
        "replies-with-a-header-of-an-impossible-length",
        "A safetensors header of 2^62 bytes.",
        replying(_TENSOR, _HEADER),
    ),
    forge(
        "replies-with-an-empty-tensor-entry",
        "A safetensors entry without type and place.",
        replying(_TENSOR, _LYING),
    ),
    forge(
        "replies-with-a-deep-tree",
        "A JSON tree so deep that the grader's parser gives up.",
        replying("0").replace("[b'{", "[b'[' * 200000 + b'{"),
    ),
    forge(
        "replies-with-an-error-of-50-MB",
        "Fill the feedback with the text of an error.",
        AGENT + _LONG + WRONG,
        writes(5),
    ),
    forge(
        "replies-with-a-million-lines",
        "Have the grader look up a million lines of an error in every cell.",
        failing("b'[2, \"    return 3 * x\"],' * 1_000_000 + b'[1, \"\"]'"),
        _BOUND,
    ),
    forge(
        "replies-with-many-short-lines",
        "As many lines of an error as a reply of 4 MB can hold.",
        failing("b'[1,\"\"],' * 500_000 + b'[1,\"\"]'"),
        _BOUND,
    ),
    forge(
        "replies-with-lines-of-wrong-types",
        "Lines whose number is a dict, and whose text is a number.",
        failing('b\'[{"$": "tuple", "items": []}, 3], 7, null\''),
    ),
    forge(
        "replies-with-an-error-at-no-request",
        "An error that belongs to request -1, of a type that is a list.",
        failing("b'[1, \"x\"]'", at="-1", kind='["ValueError"]'),
    ),
    forge(
        "replies-with-tuples-in-tuples",
        "A tree of thousands of tuples in each other, within the bounds of size.",
        replying("0").replace("return [b'", 'return [b\'{"$":"tuple","items":[\' * 20000 + b\''),
        _BOUND,
    ),
    forge(
        "replies-with-a-million-empty-lists",
        "Lists that take twenty times the memory of their text.",
        failing("b'[],' * 1_300_000 + b'[]'"),
        _BOUND,
    ),
    forge(
        "replies-with-50000-tensors",
        "A list of tensors that takes long to read.",
        replying("0", _MANY_TENSORS),
        _BOUND,
    ),
    forge(
        "replies-with-a-header-of-60-MB",
        "Notes of any length in front of the tensors.",
        replying("0", _LONG_HEADER),
        _BOUND,
    ),
    forge(
        "replies-with-an-endless-empty-tensor",
        "A tensor without entries that is 2^62 wide.",
        replying(_TENSOR, _ENDLESS),
        _BOUND,
    ),
    forge(
        "replies-with-handles-out-of-range",
        "Handles with a number beyond all objects, or of a kind that there is not.",
        replying('{"$": "module", "id": 99999999999999999999, "type": "Net"}'),
    ),
    forge(
        "replies-with-an-unknown-kind",
        "A kind of value that only the grader sends.",
        replying('{"$": "handle", "id": 0}'),
    ),
    forge(
        "returns-a-row-then-a-column",
        "Two outputs of 60 kB whose sum takes 3.6 GB.",
        _ROW_AND_COLUMN,
        _BOUND,
    ),
    forge(
        "returns-numbers-of-8-bits",
        "A type of numbers that few operations know.",
        _ODD_TYPE.format("float8_e5m2"),
    ),
    forge("returns-complex-numbers", "A type that can't be ordered.", _ODD_TYPE.format("complex64")),
    forge("returns-nothing-but-nan", "NaN is compared with NaN.", _NOT_A_NUMBER),
    forge("returns-nothing-but-zeros", "Zeros are compared with zeros.", _NOTHING),
    forge(
        "replies-with-a-frame-of-a-billion-rows",
        "A DataFrame that only declares its rows and columns.",
        replying(_BILLION_ROWS),
        _BOUND,
    ),
    forge(
        "returns-a-frame-of-ten-million-entries",
        "As large a DataFrame as can be sent, in as many columns.",
        _LARGE_FRAME,
        _BOUND,
    ),
    forge(
        "replies-with-a-figure-of-a-million-lines",
        "Have the grader look at a million lines of a plot.",
        replying('{"$": "packed", "library": "matplotlib", "data": [\' + b"{}," * 1_000_000 + b\'0]}'),
        _BOUND,
    ),
    forge(
        "replies-with-a-wide-tree",
        "Fill the feedback with the description of a nested list.",
        _WIDE,
        any_of(GRADED, writes(5)),
    ),
]

ATTACKS += _pickles()

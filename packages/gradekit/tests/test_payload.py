"""What stubs and implementations send each other: values arrive as they were, forged messages are refused, and it costs little."""

import sys

import numpy as np
import pytest

import gradekit.codecs  # noqa: F401  # adds the packers
from gradekit.inside import payload
from gradekit.inside.implementation import LoadedImplementation
from gradekit.inside.messages import MAX_TEXT, MessageError
from gradekit.inside.stub import Stub

torch = pytest.importorskip("torch", reason="torch is not installed")

TENSORS = [
    torch.tensor(1.5),
    torch.ones(2, 0, 3),
    torch.arange(6).reshape(2, 3).T,
    torch.tensor([True, False]),
    torch.ones(2, dtype=torch.bfloat16),
    torch.tensor([1 + 2j]).conj(),
    torch.tensor([1 + 2j]).conj().imag,
    torch.nn.Parameter(torch.tensor([-0.0, float("nan")])),
    torch.zeros(3).expand(2, 3),
]
ARRAYS = [
    np.array(3),
    np.empty((0, 3)),
    np.arange(3)[::-1],
    np.array([True]),
    np.array([1 + 2j]),
    np.array(["a", "bc"]),
    np.array(["2020-01-01"], "M8[D]"),
    np.ones(2, ">f4"),
]


@pytest.mark.parametrize("values", [TENSORS, ARRAYS, [TENSORS[4], *ARRAYS[:3], TENSORS[0]]])
def test_arrays_arrive_as_they_were_and_can_be_changed(values):
    fields, found = payload.read(payload.write({"a": [1, "text"]}, values))
    assert fields == {"a": [1, "text"]}
    for old, new in zip(values, found, strict=True):
        assert isinstance(new, torch.Tensor) == isinstance(old, torch.Tensor)
        native = old.dtype if isinstance(old, torch.Tensor) else old.dtype.newbyteorder("=")
        assert (new.shape, new.dtype) == (old.shape, native)
        assert repr(new.tolist()) == repr(old.tolist())
        new[...] = new


@pytest.mark.parametrize(
    ("text", "data"),
    [
        (b"", b""),
        (b"[[], [], 0]", b""),
        (b"[{}, 5, 0]", b""),
        (b"[{}, [null], 0]", b""),
        (b'[{}, [["array", "|O", [1]]], 0]', b"12345678"),
        (b'[{}, [["array", "<f4", [1000000]]], 0]', b"1234"),
        (b'[{}, [["array", "<f4", [0, 99999999999999999999]]], 0]', b""),
        (b'[{}, [["array", "<f4", ["1"]]], 0]', b"1234"),
        (b"[" * 100_000, b""),
        (b"[{}, [], 0]" + b" " * MAX_TEXT, b""),
    ],
)
def test_a_forged_message_is_refused(text, data):
    with pytest.raises(MessageError):
        payload.read([text, data])


def test_what_is_too_large_is_not_sent():
    with pytest.raises(MessageError, match=r"of shape \(20000, 20000\) is too large"):
        payload.write({}, [torch.zeros(1).expand(20_000, 20_000)])
    with pytest.raises(MessageError, match="without its arrays is larger"):
        payload.write({"text": "a" * MAX_TEXT}, [])


class Here:
    """Passes on what a stub asks within this process."""

    def __init__(self, source):
        self.implementations = LoadedImplementation()
        self.implementations.load(source, "function", ())

    def ask(self, request, values=()):
        return payload.read(self.implementations.answer(payload.write(request, values)))


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("x.data.add_(1)", True),
        ("x.view(torch.uint8).numpy()[0] = 3", True),
        ("x.data = x.data[:1]", True),
        ("x.add_(1).sub_(1)", False),
        ("x + 1", False),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_only_what_was_changed_is_sent_back(source, changed, dtype):
    line = Here(f"import torch\n\ndef function(x):\n    {source}")
    sent = []
    stub = Stub(line, "function")
    line.ask, ask = (lambda *args: sent.append(ask(*args)) or sent[-1]), line.ask
    x = torch.tensor([1.0, float("nan")], dtype=dtype)
    stub(x)
    assert bool(sent[0][0]["changes"]) == changed


def calls_during(action):
    count = 0

    def look(frame, event, arg):
        nonlocal count
        count += event == "call"

    sys.setprofile(look)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def test_a_call_with_a_few_rows_costs_few_steps():
    stub = Stub(Here("def function(rows, count):\n    return rows[count:], rows[:count]"), "function")
    rows = [[3, 4], [4, 3], [5], [3, 4], [5], [6, 8, 7], [5], [4, 3]]
    stub(rows, 2)
    assert calls_during(lambda: stub(rows, 2)) < 200

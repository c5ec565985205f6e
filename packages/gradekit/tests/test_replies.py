"""Whatever the kernel replies is either in the format or refused with one sentence, quickly and in little memory."""

import json
import struct
import time
from types import SimpleNamespace

import numpy as np
import pytest
from nbformat import v4

from gradekit.inside.agent import Agent
from gradekit.inside.arrays import using
from gradekit.inside.messages import MAX_BYTES, MAX_ITEMS, MAX_TENSORS, MAX_TEXT, MessageError, encode
from gradekit.session.proxy import Student
from gradekit.session.replies import Answer, Failure, ModuleItem, read_reply
from gradekit.session.values import Opaque, StudentError
from gradekit.submission.submission import Submission

torch = pytest.importorskip("torch", reason="torch is not installed")


def read(buffers: list[bytes]) -> Answer | Failure:
    return read_reply(buffers, lambda item: item)


def reply(tensors: bytes | None = None, **fields: object) -> list[bytes]:
    """A reply as an agent that was tampered with could send it."""
    tree = {"$": "dict", "items": [[name, value] for name, value in fields.items()]}
    return [json.dumps(tree).encode(), encode(None)[1] if tensors is None else tensors]


def answer(value: str) -> list[bytes]:
    """An answer whose value is this JSON."""
    return [b'{"$": "dict", "items": [["ok", true], ["value", ' + value.encode() + b"]]}", encode(None)[1]]


def safetensors(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype: str = "F32", shape: object = (1,), offsets: object = (0, 4), **more: object) -> dict:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets, **more}


TENSOR = {"$": "tensor", "key": "0"}
ERROR = {"$": "dict", "items": [["type", "ValueError"], ["message", "no"], ["lines", [[2, "x = 1"]]]]}


def error(**fields: object) -> dict:
    found = dict(ERROR["items"]) | fields
    return {"$": "dict", "items": [[name, value] for name, value in found.items()]}


def test_what_the_agent_sends_is_read_as_it_was():
    def f(x: torch.Tensor) -> object:
        return {"sum": x + 1, "parts": (1, [2.5, None, True, "ü"]), "odd": [float("inf"), 10**300]}

    agent = Agent({"f": f})
    found = read(agent.answer(encode([{"do": "call", "name": "f", "args": [torch.ones(2)], "kwargs": {}}])))
    assert isinstance(found, Answer)
    assert torch.equal(found.value.pop("sum"), torch.full((2,), 2.0))
    assert found.value == {"parts": (1, [2.5, None, True, "ü"]), "odd": [float("inf"), 10**300]}
    assert found.changed == []


def test_all_arrays_arrive_as_the_kind_that_the_course_works_with():
    buffers = encode({"ok": True, "value": (np.ones(2), torch.zeros(2), np.float64(3))})
    found = read(buffers).value
    assert [type(part) for part in found] == [torch.Tensor, torch.Tensor, float]
    with using("numpy"):
        found = read(buffers).value
    assert [type(part) for part in found] == [np.ndarray, np.ndarray, float]


def test_nan_arrives_as_nan():
    (number,) = read(encode({"ok": True, "value": [float("nan")]})).value
    assert number != number


def test_an_object_that_stays_in_the_kernel_is_described_by_number_and_type():
    agent = Agent({"Net": lambda: torch.nn.Linear(2, 2)})
    found = read(agent.answer(encode([{"do": "call", "name": "Net", "args": [], "kwargs": {}}]))).value
    assert found == ModuleItem(id=0, type="Linear")


def test_gradients_and_errors_have_types_of_their_own():
    agent = Agent({"f": lambda x, n: n * x, "g": lambda: 1 / 0})
    request = {"do": "call", "name": "f", "args": [torch.ones(2), 3], "kwargs": {}, "gradients": True}
    found = read(agent.answer(encode([request])))
    assert found.inputs[0].shape == (2,)
    assert found.inputs[1] is None
    found = read(agent.answer(encode([{"do": "call", "name": "g", "args": [], "kwargs": {}}])))
    assert isinstance(found, Failure)
    assert (found.at, found.error.type) == (0, "ZeroDivisionError")


FORGED = {
    "nothing": [],
    "one buffer": [b"{}"],
    "not JSON": [b"not json", encode(1)[1]],
    "a list": [b"[]", encode(1)[1]],
    "no verdict": reply(value=1),
    "ok that is a number": reply(ok=1),
    "ok that is a string": reply(ok="true"),
    "an unknown field": reply(ok=True, value=1, points=10),
    "a key twice": [b'{"$": "dict", "items": [["ok", true], ["ok", true]]}', encode(1)[1]],
    "a plain object": [b'{"ok": true, "value": 1}', encode(1)[1]],
    "changed that is a string": reply(ok=True, changed="all"),
    "changed that holds a list": reply(ok=True, changed=[[1]]),
    "changed below zero": reply(ok=True, changed=[-1]),
    "changed without end": reply(ok=True, changed=[1] * 101),
    "gradients that are numbers": reply(ok=True, inputs=[1], parameters={"$": "dict", "items": []}),
    "gradients that are a list": reply(ok=True, inputs=[], parameters=[]),
    "parameters that are strings": reply(ok=True, parameters={"$": "dict", "items": [["w", "x"]]}),
    "an error without an error": reply(ok=False, at=0),
    "an error that is a string": reply(ok=False, at=0, error="ValueError"),
    "an error without lines": reply(ok=False, at=0, error={"$": "dict", "items": ERROR["items"][:2]}),
    "an error at a string": reply(ok=False, at="0", error=ERROR),
    "an error before the first request": reply(ok=False, at=-1, error=ERROR),
    "an error with a value": reply(ok=False, at=0, error=ERROR, value=1),
    "a type that is a number": reply(ok=False, at=0, error=error(type=3)),
    "a type that is long": reply(ok=False, at=0, error=error(type="x" * 101)),
    "a message that is long": reply(ok=False, at=0, error=error(message="x" * 2001)),
    "six lines": reply(ok=False, at=0, error=error(lines=[[1, "x"]] * 6)),
    "lines that are a string": reply(ok=False, at=0, error=error(lines="x")),
    "a line that is long": reply(ok=False, at=0, error=error(lines=[[1, "x" * 2001]])),
    "a line without a number": reply(ok=False, at=0, error=error(lines=[["1", "x"]])),
    "a line with three parts": reply(ok=False, at=0, error=error(lines=[[1, "x", 2]])),
    "a line below zero": reply(ok=False, at=0, error=error(lines=[[-1, "x"]])),
    "a module without a number": answer('{"$": "module", "type": "Net"}'),
    "a module with a string for a number": answer('{"$": "module", "id": "0", "type": "Net"}'),
    "a module below zero": answer('{"$": "module", "id": -1, "type": "Net"}'),
    "a module beyond all numbers": answer('{"$": "module", "id": 1' + "0" * 30 + ', "type": "Net"}'),
    "a module of a long type": answer('{"$": "module", "id": 0, "type": "' + "x" * 101 + '"}'),
    "a module with more": answer('{"$": "module", "id": 0, "type": "Net", "path": "/"}'),
    "a handle": answer('{"$": "handle", "id": 0}'),
    "an unknown kind": answer('{"$": "pickle", "data": "gASV"}'),
    "a kind that is a list": answer('{"$": ["module"], "id": 0, "type": "Net"}'),
    "a dict that is not pairs": answer('{"$": "dict", "items": {"a": 1}}'),
    "a dict with a number for a key": answer('{"$": "dict", "items": [[1, 2]]}'),
    "a tuple that is a string": answer('{"$": "tuple", "items": "ab"}'),
    "a number that is code": answer('{"$": "number", "text": "__import__"}'),
    "a number of 2,000 digits": answer('{"$": "number", "text": "' + "9" * 2000 + '"}'),
    "a JSON number of 5,000 digits": answer("9" * 5000),
    "half a surrogate": answer('"\\ud800"'),
    "a tensor that is missing": answer('{"$": "tensor", "key": "9"}'),
    "a tensor without a key": answer('{"$": "tensor"}'),
    "one tensor at two places": reply(encode(torch.ones(1))[1], ok=True, value=[TENSOR, TENSOR]),
    "no list of tensors": reply(b"", ok=True),
    "a list of tensors beyond its end": reply(b"\xff" * 8, ok=True),
    "a list of tensors of 1 MB": reply(safetensors(b" " * 2**20), ok=True),
    "a list of tensors that is nested": reply(safetensors(b"[" * 200_000), ok=True),
    "a tensor that lies about its size": reply(
        safetensors({"0": entry(shape=[1000, 1000])}, bytes(4)), ok=True, value=TENSOR
    ),
    "a tensor with an unknown field": reply(safetensors({"0": entry(code="x")}, bytes(4)), ok=True),
    "a tensor of an unknown type": reply(safetensors({"0": entry("F8_E4M3", [4])}, bytes(4)), ok=True),
    "a tensor with a shape below zero": reply(safetensors({"0": entry(shape=[-1])}, bytes(4)), ok=True),
    "an empty tensor of endless width": reply(
        safetensors({"0": entry(shape=[0, 2**62], offsets=[0, 0])}), ok=True
    ),
    "a tensor of 1,000 axes": reply(safetensors({"0": entry(shape=[1] * 1000)}, bytes(4)), ok=True),
    "metadata": reply(safetensors({"__metadata__": {"format": "pt"}}), ok=True),
}


@pytest.mark.parametrize("buffers", FORGED.values(), ids=FORGED)
def test_a_reply_that_breaks_the_format_is_refused(buffers):
    with pytest.raises(MessageError) as refused:
        read(buffers)
    assert len(str(refused.value)) < 300


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def many_tensors(count: int) -> bytes:
    return safetensors({str(n): entry(offsets=[4 * n, 4 * n + 4]) for n in range(count)}, bytes(4 * count))


BOMBS = {
    "more bytes than allowed": lambda: [b"1", bytes(MAX_BYTES)],
    "more text than allowed": lambda: answer('"' + "x" * MAX_TEXT + '"'),
    "a million lines": lambda: reply(ok=False, at=0, error=error(lines=[[1, ""]] * 400_000)),
    "a million empty lists": lambda: answer("[" + "[]," * 1_000_000 + "0]"),
    "a million empty dicts": lambda: answer("[" + "{}," * 1_000_000 + "0]"),
    "a million zeros": lambda: answer("[" + "0," * 1_000_000 + "0]"),
    "a deep list": lambda: answer(nested(100_000)),
    "a list deeper than values may be": lambda: answer(nested(30)),
    "deep tuples": lambda: answer('{"$":"tuple","items":[' * 30 + "]}" * 30),
    "many small tensors": lambda: reply(many_tensors(MAX_TENSORS + 1), ok=True),
    "quotation marks without end": lambda: [b'"' + rb"\"" * (MAX_TEXT // 2 - 1), encode(None)[1]],
    "a backslash at the end": lambda: [b'"' + rb"\"" * (MAX_TEXT // 2 - 2) + b"\\", encode(None)[1]],
}


@pytest.mark.parametrize("make", BOMBS.values(), ids=BOMBS)
def test_a_bomb_is_refused_before_it_is_parsed(make):
    buffers = make()
    started = time.process_time()
    with pytest.raises(MessageError):
        read(buffers)
    assert time.process_time() - started < 5


def test_brackets_and_commas_inside_a_text_are_text():
    text = '[{",' * 100_000 + '\\"'
    assert read(encode({"ok": True, "value": text})).value == text


@pytest.mark.slow
def test_as_much_as_the_agent_may_send_is_read():
    assert len(read(encode({"ok": True, "value": [0] * (MAX_ITEMS - 10)})).value) == MAX_ITEMS - 10
    assert len(read(encode({"ok": True, "value": [torch.ones(1)] * MAX_TENSORS})).value) == MAX_TENSORS
    pairs = {str(number): (number,) for number in range(MAX_ITEMS // 2 - 10)}
    assert read(encode({"ok": True, "value": pairs})).value == pairs
    deep: object = 1
    for _ in range(18):
        deep = {"a": (deep,)} if deep == 1 else [deep]
    assert read(encode({"ok": True, "value": deep})).value == deep


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([0] * MAX_ITEMS, "entries"),
        ([torch.ones(1)] * (MAX_TENSORS + 1), "arrays"),
        ("x" * MAX_TEXT, "larger than"),
        (10**2000, "digits"),
    ],
)
def test_what_is_too_large_for_a_reply_is_named_by_the_agent(value, words):
    found = read(
        Agent({"f": lambda: value}).answer(encode([{"do": "call", "name": "f", "args": [], "kwargs": {}}]))
    )
    assert found.error.type == "MessageError"
    assert words in found.error.message


def student_of(buffers: list[bytes]) -> Student:
    """A student whose kernel replies with these buffers to everything."""
    book = v4.new_notebook(cells=[v4.new_code_cell("def f():\n    return 1")])
    session = SimpleNamespace(
        limits=SimpleNamespace(call_seconds=1),
        runs={},
        exchange=lambda requests, restore, describe, *rest: read_reply(buffers, restore),
    )
    return Student(session, Submission(book))


@pytest.mark.parametrize("buffers", FORGED.values(), ids=FORGED)
def test_a_forged_reply_costs_the_student_the_check_and_nothing_else(buffers):
    with pytest.raises(StudentError, match=r"^The result of `f` can't be read: the .*\.$"):
        student_of(buffers).f()


def test_an_error_at_a_request_that_was_never_made_is_told_of_the_call():
    with pytest.raises(StudentError, match="`f` raised ValueError: no"):
        student_of(reply(ok=False, at=9_999, error=ERROR)).f()


def test_an_answer_without_gradients_is_the_student_s_fault():
    with pytest.raises(StudentError, match="returned no gradients"):
        student_of(reply(ok=True, value=1)).gradients("f")
    with pytest.raises(StudentError, match="returned no gradients"):
        student_of(reply(ok=True, inputs=[], parameters={"$": "dict", "items": []})).gradients("f", 1)


def test_a_described_object_stays_in_the_kernel():
    assert isinstance(student_of(answer('{"$": "object", "id": 3, "type": "Thing"}')).f(), Opaque)

"""The part inside the student's kernel, here in this process."""

import random
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest

from gradekit.inside.agent import Agent
from gradekit.inside.messages import decode, encode

torch = pytest.importorskip("torch", reason="torch is not installed")


def ask(agent: Agent, **request: object) -> dict:
    return decode(agent.answer(encode([request])), lambda item: item)


def call(agent: Agent, name: str, *args: object, **options: object) -> dict:
    return ask(agent, do="call", name=name, args=list(args), kwargs={}, **options)


def test_a_call_gives_the_value():
    assert call(Agent({"f": lambda x: x + 1}), "f", 1)["value"] == 2


def test_the_seed_is_set_before_every_call():
    agent = Agent({"f": lambda: torch.rand(3)})
    assert torch.equal(call(agent, "f")["value"], call(agent, "f")["value"])
    assert not torch.equal(call(agent, "f")["value"], call(agent, "f", seed=1)["value"])


def test_the_seed_of_python_s_own_random_numbers_is_set_too():
    agent = Agent({"f": random.random})
    assert call(agent, "f")["value"] == call(agent, "f")["value"]
    assert call(agent, "f")["value"] != call(agent, "f", seed=1)["value"]


def test_an_argument_changed_in_place_is_reported():
    agent = Agent({"f": lambda x, y: y.add_(1)})
    assert call(agent, "f", torch.zeros(2), torch.zeros(2))["changed"] == [1]
    assert call(Agent({"f": lambda x: x + 1}), "f", torch.tensor([float("nan")]))["changed"] == []


def test_an_array_changed_in_place_is_reported():
    def change(x: np.ndarray, y: np.ndarray) -> None:
        y += 1

    agent = Agent({"f": change, "g": lambda x: x + 1})
    assert call(agent, "f", np.zeros(2), np.zeros(2))["changed"] == [1]
    assert call(agent, "g", np.array([np.nan, 1]))["changed"] == []


def test_gradients_reach_only_what_was_used():
    agent = Agent({"f": lambda x, y, ids: (2 * x, ids)})
    reply = call(agent, "f", torch.ones(2), torch.ones(2), torch.tensor([1, 2]), gradients=True)
    x, y, ids = reply["inputs"]
    assert x is not None
    assert y is None
    assert ids is None


def test_the_sparse_gradient_of_an_embedding_is_sent_as_a_dense_one():
    table = torch.nn.Embedding(4, 2, sparse=True)
    reply = call(Agent({"f": table}), "f", torch.tensor([1, 1]), gradients=True)
    assert reply["parameters"]["weight"].ne(0).any(dim=-1).tolist() == [False, True, False, False]


def test_an_exception_is_reported_with_the_types_that_it_inherits_from():
    class OddWidth(ValueError):
        pass

    def f():
        raise OddWidth("7")

    error = call(Agent({"f": f}), "f")["error"]
    assert error["type"] == "OddWidth"
    assert error["bases"][:2] == ["ValueError", "Exception"]


def test_a_frozen_parameter_counts_as_without_gradient():
    module = torch.nn.Linear(2, 2)
    module.bias.requires_grad_(False)
    agent = Agent({"make": lambda: module})
    number = call(agent, "make")["value"]["id"]
    request = {"do": "call", "args": [torch.ones(2)], "kwargs": {}, "gradients": True, "target": 0}
    buffers = encode([request | {"target": object()}], lambda _: {"$": "handle", "id": number})
    reply = decode(agent.answer(buffers))
    assert reply["parameters"]["bias"] is None
    assert reply["parameters"]["weight"] is not None


def test_several_requests_are_carried_out_in_order_and_the_last_is_replied_to():
    agent = Agent({})
    requests = [{"do": "define", "source": f"x = {n}", "scope": n} for n in range(3)]
    assert decode(agent.answer(encode(requests)))["value"] == 2
    requests[1] = {"do": "get", "name": "nothing"}
    reply = decode(agent.answer(encode([*requests])))
    assert (reply["ok"], reply["at"], reply["error"]["type"]) == (False, 1, "UndefinedName")


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(1), KeyboardInterrupt(), RecursionError()])
def test_whatever_the_code_raises_ends_up_in_the_reply(error):
    def f() -> None:
        raise error

    reply = call(Agent({"f": f}), "f")
    assert reply["ok"] is False
    assert reply["error"]["type"] == type(error).__name__


def test_what_a_class_makes_stays_in_the_kernel_whatever_it_derives_from():
    class Vocabulary(dict):
        pass

    class Point(NamedTuple):
        x: int

    class Words(tuple):
        pass

    agent = Agent(
        {"Vocabulary": Vocabulary, "words": lambda: Vocabulary(a=1), "Point": Point, "Words": Words}
    )
    assert call(agent, "Words")["value"]["$"] == "object"
    assert call(agent, "Vocabulary")["value"]["$"] == "object"
    assert call(agent, "words")["value"] == {"a": 1}
    for kind in (list, Counter, tuple):  # an answer may be one of Python's own classes
        assert call(Agent({"f": kind}), "f", ["a"])["value"] == kind(["a"])
    assert call(agent, "Point", 2)["value"] == (2,)


def test_the_reply_says_what_an_exception_of_the_notebook_derives_from():
    class Mismatch(ValueError):
        pass

    def f(kind: type[Exception]) -> None:
        raise kind

    agent = Agent({"f": lambda: f(Mismatch), "g": lambda: f(KeyError)})
    assert "ValueError" in call(agent, "f")["error"]["bases"]
    assert call(agent, "g")["error"]["bases"] == []


def test_an_exception_that_cannot_be_printed_is_reported_all_the_same():
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def f() -> None:
        raise Odd

    assert call(Agent({"f": f}), "f")["error"]["type"] == "Odd"


def test_an_unknown_name_is_told_apart_from_a_name_error_inside():
    assert call(Agent({}), "f")["error"]["type"] == "UndefinedName"
    assert call(Agent({"f": lambda: nowhere}), "f")["error"]["type"] == "NameError"  # noqa: F821


def test_what_a_request_defines_can_be_an_argument_of_the_next():
    requests = [
        {"do": "define", "source": "def f(x):\n    return x + 1", "scope": 3},
        {"do": "call", "name": "apply", "args": [object(), 4], "kwargs": {}},
    ]
    buffers = encode(requests, lambda _: {"$": "named", "name": "f", "scope": 3})
    assert decode(Agent({"apply": lambda f, x: f(x)}).answer(buffers))["value"] == 5


def test_helper_code_has_a_namespace_of_its_own():
    agent = Agent({"x": 1})
    scope = ask(agent, do="define", source="x = 2", scope=7)["value"]
    assert ask(agent, do="get", name="x", scope=scope)["value"] == 2
    assert ask(agent, do="get", name="x")["value"] == 1

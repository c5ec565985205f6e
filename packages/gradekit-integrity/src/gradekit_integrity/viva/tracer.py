"""Runs an answer line by line and notes what happens. The text of this module is sent into the student's kernel.

It trusts nothing that the student's code defines: it only looks at values of known types, and what it returns is
checked again by the grader (see `gradekit_integrity.viva.tracer_reports`).
"""

import ast
import dis
import os
import random
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType, TracebackType
from typing import Any

from gradekit_integrity.viva.values import apart, described_value, kind_of_change, pairs, varied

#: the file names under which an answer and a driver are compiled
_ANSWER, _DRIVER = "<answer>", "<driver>"
_RETURNS = {dis.opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST") if name in dis.opmap}
_MOST_STEPS, _MOST_CALLS, _MOST_LINES = 20_000, 4, 20
#: flags of generators and coroutines, whose frames are entered more than once
_RESUMED = 0x20 | 0x80 | 0x200
_MOST_SHOWN = 120
#: of modules in modules
_MOST_DEPTH = 4
#: flags of functions that take any number of arguments
_ANY_NUMBER = 0x04 | 0x08
_FIXED = (BuiltinFunctionType, FunctionType, ModuleType, type)
_settrace = sys.settrace
#: by the number of a driver, the place of its main call, what that returned, and which variables of the notebook it used
_returned: dict[int, tuple[int, Any, set[str]]] = {}


class Enough(BaseException):
    """Enough has been seen, or the answer has run for too long."""


def trace(number: int, source: str, driver: str, lines: list[int], names: list[list[str]]) -> dict[str, Any]:
    """Run `driver` with the names that `source` defines, and note its calls; without a driver, run `source` itself.

    Args:
        number: of the driver, for `without`.
        lines: for each line of the source, counted from 0, the number of its statement; -1 for none.
        names: for each statement, the names that it assigns.
    """
    found = _recorded(source, driver, lines, names)
    _returned.pop(number, None)
    if call := found.main:
        _returned[number] = found.calls.index(call), apart(call.value), call.outside
    return {"calls": [call.as_dict() for call in found.calls if not call.later], "stopped": found.stopped}


def without(number: int, source: str, driver: str) -> dict[str, Any]:
    """Run a changed source as `trace` did, and report how the first call's behavior differs from before."""
    found = _recorded(source, driver, [], [])
    place, returned, outside = _returned.get(number, (0, None, set()))
    call = found.calls[place] if place < len(found.calls) and found.calls[place].complete else None
    # a name that is no longer assigned may be one of the notebook's, of which a reader of the code knows nothing
    if call is None or found.stopped or number not in _returned or call.outside - outside:
        return {"effect": "unknown", "error": None, "result": described_value(None)}
    effect = "error" if call.error else kind_of_change(returned, call.value)
    return {"effect": effect, "error": call.error, "result": described_value(call.value)}


def vary(source: str, driver: str) -> dict[str, Any]:
    """Call the function of the first call again with different inputs, and note these calls, as `trace` does.

    Methods are left out: their objects would remember the call before. So are functions with `*args`.
    """
    found = _recorded(source, driver, [], [])
    call, calls = found.main, []
    function = found.namespace.get(call.name) if call and call.error is None else None
    if type(function) is FunctionType and not function.__code__.co_flags & _ANY_NUMBER:
        for inputs in varied(call.inputs if call else {}):
            recorder = _Recorder([], [], False)
            _watch(recorder, lambda inputs=inputs: function(**inputs))  # type: ignore[misc]
            calls += [call.as_dict() for call in recorder.calls[:1]]
            if recorder.stopped:
                break
    return {"calls": calls, "stopped": False}


class _Run:
    """The runs of one statement in one call: how many, what it had assigned after the first, and what came next."""

    def __init__(self) -> None:
        self.count = 0
        self.values: dict[str, Any] | None = None
        self.then = -2


class _Call:
    """One call of a function of the answer, or the run of the answer itself (with an empty name)."""

    def __init__(self, name: str, args: dict[str, Any], driver: str) -> None:
        self.name = name
        self.inputs = {name: apart(value) for name, value in args.items()}
        self.args = {name: _described(value, driver) for name, value in args.items()}
        self.runs: dict[int, _Run] = {}
        self.frames: dict[str, int] = {}
        self.value: Any = None
        self.error: dict[str, Any] | None = None
        self.complete = False
        self.random = False
        self.closed = True
        self.later = False
        self.outside: set[str] = set()
        self.object = -1

    def as_dict(self) -> dict[str, Any]:
        runs = [
            {"statement": number, "count": run.count, "values": pairs(run.values or {}), "then": run.then}
            for number, run in self.runs.items()
        ]
        return {
            "name": self.name[:100],
            "args": pairs(self.args),
            "runs": runs,
            "frames": [[name[:100], count] for name, count in self.frames.items()][:50],
            "result": described_value(self.value),
            "error": self.error,
            "complete": self.complete,
            "random": self.random,
            "closed": self.closed,
            "object": self.object,
        }


class _Recorder:
    """A trace function that notes the first calls from outside."""

    def __init__(self, lines: list[int], names: list[list[str]], whole: bool, driver: str = "") -> None:
        self.calls: list[_Call] = []
        self.namespace: dict[str, Any] = {}
        self._driver = driver
        self.stopped = False
        self._lines, self._names, self._whole = lines, names, whole
        self._steps = self._depth = 0
        self._error: tuple[Any, dict[str, Any]] | None = None
        self._random_before: list[Any] = []
        self._objects: list[Any] = []
        self._called: set[str] = set()
        self._made: dict[int, dict[str, Any]] = {}

    @property
    def main(self) -> _Call | None:
        """The first call that has ended and can be shown, not counting those that make an object."""
        shown = (call for call in self.calls if call.complete and not call.later)
        return next((call for call in shown if not call.name.endswith("__init__")), None)

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if event != "call" or code.co_filename != _ANSWER or code.co_flags & _RESUMED:
            return None
        if code.co_name[:1] == "<" and not (self._whole and code.co_name == "<module>"):
            return None
        name = "" if code.co_name == "<module>" else code.co_qualname
        if self._depth == 0:
            if len(self.calls) == _MOST_CALLS:
                raise Enough
            parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            own = {key: frame.f_locals.get(key) for key in parameters if key != "self"} if name else {}
            self.calls.append(_Call(name, own, self._driver))
            self.calls[-1].closed = not _outside(code, frame.f_globals)
            owner = frame.f_locals.get("self")
            self.calls[-1].object = self._number_of(owner) if name else -1
            self.calls[-1].later = self._is_later(name, owner, frame.f_globals)
            changed = self._changed(self.calls[-1].object, owner)
            if changed and changed & {*_names_in(code), *_names_of(type(owner))}:
                self.calls[-1].later = True
            self._random_before = [] if changed else _random_state()
        call = self.calls[-1]
        call.frames[name] = call.frames.get(name, 0) + 1
        call.outside |= _outside(code, frame.f_globals)
        self._depth += 1
        return self._local(call)

    def _is_later(self, name: str, owner: Any, namespace: dict[str, Any]) -> bool:
        """True if an earlier call may have left something behind which no page shows, and which this one uses."""
        if name.endswith("__init__"):
            return False
        if owner is not None:
            key, remembers = f"object {self._number_of(owner)}", True
            if _keeps_state(type(owner)):
                key = type(owner).__name__
        else:
            key, remembers = name, _keeps_state(namespace.get(name))
        later = remembers and key in self._called
        self._called.add(key)
        return later

    def _changed(self, number: int, owner: Any) -> set[str]:
        """What was set since the object was made, where no page shows it, such as `training` by `.eval()`."""
        before = self._made.get(number)
        if before is None:
            return set()
        now = _settings(owner)
        return {name for name in {*before, *now} if before.get(name) != now.get(name)}

    def _number_of(self, thing: Any) -> int:
        """The same for the same object; -1 for none."""
        if thing is None:
            return -1
        for number, known in enumerate(self._objects):
            if known is thing:
                return number
        self._objects.append(thing)
        return len(self._objects) - 1

    def _local(self, call: _Call) -> Any:
        last, failed = -1, False

        def end(frame: FrameType, then: int) -> None:
            if last < 0:
                return
            run = call.runs[last]
            run.then = then if run.then == -2 else run.then
            if run.values is None and not failed:
                found = frame.f_locals
                run.values = {
                    name: described_value(found[name]) for name in self._names[last] if name in found
                }

        def local(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal last, failed
            if event == "line":
                self._steps += 1
                if self._steps > _MOST_STEPS:
                    self.stopped = True
                    raise Enough
                line = frame.f_lineno
                now = self._lines[line] if line < len(self._lines) else -1
                if now != last:
                    end(frame, now)
                    last = now
                    if now >= 0:
                        call.runs.setdefault(now, _Run()).count += 1
                failed = False
            elif event == "exception":
                failed = True
                if self._error is None or self._error[0] is not argument[1]:
                    line = _innermost(argument[2], frame.f_lineno)
                    kind = {"type": argument[0].__name__[:100], "line": line, "through": []}
                    self._error = argument[1], kind
                through = self._error[1]["through"]
                if frame.f_lineno not in (self._error[1]["line"], *through) and len(through) < _MOST_LINES:
                    through.append(frame.f_lineno)
            elif event == "return":
                # an exception that leaves a `with` or a `finally` isn't reported again
                failed = frame.f_code.co_code[frame.f_lasti] not in _RETURNS
                end(frame, -1)
                self._depth -= 1
                if self._depth == 0:
                    call.complete = True
                    call.random = self._random_before != _random_state()
                    call.value = argument
                    call.error = self._error[1] if failed and self._error else None
                    if call.name.endswith("__init__"):
                        self._made[call.object] = _settings(frame.f_locals.get("self"))
            return local

        return local


def _innermost(traceback: TracebackType | None, line: int) -> int:
    """The line of the answer where an exception was raised: a lambda or comprehension of it has a frame of its own."""
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == _ANSWER:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def _recorded(source: str, driver: str, lines: list[int], names: list[list[str]]) -> _Recorder:
    """Run the driver on a copy of the notebook's names; what it raises doesn't matter."""
    namespace = dict(sys.modules["gradekit.inside.agent"].namespace)
    answer = compile(source, _ANSWER, "exec")
    code = compile(driver, _DRIVER, "exec") if driver else answer
    recorder = _Recorder(lines, names, not driver, driver)
    recorder.namespace = namespace
    if driver:
        _watch(None, lambda: exec(answer, namespace))
    _watch(recorder, lambda: exec(code, namespace))
    return recorder


def _watch(recorder: _Recorder | None, run: Callable[[], Any]) -> None:
    """Run something under a recorder, quietly; what it raises doesn't matter."""
    state = random.getstate()
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        try:
            random.seed(int(_seed()))
            _settrace(recorder)
            run()
        except KeyboardInterrupt:
            raise
        except BaseException:  # also `Enough`
            pass
        finally:
            _settrace(None)
            random.setstate(state)


def _described(value: Any, driver: str) -> dict[str, Any]:
    """The description of an argument; for a short function that the driver defines, its whole source."""
    found = described_value(value)
    code = value.__code__ if type(value) is FunctionType else None
    if (
        code
        and code.co_filename == _DRIVER
        and not code.co_freevars
        and not _outside(code, value.__globals__)
    ):
        kinds = (ast.Lambda, ast.FunctionDef)
        nodes = [one for one in ast.walk(ast.parse(driver)) if isinstance(one, kinds)]
        here = [ast.unparse(one) for one in nodes if one.lineno == code.co_firstlineno]
        text = " ".join(here[0].split()) if len(here) == 1 else ""
        found["about"] = text if len(text) <= _MOST_SHOWN and here and here[0].count("\n") < 2 else ""
    return found


def _random_state() -> list[Any]:
    """The states of the usual generators of random numbers: a call that changes one has drawn from it."""
    import numpy as np

    state: Any = np.random.get_state(legacy=True)
    torch = sys.modules.get("torch")
    drawn = torch.get_rng_state().numpy().tobytes() if torch else b""
    return [random.getstate(), state[1].tobytes(), *state[2:], drawn]


def _outside(code: CodeType, namespace: dict[str, Any]) -> set[str]:
    """The variables of the notebook that a function uses, beside its functions, classes and modules."""
    used = {name for name in code.co_names if name in namespace and not isinstance(namespace[name], _FIXED)}
    inside = (part for part in code.co_consts if isinstance(part, CodeType))
    return used.union(*(_outside(part, namespace) for part in inside))


def _settings(thing: Any, depth: int = 0) -> dict[str, Any]:
    """The attributes of an object that are a number, a text, true, false or None, and the modules in it with theirs.

    Whether a module inside it is in training isn't one of them: shapes don't depend on it, and numbers that are drawn aren't asked about.
    """
    try:
        found = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return {}
    if type(found) is not dict or depth > _MOST_DEPTH:
        return {}
    parts = found.get("_modules")
    inside = parts.items() if type(parts) is dict else ()
    simple = {
        key: value for key, value in found.items() if type(value) in (bool, int, float, str, type(None))
    }
    if depth:
        simple.pop("training", None)
    return simple | {name: (id(part), _settings(part, depth + 1)) for name, part in inside}


def _names_of(kind: type) -> set[str]:
    """The names that the methods of a class use."""
    methods = [
        one.__code__ for one in type.__getattribute__(kind, "__dict__").values() if type(one) is FunctionType
    ]
    return set().union(*map(_names_in, methods))


def _names_in(code: CodeType) -> set[str]:
    inside = (part for part in code.co_consts if isinstance(part, CodeType))
    return {*code.co_names}.union(*map(_names_in, inside))


def _keeps_state(thing: Any) -> bool:
    """True for a function or class that may remember earlier calls, in an attribute or in a default value."""
    if isinstance(thing, FunctionType):
        defaults = [*(thing.__defaults__ or ()), *(thing.__kwdefaults__ or {}).values()]
        return bool(thing.__dict__) or any(isinstance(one, (list, dict, set)) for one in defaults)
    own = vars(thing).items() if isinstance(thing, type) else ()
    return any(isinstance(value, (list, dict, set)) for name, value in own if name[:2] != "__")


def _seed() -> int:
    """A number that follows from NumPy's seed, which the grader sets before each request."""
    import numpy as np

    return int(np.random.get_state(legacy=True)[1][0])  # type: ignore[index]

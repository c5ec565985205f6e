"""Runs an answer line by line and notes what happens. The text of this module is sent into the student's kernel.

It trusts nothing that the student's code defines: it only looks at values of known types, and what it returns is
checked again by the grader (see `coursekit.viva.seen`).
"""

import math
import os
import random
import sys
from contextlib import redirect_stdout
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from coursekit.arrays import copied, is_array, is_tensor

#: the file name under which an answer is compiled
FILE = "<answer>"
_MOST_STEPS, _MOST_CALLS, _MOST_ENTRIES = 20_000, 4, 12
_MOST_TEXT, _MOST_SHOWN = 40, 120
#: flags of generators and coroutines, whose frames are entered more than once
_RESUMED = 0x20 | 0x80 | 0x200
_FIXED = (BuiltinFunctionType, FunctionType, ModuleType, type)
_settrace = sys.settrace
#: by the number of a driver, what the first call returned
_returned: dict[int, Any] = {}


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
        _returned[number] = _apart(call.value)
    return {"calls": [call.as_dict() for call in found.calls], "stopped": found.stopped}


def without(number: int, source: str, driver: str) -> dict[str, Any]:
    """Run a changed source as `trace` did, and say how what the first call does differs from before."""
    found = _recorded(source, driver, [], [])
    call = found.main
    if call is None or found.stopped or number not in _returned:
        return {"effect": "unknown", "error": None, "result": describe(None)}
    effect = "error" if call.error else _difference(_returned[number], call.value)
    return {"effect": effect, "error": call.error, "result": describe(call.value)}


class _Run:
    """The runs of one statement in one call: how many, what it had assigned after the first, and what came next."""

    def __init__(self) -> None:
        self.count = 0
        self.values: dict[str, Any] | None = None
        self.then = -2


class _Call:
    """One call of a function of the answer, or the run of the answer itself (with an empty name)."""

    def __init__(self, name: str, args: dict[str, Any]) -> None:
        self.name = name
        self.args = {name: describe(value) for name, value in args.items()}
        self.runs: dict[int, _Run] = {}
        self.frames: dict[str, int] = {}
        self.value: Any = None
        self.error: dict[str, Any] | None = None
        self.complete = False
        self.random = False
        self.closed = True

    def as_dict(self) -> dict[str, Any]:
        runs = [
            {"statement": number, "count": run.count, "values": _pairs(run.values or {}), "then": run.then}
            for number, run in self.runs.items()
        ]
        return {
            "name": self.name[:100],
            "args": _pairs(self.args),
            "runs": runs,
            "frames": [[name[:100], count] for name, count in self.frames.items()][:50],
            "result": describe(self.value),
            "error": self.error,
            "complete": self.complete,
            "random": self.random,
            "closed": self.closed,
        }


class _Recorder:
    """A trace function that notes the first calls from outside."""

    def __init__(self, lines: list[int], names: list[list[str]], whole: bool) -> None:
        self.calls: list[_Call] = []
        self.stopped = False
        self._lines, self._names, self._whole = lines, names, whole
        self._steps = self._depth = 0
        self._error: tuple[Any, dict[str, Any]] | None = None
        self._random_before: list[Any] = []

    @property
    def main(self) -> _Call | None:
        """The first call that has ended, but for those that make an object."""
        return next(
            (call for call in self.calls if call.complete and not call.name.endswith("__init__")), None
        )

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if event != "call" or code.co_filename != FILE or code.co_flags & _RESUMED:
            return None
        if code.co_name[:1] == "<" and not (self._whole and code.co_name == "<module>"):
            return None
        name = "" if code.co_name == "<module>" else code.co_qualname
        if self._depth == 0:
            if len(self.calls) == _MOST_CALLS:
                raise Enough
            parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            own = {key: frame.f_locals.get(key) for key in parameters if key != "self"} if name else {}
            self.calls.append(_Call(name, own))
            self.calls[-1].closed = _is_closed(code, frame.f_globals)
            self._random_before = _random_state()
        call = self.calls[-1]
        call.frames[name] = call.frames.get(name, 0) + 1
        self._depth += 1
        return self._local(call)

    def _local(self, call: _Call) -> Any:
        last, failed = -1, False

        def end(frame: FrameType, then: int) -> None:
            if last < 0:
                return
            run = call.runs[last]
            run.then = then if run.then == -2 else run.then
            if run.values is None and not failed:
                found = frame.f_locals
                run.values = {name: describe(found[name]) for name in self._names[last] if name in found}

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
                    kind = {"type": argument[0].__name__[:100], "line": frame.f_lineno}
                    self._error = argument[1], kind
            elif event == "return":
                end(frame, -1)
                self._depth -= 1
                if self._depth == 0:
                    call.complete = True
                    call.random = self._random_before != _random_state()
                    call.value = argument
                    call.error = self._error[1] if failed and self._error else None
            return local

        return local


def _recorded(source: str, driver: str, lines: list[int], names: list[list[str]]) -> _Recorder:
    """Run the driver on a copy of the notebook's names; what it raises doesn't matter."""
    namespace = dict(sys.modules["coursekit.agent"]._namespace)
    answer = compile(source, FILE, "exec")
    code = compile(driver, "<driver>", "exec") if driver else answer
    recorder = _Recorder(lines, names, whole=not driver)
    state = random.getstate()
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        try:
            if driver:
                exec(answer, namespace)
            random.seed(int(_seed()))
            _settrace(recorder)
            exec(code, namespace)
        except KeyboardInterrupt:
            raise
        except Enough:
            pass
        except BaseException:
            pass
        finally:
            _settrace(None)
            random.setstate(state)
    return recorder


def _random_state() -> list[Any]:
    """The states of the usual generators of random numbers: a call that changes one has drawn from it."""
    import numpy as np

    state: Any = np.random.get_state(legacy=True)
    torch = sys.modules.get("torch")
    drawn = torch.get_rng_state().numpy().tobytes() if torch else b""
    return [random.getstate(), state[1].tobytes(), *state[2:], drawn]


def _is_closed(code: CodeType, namespace: dict[str, Any]) -> bool:
    """True if a function uses no variables of the notebook, only its functions, classes and modules."""
    used = [namespace[name] for name in code.co_names if name in namespace]
    inside = (part for part in code.co_consts if isinstance(part, CodeType))
    return all(isinstance(value, _FIXED) for value in used) and all(
        _is_closed(part, namespace) for part in inside
    )


def _seed() -> int:
    """A number that follows from NumPy's seed, which the grader sets before each request."""
    import numpy as np

    return int(np.random.get_state(legacy=True)[1][0])  # type: ignore[index]


def describe(value: Any) -> dict[str, Any]:
    """What may be asked or shown of a value: `text` is exact and short, `about` is rounded."""
    found: dict[str, Any] = {"type": type(value).__name__[:60], "text": "", "about": ""}
    try:
        if is_array(value):
            found |= _described_array(value)
        elif type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "shape"):
            found["shape"] = [int(size) for size in value.shape]
        elif type(value) in (list, tuple, dict, set, frozenset):
            found["length"] = len(value)
            if type(value) in (list, tuple):
                found["text"] = _literal(value, _MOST_TEXT, exact=True)
                found["about"] = _literal(value, _MOST_SHOWN, exact=False)
            if type(value) is tuple and len(value) <= 4:
                found["parts"] = [describe(part) for part in value if type(part) is not tuple]
        else:
            found["text"] = _literal(value, _MOST_TEXT, exact=True)
            found["about"] = _literal(value, _MOST_SHOWN, exact=False)
    except Exception:  # a class of the student's that pretends to be one of these
        return {"type": "", "text": "", "about": ""}
    return found


def _described_array(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"shape": [int(size) for size in value.shape], "dtype": str(value.dtype)[:40]}
    if math.prod(found["shape"]) <= _MOST_ENTRIES:
        entries = value.detach().tolist() if is_tensor(value) else value.tolist()
        found["text"] = _literal(entries, _MOST_SHOWN, exact=True)
        found["about"] = _literal(entries, _MOST_SHOWN, exact=False)
    return found


def _literal(value: Any, most: int, exact: bool) -> str:
    """The value as Python would write it; empty if that is long, or if `exact` and a number has many digits."""

    def text(part: Any, depth: int = 0) -> str:
        if depth > 5:
            raise ValueError
        if type(part) in (list, tuple) and len(part) <= 40:
            inside = ", ".join(text(one, depth + 1) for one in part)
            single = "," if type(part) is tuple and len(part) == 1 else ""
            return f"[{inside}]" if type(part) is list else f"({inside}{single})"
        if type(part) is float and math.isfinite(part):
            if exact and (abs(part - round(part, 3)) > 1e-6 or len(repr(round(part, 3))) > 8):
                raise ValueError
            return repr(round(part, 3)) if exact else f"{part:.4g}"
        if type(part) is int and abs(part) > 10**6:
            raise ValueError
        if type(part) is str and not (part.isprintable() and len(part) <= most):
            raise ValueError
        if type(part) in (bool, int, float, str, type(None)):
            return repr(part)
        raise ValueError

    try:
        found = text(value)
    except ValueError:
        return ""
    return found if len(found) <= most else ""


def _pairs(values: dict[str, Any]) -> list[list[Any]]:
    return [[name[:100], value] for name, value in values.items()][:30]


def _apart(value: Any) -> Any:
    """A copy that later changes don't reach."""
    if is_array(value):
        return copied(value)
    if type(value) in (list, tuple):
        return type(value)(map(_apart, value))
    return {key: _apart(part) for key, part in value.items()} if type(value) is dict else value


def _difference(before: Any, after: Any) -> str:
    """In a word, how a returned value has changed; `unknown` if that can't be said."""
    if type(before) is not type(after):
        return "type"
    if is_array(before):
        return _array_difference(before, after)
    if type(before) in (list, tuple):
        if len(before) != len(after):
            return "length"
        found = {_difference(one, other) for one, other in zip(before, after, strict=True)}
        return next((one for one in _BY_WEIGHT if one in found), "same")
    if type(before) in (int, float):
        if before == after or (before != before and after != after):
            return "same"
        return "unknown" if math.isclose(before, after, rel_tol=1e-3, abs_tol=1e-5) else "values"
    if type(before) in (bool, str, type(None)):
        return "same" if before == after else "values"
    return "unknown"


_BY_WEIGHT = ("unknown", "type", "length", "shape", "dtype", "values", "same")


def _array_difference(before: Any, after: Any) -> str:
    import numpy as np

    if tuple(before.shape) != tuple(after.shape):
        return "shape"
    if before.dtype != after.dtype:
        return "dtype"
    one, other = (np.asarray(array.detach() if is_tensor(array) else array) for array in (before, after))
    if one.dtype.kind not in "biufc":
        return "unknown"
    if np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"):
        return "same"
    close = np.allclose(one.astype(complex), other.astype(complex), 1e-3, 1e-5, equal_nan=True)
    return "unknown" if close else "values"

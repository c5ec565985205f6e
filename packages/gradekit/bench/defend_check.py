"""Checks marked options without the tracer: from the page's text alone, by changing the code so that it notes what happens.

The inputs are made from what the page shows of them. The code is that of the course, and runs in this process.
"""

import ast
import contextlib
import io
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import nbformat
import torch

from gradekit.course import Assignment
from gradekit.course.cells import find_cell, grade_id, runs_before_checks
from gradekit_integrity.defend.closed import ClosedKind, ClosedQuestion

#: of CPU time, since the machine may be busy
_SECONDS = 20
_FILE = "<checked>"
_TENSOR = re.compile(r"(?:(.*) \()?shape (\([\d, ]*\)), (\w+)\)?$")
_ABOUT = re.compile(r"When line (\d+) (has run|runs)(?: for the first time)?, .*? `(.*?)`")
Note = tuple[Any, ...]


class _CannotCheckError(Exception):
    """What the page shows isn't enough to run the call again."""


def is_true(
    assignment: Assignment, place: tuple[str, str], notebook: str, question: ClosedQuestion
) -> bool | None:
    """Whether the marked option is right; None if that can't be found out from the text."""
    signal.signal(signal.SIGPROF, _stop)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            _names(notebook, str(assignment.source_folder))
            signal.setitimer(signal.ITIMER_PROF, _SECONDS)
            cell = _Cell(notebook, place[1], str(assignment.source_folder))
            return _CHECKS[question.kind](cell, question)
    except (_CannotCheckError, TimeoutError):
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _stop(*_: object) -> None:
    raise TimeoutError


class _Cell:
    """An answer cell, which can be changed and called."""

    def __init__(self, notebook: str, cell: str, folder: str) -> None:
        self.names = _names(notebook, folder)
        self.source = _source(notebook, cell)

    def run(
        self,
        question: ClosedQuestion,
        change: Callable[[ast.Module], ast.Module] | None = None,
        place: int = -1,
    ) -> tuple[Any, BaseException | None, list[Note]]:
        """The result or the exception of a call of the changed code, and its notes."""
        notes: list[Note] = []
        tree = ast.parse(self.source)
        tree = ast.fix_missing_locations(change(tree) if change else tree)
        namespace = dict(self.names) | {"_note": lambda *what: notes.append(what)}
        try:
            exec(compile(tree, _FILE, "exec"), namespace)
        except Exception:
            raise _CannotCheckError from None
        torch.manual_seed(0)
        *made, (title, inputs) = question.calls if place < 0 else [question.calls[place]]
        target: Any = None
        for made_title, made_inputs in made:
            target = namespace[made_title.partition("(")[0]](**_inputs(made_inputs, self.names))
        name = title.partition("(")[0]
        arguments = _inputs(inputs, self.names)
        if isinstance(target, torch.nn.Module):  # a page shows no `.double()` between the two calls
            tensors = (one for one in arguments.values() if isinstance(one, torch.Tensor))
            target.to(next((one.dtype for one in tensors if one.is_floating_point()), None))
        notes.clear()
        with contextlib.suppress(AttributeError):
            target = getattr(target, name.rpartition(".")[2]) if made else namespace.get(name)
        if not callable(target):
            raise _CannotCheckError
        try:
            return target(**arguments), None, notes
        except TimeoutError:
            raise
        except Exception as error:
            return None, error, notes


@cache
def _names(notebook: str, folder: str) -> dict[str, Any]:
    """The names that all cells of the notebook define, beside the files in a folder."""
    names: dict[str, Any] = {"__name__": "checked"}
    sys.modules.pop("earlier", None)  # each assignment has its own
    sys.path.insert(0, folder)
    for cell in nbformat.reads(notebook, as_version=4).cells:
        if runs_before_checks(cell):
            source = re.sub(r"^(\s*)[%!].*$", r"\1pass", cell.source, flags=re.MULTILINE)
            signal.setitimer(signal.ITIMER_PROF, _SECONDS)
            with contextlib.suppress(Exception):
                exec(compile(source, grade_id(cell) or "cell", "exec"), names)
    signal.setitimer(signal.ITIMER_PROF, 0)
    sys.path.remove(folder)
    return names


@cache
def _source(notebook: str, cell: str) -> str:
    return str(find_cell(nbformat.reads(notebook, as_version=4), cell).source)  # type: ignore[union-attr]


def _inputs(shown: tuple[str, ...], names: dict[str, Any]) -> dict[str, Any]:
    return {name: _value(text, names) for name, text in (one.split(": ", 1) for one in shown)}


def _value(text: str, names: dict[str, Any]) -> Any:
    if found := _TENSOR.match(text):
        entries, shape, dtype = found[1], ast.literal_eval(found[2]), getattr(torch, found[3], None)
        if dtype is None:
            raise _CannotCheckError
        if entries:
            return torch.tensor(
                eval(entries, {"inf": float("inf"), "nan": float("nan")}), dtype=dtype
            ).reshape(shape)
        return torch.randn(shape, dtype=dtype) if dtype.is_floating_point else torch.ones(shape, dtype=dtype)
    try:
        if found := re.match(r"def (\w+)", text):
            exec(text, names := dict(names))
            return names[found[1]]
        return eval(text, dict(names))
    except Exception:
        raise _CannotCheckError from None


class _Insert(ast.NodeTransformer):
    """Puts statements before or after others: `at` says which, from a statement."""

    def __init__(self, before: Callable[[ast.stmt], str], after: Callable[[ast.stmt], str]) -> None:
        self._before, self._after = before, after

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, [new for one in block for new in self._around(one)])
        return node

    def _around(self, one: ast.stmt) -> Iterator[ast.stmt]:
        yield from _placed(self._before(one), one)
        yield one
        yield from _placed(self._after(one), one)


def _placed(text: str, at: ast.stmt) -> Iterator[ast.stmt]:
    for node in ast.parse(text).body:
        yield ast.increment_lineno(node, at.lineno - node.lineno) if hasattr(at, "lineno") else node


def _nothing(_: ast.stmt) -> str:
    return ""


def _value_is(cell: _Cell, question: ClosedQuestion) -> bool:
    found = _ABOUT.match(question.text)
    if not found:
        raise _CannotCheckError
    line, about = int(found[1]), found[3]

    def note(one: ast.stmt) -> str:
        return f"_note({about})" if one.lineno == line else ""

    before, after = (_nothing, note) if found[2] == "has run" else (note, _nothing)
    _, error, notes = cell.run(question, _Insert(before, after).visit)
    if not notes:
        raise _CannotCheckError from error
    value, right = notes[0][0], ast.literal_eval(question.right.strip("`"))
    if question.kind == ClosedKind.SHAPE:
        return bool(tuple(getattr(value, "shape", ())) == right)
    if isinstance(right, float):
        return type(value) is float and abs(value - right) < 1e-3
    return bool(type(value) is type(right) and value == right)


def _marked(cell: _Cell, question: ClosedQuestion) -> list[int]:
    """The lines of the statements that begin, in order."""
    _, error, notes = cell.run(question, _Insert(lambda one: f"_note({one.lineno})", _nothing).visit)
    if error:
        raise _CannotCheckError from error
    return [line for (line,) in notes]


def _next_is(cell: _Cell, question: ClosedQuestion) -> bool:
    lines = _marked(cell, question)
    return f"Line {lines[lines.index(question.line) + 1]}." == question.right


def _count_is(cell: _Cell, question: ClosedQuestion) -> bool:
    loops = [one for one in ast.walk(ast.parse(cell.source)) if isinstance(one, ast.For | ast.While)]
    (loop,) = (one for one in loops if one.lineno == question.line)
    count = _marked(cell, question).count(loop.body[0].lineno)
    return question.right == {0: "Never.", 1: "Once."}.get(count, f"{count} times.")


def _first_is(cell: _Cell, question: ClosedQuestion) -> bool:
    def note(one: ast.stmt) -> str:
        if not isinstance(one, ast.Assign | ast.AugAssign):
            return ""
        targets = one.targets if isinstance(one, ast.Assign) else [one.target]
        names = [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        return "; ".join(f"_note({one.lineno}, {name})" for name in names)

    _, error, notes = cell.run(question, _Insert(_nothing, note).visit)
    if error:
        raise _CannotCheckError from error
    shape = ast.literal_eval(question.text.split("`")[1])
    lines = [line for line, value in notes if tuple(getattr(value, "shape", ())) == shape]
    return bool(lines) and f"Line {lines[0]}." == question.right


class _TakeOut(ast.NodeTransformer):
    def __init__(self, line: int) -> None:
        self._line = line

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.stmt) and node.lineno == self._line:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)


def _taken_out(cell: _Cell, question: ClosedQuestion) -> bool:
    before, failed, _ = cell.run(question)
    if failed:
        raise _CannotCheckError from failed
    after, error, _ = cell.run(question, _TakeOut(question.line).visit)
    if question.kind == ClosedKind.STOPS:
        return error is not None and f"In line {_line_of(error)}." == question.right
    if error:
        return question.right.startswith("It stops")
    same = _compared(before, after)
    words = {"same": "It returns the same", "values": "It returns other", "shape": "It returns something"}
    return question.right.startswith(words.get(same, "?"))


def _compared(before: Any, after: Any) -> str:
    if isinstance(before, tuple | list) and type(before) is type(after) and len(before) == len(after):
        kinds = {_compared(one, other) for one, other in zip(before, after, strict=True)}
        return next((kind for kind in ("type", "shape", "values") if kind in kinds), "same")
    if isinstance(before, torch.Tensor) and isinstance(after, torch.Tensor):
        if before.shape != after.shape:
            return "shape"
        if before.dtype != after.dtype:
            return "type"
        return "same" if torch.equal(before.nan_to_num(7), after.nan_to_num(7)) else "values"
    if type(before) is not type(after):
        return "type"
    return "same" if before == after else "values"


def _line_of(error: BaseException) -> int:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == _FILE]
    return (frames[-1].lineno or 0) if frames else 0


def _fails(cell: _Cell, question: ClosedQuestion) -> bool:
    errors = [cell.run(question, place=place)[1] for place in range(len(question.calls))]
    if any(isinstance(error, NameError) for error in errors):
        raise _CannotCheckError
    failing = [f"Call {'ABC'[place]}." for place, error in enumerate(errors) if error is not None]
    return failing == [question.right]


def _crashes(cell: _Cell, question: ClosedQuestion) -> bool:
    _, error, _ = cell.run(question)
    if isinstance(error, NameError) and "NameError" not in question.right:
        raise _CannotCheckError  # of a cell above that failed here
    return error is not None and question.right == f"`{type(error).__name__}`, in line {_line_of(error)}."


_CHECKS = {
    ClosedKind.SHAPE: _value_is,
    ClosedKind.VALUE: _value_is,
    ClosedKind.NEXT: _next_is,
    ClosedKind.COUNT: _count_is,
    ClosedKind.FIRST: _first_is,
    ClosedKind.TAKEN_OUT: _taken_out,
    ClosedKind.STOPS: _taken_out,
    ClosedKind.FAILS: _fails,
    ClosedKind.CRASH: _crashes,
}

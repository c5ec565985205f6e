"""Runs the answers of one notebook under the tracer, in a kernel like that of grading.

Drivers are lines that call an answer with small inputs: what the course declares, its snippets, or the visible tests.
"""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from nbformat import NotebookNode, from_dict, v4

from gradekit.checks.snippets import snippets_of
from gradekit.course import Assignment
from gradekit.course.cells import answer_of, find_cell, grade_id, is_test_cell
from gradekit.inside.messages import MessageError
from gradekit.session.replies import Failure
from gradekit.session.runner import CellRun, CellState
from gradekit.session.session import CallTimeout, KernelDied, Session
from gradekit.verdict.opened import GradingJob
from gradekit_integrity.viva import tracer, values
from gradekit_integrity.viva.statements import AnswerCode, AnswerStatement
from gradekit_integrity.viva.tracer_reports import Effect, Traced, TracedCall, read_as

R = TypeVar("R")
#: the file beside the checks where a course declares inputs, in the form of `try_it.py`
_FILE_NAME = "viva.py"
_MOST_DRIVERS = 8
#: kernels are forks, which would all draw the same random numbers; the cell defines no names
_SET_SEED = """\
__import__("random").seed({seed})
__import__("numpy").random.seed({seed})
"torch" in __import__("sys").modules and __import__("torch").manual_seed({seed}) and None
"""


@dataclass(frozen=True)
class Scene:
    """A traced call of an answer, and its effect without single statements, by statement.

    For a method, `made` is the call that made its object.
    """

    call: TracedCall
    made: TracedCall | None = None
    effects: dict[int, Effect] = field(default_factory=dict)

    @property
    def calls(self) -> list[TracedCall]:
        return [self.made, self.call] if self.made else [self.call]


class Stage:
    """A notebook whose cells have run, all or those above one, and where answers can be run again."""

    def __init__(self, session: Session, seed: int) -> None:
        self._session = session
        self._seed = seed
        self._scope: int | None = None
        self._number = 0
        #: why nothing more can be run here; empty if it can
        self.ended = ""
        #: True once something was stopped because it took too long
        self.stopped = False

    @property
    def suspect(self) -> bool:
        """True if code was stopped while it waited, or its kernel ended: on an idle machine it might not have."""
        return bool(self._session.suspect)

    def run_of(self, index: int) -> CellRun | None:
        """How the cell number `index` ended."""
        return self._session.runs.get(index + 1)

    def scenes(self, code: AnswerCode, driver: str, candidates: list[int]) -> Iterator[Scene]:
        """The calls that a driver makes, the first with the effects of taking out `candidates` that ran in it."""
        self._number += 1
        names = [list(one.assigns) for one in code.statements]
        traced = self._traced(code.source, driver, code.lines, names)
        if traced is None:
            return
        self.stopped = self.stopped or traced.stopped
        if traced.stopped:
            return
        calls = [call for call in traced.calls if call.complete and _is_sound(call, code)]
        main = next((call for call in calls if not call.name.endswith("__init__")), None)
        made: dict[tuple[str, int], TracedCall] = {}
        for call in calls:
            owner, _, method = call.name.rpartition(".")
            if method == "__init__":
                made[owner, call.object] = call
            scene = Scene(call, made.get((owner, call.object)) if method != "__init__" else None)
            if call is main and call.name and call.error is None:
                ran = {run.statement for run in call.runs}
                for number in candidates:
                    effect = number in ran and self._without(code, code.statements[number], driver)
                    if effect:
                        scene.effects[number] = effect
            yield scene

    def varied(self, code: AnswerCode, driver: str) -> list[TracedCall]:
        """Calls of the function that a driver calls first, with different inputs."""
        traced = self._ask(Traced, "vary", code.source, driver)
        calls = traced.calls if traced else ()
        return [call for call in calls if call.complete and _is_sound(call, code)]

    def _traced(self, source: str, driver: str, lines: list[int], names: list[list[str]]) -> Traced | None:
        return self._ask(Traced, "trace", self._number, source, driver, lines, names)

    def _without(self, code: AnswerCode, statement: AnswerStatement, driver: str) -> Effect | None:
        return self._ask(Effect, "without", self._number, code.without(statement), driver)

    def _ask(self, kind: type[R], name: str, *args: Any) -> R | None:
        """The value that a function of the tracer returned; None if it took too long or failed."""
        if self.ended:
            return None
        try:
            if self._scope is None:
                scope = self._exchange([{"do": "define", "source": _tracer_text(), "scope": 0}])
                if type(scope) is not int:
                    raise MessageError("the tracer can't be loaded")
                self._scope = scope
            call = {"do": "call", "name": name, "scope": self._scope, "seed": self._seed}
            found = self._exchange([call | {"args": list(args), "kwargs": {}}])
            return None if found is None else read_as(found, kind)
        except CallTimeout:
            self.stopped = True
        except KernelDied as died:
            self.ended = str(died)
        except MessageError as error:
            self.ended = f"what it sent can't be read: {error}"
        return None

    def _exchange(self, requests: list[dict[str, Any]]) -> Any:
        reply = self._session.exchange(requests, _refused, _refused, self._session.limits.call_seconds)
        return None if isinstance(reply, Failure) else reply.value


@contextmanager
def stage(job: GradingJob, seed: int, before: int | None = None) -> Iterator[Stage]:
    """Run the cells of a copy of the notebook, or those above the cell number `before`.

    Raises:
        CourseError: the kernel is not installed.
        NotStarted: it failed to start.
    """
    part: NotebookNode = from_dict(job.notebook)
    part.cells = [v4.new_code_cell(_SET_SEED.format(seed=seed)), *part.cells[:before]]
    files = job.assignment.working_files(job.own_files)
    session = Session(part, job.how.limits, job.how.kernel_name, files)
    try:
        session.run_cells()
        yield Stage(session, seed)
    finally:
        session.close()


@cache
def _tracer_text() -> str:
    """The code of the tracer, with the module that it imports."""
    name, text = values.__name__, inspect.getsource(values)
    return f"""
import sys, types
sys.modules[{name!r}] = types.ModuleType({name!r})
exec(compile({text!r}, "<{name}>", "exec"), sys.modules[{name!r}].__dict__)
{inspect.getsource(tracer)}"""


def hangs(run: CellRun | None) -> bool:
    """True if a cell was stopped, or ended its kernel."""
    return run is not None and run.state in (CellState.TIMED_OUT, CellState.KERNEL_DIED, CellState.LEFT_OUT)


def _is_sound(call: TracedCall, code: AnswerCode) -> bool:
    """True if this code can make such a call; a student's process may invent others."""
    parts = [call.name.replace(".<locals>", "")] if call.name else []
    parts += [name for name, _ in call.args]
    texts = [text for part in parts for text in part.split(".")]
    errors = [call.error.type] if call.error else []
    numbers = [number for run in call.runs for number in (run.statement, run.then)]
    named = [name for run in call.runs for name, _ in run.values]
    return all(text.isidentifier() for text in [*texts, *errors, *named]) and all(
        number < len(code.statements) for number in numbers
    )


def _refused(_: object) -> Any:
    raise MessageError("it holds an object")


def drivers_for(assignment: Assignment, released: NotebookNode, answer: str) -> list[str]:
    """Lines that call functions of the answer cell `answer` of a released notebook, the best first.

    Raises:
        CourseError: a file of the course can't be read.
    """
    tests = tests_of(released, answer)
    return list(dict.fromkeys(_driver_sources(assignment, released, tests)))[:_MOST_DRIVERS]


def tests_of(released: NotebookNode, answer: str) -> list[str]:
    """The grade_ids of the test cells that are about the answer cell `answer`."""
    return [
        name
        for cell in released.cells
        if is_test_cell(cell) and (name := grade_id(cell)) and answer_of(released, name) == answer
    ]


def _driver_sources(assignment: Assignment, released: NotebookNode, tests: list[str]) -> Iterator[str]:
    for snippet in (*snippets_of(assignment, _FILE_NAME), *snippets_of(assignment)):
        if snippet.exercise in tests:
            yield snippet.text
    for test in tests:
        cell = find_cell(released, test)
        if cell is not None:
            yield cell.source

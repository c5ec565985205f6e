"""The fixture `student` of a check: it calls the submission's code, which runs in the kernel; and modules, which stay there."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from gradekit.codecs import Drawing, absent_libraries, codec_missing
from gradekit.course import CourseError
from gradekit.course.cells import find_cell
from gradekit.course.printing import shortened
from gradekit.inside.arrays import Array, current_kind, is_array
from gradekit.inside.messages import MessageError
from gradekit.inside.packing import CODEC_MISSING
from gradekit.session.limits import JUDGING_SECONDS
from gradekit.session.reasons import Reasons
from gradekit.session.replies import Answer, Failure, ModuleItem, ObjectItem
from gradekit.session.runner import text_of
from gradekit.session.session import MAX_DEATHS, CallTimeout, ImplementationEnded, KernelDied, Session
from gradekit.session.values import (
    Call,
    CheckOutcome,
    CheckStep,
    Gradients,
    Implemented,
    Named,
    Opaque,
    SideEffects,
    StudentError,
)
from gradekit.submission.names import closing_call
from gradekit.submission.submission import Submission

if TYPE_CHECKING:
    import torch

_MAX_TIMEOUTS = 2
_HELPER = "helper"


@dataclass
class CheckHistory:
    """What a check has asked of the student's code, for the messages about it.

    `arguments` are those of the check's calls, including those of its helper code. `steps` are what it asked of the
    student's own code, in order. `last` is the last name called and the value it returned, for the message if the check
    can't use it; `last_is_own` says whether that name is the student's, not one of the check's helper code.
    """

    arguments: list[Any] = field(default_factory=list)
    steps: list[CheckStep] = field(default_factory=list)
    last: tuple[str, Any] | None = None
    last_is_own: bool = True


class Student:
    """Calls by name what the notebook defines: `student.attention(q, k, v)`.

    The names of its own methods are taken (see `TAKEN_NAMES`), so it has as few as possible.

    Values are copied both ways: arrays, numbers, strings, lists, tuples, dicts. A module stays in the kernel and is
    returned as a `Module`. The kernel's random seed is set to 0 before every call.

    Raises (from every method):
        StudentError: the student's code raised an exception, hung, died, or returned something that can't be sent.
    """

    def __init__(
        self,
        session: Session,
        submission: Submission,
        scope: int | None = None,
        main: "Student | None" = None,
    ) -> None:
        self._session = session
        self._submission = submission
        self._scope = scope
        self._main = main
        self._reasons = Reasons(session, submission)
        #: requests without a reply, by the name they are about; they are sent with the next one that needs a reply
        self._waiting: list[tuple[str, dict[str, Any]]] = main._waiting if main else []
        self._scopes: Iterator[int] = main._scopes if main else count()
        self._timeouts: dict[str, int] = {}
        #: how tests that the student wrote rejected implementations, by the test's name; empty texts if they didn't
        self._complaints: dict[str, dict[Implemented, str | StudentError]] = {}
        #: CPU time of the grader at the beginning of the check
        self._began = time.process_time()
        #: by the answer cell of the exercise
        self._effects: dict[str, SideEffects] = {}
        self._asked: CheckHistory = CheckHistory(arguments=main._asked.arguments if main else [])

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: self.call(name, *args, **kwargs).value

    def call(
        self,
        name: str,
        /,
        *args: Any,
        seed: int = 0,
        seconds: float | None = None,
        contiguous: bool = True,
        no_grad: bool = False,
        **kwargs: Any,
    ) -> Call:
        """Call a function or class; returns the value and the arguments that were changed in place.

        `seconds` is for a call that may take longer than others, such as training. With `contiguous=False` the numbers of
        the arrays are in another order in memory, as after a transposition (see `assert_any_layout`). With `no_grad`, torch
        records no gradients, as under `torch.no_grad()`.
        """
        target = {"name": name, "scope": self._scope, "contiguous": contiguous, "no_grad": no_grad}
        return self._call(name, target, args, kwargs, seed, seconds)

    def gradients(self, name: str, /, *args: Any, seed: int = 0, **kwargs: Any) -> Gradients:
        """Call a function and differentiate the probed sum of its float outputs."""
        return self._gradients(name, {"name": name, "scope": self._scope}, args, kwargs, seed)

    def get(self, name: str) -> Any:
        """The value of a variable of the notebook."""
        self._asked.steps.append(CheckStep(name, variable=True))
        return self._value(self._ask(name, {"do": "get", "name": name, "scope": self._scope}), name)

    def figure(self, grade_id: str) -> Any:
        """The last figure that a cell drew with matplotlib, as it is after the last cell."""
        cell = self._session.notebook.cells[self._reasons.ran(grade_id)]
        reply = self._ask(grade_id, {"do": "figures", "count": cell.get("execution_count") or 0})
        return self._drawn(reply, grade_id, f"The cell `{grade_id}`", closing_call(cell.source))

    def figure_of(self, name: str, /, *args: Any, seed: int = 0, **kwargs: Any) -> Any:
        """Call a function; returns the figure that it returns, or else the last one that it draws."""
        self._remember(name, args, kwargs)
        target = {"name": name, "scope": self._scope, "drawing": True}
        reply = self._ask(name, _calling(target, args, kwargs, seed))
        index = self._submission.defining_cell(name)
        source = "" if index is None else self._session.notebook.cells[index].source
        return self._drawn(reply, name, f"`{name}`", closing_call(source, name))

    def output(self, grade_id: str) -> str:
        """The text that a cell printed and displayed, including the value of its last expression, without stderr."""
        self._asked.last_is_own = True
        self._asked.last = grade_id, text_of(self._session.notebook.cells[self._reasons.ran(grade_id)])
        return self._asked.last[1]

    def define(self, source: str) -> "Student":
        """Run helper code of a check in the kernel, in its own namespace; returns that namespace to call."""
        number = next(self._scopes)
        self._waiting.append((_HELPER, {"do": "define", "source": source, "scope": number}))
        return Student(self._session, self._submission, scope=number, main=self)

    def named(self, name: str) -> Named:
        """An object that helper code defines, as an argument of a call."""
        assert self._scope is not None, "`named` is for what `define` returns"
        return Named(name, self._scope)

    def used_code(self, grade_id: str, of_others: bool = True) -> list[str]:
        """The student's statements that the exercise depends on, a text for each cell.

        With `of_others`, also what other exercises earn their points for.
        """
        return self._submission.used_code(grade_id, of_others)

    def answers_behind(self, grade_id: str) -> list[str]:
        """The other answers with points that the exercise builds on, by their grade_ids."""
        return self._submission.answers_behind(grade_id)

    def own_code(self) -> dict[str, str]:
        """Sources of all cells that the student wrote or changed, by the cell's label."""
        return self._submission.own_code

    _culprit: int | None = None
    _death = ""
    _answer_cell = ""

    def _try_on(self, test: str, implementation: Implemented) -> Call:
        if self._waiting:  # what they do must last
            self._ask(*self._waiting.pop())
        self._remember(test, (implementation,), {})
        target = {"name": test, "scope": self._scope}
        apart = self._scope is not None or not self._submission.remembers_nothing(test)
        request = _calling(target, (implementation,), {}, 0)
        reply = self._ask(test, request, implementation=implementation, apart=apart)
        call = Call(self._value(reply, test), [], test, left=list(reply.left))
        self._note_effects(call)
        return call

    def _call(
        self,
        label: str,
        target: dict[str, Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        seed: int,
        seconds: float | None = None,
    ) -> Call:
        step = self._remember(label, args, kwargs, called="target" in target)
        reply = self._ask(label, _calling(target, args, kwargs, seed), seconds)
        step.builds = isinstance(reply.value, Module)
        call = Call(
            self._value(reply, label),
            list(reply.changed),
            label,
            step.parameters,
            list(reply.woken),
            reply.seeded,
            list(reply.left),
            (self._main or self)._effects_here(),
            dict([*enumerate(args), *kwargs.items()]),
            "target" in target,
        )
        self._note_effects(call)
        return call

    def _effects_here(self) -> SideEffects:
        return self._effects.setdefault(self._answer_cell, SideEffects())

    def _note_effects(self, call: Call) -> None:
        """Remember a call of what the exercise itself defines, if it had side effects."""
        if self._main or not call.had_effects:
            return
        index = self._submission.defining_cell(call.name)
        cell = find_cell(self._submission.notebook, self._answer_cell)
        if index is not None and self._submission.notebook.cells[index] is cell:
            self._effects_here().calls.append(call)

    def _remember(
        self, label: str, args: tuple[Any, ...], kwargs: dict[str, Any], called: bool = False
    ) -> CheckStep:
        """Store a call and its arguments for the messages about it; `called` if it is a call of a module."""
        self._asked.arguments += [*args, *kwargs.values()]
        step = CheckStep(label, self._submission.parameters_of(label, called), args, kwargs)
        self._asked.steps.append(step)
        return step

    def _drawn(self, reply: Answer, label: str, subject: str, closing: str) -> Drawing:
        """The last figure in a reply; `closing` is the call in the student's code that may have closed others."""
        if "matplotlib" in absent_libraries():
            raise codec_missing("matplotlib")
        figures = reply.value if isinstance(reply.value, list) else []
        if not figures or not isinstance(figures[-1], Drawing):
            if closing:
                raise StudentError(
                    f"{subject} has no open figure at its end: `{shortened(closing)}` closes it. Remove that call."
                )
            raise StudentError(f"{subject} draws no figure.")
        if figures[-1].is_empty:
            raise StudentError(f"{subject} draws nothing in its figure.")
        self._asked.last, self._asked.last_is_own = (label, figures[-1]), True
        return figures[-1]

    def _gradients(
        self, label: str, target: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any], seed: int
    ) -> Gradients:
        if current_kind() == "numpy":
            raise CourseError("`gradients` needs a course that works with torch")
        step = self._remember(label, args, kwargs, called="target" in target)
        step.gradients = True
        reply = self._ask(label, _calling({**target, "gradients": True}, args, kwargs, seed))
        self._note_effects(Call(None, list(reply.changed), label, step.parameters, left=list(reply.left)))
        inputs, parameters = reply.inputs, reply.parameters
        if inputs is None or parameters is None or len(inputs) != len(args):
            raise StudentError(f"`{label}` returned no gradients.")
        return Gradients(self._value(reply, label), inputs, parameters, args, step.parameters)

    def _value(self, reply: Answer, label: str) -> Any:
        # a check that fails on what its helper code returned must not blame an earlier call
        main = self._main or self
        self._asked.last = main._asked.last = label, reply.value
        main._asked.last_is_own = main is self
        return reply.value

    def _ask(
        self,
        label: str,
        request: dict[str, Any],
        seconds: float | None = None,
        implementation: Implemented | None = None,
        apart: bool = False,
    ) -> Answer:
        if self._timeouts.get(label, 0) >= _MAX_TIMEOUTS:
            raise StudentError(
                f"Not run: `{label}` ran out of time in earlier checks.", CheckOutcome.TIMED_OUT
            )
        labels, requests = zip(*self._waiting, (label, request), strict=True)
        self._waiting.clear()
        limits = self._session.limits
        seconds = max(seconds or 0, limits.call_seconds)
        if self._scope is not None or _HELPER in labels or implementation:
            # the check, not the student, pays for the time of its helper code
            seconds += limits.helper_seconds
        try:
            left = JUDGING_SECONDS - (time.process_time() - self._began) if implementation else None
            reply = self._session.exchange(
                list(requests), self._restore, describe_handle, seconds, implementation, apart, left
            )
        except ImplementationEnded as gone:
            raise StudentError(
                f"`{label}` could not finish: a function that it was tried on had to be stopped, since {gone}.",
                CheckOutcome.KERNEL_DIED,
            ) from None
        except CallTimeout as late:
            self._timeouts[label] = self._timeouts.get(label, 0) + 1
            raise StudentError(f"`{label}` {late} and was stopped.", CheckOutcome.TIMED_OUT) from None
        except KernelDied as died:
            self._culprit = self._submission.defining_cell(label)
            self._death = f"`{label}` could not finish: {died}."
            raise StudentError(self._death, CheckOutcome.KERNEL_DIED) from None
        except MessageError as error:
            raise StudentError(f"The result of `{label}` can't be read: {error}.") from None
        if isinstance(reply, Failure):
            if reply.error.type == CODEC_MISSING and reply.error.message in absent_libraries():
                raise codec_missing(reply.error.message)
            culprit = labels[reply.at] if reply.at < len(labels) else label
            raise self._reasons.of_error(culprit, reply.error, self._answer_cell)
        return reply

    def _restore(self, item: ModuleItem | ObjectItem) -> "Module | Opaque":
        if isinstance(item, ModuleItem):
            return Module(self, item.id, item.type)
        return Opaque(item.id, item.type)


def _calling(
    target: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any], seed: int
) -> dict[str, Any]:
    return {"do": "call", "args": list(args), "kwargs": kwargs, "seed": seed, **target}


#: names of notebooks that a check reaches by `student.call`, since `student` has methods of these names
TAKEN_NAMES = frozenset(name for name in vars(Student) if not name.startswith("_"))


def asked_by(student: Student) -> CheckHistory:
    """What the check that has this `student` has asked of it."""
    return student._asked


def side_effects(student: Student) -> SideEffects:
    """The calls of this exercise so far that changed an argument in place, or left a module in training mode."""
    return student._effects_here()


def begin_check(student: Student, answer_cell: str) -> None:
    """Prepare for a check of `answer_cell`: a running kernel, without objects of earlier checks.

    Raises:
        StudentError: the kernel has ended, and there are no more.
    """
    session, asked = student._session, student._asked
    student._answer_cell = answer_cell
    student._began = time.process_time()
    asked.steps.clear()
    if not session.alive and not session.restart_without(student._culprit, student._death):
        session.not_reached.add(answer_cell)
        often = len(session.deaths) >= MAX_DEATHS
        reason = f"the Python process was ended {MAX_DEATHS} times before this check"
        raise StudentError(f"Not run: {reason if often else session.deaths[-1]}.", CheckOutcome.KERNEL_DIED)
    student._waiting[:] = [("start", {"do": "forget"})]
    asked.arguments.clear()
    asked.last, asked.last_is_own = None, True


def run_lines(student: Student, source: str, needs: Sequence[str]) -> None:
    """Run some lines in a copy of the notebook's namespace, which must contain the names in `needs`.

    Raises:
        StudentError: the lines raised an exception, or a name is missing.
    """
    if student._ask("try it yourself", {"do": "try", "source": source, "needs": list(needs)}).value:
        raise StudentError(f"The notebook has no {', '.join(map(str, needs))}.")


def complaints_about(student: Student, test: str) -> dict[Implemented, str | StudentError]:
    """How this test of the student's rejected the implementations tried so far; empty texts if it didn't."""
    return student._complaints.setdefault(test, {})


def try_on(student: Student, test: str, implementation: Implemented) -> Call:
    """Call a test that the student wrote with an implementation, which runs in another process.

    No test can know what it was called with before: unless its text shows that it remembers nothing, a forked process of
    the student's kernel makes the call.

    Raises:
        StudentError: as by the methods of `Student`.
    """
    return student._try_on(test, implementation)


class Module:
    """An `nn.Module` of the student, which stays in the kernel."""

    def __init__(self, student: Student, number: int, type_name: str) -> None:
        self.id = number
        self.type_name = type_name
        self._student = student

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(*args, **kwargs).value

    def call(
        self, *args: Any, seed: int = 0, contiguous: bool = True, no_grad: bool = False, **kwargs: Any
    ) -> Call:
        target = {"target": self, "contiguous": contiguous, "no_grad": no_grad}
        return self._student._call(self.type_name, target, args, kwargs, seed)

    def gradients(self, *args: Any, seed: int = 0, **kwargs: Any) -> Gradients:
        return self._student._gradients(self.type_name, {"target": self}, args, kwargs, seed)

    def state(self) -> dict[str, Array]:
        """Parameters and persistent buffers by name."""
        return self._named_tensors("state")

    def parameters(self) -> dict[str, Array]:
        return self._named_tensors("parameters")

    def buffers(self) -> dict[str, Array]:
        """All buffers by name, also those that aren't saved with the module."""
        return self._named_tensors("buffers")

    def load_state(self, values: dict[str, Array], strict: bool = True) -> "Module":
        """Set the named parameters and buffers; the others stay as they are.

        Names that the module does not have raise an error when it is next used; with strict=False they are ignored.
        """
        return self._act("load_state" if strict else "load_known", values)

    def replace_state(self, values: dict[str, Array]) -> "Module":
        """Put new parameters and buffers in the place of the named ones, as an assignment in the notebook would."""
        return self._act("replace", values)

    def to(self, dtype: "torch.dtype") -> "Module":
        return self._act("to", str(dtype).removeprefix("torch."))

    def eval(self) -> "Module":
        return self._act("train", False)

    def train(self, mode: bool = True) -> "Module":
        return self._act("train", mode)

    def _act(self, action: str, value: Any) -> "Module":
        request = {"do": "module", "target": self, "action": action, "value": value}
        self._student._waiting.append((self.type_name, request))
        return self

    def _named_tensors(self, action: str) -> dict[str, Array]:
        request = {"do": "module", "target": self, "action": action}
        found = self._student._ask(self.type_name, request).value
        if not isinstance(found, dict) or not all(map(is_array, found.values())):
            raise StudentError(f"The parameters of `{self.type_name}` can't be read.")
        return found


def describe_handle(value: Any) -> dict[str, Any] | None:
    """The description of an object in the kernel that is sent back as an argument; None if the value isn't one."""
    match value:
        case Module() | Opaque():
            return {"$": "handle", "id": value.id}
        case Named():
            return {"$": "named", "name": value.name, "scope": value.scope}
        case Implemented():
            return {"$": "stub", "name": value.name, "methods": list(value.methods)}
    return None

"""The pytest plugin: the fixtures of hidden checks, and the results of a run.

pytest tests/02_attention                              against the instructor's solutions
pytest tests/02_attention --submission PATH.ipynb      against one submission
"""

import sys
from collections.abc import Generator, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

import msgspec
import pytest

from gradekit.checks.asserts import refuse_effects
from gradekit.checks.reference import Draw, Reference, Store
from gradekit.checks.variants import mistakes_of
from gradekit.course import RECORDED, Assignment, CourseError, blank_copy, read_notebook
from gradekit.course.cells import Doubt, decided_by_a_person, exercise_name
from gradekit.course.kernels import BUBBLEWRAP, KERNELS, LIMITED
from gradekit.inside.arrays import ArrayKind, has_torch, using
from gradekit.inside.messages import MessageError
from gradekit.session.limits import bounded
from gradekit.session.proxy import Student, asked_by, begin_check, side_effects
from gradekit.session.replies import Answer, ShortText
from gradekit.session.session import CallTimeout, KernelDied, Session
from gradekit.session.values import CheckOutcome
from gradekit.submission.submission import Submission
from gradekit.verdict.diagnosis import FailedExercise, diagnose, fingerprint_of
from gradekit.verdict.explanation import comparable_message, explain, relation_to, shown, steps_before
from gradekit.verdict.opened import open_notebook
from gradekit.verdict.results import CheckResult, ExerciseResult


class How(StrEnum):
    ASSIGNED = "assigned"
    CHANGED = "changed"
    DELETED = "deleted"


@dataclass(frozen=True)
class NameChange:
    """A name that was changed in the `cell` with this index. `asked` is the same name, or the one that uses it.

    What was replaced in a library has a name with dots, and may have been used by any answer or check.
    """

    asked: str
    name: str
    how: How
    cell: int

    @property
    def in_library(self) -> bool:
        return "." in self.name


def changes_below(session: Session, index: int, asked: Sequence[str]) -> list[NameChange] | None:
    """What the cells below the one with this index changed; None if the kernel doesn't say.

    The kernel is the student's: the changes are those that it reports.
    """
    after = max((count for place, count in session.counts.items() if place <= index), default=0)
    below = {count: place for place, count in session.counts.items() if place > index}
    if not session.alive or not below:
        return []
    request = {"do": "changes", "names": list(asked), "after": after}
    with session.off_the_record():
        try:
            reply = session.exchange([request], lambda _: None, lambda _: None, session.limits.call_seconds)
            value = reply.value if isinstance(reply, Answer) else []
            found = msgspec.convert(value, list[tuple[ShortText, ShortText, How, int]])
        except (KernelDied, CallTimeout, MessageError, msgspec.ValidationError):
            return None
    return [
        NameChange(start, name, how, below[count])
        for start, name, how, count in found
        if start in asked and all(map(str.isidentifier, name.split("."))) and count in below
    ]


_DONE = {How.ASSIGNED: "assigned again", How.CHANGED: "changed", How.DELETED: "deleted"}


class ChangedBelow:
    """Finds out, for each exercise with a failed check, what a later cell changed of what the check asked for.

    Checks run after the last cell. In Jupyter, the test cell ran before: the answer may have been right until then, or have
    used something else. So a person decides.
    """

    def __init__(self, session: Session, submission: Submission) -> None:
        self._session = session
        self._submission = submission
        self._found: dict[str, NameChange] = {}
        self._given_up = False

    def look(self, test: str, asked: list[str]) -> None:
        """Note the first change that may be why a check of the test cell `test` failed, after it `asked` for names."""
        submission = self._submission
        answer, own_place = submission.place_of(submission.answer_to(test)), submission.place_of(test)
        if answer is None or own_place is None or self._given_up or test in self._found or not asked:
            return
        changes = changes_below(self._session, max(answer, own_place), asked)
        self._given_up = changes is None  # code that hangs here, say, must not do so at every check
        above, below = submission.released_names(test)
        for change in changes or []:
            # the check was written with what the handed-out cells do with these names in mind
            own, known = submission.is_student_s(change.cell), change.name in above or change.name in asked
            meant = change.name in asked and change.name in below
            if (own and not meant) or not (known or change.in_library):
                self._found[test] = change
                return

    def doubt_about(self, exercise: ExerciseResult) -> Doubt | None:
        """A doubt about an exercise that lost points to a check that may have failed because of a later cell."""
        change = self._found.get(exercise.grade_id)
        if exercise.right or exercise.unanswered or change is None:
            return None
        user = f"`{change.asked}` uses " if change.name != change.asked and not change.in_library else ""
        name = f"{user}`{change.name}`{', which' if user else ''}"
        cell = self._submission.label(change.cell)
        what = f"{name} was {_DONE[change.how]} in the cell `{cell}` below its test cell, and the checks ran after that"
        return Doubt(exercise.grade_id, decided_by_a_person(what))


@dataclass
class Checking:
    """All checks on one notebook of a submission, and their results."""

    assignment: Assignment
    submission: Submission
    session: Session
    store: Store
    seed: int
    started_here: bool = False
    exercises: dict[str, ExerciseResult] = field(default_factory=dict)
    #: the name of each exercise in the records, by grade_id
    recorded: dict[str, str] = field(default_factory=dict)
    references: dict[str, Reference] = field(default_factory=dict)
    #: the messages of the failed checks, by `<file>::<check>` (see `gradekit.verdict.explanation`)
    messages: dict[str, str] = field(default_factory=dict)
    #: errors in the checks themselves, a line each, by the grade_id of their exercise
    faults: dict[str, list[str]] = field(default_factory=dict)
    #: sentences about anything that a person should look at
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.student = Student(self.session, self.submission)
        self.changed_below = ChangedBelow(self.session, self.submission)

    def diagnose(self) -> None:
        """Attribute the failed checks to known mistakes, once all checks of the notebook have run."""
        wrong = [exercise for exercise in self.exercises.values() if not exercise.right]
        mistakes = mistakes_of(self.assignment) if wrong else []
        for exercise in wrong:
            name = self.recorded[exercise.grade_id]
            failed = [check for check in exercise.checks if check.outcome != CheckOutcome.PASSED]
            known = FailedExercise(
                {check.name for check in failed},
                {key: seen for key, seen in self.references.items() if key.startswith(f"{name}::")},
                self.submission.used_code(exercise_name(exercise.grade_id)),
                {check.name: self.messages.get(f"{name}::{check.name}", "") for check in failed},
            )
            own = [mistake for mistake in mistakes if mistake.exercise == exercise.grade_id]
            found = diagnose(self.store, known, own)
            for check in failed:
                if check.outcome == CheckOutcome.FAILED and (diagnosis := found.get(check.name)):
                    check.mistake, check.diagnosis = diagnosis.mistake, diagnosis.text


CHECKINGS = pytest.StashKey[dict[tuple[Path, str], Checking]]()
#: by the folder of their checks
_ASSIGNMENTS = pytest.StashKey[dict[Path, Assignment]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gradekit")
    group.addoption("--submission", type=Path, help="notebook to check, instead of the instructor's solution")
    sandbox = "sandbox around the submission; `none` for trusted code"
    group.addoption("--sandbox", choices=KERNELS, default=BUBBLEWRAP, help=sandbox)
    group.addoption(
        "--draw-seed", type=int, help="seed for the checks that draw their inputs, to replay a run"
    )


def pytest_configure(config: pytest.Config) -> None:
    for marker in (
        "points(n, see): the points of a hidden check, and the heading that explains it",
        "side_effects: the exercise asks for code that changes its arguments, or the mode of a model; for `pytestmark`",
    ):
        config.addinivalue_line("markers", marker)
    config.stash.setdefault(CHECKINGS, {})
    config.stash.setdefault(_ASSIGNMENTS, {})


def pytest_unconfigure(config: pytest.Config) -> None:
    for checking in config.stash[CHECKINGS].values():
        if checking.started_here:
            checking.session.close()


def pytest_pycollect_makemodule(module_path: Path) -> None:
    """Let check files import the modules beside them, as they can when a submission is graded."""
    folder = module_path.parent
    if (folder / RECORDED).exists() and str(folder) not in sys.path:
        sys.path.append(str(folder))


#: the checks that are being run, one inside the other; a fixture that has `request` instead costs three times as much
_running: list[pytest.Item] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    _running.append(item)
    try:
        return (yield)
    finally:
        _running.pop()


def _checking() -> Checking:
    """That of the check that is being run."""
    item = _running[-1]
    checkings = item.config.stash[CHECKINGS]
    key = _key(item)
    if key not in checkings:
        checkings[key] = _start_checking(key, item.config)
    return checkings[key]


@pytest.fixture
def checking() -> Checking:
    return _checking()


@pytest.fixture
def arrays() -> ArrayKind:
    """The kind of arrays that `student`, `reference` and `draw` return: "torch" or "numpy".

    The default is torch, if it is installed. A course that uses NumPy arrays even where torch is installed says so
    in the `conftest.py` beside its checks:

        @pytest.fixture
        def arrays():
            return "numpy"
    """
    return "torch" if has_torch() else "numpy"


@pytest.fixture(autouse=True)
def _kind_of_arrays(arrays: ArrayKind) -> Iterator[None]:
    with using(arrays):
        yield


@pytest.fixture
def student() -> Student:
    """The submission: its functions and classes are called by name."""
    checking = _checking()
    begin_check(checking.student, checking.submission.answer_to(_running[-1].path.stem))
    return checking.student


@pytest.fixture
def reference() -> Reference:
    """Recorded inputs, and comparison with the recorded values of the instructor's solution."""
    checking = _checking()
    name = _check_name(_running[-1], checking)
    asked = asked_by(checking.student)
    checking.references[name] = Reference(checking.store, name, lambda: asked.last is not None)
    return checking.references[name]


@pytest.fixture
def draw() -> Draw:
    """Random sizes and inputs, different for each submission."""
    checking = _checking()
    return Draw(checking.seed, _check_name(_running[-1], checking))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Limit the check itself, but not its fixtures: `student` may start a process, which would inherit the limit.

    A check that passes fails nevertheless if the code that it called has side effects, unless another check of the file
    is about that, or the exercise is marked `side_effects`.
    """
    if not pyfuncitem.get_closest_marker("points"):
        return (yield)
    with bounded():
        value = yield
    checking = pyfuncitem.config.stash[CHECKINGS].get(_key(pyfuncitem))
    if checking and "student" in pyfuncitem.fixturenames:
        effects = side_effects(checking.student)
        if pyfuncitem.get_closest_marker("side_effects"):  # no exercise asks for torch's settings to change
            effects.calls = [replace(call, changed=[], woken=[], seeded=False) for call in effects.calls]
        if not effects.told and (effects.asked or not hasattr(pyfuncitem.module, "assert_unchanged")):
            refuse_effects(effects)
    return value


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    marker = item.get_closest_marker("points")
    has_ended = call.when == "call" or (call.when == "setup" and call.excinfo)
    checking = item.config.stash[CHECKINGS].get(_key(item)) if marker and has_ended else None
    if marker is None or checking is None:
        return report
    test, name, drawn = item.path.stem, _check_name(item, checking), "draw" in item.fixturenames
    exercise = checking.exercises.setdefault(test, ExerciseResult(test))
    checking.recorded[test] = checking.assignment.name_in_records(item.path)
    outcome, message, relation = CheckOutcome.PASSED, "", ""
    if call.excinfo is not None:
        error = call.excinfo.value
        ending = explain(error, checking.student, item.path)
        if ending is None:
            checking.faults.setdefault(test, []).append(f"{item.nodeid}{_fault(call.excinfo, item)}")
            ending = (CheckOutcome.FAILED, "")
        outcome, message = ending[0], shown(ending[1])
        if text := comparable_message(error, outcome, message, drawn):
            checking.messages[name] = text
        if "student" in item.fixturenames:
            asked = [step.name for step in asked_by(checking.student).steps]
            asked = asked or sorted(checking.submission.asked_names(test))  # a check of the code
            checking.changed_below.look(test, list(dict.fromkeys(asked)))
        failed = outcome == CheckOutcome.FAILED
        relation = shown(relation_to(error, checking.student)) if failed else ""
    fingerprint, numbers = fingerprint_of(outcome, message, checking.references.get(name), drawn)
    exercise.checks.append(
        CheckResult(
            name=item.name,
            sentence=_sentence(item),
            points=float(marker.args[0]),
            outcome=outcome,
            message=message,
            relation=relation,
            tried=steps_before(outcome, checking.student),
            see=marker.kwargs.get("see", ""),
            seconds=round(call.duration, 3),
            fingerprint=fingerprint,
            fingerprint_numbers=numbers,
        )
    )
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for checking in config.stash[CHECKINGS].values():
        checking.diagnose()
        terminalreporter.section(f"points of {checking.assignment.name}")
        for exercise in checking.exercises.values():
            terminalreporter.line(f"{exercise.grade_id}: {exercise.earned:g} of {exercise.points:g} points")
            for check in exercise.checks:
                if check.outcome != CheckOutcome.PASSED:
                    said = filter(None, (check.tried, check.message, check.relation, check.diagnosis))
                    terminalreporter.line(" ".join([f"  {check.name}: {check.outcome}.", *said]))


def _fault(found: pytest.ExceptionInfo[BaseException], item: pytest.Function) -> str:
    """The line in which the code of a check failed, and its exception."""
    if isinstance(found.value, pytest.FixtureLookupError):
        return f": there is no fixture `{found.value.argname}`"
    lines = [entry.lineno + 1 for entry in found.traceback if entry.path == item.path]
    place = f", line {lines[-1]}" if lines else ""
    return f"{place}: {found.exconly().splitlines()[0]}"


def _sentence(item: pytest.Function) -> str:
    return " ".join((item.function.__doc__ or item.name.removeprefix("test_").replace("_", " ")).split())


def _check_name(item: pytest.Item, checking: Checking) -> str:
    return f"{checking.assignment.name_in_records(item.path)}::{item.name}"


def _assignment_of(folder: Path, config: pytest.Config) -> Assignment:
    if folder not in config.stash[_ASSIGNMENTS]:
        from gradekit.course.configuration import course_in, read_configuration  # it imports all of nbgrader

        found = course_in(read_configuration(folder.parent.parent).folders)
        course = replace(found, tests=folder.parent.name)
        config.stash[_ASSIGNMENTS][folder] = course.assignment(folder.name)
    return config.stash[_ASSIGNMENTS][folder]


def _key(item: pytest.Item) -> tuple[Path, str]:
    """The folder of an assignment's checks, and the name of the notebook that the check belongs to."""
    for key, checking in item.config.stash[CHECKINGS].items():
        if not checking.started_here:
            return key
    folder = item.path.parent
    outer = _assignment_of(folder.parent, item.config)
    if (outer.source_folder / f"{folder.name}.ipynb").exists():  # a folder with the checks of one notebook
        return outer.checks, folder.name
    return folder, _assignment_of(folder, item.config).notebook_of(item.path.stem).stem


def _start_checking(key: tuple[Path, str], config: pytest.Config) -> Checking:
    folder, name = key
    assignment = _assignment_of(folder, config)
    path = config.getoption("--submission")
    if path is None:
        source = next(path for path in assignment.source_notebooks() if path.stem == name)
        notebook = read_notebook(source)
        submission = Submission(notebook, blank_copy(notebook))
    else:
        if len(assignment.source_notebooks()) > 1 and path.stem != name:
            raise CourseError(f"--submission {path}: name one check file of the notebook `{path.stem}`")
        released = assignment.released(name)
        opened = open_notebook(assignment, path, released, name=name, alone=True)
        if opened.result.status:
            raise CourseError(opened.result.notes[0])
        submission = Submission(opened.notebook, released)
    # the instructor's own code needs no sandbox
    kernel = KERNELS[config.getoption("--sandbox")] if path else LIMITED
    files = assignment.working_files()
    session = Session(deepcopy(submission.notebook), kernel_name=kernel, files=files, handed_out=files)
    session.run_cells()
    seed = config.getoption("--draw-seed")
    store = Store.load(folder)
    return Checking(
        assignment, submission, session, store, submission.seed if seed is None else seed, started_here=True
    )

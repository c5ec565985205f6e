"""Questions about right and wrong answers of a real assignment, answered a third time, without the tracer."""

import ast
import math
import re
import shutil
from contextlib import suppress
from copy import deepcopy
from pathlib import Path

import pytest

from gradekit.checks.variants import alternatives_of, mistakes_of
from gradekit.course import Course
from gradekit.grading.running_course import RunningCourse
from gradekit_authoring.samples import Sample, write_class
from gradekit_integrity.viva.questions import Question, QuestionKind
from gradekit_integrity.viva.sheets import make_sheet, tasks_of

from ...gradekit.tests.forked import run_forked

torch = pytest.importorskip("torch", reason="torch is not installed")

pytestmark = pytest.mark.thorough
ROOT = Path(__file__).parents[3]
ASSIGNMENT = "02_attention"
ANSWERS = [
    *("loops", "masked_loops", "causal_loops", "padding_loops", "minus_infinity_then_nan_to_num"),
    *(
        "mask_expanded_first",
        "mask_transposed",
        "by_hand_sigmoid",
        "padding_without_a_query_axis",
        "mask_needed",
    ),
]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """The assignment, handed in by ten students with different answers."""
    course = Course(tmp_path_factory.mktemp("viva") / "course")
    for folder in ("source", "tests"):
        ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
        shutil.copytree(ROOT / folder / ASSIGNMENT, course.root / folder / ASSIGNMENT, ignore=ignored)
    shutil.copy(ROOT / "nbgrader_config.py", course.root)
    done = run_forked(["nbgrader", "generate_assignment", ASSIGNMENT], course.root)
    assert done.returncode == 0, done.stderr
    assignment = course.assignment(ASSIGNMENT)
    variants = {one.name: one for one in (*alternatives_of(assignment), *mistakes_of(assignment))}
    write_class(
        assignment, course.root / "submitted", [Sample(name, variants=(variants[name],)) for name in ANSWERS]
    )
    return course


@pytest.mark.parametrize("student", ANSWERS)
def test_every_answer_is_true(student, course):
    assignment = course.assignment(ASSIGNMENT)
    running = RunningCourse.open(course.root)
    (task,) = tasks_of(running, assignment, [student])
    sheet = make_sheet(assignment, task, 1000, 0)
    assert sheet.problem == "" and sheet.dropped == 0
    sources = {cell: source for (_, cell), source in sheet.sources.items()}
    names = {"torch": torch, "math": math, "F": torch.nn.functional}
    for source in sources.values():
        exec(source, names)
    truths = {one: answered(one, sources[one.cell], names) for one in sheet.questions}
    proven = {one: truth for one, truth in truths.items() if truth is not None}
    assert [(one, truth) for one, truth in proven.items() if not one.answer.startswith(truth)] == []
    assert len(proven) > 30
    assert len({one.kind for one in proven}) > 2


def answered(one: Question, source: str, names: dict) -> str | None:
    """The beginning of the answer, from a run with a probe in the source; None for kinds that need more than that."""
    if one.kind not in PROBES or len(one.calls) != 1 or not one.calls[0][0] or "first time" in one.text:
        return None
    title, inputs = one.calls[0]
    node = next(n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.stmt) and n.lineno == one.line)
    line, column, probe = PROBES[one.kind](node, one.text)
    lines = source.split("\n")
    lines.insert(line, " " * column + probe)
    seen: list = []
    namespace = names | {"seen": seen, "deepcopy": deepcopy}
    exec("\n".join(lines), namespace)
    arguments = [read_input(text) for text in inputs]
    with suppress(Exception):  # the question may be about a call that fails below this line
        namespace[title.partition("(")[0]](*arguments)
    match one.kind:
        case QuestionKind.SHAPE:
            return f"`{tuple(seen[0].shape)}`"
        case QuestionKind.VALUE:
            return f"`{seen[0]!r}`" if "value of" in one.text else str(len(seen[0]))
        case QuestionKind.LOOP:
            return {0: "Never.", 1: "Once."}.get(len(seen), f"{len(seen)} times.")
        case _:
            return "Yes" if seen else "No"


def after(node: ast.stmt, text: str) -> tuple[int, int, str]:
    name = re.findall(r"`(\w+)`", text)[-1]
    return node.end_lineno, node.col_offset, f"seen.append(deepcopy({name}))"


def inside(node: ast.stmt, text: str) -> tuple[int, int, str]:
    return node.body[0].lineno - 1, node.body[0].col_offset, "seen.append(1)"


PROBES = {
    QuestionKind.SHAPE: after,
    QuestionKind.VALUE: after,
    QuestionKind.LOOP: inside,
    QuestionKind.BRANCH: inside,
}


def read_input(text: str) -> object:
    """An input as the page shows it; where only its shape is shown, one with other values."""
    text = text.partition(": ")[2]
    if text.startswith("lambda "):  # a function of a visible test
        return eval(text, {"torch": torch})
    found = re.fullmatch(r"(?:(.*) \()?shape (\(.*?\)), (\w+)\)?", text)
    if not found:
        return ast.literal_eval(text)
    literal, shape, dtype = found.groups()
    kind, size = getattr(torch, dtype), ast.literal_eval(shape)
    return (
        torch.tensor(ast.literal_eval(literal), dtype=kind).reshape(size)
        if literal
        else torch.ones(size, dtype=kind)
    )

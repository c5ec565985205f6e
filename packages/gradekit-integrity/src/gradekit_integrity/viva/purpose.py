"""Questions about the purpose of a line: the exercise's checks are run without it, and those that fail are the rubric."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from nbformat import NotebookNode, from_dict

from gradekit.course import CourseError
from gradekit.course.cells import find_cell
from gradekit.course.printing import printable
from gradekit.session.kernel import NotStarted
from gradekit.session.values import CheckOutcome
from gradekit.submission.names import UNWRITABLE
from gradekit.verdict.collected import GraderCrash
from gradekit.verdict.grade import Offer, grade
from gradekit.verdict.opened import GradingJob
from gradekit.verdict.results import CheckResult, Status
from gradekit_integrity.viva.questions import Asked, Question, QuestionKind
from gradekit_integrity.viva.running import tests_of
from gradekit_integrity.viva.statements import Sort

#: for checks that draw their inputs; the same ones have to fail with both
_SEEDS = 1, 2
#: lines of one student that are tried
_LINES_AT_MOST = 6
#: checks that a rubric names
_NAMED_AT_MOST = 4
#: without these operations, the first operand is left
_OPERATIONS = (ast.Div, ast.Mult, ast.Add, ast.Sub, ast.FloorDiv, ast.Mod)
#: a missing name says nothing about the line that defines it
_MISSING = ("NameError", "UnboundLocalError")
#: how the message of a check about an exception begins
_EXCEPTION = re.compile(r"^`[^`]*` raised |^(?!AssertionError)\w+(Error|Exception)\b")
Checks = dict[str, CheckResult]


@dataclass(frozen=True)
class ShortenedAnswer:
    """An answer without a statement, or with a shorter one `instead`."""

    source: str
    instead: str = ""


def purposes(asked: Asked) -> Iterator[tuple[Question, ShortenedAnswer]]:
    """A question about each line of an answer that can be left out or shortened; nothing is proven yet."""
    nodes = {
        node.lineno: node for node in ast.walk(ast.parse(asked.code.source)) if isinstance(node, ast.stmt)
    }
    for number, one in enumerate(asked.code.statements):
        if not asked.is_open(number) or not one.alone:
            continue
        if one.sort in (Sort.ASSIGN, Sort.CALL) and one.optional:
            change = ShortenedAnswer(asked.code.without(one))
        elif instead := _shorter(nodes[one.first], asked.code.local_names):
            change = ShortenedAnswer(asked.code.without(one, instead), instead)
        else:
            continue
        text = f"What is line {one.first} for? Say what would be wrong without it."
        how = f"replaced by `{change.instead}`" if change.instead else "taken out"
        answer = (
            f"One of these is enough, in any words. Found by running the checks with line {one.first} {how}:"
        )
        yield asked.question(QuestionKind.PURPOSE, text, answer, one), change


def _shorter(node: ast.stmt, names: frozenset[str]) -> str:
    """The statement without its last operation, such as `w = s` for `w = softmax(s)`; empty if there is none."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            start = f"{name} = "
        case ast.Return(value=ast.expr() as value):
            start = "return "
        case _:
            return ""
    inner = _inside(value, names)
    try:
        text = "" if inner is None else start + ast.unparse(inner)
        return "" if "`" in text or text == ast.unparse(node) else text
    except UNWRITABLE:
        return ""


def _inside(value: ast.expr, names: frozenset[str]) -> ast.expr | None:
    """An expression without its outermost operation; None if the rest doesn't use a name of the answer."""
    match value:
        case ast.BinOp(op=op, left=left, right=right) if isinstance(op, _OPERATIONS):
            found = right if isinstance(left, ast.Constant) else left
        case ast.UnaryOp(operand=operand):
            found = operand
        case ast.Subscript(value=inner):
            found = inner
        case ast.Call(func=ast.Attribute(value=inner)) if _has_name(inner, names):
            found = inner
        case ast.Call(args=[first, *_]) if not isinstance(first, ast.Starred | ast.GeneratorExp):
            found = first
        case _:
            return None
    return found if _has_name(found, names) else None


def _has_name(node: ast.expr, names: frozenset[str]) -> bool:
    return any(isinstance(one, ast.Name) and one.id in names for one in ast.walk(node))


@dataclass
class Prover:
    """Runs the checks of one student's answers with and without a line."""

    jobs: dict[str, GradingJob] = field(default_factory=dict)
    changes: dict[Question, ShortenedAnswer] = field(default_factory=dict)
    _before: dict[tuple[str, str, int], Checks] = field(default_factory=dict)
    _tried: int = 0

    def proven(self, question: Question) -> Question | None:
        """The question with its rubric; None if no check fails without the line."""
        change = self.changes[question]
        if self._tried >= _LINES_AT_MOST:
            return None
        self._tried += 1
        job = self.jobs[question.notebook]
        found: list[Checks] = []
        for seed in _SEEDS:
            broken = self._broken(job, question.cell, change, seed)
            if not broken:
                return None
            found.append(broken)
        first, second = found
        rubric = _rubric([first[name] for name in first if name in second], change)
        return replace(question, rubric=rubric) if rubric else None

    def _broken(self, job: GradingJob, cell: str, change: ShortenedAnswer, seed: int) -> Checks:
        """The checks that pass, and fail after the change."""
        key = job.name, cell, seed
        if key not in self._before:
            self._before[key] = self._checks(job, cell, None, seed)
        before = self._before[key]
        passed = {name for name, check in before.items() if check.outcome == CheckOutcome.PASSED}
        if not passed:
            return {}
        after = self._checks(job, cell, change.source, seed)
        return {
            name: check
            for name, check in after.items()
            if name in passed and check.outcome == CheckOutcome.FAILED
        }

    def _checks(self, job: GradingJob, cell: str, source: str | None, seed: int) -> Checks:
        """The outcomes of an answer's checks with a different source of its cell; none if they are unknown."""
        notebook: NotebookNode = from_dict(job.notebook)
        if source is not None and (found := find_cell(notebook, cell)) is not None:
            found.source = source
        tests = tests_of(job.released, cell)
        try:
            graded = grade(replace(job, notebook=notebook), seed=seed, exercises=tests, offer=Offer.NONE)
        except (CourseError, GraderCrash, NotStarted):  # a check may expect what only a whole answer has
            return {}
        if graded.result.status in (Status.TIMED_OUT, Status.KERNEL_DIED):
            self._tried = _LINES_AT_MOST  # another run would take as long
            return {}
        if graded.result.suspect:
            return {}
        return dict(graded.result.named_checks())


def _rubric(broken: list[CheckResult], change: ShortenedAnswer) -> tuple[str, ...]:
    """The findings of the checks: known mistakes first, then each check's message."""
    telling = [check for check in broken if not any(name in check.message for name in _MISSING)]
    wrong = [check for check in telling if not _EXCEPTION.search(check.message)]
    if not telling or (change.instead and not wrong):
        return ()  # a name is missing, or the shorter line makes no sense
    mistakes = [f"A known mistake: “{text}”" for text in dict.fromkeys(c.diagnosis for c in telling) if text]
    ordered = sorted(telling, key=lambda check: (check not in wrong, not check.relation))
    named = [_said(check) for check in ordered[:_NAMED_AT_MOST]]
    return tuple(dict.fromkeys([*mistakes, *named]))


def _said(check: CheckResult) -> str:
    sentence = check.sentence.rstrip(".")
    parts = [f"“{sentence}” no longer holds.", check.message, check.relation]
    return printable(" ".join(part for part in parts if part), None)

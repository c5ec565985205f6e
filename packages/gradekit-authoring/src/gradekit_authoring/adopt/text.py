"""The report on an existing course as lines for a person."""

import re
from collections.abc import Iterable, Iterator, Sequence

from gradekit.course.cells import CellKind
from gradekit.course.printing import aligned_lines, counted
from gradekit.verdict.results import points_in_words
from gradekit_authoring.adopt.autograder_comparison import AutograderComparison, ScorePair
from gradekit_authoring.adopt.survey import AssignmentReport, CourseReport, NotebookReport

_WITH_POINTS = (CellKind.BOUND, CellKind.ORDINARY, CellKind.MANUAL, CellKind.TASK)
_MAX_CELLS = 2  # more than these are counted
_MAX_PLACES = 3  # of one finding
#: what follows the path of a notebook in a sentence: a cell or some cells of it, and what is said about them
_PLACE = re.compile(
    r"(?:, (?P<cell>cell \d+[^:]*): |: (?:(?:each of )?(?P<cells>cells? [\d, ]*\d) )?)(?P<says>.*)", re.S
)
#: differences in every course
_DIFFERENT = (
    "A notebook that is missing or can't be read gets a status and no score. nbgrader scores a missing one as 0 points.",
    "A feedback page shows no hidden tests, and no tracebacks, which quote them.",
)
_MEANINGS = {
    CellKind.BOUND: "graded by hidden checks in its check file",
    CellKind.ORDINARY: "its own tests run with the student's code, scored by nbgrader's rule",
    CellKind.MANUAL: "an answer that a person grades, in formgrader",
    CellKind.TASK: "a task that a person grades, in formgrader",
    CellKind.ANSWER: "an answer that test cells grade",
    CellKind.GIVEN: "locked text or code of yours, restored before grading",
    CellKind.UNSUPPORTED: "can't be graded as it is; see below",
}


def report_lines(report: CourseReport) -> Iterator[str]:
    yield f"{report.root}: {'already uses gradekit' if report.adopted else 'an nbgrader course without gradekit'}"
    for assignment in report.assignments:
        yield ""
        yield from _assignment_lines(assignment)
    if kinds := {cell.kind for notebook in report.notebooks for cell in notebook.cells}:
        yield ""
        yield from (f"{kind:11}  {meaning}" for kind, meaning in _MEANINGS.items() if kind in kinds)
    yield from _section("What gradekit adds", _gains(report))
    yield from _section("What will be different", [*_DIFFERENT, *_together(report, report.changes)])
    yield from _section("What has to be fixed first", _together(report, report.problems))
    yield ""
    yield from _next_steps(report)


def comparison_lines(found: AutograderComparison) -> Iterator[str]:
    """All that `gradekit adopt --compare` prints about one assignment.

    A row is for all cells of a notebook with equal scores, or for those that differ for one reason.
    """
    yield found.assignment
    rows = []
    for student, notebook in dict.fromkeys((score.student, score.notebook) for score in found.scores):
        own = [score for score in found.scores if (score.student, score.notebook) == (student, notebook)]
        if equal := [score for score in own if score.equal]:
            cells = "all cells" if len(equal) == len(own) else f"{len(equal)} of {len(own)} cells"
            rows.append([student, notebook, cells, *_sums(equal), "equal"])
        different = [score for score in own if not score.equal]
        for why in dict.fromkeys(score.why for score in different):
            alike = [score for score in different if score.why == why]
            rows.append([student, notebook, _cells(alike), *_sums(alike), why])
    header = ["student", "notebook", "cell", ">nbgrader", ">gradekit", "why"]
    yield from (f"  {line}" for line in aligned_lines(header, rows))
    equal_count = len(found.scores) - len(found.different)
    yield f"  {equal_count} of {len(found.scores)} scores are equal."
    yield (
        f"  nbgrader took {found.nbgrader_seconds:.1f} s in one process, "
        f"gradekit {found.gradekit_seconds:.1f} s with {counted(found.workers, 'worker')}."
    )
    if found.left_out:
        yield f"  Left out of the copies, since they are large: {', '.join(found.left_out)}"


def _cells(scores: Sequence[ScorePair]) -> str:
    names = [score.cell for score in scores]
    return ", ".join(names) if len(names) <= _MAX_CELLS else f"{len(names)} cells"


def _sums(scores: Sequence[ScorePair]) -> list[str]:
    return [_sum(score.nbgrader for score in scores), _sum(score.gradekit for score in scores)]


def _sum(scores: Iterable[float | None]) -> str:
    """The sum of the automatic scores; `-` if a person grades all of them."""
    found = [score for score in scores if score is not None]
    return f"{sum(found):g}" if found else "-"


def _assignment_lines(assignment: AssignmentReport) -> Iterator[str]:
    count = assignment.submissions
    submissions = counted(count, "submission") if count else "no submissions"
    yield f"{assignment.name}, {submissions}"
    for notebook in assignment.notebooks:
        yield from (f"  {line}" for line in _notebook_lines(notebook))
    if not assignment.notebooks:
        yield "  no notebook"
    sums = []
    for kind in _WITH_POINTS:
        if points := [cell.points or 0 for cell in assignment.cells if cell.kind is kind]:
            sums.append(f"{len(points)} {kind}, {points_in_words(sum(points))}")
    if sums:
        yield f"  in total: {'; '.join(sums)}"


def _notebook_lines(notebook: NotebookReport) -> Iterator[str]:
    language = "" if notebook.language == "python" else f" ({notebook.language})"
    yield f"{notebook.path.name}{language}"
    if not notebook.cells:
        yield "  no cell that nbgrader knows"
        return
    rows = [
        [str(cell.position), cell.kind, "" if cell.points is None else f"{cell.points:g}", cell.grade_id]
        for cell in notebook.cells
    ]
    yield from (f"  {line}" for line in aligned_lines([">cell", "kind", ">points", "grade_id"], rows))


def _gains(report: CourseReport) -> Iterator[str]:
    yield "Each submission runs in a sandbox: no network, no other student's work, limits on time and memory."
    yield "Several submissions are graded at a time, and each gets a status. None stops the class."
    ordinary = [
        cell.grade_id
        for notebook in report.notebooks
        for cell in notebook.cells
        if cell.kind is CellKind.ORDINARY and notebook.language == "python"
    ]
    if ordinary:
        yield f"Hidden checks are possible for {counted(len(ordinary), 'ordinary cell')}, one cell at a time, such as `{ordinary[0]}`."


def _together(report: CourseReport, sentences: Iterable[str]) -> Iterator[str]:
    """The sentences, with one in place of those that say the same about several notebooks or cells."""
    paths = sorted((str(notebook.path) for notebook in report.notebooks), key=len, reverse=True)
    places: dict[str, dict[str, str]] = {}  # by what is said; the whole sentence by place
    for sentence in sentences:
        path = next((path for path in paths if sentence.startswith(path)), "")
        found = _PLACE.match(sentence, len(path)) if path else None
        cells = found and (found["cells"] or found["cell"])
        place = f"{path}, {cells}" if cells else path
        places.setdefault(found["says"] if found else sentence, {})[place] = sentence
    for says, alike in places.items():
        if len(alike) == 1:
            yield from alike.values()
        else:
            more = f" and {len(alike) - _MAX_PLACES} more" if len(alike) > _MAX_PLACES else ""
            yield f"{'; '.join(list(alike)[:_MAX_PLACES])}{more}: {says}"


def _section(title: str, sentences: Sequence[str] | Iterator[str]) -> Iterator[str]:
    if found := list(sentences):
        yield ""
        yield f"{title}:"
        yield from (f"  - {sentence}" for sentence in found)


def _next_steps(report: CourseReport) -> Iterator[str]:
    if report.adopted:
        yield "Next: `gradekit autograde`."
        return
    if any(assignment.submissions for assignment in report.assignments):
        yield "Next: `gradekit adopt --compare` grades the submissions with nbgrader and gradekit, in copies."
    yield "`gradekit adopt --write` adds gradekit to nbgrader_config.py, at its end: one import and one line."

"""In generate_feedback: write a page for a graded notebook, without scripts or network."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from nbconvert.exporters import Exporter
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import BaseConverter
from nbgrader.preprocessors import GetGrades
from traitlets import TraitError, default
from traitlets.log import get_logger

from gradekit.attempts import AttemptRules, Attempts, Shows
from gradekit.attempts.attempt_line import AttemptLine, NotebookPage, attempt_line
from gradekit.course import CourseError
from gradekit.course.cells import grade_id, is_locked_cell, is_test_cell
from gradekit.course.course_time import CourseTime
from gradekit.course.files import notebooks_in, written_at
from gradekit.course.language import N_, FeedbackPage, _, current_language, speaking
from gradekit.course.printing import printable
from gradekit.nbgrader_plugin.converters import (
    OneFolder,
    copy_for_release,
    copy_nothing,
    find_folders,
    leave_out_ungraded,
    removing_unfinished,
)
from gradekit.nbgrader_plugin.course_folders import Stop, configured_course, require_gradebook, stop
from gradekit.nbgrader_plugin.late import second_chance_of
from gradekit.nbgrader_plugin.steps import RESULT
from gradekit.page import TooCostly, render_in_child
from gradekit.page.check_table import (
    EXPLANATIONS,
    JINJA_PAGES,
    deadline_of,
    first_things,
    hide_outputs,
    result_as_shown,
    score_rows,
)
from gradekit.page.displayed import Pictures, text_and_pictures
from gradekit.page.headings import page_titles
from gradekit.page.markdown import highlighted_code, safe_markdown
from gradekit.page.page_parts import PageParts, Part
from gradekit.submission.extra_files import time_handed_in
from gradekit.verdict.results import STATUSES, Status, SubmissionResult

#: CPU seconds, MiB and bytes; a page that needs more shows the points only. The budget of its cells is far below that
_PAGE_SECONDS, _PAGE_MEMORY, _PAGE_BYTES = 30.0, 1_024, 64 * 2**20
#: notes on a page, and characters in each
MAX_NOTES, MAX_NOTE = 50, 600
#: functions of other packages that add a part to a page: of (assignment, student, name, notebook, clock), as HTML or empty
_SECTIONS = "gradekit.page_sections"
#: key of the resources: the student's deadline
DEADLINE = "deadline"
NOT_RENDERED = N_(
    "Your notebook can't be shown here: formatting it takes too much time or memory. Your points are not affected."
)


class FeedbackExporter(Exporter):
    """Exports a graded notebook as one HTML file."""

    output_mimetype = "text/html"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if isinstance(self.parent, BaseConverter):
            if not isinstance(self.parent, OneFolder):
                require_gradebook(self.log, self.parent.coursedir, writing=False)
                find_folders(self.parent, self.parent.coursedir.autograded_directory)
                leave_out_ungraded(self.parent)
            copy_nothing(self.parent)

    @default("file_extension")
    def _file_extension_default(self) -> str:
        return ".html"

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **options: Any
    ) -> tuple[NotebookNode, dict[str, Any]]:
        if not isinstance(self.parent, BaseConverter) or resources is None:
            return super().from_filename(filename, resources, **options)
        with removing_unfinished(self.parent, resources["nbgrader"]):
            return super().from_filename(filename, resources, **options)

    def from_notebook_node(  # type: ignore[override] # as in nbconvert's other exporters, its output is text
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **options: Any
    ) -> tuple[str, dict[str, Any]]:
        try:
            with speaking(FeedbackPage(config=self.config).language, configured_course(self.config).root):
                return self._export(nb, resources, **options)
        except (CourseError, TraitError) as error:
            stop(self.log, str(error))

    def _export(
        self, nb: NotebookNode, resources: dict[str, Any] | None, **options: Any
    ) -> tuple[str, dict[str, Any]]:
        nb, filled = super().from_notebook_node(nb, resources, **options)
        names = dict(filled["nbgrader"])
        released = self._released(names)
        _hide_hidden_tests(nb, released)
        given = frozenset(cell.source.strip() for cell in released)
        folder = Path(filled["metadata"].get("path", ""))
        frame = self._frame(nb, names, folder)

        def whole_page() -> str:
            pictures = Pictures(folder)
            shows, requests = frame.shows, frame.requests
            parts = PageParts(nb, frame.result, given, shows=shows, requests=requests, pictures=pictures)
            return _rendered(nb, frame, parts.parts())

        try:
            page = render_in_child(whole_page, _PAGE_SECONDS, _PAGE_MEMORY, _PAGE_BYTES)
        except TooCostly as error:  # the points and the reason, without any of the student's text
            only_points = replace(frame, result=replace(frame.result, notes=[], cells=[]), sections=[])
            page = _rendered(nb, only_points, [], NOT_RENDERED)
            self.log.warning(
                "The feedback page of %s for %s shows the points only: the notebook could not be rendered (%s). "
                "Look at it in autograded/.",
                frame.names["student"],
                names["notebook"],
                error,
            )
        if isinstance(self.parent, BaseConverter):
            folders = self.parent.coursedir
            target = folders.format_path(folders.feedback_directory, names["student"], names["assignment"])
            copy_for_release(folder, Path(target))
        return page, filled

    def _frame(self, nb: NotebookNode, names: dict[str, Any], folder: Path) -> "_Frame":
        """Everything on the page besides the cells, without anything that it must not show yet."""
        assignment, student = names["assignment"], names["student"]
        rule = AttemptRules(config=self.config).of(assignment)
        of = configured_course(self.config).assignment(assignment)
        attempts = Attempts.load(of.course.root, assignment, student)
        plugin = second_chance_of(self.config)
        now, deadline = datetime.now(UTC), names.get(DEADLINE)
        shows = rule.shown(now, deadline)
        result = result_as_shown(_result(nb), shows)
        hide_outputs(nb.cells, result, shows)
        chance = plugin.chance if plugin else None
        page = NotebookPage(names["notebook"], result, shows, now, deadline, chance, page_titles(nb))
        handed_in = self._handed_in(assignment, student, folder)
        attempt = attempt_line(attempts, handed_in, rule, page) if handed_in else None
        clock = CourseTime(config=self.config)
        due, came = (clock.in_words(time) if time else "" for time in (deadline, deadline and handed_in))
        shown = names | {"student": printable(str(student))}
        requests = FeedbackPage(config=self.config).requests
        sections = []
        for point in entry_points(group=_SECTIONS):
            try:
                sections.append(point.load()(of, student, names["notebook"], nb, clock))
            except CourseError as error:  # a file of another package costs the page only its part
                lacks = shown["student"], names["notebook"], error
                self.log.warning("The page of %s for %s lacks a section: %s", *lacks)
        return _Frame(shown, result, shows, attempt, due, came, requests, sections)

    def _handed_in(self, assignment: str, student: str, autograded: Path) -> datetime | None:
        """The time in timestamp.txt, or else that of the newest notebook, as `gradekit watch --folder` takes it."""
        time = time_handed_in(autograded)
        if time is not None:
            return time.replace(tzinfo=UTC)
        if not isinstance(self.parent, BaseConverter):
            return None
        folders = self.parent.coursedir
        submitted = Path(folders.format_path(folders.submitted_directory, student, assignment))
        times = [written_at(path.lstat()) for path in notebooks_in(submitted)]
        return datetime.fromtimestamp(max(times), UTC) if times else None

    def _released(self, names: dict[str, Any]) -> list[NotebookNode]:
        """The released cells; none if there is no release, so all are shown as the student's own."""
        assignment = configured_course(self.config).assignment(names["assignment"])
        try:
            cells: list[NotebookNode] = assignment.released(names["notebook"]).cells
        except CourseError:
            return []
        highlighted_code("0")  # the child process of each page inherits what this imports, and the cache
        for cell in cells:
            if cell.cell_type == "markdown":
                safe_markdown(text_and_pictures(cell.source)[0])
        return cells


def _hide_hidden_tests(nb: NotebookNode, released: list[NotebookNode]) -> None:
    """Show the instructor's cells as they were released: without hidden tests and marking schemes.

    Test cells that are not in the release are shown without their text.
    """
    sources = {grade_id(cell): cell.source for cell in released}
    for cell in nb.cells:
        if is_locked_cell(cell):
            cell.source = sources.get(grade_id(cell), "" if is_test_cell(cell) else cell.source)


@dataclass(frozen=True)
class _Frame:
    """Everything on a page besides the cells. `result` has only what the page shows."""

    names: dict[str, Any]
    result: SubmissionResult
    shows: Shows
    attempt: AttemptLine | None
    deadline: str
    handed_in: str
    requests: bool
    sections: list[str]


OTHER_VERSION = "This notebook was autograded by another version of gradekit. Run `gradekit autograde`, then this command again."


def _result(nb: NotebookNode) -> SubmissionResult:
    stored = nb.metadata.get(RESULT)
    try:
        result = SubmissionResult.from_dict(stored) if stored else SubmissionResult(Status.GRADED)
    except ValueError:
        get_logger().error(OTHER_VERSION)
        raise Stop(OTHER_VERSION) from None
    return replace(result, notes=_shortened(result.all_notes), cells=_shortened(result.cells))


def _shortened(notes: list[str]) -> list[str]:
    more = [_("and %(number)s more", number=len(notes) - MAX_NOTES)] if len(notes) > MAX_NOTES else []
    return [printable(" ".join(note[: 2 * MAX_NOTE].split()), MAX_NOTE) for note in notes[:MAX_NOTES]] + more


def _rendered(nb: NotebookNode, frame: _Frame, parts: list[Part], reason: str = "") -> str:
    result = frame.result
    rows = score_rows(nb, result, frame.shows)
    # when the grader itself failed, the notes say more than the status
    grader_failed = result.nothing_graded and result.status == Status.KERNEL_DIED
    sentence = "" if grader_failed else _(STATUSES[result.status])
    waiting = [] if result.nothing_graded else [row for row in rows if row.awaits_grading]
    return JINJA_PAGES.get_template("feedback.html.j2").render(
        vars(frame),
        only_whether_right=frame.shows is Shows.EXERCISES,
        language=current_language(),
        explanation=_(EXPLANATIONS[frame.shows]),
        sentence=sentence,
        rows=rows,
        first=[] if reason else first_things(result, rows),
        undecided=not all(exercise.right for exercise in result.exercises),
        waiting=sum(row.points - (row.score or 0) for row in waiting),
        parts=parts,
        reason=_(reason),
    )


class GetGradesAndState(GetGrades):
    """Adds whether each cell was graded manually or is still awaiting manual grading, and the deadline.

    When a submission is graded again, nbgrader marks manually graded cells for a second look; here they count as graded.
    """

    def preprocess(self, nb: NotebookNode, resources: ResourcesDict) -> tuple[NotebookNode, ResourcesDict]:
        nb, resources = super().preprocess(nb, resources)
        names = resources["nbgrader"]
        names["score"] = max(0.0, names["score"])  # scores may have sunk below the penalty, which stays
        with Gradebook(names["db_url"]) as gradebook:
            names[DEADLINE] = deadline_of(gradebook, names["assignment"], names["student"])
        return nb, resources

    def _get_score(self, cell: NotebookNode, resources: ResourcesDict) -> None:
        super()._get_score(cell, resources)
        grade = self.gradebook.find_grade(
            grade_id(cell), self.notebook_id, self.assignment_id, self.student_id
        )
        by_hand = grade.manual_score is not None
        cell.metadata.nbgrader |= {
            "by_hand": by_hand,
            "needs_manual_grade": grade.needs_manual_grade and not by_hand,
        }

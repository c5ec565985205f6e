"""A submission's notebook, read and restored once for everything that follows; what is graded of it, by which rules.

Separate from `grade`, which imports pytest and what runs kernels: results from the cache need no more than this.
"""

import filecmp
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.preprocessors import IgnorePattern

from gradekit.course import Assignment
from gradekit.course.cells import (
    Doubt,
    Record,
    answer_of,
    decided_by_a_person,
    grade_id,
    remembered,
    remembered_of_all,
)
from gradekit.course.files import Stamp, files_in, files_stamp, handed_in_letter, handed_in_text, is_letter
from gradekit.course.kernels import SANDBOX, other_language
from gradekit.course.printing import printable
from gradekit.session.limits import Limits
from gradekit.submission.extra_files import own_files, own_notebooks
from gradekit.submission.notebook_file import read_submitted
from gradekit.submission.restore import restored
from gradekit.submission.texts import added_text
from gradekit.verdict.results import Status, SubmissionResult

_NO_FILE = re.compile(r"No such file or directory: '([^'\n]+)'")
#: what an answer raises as it was handed out
_UNFINISHED = "NotImplementedError"
_REPLACED = "is not the one that was handed out, which was used in its place."


@dataclass(frozen=True)
class ScoreRule:
    """The settings for turning the outputs of an ordinary test cell into its score.

    Args:
        stderr_costs_points: nbgrader's own rule, by which anything on stderr costs the cell all its points.
        ignored_stderr: a regular expression; stderr that it matches never costs points (`c.IgnorePattern`).
    """

    stderr_costs_points: bool = True
    ignored_stderr: str = ""

    def counted(self, cell: NotebookNode) -> NotebookNode:
        """A copy of the cell with the outputs that count."""
        copy = deepcopy(cell)
        if not self.stderr_costs_points:
            copy.outputs = [output for output in copy.outputs if not is_stderr(output)]
        if self.ignored_stderr:
            IgnorePattern(pattern=self.ignored_stderr, enabled=True).preprocess_cell(copy, {}, 0)
        return copy


def is_stderr(output: NotebookNode) -> bool:
    return bool(output.output_type == "stream" and output.name == "stderr")


@dataclass(frozen=True)
class HowToRun:
    """How a notebook is run and scored. Without a `rule`, ordinary test cells are neither run nor scored."""

    limits: Limits = field(default_factory=Limits)
    kernel_name: str = SANDBOX
    rule: ScoreRule | None = field(default_factory=ScoreRule)


@dataclass(frozen=True)
class GradingJob:
    """A repaired notebook, the notebook that was released, and how to run it.

    Args:
        name: the notebook's name, without folder and suffix.
        released: to recognize unanswered cells.
        own_files: the files that the student has put beside the notebook; files that were handed out replace them.
    """

    assignment: Assignment
    name: str
    notebook: NotebookNode
    released: NotebookNode
    how: HowToRun = field(default_factory=HowToRun)
    own_files: tuple[Path, ...] = ()


@dataclass(frozen=True)
class OpenedNotebook:
    """A notebook as it was handed in, with every cell that nbgrader knows; without one, the released notebook.

    Args:
        name: the notebook's name, without folder and suffix.
        folder: where it was handed in.
        result: what is known before anything has run: why it can't be graded, or notes and doubts about its repair.
        versions: sentences about other versions of it, which are not graded.
        stamp: of the files in the folder when it was opened.
    """

    assignment: Assignment
    name: str
    folder: Path
    notebook: NotebookNode
    result: SubmissionResult
    versions: list[str]
    stamp: Stamp

    @property
    def is_current(self) -> bool:
        """False if something in its folder has changed since."""
        return self.stamp == files_stamp(_everything_in(self.folder))

    def job(self, notebook: NotebookNode, released: NotebookNode, how: HowToRun) -> GradingJob:
        """What to grade: `notebook` is the restored one, with the changes of other steps."""
        own = own_files(self.folder, self.assignment.course.ignore)
        own += own_notebooks(self.folder, notebook.cells, own)
        return GradingJob(self.assignment, self.name, notebook, released, how, own)

    def with_graded(self, graded: SubmissionResult) -> SubmissionResult:
        """The whole result: a repaired answer that has passed all its tests is in no doubt."""
        right = {exercise.grade_id for exercise in graded.exercises if exercise.right}
        doubts = [doubt for doubt in self.result.doubts if doubt.grade_id not in right]
        doubts += [*self._doubts_about_missing_files(graded), *self._doubts_about_needed(doubts, graded)]
        return replace(graded, notes=self.result.notes + graded.notes, doubts=doubts + graded.doubts)

    def _doubts_about_needed(self, doubts: list[Doubt], graded: SubmissionResult) -> Iterator[Doubt]:
        """A doubt about each exercise that lost points because an answer did not run that is itself in doubt."""
        undecided = {doubt.grade_id: answer_of(self.notebook, doubt.grade_id) for doubt in doubts}
        cells = {name: cell for cell in self.notebook.cells if (name := grade_id(cell)) in undecided.values()}
        empty = [name for name, cell in cells.items() if _UNFINISHED in cell.source]
        for exercise in graded.exercises:
            lost = [] if exercise.right or exercise.grade_id in undecided else exercise.checks
            told = "".join(check.message for check in lost)
            needed = empty if _UNFINISHED in told else [name for name in cells if f" cell `{name}`" in told]
            if needed:
                what = f"It needs the cell `{needed[0]}`, whose own points are undecided"
                yield Doubt(exercise.grade_id, decided_by_a_person(what))

    def _doubts_about_missing_files(self, graded: SubmissionResult) -> Iterator[Doubt]:
        """A doubt about each exercise that lost points, if a file was missing that another notebook of the assignment names.

        Each is run by itself, and plain nbgrader runs them one after the other in one folder.
        """
        messages = (check.message for exercise in graded.exercises for check in exercise.checks)
        missing = {Path(path).name for text in (*graded.cells, *messages) for path in _NO_FILE.findall(text)}
        others = [other for other in self.assignment.released_names() if missing and other != self.name]
        for other in others:
            notebook = read_submitted(self.folder / f"{other}.ipynb").notebook
            code = "\n".join(cell.source for cell in notebook.cells) if notebook is not None else ""
            if name := next((name for name in sorted(missing) if name in code), ""):
                what = f"{printable(name)} was not there, and {other}.ipynb, which is run by itself, may write it"
                lost = [exercise.grade_id for exercise in graded.exercises if not exercise.right]
                yield from (Doubt(exercise, decided_by_a_person(what)) for exercise in lost)
                return


def open_notebook(
    assignment: Assignment,
    path: Path,
    released: NotebookNode,
    *,
    name: str = "",
    set_aside: Sequence[str] = (),
    saved_outputs: bool = False,
    alone: bool = False,
) -> OpenedNotebook:
    """Read a notebook that was handed in as the file `path`, or under another name beside it, and restore it.

    Args:
        name: the notebook's name, if it isn't that of the file.
        set_aside: sentences about files in the folder that were moved away.
        saved_outputs: give the cells the outputs that they were handed in with.
        alone: don't look at the other files in the folder, which isn't one of submitted/.
    """
    folder, name = path.parent, name or path.stem
    # before reading, since it may be handed in again meanwhile
    stamp = () if alone else files_stamp(_everything_in(folder))
    handed_in = read_submitted(path, None if alone else assignment)
    if handed_in.notebook is None:
        status = Status.MISSING if handed_in.missing else Status.UNREADABLE
        notebook = deepcopy(released)
        result = SubmissionResult(status, notes=[handed_in.problem, *set_aside])
    else:
        if saved_outputs:
            from gradekit.session.saved_outputs import put_saved_outputs  # it imports what runs kernels

            put_saved_outputs(handed_in)
        changed = {} if alone else dict(_changed_files(folder, assignment))
        course = assignment.course.root, assignment.name
        whole = restored(
            handed_in.notebook,
            released,
            beside={} if alone else _files_beside(folder, assignment),
            added_later=frozenset(remembered(*course, Record.ADDED).get(name, ())),
            drafts=handed_in.others,
            replaced=changed,
            siblings=handed_in.siblings,
            doubt=handed_in.doubt,
            saved=[outputs for _, outputs in handed_in.saved],
            removed=remembered_of_all(*course, Record.REMOVED),
            removed_texts=remembered_of_all(*course, Record.REMOVED_TEXTS),
            tests_run=bool(assignment.ordinary_cells(name, released.cells)),
        )
        notes = [*_language_notes(handed_in.language, released), *handed_in.notes, *whole.notes, *set_aside]
        notes += [f"{printable(name)} {_REPLACED}" for name in changed]
        notebook = whole.notebook
        result = SubmissionResult(Status.UNGRADED, notes=notes, doubts=whole.doubts)
    return OpenedNotebook(assignment, name, folder, notebook, result, handed_in.versions, stamp)


def _everything_in(folder: Path) -> Iterator[Path]:
    yield folder
    if not folder.is_symlink():  # nothing in it is read then
        yield from folder.rglob("*")


def _files_beside(folder: Path, assignment: Assignment) -> dict[str, Path]:
    """The student's own files next to a notebook, and in folders there, but for those that were handed out, by name."""
    handed_out = {path.name for path in assignment.handed_out()}
    own = [path for path in own_files(folder, assignment.course.ignore) if path.name not in handed_out]
    files = (file for path in own for file in files_in(path, assignment.course.ignore))
    return {str(file.relative_to(folder)): file for file in files if not is_letter(file)}


def _changed_files(folder: Path, assignment: Assignment) -> Iterator[tuple[str, str]]:
    """Each file that the student changed, but that is the instructor's when the notebook runs, and the text added to it."""
    for top in assignment.handed_out():
        for original in files_in(top, assignment.course.ignore):
            name = str(original.relative_to(top.parent))
            own = folder / name
            if own.is_symlink() or not own.is_file() or assignment.is_replaceable(name):
                continue
            if not filecmp.cmp(own, original, shallow=False):
                yield name, added_text(handed_in_letter(own), handed_in_text(original))


def _language_notes(saved_with: str, released: NotebookNode) -> list[str]:
    """A note if a submission was saved with a kernel of another language than the released notebook's."""
    name, spec = other_language(released.metadata), released.metadata.get("kernelspec", {})
    language = str(spec.get("language") or name) if name else "Python"
    lower = saved_with.casefold()
    if not lower or (lower in (name.casefold(), language.casefold()) if name else "python" in lower):
        return []
    saved_with = printable(saved_with, 40)
    return [f"The notebook was saved with another kernel ({saved_with}); it was graded with {language}."]

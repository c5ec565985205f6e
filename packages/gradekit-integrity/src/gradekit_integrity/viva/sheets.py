"""Sheets for the students of a class: reads their submissions, and runs them one at a time or several at once."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from gradekit.course import Assignment, CourseError
from gradekit.course.cells import grade_id, is_answer_cell
from gradekit.course.printing import listed, printable
from gradekit.grading.running_course import RunningCourse
from gradekit.grading.workers import Workers
from gradekit.nbgrader_plugin.run_checks import RunChecks
from gradekit.report.removed import removed_students
from gradekit.submission.extra_files import own_files, own_notebooks
from gradekit.submission.notebook_file import read_submitted
from gradekit.submission.restore import restore_notebook
from gradekit.verdict.job import HowToRun
from gradekit_integrity.viva.class_answers import keys_of, most_common
from gradekit_integrity.viva.sheet import Sheet, ToAsk, make_sheet

#: the most runs of a student's notebooks, traced or with their checks
_RUNS_AT_MOST = 20


def tasks_of(
    course: RunningCourse, assignment: Assignment, students: Sequence[str], kernel_name: str = ""
) -> list[ToAsk]:
    """The notebooks to run for each of the students, by default for all who handed in.

    Raises:
        CourseError: nobody has handed in, or one of the students has not.
    """
    removed = removed_students(course, assignment.name)
    everybody = course.gradable([name for name in course.handed_in(assignment.name) if name not in removed])
    if not everybody:
        raise CourseError(f"nobody has handed in {assignment.name}: there is no code to ask about")
    if unknown := [name for name in students if name not in everybody]:
        raise CourseError(f"{listed(unknown)} handed in nothing for {assignment.name}")
    course.hide()
    settings = RunChecks(config=course.config)
    how = settings.how_to_run(assignment.name, kernel_name)
    tasks = [_read(course, assignment, name, how) for name in everybody]
    common = _in_common(tasks)
    return [replace(task, common=common) for task in tasks if not students or task.student in students]


def sheets_of(
    assignment: Assignment, tasks: Sequence[ToAsk], count: int, seed: int, workers: int
) -> Iterator[Sheet]:
    """Make the sheets, each as soon as it is ready."""
    make = partial(_made, assignment, count, seed)
    if workers == 1:
        yield from map(make, tasks)
        return
    pool: Workers[ToAsk, Sheet] = Workers(make, min(workers, len(tasks)), _longest_seconds)
    pool.start()
    try:
        for task, sheet in pool.run(tasks):
            yield sheet or Sheet(
                task.student, problem="Running the code hung, or ended the grader's process."
            )
    finally:
        pool.close()


def _made(assignment: Assignment, count: int, seed: int, task: ToAsk) -> Sheet:
    try:
        return make_sheet(assignment, task, count, seed)
    except CourseError:
        raise
    except Exception as error:  # one student's files must not cost the others their sheets
        reason = f"{type(error).__name__}: {printable(str(error))}"
        return Sheet(task.student, problem=f"No questions could be made about the code ({reason}).")


def _longest_seconds(task: ToAsk) -> float:
    return _RUNS_AT_MOST * task.how.limits.longest_seconds


def _read(course: RunningCourse, assignment: Assignment, student: str, how: HowToRun) -> ToAsk:
    folder = course.submitted(student, assignment.name)
    notebooks: dict[str, str] = {}
    problem = ""
    own: tuple[Path, ...] = ()
    try:
        course.set_aside(student, assignment.name)  # links, which would be followed
        own = own_files(folder, assignment.course.ignore)
        opened: set[Path] = set()
        for name in course.notebooks_of(assignment):
            found = read_submitted(folder / f"{name}.ipynb", assignment)
            if found.notebook is None:
                problem = problem or f"There is nothing to ask: {found.problem}"
                continue
            content, _ = restore_notebook(found.notebook, assignment.released(name))
            notebooks[name] = nbformat.writes(content)
            opened |= set(own_notebooks(folder, content.cells, own))
        own += tuple(sorted(opened))
    except OSError as error:
        problem = f"The files can't be read ({error.strerror})."
    return ToAsk(student, notebooks, {}, how, own, "" if notebooks else problem)


def _in_common(tasks: Sequence[ToAsk]) -> dict[tuple[str, str], frozenset[str]]:
    """The statements of the most frequent answer, by notebook and cell."""
    answers: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for task in tasks:
        for name, text in task.notebooks.items():
            notebook: NotebookNode = nbformat.reads(text, as_version=4)
            for cell in notebook.cells:
                if cell.cell_type == "code" and is_answer_cell(cell):
                    answers.setdefault((name, str(grade_id(cell))), []).append(keys_of(cell.source))
    return {place: most_common(found) for place, found in answers.items()}

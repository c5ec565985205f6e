"""One notebook on its way through the grader, without a folder of its own."""

from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from gradekit.course import Assignment
from gradekit.verdict.opened import GradingJob, OpenedNotebook
from gradekit.verdict.result_cache import CachedResult, ResultCache
from gradekit.verdict.results import Status, SubmissionResult
from gradekit.verdict.tries import NotebookProgress, RepeatBudget, grade_here


def in_progress(assignment: Assignment, name: str, notebook: NotebookNode, **known: Any) -> NotebookProgress:
    result = SubmissionResult(Status.UNGRADED)
    return NotebookProgress(OpenedNotebook(assignment, name, Path(), notebook, result, [], ()), **known)


def grade(job: GradingJob, cache: ResultCache, fresh: bool = False) -> CachedResult:
    """Grade a notebook, unless its result is in the cache, and fill in its outputs."""
    notebook = in_progress(job.assignment, job.name, job.notebook)
    notebook.find(job, cache, fresh)
    grade_here(notebook, job, cache, RepeatBudget())
    notebook.outcome.put_outputs_into(job.notebook)
    return notebook.outcome

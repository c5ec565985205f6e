"""What is graded, and under which rules.

Separate from `run`, which imports pytest and what runs kernels: results from the cache need no more than the job.
"""

from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from gradekit.course import Assignment
from gradekit.course.kernels import SANDBOX
from gradekit.session.limits import Limits
from gradekit.verdict.score_rule import ScoreRule


@dataclass(frozen=True)
class HowToRun:
    """How a notebook is run and scored.

    Args:
        limits: what the submission may use.
        kernel_name: the kernelspec to start.
        rule: how ordinary test cells are scored; with None, they are neither run nor scored.
    """

    limits: Limits = field(default_factory=Limits)
    kernel_name: str = SANDBOX
    rule: ScoreRule | None = field(default_factory=ScoreRule)


@dataclass(frozen=True)
class GradingJob:
    """A repaired notebook, the notebook that was released, and how to run it.

    Args:
        assignment: the assignment with the checks.
        name: the notebook's name, without folder and suffix.
        released: the released notebook, to recognize unanswered cells.
        own_files: the files that the student has put beside the notebook; files that were handed out replace them.
    """

    assignment: Assignment
    name: str
    notebook: NotebookNode
    released: NotebookNode
    how: HowToRun = field(default_factory=HowToRun)
    own_files: tuple[Path, ...] = ()

"""What is graded, and under which rules.

Separate from `grade`, which imports pytest and what runs kernels: results from the cache need no more than the job.
"""

from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode
from nbgrader.preprocessors import IgnorePattern

from gradekit.course import Assignment
from gradekit.course.kernels import SANDBOX
from gradekit.session.limits import Limits


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
    """True for output on stderr."""
    return bool(output.output_type == "stream" and output.name == "stderr")


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

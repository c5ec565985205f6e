"""The rule by which ordinary test cells are scored.

Separate from `ordinary`, which imports the code that runs kernels: results from the cache need only the rule.
"""

from copy import deepcopy
from dataclasses import dataclass

from nbformat import NotebookNode
from nbgrader.preprocessors import IgnorePattern


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

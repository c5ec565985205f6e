"""A notebook without its solutions, as nbgrader hands it out."""

from copy import deepcopy

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearSolutions


def blank_copy(source: NotebookNode) -> NotebookNode:
    return ClearSolutions().preprocess(deepcopy(source), {})[0]

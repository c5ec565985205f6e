"""In generate_assignment: functions of a notebook that a check can't call as `student.name(...)`."""

import ast
from collections.abc import Iterable
from pathlib import Path

from gradekit.submission.names import defined_names
from gradekit.submission.syntax import parse


def taken_name_problems(check_file: Path, shown: Path, sources: Iterable[str]) -> list[str]:
    """A sentence for each call of one of the notebook's functions that would reach a method of `student` instead.

    A method is meant where its first argument is the text that it takes, such as a cell's name.

    Args:
        shown: how messages name the file.
        sources: of the notebook's code cells, with the solutions.
    """
    from gradekit.session.proxy import TAKEN_NAMES  # the configuration imports this module in every command

    tree = parse(check_file.read_text(encoding="utf-8", errors="replace"))
    defined = TAKEN_NAMES & {name for source in sources for name in defined_names(source)}
    if tree is None or not defined:
        return []
    names = {
        node.func.attr: node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "student"
        and node.func.attr in defined
        and not (node.args and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str))
    }
    return [
        f"{shown}, line {line}: `student.{name}` is a method of `student`, not the notebook's function. Write "
        f'`student.call("{name}", ...).value`.'
        for name, line in names.items()
    ]

"""What people do to a copy so that it doesn't look like one."""

import ast
import random
import re
from collections.abc import Callable

Answers = dict[str, str]
_WORDS = [
    "alpha",
    "tmp",
    "val",
    "foo",
    "data",
    "item",
    "stuff",
    "thing",
    "my_x",
    "arr",
    "cur",
    "ab",
    "zz",
    "node",
]
_REMARKS = ["# first step", "# as in the lecture", "# see the task", "# compute this", "# now the result"]


def unchanged(answers: Answers, draw: random.Random) -> Answers:
    return dict(answers)


def renamed(answers: Answers, draw: random.Random) -> Answers:
    """Every name that an answer binds becomes another one, except for functions, classes and what they are called with."""
    return {exercise: _renamed(source, draw) for exercise, source in answers.items()}


def commented(answers: Answers, draw: random.Random) -> Answers:
    """Other comments, a docstring, and blank lines."""
    return {exercise: _commented(source, draw) for exercise, source in answers.items()}


def reordered(answers: Answers, draw: random.Random) -> Answers:
    """Neighboring statements swap places where neither uses what the other binds; functions come in another order."""
    return {exercise: _reordered(source, draw) for exercise, source in answers.items()}


def disguised(answers: Answers, draw: random.Random) -> Answers:
    """All of these, and in one line of five a small edit."""
    edited = {exercise: _edited(source, draw) for exercise, source in answers.items()}
    return commented(reordered(renamed(edited, draw), draw), draw)


def merged(one: Answers, other: Answers, draw: random.Random) -> Answers:
    """Every other exercise from another person, all with other names."""
    mixed = {exercise: (one, other)[place % 2][exercise] for place, exercise in enumerate(one)}
    return renamed(mixed, draw)


def some_exercises(count: int) -> Callable[[Answers, Answers, random.Random], Answers]:
    """A copy of some exercises with other names; the rest is a person's own."""

    def copied(original: Answers, own: Answers, draw: random.Random) -> Answers:
        taken = draw.sample(list(original), count)
        return own | renamed({exercise: original[exercise] for exercise in taken}, draw)

    return copied


def _renamed(source: str, draw: random.Random) -> str:
    tree = ast.parse(source)
    public = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    public |= {"self", "result", "forward", "__init__", "_"}
    keywords = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}
    bound = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    new = {
        name: f"{draw.choice(_WORDS)}_{place}" for place, name in enumerate(sorted(bound - public - keywords))
    }
    return re.sub(r"\b[A-Za-z_]\w*(?!['\"])", lambda found: new.get(found[0], found[0]), source)


def _commented(source: str, draw: random.Random) -> str:
    lines = []
    for line in re.sub(r"(?m)\s*#.*$", "", source).split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        if draw.random() < 0.3 and line.strip() and not line.strip().startswith(("elif", "else")):
            lines += ["", f"{indent}{draw.choice(_REMARKS)}"]
        lines.append(f"{line}  {draw.choice(_REMARKS)}" if draw.random() < 0.2 and line.strip() else line)
        if line.startswith("def ") and line.endswith(":"):
            lines.append('    """My answer to this exercise."""')
    return "\n".join(lines)


def _reordered(source: str, draw: random.Random) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            for _ in range(2):
                for place in range(len(body) - 1):
                    if _independent(body[place], body[place + 1]) and draw.random() < 0.7:
                        body[place], body[place + 1] = body[place + 1], body[place]
    return ast.unparse(tree)


def _independent(one: ast.stmt, other: ast.stmt) -> bool:
    simple = (ast.Assign, ast.AugAssign, ast.FunctionDef)
    if not isinstance(one, simple) or not isinstance(other, simple):
        return False
    (binds, uses), (binds_2, uses_2) = _names(one), _names(other)
    return not (binds & (binds_2 | uses_2) or uses & binds_2)


def _names(statement: ast.stmt) -> tuple[set[str], set[str]]:
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    changed = {
        ast.unparse(node.value)
        for node in ast.walk(statement)
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    own = {statement.name} if isinstance(statement, ast.FunctionDef) else set()
    binds = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    return binds | changed | own, {node.id for node in names if isinstance(node.ctx, ast.Load)}


def _edited(source: str, draw: random.Random) -> str:
    """Small edits that keep the meaning."""
    edits = [
        (r"return (\w+), (\w+)$", r"return (\1, \2)"),
        (r"dim=-1\)", "-1)"),
        (r"\.shape\[(-?\d)\]", r".size(\1)"),
        (r"= (\w+) @ (\w+)$", r"= torch.matmul(\1, \2)"),
        (r"\.unsqueeze\(1\)", "[:, None]"),
        (r" \+= 1$", " += int(1)"),
        (r"(\w+) = (.+)$", r"\1 = (\2)"),
    ]
    lines = source.split("\n")
    for place, line in enumerate(lines):
        if draw.random() < 0.2:
            fitting = [edit for edit in edits if re.search(edit[0], line)]
            if fitting:
                old, new = draw.choice(fitting)
                changed = re.sub(old, new, line, count=1)
                try:
                    ast.parse("\n".join([*lines[:place], changed, *lines[place + 1 :]]))
                except SyntaxError:
                    continue
                lines[place] = changed
    return "\n".join(lines)

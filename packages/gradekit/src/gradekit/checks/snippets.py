"""Snippets: a few lines that a student pastes below an answer, and that fail if the answer is wrong.

They are the functions with the decorator `try_it` in the file `try_it.py` beside the checks.
"""

import ast
import builtins
import dis
import inspect
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

from gradekit.checks.variants import importable, reading
from gradekit.course import Assignment, CourseError
from gradekit.course.files import FileStamp, file_stamp
from gradekit.submission.names import imported_by

_FILE_NAME = "try_it.py"
#: the variable in that file that lists the mistakes that no snippet shows: reason -> ids
NOT_SHOWN = "NOT_SHOWN"
_MOST_LINES = 25


@dataclass(frozen=True)
class Snippet:
    """The lines `text` for some checks of the test cell `exercise`, or for all of them if `checks` is empty.

    `needs` are the student's names that it uses.
    """

    name: str
    exercise: str
    checks: tuple[str, ...]
    needs: tuple[str, ...]
    text: str


def try_it(exercise: str, *checks: str) -> Callable[[Callable[..., None]], Snippet]:
    """Make a function a snippet for some checks of the test cell `exercise`, by default for all of them.

    Its parameters are the student's names that it uses. Its docstring becomes a comment, and its body the lines below,
    which print what should be true, and end with an `assert` with a sentence. Before them come those imports of the file
    that they need.

    Example:
        @try_it("test_normalized", "test_eps")
        def eps_of_twelve(normalized):
            \"""The variance of 1 and 5 is 4. With an eps of 12, they are divided by √(4 + 12) = 4.\"""
            found = normalized(torch.tensor([1.0, 5.0]), eps=12.0)
            print("You should get [-0.5, 0.5]. You get", found.tolist())
            assert torch.allclose(found, torch.tensor([-0.5, 0.5])), "You don't divide by √(σ² + ε)."

    Raises:
        CourseError: the function has no docstring, uses other names, or is too long.
    """

    def make(function: Callable[..., None]) -> Snippet:
        name = function.__name__
        needs = tuple(inspect.signature(function).parameters)
        comment, body = _text(function)
        used = used_from_outside("\n".join(body)) - set(needs)
        lines = [*_imports(Path(function.__code__.co_filename), used), *body]
        if not body or len(lines) > _MOST_LINES:
            raise CourseError(
                f"the snippet `{name}` has {len(lines)} lines, but must have 1 to {_MOST_LINES}"
            )
        snippet = Snippet(name, exercise, checks, needs, "\n".join([*comment, *lines]))
        if unknown := used_from_outside(snippet.text) - set(needs):
            raise CourseError(
                f"the snippet `{name}` uses {', '.join(sorted(unknown))}: import what it needs, and list the student's "
                "names as its parameters"
            )
        return snippet

    return make


def snippets_of(assignment: Assignment, file: str = _FILE_NAME) -> list[Snippet]:
    """The snippets of an assignment, in the order of the file; none if there is no such file.

    Raises:
        CourseError: the file can't be read.
    """
    return list(_read(assignment, file)[0])


def not_shown(assignment: Assignment) -> dict[str, str]:
    """The reason for each mistake that no snippet shows, by its id."""
    return _read(assignment)[1]


def candidates(snippets: Sequence[Snippet], exercise: str, check: str) -> list[Snippet]:
    """The snippets of an exercise: first those that name the check, then those for all checks, then the others."""
    found = [snippet for snippet in snippets if snippet.exercise == exercise]
    return sorted(found, key=lambda snippet: 1 if not snippet.checks else 0 if check in snippet.checks else 2)


def used_from_outside(source: str) -> set[str]:
    """The names that some lines use but don't bind at top level; builtins don't count."""
    code = compile(source, _FILE_NAME, "exec")
    return {name for name in _loaded(code) if not hasattr(builtins, name)} - bound(source)


def bound(source: str) -> set[str]:
    """The names that some lines bind at top level."""
    code = compile(source, _FILE_NAME, "exec")
    stored = {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_NAME"}
    return stored - {"__annotate__", "__conditional_annotations__"}  # Python 3.14's own


def assigned(source: str) -> set[str]:
    """The names that some lines bind at top level other than by an import."""
    nodes = (node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom))
    return bound(source) - {name for node in nodes for name in imported_by(node)}


def _loaded(code: CodeType) -> Iterator[str]:
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"):
            yield step.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _loaded(constant)


def _text(function: Callable[..., None]) -> tuple[list[str], list[str]]:
    """The docstring as lines of a comment, and the lines below it."""
    source = textwrap.dedent(inspect.getsource(function))
    (tree,) = ast.parse(source).body
    docstring = inspect.getdoc(function)
    if not isinstance(tree, ast.FunctionDef) or not docstring:
        raise CourseError(
            f"the snippet `{function.__name__}` needs a docstring: a sentence that says what it tries"
        )
    body = textwrap.dedent("\n".join(source.splitlines()[tree.body[0].end_lineno :])).strip("\n")
    return [f"# {line}".rstrip() for line in docstring.splitlines()], body.splitlines()


def _imports(path: Path, names: Collection[str]) -> list[str]:
    """The imports at the top of a file that bind these names, in groups as there, and an empty line.

    Modules beside the file are left out: students don't have them.
    """
    source = path.read_text(encoding="utf-8")
    lines, imports, end = source.splitlines(), list[str](), 0
    for node in ast.parse(source).body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        node.names = [
            each
            for each in node.names
            if (each.asname or each.name.split(".")[0]) in names
            and not _is_beside(path, getattr(node, "module", each.name) or "")
        ]
        if node.names:
            imports += [""] if imports and "" in lines[end : node.lineno - 1] else []
            imports.append(ast.unparse(node))
            end = node.end_lineno or node.lineno
    return [*imports, ""] if imports else []


def _is_beside(path: Path, module: str) -> bool:
    name = module.split(".")[0]
    return not name or path.with_name(f"{name}.py").exists() or path.with_name(name).is_dir()


def _read(assignment: Assignment, file: str = _FILE_NAME) -> tuple[tuple[Snippet, ...], dict[str, str]]:
    path = assignment.checks / file
    stamp = file_stamp(path)
    return _read_file(path, stamp) if stamp else ((), {})


@lru_cache(64)
def _read_file(path: Path, stamp: FileStamp) -> tuple[tuple[Snippet, ...], dict[str, str]]:
    with reading(path), importable([path.parent]):
        names = _run(path)
    reasons = {name: reason for reason, ids in names.get(NOT_SHOWN, {}).items() for name in ids}
    return tuple(value for value in names.values() if isinstance(value, Snippet)), reasons


def _run(path: Path) -> Mapping[str, Any]:
    """The variables of the file. What only snippets import isn't imported: torch takes a second, and no snippet runs here."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    used = {"*", "annotations"}
    for node in tree.body:
        parts: list[ast.expr] | list[ast.stmt] = [node]
        if isinstance(node, ast.FunctionDef) and any(_is_try_it(each) for each in node.decorator_list):
            parts = node.decorator_list
        used |= {each.id for part in parts for each in ast.walk(part) if isinstance(each, ast.Name)}
    tree.body = [
        node
        for node in tree.body
        if not isinstance(node, ast.Import | ast.ImportFrom) or used.intersection(imported_by(node))
    ]
    names: dict[str, Any] = {"__name__": path.stem, "__file__": str(path)}
    exec(compile(tree, str(path), "exec"), names)
    return names


def _is_try_it(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and ast.unparse(decorator.func).split(".")[-1] == try_it.__name__

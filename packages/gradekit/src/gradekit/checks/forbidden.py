"""Bans on ready-made functions and classes, as fixtures for `conftest.py` or a check file."""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import pytest

from gradekit.checks.asserts import fail
from gradekit.course.cells import exercise_name
from gradekit.session.proxy import Student
from gradekit.submission.names import mentions, nodes_in, own_names, parse, roundabout

#: Names of torch's own attention, in all its forms.
#:
#: Example:
#:     only_own_attention = forbid(*TORCH_ATTENTION)
TORCH_ATTENTION = (
    "scaled_dot_product_attention",
    "_scaled_dot_product*",
    "multi_head_attention_forward",
    "_native_multi_head_attention",
    "MultiheadAttention",
)
#: ways into torch below its functions
_BELOW = (
    *("torch._C", "torch._C.*", "torch.ops", "torch.ops.*", "torch._VF", "torch._VF.*"),
    "_VariableFunctions*",
)
#: the message to the student
READY_MADE = "Your answer uses `{}`, which does the work for you. Write the computation yourself."
_BELOW_IT = "`{}` builds on {}, which uses `{}`. Only that one loses its points for it."
_ROUNDABOUT = "The cell `{}` uses `{}`, which can hide what an answer uses: a person should look at it."


def forbid(*patterns: str) -> Any:
    """An autouse fixture for `conftest.py`: an answer that uses one of these names fails its checks.

    Only code that the answer depends on counts, in any cell: comparing an answer with a ready-made function is allowed.
    So are functions, methods and variables of the student's own that have such a name. An answer that builds on another
    exercise's keeps its points where only that one uses such a name, which is noted.
    Patterns are shell-style, as in `Transformer*`; `torch._C` and `torch.ops` are always forbidden. Determined students
    can get around this, so a cell that uses `exec` or the like is noted for the person who grades.

    Example:
        only_own_code = forbid("*layer_norm", "*LayerNorm")
    """
    everything = (*patterns, *_BELOW)

    @pytest.fixture(autouse=True)
    def only_own_code(request: pytest.FixtureRequest) -> None:
        if request.node.get_closest_marker("points") is None:
            return
        student: Student = request.getfixturevalue("student")
        for name, source in student.own_code().items():
            if way := roundabout(source):
                _note(request, _ROUNDABOUT.format(name, way))
        own = own_names(tuple(student.used_code(exercise_name(request.path.stem))))
        _fail_for(request, lambda sources: _first(mentions(source, everything, own) for source in sources))

    return only_own_code


def forbid_in(functions: Sequence[str], *names: str) -> Any:
    """An autouse fixture for a check file: these functions of the answer, and the student's own that they call, use no such name.

    Other functions of the answer may, and a local variable or function may have such a name. A name after a dot, as in
    `F.softmax`, is forbidden as ".softmax", and so is a name imported from torch; the student's own classes may have methods
    of that name.

    Example:
        only_own_code = forbid_in(["cosine_similarity", "nearest_words"], ".cosine_similarity")
    """

    @lru_cache(64)  # each check of an exercise asks
    def forbidden_in(sources: tuple[str, ...]) -> str | None:
        trees = [parse(source) for source in sources]
        used = _used_in([node for tree in trees if tree for node in nodes_in(tree)], functions)
        return _first(name.removeprefix(".") for name in sorted(used & set(names)))

    return _fixture_that_fails_for(forbidden_in)


def _fixture_that_fails_for(
    forbidden_in: Callable[[tuple[str, ...]], str | None], message: str = READY_MADE
) -> Any:
    @pytest.fixture(autouse=True)
    def only_own_code(request: pytest.FixtureRequest) -> None:
        _fail_for(request, forbidden_in, message)

    return only_own_code


def _fail_for(
    request: pytest.FixtureRequest,
    forbidden_in: Callable[[tuple[str, ...]], str | None],
    message: str = READY_MADE,
) -> None:
    """Fail the check if the exercise's own code uses something forbidden; if only what it builds on does, note that."""
    if request.node.get_closest_marker("points") is None:
        return
    student: Student = request.getfixturevalue("student")
    exercise = exercise_name(request.path.stem)
    if word := forbidden_in(tuple(student.used_code(exercise, of_others=False))):
        fail(message.format(word))
    if word := forbidden_in(tuple(student.used_code(exercise))):
        below = {
            f"`{other}`": used
            for other in student.answers_behind(exercise)
            if (used := forbidden_in(tuple(student.used_code(other, of_others=False))))
        }
        for other, used in (below or {"another answer": word}).items():
            _note(request, _BELOW_IT.format(exercise, other, used))


def _note(request: pytest.FixtureRequest, note: str) -> None:
    """A sentence for the person who looks at this submission, said once."""
    notes: list[str] = request.getfixturevalue("checking").notes
    notes += [] if note in notes else [note]


def _first(words: Iterable[str | None]) -> str | None:
    return next(filter(None, words), None)


def _used_in(nodes: Sequence[ast.AST], functions: Sequence[str]) -> set[str]:
    """The names that functions use, and the functions that they call in turn; attributes with a dot in front."""
    bodies: dict[str, list[ast.stmt]] = defaultdict(list)
    own, used, todo = {"self", "cls"}, set[str](), list(functions)
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            bodies[node.name].append(node)
        if isinstance(node, ast.ClassDef):
            own.add(node.name)
        if isinstance(node, ast.ImportFrom) and "torch" in (node.module or ""):
            used |= {f".{alias.name}" for alias in node.names}
    while todo:
        tops = bodies.pop(todo.pop(), [])
        inside = list(ast.walk(ast.Module(tops, [])))
        local = {node.id for node in inside if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        local |= {node.arg for node in inside if isinstance(node, ast.arg)}
        local |= {node.name for node in inside if isinstance(node, ast.FunctionDef) and node not in tops}
        for node in inside:
            if isinstance(node, ast.Name) and node.id not in local:
                used.add(node.id)
                todo.append(node.id)
            elif isinstance(node, ast.Attribute):
                if isinstance(node.value, ast.Name) and node.value.id in own:
                    todo.append(node.attr)
                else:
                    used.add(f".{node.attr}")
    return used


def forbid_class(path: str, instead: str = "Write it yourself.") -> Any:
    """An autouse fixture for `conftest.py`: an answer that uses this class of a library fails its checks.

    The student's own class of the same name is allowed, so only imports of the name count, and attributes, as in
    `nn.RMSNorm`; those of `self` don't.

    Args:
        path: the class with its module: "torch.nn.RMSNorm".
        instead: the sentence that ends the message to the student.

    Example:
        only_own_norm = forbid_class("torch.nn.RMSNorm", "Write the norm yourself.")
    """
    library, *_, name = path.split(".")

    def forbidden_in(sources: tuple[str, ...]) -> str | None:
        return name if any(_takes_class(source, name) for source in sources) else None

    return _fixture_that_fails_for(forbidden_in, f"Your answer uses {library}'s own `{{}}`. {instead}")


def _takes_class(source: str, name: str) -> bool:
    """True if code imports a class from a module, or refers to it there."""
    tree = parse(source)
    for node in nodes_in(tree) if tree else ():
        if isinstance(node, ast.ImportFrom) and name in [imported.name for imported in node.names]:
            return True
        match node:
            case ast.Attribute(value=ast.Name(id="self")):
                pass
            case ast.Attribute(attr=attribute) if attribute == name:
                return True
    return False

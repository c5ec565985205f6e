"""Whether a function of the notebook can remember anything from one call to the next, found without running it.

What isn't known to keep nothing counts as if it could. It is about honest code: there are ways around it, as there are
out of a forked process. Random numbers and torch's settings are set before each call, so they don't matter.
"""

import ast
import builtins
import importlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from types import ModuleType

from gradekit.submission.names import (
    UNWRITABLE,
    imported_by,
    nodes_in,
    parse,
    path_of,
    paths_in,
    roundabout,
    scopes_in,
    words,
)

#: the parts of libraries whose functions, types and numbers may be used, but for those below
_PARTS = {
    *("math", "itertools", "random", "copy", "collections", "numpy", "numpy.linalg", "numpy.random"),
    *("torch", "torch.nn", "torch.nn.functional", "torch.linalg", "torch.autograd"),
    *("torch.testing", "numpy.testing"),
}
#: functions and methods that keep something, or read what was kept, or what memory held before
_KEEPING = re.compile(
    r"_(?!_name__$)|(set|register|autocast|gi|f|tb|cr|ag|co|func)_|(save|load|use_det|seterr|dump|PyTorch)"
    r"|(new|setbufsize|memmap|compile|resize_|encode|genfromtxt|fromregex|frombuffer)$"
    r"|\w*(file|empty\w*|config|options|module)$"
)
#: what else the student's cells may import
_ALSO_IMPORTED = {
    *("matplotlib", "seaborn", "pandas", "typing", "dataclasses"),
    *("functools", "string", "time", "operator"),
}
#: names by which something else can take the place of what is called, or reach what is kept elsewhere
_REACHING = {
    *("globals", "locals", "vars", "exec", "eval", "compile", "open", "breakpoint", "sys", "os", "gc"),
    *("builtins", "get_ipython", "library", "overrides", "enter_context", "data_ptr", "seterrcall"),
    "set_printoptions",
}
#: some of them may be methods, such as a model's `eval`
_METHODS = {"eval", "compile", "open"}
_HARMLESS = {"__init__", "__name__", "__main__", "__class__"}
#: magics, and prompts that IPython removes
_NOT_PYTHON = re.compile(r"^\s*(%|!|\?|In \[|>>>|\.\.\.)", re.MULTILINE)
#: what values that can't be changed are written with
_CONSTANT = ast.Constant | ast.UnaryOp | ast.BinOp | ast.Tuple | ast.operator | ast.unaryop | ast.expr_context
#: functions of Python that depend on more than their arguments, or change more than they return
_UNFIXED = {"setattr", "delattr", "getattr", "hash", "id", "input"}
_REFUSED = ast.ClassDef | ast.Import | ast.ImportFrom | ast.AsyncFunctionDef | ast.Yield | ast.YieldFrom


@lru_cache(64)
def remembers_nothing(function: str, given: tuple[str, ...], own: tuple[str, ...]) -> bool:
    """Whether each call of `function` is as if it were the first.

    `given` are the sources of code cells that the student left as they were handed out, `own` those of all others.
    """
    sources = [*given, *own]
    trees = [tree for tree in map(parse, sources) if tree]
    paths = {name: path for tree in trees for name, path in paths_in(tree).items()}
    if len(trees) < len(sources) or any(_reaches(source, paths) for source in own):
        return False
    notebook = _Notebook(trees)
    todo, known = [function], set[str]()
    while todo:
        name = todo.pop()
        if name not in known:
            known.add(name)
            called = notebook.called_by(name)
            if called is None:
                return False
            todo += called
    return True


def _reaches(source: str, paths: dict[str, str]) -> bool:
    """Whether a cell could change what functions of others do. `paths` are those of all imported names."""
    tree = parse(source)
    if tree is None or _NOT_PYTHON.search(source) or roundabout(source) is not None:
        return True
    forbidden = _REACHING - _METHODS | {"*"}
    if any(one in forbidden or (one.startswith("__") and one not in _HARMLESS) for one in words(source)):
        return True
    return any(_node_reaches(node, paths) for node in nodes_in(tree))


def _node_reaches(node: ast.AST, paths: dict[str, str]) -> bool:
    match node:
        case ast.Name(id=name):
            return name in _REACHING
        case ast.Import() | ast.ImportFrom():
            roots = {path.partition(".")[0] for path in imported_by(node).values()}
            return not roots <= {part.partition(".")[0] for part in _PARTS} | _ALSO_IMPORTED
        case ast.Attribute(ctx=ast.Store() | ast.Del()):
            return path_of(node, paths) is not None
        case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[holder, *_]):
            return path_of(holder, paths) is not None
    return isinstance(node, ast.Global | ast.Match)


class _Notebook:
    def __init__(self, trees: list[ast.Module]) -> None:
        top = [statement for tree in trees for statement in tree.body]
        self._bound = Counter(name for tree in trees for name in _bindings(tree))
        self._functions = {each.name: each for each in top if isinstance(each, ast.FunctionDef)}
        self._constants = {name for each in top for name in _constants(each)}
        statements = (each for each in top if isinstance(each, ast.Import | ast.ImportFrom))
        imports = [pair for each in statements for pair in imported_by(each).items()]
        often, different = Counter(name for name, _ in imports), Counter(name for name, _ in set(imports))
        fixed = {name for name in often if often[name] == self._bound[name] and different[name] == 1}
        self._paths = {name: path for name, path in imports if name in fixed}
        nodes = [node for tree in trees for node in nodes_in(tree) if isinstance(node, ast.Attribute)]
        self._replaced = {node.attr for node in nodes if not isinstance(node.ctx, ast.Load)}

    def called_by(self, name: str) -> list[str] | None:
        """The functions of the notebook that a function calls; None if it could remember something itself."""
        function = self._functions.get(name)
        if function is None or self._bound[name] > 1 or function.decorator_list:
            return None
        inside, names = list(ast.walk(function)), _global_names(function)
        if names is None or any(isinstance(node, _REFUSED) for node in inside):
            return None
        paths = {name: path for name, path in self._paths.items() if name in names}
        called = {id(node.func) for node in inside if isinstance(node, ast.Call)}
        holders = {id(node.value) for node in inside if isinstance(node, ast.Attribute)}
        found = []
        for node in inside:
            match node:
                case ast.Name(id=used) if used in self._functions and used in names and id(node) in called:
                    found.append(used)
                    continue
                case ast.Name(id=used) if used in names:
                    keeps = used not in paths and not self._is_fixed(used)
                case ast.Attribute(attr=attribute):
                    keeps = bool(_KEEPING.match(attribute)) or attribute in self._replaced
                case ast.Constant(value=bytes()):
                    return None
                case ast.arguments(defaults=defaults, kw_defaults=keywords):
                    keeps = not all(value is None or _is_constant(value) for value in [*defaults, *keywords])
                case _:
                    continue
            path = path_of(node, paths)
            if keeps or (path and not (path in _PARTS if id(node) in holders else _is_known(path))):
                return None
        return found

    def _is_fixed(self, name: str) -> bool:
        """Whether a name that isn't imported always means the same."""
        if self._bound[name]:
            return name in self._constants and self._bound[name] == 1
        return hasattr(builtins, name) and name not in _UNFIXED


def _is_known(path: str) -> bool:
    """Whether it is a function, type or number of a library; only those are known that the grader has imported."""
    holder, _, name = path.rpartition(".")
    if holder not in _PARTS or _KEEPING.match(name) or holder.partition(".")[0] not in sys.modules:
        return False
    if holder.endswith(".testing") and (not name.startswith("assert_") or "warn" in name):
        return False
    value = getattr(importlib.import_module(holder), name, None)
    if isinstance(value, ModuleType):
        return False
    return callable(value) or isinstance(value, int | float) or type(value).__name__ == "dtype"


def _global_names(function: ast.FunctionDef) -> set[str] | None:
    """The names that a function, or a function in it, takes from the notebook or from Python."""
    try:
        tables = [scopes_in(ast.unparse(function))]
    except UNWRITABLE:
        return None
    names = set[str]()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        names |= {one.get_name() for one in table.get_symbols() if one.is_global() and one.is_referenced()}
    return names


@lru_cache(64)
def _bindings(tree: ast.Module) -> list[str]:
    """The names that the cell binds or deletes, each as often as it does so."""
    found: list[str] = []
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found.append(name)
                todo += [*node.decorator_list, node.args, *filter(None, [node.returns])]
                continue
            case ast.ClassDef(name=name):
                found.append(name)
                todo += [*node.decorator_list, *node.bases, *node.keywords]
                continue
            case ast.Import() | ast.ImportFrom():
                found += imported_by(node)
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.ExceptHandler(name=str(name)):
                found.append(name)
        todo += ast.iter_child_nodes(node)
    return found


def _constants(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value)
            | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
        ) if _is_constant(value):
            yield name


def _is_constant(value: ast.expr) -> bool:
    """Whether a value can't be changed: numbers and texts, with signs and operators, and tuples of these."""
    return all(isinstance(node, _CONSTANT) for node in ast.walk(value))

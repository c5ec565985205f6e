"""The syntax trees of cells, the paths that their imports name, and the values of their constant strings."""

import ast
import re
import symtable
from collections.abc import Iterator
from functools import lru_cache

_MAGIC = re.compile(r"^[^\S\n]*[%!?].*$", re.MULTILINE)
_CELL_MAGIC = re.compile(r"\s*%%.*")
#: limits for IPython's transformer, which reads the cell again for every magic
_MOST_TRANSFORMED, _MOST_MAGICS = 20_000, 50
#: the usual names of torch and its parts
_USUAL = {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional"}
#: what Python raises when it writes code that it has read: it is nested too deep, or has an integer with too many digits
UNWRITABLE = (RecursionError, MemoryError, ValueError, SyntaxError)
#: nobody spells a name as a longer sum
_MOST_SUMMANDS = 100


@lru_cache(64)  # a tree takes a hundred times the memory of its source
def parse(source: str) -> ast.Module | None:
    """The syntax tree of a cell as IPython runs it; None if it can't be parsed. It is cached, so don't change it."""
    source = _CELL_MAGIC.sub("pass", source, count=1) if _CELL_MAGIC.match(source) else source
    for transform in (str, _as_python, lambda text: _MAGIC.sub("pass", text)):
        try:
            return ast.parse(transform(source))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def _as_python(source: str) -> str:
    """The source as IPython transforms it: magics become calls, prompts and indentation are removed.

    Raises:
        SyntaxError, ValueError: the source can't be transformed.
    """
    if len(source) > _MOST_TRANSFORMED or len(_MAGIC.findall(source)) > _MOST_MAGICS:
        raise ValueError("too long to be transformed")
    from IPython.core.inputtransformer2 import TransformerManager

    try:
        return TransformerManager().transform_cell(source)
    except Exception as error:  # the tokenizer raises other types of errors, too
        raise ValueError("not a cell") from error


def paths_in(tree: ast.AST) -> dict[str, str]:
    """The import path of each name, for the imports in the tree and the usual ones of torch."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return _USUAL | {name: path for node in nodes for name, path in imported_by(node).items()}


def imported_by(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    if isinstance(node, ast.ImportFrom):
        return {alias.asname or alias.name: f"{node.module or ''}.{alias.name}" for alias in node.names}
    return {
        alias.asname or alias.name.split(".")[0]: alias.name if alias.asname else alias.name.split(".")[0]
        for alias in node.names
    }


def path_of(node: ast.AST, paths: dict[str, str]) -> str | None:
    """The path of an attribute, like `torch._C._nn`; None if it does not begin with an imported name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in paths:
        return None
    return ".".join([paths[node.id], *reversed(parts)])


def constant_text(node: ast.AST) -> str | None:
    """The value of an expression of constant strings, found without running it; None for any other."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.BinOp(op=ast.Add()):
            parts = list(_summands(node))[::-1]
        case ast.JoinedStr(values=values):
            parts = [constant_text(value) for value in values]
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            return constant_text(value)
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(value=str(between)), attr="join"),
            args=[ast.List(elts=values) | ast.Tuple(elts=values)],
        ):
            texts = [constant_text(value) for value in values]
            return None if None in texts else between.join(text for text in texts if text)
        case _:
            return None
    return None if None in parts else "".join(part for part in parts if part)


def _summands(node: ast.expr) -> Iterator[str | None]:
    """The texts of `a + b + …`, the last one first; ends with None at one that isn't text, or if there are too many."""
    for _ in range(_MOST_SUMMANDS):
        if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)):
            yield constant_text(node)
            return
        last = constant_text(node.right)
        yield last
        if last is None:
            return
        node = node.left
    yield None


def scopes_in(code: str) -> symtable.SymbolTable:
    """The names in each scope of some code; a comprehension is a scope of its own.

    Python 3.12 and later merge the names of comprehensions into the scope around them, but not those of generators.

    Raises:
        SyntaxError: the code can't be compiled.
    """
    if " for " in code:
        code = ast.unparse(_AsGenerators().visit(ast.parse(code)))
    return symtable.symtable(code, "cell", "exec")


class _AsGenerators(ast.NodeTransformer):
    """Makes generators of all comprehensions."""

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp) -> ast.AST:
        return self.generic_visit(ast.GeneratorExp(node.elt, node.generators))

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        pair = ast.Tuple([node.key, node.value], ast.Load())
        return self.generic_visit(ast.GeneratorExp(pair, node.generators))

"""The value of an expression of constant strings, found without running it."""

import ast
from collections.abc import Iterator

#: nobody spells a name as a longer sum
_MOST_SUMMANDS = 100


def constant_text(node: ast.AST) -> str | None:
    """The value of an expression of constant strings."""
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

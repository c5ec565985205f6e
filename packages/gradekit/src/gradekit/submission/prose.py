"""Text in code cells: what is an answer in words, and what was added to a text that was handed out."""

import ast
import re
from collections.abc import Container, Iterator

from gradekit.submission.names import defined_names
from gradekit.submission.statements import tree_of

_TEXT_MAGIC = re.compile(r"\s*%%(?:markdown|html|latex)\b.*\n?")
_LETTERS = re.compile(r"[^\W\d_]+")
#: functions of IPython.display that show a text
_DISPLAYS = ("Markdown", "HTML", "Latex", "display")
#: words of a string that is a sentence rather than the name of something
_SENTENCE = 4
#: words of a comment that is an answer rather than a remark on the code: with no line right below it, and otherwise
_ALONE, _LONG = 6, 16


def prose_in(source: str) -> str:
    """The text in a code cell that has nothing else: comments, constant strings, or what isn't code at all."""
    magic = _TEXT_MAGIC.match(source)
    if magic:
        return source[magic.end() :]
    tree = tree_of(source)
    if tree is None:
        return "" if defined_names(source) else source
    if not _is_only_text(tree):
        return ""
    comments = [line.lstrip("# ") for line in source.split("\n") if line.lstrip().startswith("#")]
    return "\n".join([*comments, *(text for part in tree.body for text in strings_in(part))])


def _is_only_text(tree: ast.Module) -> bool:
    """True for strings that are printed or displayed, and for sentences that are assigned first: `Markdown(why)`."""
    named: set[str] = set()
    for part in tree.body:
        if isinstance(part, ast.Assign):
            targets = part.targets
            words = max((len(text.split()) for text in strings_in(part.value)), default=0)
            named_only = all(isinstance(one, ast.Name) for one in targets)
            if words < _SENTENCE or not named_only or not _is_text(part.value, named):
                return False
            named |= {one.id for one in targets if isinstance(one, ast.Name)}
        elif not isinstance(part, ast.Import | ast.ImportFrom) and not (
            isinstance(part, ast.Expr) and _is_text(part.value, named)
        ):
            return False
    return True


def _is_text(value: ast.expr, named: Container[str]) -> bool:
    """True for a string, a name of one, or a call with nothing but these, such as `print("Because")`."""
    if isinstance(value, ast.Call):
        called = value.func
        by_name = isinstance(called, ast.Name) or (
            isinstance(called, ast.Attribute) and called.attr in _DISPLAYS
        )
        return by_name and all(_is_text(one, named) for one in value.args)
    if isinstance(value, ast.Name):
        return value.id in named
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def has_remark(source: str, released: str) -> bool:
    """True for code with a text of the student's that is more than a remark on it, in a comment or a string.

    Code that was commented out is none, and neither are docstrings, or comments right above a line of a function.
    """
    known = {line.strip() for line in released.split("\n")}
    comment: list[str] = []
    for line in (*map(str.rstrip, source.split("\n")), ""):
        text = line.lstrip()
        if text.startswith("#"):
            comment += [] if text in known else [text.lstrip("# ")]
            continue
        enough = _LONG if line else _ALONE
        if not line.startswith((" ", "\t")) and sum(map(_words, comment)) >= enough:
            prose = [] if _is_code("\n".join(comment)) else [text for text in comment if not _is_code(text)]
            if sum(map(_words, prose)) >= enough:
                return True
        comment = []
    own = set(_shown_texts(source)) - set(_shown_texts(released))
    return any(_words(text) >= _ALONE for text in own)


def _shown_texts(source: str) -> Iterator[str]:
    """The strings that are statements of a cell, or printed or displayed by one."""
    tree = tree_of(source)
    for part in tree.body if tree is not None else ():
        if isinstance(part, ast.Expr) and _is_text(part.value, ()):
            called = part.value.func if isinstance(part.value, ast.Call) else None
            if not isinstance(called, ast.Name) or called.id in ("print", *_DISPLAYS):
                yield from strings_in(part.value)


def _is_code(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _words(text: str) -> int:
    return 0 if text.startswith(("%", "!")) else len(_LETTERS.findall(text))


def strings_in(node: ast.AST) -> Iterator[str]:
    return (n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str))


def added_text(submitted: str, released: str) -> str:
    """The text that was added to a released one; the changed lines if that one was changed, too."""
    before, found, after = submitted.partition(released.strip())
    if found and released.strip():
        return "\n\n".join(part for part in (before.strip(), after.strip()) if part)
    known = {line.strip() for line in released.split("\n")}
    return "\n".join(line for line in submitted.split("\n") if line.strip() not in known)


def added_prose(submitted: str, released: str) -> str:
    """The comments and constant strings among the lines that were added to a code cell, unless these define something."""
    lines = added_text(submitted, released).split("\n")
    comments = [line.lstrip("# ") for line in lines if line.lstrip().startswith("#")]
    rest = "\n".join(line for line in lines if not line.lstrip().startswith("#"))
    if defined_names(rest):
        return ""
    return "\n".join([*comments, *([prose_in(rest)] if rest.strip() else [])])

"""The tokens of an answer, one list for each statement or sentence, without details that are easily changed in a copy.

Comments, docstrings, white space, quotes, the line breaks within a statement and parentheses that only group are left out. Names that the cell
itself binds are marked, so that they can be compared without regard to how they are spelled.
"""

import ast
import io
import keyword
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gradekit.submission.names import UNWRITABLE, parse

#: the most characters of one cell that are compared
MAX_COMPARED_CHARACTERS = 50_000
_OPEN, _CLOSED = "([{", ")]}"
_HEADS = {
    *("if", "elif", "else", "for", "while", "def", "class", "with", "try", "except", "finally", "async"),
}
_LEFT_OUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING),
    tokenize.ENDMARKER,
}
_STRING = re.compile(r"(?i)[rbuf]{0,2}(\"\"\"|'''|\"|')")
_BINDING = re.compile(r"(?:\bdef|\bclass|\bfor|\bas)\s+(\w+)|(\w+)\s*(?:[-+*/|&]?=)(?!=)")
_ANY_TOKEN = re.compile(r"\w+(?:\.\d+)?|\"[^\"\n]*\"|'[^'\n]*'|[-+*/%@&|<>=!:]=|\*\*|//|->|[^\w\s]")
_SENTENCE = re.compile(r"(?:(?![.!?]\s|\n[^\S\n]*[-*|#\n]).)+", re.DOTALL)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class TokenLine:
    """A statement, the head of a compound statement, or a sentence, and its place (physical lines, from 1).

    `own` is True for each token that is a name bound in the cell.
    """

    first: int
    last: int
    tokens: tuple[str, ...]
    own: tuple[bool, ...]


def code_lines(source: str) -> list[TokenLine]:
    """The statements of a code cell. A cell that Python can't tokenize is read line by line."""
    source = source[:MAX_COMPARED_CHARACTERS]
    names = _bound_names(source)
    try:
        found = list(_statements(source))
    except (tokenize.TokenError, *UNWRITABLE):
        found = [
            [(token, number) for token in _ANY_TOKEN.findall(line.partition("#")[0])]
            for number, line in enumerate(source.split("\n"), 1)
        ]
    return [_line(tokens, names) for tokens in found if tokens and not _is_text(tokens)]


def text_lines(source: str) -> list[TokenLine]:
    """The sentences of a written answer, as words."""
    source = source[:MAX_COMPARED_CHARACTERS]
    lines = []
    for match in _SENTENCE.finditer(source):
        words = _WORD.findall(match[0].casefold())
        if words:
            start = match.start() + len(match[0]) - len(match[0].lstrip())
            first = source.count("\n", 0, start) + 1
            last = first + match[0].strip().count("\n")
            lines.append(TokenLine(first, last, tuple(words), (False,) * len(words)))
    return lines


def _statements(source: str) -> Iterator[list[tuple[str, int]]]:
    """The tokens and the physical lines of each statement; a compound one is cut after its head."""
    found: list[tuple[str, int]] = []
    depth = lambdas = 0
    before = ""
    calls: list[bool] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in _LEFT_OUT:
            continue
        text = token.string
        depth += (text in _OPEN) - (text in _CLOSED) if token.type == tokenize.OP else 0
        if token.type == tokenize.NEWLINE or (text == ";" and not depth):
            yield found
            found, before = [], ""
            continue
        if text in _CLOSED and found and found[-1][0] == ",":  # a formatter's trailing comma
            found.pop()
        if text == "(":
            calls.append(_may_be_called(before))
        # parentheses that only group are a matter of style
        if text not in ("(", ")") or (calls and (calls[-1] if text == "(" else calls.pop())):
            found.append((_plain(token.type, text), token.end[0]))
        before = text
        lambdas += text == "lambda" and not depth
        if text == ":" and not depth and found and found[0][0] in _HEADS:
            if not lambdas:
                yield found
                found = []
            lambdas = max(0, lambdas - 1)
    yield found


def _may_be_called(text: str) -> bool:
    return bool(text) and (text in _CLOSED or (text.isidentifier() and not keyword.iskeyword(text)))


def _plain(kind: int, text: str) -> str:
    """A token in a normal form, whichever spelling was chosen."""
    if kind == tokenize.NUMBER:
        try:
            return repr(ast.literal_eval(text))
        except UNWRITABLE:
            return text
    if kind == tokenize.STRING and (match := _STRING.match(text)):
        return f"'{text[match.end() : -len(match[1])]}"
    return text


def _is_text(tokens: list[tuple[str, int]]) -> bool:
    """True for a docstring, or a string that is used as a comment."""
    return all(text.startswith(("'", '"')) for text, _ in tokens)


def _line(found: list[tuple[str, int]], names: frozenset[str]) -> TokenLine:
    texts = tuple(text for text, _ in found)
    is_head = texts[0] in ("def", "async", "class")
    own, depth = [], 0
    for before, text, after in zip(("", *texts), texts, (*texts[1:], ""), strict=False):
        depth += (text in _OPEN) - (text in _CLOSED)
        is_keyword = after == "=" and depth > 0 and not is_head and "lambda" not in texts
        is_attribute = before == "."
        own.append(not is_keyword and (f".{text}" if is_attribute else text) in names)
    return TokenLine(found[0][1], found[-1][1], texts, tuple(own))


def _bound_names(source: str) -> frozenset[str]:
    """Names that the cell binds anywhere; attributes that it sets begin with a dot."""
    tree = parse(source)
    if tree is None:
        found = {name for pair in _BINDING.findall(source) for name in pair}
        return frozenset(found) - set(keyword.kwlist)
    return frozenset(_bound_in(ast.walk(tree)))


def _bound_in(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield f".{name}"
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield from (name, f".{name}")
            case ast.ExceptHandler(name=str(name)):
                yield name

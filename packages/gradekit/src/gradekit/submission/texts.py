"""The texts that a student wrote into a notebook: in its cells, among the code, and as what code had put out.

An empty written answer may be any of them. Most belong to something else: a comment to its code, a paragraph to the
question above it. Such a text is only taken for the answer to another question if it is more than its place asks for, or
if it is about that question.
"""

import ast
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from textwrap import dedent

import msgspec
from msgspec import Raw, Struct
from nbformat import NotebookNode

from gradekit.course.cells import PLAIN_TEXT, grade_id, is_answer_cell, is_graded_cell, is_locked_cell, own_id
from gradekit.submission.names import defined_names, nodes_in, squeezed
from gradekit.submission.statements import ParsingBudget, tree_of

WORD = re.compile(r"\w")
_TEXT_MAGIC = re.compile(r"\s*%%(?:markdown|html|latex)\b.*\n?")
_LETTERS = re.compile(r"[^\W\d_]+")
#: functions of IPython.display that show a text
_DISPLAYS = ("Markdown", "HTML", "Latex", "display")
#: words of a string that is a sentence rather than the name of something
_SENTENCE = 4
#: words of a comment above a line, and of a string that is shown or was added to a docstring, that is more than a remark
_LONG, _SHOWN = 16, 6
#: what an item of a list begins with, and a heading
_ITEM = re.compile(r"[ \t]*(?:[-*+•][ \t]|\(?(?:\d{1,2}|[a-z])[.):])")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]")
#: words that are long enough to mean something, by their beginnings, since they may be inflected
_MEANING = re.compile(r"[^\W\d_]{4,}")
_BEGINNING = 6
#: rarer words of a question that a text about it has at least
_SHARED = 2
#: words of a text for each more of them
_MANY = 50
_NUMBERED = re.compile(r"\W*([^\W\d_]*)\W{0,2}(\d{1,3}[a-z]?)\b")
_ORNAMENT = re.compile(r"[\W\d_]*")
_STUB = "YOUR ANSWER HERE"  # nbgrader's own


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
        by_name = isinstance(called, ast.Name) or getattr(called, "attr", "") in _DISPLAYS
        return by_name and all(_is_text(one, named) for one in value.args)
    if isinstance(value, ast.Name):
        return value.id in named
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


@dataclass(frozen=True)
class Text:
    """A student's text. `apart` says that it is more than its place asks for."""

    text: str
    apart: bool = True


def texts_in_code(source: str, released: str) -> Iterator[Text]:
    """The comments and strings that a student added to a code cell, but for code that was commented out.

    More than a remark on the code are a comment with nothing right below it (of six words, if it is indented), one of 16
    words that isn't in a function, and six words in a string that is shown, or that were added to a given docstring.
    """
    known = {line.strip() for line in released.split("\n")}
    comment, indented = list[str](), False
    for line in (*map(str.rstrip, source.split("\n")), ""):
        text = line.lstrip()
        if text.startswith("#"):
            comment += [] if text in known else [text.lstrip("#")]
            indented = text != line
            continue
        if any(map(_words, comment)):
            whole = dedent("\n".join(comment))
            prose = (
                [] if _is_code(whole) else [part for part in whole.split("\n") if not _is_code(part.strip())]
            )
            enough = _LONG if line else _SHOWN if indented else 1
            apart = not line.startswith((" ", "\t")) and sum(map(_words, prose)) >= enough
            yield Text(whole, apart)
        comment = []
        if "#" in line and text not in known:
            yield Text(line.partition("#")[2], apart=False)
    tree, original = tree_of(source), tree_of(released)
    given = {text for text in strings_in(original)} if original is not None else set()
    docstrings = _docstrings(original)
    for name, text in _docstrings(tree).items():
        if (before := docstrings.get(name, "").strip()) and text not in given:
            yield Text(text, before in text and _words(added_text(text, before)) >= _SHOWN)
    shown = {text for text in _shown_texts(tree) if _words(text) >= _SHOWN}
    yield from (Text(text, text in shown) for text in strings_in(tree) if text not in given)


def _docstrings(tree: ast.Module | None) -> dict[str, str]:
    """By the names of functions and classes."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    found = (node for node in nodes_in(tree) if isinstance(node, kinds)) if tree is not None else ()
    return {node.name: text for node in found if (text := ast.get_docstring(node, clean=False))}


def _shown_texts(tree: ast.Module | None) -> Iterator[str]:
    """The strings that are statements of a cell, or printed or displayed by one."""
    for part in tree.body if tree is not None else ():
        if isinstance(part, ast.Expr) and _is_text(part.value, ()):
            called = part.value.func if isinstance(part.value, ast.Call) else None
            if not isinstance(called, ast.Name) or called.id in ("print", *_DISPLAYS):
                yield from strings_in(part.value)


def _is_code(text: str) -> bool:
    try:
        ast.parse(f"{text} pass" if text.endswith(":") else text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _words(text: str) -> int:
    return 0 if text.startswith(("%", "!")) else len(_LETTERS.findall(text))


def strings_in(node: ast.AST | None) -> Iterator[str]:
    found = nodes_in(node) if node is not None else ()
    return (n.value for n in found if isinstance(n, ast.Constant) and isinstance(n.value, str))


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


class EmptyQuestion:
    """What a written answer was asked: the text from the heading, or from the code, above it."""

    def __init__(self, released: NotebookNode, name: str) -> None:
        cells = released.cells
        first = own = next(place for place, cell in enumerate(cells) if grade_id(cell) == name)
        while first and _is_ordinary_text(cells[first - 1]):
            first -= 1
            if cells[first].source.lstrip().startswith("#"):
                break
        self._cells, self._others = cells[first : own + 1], [*cells[:first], *cells[own + 1 :]]
        self._text = "\n".join(cell.source for cell in self._cells).replace(_STUB, "")
        #: how many parts an answer has that answers nothing else
        self.parts = max(1, sum(map(bool, map(_ITEM.match, self._text.split("\n")))))

    @cached_property
    def _lines(self) -> tuple[str, ...]:
        """Its lines, without numbers and the like, by which an answer may name it."""
        return tuple(filter(None, map(_plain, self._text.split("\n"))))

    @cached_property
    def _label(self) -> re.Pattern[str] | None:
        """Its number: "Question 2", "Q2"."""
        numbered = _NUMBERED.match(self._text)
        if numbered is None:
            return None
        return re.compile(
            rf"\b(?:{numbered[1] or 'question'}|question|q)\W{{0,2}}{numbered[2]}\b", re.IGNORECASE
        )

    @cached_property
    def _rare(self) -> frozenset[str]:
        """The words that nothing else in the notebook has."""
        return _meaning(self._text) - _meaning_of_all("\n".join(cell.source for cell in self._others))

    def is_meant_by(self, text: str) -> bool:
        """True for a text that names the question, or has several of its rarer words."""
        if self._label is not None and self._label.search(text):
            return True
        lines = (f"{_plain(line)} " for line in text.split("\n"))
        if any(line.startswith(f"{named} ") for line in lines for named in self._lines):
            return True
        meaning = _meaning(text)
        return len(meaning & self._rare) >= _SHARED + len(meaning) // _MANY


def _parts(text: str) -> int:
    """How many paragraphs, headings and items of a list there are."""
    lines = text.strip().split("\n")
    begins = (
        not above.strip() or _ITEM.match(line) or _HEADING.match(line) for above, line in pairwise(lines)
    )
    return 1 + sum(bool(line.strip() and new) for line, new in zip(lines[1:], begins, strict=True))


def _is_ordinary_text(cell: NotebookNode) -> bool:
    return cell.cell_type != "code" and not is_answer_cell(cell) and not is_graded_cell(cell)


def _plain(line: str) -> str:
    found, end = _ORNAMENT.match(line), len(line)
    while end and not line[end - 1].isalnum():  # a pattern would try again at each sign
        end -= 1
    return line[found.end() if found else 0 : end].casefold()


def _meaning(text: str) -> frozenset[str]:
    return frozenset(word[:_BEGINNING] for word in _MEANING.findall(text.casefold()))


_meaning_of_all = lru_cache(16)(_meaning)  # a released notebook is the same in all submissions


class StudentTexts:
    """The texts in the cells of one notebook.

    Args:
        known: the released cells, by grade_id.
        handed_out: the released versions of other cells, by the id of the cell object.
    """

    def __init__(
        self,
        cells: list[NotebookNode],
        released: NotebookNode,
        known: Mapping[str, NotebookNode],
        handed_out: Mapping[int, NotebookNode],
    ) -> None:
        self.cells, self._released, self._known, self._handed_out = cells, released, known, handed_out
        self._budget, self._parsed = ParsingBudget(), dict[str, str]()
        self._texts = frozenset(squeezed(cell.source) for cell in released.cells if cell.cell_type != "code")

    @classmethod
    def of(cls, notebook: NotebookNode, released: NotebookNode) -> "StudentTexts":
        """Those of a notebook that was not restored."""
        known = {name: cell for cell in released.cells if (name := grade_id(cell))}
        ordinary = [cell for cell in released.cells if not grade_id(cell)]
        by_id = {own_id(cell): cell for cell in ordinary if own_id(cell)}
        by_source = {squeezed(cell.source): cell for cell in ordinary}
        found = (
            (cell, by_source.get(squeezed(cell.source), by_id.get(own_id(cell)))) for cell in notebook.cells
        )
        return cls(
            notebook.cells, released, known, {id(cell): same for cell, same in found if same is not None}
        )

    def is_students_own(self, cell: NotebookNode) -> bool:
        return grade_id(cell) not in self._known and id(cell) not in self._handed_out

    def near(self, own: NotebookNode) -> list[NotebookNode]:
        """The student's cells between the released cells above and below an answer, and the text cell above these."""
        cells = self.cells
        first = last = next(place for place, cell in enumerate(cells) if cell is own)
        while first > 0 and self.is_students_own(cells[first - 1]):
            first -= 1
        while last + 1 < len(cells) and self.is_students_own(cells[last + 1]):
            last += 1
        above = cells[first - 1 : first] if first and not grade_id(cells[first - 1]) else []
        return [*above, *(cell for cell in cells[first : last + 1] if cell is not own)]

    def text_of(self, cell: NotebookNode) -> str:
        """The text that a student wrote in a cell that isn't an answer cell; empty if it is code."""
        if cell.cell_type == "code":
            return self._prose(cell.source) if self.is_students_own(cell) else ""
        original = self._handed_out.get(id(cell))
        if original is not None:
            return added_text(cell.source, original.source)
        return "" if squeezed(cell.source) in self._texts else str(cell.source)

    def _prose(self, source: str) -> str:
        if source not in self._parsed:
            self._parsed[source] = prose_in(source) if self._budget.takes(source, len(source)) else ""
        return self._parsed[source]

    def found(self) -> Iterator[tuple[int, Text]]:
        """All of them, each with the place of its cell. What is next to a written answer is a part of it."""
        answers = {name: cell for cell in self.cells if (name := grade_id(cell) or "") in self._known}
        claimed: set[int] = set()
        for name, cell in answers.items():
            original = self._known[name]
            in_words = original.cell_type != "code"
            by_hand = is_answer_cell(original) and (in_words or is_graded_cell(original))
            if not by_hand or squeezed(cell.source) in ("", squeezed(original.source)):
                continue
            cells = [*([cell] if in_words else []), *self.near(cell)]
            claimed |= {id(one) for one in cells}
            texts = (one.source if one is cell else self.text_of(one) for one in cells)
            text = "\n\n".join(filter(None, map(str.strip, texts)))
            place = next(place for place, one in enumerate(self.cells) if one is cell)
            yield place, Text(text, in_words and _parts(text) > EmptyQuestion(self._released, name).parts)
        for place, cell in enumerate(self.cells):
            if id(cell) in claimed:
                continue
            if grade_id(cell) not in self._known and WORD.search(text := self.text_of(cell)):
                yield place, Text(text)
            elif cell.cell_type == "code":
                yield from ((place, text) for text in self._in_code(cell))

    def _in_code(self, cell: NotebookNode) -> Iterable[Text]:
        original = self._known.get(grade_id(cell) or "") or self._handed_out.get(id(cell))
        if original is not None and (is_locked_cell(original) or original.source == cell.source):
            return ()
        released = original.source if original is not None else ""
        return texts_in_code(cell.source, released) if self._budget.takes(cell.source) else ()


class _Output(Struct):
    output_type: str = ""
    name: str = ""
    text: str | list[str] = ""
    data: dict[str, Raw] = {}


_OUTPUTS = msgspec.json.Decoder(list[_Output])
_TEXT = msgspec.json.Decoder(str | list[str])
#: the bytes of a cell's outputs that are read
_MAX_OUTPUT_BYTES = 2**18
_SHOWN_AS = ("text/markdown", "text/latex", PLAIN_TEXT)
#: a line of words
_PROSE_LINE = re.compile(r"\W{0,3}[^\W\d_][\w'’-]*[,:;.!?]?(?: [\w'’\"`()$/+-]+[,:;.!?]*){3,}\s*")


def sentences_in(saved: Raw, sources: Container[str]) -> str:
    """The lines among the outputs of a cell that are sentences, mostly of words that no cell has (`sources`)."""
    if memoryview(saved).nbytes > _MAX_OUTPUT_BYTES:
        return ""
    try:
        outputs = _OUTPUTS.decode(saved)
        texts = [text for output in outputs if (text := _text_of(output))]
    except (msgspec.DecodeError, UnicodeDecodeError):  # none, or those of a format before version 4
        return ""
    lines = (line.strip() for text in texts for line in text.split("\n"))
    return "\n".join(line for line in lines if _PROSE_LINE.fullmatch(line) and _is_new(line, sources))


def _text_of(output: _Output) -> str:
    kinds = [kind for kind in _SHOWN_AS if kind in output.data]
    shown = _TEXT.decode(output.data[kinds[0]]) if kinds else output.text
    wanted = output.output_type in ("stream", "display_data", "execute_result") and output.name != "stderr"
    return "".join(shown) if wanted else ""


def _is_new(line: str, sources: Container[str]) -> bool:
    words = _LETTERS.findall(line.casefold())
    return len(words) >= _SHOWN and 2 * sum(word not in sources for word in words) >= len(words)


def words_in(sources: Iterable[str]) -> frozenset[str]:
    return frozenset(word for source in sources for word in _LETTERS.findall(source.casefold()))

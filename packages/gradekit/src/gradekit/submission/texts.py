"""The texts that a student wrote into a notebook: in its cells, among the code, and as what code had put out.

An empty written answer may be any of them. Most belong to something else: a comment to its code, a paragraph to the
question above it. Such a text is only taken for the answer to another question if it is more than its place asks for, or
if it is about that question.
"""

import ast
import html
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from textwrap import dedent
from typing import NamedTuple

import msgspec
from msgspec import Raw, Struct
from nbformat import NotebookNode

from gradekit.course.cells import PLAIN_TEXT, grade_id, is_answer_cell, is_graded_cell, is_locked_cell, own_id
from gradekit.submission.names import DEFINITIONS, defined_names, nodes_in, squeezed, used_names
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
#: words before the number of a question; in a heading, any word
_KINDS = ("", "question", "exercise", "task", "problem", "part", "q", "frage", "aufgabe")
_ORNAMENT = re.compile(r"[\W\d_]*")
_STUB = "YOUR ANSWER HERE"  # nbgrader's own
_HTML = "text/html"


def prose_in(source: str) -> str:
    """The text in a code cell that has nothing else: comments, constant strings, or what isn't code at all."""
    if magic := _TEXT_MAGIC.match(source):
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
        match part:
            case ast.Assign(targets=targets, value=value):
                names = {target.id for target in targets if isinstance(target, ast.Name)}
                words = max((len(text.split()) for text in strings_in(value)), default=0)
                if words < _SENTENCE or len(names) < len(targets) or not _is_text(value, named):
                    return False
                named |= names
            case ast.Import() | ast.ImportFrom():
                pass
            case _:
                if not isinstance(part, ast.Expr) or not _is_text(part.value, named):
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
    """A student's text. `stands_alone` says that it is more than its place asks for."""

    text: str
    stands_alone: bool = True


def texts_in_code(source: str, released: str) -> Iterator[Text]:
    """The comments and strings that a student added to a code cell, but for code that was commented out.

    More than a remark on the code are a comment below its last line, one of six words with nothing right below it, one of
    16 words that isn't in a function, and six words in a string that is shown, or that were added to a given docstring.
    """
    known = {line.strip() for line in released.split("\n")}
    tree, original = tree_of(source), tree_of(released)
    names = used_names(source) if tree else frozenset[str]()
    lines = [*map(str.rstrip, source.split("\n")), ""]
    code = (at for at, line in enumerate(lines) if line and not line.lstrip().startswith("#"))
    last = max(code, default=-1)
    comment, indented = list[str](), False
    for at, line in enumerate(lines):
        text = line.lstrip()
        if text.startswith("#"):
            comment += [] if text in known else [text.lstrip("#")]
            indented = text != line
            continue
        if any(map(_words, comment)):
            whole = dedent("\n".join(comment))
            parts = [] if _is_code(whole, names) else whole.split("\n")
            prose = [part for part in parts if not _is_code(part.strip(), names)]
            enough = _LONG if line else 1 if at > last and not indented else _SHOWN
            stands_alone = not line.startswith((" ", "\t")) and sum(map(_words, prose)) >= enough
            yield Text(whole, stands_alone)
        comment = []
        if "#" in line and text not in known:
            yield Text(line.partition("#")[2], stands_alone=False)
    given = set(strings_in(original))
    docstrings = _docstrings(original)
    for name, text in _docstrings(tree).items():
        if (before := docstrings.get(name, "").strip()) and text not in given:
            yield Text(text, before in text and _words(added_text(text, before)) >= _SHOWN)
    long = (text for text in _shown_texts(tree) if _words(text) >= _SHOWN)
    shown = {text for text in long if not _is_code(dedent(text).strip(), names)}
    yield from (Text(text, text in shown) for text in strings_in(tree) if text not in given)
    named = set(_named_texts(original))
    yield from (Text(text, stands_alone=False) for text in _named_texts(tree) if text not in named)


def _docstrings(tree: ast.Module | None) -> dict[tuple[str, str], str]:
    """By the class, if there is one, and the name of what has them."""
    nodes = nodes_in(tree) if tree is not None else ()
    classes = {id(part): node.name for node in nodes if isinstance(node, ast.ClassDef) for part in node.body}
    found = ((classes.get(id(node), ""), node) for node in nodes if isinstance(node, DEFINITIONS))
    return {(of, node.name): text for of, node in found if (text := ast.get_docstring(node, clean=False))}


def _named_texts(tree: ast.Module | None) -> Iterator[str]:
    """The assigned strings with their names, which may say what they answer: `q2 = "No"`."""
    for part in tree.body if tree is not None else ():
        match part:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text))):
                yield f"{name}: {text}"


def _shown_texts(tree: ast.Module | None) -> Iterator[str]:
    """The strings that are statements of a cell, or printed or displayed by one."""
    for part in tree.body if tree is not None else ():
        if isinstance(part, ast.Expr) and _is_text(part.value, ()):
            called = part.value.func if isinstance(part.value, ast.Call) else None
            if not isinstance(called, ast.Name) or called.id in ("print", *_DISPLAYS):
                yield from strings_in(part.value)


#: words that happen to parse consist of these: `Yes, always`, `Answer: never`
_OF_WORDS = (
    *(ast.Module, ast.Expr, ast.AnnAssign, ast.Name, ast.Load, ast.Store, ast.Tuple, ast.IfExp, ast.Compare),
    *(ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.cmpop, ast.boolop, ast.operator, ast.unaryop),
)


def _is_code(text: str, names: Container[str]) -> bool:
    """True for code that is more than words, or whose words are all `names` of the cell."""
    try:
        nodes = list(ast.walk(ast.parse(f"{text} pass" if text.endswith(":") else text)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    only_words = all(isinstance(node, _OF_WORDS) for node in nodes)
    return not only_words or all(node.id in names for node in nodes if isinstance(node, ast.Name))


def _words(text: str) -> int:
    return 0 if text.startswith(("%", "!")) else len(_LETTERS.findall(text))


def is_written_answer(released: NotebookNode) -> bool:
    """True for an answer that a person grades, and for other text that students fill in."""
    return is_answer_cell(released) and (is_graded_cell(released) or released.cell_type != "code")


def is_blank(cell: NotebookNode, released: NotebookNode) -> bool:
    """Whether the cell is empty or as it was released."""
    source = squeezed(cell.source)
    return not source or source == squeezed(released.source)


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


class AskedQuestion:
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
        """Its number: "Question 2", "answer_q2"; a line of a list, or one that begins with "For 10", is none."""
        labels = set()
        for place, line in enumerate(self._text.split("\n")):
            found, is_item = _NUMBERED.match(line), place and _ITEM.match(line)
            if found and (_HEADING.match(line) or (found[1].casefold() in _KINDS and not is_item)):
                labels.add(rf"(?:{found[1] or 'question'}|question|q)[\W_]{{0,2}}{found[2]}")
        return re.compile(rf"(?<![^\W_])(?:{'|'.join(labels)})(?![^\W_])", re.IGNORECASE) if labels else None

    @cached_property
    def _rare(self) -> frozenset[str]:
        """The words that nothing else in the notebook has."""
        return _meaning(self._text) - _meaning_of_all("\n".join(cell.source for cell in self._others))

    def is_meant_by(self, text: str) -> bool:
        """True for a text that names the question, or has several of its rarer words."""
        if self._label is not None and self._label.search(text):
            return True
        lines = list(map(_plain, text.split("\n")))
        if any(_begins_with(line, named) for line in lines for named in self._lines):
            return True
        meaning = _meaning(text)
        return len(meaning & self._rare) >= _SHARED + len(meaning) // _MANY


def _parts(text: str) -> int:
    """How many paragraphs, headings and items of a list there are."""
    return 1 + sum(
        bool(line.strip() and (not above.strip() or _ITEM.match(line) or _HEADING.match(line)))
        for above, line in pairwise(text.strip().split("\n"))
    )


def _is_ordinary_text(cell: NotebookNode) -> bool:
    return cell.cell_type != "code" and not is_answer_cell(cell) and not is_graded_cell(cell)


def _plain(line: str) -> str:
    found, end = _ORNAMENT.match(line), len(line)
    while end and not line[end - 1].isalnum():  # a pattern would try again at each sign
        end -= 1
    return line[found.end() if found else 0 : end].casefold()


def _begins_with(line: str, named: str) -> bool:
    """True for a line that names another one; a single word, such as `why`, has to be apart from the rest: `Why: since`."""
    rest = line.removeprefix(named)
    return line == named or (rest != line and rest.startswith((" ", ":") if " " in named else ":"))


def _meaning(text: str) -> frozenset[str]:
    return frozenset(word[:_BEGINNING] for word in _MEANING.findall(text.casefold()))


_meaning_of_all = lru_cache(16)(_meaning)  # a released notebook is the same in all submissions


class Sibling(NamedTuple):
    """Another notebook of the assignment, as it was handed in and as released."""

    notebook: NotebookNode
    released: NotebookNode


class StudentTexts:
    """The texts in the cells of one notebook.

    Args:
        known, handed_out: see `gradekit.submission.gather.Restoration`.
        elsewhere: squeezed texts that are looked at elsewhere, or were handed out once.
    """

    def __init__(
        self,
        cells: list[NotebookNode],
        released: NotebookNode,
        known: Mapping[str, NotebookNode],
        handed_out: Mapping[int, NotebookNode],
        elsewhere: Container[str] = frozenset(),
    ) -> None:
        self.cells, self._released, self._known, self._handed_out = cells, released, known, handed_out
        self._elsewhere = elsewhere
        self._budget, self._parsed = ParsingBudget(), dict[str, str]()
        self._texts = frozenset(squeezed(cell.source) for cell in released.cells if cell.cell_type != "code")

    @classmethod
    def of(cls, notebook: NotebookNode, released: NotebookNode, elsewhere: Container[str]) -> "StudentTexts":
        """Those of a notebook that was not restored."""
        known = {name: cell for cell in released.cells if (name := grade_id(cell))}
        ordinary = [cell for cell in released.cells if not grade_id(cell)]
        by_id = {own_id(cell): cell for cell in ordinary if own_id(cell)}
        by_source = {squeezed(cell.source): cell for cell in ordinary}
        same = [by_source.get(squeezed(cell.source)) or by_id.get(own_id(cell)) for cell in notebook.cells]
        handed_out = {id(cell): one for cell, one in zip(notebook.cells, same, strict=True) if one}
        return cls(notebook.cells, released, known, handed_out, elsewhere)

    def is_students_own(self, cell: NotebookNode) -> bool:
        return grade_id(cell) not in self._known and id(cell) not in self._handed_out

    def near(self, place: int) -> list[NotebookNode]:
        """The student's cells between the released cells above and below an answer, and the text cell above these."""
        cells, own = self.cells, self.cells[place]
        first = last = place
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
        if (original := self._handed_out.get(id(cell))) is not None:
            return added_text(cell.source, original.source)
        return "" if squeezed(cell.source) in self._texts else str(cell.source)

    def _prose(self, source: str) -> str:
        if source not in self._parsed:
            read = self._budget.takes(source, len(source)) and not self._tries_released(source)
            self._parsed[source] = prose_in(source) if read else ""
        return self._parsed[source]

    def _tries_released(self, source: str) -> bool:
        """True for a text that is given to a function of the notebook that shows nothing: `translate("A long sentence")`."""
        tree = tree_of(source)
        calls = (node.func for node in nodes_in(tree) if isinstance(node, ast.Call)) if tree else ()
        called = {one.id for one in calls if isinstance(one, ast.Name)}.difference(_DISPLAYS)
        code = (cell.source for cell in self._released.cells if cell.cell_type == "code") if called else ()
        return any(called & defined_names(one) - _showing(one) for one in code)

    def found(self) -> Iterator[tuple[int, Text]]:
        """All of them, each with the place of its cell. What is next to a written answer is a part of it."""
        claimed: set[int] = set()
        for place, cell in enumerate(self.cells):
            name = grade_id(cell) or ""
            original = self._known.get(name)
            if original is None or not is_written_answer(original) or is_blank(cell, original):
                continue
            in_words = original.cell_type != "code"
            near = [(one, text) for one in self.near(place) if (text := self.text_of(one).strip())]
            near = [*([(cell, cell.source.strip())] if in_words else []), *near]
            claimed |= {id(one) for one, _ in near}
            text = "\n\n".join(text for _, text in near)
            parts = AskedQuestion(self._released, name).parts
            yield place, Text(text, in_words and _parts(text) > parts)
        for place, cell in enumerate(self.cells):
            if id(cell) in claimed or squeezed(cell.source) in self._elsewhere:
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


def _showing(source: str) -> set[str]:
    """The functions in some code that print or display something."""
    tree, shows = tree_of(source), {"print", *_DISPLAYS}
    functions = [node for node in nodes_in(tree) if isinstance(node, ast.FunctionDef)] if tree else []
    return {f.name for f in functions if shows & {n.id for n in ast.walk(f) if isinstance(n, ast.Name)}}


class _Output(Struct):
    output_type: str = ""
    name: str = ""
    text: str | list[str] = ""
    data: dict[str, Raw] = {}


_OUTPUTS = msgspec.json.Decoder(list[_Output])
_TEXT = msgspec.json.Decoder(str | list[str])
#: the characters of a cell's outputs that are read
_MAX_OUTPUT = 2**18
_SHOWN_AS = ("text/markdown", "text/latex", _HTML, PLAIN_TEXT)
_TAG = re.compile(r"<[^<>]*>")
#: what has more than texts in it, such as a table of data, or is more than a text
_NO_TEXT = re.compile(r"<(?:table|script|style|svg)\b", re.IGNORECASE)
#: between the columns of a table, which has several
_GAP = re.compile(r"[^\s.:;!?] {2,}|\t")
_SIGNS, _ONE_WORD = "()\"'“”‘’*_`", re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_LISTED = ("',", '",')
_TIMED = ("CPU times:", "Wall time:")


def sentences_in(saved: Raw, sources: Container[str]) -> str:
    """The lines among the outputs of a cell that are sentences which no cell has, whose words are in `sources`."""
    try:
        outputs = _OUTPUTS.decode(saved)
        text = "\n".join(filter(None, map(_text_of, outputs)))[:_MAX_OUTPUT]
    except (msgspec.DecodeError, UnicodeDecodeError):  # none, or those of a format before version 4
        return ""
    lines = map(str.strip, text.split("\n"))
    return "\n".join(line for line in lines if _is_sentence(line) and _is_new(line, sources))


def _text_of(output: _Output) -> str:
    if output.output_type not in ("stream", "display_data", "execute_result") or output.name == "stderr":
        return ""
    for kind in _SHOWN_AS:
        if kind in output.data:
            text = "".join(_TEXT.decode(output.data[kind]))[:_MAX_OUTPUT]
            if kind != _HTML:
                return text
            if not _NO_TEXT.search(text):
                plain = html.unescape(_TAG.sub(" ", text))
                return "\n".join(" ".join(line.split()) for line in plain.split("\n"))
    return "".join(output.text)


def _is_sentence(line: str) -> bool:
    """True for a line most of whose parts are words, which isn't a row of a table, a list of strings, or IPython's."""
    parts = line.split()
    if line.startswith(("[", "{", "<", *_TIMED)) or len(_GAP.findall(line)) > 1:
        return False
    bare = (
        part.strip(_SIGNS).rstrip(".,:;!?…").strip(_SIGNS) for part in parts if not part.endswith(_LISTED)
    )
    words = sum(map(bool, map(_ONE_WORD.fullmatch, bare)))
    return words >= _SHOWN and 2 * words > len(parts)


def _is_new(line: str, sources: Container[str]) -> bool:
    """True if most of the words that follow each other do so in no cell, and some of them are in no cell."""
    words = _LETTERS.findall(line.casefold())
    new = sum(word not in sources for word in words)
    follow = sum(pair not in sources for pair in map(" ".join, pairwise(words)))
    return 4 * new >= len(words) and 2 * follow >= len(words)


def words_in(sources: Iterable[str]) -> frozenset[str]:
    """The words in some texts, and each two that follow each other."""
    found = [_LETTERS.findall(source.casefold()) for source in sources]
    return frozenset(word for words in found for word in (*words, *map(" ".join, pairwise(words))))

"""What may be the answer to an empty answer cell, in other cells or beside the notebook.

Text next to a written answer is copied into it. Whether anything else is the answer, a person decides.
"""

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path, PurePath

from nbformat import NotebookNode, v4

from gradekit.course.cells import grade_id, is_answer_cell, is_demo, is_graded_cell, is_locked_cell
from gradekit.course.files import handed_in_text
from gradekit.course.operating_system import open_safely
from gradekit.course.printing import first_of, printable
from gradekit.submission.gather import Restoration, label_of
from gradekit.submission.names import parse, squeezed
from gradekit.submission.notebook_file import CHECKPOINTS
from gradekit.submission.statements import (
    MAX_PARSED_CHARACTERS,
    ParsingBudget,
    added_prose,
    added_text,
    code_in,
    has_remark,
    prose_in,
    strings_in,
    tree_of,
)

#: places that a sentence names
_NAMED_AT_MOST = 3
#: files that are no answer to a question: data, notebooks, which are read, and what programs leave behind
_NO_ANSWER = re.compile(
    r"(?i)(?:\.(?:ipynb|csv|tsv|json|npy|npz|pth?|pkl|pickle|safetensors|parquet|feather|h5|hdf5|db|sqlite3?"
    r"|log|toml|ya?ml|ini|cfg|lock|pyc|so|bin|tmp|bak)|(?:^|/)(?:\.[^/]*|Makefile|Thumbs\.db))\Z"
)
_WORD = re.compile(r"\w")
#: the fence of a block of code, a prompt in a line of its own, or a line of Git's about a conflict
_PASTED = re.compile(
    r"^(?:[ \t]*(?:(?:`{3,}|~{3,})[ \t]*\w*|(?:In|Out)[ \t]*\[\d*\]:?)[ \t]*|(?:<{7}|>{7}|\|{7})(?: .*)?|={7})$",
    re.MULTILINE,
)
_MAX_ARCHIVE_BYTES = 20 * 2**20
#: a line of at least four words, without an indent or a comment sign
_PROSE = re.compile(
    rf"(?!(?:{'|'.join(keyword.kwlist)})\b)[^\W\d_][\w'’-]*[,:;.!]?(?: [\w'’\"`()/+-]+[,:;.!]?){{3,}}[.!?:]?\s*"
)
#: how similar two names are if one may be a misspelling of the other
_SIMILAR = 0.6
#: names that are compared with those that are missing, and modules that are looked at
_MAX_NAMES, _MAX_MODULES = 1_000, 50


@dataclass
class OtherPlaces:
    """What a student handed in beside the notebook, by the name of the file, with its folder.

    Args:
        beside: the student's own files, but for the notebook itself.
        drafts: for each other notebook, its cells that are neither as handed out nor in the notebook itself.
        unread: other notebooks that can't be read, and earlier versions that Jupyter kept, which say little about one
            answer.
        replaced: what was written into copies of files that were handed out, which are not used.
    """

    beside: Mapping[str, Path]
    drafts: Mapping[str, Sequence[NotebookNode]]
    unread: Sequence[str]
    replaced: Mapping[str, str]

    @classmethod
    def of(
        cls,
        work: Restoration,
        beside: Mapping[str, Path],
        notebooks: Mapping[str, NotebookNode | None],
        replaced: Mapping[str, str],
        siblings: Mapping[str, NotebookNode],
    ) -> "OtherPlaces":
        known = {squeezed(cell.source) for cell in (*work.released.cells, *work.cells)}
        drafts = {
            name: [cell for cell in notebook.cells if squeezed(cell.source) not in known]
            for name, notebook in notebooks.items()
            if notebook is not None
        }
        earlier = {name: drafts.pop(name) for name in list(drafts) if CHECKPOINTS in PurePath(name).parts}
        wanted = frozenset[str]().union(*work.expected.values())
        for name, notebook in siblings.items():
            drafts[name] = [
                cell
                for cell in notebook.cells
                if squeezed(cell.source) not in known
                if grade_id(cell) in work.known
                or (cell.cell_type == "code" and wanted & work.definitions.of(cell.source))
            ]
        unread = [name for name, notebook in notebooks.items() if notebook is None]
        return cls(beside, drafts, [*unread, *(name for name, cells in earlier.items() if cells)], replaced)


class WrittenAnswers:
    """Looks for the texts of empty written answers in a restored notebook, and in what was handed in beside it."""

    def __init__(self, work: Restoration, places: OtherPlaces) -> None:
        self._work = work
        self._beside, self._drafts, self._replaced = places.beside, places.drafts, places.replaced
        self._budget, self._parsed = ParsingBudget(), dict[str, str]()
        self._claimed: set[int] = set()  # the cells whose text belongs to an answer

    def gather(self) -> None:
        """Copy text next to an empty written answer into it, so that a person reads it; doubt the other empty ones."""
        blank = any(map(self._work.is_blank, self._written))
        if self._written:
            self._keep_lost(of_code=blank)
        if not blank:
            return  # people are shown what is next to the answers
        for name in self._written:
            own = self._work.present[name]
            near = self._near(own)
            if self._work.is_blank(name) and own.cell_type != "code":
                texts = [text for cell in near if (text := self._text_of(cell)).strip()]
                if not texts:
                    continue
                own.source = "\n\n".join(texts)
                self._work.notes.append(f"The text next to the answer cell `{name}` was copied into it.")
            if not self._work.is_blank(name):
                self._claimed |= {id(cell) for cell in near}
        self._doubt_the_rest()

    @property
    def _written(self) -> list[str]:
        """The answers that a person grades, and other text that students fill in."""
        answers = [(name, cell) for name, cell in self._work.known.items() if is_answer_cell(cell)]
        return [name for name, cell in answers if is_graded_cell(cell) or cell.cell_type != "code"]

    def _keep_lost(self, of_code: bool) -> None:
        """Put text that was written into an instructor's cell, which has been restored, into a new cell below it.

        Args:
            of_code: also comments and strings in code cells.
        """
        for edit in self._work.rewritten:
            code = edit.cell.cell_type == "code"
            if code and not of_code:
                continue
            text = (added_prose if code else added_text)(edit.submitted, edit.released)
            if _WORD.search(text):
                self._work.cells.insert(self._work.place_of(edit.cell) + 1, v4.new_markdown_cell(text))
                kind = "" if code else " given"
                self._work.notes.append(
                    f"Your text in the{kind} cell `{grade_id(edit.cell)}` was kept in a new cell below it."
                )

    def _near(self, own: NotebookNode) -> list[NotebookNode]:
        """The student's cells between the released cells above and below an answer, and the text cell above these."""
        cells = self._work.cells
        first = last = self._work.place_of(own)
        while first > 0 and self._is_students_own(cells[first - 1]):
            first -= 1
        while last + 1 < len(cells) and self._is_students_own(cells[last + 1]):
            last += 1
        above = cells[first - 1 : first] if first and not grade_id(cells[first - 1]) else []
        return [*above, *(cell for cell in cells[first : last + 1] if cell is not own)]

    def _text_of(self, cell: NotebookNode) -> str:
        """The text that a student wrote in a cell that isn't an answer cell; empty if it is code."""
        if cell.cell_type == "code":
            return self._prose(cell.source) if self._is_students_own(cell) else ""
        original = self._work.handed_out.get(id(cell))
        if original is not None:
            return added_text(cell.source, original.source)
        return "" if squeezed(cell.source) in self._released_texts else cell.source

    def _prose(self, source: str) -> str:
        if source not in self._parsed:
            self._parsed[source] = prose_in(source) if self._budget.takes(source, len(source)) else ""
        return self._parsed[source]

    @cached_property
    def _released_texts(self) -> frozenset[str]:
        return frozenset(squeezed(cell.source) for cell in self._work.known.values())

    def _is_students_own(self, cell: NotebookNode) -> bool:
        return not grade_id(cell) and id(cell) not in self._work.handed_out

    def _doubt_the_rest(self) -> None:
        """Let a person decide on empty answers while the student has other texts or pictures."""
        places = list(dict.fromkeys(self._other_places()))
        where = first_of(places, _NAMED_AT_MOST)
        for name in filter(self._work.is_blank, self._written):
            if id(self._work.present[name]) in self._work.pictured:
                what = "has no text, but a picture is attached to it"
            elif places:
                what = f"is empty, but something else may be its answer: {where}"
            else:
                continue
            self._work.doubts[name] = f"The answer cell `{name}` {what}"

    def _other_places(self) -> Iterator[str]:
        for index, cell in enumerate(self._work.cells):
            if id(cell) in self._claimed:
                continue
            if id(cell) in self._work.pictured:
                yield f"the picture in the {label_of(cell, index + 1)}"
            elif self._has_other_text(cell):
                yield f"the text in the {label_of(cell, index + 1)}"
        code = "\n".join(cell.source for cell in self._work.cells if cell.cell_type == "code")
        for name in self._beside:  # a file that the notebook's own code writes or reads is no answer
            possible = not _is_data(name) and (
                PurePath(name).name not in code or _is_only_displayed(PurePath(name).name, code)
            )
            if possible and (PurePath(name).suffix.lower() != ".py" or self._has_text(name, code)):
                yield f"the file {printable(name)}"
        for name, text in self._replaced.items():
            if any(map(_PROSE.fullmatch, _lines(text))) or not (_is_data(name) or name.endswith(".py")):
                yield f"the file {printable(name)}"
        for name, cells in self._drafts.items():
            texts = (cell.source for cell in cells if cell.cell_type != "code")
            if any(map(_WORD.search, texts)):
                yield f"the notebook {printable(name)}"

    def _has_other_text(self, cell: NotebookNode) -> bool:
        """True for a student's text, or one among the code of a cell; answers are read as such."""
        if not grade_id(cell) and _WORD.search(self._text_of(cell)):
            return True
        if cell.cell_type != "code" or is_locked_cell(cell):
            return False
        original = self._work.known.get(grade_id(cell) or "") or self._work.handed_out.get(id(cell))
        released = original.source if original is not None else ""
        return (
            cell.source != released and self._budget.takes(cell.source) and has_remark(cell.source, released)
        )

    def _has_text(self, module: str, code: str) -> bool:
        """True for a module with comments or strings that the notebook's code doesn't mention."""
        if re.search(rf"\b{re.escape(PurePath(module).stem)}\b", code):
            return False
        source = handed_in_text(self._beside[module])
        tree = parse(source) if self._budget.takes(source) else None
        if tree is None or any(line.lstrip().startswith("#") for line in source.split("\n")):
            return bool(_WORD.search(source))
        strings = (text for part in tree.body for text in strings_in(part))
        return any(map(_WORD.search, strings))


def _lines(text: str) -> Iterator[str]:
    return (line.strip("# \t") for line in text.split("\n"))


def _is_data(name: str) -> bool:
    return bool(_NO_ANSWER.search(name))


def _is_only_displayed(file: str, code: str) -> bool:
    """True if code mentions a file only in a call that shows it, as in `Image("answer.png")`."""
    shown = re.findall(rf"\b(?:Image|SVG|HTML|Markdown|IFrame)\([^()]*{re.escape(file)}", code)
    return len(shown) == code.count(file)


class Candidates:
    """Finds code that may be the answer to an exercise in a restored notebook, or beside it, after `Gathering` has moved what is sure."""

    def __init__(self, work: Restoration, places: OtherPlaces) -> None:
        self._work = work
        self._beside, self._drafts, self._unread = places.beside, places.drafts, places.unread
        self._replaced = places.replaced
        self._released = {squeezed(cell.source) for cell in work.released.cells}

    def doubt(self) -> None:
        """Add a doubt about each empty answer that may be somewhere else, and each that isn't code only by a slip."""
        for name, cell in self._work.present.items():
            wanted = self._work.expected.get(name)
            if wanted is None or cell.cell_type != "code":
                continue
            if not self._work.is_blank(name, cell):
                what = self._slip(cell, wanted)
            else:
                place = next(self._places(cell, wanted), "")
                what = f"is empty, but {place} may be its answer" if place else ""
            if what:
                self._work.doubts.setdefault(name, f"The answer cell `{name}` {what}")
        self._doubt_if_untouched()

    def _slip(self, cell: NotebookNode, wanted: frozenset[str]) -> str:
        """Why an answer isn't code although its author may have written some; empty if it is, or is just wrong."""
        if line := pasted_line(cell.source) or self._line_of_prose(cell.source, wanted):
            return f"is Python code but for its line {line}"
        if _is_prose(cell.source):
            return "has text that isn't code"
        label = self._rest_below(cell)
        return f"seems to continue in the {label} below it" if label else ""

    def _doubt_if_untouched(self) -> None:
        """Doubt every answer of a notebook that is as it was handed out, if other files were handed in with it."""
        answers = [name for name in self._work.expected if name in self._work.present]
        if all(map(self._work.is_blank, answers)):
            files = [name for name in self._beside if self._may_have_all(name)]
            files += [name for name in self._replaced if not _is_data(name)]
            files += [*(name for name, cells in self._drafts.items() if cells), *self._unread]
            why = f"Nothing was answered in the notebook, but {first_of(files, _NAMED_AT_MOST)} may have the answers"
            for name in answers if files else ():
                self._work.doubts.setdefault(name, why)

    def _may_have_all(self, name: str) -> bool:
        """Modules are read, and what code mentions is no answer."""
        possible = name.lower().endswith(".json") or not (_is_data(name) or name.endswith(".py"))
        code = (cell.source for cell in self._work.cells if cell.cell_type == "code")
        return possible and not any(PurePath(name).name in source for source in code)

    def _places(self, own: NotebookNode, wanted: frozenset[str]) -> Iterator[str]:
        cells = self._work.cells
        at = self._work.place_of(own)
        for step in (1, -1):
            index = at + step
            while 0 <= index < len(cells) and self._is_own(cells[index]):
                if cells[index].cell_type == "code" and self._may_answer(cells[index].source):
                    yield f"the {label_of(cells[index], index + 1)} next to it"
                index += step
        others = {name.casefold() for names in self._work.expected.values() for name in names - wanted}
        for names in (self._names, self._names_in_files):  # what answers another exercise is no misspelling
            yield from _alike(wanted, {name: place for name, place in names.items() if name not in others})
        yield from self._archives

    def _line_of_prose(self, source: str, wanted: frozenset[str]) -> int:
        """The number of the first line of prose around code that defines what is wanted; 0 if there is none."""
        if len(source) > MAX_PARSED_CHARACTERS or parse(source) is not None or not wanted:
            return 0
        lines = source.split("\n")
        prose = [number for number, line in enumerate(lines, 1) if _PROSE.fullmatch(line)]
        code = "\n".join(line for line in lines if not _PROSE.fullmatch(line))
        is_code = parse(code) is not None and wanted <= self._work.definitions.of(code)
        return prose[0] if prose and is_code else 0

    def _rest_below(self, cell: NotebookNode) -> str:
        """The label of the next cell if it continues this one, as after a cell was split."""
        index = self._work.place_of(cell) + 1
        below = next(iter(self._work.cells[index:]), None)
        if below is None or below.cell_type != "code" or not below.source.strip() or not self._is_own(below):
            return ""
        both = f"{cell.source.rstrip()}\n{below.source}"
        if tree_of(both) is None:
            return ""
        indented = below.source.lstrip("\n")[0].isspace()  # which IPython allows
        return label_of(below, index + 1) if indented or parse(below.source) is None else ""

    def _is_own(self, cell: NotebookNode) -> bool:
        given = id(cell) in self._work.handed_out or id(cell) in self._work.copied or is_demo(cell)
        return not grade_id(cell) and not given and squeezed(cell.source) not in self._released

    def _may_answer(self, source: str) -> bool:
        """True for code that defines something, or that can't be parsed."""
        names = self._work.definitions.of(source)
        return bool(names) or (0 < len(source.strip()) <= MAX_PARSED_CHARACTERS and parse(source) is None)

    @cached_property
    def _names(self) -> dict[str, str]:
        """By the names that the student's own cells define, a description of the cell."""
        found: dict[str, str] = {}
        for number, cell in enumerate(self._work.cells, 1):
            original = self._work.handed_out.get(id(cell))
            added = original is not None and cell.cell_type == original.cell_type == "markdown"
            written = grade_id(cell) in self._work.expected and cell.cell_type != "code"
            if (added or written or self._is_own(cell)) and len(found) < _MAX_NAMES:
                text = added_text(cell.source, original.source) if original is not None else cell.source
                code = text if cell.cell_type == "code" else code_in(text)
                place = f"the {label_of(cell, number)}"
                found |= {name.casefold(): place for name in self._work.definitions.of(code)}
        return found

    @cached_property
    def _archives(self) -> list[str]:
        """The archives beside the notebook that have notebooks or modules in them."""
        zips = [(name, path) for name, path in self._beside.items() if name.lower().endswith(".zip")]
        return [f"the file {printable(name)}" for name, path in zips[:_MAX_MODULES] if _has_code(path)]

    @cached_property
    def _names_in_files(self) -> dict[str, str]:
        """By the names that the student's modules and notebooks beside this one define, a description of the file."""
        texts = [(name, path) for name, path in self._beside.items() if name.endswith((".py", ".txt", ".md"))]
        codes = [
            (f"the file {printable(name)}", code_in(handed_in_text(path)))
            for name, path in texts[:_MAX_MODULES]
        ]
        codes += [(f"the file {printable(name)}", code_in(text)) for name, text in self._replaced.items()]
        for name, cells in self._drafts.items():
            sources = (cell.source for cell in cells if cell.cell_type == "code")
            codes += [(f"the notebook {printable(name)}", source) for source in sources]
        found: dict[str, str] = {}
        for place, code in codes:
            if len(found) < _MAX_NAMES:
                found |= {name.casefold(): place for name in self._work.definitions.of(code)}
        return found


def _is_prose(source: str) -> bool:
    """True if every line that is not empty or a comment is prose."""
    lines = [line for line in source.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    return bool(lines) and all(map(_PROSE.fullmatch, lines)) and parse(source) is None


def _has_code(archive: Path) -> bool:
    """True if the name of a notebook or a module is in an archive. It isn't unpacked: its list of files could be huge."""
    try:
        with open_safely(archive) as file:
            content = file.read(_MAX_ARCHIVE_BYTES)
    except OSError:
        return False
    return b".ipynb" in content or b".py" in content


def pasted_line(source: str) -> int:
    """The number of the first line that was copied with code from a text, if the rest is Python code; 0 if it isn't."""
    found = _PASTED.search(source) if len(source) <= MAX_PARSED_CHARACTERS else None
    if found is None or parse(source) is not None:
        return 0
    return source.count("\n", 0, found.start()) + 1 if parse(_PASTED.sub("", source)) is not None else 0


def _alike(wanted: frozenset[str], places: Mapping[str, str]) -> Iterator[str]:
    """The places of names that may be misspellings of a wanted one."""
    for missing in sorted(wanted):
        for alike in get_close_matches(missing.casefold(), places, 1, _SIMILAR):
            yield places[alike]

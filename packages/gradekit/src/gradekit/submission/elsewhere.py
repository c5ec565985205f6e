"""What may be the answer to an empty answer cell, in other cells or beside the notebook.

Text next to a written answer is copied into it. Whether anything else is the answer, a person decides.
"""

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, partial
from pathlib import Path, PurePath

from msgspec import Raw
from nbformat import NotebookNode

from gradekit.course.cells import grade_id, is_demo
from gradekit.course.files import handed_in_text, read_safely
from gradekit.course.printing import first_of, printable
from gradekit.submission.gather import Restoration, label_of
from gradekit.submission.names import parse, squeezed
from gradekit.submission.notebook_file import CHECKPOINTS
from gradekit.submission.statements import MAX_PARSED_CHARACTERS, ParsingBudget, code_in, tree_of
from gradekit.submission.texts import (
    WORD,
    AskedQuestion,
    Sibling,
    StudentTexts,
    Text,
    added_prose,
    added_text,
    is_written_answer,
    sentences_in,
    strings_in,
    words_in,
)

#: places that a sentence names
_NAMED_AT_MOST = 3
#: files that are no answer to a question: data, notebooks, which are read, and what programs leave behind
_NO_ANSWER = re.compile(
    r"(?i)(?:\.(?:ipynb|csv|tsv|json|npy|npz|pth?|pkl|pickle|safetensors|parquet|feather|h5|hdf5|db|sqlite3?"
    r"|log|toml|ya?ml|ini|cfg|lock|pyc|so|bin|tmp|bak)|(?:^|/)(?:\.[^/]*|Makefile|Thumbs\.db))\Z"
)
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
#: a line whose output is that of a shell, of IPython, or of a library's documentation
_MAGIC = re.compile(r"^[ \t]*(?:!|help\(|%%?(?:pip|conda|mamba|uv|bash|sh|timeit)\b)", re.MULTILINE)
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
        unread: other notebooks that can't be read, and earlier versions kept by Jupyter, which say little of an answer.
        replaced: what was written into copies of files that were handed out, which are not used.
        siblings: the assignment's other notebooks.
    """

    beside: Mapping[str, Path]
    drafts: dict[str, Sequence[NotebookNode]]
    unread: Sequence[str]
    replaced: Mapping[str, str]
    siblings: Mapping[str, Sibling]

    @classmethod
    def of(
        cls,
        work: Restoration,
        beside: Mapping[str, Path],
        notebooks: Mapping[str, NotebookNode | None],
        replaced: Mapping[str, str],
        siblings: Mapping[str, Sibling],
    ) -> "OtherPlaces":
        known = {squeezed(cell.source) for cell in (*work.released.cells, *work.cells)} | work.removed_texts
        drafts: dict[str, Sequence[NotebookNode]] = {
            name: [cell for cell in notebook.cells if squeezed(cell.source) not in known]
            for name, notebook in notebooks.items()
            if notebook is not None
        }
        earlier = {name: drafts.pop(name) for name in list(drafts) if CHECKPOINTS in PurePath(name).parts}
        wanted = frozenset[str]().union(*work.expected.values())
        for name, (notebook, released) in siblings.items():
            its_own = {grade_id(cell) for cell in released.cells if grade_id(cell)}
            drafts[name] = [
                cell
                for cell in notebook.cells
                if squeezed(cell.source) not in known and grade_id(cell) not in its_own
                if grade_id(cell) in work.known
                or (cell.cell_type == "code" and wanted & work.definitions.of(cell.source))
            ]
        unread = [name for name, notebook in notebooks.items() if notebook is None]
        unread += [name for name, cells in earlier.items() if cells]
        return cls(beside, drafts, unread, replaced, siblings)

    def copy_marked(self, work: Restoration) -> None:
        """Copy answers that are empty here from other notebooks that have their cells, which don't belong there any more, or never did."""
        for file, (notebook, released) in self.siblings.items():
            its_own = {grade_id(cell) for cell in released.cells}
            for cell in reversed(notebook.cells):  # as in a notebook itself, the last one counts
                name = grade_id(cell) or ""
                if name not in work.expected or name in its_own or not work.is_blank(name):
                    continue
                if cell.cell_type != work.known[name].cell_type or work.is_blank(name, cell):
                    continue
                work.present[name].source = cell.source
                self.drafts[file] = [one for one in self.drafts[file] if one is not cell]
                if attached := cell.get("attachments"):
                    work.present[name]["attachments"] = attached
                work.note_copied(name, f"notebook {printable(file)}")


class WrittenAnswers:
    """Looks for the texts of empty written answers in a restored notebook, and in what was handed in beside it."""

    def __init__(self, work: Restoration, places: OtherPlaces, saved: Mapping[int, Raw]) -> None:
        self._work, self._places, self._saved = work, places, saved
        self._texts = StudentTexts(work.cells, work.released, work.known, work.handed_out)
        self._budget = ParsingBudget()
        #: the cells below which something was kept, and notes about it without their labels
        self._kept: list[tuple[NotebookNode, str]] = []

    def keep(self) -> None:
        """Put texts that would be lost into new cells; notes about other cells have their final numbers only then."""
        blank = any(map(self._work.is_blank, self._written))
        if self._written:
            self._keep_lost(of_code=blank)
        if blank:
            self._keep_outputs()

    def gather(self) -> None:
        """Copy text next to an empty written answer into it, so that a person reads it; doubt the other empty ones."""
        for cell, what in self._kept:
            label = label_of(cell, self._work.place_of(cell) + 1)
            self._work.notes.append(what.format(label))
        # people are shown what is next to the others
        for name in filter(self._work.is_blank, self._written):
            own = self._work.present[name]
            if own.cell_type != "code":
                near = map(self._texts.text_of, self._texts.near(self._work.place_of(own)))
                if texts := [text for text in near if text.strip()]:
                    own.source = "\n\n".join(texts)
                    self._work.notes.append(f"The text next to the answer cell `{name}` was copied into it.")
        for name in filter(self._work.is_blank, self._written):
            self._doubt(name)

    @property
    def _written(self) -> list[str]:
        return [name for name, cell in self._work.known.items() if is_written_answer(cell)]

    def _keep_lost(self, of_code: bool) -> None:
        """Put text that was written into an instructor's cell, which has been restored, into a new cell below it.

        With `of_code`, also comments and strings in code cells.
        """
        for edit in self._work.rewritten:
            code = edit.cell.cell_type == "code"
            if code and not of_code:
                continue
            text = (added_prose if code else added_text)(edit.submitted, edit.released)
            if WORD.search(text):
                self._keep(text, edit.cell, f"Your text in the {'' if code else 'given '}{{}} was")

    def _keep_outputs(self) -> None:
        """Put sentences that are only in the output of a cell of the student's, which is not run again as it was, below it."""
        cells = [cell for cell in self._work.cells if cell.cell_type == "code" and id(cell) in self._saved]
        given = {squeezed(cell.source) for cell in self._work.released.cells if cell.source.strip()}
        own = [cell for cell in cells if not (_MAGIC.search(cell.source) or squeezed(cell.source) in given)]
        if own:
            words = words_in(cell.source for cell in (*self._work.cells, *self._work.released.cells))
            for cell in own:
                if text := sentences_in(self._saved[id(cell)], words):
                    self._keep(text, cell, "Sentences in the output of the {} were")

    def _keep(self, text: str, cell: NotebookNode, what: str) -> None:
        self._work.cells.insert(self._work.place_of(cell) + 1, self._work.new_cell(text, "markdown"))
        self._kept.append((cell, f"{what} kept in a new cell below it."))

    def _doubt(self, name: str) -> None:
        """Let a person decide on an empty answer while the student has other texts or pictures."""
        question = AskedQuestion(self._work.released, name)
        if id(self._work.present[name]) in self._work.pictured:
            what = "has no text, but a picture is attached to it"
        elif places := list(
            dict.fromkeys([*self._in_cells(question), *self._in_notebooks(question), *self._in_files])
        ):
            what = f"is empty, but something else may be its answer: {first_of(places, _NAMED_AT_MOST)}"
        else:
            return
        self._work.doubts[name] = f"The answer cell `{name}` {what}"

    def _in_cells(self, question: AskedQuestion) -> Iterator[str]:
        found = {place for place, text in self._own_texts if _may_answer(text, question)}
        for place, cell in enumerate(self._work.cells):
            if id(cell) in self._work.pictured:  # also in an answer: it may be a sheet with all of them
                yield f"the picture in the {label_of(cell, place + 1)}"
            elif place in found:
                yield f"the text in the {label_of(cell, place + 1)}"

    def _in_notebooks(self, question: AskedQuestion) -> Iterator[str]:
        for name, cells in self._places.drafts.items():
            if any(cell.cell_type != "code" and WORD.search(cell.source) for cell in cells):
                yield f"the notebook {printable(name)}"
        for name, texts in self._texts_of_siblings.items():
            if any(_may_answer(text, question) for text in texts):
                yield f"the notebook {printable(name)}"

    @cached_property
    def _own_texts(self) -> list[tuple[int, Text]]:
        return list(self._texts.found())

    @cached_property
    def _texts_of_siblings(self) -> dict[str, list[Text]]:
        here = {squeezed(cell.source) for cell in (*self._work.released.cells, *self._work.cells)}
        texts_in = partial(StudentTexts.of, elsewhere=here | self._work.removed_texts)
        siblings = self._places.siblings.items()
        return {name: [text for _, text in texts_in(*both).found()] for name, both in siblings}

    @cached_property
    def _in_files(self) -> list[str]:
        found = []
        code = "\n".join(cell.source for cell in self._work.cells if cell.cell_type == "code")
        for name in self._places.beside:  # a file that the notebook's own code writes or reads is no answer
            possible = not _is_data(name) and _is_only_displayed(PurePath(name).name, code)
            if possible and (PurePath(name).suffix.lower() != ".py" or self._has_text(name, code)):
                found.append(f"the file {printable(name)}")
        for name, text in self._places.replaced.items():
            lines = (line.strip("# \t") for line in text.split("\n"))
            if any(map(_PROSE.fullmatch, lines)) or not (_is_data(name) or name.endswith(".py")):
                found.append(f"the file {printable(name)}")
        return found

    def _has_text(self, module: str, code: str) -> bool:
        """True for a module with comments or strings that the notebook's code doesn't mention."""
        if re.search(rf"\b{re.escape(PurePath(module).stem)}\b", code):
            return False
        source = handed_in_text(self._places.beside[module])
        tree = parse(source) if self._budget.takes(source) else None
        if tree is None or any(line.lstrip().startswith("#") for line in source.split("\n")):
            return bool(WORD.search(source))
        return any(map(WORD.search, strings_in(tree)))


def _may_answer(text: Text, question: AskedQuestion) -> bool:
    return text.stands_alone or question.is_meant_by(text.text)


def _is_data(name: str) -> bool:
    return bool(_NO_ANSWER.search(name))


def _is_only_displayed(file: str, code: str) -> bool:
    """True if code mentions a file nowhere, or only in a call that shows it, as in `Image("answer.png")`."""
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
        names = [name for name in self._beside if name.endswith((".py", ".txt", ".md"))][:_MAX_MODULES]
        texts = {name: handed_in_text(self._beside[name]) for name in names} | dict(self._replaced)
        codes = [(f"the file {printable(name)}", code_in(text)) for name, text in texts.items()]
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
        content = read_safely(archive, _MAX_ARCHIVE_BYTES)
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

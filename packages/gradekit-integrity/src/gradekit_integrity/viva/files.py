"""The files of the sheets: a page for each student, and a CSV file with all questions and answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gradekit.course import Assignment
from gradekit.course.printing import printable
from gradekit.page.check_table import code_marked
from gradekit.report.pages import folder_of, page_environment, save_page
from gradekit.report.table import write_rows
from gradekit_integrity.viva.questions import Question
from gradekit_integrity.viva.sheets import Sheet

_TEMPLATES = Path(__file__).parent / "templates"
_MOST_LINES, _MOST_CHARACTERS, _AROUND = 120, 160, 8
_COLUMNS = ("student", "question", "notebook", "cell", "line", "kind", "calls", "text", "choices", "answer")
_Line = tuple[int | str, str, bool]
#: notebook and cell
_Place = tuple[str, str]


@dataclass(frozen=True)
class _Page:
    """The contents of a page: the questions of a sheet by cell, and the lines of these cells."""

    sheet: Sheet
    cells: list[tuple[_Place, list[Question]]]
    listings: dict[_Place, list[_Line]]

    @property
    def ordered(self) -> list[Question]:
        return [one for _, questions in self.cells for one in questions]


def write_sheets(assignment: Assignment, sheets: Sequence[Sheet], seed: int, answers: bool) -> Path:
    """Write the pages of the students, one page with all of them, and the CSV file; returns the folder of the pages.

    Args:
        answers: whether the pages have the answers; the CSV file always has them.
    """
    folder = folder_of(assignment) / "viva"
    folder.mkdir(parents=True, exist_ok=True)
    for sheet in sheets:
        save_page(folder / f"{sheet.student}.html", sheet_as_html(assignment.name, sheet, seed, answers))
    save_page(folder.with_suffix(".html"), all_as_html(assignment.name, sheets, seed, answers))
    rows = [_row(sheet, number, one) for sheet in sheets for number, one in enumerate(sheet.questions, 1)]
    write_rows(folder / "questions.csv", [_COLUMNS, *rows])
    return folder


def sheet_as_html(assignment: str, sheet: Sheet, seed: int, answers: bool = True) -> str:
    """The page of one student, with all text from the student escaped. It has no scripts and no links."""
    return page_html("viva.html.j2", page=_page(sheet), assignment=assignment, seed=seed, answers=answers)


def all_as_html(assignment: str, sheets: Sequence[Sheet], seed: int, answers: bool = True) -> str:
    """All sheets on one page, each of which begins on a new page in print, after a list of the students."""
    pages = [_page(sheet) for sheet in sheets]
    return page_html("all.html.j2", pages=pages, assignment=assignment, seed=seed, answers=answers)


def page_html(template: str, **values: object) -> str:
    """A page from a template; `marked` shows what is in backticks as code."""
    environment = page_environment(_TEMPLATES)
    environment.filters |= {"marked": code_marked, "printable": lambda text: printable(text, None)}
    return environment.get_template(template).render(**values)


def _page(sheet: Sheet) -> _Page:
    cells: dict[_Place, list[Question]] = {}
    for one in sheet.questions:
        cells.setdefault((one.notebook, one.cell), []).append(one)
    listings = {
        place: listing(sheet.sources[place], {one.line for one in questions if one.line})
        for place, questions in cells.items()
    }
    return _Page(sheet, list(cells.items()), listings)


def listing(source: str, asked: set[int]) -> list[_Line]:
    """The lines of a cell with their numbers, and whether a question is about each; of a long cell, only some."""
    lines = source.split("\n")
    shown: list[_Line] = []
    for number, text in enumerate(lines, 1):
        near = (
            len(lines) <= _MOST_LINES or any(abs(number - line) <= _AROUND for line in asked) or number == 1
        )
        if near:
            shown.append((number, printable(text.expandtabs(4), _MOST_CHARACTERS), number in asked))
        elif shown[-1][0] != "…":
            shown.append(("…", "", False))
    return shown


def _row(sheet: Sheet, number: int, one: Question) -> list[object]:
    calls = "; ".join(f"{title}: {', '.join(inputs)}" for title, inputs in one.calls)
    place = [one.notebook, one.cell, one.line or ""]
    return [
        sheet.student,
        number,
        *place,
        one.kind,
        calls,
        one.text,
        " / ".join(one.choices),
        " ".join([one.answer, *one.rubric]),
    ]

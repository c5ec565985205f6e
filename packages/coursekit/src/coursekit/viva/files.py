"""The files of the sheets: a page for each student, and a CSV file with all questions and answers."""

from collections.abc import Sequence
from pathlib import Path

from coursekit.course import Assignment
from coursekit.nbgrader_plugin.check_table import code_marked
from coursekit.printing import printable
from coursekit.report.folder import folder_of
from coursekit.report.pages import page_environment
from coursekit.report.table import write_rows
from coursekit.viva.questions import Question
from coursekit.viva.sheet import Sheet

_TEMPLATES = Path(__file__).parent / "templates"
_MOST_LINES, _MOST_CHARACTERS, _AROUND = 120, 160, 8
_COLUMNS = ("student", "question", "notebook", "cell", "line", "kind", "calls", "text", "choices", "answer")
Line = tuple[int | str, str, bool]


def write_sheets(assignment: Assignment, sheets: Sequence[Sheet], seed: int, answers: bool) -> Path:
    """Write the pages and the CSV file; returns their folder.

    Args:
        answers: whether the pages have the answers; the CSV file always has them.
    """
    folder = folder_of(assignment) / "viva"
    folder.mkdir(parents=True, exist_ok=True)
    for sheet in sheets:
        page = as_html(assignment.name, sheet, seed, answers)
        (folder / f"{sheet.student}.html").write_text(page, encoding="utf-8", errors="replace")
    rows = [_row(sheet, number, one) for sheet in sheets for number, one in enumerate(sheet.questions, 1)]
    write_rows(folder / "questions.csv", [_COLUMNS, *rows])
    return folder


def as_html(assignment: str, sheet: Sheet, seed: int, answers: bool = True) -> str:
    """The page of one student, with all text from the student escaped. It has no scripts and no links."""
    environment = page_environment(_TEMPLATES)
    environment.filters |= {"marked": code_marked, "printable": lambda text: printable(text, None)}
    cells: dict[tuple[str, str], list[Question]] = {}
    for one in sheet.questions:
        cells.setdefault((one.notebook, one.cell), []).append(one)
    listings = {
        place: listing(sheet.sources[place], {one.line for one in questions if one.line})
        for place, questions in cells.items()
    }
    return environment.get_template("viva.html.j2").render(
        assignment=assignment,
        sheet=sheet,
        seed=seed,
        answers=answers,
        cells=list(cells.items()),
        ordered=[one for questions in cells.values() for one in questions],
        listings=listings,
    )


def listing(source: str, asked: set[int]) -> list[Line]:
    """The lines of a cell with their numbers, and whether a question is about each; of a long cell, only some."""
    lines = source.split("\n")
    shown: list[Line] = []
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
    return [sheet.student, number, *place, one.kind, calls, one.text, " / ".join(one.choices), one.answer]

"""Written answers on pages for those who grade them.

The source of an answer is always there, since formatting can hide something: a comment in HTML, or a tag that isn't
allowed. Pictures, tables and formulas are below it as feedback pages show them, so nothing of a stranger's runs.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path, PurePath

from nbformat import NotebookNode

from gradekit.course import Assignment, read_notebook
from gradekit.course.cells import grade_id, without_markers
from gradekit.course.files import handed_in_letter
from gradekit.course.printing import printable
from gradekit.page import PageBudget
from gradekit.page.displayed import (
    PAGE_BYTES,
    PAGE_PICTURES,
    PAGE_PIXELS,
    Displayed,
    Pictures,
    Room,
    printed_by,
    text_and_pictures,
)
from gradekit.page.markdown import safe_markdown
from gradekit.report.pages import page_environment
from gradekit_written.rubrics import with_numbers
from gradekit_written.written_answers import AnswerAsRead, Passage

#: characters of a text on a page
SHOWN_OF_TEXT = 10_000
#: files beside a notebook that are listed
_MAX_FILES = 50
#: CPU seconds and characters of HTML for what the code of an answer displayed
_SECONDS, _CHARACTERS = 2.0, 500_000
#: for what `answer_as_html` writes
STYLE = """\
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; margin: .3rem 0; }
img { max-width: 100%; }
table { border-collapse: collapse; }
th, td { border: 1px solid #777; padding: 0 .4rem; }
.note { border: 1px solid #777; padding: .2rem .5rem; }
.where { font-style: italic; margin: .3rem 0 0; }
.shown { background: #f4f4f4; padding: .1rem .6rem; overflow-x: auto; }
.shown pre, pre.code { font-family: monospace; }"""
_TEMPLATES = Path(__file__).parent / "templates"
_MAY_NEED_A_PAGE = re.compile(r"!\[|[<$|]|\\[(\[b]|attachment:")
_NEEDS_A_PAGE = re.compile(r"<(?:img|table|math)\b|<em>\(")
_HEADING = re.compile(r'<(/?)h[1-6](?: id="[^"<>]*")?>')
_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"})
_TEXTS = frozenset({".txt", ".md", ".tex", ".html", ".htm", ".rtf", ".py"})


@dataclass(frozen=True)
class AnswerOnPage:
    """An answer on the page of a grader, without the student's name. `reading` is "First" or "Second"."""

    reading: str
    submission: str
    cell: str
    html: str


def class_room() -> Room:
    """What the pictures of a class may take on one page."""
    return Room(3 * PAGE_BYTES, 10 * PAGE_PIXELS, 4 * PAGE_PICTURES)


def text_shown(text: str, most: int = SHOWN_OF_TEXT) -> str:
    """The beginning of a text of a stranger, with control characters made visible."""
    more = f"\n[{len(text) - most:,} more characters: see the notebook]" if len(text) > most else ""
    return "\n".join(printable(line, None) for line in text[:most].split("\n")) + more


def answer_as_html(read: AnswerAsRead, room: Room, most: int = SHOWN_OF_TEXT) -> str:
    """An answer, and all that may belong to it, as sanitized HTML."""
    pictures = Pictures(read.folder, room)
    template = page_environment(_TEMPLATES).get_template("answer.html.j2")
    return template.render(
        notes=[text_shown(note, most) for note in read.notes],
        passages=[(one, text_shown(one.text, most), _as_page(one, pictures)) for one in read.passages],
        files=[
            (printable(name), _file_as_html(read.folder, name, pictures)) for name in read.files[:_MAX_FILES]
        ],
        more_files=max(0, len(read.files) - _MAX_FILES),
    )


def question_as_html(assignment: Assignment, notebook: str, cell: str) -> str:
    """The question, and the model answer with its rubric, whose ideas are numbered, from the source notebook; empty if that is gone."""
    path = assignment.source_folder / f"{notebook}.ipynb"
    cells = read_notebook(path).cells if path.is_file() else []
    place = next((place for place, one in enumerate(cells) if grade_id(one) == cell), None)
    if place is None:
        return ""
    pictures = Pictures(assignment.source_folder)
    parts = []
    for title, one in (("Question", cells[place - 1] if place else None), ("Model answer", cells[place])):
        if one is not None:
            source = without_markers(one.source)
            if one.cell_type == "code":
                shown = f"<pre>{escape(text_and_pictures(source)[0])}</pre>"
            else:
                shown = _without_headings(pictures.formatted(with_numbers(source), one))
            parts.append(f'<p class="where">{title}:</p><div class="shown">{shown}</div>')
    return "".join(parts)


def page_of_answers(title: str, questions: Mapping[str, str], answers: Sequence[AnswerOnPage]) -> str:
    """A page of answers, without names and scores; `questions` are from `question_as_html`, by answer cell."""
    template = page_environment(_TEMPLATES).get_template("answers.html.j2")
    return template.render(title=title, questions=questions, answers=answers, style=STYLE)


def _as_page(passage: Passage, pictures: Pictures) -> str:
    """What a page shows besides the text: pictures, tables and formulas, or what code displayed; empty if there is nothing."""
    cell = passage.cell
    if cell.cell_type == "code":
        return _outputs(cell, pictures)
    html = ""
    if _MAY_NEED_A_PAGE.search(cell.source):
        html = pictures.formatted(cell.source, cell, lambda text: safe_markdown(text[:SHOWN_OF_TEXT]))
        html = _without_headings(html)
        html = html if _NEEDS_A_PAGE.search(html) else ""
    for name in passage.unmentioned:
        attached = pictures.put_into(
            f'<img src="attachment:{escape(name)}" alt="{escape(name)}">', [], cell.attachments
        )
        html += (
            f"<p>Attached to the cell, but not in its text: {escape(printable(name))}</p><p>{attached}</p>"
        )
    return html


def _outputs(cell: NotebookNode, pictures: Pictures) -> str:
    displayed = Displayed(pictures, PageBudget(_SECONDS, _CHARACTERS), _figure)
    parts = []
    for output in cell.get("outputs") or []:
        is_text = output.output_type in ("stream", "error")
        parts.append(printed_by(output) if is_text else _without_headings(displayed.html(output.data)))
    return "".join(parts)


def _without_headings(html: str) -> str:
    """The headings as bold text, since they aren't those of the page."""
    return _HEADING.sub(lambda tag: "</b></p>" if tag[1] else "<p><b>", html)


def _figure(address: str) -> str:
    return f'<img alt="A picture that the cell displayed" src="{address}">'


def _file_as_html(folder: Path | None, name: str, pictures: Pictures) -> str:
    """A picture, or the beginning of a text; empty for a file of another kind."""
    kind = PurePath(name).suffix.lower()
    if kind in _TEXTS and folder is not None:
        return f"<pre>{escape(text_shown(handed_in_letter(folder / name)))}</pre>"
    if kind not in _PICTURES:
        return "<p>A page can't show this kind of file. It is beside the autograded notebook.</p>"
    return pictures.put_into(f'<img src="{escape(name)}" alt="{escape(name)}">', [], {})

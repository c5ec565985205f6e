"""Turns a graded notebook into the parts of a feedback page: headings, provided text, answers, check results."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape

from nbformat import NotebookNode

from gradekit.attempts import Shows
from gradekit.course.cells import (
    exercise_name,
    grade_id,
    is_answer_cell,
    is_graded_cell,
    is_test_cell,
    nbgrader_metadata,
)
from gradekit.course.language import N_, _
from gradekit.page import PAGE_TEMPLATES, PageBudget
from gradekit.page.check_table import checks_as_html, code_marked, exercise_as_html, is_check_output
from gradekit.page.displayed import PAGE_CHARACTERS, PAGE_SECONDS, Displayed, Pictures, printed_by, with_room
from gradekit.page.headings import Heading, headings, page_titles
from gradekit.page.markdown import (
    as_plain_text,
    highlighted_code,
    plain_text,
    safe_markdown,
    visible_markdown,
)
from gradekit.verdict.results import SubmissionResult, points_in_words, score_in_words

#: bytes of the parts of a page, without pictures, beyond which provided code is left out
PARTS_BYTES = 136_000
CODE_LEFT_OUT = N_("Provided code is left out here: it is in your notebook.")
_PICTURE = re.compile('"data:[^"]*"')
_COLORED = re.findall(r"\.highlight \.(\w+)", (PAGE_TEMPLATES / "feedback.css").read_text(encoding="utf-8"))
#: tags around words of code for which the style sheet has no color
_COLORLESS = re.compile(rf'<span(?: class="(?!(?:{"|".join(_COLORED)})")[a-z]{{1,2}}\d?")?>([^<]*)</span>')
PAGE_TOO_COSTLY = N_("This page takes too long to format, so this cell is shown as plain text.")
_HEADING = re.compile(r'<h([1-6])(?: id="([^"]*)")?>')
_NESTING = re.compile(r"<(/?)(?:div|ul|ol|li|dl|dd|blockquote|table|details|p)\b")
#: nbgrader's comment on an unchanged answer cell
_NO_RESPONSE = N_("No response.")
_LOWEST = 6


@dataclass
class Part:
    """A piece of the page.

    `kind` is "heading", "given" (provided text and code, folded), "answer" or "verdict". `html` and `comment`
    are sanitized.
    """

    kind: str
    html: str
    grade_id: str = ""
    comment: str = ""
    score: str = ""


@dataclass
class PageParts:
    """Makes the parts of one page. Headings go below the page's own, and ids are unique.

    `given` holds the sources of the released cells; any other cell is shown as the student's own. `shows` is what
    `result` was reduced to (see `result_as_shown`). Once `budget`
    is out of time, cells are shown as plain text; cells for which it has no room are left out. `pictures` have limits
    of their own. With `requests`, the page says how to object to a check.
    """

    notebook: NotebookNode
    result: SubmissionResult
    given: frozenset[str]
    budget: PageBudget = field(default_factory=lambda: PageBudget(PAGE_SECONDS, PAGE_CHARACTERS))
    shows: Shows = Shows.EVERYTHING
    requests: bool = False
    pictures: Pictures = field(default_factory=Pictures)
    _level: int = 2
    _ids: set[str] = field(init=False)
    _under: str = ""
    _figures: int = 0

    def __post_init__(self) -> None:
        self._provided: list[tuple[bool, int, str]] = []
        # links lead to these ids, so no heading may take them
        self._ids = {name for cell in self.notebook.cells if (name := grade_id(cell))}
        self._displayed = Displayed(self.pictures, self.budget, self._figure)

    def parts(self) -> list[Part]:
        """The parts in order. If nothing was graded, the cells aren't the student's, so only comments are shown."""
        if self.result.nothing_graded:
            answers = map(self._answer, filter(_is_commented, self.notebook.cells))
            return [replace(part, html="") for part in answers]
        found = headings(self.notebook)
        parts: list[Part] = []
        for cell in self.notebook.cells:
            for part in self._of_cell(cell, found):
                if part.kind == "given" and parts and parts[-1].kind == "given":
                    parts[-1].html += part.html
                else:
                    parts.append(part)
        self._make_smaller(parts)
        return parts

    def _make_smaller(self, parts: list[Part]) -> None:
        """Leave out tags that color nothing, and where a page is too large provided code: the longest first, tests last."""
        for part in parts:
            part.html = _COLORLESS.sub(r"\1", part.html)
        html = _PICTURE.sub("", "".join(part.html + part.comment for part in parts))
        over = len(html.encode("utf-8", "replace")) - PARTS_BYTES
        sentence = f"<p><em>({escape(_(CODE_LEFT_OUT), quote=False)})</em></p>"
        for _test, _length, code in sorted(self._provided):
            for part in parts:
                if over > 0 and part.kind == "given" and code in part.html:
                    over -= len(part.html)
                    part.html = part.html.replace(code, "").removesuffix(sentence) + sentence
                    over += len(part.html)

    def _of_cell(self, cell: NotebookNode, found: list[Heading]) -> Iterator[Part]:
        if is_test_cell(cell):
            yield self._check_results(cell, found)
            yield Part("given", self._provided_code(cell) + self._test_outputs(cell))
        elif is_answer_cell(cell) or cell.source.strip() not in self.given:
            yield self._answer(cell)
        elif cell.cell_type == "markdown":
            yield from self._text(self._markdown(cell))
            if nbgrader_metadata(cell).get("task"):
                yield self._answer(cell)
        elif cell.cell_type == "code":
            yield Part("given", self._provided_code(cell) + self._outputs(cell))

    def _check_results(self, cell: NotebookNode, found: list[Heading]) -> Part:
        name = grade_id(cell) or ""
        exercise = self.result.exercise(name)
        if exercise is None:
            return Part("verdict", self._doubts_about(name), name, score=_score(cell))
        waits = bool(nbgrader_metadata(cell).get("needs_manual_grade"))
        if exercise.unanswered and waits and (why := self._doubts_about(name)):
            return Part("verdict", why, name, score=_score(cell))
        if self.shows is Shows.EXERCISES:
            title = page_titles(self.notebook, found).get(name, exercise_name(name))
            return Part("verdict", exercise_as_html(exercise, title), name)
        table = checks_as_html(exercise, self.notebook, found, self.requests)
        changed = nbgrader_metadata(cell).get("score", exercise.earned) != exercise.earned
        return Part("verdict", table, name, score=_score(cell) if changed or waits else "")

    def _doubts_about(self, name: str) -> str:
        """The sentences about what a person decides, in place of a verdict."""
        whys = (doubt.why for doubt in self.result.doubts if doubt.grade_id == name and not doubt.stands_by)
        return "".join(f"<p>{code_marked(why)}</p>" for why in whys)

    def _answer(self, cell: NotebookNode) -> Part:
        mark = nbgrader_metadata(cell)
        graded = is_graded_cell(cell)
        if mark.get("task"):
            body = ""
        elif cell.cell_type == "markdown":
            nothing = escape(_("(nothing)"))
            body = self._lowered(self._markdown(cell, visible_markdown)) or f"<p>{nothing}</p>"
        else:
            body = self._code(cell.source) + self._outputs(cell)
        comment = mark.get("comment") or ""
        if comment == _NO_RESPONSE:
            comment = _(comment) if graded else ""  # for other answers, the check results say so
        return Part(
            "answer",
            body,
            grade_id(cell) or "",
            self._lowered(self._markdown(NotebookNode(source=comment))) if comment else "",
            _score(cell) if graded else "",
        )

    def _text(self, html: str) -> Iterator[Part]:
        """Split at top-level headings: text is folded, headings are not, so that links lead to something visible."""
        start = at = depth = 0
        for heading in _HEADING.finditer(html):
            end = _end_of(html, heading)
            depth += sum(-1 if tag[1] else 1 for tag in _NESTING.finditer(html, at, heading.start()))
            at = heading.start()
            if depth == 0 and end:
                yield from self._folded(html[start : heading.start()])
                yield Part("heading", self._lowered(html[heading.start() : end]))
                start = at = end
        yield from self._folded(html[start:])

    def _folded(self, html: str) -> Iterator[Part]:
        if html.strip():
            yield Part("given", self._lowered(html))

    def _lowered(self, html: str) -> str:
        """Demote the headings below those of the page, skipping no level, and remove ids that are taken."""
        parts = []
        at = 0
        while heading := _HEADING.search(html, at):
            end = _end_of(html, heading)
            if not end:  # it is text in an attribute
                parts.append(html[at : heading.end()])
                at = heading.end()
                continue
            self._level = level = min(int(heading[1]) + 1, self._level + 1, _LOWEST)
            inside = html[heading.end() : end - len("</h1>")]
            self._under = plain_text(inside)
            wanted = heading[2] if heading[2] and heading[2] not in self._ids else ""
            self._ids.add(wanted)
            name = f' id="{wanted}"' if wanted else ""
            parts += [html[at : heading.start()], f"<h{level}{name}>{inside}</h{level}>"]
            at = end
        return "".join([*parts, html[at:]])

    def _markdown(self, cell: NotebookNode, render: Callable[[str], str] = safe_markdown) -> str:
        return self.pictures.formatted(cell.source, cell, partial(self._within_budget, render))

    def _provided_code(self, cell: NotebookNode) -> str:
        """Without colors, which would double the size of a page."""
        if not cell.source.strip():
            return ""
        html = f"<pre>{escape(cell.source, quote=False)}</pre>"
        self._provided.append((is_test_cell(cell), -len(html), html))
        return with_room(self.budget, html)

    def _code(self, source: str) -> str:
        return self._within_budget(highlighted_code, source) if source.strip() else ""

    def _within_budget(self, render: Callable[[str], str], source: str) -> str:
        html = as_plain_text(source, PAGE_TOO_COSTLY) if self.budget.out_of_time else render(source)
        return with_room(self.budget, html)

    def _outputs(self, cell: NotebookNode) -> str:
        return "".join(map(self._output, cell.get("outputs", [])))

    def _test_outputs(self, cell: NotebookNode) -> str:
        """The output of an ordinary test cell, without the results of its checks, and without tracebacks,
        which quote hidden tests."""
        return "".join(
            self._output(output)
            for output in cell.get("outputs", [])
            if output.output_type != "error" and not is_check_output(output)
        )

    def _output(self, output: NotebookNode) -> str:
        if output.output_type not in ("stream", "error"):
            return self._lowered(self._displayed.html(output.data))
        html = printed_by(output)
        return with_room(self.budget, html) if html else ""

    def _figure(self, address: str) -> str:
        self._figures += 1
        alt = _("Figure %(number)s, drawn by the cell above", number=self._figures)
        if self._under:
            alt = _(
                "Figure %(number)s, drawn by the cell above, under the heading “%(heading)s”",
                number=self._figures,
                heading=self._under,
            )
        return f'<img alt="{escape(alt)}" src="{address}">'


def _is_commented(cell: NotebookNode) -> bool:
    return nbgrader_metadata(cell).get("comment") not in (None, "", _NO_RESPONSE)


def _end_of(html: str, heading: re.Match[str]) -> int:
    """Where the heading that starts there ends; 0 if it doesn't end."""
    found = html.find(f"</h{heading[1]}>", heading.end())
    return found + len("</h1>") if found >= 0 else 0


def _score(cell: NotebookNode) -> str:
    mark = nbgrader_metadata(cell)
    most = mark.get("points") or 0
    if mark.get("needs_manual_grade"):
        return _(
            "Awaiting manual grading: %(points)s.", points=points_in_words(most - (mark.get("score") or 0))
        )
    score = score_in_words(mark.get("score") or 0, most)
    return _("%(score)s, graded manually.", score=score) if mark.get("by_hand") else f"{score}."

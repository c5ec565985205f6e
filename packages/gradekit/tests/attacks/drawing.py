"""Attacks on the drawing of pages: little text that takes long to format, becomes large, or gets past the cleaning."""

import contextlib
import os
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from nbconvert.exporters.exporter import ResourcesDict
from nbformat import NotebookNode, v4
from traitlets.config import Config

from .attack import COLD, NBGRADER, NONE, WRONG, Attack, Case, any_of, goes_ungraded
from .course import ASSIGNMENT, NOTEBOOK
from .pages import WORD, script_in

#: what a page may hold beside what is drawn of the attack, and for each character of it
FRAME, GROWTH = 100_000, 45
#: CPU seconds for any page, for each kilobyte, and for the largest
SECONDS, SECONDS_PER_KB, MOST_SECONDS = 6, 1, 30
_SIZE = 8_000


@dataclass
class Drawn:
    """A page and what it took."""

    page: str
    source: int
    seconds: float


def draws_too_much(drawn: Drawn) -> str:
    if len(drawn.page) > FRAME + GROWTH * drawn.source:
        return f"made {len(drawn.page):,} characters out of {drawn.source:,}"
    allowed = min(SECONDS + SECONDS_PER_KB * drawn.source / 1_000, MOST_SECONDS)
    return f"took {drawn.seconds:.1f} s" if drawn.seconds > allowed else ""


def lays_over(drawn: Drawn) -> str:
    """Something of the student's that a browser would run, or show elsewhere than in its place."""
    if WORD not in drawn.page:
        return ""
    answer = BeautifulSoup(drawn.page, "html.parser").select_one("#why")
    styles = " ".join(str(tag.get("style", "")) for tag in answer.find_all(style=True)) if answer else ""
    styled = next((word for word in ("position", "url(", "expression") if word in styles), "")
    return script_in(drawn.page) or (f"styled its text with {styled}" if styled else "")


def draw(course: Any, notebook: NotebookNode) -> Drawn:
    """The feedback page of a notebook as generate_feedback draws it, and before that its verdict, as autograde does."""
    from gradekit.nbgrader_plugin.feedback import FeedbackExporter
    from gradekit.nbgrader_plugin.steps import RESULT
    from gradekit.page.check_table import check_output
    from gradekit.session.values import CheckOutcome
    from gradekit.verdict.results import CheckResult, ExerciseResult, Status, SubmissionResult

    source = sum(len(cell.source) + len(str(cell.get("outputs", ""))) for cell in notebook.cells)
    check = CheckResult("test_value", "The output is twice the input.", 5, CheckOutcome.FAILED, "It is not.")
    result = SubmissionResult(Status.GRADED, exercises=[ExerciseResult("test_double", [check])])
    names = {
        "student": "drawing",
        "assignment": ASSIGNMENT,
        "notebook": NOTEBOOK,
        "score": 0,
        "max_score": 15,
    }
    before = _cpu_seconds()
    with contextlib.chdir(course.root):
        check_output(result, "test_double", notebook)
        notebook.metadata[RESULT] = result.as_dict()
        resources = ResourcesDict(nbgrader=names, metadata=ResourcesDict(name=NOTEBOOK))
        page, _ = FeedbackExporter(config=Config()).from_notebook_node(notebook, resources)
    return Drawn(page, source, _cpu_seconds() - before)


def _cpu_seconds() -> float:
    return sum(os.times()[:4])


Fill = Callable[[NotebookNode], None]


def _played(fill: Fill) -> Callable[[Any, str], str]:
    def play(course: Any, mode: str) -> str:
        notebook = deepcopy(course.released)
        notebook.cells[1].source = WRONG
        fill(notebook)
        drawn = draw(course, notebook)
        if "Points</h2>" not in drawn.page:
            return "left no page"
        return draws_too_much(drawn) or lays_over(drawn)

    return play


def _written(text: str) -> Fill:
    """The written answer."""

    def fill(notebook: NotebookNode) -> None:
        notebook.cells[-1].source = text.replace("WORD", WORD)

    return fill


def _code(source: str) -> Fill:
    def fill(notebook: NotebookNode) -> None:
        notebook.cells[1].source = source

    return fill


def _printed(text: str) -> Fill:
    def fill(notebook: NotebookNode) -> None:
        notebook.cells[1].outputs = [v4.new_output("stream", text=text)]

    return fill


def _raised(lines: list[str]) -> Fill:
    def fill(notebook: NotebookNode) -> None:
        error = v4.new_output("error", ename="E" * 2_000, evalue="v" * 2_000, traceback=lines)
        notebook.cells[1].outputs = [error] * 10

    return fill


def _cells(count: int, cell_of: Callable[[int], NotebookNode]) -> Fill:
    def fill(notebook: NotebookNode) -> None:
        notebook.cells[1:1] = map(cell_of, range(count))

    return fill


def _times(unit: str, size: int = _SIZE) -> str:
    return unit * (size // len(unit))


def _tags(form: str, count: int = 250) -> str:
    return "".join(form.format(number) for number in range(count))


_WRITTEN = {
    # HTML that a parser repairs
    "unclosed-bold-in-paragraphs": "# a\n\n<p>" + _tags("<b title={}>") + _times("<p>x", 4_000),
    "unclosed-bold-in-blocks": _tags("<b title={}>\n\n") + _times("x\n\n", 4_000),
    "unclosed-fonts-of-each-kind": "<p>" + _tags("<i title={0}><em title={0}><s title={0}><code>", 60) + _times("<p>x", 4_000),
    "unclosed-bold-in-a-table": "<table>" + _tags("<b title={}>") + _times("<tr></tr>x", 4_000),
    "tables-in-tables": _tags("<table><tr><td><i title={}>") + _times("<tr><td>x", 4_000),
    "links-in-links": _tags("<a title={}><div>", 400),
    "long-attributes-to-repeat": "<p>" + _tags("<b title=" + "y" * 200 + "{}>", 20) + _times("<p>x", 4_000),
    "deep-spans": _times("<span>"),
    "deep-divs": _times("<div>\n\n"),
    "deep-lists-in-html": _times("<ul><li>"),
    "end-tags-only": _times("</b></p></table>"),
    "open-angles": _times("<"),
    "open-quotes-in-tags": _times('<a title="') + _times("<b '"),
    "attributes-without-end": "<b " + _times("a=b "),
    "headings-in-attributes": _times('<b title="<h1>">'),
    "unclosed-comments": _times("<!--") + _times("x<!-- -", 4_000),
    "unclosed-cdata": _times("x<![CDATA["),
    "unclosed-instructions": _times("x<?") + _times("x<!A", 4_000),
    "entities": _times("&#1;&amp;&lt;"),
    # markdown
    "nested-quotes": "\n".join(">" * depth + "a" for depth in range(120)),
    "quotes-on-one-line": _times(">"),
    "nested-lists": "\n".join("  " * depth + "- a" for depth in range(85)),
    "lists-on-one-line": _times("- "),
    "loose-lists": _times("- a\n\n\n"),
    "nested-emphasis": _times("*a _b "),
    "stars": _times("*a**"),
    "backticks-of-every-length": " ".join("`" * length for length in range(120)),
    "brackets": _times("[", 4_000) + _times("]", 4_000),
    "nested-links": _times("[a", 4_000) + _times("](b)", 4_000),
    "half-links": _times("[a]("),
    "nested-pictures": _times("!["),
    "references": "[a]: x\n\n" + _times("[a]"),
    "definitions": "".join(f"[{number}]: x\n" for number in range(800)),
    "wide-table": "|a" * 600 + "|\n" + "|-" * 600 + "|\n" + "|b" * 600 + "|\n",
    "long-table": "a|b\n-|-\n" + _times("a|b\n"),
    "headings": _times("# a\n"),
    "a-long-heading": "# " + _times("a *b* "),
    "a-heading-of-blanks": "# a" + " " * _SIZE + "b",
    "underlined-headings": _times("a\n=\n"),
    "blank-lines-in-text": "a" + "\n" * _SIZE + "b",
    "a-line-of-blanks": "a" + " " * _SIZE + "b",
    "one-long-line": "x" * 49_000,
    "too-long-a-cell": "*x* " * 100_000,
    # formulas
    "dollars": _times("$"),
    "small-formulas": _times("$x$ "),
    "nested-fractions": "$" + _times(r"\frac{1}{", 1_500) + "}" * 160 + "$",
    "nested-powers": "$" + _times("x^{", 1_200) + "}" * 400 + "$",
    "nested-braces": "$" + "{" * 900 + "}" * 900 + "$",
    "nested-matrices": "$" + _times(r"\begin{matrix}a&", 1_500) + "$",
    "open-brackets-of-formulas": _times(r"\\[") + _times(r"\\("),
    "open-environments": _times(r"\begin{a}"),
    "formulas-in-headings": "\n".join(f"# $x_{{{number}}}^{{2}}$" for number in range(300)),
    # code in text
    "fences": _times("```\n"),
    "blank-lines-in-a-fence": "```python\na" + "\n" * _SIZE + "b\n```",
    "a-fence-in-another-language": "```perl\n" + _times("s/") + "\n```",
    "operators-in-a-fence": "```python\n" + _times("1+") + "\n```",
}  # fmt: skip

_SCRIPTS = {
    "a-style-element": "<style>body{background:url(https://WORD)}</style> <div style='position:fixed;top:0'>WORD</div>",
    "a-style-with-escapes": r"<div style='pos\69tion:fixed;width:expression(WORD)'>WORD</div>",
    "svg-with-a-script": "<svg><g/onload=WORD><script>WORD</script><a xlink:href='javascript:WORD'>x</a></svg>",
    "mathml-that-closes-itself": "<math><mtext></form><form><mglyph><style></math><img src onerror=WORD>",
    "a-script-in-a-comment": "<!--><script>WORD</script>--> <!-- --!><img src=x onerror=WORD> <![CDATA[><script>WORD</script>]]>",
    "a-script-in-a-title": '<b title="</b><script>WORD</script>">x</b> <img alt="`<script>WORD</script>">',
    "a-script-in-a-half-tag": "<scr<script>ipt>WORD</script> <<script>WORD</script> <script/x>WORD</script>",
    "a-template-of-markup": "<template><script>WORD</script></template><noscript><img src=x onerror=WORD></noscript>",
    "javascript-in-upper-case": "[a](JaVaScRiPt:WORD) <JAVASCRIPT:WORD> [b]( \tjavascript:WORD)",
    "javascript-with-entities": "[a](&#106;avascript:WORD) <a href='java&Tab;script:WORD'>b</a> <a href='&#x01;javascript:WORD'>c</a>",
    "javascript-with-line-breaks": "<a href='java\nscript:WORD'>a</a> <a href='java&NewLine;script&colon;WORD'>b</a>",
    "javascript-in-a-reference": "[a][b] ![c][b]\n\n[b]: javascript:WORD 'x'",
    "other-schemes": "[a](vbscript:WORD) [b](data:text/html,<script>WORD</script>) ![c](data:image/svg+xml;utf8,<svg onload=WORD>)",
    "a-handler-without-blanks": "<img/src=x/onerror=WORD> <details/open/ontoggle=WORD> <b\x0conclick=WORD>x</b>",
    "markup-in-a-formula-class": '<code class="inline-formula">&lt;script&gt;WORD&lt;/script&gt;</code> $</math><script>WORD</script>$',
    "markup-in-a-diagram": "```mermaid\n</pre><script>WORD</script><img src=x onerror=WORD>\n```",
    "markup-in-the-language-of-a-fence": "```\"><script>WORD</script>\nx\n```\n\n```python'onload=WORD\nx\n```",
    "a-form-and-a-base": "<base href='javascript:WORD'><form action='javascript:WORD'><button formaction='javascript:WORD'>x</button></form>",
}  # fmt: skip

_OTHERS: dict[str, Fill] = {
    "blank-lines-in-code": _code("a = 1" + "\n" * 4_000 + "b = 2"),
    "lines-of-blanks-in-code": _code(_times(" \n")),
    "blank-lines-in-portions": _code(_times("a" + "\n" * 150)),
    "a-very-long-line-of-code": _code("x" * 49_000),
    "a-cell-magic-with-another-language": _code("%%perl\n" + _times("s/")),
    "open-strings": _code(_times("f'{f\"{")),
    "operators": _code(_times("1+")),
    "escape-sequences": _printed(_times("\x1b[31m\x1b[", 90_000)),
    "half-an-escape-sequence": _printed("\x1b[" + "1;" * 45_000),
    "control-characters": _printed("\x00\x08\x9b\x1b]0;x\x07" * 10_000),
    "a-huge-traceback": _raised(["\x1b[0;31m" + "x" * 1_990] * 100),
    "many-small-cells": _cells(1_900, lambda n: v4.new_markdown_cell(f"# {n}\n*a* $x_{{{n}}}$")),
    "many-empty-cells": _cells(1_900, lambda _: v4.new_code_cell("")),
    "several-costly-cells": _cells(3, lambda n: v4.new_code_cell(f"{n}" + "\n" * 3_000 + "x")),
    "many-large-cells": _cells(40, lambda n: v4.new_code_cell(f"'{n}'\n" + "1+" * 20_000)),
}


def _hands_in(fill: Fill) -> Callable[[Any, str], None]:
    def hand_in(course: Any, student: str) -> None:
        notebook = course.answer(WRONG, student)
        fill(notebook)
        course.hand_in(student, notebook)

    return hand_in


def page_grows(case: Case) -> str:
    """The whole way, from what was handed in to what is on the disk."""
    handed_in = sum(path.stat().st_size for path in Path(case.course.folder(case.student)).iterdir())
    return f"made a page of {len(case.page):,}" if len(case.page) > FRAME + GROWTH * handed_in else ""


#: these go through both of nbgrader's commands; the others are drawn without being graded before, which is quick
_WHOLE_WAY = {
    "grades-unclosed-bold": _written(_WRITTEN["unclosed-bold-in-paragraphs"]),
    "grades-blank-lines": _code(WRONG + "\n" * 4_000 + "b = 2"),
    "grades-headings": _cells(20, lambda _: v4.new_markdown_cell(_times("# a *b* $x$\n"))),
}

ATTACKS = [
    *(Attack(f"draws-{name}", f"A page that takes long or gets large: {name.replace('-', ' ')}.", play=_played(fill), unfit=(COLD, NONE, NBGRADER))
      for name, fill in {**{name: _written(text) for name, text in _WRITTEN.items()}, **_OTHERS}.items()),
    *(Attack(f"draws-{name}", f"A written answer with {name.replace('-', ' ')}.", play=_played(_written(text)), unfit=(COLD, NONE, NBGRADER))
      for name, text in _SCRIPTS.items()),
    *(Attack(name, f"{name.replace('-', ' ').capitalize()} in both commands.", any_of(page_grows, goes_ungraded), hand_in=_hands_in(fill), unfit=(NBGRADER,))
      for name, fill in _WHOLE_WAY.items()),
]  # fmt: skip

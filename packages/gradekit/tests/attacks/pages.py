"""Attacks on who opens the feedback page: anything of the student's that the browser would run."""

import html
import json
import re
from typing import Any

import nbformat
from bs4 import BeautifulSoup, Tag

from .attack import NBGRADER, WRONG, Attack, Case, HandIn, any_of, goes_ungraded

#: every script of an attack says this word
WORD = "stolen"
SAFE = re.compile(r"MathJax[^\"]*config=[^\"]*,Safe|mathjax[^\"]*config=[^\"]*,Safe")
_ACTIVE = ("script", "iframe", "object", "embed", "svg", "meta", "base", "form", "link", "style", "math")


def runs_script(case: Case) -> str:
    """The page holds something active with the attack's word in it."""
    return script_in(case.page)


def script_in(page: str) -> str:
    """What is active on a page and has the attack's word in it, as a browser would see it."""
    for tag in BeautifulSoup(page, "html.parser").find_all(True):
        if tag.name in _ACTIVE and WORD in str(tag) and not _is_own(tag):
            return f"put a <{tag.name}> into the page"
        for name, values in tag.attrs.items():
            value = html.unescape(" ".join(values) if isinstance(values, list) else str(values))
            plain = re.sub(r"[\x00-\x20]", "", value).lower()
            if WORD in value and name.startswith("on"):
                return f"put {name}= into the page"
            if WORD in value and re.match(r"(javascript|vbscript|data:text/html|data:image/svg)", plain):
                return f"put a link to {plain[:11]} into the page"
    # nbconvert loads MathJax with the extension that refuses such links
    formula = not SAFE.search(page) and re.search(
        r"\\(href|style|class|cssId|unicode)\s*\{[^}]*" + WORD, _typeset(page)
    )
    return f"put \\{formula[1]} into a formula" if formula else ""


def _is_own(tag: Tag) -> bool:
    """The page's own scripts and styles, in which a student's text does not occur."""
    return tag.name in ("style", "script") and "MathJax" in str(tag)


def _typeset(page: str) -> str:
    """What MathJax looks at: text outside of code."""
    tree = BeautifulSoup(page, "html.parser")
    for tag in tree.find_all(["pre", "code", "script", "style", "textarea"]):
        tag.decompose()
    return tree.get_text()


def _shows(source: str) -> str:
    return "from IPython.display import *\n" + WRONG + source.replace("WORD", WORD)


def _answers(markdown: str) -> HandIn:
    """The written answer holds this."""

    def hand_in(course: Any, student: str) -> None:
        notebook = course.answer(WRONG, student)
        notebook.cells[-1].source = markdown.replace("WORD", WORD)
        course.hand_in(student, notebook)

    return hand_in


_UPDATE = """
display("harmless", display_id="one")
update_display(HTML("<script>WORD</script>"), display_id="one")
"""

_PNG = """
display({"image/png": 'AAAA"><script>WORD</script>'}, raw=True)
display({"image/png": 'AAAA" onerror="WORD'}, metadata={"image/png": {"width": '1" onload="WORD'}}, raw=True)
"""

_ERROR = """
class Broken(Exception): pass
Broken.__name__ = Broken.__qualname__ = "<script>WORD</script>"
def double(x): raise Broken("</pre><script>WORD</script> `<img src=x onerror=WORD>`")
double(1)
"""

_COUNT = """
kernel = get_ipython().kernel
for kind in ("execute_input", "execute_result"):
    kernel.session.send(kernel.iopub_socket, kind, {"execution_count": "<script>WORD</script>", "code": "1",
                        "data": {"text/plain": "1"}, "metadata": {}}, parent=kernel.get_parent())
"""

_MATHJAX = """
display(Latex(r"$\\href{javascript:WORD}{x}$"))
display(Markdown("<script>WORD</script>"))
"""


def _cell_ids(course: Any, student: str) -> None:
    notebook = course.answer(WRONG)
    extra = '"><script>' + WORD + "</script>"
    text = nbformat.writes(notebook)
    course.hand_in(student, text.replace('"id": "imports"', f'"id": {json.dumps(extra)}'))


def _metadata(course: Any, student: str) -> None:
    notebook = json.loads(nbformat.writes(course.answer(WRONG)))
    script = f"<script>{WORD}</script>"
    notebook["metadata"] = {"title": script, "authors": [{"name": script}], "kernelspec": {
        "name": script, "language": script, "display_name": script},
        "language_info": {"name": script, "pygments_lexer": script, "codemirror_mode": script},
        "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {script: script}}}}  # fmt: skip
    for cell in notebook["cells"]:
        cell["metadata"] = {**cell["metadata"], "tags": [script], "slideshow": {"slide_type": script}}
        cell["attachments"] = {script: {"image/svg+xml": script}}
    course.hand_in(student, json.dumps(notebook))


_AIMS = {
    "displays-html-with-a-script": ("A text/html output with a script.", _shows("display(HTML('<script>WORD</script>'))")),
    "displays-javascript": ("An application/javascript output.", _shows("display(Javascript('WORD()'))")),
    "displays-an-svg-with-a-script": (
        "An image/svg+xml output with a script.",
        _shows("display(SVG('<svg xmlns=\"http://www.w3.org/2000/svg\"><script>WORD</script></svg>'))"),
    ),
    "updates-a-display-to-html": ("A harmless output that is updated to one with a script.", _shows(_UPDATE)),
    "displays-a-png-that-is-markup": ("Markup where a picture's data or width should be.", _shows(_PNG)),
    "displays-a-formula-with-a-link": ("A formula or Markdown output with a link to a script.", _shows(_MATHJAX)),
}  # fmt: skip
_PLAIN = {
    "prints-markup": (
        "Stream output that closes the block and opens a script.",
        _shows("print('</pre></script><script>WORD</script>\\x1b[1m<img src=x onerror=WORD>\\x1b[38;5;\"><script>WORD</script>m')"),
    ),
    "raises-markup": ("An exception whose name and text are markup.", _shows(_ERROR)),
    "forges-the-number-of-a-cell": ("Markup where the page shows a cell's number.", _shows(_COUNT)),
}  # fmt: skip
_WRITTEN = {
    "writes-a-script-into-an-answer": "<script>WORD</script>\n\n<svg onload=WORD></svg>",
    "writes-an-event-handler-into-an-answer": "<img src=x onerror=WORD> <b onmouseover='WORD'>look</b>",
    "writes-a-javascript-link-into-an-answer": "[look](javascript:WORD) <a href=' java&#x0A;script:WORD'>here</a>",
    "writes-a-formula-with-a-link": "$\\href{javascript:WORD}{\\text{look}}$",
    "writes-markup-into-a-formula": "$<script>WORD</script>$ $$x <img src=x onerror=WORD>$$",
    "writes-a-data-link-into-an-answer": "<iframe src='data:text/html,<script>WORD</script>'></iframe> "
    "![x](data:image/svg+xml,WORD) <object data='javascript:WORD'></object>",
}

#: what nbgrader's own page repels as well
_HARMLESS = ("displays-an-svg-with-a-script", "writes-markup-into-a-formula", "writes-a-formula-with-a-link")

ATTACKS = [
    *(Attack(name, aim, runs_script, source, proofs=() if name in _HARMLESS else (NBGRADER,)) for name, (aim, source) in _AIMS.items()),
    *(
        Attack(name, aim, any_of(runs_script, goes_ungraded), source)
        for name, (aim, source) in _PLAIN.items()
    ),
    *(
        Attack(name, f"A written answer: {text.split('WORD')[0][:30].strip()}…", runs_script, hand_in=_answers(text), proofs=() if name in _HARMLESS else (NBGRADER,))
        for name, text in _WRITTEN.items()
    ),
    Attack("hides-markup-in-cell-ids", "Markup in the id of a cell.", any_of(runs_script, goes_ungraded), hand_in=_cell_ids, unfit=(NBGRADER,)),
    Attack("hides-markup-in-metadata", "Markup in names, tags, kernelspec, attachments.", any_of(runs_script, goes_ungraded), hand_in=_metadata, unfit=(NBGRADER,)),
]  # fmt: skip

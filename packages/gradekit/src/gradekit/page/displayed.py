"""What a cell displayed, on a page: pictures, sanitized HTML, Markdown, formulas, JSON, or else its plain text.

Nothing in it runs. Where a page can't show something, a sentence names it.
"""

import base64
import json
import re
from collections.abc import Callable, Collection, Mapping
from html import escape
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters import strip_ansi
from nbformat import NotebookNode

from gradekit.course.cells import SVG, picture_in
from gradekit.course.language import N_, _, ngettext
from gradekit.page.budget import PageBudget
from gradekit.page.markdown import plain_text, safe_html, safe_markdown
from gradekit.page.pictures import NotShown, Pictures, decoded, text_and_pictures
from gradekit.page.raw_html import replace_elements
from gradekit.session.output_data import PLAIN_TEXT

#: budget of a page: CPU seconds, and characters of HTML without pictures
PAGE_SECONDS, PAGE_CHARACTERS = 10.0, 8_000_000
LEFT_OUT = N_("This cell is left out: the page would be too large.")
#: key in the resources of a page in formgrader: its `Displayed`
OF_DISPLAYED = "gradekit_displayed"
#: characters of the budget that each piece of a page takes besides its text
_OVERHEAD = 200
_LONG = 40
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'
_ACTIVE = re.compile(r"<(?:script|iframe|object|embed|canvas|video|audio)\b", re.IGNORECASE)
_PARTS = N_("a script, or an embedded page, video or sound")
#: what a page can't show, by the beginning of its type
_KINDS = {
    "application/vnd.jupyter.widget": N_("an interactive widget"),
    "application/vnd.plotly": N_("an interactive figure"),
    "application/vnd.vega": N_("an interactive figure"),
    "application/vnd.bokeh": N_("an interactive figure"),
    "application/javascript": N_("a script"),
    "text/html": N_("HTML that can't be formatted"),
}


def with_room(budget: PageBudget, html: str) -> str:
    """The piece of a page, or a sentence if the page has no room for it."""
    if budget.take(len(html) + _OVERHEAD):
        return html
    return f"<p>{escape(_(LEFT_OUT), quote=False)}</p>"


def printed(text: str) -> str:
    """Text that a program printed; if it is long, it is folded."""
    plain = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", strip_ansi(text))
    shown = f'<pre class="output">{escape(plain)}</pre>'
    lines = text.count("\n")
    if lines <= _LONG:
        return shown
    title = ngettext("Output of %(lines)s line", "Output of %(lines)s lines", lines, lines=lines)
    return f"<details><summary>{escape(title)}</summary>{shown}</details>"


class Displayed:
    """Shows the data of the outputs of one page.

    Args:
        figure: writes a picture with an address.
        own: HTML of the grader's own, which is shown as it is.
    """

    def __init__(
        self,
        pictures: Pictures,
        budget: PageBudget,
        figure: Callable[[str], str],
        own: Collection[str] = (),
    ) -> None:
        self._pictures = pictures
        self._budget = budget
        self._figure = figure
        self._own = own

    def html(self, data: Mapping[str, Any]) -> str:
        """The output in the best of its forms that a page can show."""
        if data.get("text/html") in self._own:
            return str(data["text/html"])
        text = str(data.get(PLAIN_TEXT, ""))
        if (kind := picture_in(data)) and isinstance(picture := data[kind], str):
            try:
                return self._figure(
                    self._pictures.address_of(picture.encode() if kind == SVG else decoded(picture))
                )
            except NotShown as reason:
                text = _("%(text)s (not shown: %(reason)s)", text=text, reason=_(str(reason)))
        html, left_out = "" if self._budget.out_of_time else self._formatted(data), []
        if _ACTIVE.search(_text_of(data, "text/html")):
            left_out.append(_(_PARTS))
        if not html:
            left_out = [*self._unknown(data), *left_out]
            html = with_room(self._budget, printed(text)) if text.strip() else ""
        return html + _not_shown(left_out)

    def _formatted(self, data: Mapping[str, Any]) -> str:
        """The output as HTML, Markdown, formulas or JSON; empty if it has none of these, or nothing visible in them."""
        for kind, render in _RENDERED.items():
            if source := _text_of(data, kind):
                drawn = replace_elements(source, "svg", _drawing) if kind == "text/html" else source
                text, embedded = text_and_pictures(drawn)
                html = with_room(self._budget, render(text))
                if "<img" in html or plain_text(html):
                    return f'<div class="displayed">{self._pictures.put_into(html, embedded, {})}</div>'
        if "application/json" in data:
            return with_room(self._budget, printed(json.dumps(data["application/json"], indent=1)))
        return ""

    def _unknown(self, data: Mapping[str, Any]) -> list[str]:
        """What an output has besides text that a page can show, in words."""
        words = []
        for kind in data:
            known = next((name for beginning, name in _KINDS.items() if kind.startswith(beginning)), "")
            if known == _KINDS["text/html"] and _ACTIVE.search(_text_of(data, kind)):
                continue
            if known or not kind.startswith(("text/", "image/")):
                words.append(_(known) if known else kind)
        return words


_RENDERED = {"text/html": safe_html, "text/markdown": safe_markdown, "text/latex": safe_markdown}


def _text_of(data: Mapping[str, Any], kind: str) -> str:
    value = data.get(kind)
    return value if isinstance(value, str) else ""


def _drawing(svg: str) -> str:
    """A drawing within HTML as a picture, in which browsers run no script."""
    svg = svg if "xmlns=" in svg else f"{svg[:4]} {_NAMESPACE}{svg[4:]}"
    return f'<img src="data:{SVG};base64,{base64.b64encode(svg.encode("utf-8", "replace")).decode()}">'


def _not_shown(words: list[str]) -> str:
    if not words:
        return ""
    sentence = _("Not shown here: %(kinds)s", kinds=", ".join(dict.fromkeys(words)))
    return f"<p><em>({escape(sentence, quote=False)})</em></p>"


@pass_context
def displayed(context: Context, output: NotebookNode) -> str:
    """A filter for formgrader's template: an output with data, in place of nbconvert's blocks for each type."""
    resources = context.get("resources") or {}
    known = resources.get(OF_DISPLAYED)
    shown: Displayed = known or Displayed(Pictures(), PageBudget(PAGE_SECONDS, PAGE_CHARACTERS), plain_figure)
    return shown.html(output.get("data", {}))


def plain_figure(address: str) -> str:
    """A picture on a page that doesn't number its figures."""
    return f'<img alt="" src="{address}">'

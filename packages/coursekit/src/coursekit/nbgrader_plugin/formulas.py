"""LaTeX formulas as MathML, which browsers show without a script and without network."""

import html
from functools import lru_cache
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element

MAX_LATEX = 2_000  # longer ones are shown as they were written
_TAGS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mstyle", "mphantom", "mpadded", "mfrac", "msqrt"),
    *("mroot", "msub", "msup", "msubsup", "munder", "mover", "munderover", "mtable", "mtr", "mtd"),
}
#: none that could link, style or lay a text over the page, as \href, \style and \hspace would
_ATTRIBUTES = {
    *("display", "stretchy", "fence", "form", "minsize", "maxsize", "mathvariant", "columnalign"),
    *("displaystyle", "scriptlevel", "separator", "movablelimits", "accent", "linebreak"),
}
_MAX_SPACE = 4  # em


@lru_cache(maxsize=4096)
def formula(latex: str, block: bool = False) -> str:
    """The formula as MathML, or its source as code where it can't be converted."""
    try:
        if len(latex) > MAX_LATEX:
            raise ValueError("too long")
        # latex2mathml knows the environment by its other name
        known = latex.replace("{aligned}", "{align*}").strip()
        written = _as_text(convert_to_element(known, display="block" if block else "inline"))
        # one that is wider than a phone can be scrolled, with the keyboard, too
        return written.replace("<math", '<math tabindex="0"', 1) if block else written
    except Exception:  # it raises what it likes
        return f"<code>{html.escape(latex.strip())}</code>"


def _as_text(element: Element) -> str:
    """The element with nothing in it but what is named above.

    Raises:
        ValueError: it has another tag, or holds a command that was not understood.
    """
    text = html.unescape(element.text or "").replace("\\_", "_")
    if element.tag not in _TAGS or (text.startswith("\\") and len(text) > 1):
        raise ValueError(element.tag)
    attributes = {name: value for name, value in element.attrib.items() if name in _ATTRIBUTES}
    if element.tag == "mspace":
        attributes["width"] = _width(element.get("width", ""))
    written = "".join(f' {name}="{html.escape(value)}"' for name, value in attributes.items())
    return f"<{element.tag}{written}>{html.escape(text)}{''.join(map(_as_text, element))}</{element.tag}>"


def _width(value: str) -> str:
    """A width in em; names of widths, all of them small, are not known to browsers any more."""
    try:
        return f"{min(max(float(value.removesuffix('em')), 0), _MAX_SPACE):g}em"
    except ValueError:
        return "0em"

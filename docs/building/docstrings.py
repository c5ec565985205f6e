"""Docstrings of the packages for the API pages: plain text with a few sections becomes reStructuredText."""

import re
import textwrap

_SECTION = re.compile(r"(?P<name>Args|Raises|Returns|Example)(?P<remark> \([^)]+\))?:")
#: the next paragraph, unless it belongs to the section before, or a section right below a paragraph
_BORDER = re.compile(r"\n\n+(?! )|\n(?=(?:Args|Raises|Returns|Example)(?: \([^)]+\))?:)")
_ENTRY = re.compile(r"([\w.*]+(?:, [\w.*]+)*): (.+)")


def to_rst(docstring: str) -> list[str]:
    """The lines of a docstring in reStructuredText.

    Indented paragraphs and columns stay as they are. Nothing is left out.
    """
    lines: list[str] = []
    for block in _BORDER.split(docstring.strip("\n")):
        heading = _SECTION.match(block)
        if heading:
            body = textwrap.dedent(block[heading.end() :].strip("\n")).strip()
            lines += [*_section(heading["name"], heading["remark"] or "", body), ""]
        else:
            for paragraph in re.split(r"\n\n+", block):
                lines += [*_paragraph(paragraph), ""]
    return lines


def _section(name: str, remark: str, body: str) -> list[str]:
    if name == "Example":
        return [
            ".. rubric:: Example",
            "",
            ".. code-block:: python",
            "",
            *textwrap.indent(body, "    ").splitlines(),
        ]
    entries = [_entry(name, " ".join(entry.split())) for entry in re.split(r"\n+(?! )", body)]
    return [f":{'Parameters' if name == 'Args' else name}{remark}:", *(f"    {entry}" for entry in entries)]


def _entry(section: str, text: str) -> str:
    found = _ENTRY.fullmatch(text) if section != "Returns" else None
    if found is None:
        return _prose(text)
    # a dot in front: Sphinx finds the exception in any module
    shown = [
        f":exc:`.{name}`" if section == "Raises" else f"**{_plain(name)}**" for name in found[1].split(", ")
    ]
    return f"- {', '.join(shown)} – {_prose(found[2])}"


def _paragraph(text: str) -> list[str]:
    if text.startswith("- "):
        return _prose(text).splitlines()
    if re.search(r"^ |\S {2,}\S", text, re.MULTILINE):
        return ["::", "", *textwrap.indent(text, "    ").splitlines()]
    return _prose(text).splitlines()


def _prose(text: str) -> str:
    parts = re.split(r"(`[^`]+`)", text)
    # code directly after a letter or before one needs an escaped space between them
    return "\\ ".join(f"`{part}`" if part.startswith("`") else _plain(part) for part in parts if part)


def _plain(text: str) -> str:
    # without a link from an address that is only an example
    return re.sub(r"([\\*_|`]|(?<=:)//)", r"\\\1", text)

"""The repository's address, and what links to it. Nothing does as long as `python packages/address.py` names no owner."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_UNSET = "OWNER"


def repository() -> str | None:
    """The repository on GitHub as `owner/name`; None as long as it isn't set."""
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    found = re.search(r"^repository-code: https://github\.com/([^/\s]+)/(\S+?)/?$", text, re.MULTILINE)
    return f"{found[1]}/{found[2]}" if found and found[1] != _UNSET else None


def address_of_site() -> str:
    """Where GitHub Pages serves the site; empty as long as the repository isn't set."""
    place = repository()
    if place is None:
        return ""
    owner, name = place.split("/")
    return f"https://{owner.lower()}.github.io/{name}/"


def badges(assignment: str, name: str) -> list[str]:
    """Links that open the notebook of an assignment elsewhere, as HTML."""
    place = repository()
    if place is None:
        return []
    file = f"standalone/{assignment}/{name}.ipynb"
    return [
        f'<a href="https://github.com/{place}/blob/main/{file}">Open the notebook</a>',
        f'<a href="https://colab.research.google.com/github/{place}/blob/main/{file}">Open in Colab</a>',
        f'<a href="https://mybinder.org/v2/gh/{place}/main?labpath={file}">Open in Binder</a>',
    ]

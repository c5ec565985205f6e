"""One line of what was found."""

from collections.abc import Iterator
from dataclasses import dataclass

#: "note" is worth a look, "optional" is only needed for what it names
OK, MISSING, NOTE, OPTIONAL = "ok", "missing", "note", "optional"


@dataclass(frozen=True)
class Finding:
    """What was looked at, how it is, and what to do if it is not well."""

    what: str
    state: str
    found: str
    remedy: str = ""

    @property
    def needed(self) -> bool:
        """Grading does not work without it."""
        return self.state == MISSING


def report_lines(finding: Finding) -> Iterator[str]:
    yield f"{finding.state:8}  {finding.what:15}  {finding.found}"
    if finding.remedy:
        yield f"{'':27}→ {finding.remedy}"

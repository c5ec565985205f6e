"""The page of a class report: one file that needs neither a script nor a network."""

from collections.abc import Sequence
from pathlib import Path

import jinja2

from coursekit.course import exercise_name
from coursekit.nbgrader_plugin.check_table import code_marked
from coursekit.printing import printable
from coursekit.report import figures
from coursekit.report.summary import Report

NAME = "report.html"
#: the page shows so many groups; report.json has all
_MOST_GROUPS = 30
_MOST_MISTAKES = 25
_MOST_NAMES = 12
_SLOWEST = 5
_TEMPLATES = Path(__file__).parent / "templates"


def write_page(folder: Path, report: Report) -> Path:
    """Write the page into the folder; gives its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / NAME
    path.write_text(as_html(report), encoding="utf-8", errors="replace")
    return path


def as_html(report: Report) -> str:
    """The page with its pictures in it. All text of students' is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "plain": _plain,
        "marked": code_marked,
        "exercise": exercise_name,
        "printable": printable,
    }
    environment.globals["some_of"] = _some_of
    graded = report.results.graded
    return environment.get_template("report.html.j2").render(
        report=report,
        results=report.results,
        groups=report.groups[:_MOST_GROUPS],
        mistakes=report.mistakes[:_MOST_MISTAKES],
        scores=figures.score_distribution(report.results),
        map=figures.outcome_map(report.results),
        progress=figures.progress_chart(report.stages) if len(report.stages) > 1 else None,
        time=figures.time_distribution([member.seconds for member in graded]),
        slowest=sorted(graded, key=lambda member: -member.seconds)[:_SLOWEST],
    )


def _some_of(students: Sequence[str]) -> str:
    more = len(students) - _MOST_NAMES
    return ", ".join(map(printable, students[:_MOST_NAMES])) + (f" and {more} more" if more > 0 else "")


def _plain(number: float | None) -> str:
    return "–" if number is None else f"{number:g}"

"""The page and the table about works that are alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradekit.course import Assignment
from gradekit.course.printing import printable
from gradekit.report.pages import SimilarityFound, folder_of, page_environment, save_page
from gradekit.report.table import write_rows
from gradekit_integrity.similar.side_by_side import ExerciseSideBySide, people_with, side_by_side
from gradekit_integrity.similar.surprise import Comparison, SimilarPair
from gradekit_integrity.similar.works import Work

PAGE, _TABLE = "similar.html", "similar.csv"
_TEMPLATES = Path(__file__).parent / "templates"
#: pairs with code on the page; the table has all
_MAX_PAIRS, _MAX_PROBLEMS = 40, 50
#: the estimate is not reliable beyond this
_MOST_CLASSES = 10_000


@dataclass(frozen=True)
class Entry:
    """A pair, and its code."""

    pair: SimilarPair
    first: Work
    second: Work
    exercises: list[ExerciseSideBySide]


def clusters_of(pairs: Sequence[SimilarPair]) -> list[list[int]]:
    """Three or more works that pairs connect, the largest cluster first."""
    cluster: dict[int, list[int]] = {}
    for pair in pairs:
        one, other = (cluster.setdefault(place, [place]) for place in (pair.first, pair.second))
        if one is not other:
            one += other
            cluster |= dict.fromkeys(other, one)
    found = {id(members): sorted(members) for members in cluster.values() if len(members) > 2}
    return sorted(found.values(), key=lambda members: (-len(members), members))


def one_of(expected: float) -> str:
    """The number of classes in which one such pair is to be expected, with one digit, since it is an estimate."""
    if expected <= 1 / _MOST_CLASSES:
        return f"more than {_MOST_CLASSES:,}"
    return f"about {int(float(f'{1 / expected:.0e}')):,}"


def write_similar(
    assignment: Assignment, comparison: Comparison, problems: Sequence[str]
) -> tuple[Path, SimilarityFound]:
    """Write page, table and summary into the folder of the class report; returns the page's path and the summary."""
    folder = folder_of(assignment)
    works = comparison.works
    clusters = clusters_of(comparison.pairs)
    save_page(folder / PAGE, _as_html(assignment.name, comparison, clusters, problems))
    number_of = {place: number for number, members in enumerate(clusters, 1) for place in members}
    rows: list[list[Any]] = [["first", "second", "cluster", "expected_by_chance", "exercises", "note"]]
    for pair in comparison.pairs + comparison.same_owner:
        mine = pair in comparison.same_owner
        rows.append(
            [
                *(works[pair.first].name, works[pair.second].name),
                "" if mine else number_of.get(pair.first, ""),
                f"{pair.expected:.1g}",
                " ".join(pair.exercises),
                same_owner_note(works[pair.first], works[pair.second]) if mine else "",
            ]
        )
    write_rows(folder / _TABLE, rows)
    found = SimilarityFound(len(works), len(comparison.pairs), len(clusters), PAGE)
    found.store(assignment)
    return folder / PAGE, found


def same_owner_note(first: Work, second: Work) -> str:
    return "the same student" if first.student == second.student else "one group"


def _as_html(
    assignment: str, comparison: Comparison, clusters: list[list[int]], problems: Sequence[str]
) -> str:
    environment = page_environment(_TEMPLATES)
    environment.filters |= {"printable": printable, "one_of": one_of, "text": _text}
    environment.globals["note"] = same_owner_note
    works, people = comparison.works, people_with(comparison.works)
    entries = [
        Entry(pair, works[pair.first], works[pair.second], side_by_side(works, pair, people))
        for pair in comparison.pairs[:_MAX_PAIRS]
    ]
    return environment.get_template("similar.html.j2").render(
        assignment=assignment,
        comparison=comparison,
        works=works,
        current=sum(not work.origin for work in works),
        earlier=sum(bool(work.origin) for work in works),
        clusters=clusters,
        entries=entries,
        problems=problems[:_MAX_PROBLEMS],
        more_problems=max(0, len(problems) - _MAX_PROBLEMS),
        table=_TABLE,
    )


def _text(line: str) -> str:
    """A line of code with everything unprintable made visible, and its indentation kept."""
    return printable(line.expandtabs(4).rstrip("\r"), None)

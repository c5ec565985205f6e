"""Suggestions for the score of a written answer. They are only shown: nothing here writes a grade."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from typing import Protocol

from rapidfuzz.fuzz import token_sort_ratio

from gradekit.course.rubrics import rubric_items
from gradekit.verdict.results import points_in_words
from gradekit_written.rubrics import items_in, without_unknown_items

GROUP = "gradekit.suggesters"
#: characters of an answer that are compared and that a suggester is given
COMPARED = 4_000
#: an answer less alike than this, of 100, is no reason for a suggestion
_ALIKE = 60
_NEIGHBORS = 3


@dataclass(frozen=True)
class GradedText:
    """An answer that a person has graded."""

    text: str
    score: float
    comment: str


@dataclass(frozen=True)
class Suggestion:
    """Points and a comment that a person may give, and the reason."""

    points: float
    comment: str
    reason: str


class Suggester(Protocol):
    """What an entry point of the group `gradekit.suggesters` names: called for one answer at a time."""

    def __call__(
        self, question: str, rubric: str, answer: str, graded: Sequence[GradedText]
    ) -> Suggestion | None:
        """Suggest a score for `answer`, or None. `graded` are answers of other students to this question."""


def nearest_graded(
    question: str, rubric: str, answer: str, graded: Sequence[GradedText]
) -> Suggestion | None:
    """The mean score of the (at most three) most similar graded answers, weighted by their similarity."""
    alike = [(token_sort_ratio(answer, one.text), one) for one in graded]
    near = sorted((pair for pair in alike if pair[0] >= _ALIKE), key=lambda pair: -pair[0])[:_NEIGHBORS]
    if not near:
        return None
    points = sum(ratio * one.score for ratio, one in near) / sum(ratio for ratio, _ in near)
    scores = ", ".join(f"{points_in_words(one.score)} ({ratio:.0f} % alike)" for ratio, one in near)
    return Suggestion(round(points * 2) / 2, near[0][1].comment, f"the most similar graded answers: {scores}")


def suggesters() -> dict[str, Suggester]:
    """All installed suggesters, by name."""
    return {point.name: point.load() for point in sorted(entry_points(group=GROUP), key=lambda one: one.name)}


def suggestion_from(
    suggester: Suggester, question: str, rubric: str, answer: str, graded: Sequence[GradedText], most: float
) -> Suggestion | str | None:
    """What a suggester says about an answer, with the points of the ideas that its comment names; a sentence if it fails or suggests points that can't be given."""
    try:
        found = suggester(question, rubric, answer[:COMPARED], graded)
        if found is None:
            return None
        points = float(found.points)
    except Exception as error:  # code of others must not stop the page
        return f"failed with {type(error).__name__}"
    if not (math.isfinite(points) and 0 <= points <= most):
        return f"suggested {points:g} of {most:g} points, which can't be given"
    return _adding_up(Suggestion(points, str(found.comment), str(found.reason)), rubric, most)


def _adding_up(found: Suggestion, rubric: str, most: float) -> Suggestion:
    """The suggestion with the points of the ideas in its comment, if it has some: formgrader would tick them."""
    items, _ = rubric_items(rubric)
    given, comment = items_in(found.comment, items), without_unknown_items(found.comment, items)
    if not given:
        return replace(found, comment=comment)
    points = min(most, sum(item.points for item in given))
    return Suggestion(points, comment, f"{found.reason}; the points are those of the ideas in the comment")

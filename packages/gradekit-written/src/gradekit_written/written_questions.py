"""The page of a class's written answers: grouped by likeness, with what was given for each."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import nbformat
import numpy as np
from rapidfuzz.fuzz import token_sort_ratio
from rapidfuzz.process import cdist

from gradekit.course import Assignment
from gradekit.course.cells import grade_id
from gradekit.grading.running_course import RunningCourse
from gradekit.page.markdown import safe_markdown
from gradekit.report.pages import folder_of, page_environment, save_page
from gradekit.verdict.results import points_in_words, score_in_words
from gradekit_written.answer_pages import STYLE, answer_as_html, class_room, question_as_html, text_shown
from gradekit_written.rubrics import rubric_of, with_numbers
from gradekit_written.suggesting import COMPARED, GradedText, Suggester, Suggestion, suggestion_from
from gradekit_written.written_answers import AnswerAsRead, AnswerReader, WrittenAnswer, answers_to_grade

WRITTEN_PAGE = "written.html"
_TEMPLATES = Path(__file__).parent / "templates"
#: answers at least this much alike, of 100, are in one group
_SAME = 85
_CLOSE = 1.0


@dataclass
class AnswerText:
    """An answer to a question, and by suggester what was suggested or why not.

    `equal_scores` are those of answers with the same text, if they differ.
    """

    of: WrittenAnswer
    read: AnswerAsRead
    suggested: dict[str, Suggestion | str] = field(default_factory=dict)
    equal_scores: list[float] = field(default_factory=list)

    @property
    def text(self) -> str:
        return self.read.text

    @property
    def judged_by_words(self) -> bool:
        """True if a suggestion may rely on the words of the answer."""
        return not (self.read.alone or self.read.pictures or self.read.blank or self.rest)

    @property
    def rest(self) -> str:
        """What is too far below to be compared word by word."""
        return self.text[COMPARED:]


@dataclass
class WrittenQuestion:
    """A question and the groups of its answers, the largest first.

    Those `alone` must be read one by one. `asked` is the question and the model answer, as HTML.
    """

    cell: str
    points: float
    rubric: str
    groups: list[list[AnswerText]]
    alone: list[AnswerText] = field(default_factory=list)
    asked: str = ""

    @property
    def answers(self) -> list[AnswerText]:
        return [*self.alone, *(answer for group in self.groups for answer in group)]

    @property
    def unequal_groups(self) -> list[int]:
        """The numbers of the groups in which equal texts have different scores."""
        return [
            number
            for number, group in enumerate(self.groups, 1)
            if any(answer.equal_scores for answer in group)
        ]

    def agreement(self) -> list[str]:
        """For each suggester, how near its suggestions are to the scores of people."""
        pairs: dict[str, list[float]] = {}
        for answer in self.answers:
            for name, found in answer.suggested.items():
                if isinstance(found, Suggestion) and answer.of.score is not None:
                    pairs.setdefault(name, []).append(abs(found.points - answer.of.score))
        return [
            f"{name}: {sum(one <= _CLOSE for one in apart)} of {len(apart)} suggestions are within "
            f"{_CLOSE:g} point of the person's score, on average {sum(apart) / len(apart):.1f} apart"
            for name, apart in pairs.items()
        ]


def alike_groups(texts: Sequence[str], kinds: Sequence[object] = ()) -> list[list[int]]:
    """Places of texts that are alike, directly or through others; largest group first, then by place.

    Args:
        kinds: of each text; texts of different kinds are not alike.
    """
    begun = [" ".join(text[:COMPARED].lower().split()) for text in texts]
    near = cdist(begun, begun, scorer=token_sort_ratio, score_cutoff=_SAME, dtype=np.uint8) > 0
    kinds = kinds or [None] * len(texts)
    left = set(range(len(texts)))
    groups = []
    for start in range(len(texts)):
        if start not in left:
            continue
        left.remove(start)
        group = [start]
        for place in group:
            new = sorted(other for other in left if near[place, other] and kinds[place] == kinds[other])
            left.difference_update(new)
            group += new
        groups.append(group)
    return sorted(groups, key=len, reverse=True)


def written_questions(
    course: RunningCourse, assignment: Assignment, asked: dict[str, Suggester]
) -> list[WrittenQuestion]:
    """All questions that people grade, with the answers of the class and suggestions for each."""
    by_question: dict[tuple[str, str], list[AnswerText]] = {}
    answers, reader = answers_to_grade(course, assignment), AnswerReader(course, assignment)
    with course.write_lock():
        for answer in answers:
            found = AnswerText(answer, reader.read(answer))
            by_question.setdefault((answer.notebook, answer.cell), []).append(found)
    return [_question(assignment, place, found, asked) for place, found in by_question.items()]


def _question(
    assignment: Assignment,
    place: tuple[str, str],
    answers: list[AnswerText],
    asked: dict[str, Suggester],
) -> WrittenQuestion:
    notebook, cell = place
    question, rubric = _question_above(assignment, notebook, cell), rubric_of(assignment, notebook, cell)
    found = grouped(cell, answers[0].of.points, question, rubric, answers, asked)
    return replace(found, asked=question_as_html(assignment, notebook, cell))


def grouped(
    cell: str,
    points: float,
    question: str,
    rubric: str,
    answers: list[AnswerText],
    asked: dict[str, Suggester],
) -> WrittenQuestion:
    """Group the answers to a question, and ask for suggestions about each that can be judged by its words."""
    by_words = [answer for answer in answers if answer.judged_by_words]
    for answer in by_words:
        graded = [
            GradedText(one.text[:COMPARED], one.of.score, one.of.comment)
            for one in by_words
            if one is not answer and one.of.score is not None
        ]
        for name, suggester in asked.items():
            found = suggestion_from(suggester, question, rubric, answer.text, graded, points)
            if found is not None:
                answer.suggested[name] = found
    alone = [answer for answer in answers if answer.read.alone]
    compared = [answer for answer in answers if not answer.read.alone]
    kinds = [(answer.read.pictures, answer.read.blank, answer.rest) for answer in compared]
    places = alike_groups([answer.text for answer in compared], kinds)
    groups = [[compared[one] for one in group] for group in places]
    for group in groups:
        _note_unequal_scores(group)
    return WrittenQuestion(cell, points, rubric, groups, alone)


def _note_unequal_scores(group: Sequence[AnswerText]) -> None:
    """Note at answers of a group, which have equal pictures, if others with the same text have other scores."""
    scores: dict[str, set[float]] = {}
    texts = [" ".join(answer.text.split()) for answer in group]
    for text, answer in zip(texts, group, strict=True):
        if answer.of.score is not None:
            scores.setdefault(text, set()).add(answer.of.score)
    for text, answer in zip(texts, group, strict=True):
        if len(found := scores.get(text, ())) > 1:
            answer.equal_scores = sorted(found)


def _question_above(assignment: Assignment, notebook: str, cell: str) -> str:
    path = assignment.source_folder / f"{notebook}.ipynb"
    cells = nbformat.read(path, as_version=4).cells if path.is_file() else []
    above = (str(before.source) for before, one in pairwise(cells) if grade_id(one) == cell)
    return next(above, "")


def written_as_html(assignment: str, questions: Sequence[WrittenQuestion]) -> str:
    """The page, with all text of strangers escaped or sanitized."""
    room = class_room()
    environment = page_environment(_TEMPLATES)
    environment.filters |= {
        "shown": text_shown,
        "plain": "{:g}".format,
        "words": points_in_words,
        "score": score_in_words,
        "markdown": safe_markdown,
        "numbered": with_numbers,
        "html": lambda answer: answer_as_html(answer.read, room),
    }
    template = environment.get_template("written.html.j2")
    return template.render(assignment=assignment, questions=questions, style=STYLE)


def write_written(assignment: Assignment, questions: Sequence[WrittenQuestion]) -> Path:
    """Write the page into the folder of the class report; returns its path."""
    path = folder_of(assignment) / WRITTEN_PAGE
    save_page(path, written_as_html(assignment.name, questions))
    return path

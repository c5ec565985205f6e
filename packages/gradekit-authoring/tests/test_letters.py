"""Letters to the students whose scores a regrade moved."""

import csv
from dataclasses import replace

import pytest

from gradekit.attempts import Shows
from gradekit_authoring.letters import letter_lines
from gradekit_authoring.regrade import CheckMove, Move

OLD, NEW = "torch.tensor([2.0, 8.0])), torch.tensor([1.0, 4.0])", "torch.tensor([3.0])), torch.tensor([1.5])"
CHECK = CheckMove("test_a", "The weights sum to 1.", "failed", "passed", 3.0, 3.0)
MOVE = Move("ada", "double", "half", 2.0, 5.0, 5.0, ["its checks were changed"], [CHECK])


@pytest.fixture
def changed(graded_class):
    """A graded class with an address of one student, and a check that `floor` now gets wrong, and `right`, too."""
    with graded_class.gradebook() as book:
        book.find_student("floor").email = "floor@example.edu"
        book.db.commit()
    checks = graded_class.checks.with_name("test_half.py")
    checks.write_text(checks.read_text().replace(OLD, NEW))
    for student in ("exits", "loop", "broken", "missing"):
        (graded_class.root / "submitted" / student).rename(graded_class.root / f"gone-{student}")
    return graded_class


def regrade(course, *options):
    return course.gradekit("regrade", "01_double", "--workers", "1", *options)


def letters(course):
    return sorted((course.root / "reports").glob("01_double/letters/*/*"))


@pytest.mark.slow
def test_everybody_whose_score_moved_gets_a_letter_about_nobody_else(changed, capsys):
    assert regrade(changed) == 0
    table, letter = sorted(letters(changed), key=lambda path: path.suffix)
    assert f"  1 letter: {letter.parent}\n" in capsys.readouterr().out
    assert letter.name == "floor.txt"
    text = letter.read_text()
    assert text.startswith("01_double: your score has changed\n\n")
    assert "\nhalf: 5 before, 2 of 5 points now.\n" in text
    assert "\n- Half of an even number. (3 points: passed before, failed now)\n  " in text
    assert not any(other in text for other in ("ada", "exception", "mistake", "blank"))
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [{**row, "text": ""} for row in rows] == [
        {
            "student": "floor",
            "email": "floor@example.edu",
            "subject": "01_double: your score has changed",
            "text": "",
        }
    ]
    assert rows[0]["text"] == text.partition("\n\n")[2].rstrip("\n")


@pytest.mark.thorough
def test_a_dry_run_writes_no_letter_that_could_be_sent(changed, capsys):
    assert regrade(changed, "--dry-run") == 0
    assert "letter" not in capsys.readouterr().out
    assert letters(changed) == []


@pytest.mark.thorough
def test_a_score_that_a_person_gave_has_not_moved_so_there_is_no_letter(changed):
    with changed.gradebook() as book:
        book.find_grade("test_half", "double", "01_double", "floor").manual_score = 4
        book.db.commit()
    assert regrade(changed) == 0
    assert letters(changed) == []


@pytest.mark.thorough
def test_a_letter_in_another_language_has_no_english_around_the_author_s_sentences(changed):
    config = changed.root / "nbgrader_config.py"
    config.write_text(
        config.read_text().replace("configure(c)", 'c.FeedbackPage.language = "de"\nconfigure(c)')
    )
    assert regrade(changed) == 0
    text = next(path for path in letters(changed) if path.suffix == ".txt").read_text()
    assert text.startswith("01_double: Deine Punktzahl hat sich geändert\n")
    assert "- Half of an even number. (3 Punkte: vorher bestanden, jetzt nicht bestanden)" in text


def test_new_and_removed_checks_and_other_points_are_told_apart():
    checks = [
        replace(CHECK, before=None, points_before=0.0),
        replace(CHECK, after=None, points=0.0),
        replace(CHECK, before="passed", points_before=1.0),
    ]
    lines = list(letter_lines([replace(MOVE, before=None, checks=checks)]))
    assert lines[0] == "Your submission was graded again, and the score of one exercise has changed."
    assert lines[2:6] == [
        "half: – before, 5 of 5 points now.",
        "- The weights sum to 1. (new check, 3 points: passed)",
        "- The weights sum to 1. (3 points: failed before, removed now)",
        "- The weights sum to 1. (worth 3 points now, 1 before)",
    ]


@pytest.mark.parametrize(
    ("shows", "shown"),
    [
        (Shows.EVERYTHING, ["0.5 instead of 1.", "Divide."]),
        (Shows.SENTENCES, ["Divide."]),
        (Shows.EXERCISES, []),
    ],
)
def test_before_the_deadline_a_letter_shows_no_more_than_the_page(shows, shown):
    check = replace(CHECK, after="failed", before="passed", message="0.5 instead of 1.", diagnosis="Divide.")
    lines = list(letter_lines([replace(MOVE, checks=[check])], shows))
    assert [line.strip() for line in lines if line.startswith("  ")] == shown
    assert any("The weights" in line for line in lines) is (shows is not Shows.EXERCISES)

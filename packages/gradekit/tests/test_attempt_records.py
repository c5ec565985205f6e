"""What is known about attempts is stored, and read back only if it is whole."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from gradekit.attempts import AttemptRecord, Attempts, Page, outcomes_of
from gradekit.course import CourseError
from gradekit.verdict.results import CheckResult, ExerciseResult, SubmissionResult

NOON = datetime(2026, 5, 3, 12, 0, 0, 123456, tzinfo=UTC)


def record(minutes: float = 0, points: float = 5, **values: object) -> AttemptRecord:
    time = NOON + timedelta(minutes=minutes)
    outcomes = {"double": {"test_double": {"test_value": "passed"}}}
    given = {
        "earned": {"double": points},
        "max_points": 10,
        "penalty": 0,
        "notebooks": outcomes,
        "due": time,
    } | values
    return AttemptRecord(handed_in=time, **given)


def stored(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def test_attempts_are_read_back_oldest_first(tmp_path: Path):
    attempts = Attempts.load(tmp_path, "01_double", "ada")
    assert attempts.records == []
    for minutes in (5, 0, 3):
        attempts.add(record(minutes, page=Page.RELEASED))
    attempts.store()
    read = Attempts.load(tmp_path, "01_double", "ada").records
    assert read == [record(minutes, page=Page.RELEASED) for minutes in (0, 3, 5)]


def test_an_attempt_replaces_the_one_that_was_handed_in_at_the_same_time(tmp_path: Path):
    attempts = Attempts.load(tmp_path, "01_double", "ada")
    attempts.add(record(page=Page.HELD))
    attempts.add(record(page=Page.RELEASED))
    assert attempts.records == [record(page=Page.RELEASED)]
    assert attempts.at(NOON) == record(page=Page.RELEASED)
    assert attempts.at(NOON + timedelta(microseconds=1)) is None


def test_the_score_is_what_is_left_after_the_penalty():
    assert record(points=5, penalty=2).score == 3
    assert record(points=5, penalty=7).score == 0


@pytest.mark.parametrize(
    "name",
    [
        "..",
        ".",
        "a/b",
        "../../gradebook",
        "Ada Lovelace",
        "é",
        "王芳",
        "a%2Fb",
        "x" * 250,
        "王" * 80,
        "\udce9",
    ],
)
def test_any_name_is_a_file_in_the_course_s_own_folder(tmp_path: Path, name):
    for names in (("01_double", name), (name, "ada")):
        attempts = Attempts.load(tmp_path, *names)
        attempts.add(record())
        attempts.store()
        assert Attempts.load(tmp_path, *names).records == [record()]
    files = stored(tmp_path)
    assert len(files) == 2
    assert all(path.parents[1] == tmp_path / ".gradekit" / "attempts" for path in files)


def test_students_with_similar_names_have_files_of_their_own(tmp_path: Path):
    for name in ("a/b", "a%2Fb", "a.b", "a b", "x" * 250, "x" * 251):
        attempts = Attempts.load(tmp_path, "01_double", name)
        assert attempts.records == []
        attempts.add(record())
        attempts.store()


@pytest.mark.parametrize(
    "change", ["", "{", '{"schema": 2, "attempts": []}', '{"schema": 1, "attempts": [{}]}']
)
def test_a_damaged_file_or_one_of_another_version_is_read_as_empty(tmp_path: Path, change):
    attempts = Attempts.load(tmp_path, "01_double", "ada")
    attempts.add(record())
    attempts.store()
    (path,) = stored(tmp_path)
    path.write_text(change)
    assert Attempts.load(tmp_path, "01_double", "ada").records == []


def test_attempts_of_a_later_version_are_not_misread(tmp_path: Path):
    attempts = Attempts.load(tmp_path, "01_double", "ada")
    attempts.add(record())
    attempts.store()
    (path,) = stored(tmp_path)
    content = msgspec.json.decode(path.read_bytes())
    path.write_bytes(msgspec.json.encode(content | {"schema": content["schema"] + 1}))
    assert Attempts.load(tmp_path, "01_double", "ada").records == []


def test_a_file_that_cannot_be_opened_is_reported_and_not_taken_for_empty(tmp_path: Path):
    (tmp_path / ".gradekit/attempts/01_double/ada.json").mkdir(parents=True)
    with pytest.raises(CourseError, match=r"ada\.json can't be read \(Is a directory\): make it readable"):
        Attempts.load(tmp_path, "01_double", "ada")


def test_a_record_keeps_the_outcome_of_every_check():
    checks = [
        CheckResult("test_a", "A holds.", 2, "passed"),
        CheckResult("test_b", "B holds.", 3, "timed out"),
    ]
    result = SubmissionResult("graded", exercises=[ExerciseResult("test_double", checks)])
    assert outcomes_of(result) == {"test_double": {"test_a": "passed", "test_b": "timed out"}}

"""How many pages a student gets in which time, and how an instructor sets that."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from traitlets import TraitError
from traitlets.config import Config

from gradekit.attempts import AttemptRules, Counts, Rule, Shows, turns
from gradekit.course import CourseError
from gradekit.course.configuration import read_configuration

NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)
DAY = 24 * 60


def at(*minutes: float) -> list[datetime]:
    return [NOON + timedelta(minutes=number) for number in minutes]


def waits(rule: Rule, *minutes: float) -> list[float]:
    """How many minutes each page is due after its hand-in."""
    times = at(*minutes)
    found = turns(rule, times)
    return [(turn.due - time) / timedelta(minutes=1) for turn, time in zip(found, times, strict=True)]


def limit(attempts: int, pause: float = 0, hours: float = 24) -> Rule:
    return Rule(attempts, timedelta(hours=hours), timedelta(minutes=pause))


def test_without_rules_every_page_is_due_at_once():
    found = turns(Rule(), at(0, 1, 1, 5))
    assert [(turn.number, turn.left, turn.until) for turn in found] == [(n, None, None) for n in (1, 2, 3, 4)]
    assert [turn.due for turn in found] == at(0, 1, 1, 5)


def test_pages_of_further_attempts_come_when_the_period_ends():
    assert waits(limit(2), 0, 60, 120, DAY - 1) == [0, 0, DAY - 120, 1]


def test_a_period_begins_with_a_hand_in_and_not_at_midnight():
    found = turns(limit(2), at(0, 60, 120))
    assert [turn.until for turn in found] == at(DAY, DAY, DAY)
    assert [turn.left for turn in found] == [1, 0, 0]


def test_the_next_hand_in_after_the_end_begins_a_new_period():
    found = turns(limit(1), at(0, 60, DAY, DAY + 30))
    assert [turn.due for turn in found] == at(0, DAY, DAY, 2 * DAY)
    assert [turn.until for turn in found] == at(DAY, DAY, 2 * DAY, 2 * DAY)


def test_attempts_are_numbered_over_all_periods():
    assert [turn.number for turn in turns(limit(1), at(0, 60, DAY + 1, 9 * DAY))] == [1, 2, 3, 4]


def test_after_a_pause_the_page_comes_at_once():
    assert waits(limit(0, pause=10), 0, 10, 25) == [0, 0, 0]


def test_hand_ins_within_one_pause_share_its_end():
    assert waits(limit(0, pause=10), 0, 3, 5, 12, 15) == [0, 7, 5, 8, 5]


def test_nobody_waits_longer_than_the_pause_however_often_they_hand_in():
    assert max(waits(limit(0, pause=10), *range(200))) <= 10


def test_a_pause_goes_on_over_the_end_of_a_period():
    assert waits(limit(1, pause=10), 0, 5, DAY + 2) == [0, DAY - 5, 8]


def test_no_page_is_held_when_the_deadline_and_its_grace_period_are_over():
    rule, deadline = Rule(attempts=1, grace=timedelta(minutes=10)), NOON + timedelta(minutes=60)
    found = turns(rule, at(0, 30, 65, 90), deadline)
    over = deadline + timedelta(minutes=10, seconds=1)
    # an hour and a half after noon, only a second chance can be handed in, which has its own rules
    assert [turn.due for turn in found[:3]] == [NOON, over, over]
    assert found[3].due == NOON + timedelta(minutes=DAY)


@pytest.mark.parametrize(
    "rule", [limit(1), limit(3, pause=7), limit(2, pause=90, hours=1), limit(0, pause=1)]
)
def test_no_page_is_due_before_its_hand_in_or_before_an_earlier_page(rule):
    times = at(0, 0, 1, 6, 8, 59, 61, 75, 300, DAY, DAY + 2, DAY + 3, 3 * DAY)
    dues = [turn.due for turn in turns(rule, times)]
    assert dues == sorted(dues)
    assert all(due >= time for due, time in zip(dues, times, strict=True))


def test_an_assignment_has_the_rules_of_the_course_and_its_own():
    config = Config(AttemptRules={"attempts": 5, "pause_minutes": 10})
    config.AttemptRules.per_assignment = {
        "02_attention": {"attempts": 3, "shows": "sentences", "counts": "best"}
    }
    rules = AttemptRules(config=config)
    assert rules.of("01_other") == limit(5, pause=10)
    assert rules.of("02_attention") == Rule(
        3, pause=timedelta(minutes=10), shows=Shows.SENTENCES, counts=Counts.BEST
    )


@pytest.mark.parametrize(
    "setting",
    [
        {"attempts": -1},
        {"attempts": 2.5},
        {"period_hours": 0},
        {"period_hours": float("inf")},
        {"period_hours": float("nan")},
        {"shows": "all"},
        {"counts": "first"},
        {"per_assignment": {"02": {"attempts": "many"}}},
        {"per_assignment": {"02": {"tries": 3}}},
        {"per_assignment": {"02": {"per_assignment": {}}}},
        {"per_assignment": {"02": 3}},
    ],
)
def test_a_wrong_setting_is_an_error(setting):
    with pytest.raises(TraitError):
        AttemptRules(**setting)


def test_a_wrong_setting_of_one_assignment_is_reported_with_its_file_and_line(tmp_path: Path):
    path = tmp_path / "nbgrader_config.py"
    path.write_text('c = get_config()\n\nc.AttemptRules.per_assignment = {"02_attention": {"tries": 3}}\n')
    with pytest.raises(CourseError) as error:
        read_configuration(tmp_path).require_valid("gradekit.attempts.AttemptRules")
    assert str(error.value) == (
        f"{path}, line 3: c.AttemptRules.per_assignment['02_attention']: there is no setting 'tries', only "
        "attempts, counts, grace_minutes, pause_minutes, period_hours, shows"
    )

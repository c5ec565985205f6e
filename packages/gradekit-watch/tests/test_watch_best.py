"""`gradekit watch`: the best attempt counts, and the second chance."""

import random
from datetime import timedelta

import nbformat
import pytest

from gradekit.attempts import Attempts

from .watching import FIRST, RIGHT, TRIPLE, Watching, exchange_of, until

pytestmark = pytest.mark.slow

BEST = "c.AttemptRules.counts = 'best'"
CHANCE = 'c.AssignLatePenalties.plugin_class = "gradekit.nbgrader_plugin.late.SecondChance"'
DETACHED = "def double(x):\n    return 2 * x.detach()"


@pytest.fixture
def exchange(generated, tmp_path):
    return exchange_of(generated, tmp_path / "exchange")


def answer_in(exchange, step: str) -> str:
    path = exchange.course.root / step / "ada" / "01_double" / "double.ipynb"
    return next(cell.source for cell in nbformat.read(path, as_version=4).cells if cell["id"] == "answer")


def in_place(exchange) -> tuple[float, str, str]:
    """What is in the gradebook, in submitted/ and in autograded/."""
    return exchange.score("ada"), answer_in(exchange, "submitted"), answer_in(exchange, "autograded")


def points(exchange) -> list[float]:
    return [record.points for record in Attempts.load(exchange.course.root, "01_double", "ada").records]


def test_the_best_attempt_is_in_the_gradebook_and_in_both_folders(exchange):
    exchange.settings(BEST)
    pages = [exchange.hand_in("ada", answer) for answer in (TRIPLE, DETACHED, TRIPLE)]
    assert exchange.watch() == 0
    assert points(exchange) == [3, 8, 3]
    assert in_place(exchange) == (8, DETACHED, DETACHED)
    assert "This attempt counts: it is your best so far." in exchange.page(pages[1])
    assert "Attempt 2, with 8 points, counts: it is your best so far." in exchange.page(pages[2])
    last = exchange.hand_in("ada", RIGHT)
    assert exchange.watch() == 0
    assert in_place(exchange) == (10, RIGHT, RIGHT)
    assert "This attempt counts: it is your best so far." in exchange.page(last)


def test_nothing_is_put_back_twice(exchange, capfd):
    exchange.settings(BEST)
    for answer in (DETACHED, TRIPLE):
        exchange.hand_in("ada", answer)
    assert exchange.watch() == 0
    assert "ada 01_double: attempt 1, with 8 points, counts and is in the gradebook" in capfd.readouterr().out
    assert exchange.watch() == 0
    assert "ada" not in capfd.readouterr().out


def test_when_the_last_one_counts_again_it_is_put_back(exchange):
    exchange.settings(BEST)
    for answer in (DETACHED, TRIPLE):
        exchange.hand_in("ada", answer)
    assert exchange.watch() == 0
    exchange.settings("c.AttemptRules.counts = 'last'")
    assert exchange.watch() == 0
    assert in_place(exchange) == (3, TRIPLE, TRIPLE)


def test_what_the_instructor_collects_stays(exchange):
    exchange.settings(BEST)
    for answer in (DETACHED, TRIPLE):
        exchange.hand_in("ada", answer)
    assert exchange.watch() == 0
    folder = exchange.course.root / "submitted/ada/01_double"
    nbformat.write(exchange.course.answer(TRIPLE), folder / "double.ipynb")
    (folder / "timestamp.txt").write_text("2026-02-01 12:00:00 UTC")
    assert exchange.course.gradekit("autograde", "01_double", "--workers", "1") == 0
    assert exchange.watch() == 0
    assert in_place(exchange) == (3, TRIPLE, TRIPLE)


def test_a_best_attempt_that_was_deleted_from_the_exchange_is_reported(exchange, capfd):
    exchange.settings(BEST)
    first = exchange.hand_in("ada", DETACHED)
    assert exchange.watch() == 0
    for path in first.iterdir():
        path.unlink()
    first.rmdir()
    exchange.hand_in("ada", TRIPLE)
    assert exchange.watch() == 1
    assert (
        "attempt 1, with 8 points, counts, but is not in the gradebook: it is no longer in the exchange"
        in capfd.readouterr().out
    )


def killed_after(exchange, attempts: int, seconds: float) -> bool:
    """Whether a start was killed, some time after so many attempts were graded, before it ended."""
    watching = Watching(exchange)
    until(lambda: len(points(exchange)) >= attempts or not watching.is_alive())
    return watching.kill_after(seconds)


@pytest.mark.thorough
@pytest.mark.parametrize("attempt", [0, 1])
def test_killed_at_any_time_the_next_start_puts_it_right(exchange, attempt):
    exchange.settings(BEST)
    for answer in (TRIPLE, DETACHED, TRIPLE):
        exchange.hand_in("ada", answer)
    chance = random.Random(attempt)
    # after the last of three attempts the best one is put back
    kills = [killed_after(exchange, attempts, chance.random() * 0.4) for attempts in range(4)]
    assert any(kills)
    assert exchange.watch() == 0
    assert points(exchange) == [3, 8, 3]
    assert in_place(exchange) == (8, DETACHED, DETACHED)


def test_a_folder_forgets_so_best_and_second_chances_need_the_exchange(exchange, capfd):
    exchange.settings(BEST)
    assert exchange.watch("--folder") != 0
    assert "c.AttemptRules.counts = 'best' needs nbgrader's exchange" in capfd.readouterr().err


def end(exchange) -> None:
    """Between the second and the third hand-in is the deadline."""
    with exchange.course.gradebook() as book:
        book.update_or_create_assignment(
            "01_double", duedate=(FIRST + timedelta(seconds=90)).replace(tzinfo=None)
        )


def test_a_second_chance_earns_a_share_and_further_hand_ins_are_refused(exchange, capfd):
    exchange.settings(CHANCE)
    end(exchange)
    first = exchange.hand_in("ada", RIGHT)
    last = exchange.hand_in("ada", TRIPLE)
    second = exchange.hand_in("ada", DETACHED)
    third = exchange.hand_in("ada", RIGHT)
    assert exchange.watch() == 1
    assert (
        "isn't a second chance: the second chance was used by the hand-in of 12:02 UTC"
        in capfd.readouterr().out
    )
    with exchange.course.gradebook() as book:
        submission = book.find_submission("01_double", "ada")
        assert (submission.score, submission.late_submission_penalty) == (8, 2.5)
    assert "attempt 2 had 3 points, this one has 8 points." in exchange.page(second)
    assert "5.5 of 15 points" in exchange.page(second)
    assert exchange.page(first) and exchange.page(last) and not exchange.page(third)


def test_a_worse_second_version_takes_nothing_away(exchange):
    exchange.settings(CHANCE)
    end(exchange)
    exchange.hand_in("ada", TRIPLE)
    exchange.hand_in("ada", DETACHED)
    worse = exchange.hand_in("ada", TRIPLE)
    assert exchange.watch() == 0
    assert in_place(exchange) == (8, DETACHED, DETACHED)
    assert "Attempt 2, with 8 points, counts." in exchange.page(worse)


def test_the_best_attempt_counts_also_if_a_later_hand_in_has_no_notebook(exchange, capfd):
    exchange.settings(BEST)
    for answer in (DETACHED, TRIPLE):
        exchange.hand_in("ada", answer)
    (exchange.hand_in("ada") / "double.ipynb").rename(exchange.handed_in[-1] / "report.pdf")
    assert exchange.watch() == 1
    printed = capfd.readouterr().out
    assert (
        "ada 01_double: not graded: it has no notebook, handed in at 12:02 UTC on 10 January, "
        "so the score of an earlier one stays\n" in printed
    )
    assert "ada 01_double: attempt 1, with 8 points, counts and is in the gradebook" in printed
    assert in_place(exchange) == (8, DETACHED, DETACHED)
    assert exchange.watch() == 1
    assert (exchange.score("ada"), answer_in(exchange, "autograded")) == (8, DETACHED)

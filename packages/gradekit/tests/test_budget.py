"""Rendering in a child process, with limits."""

import contextlib
import os
import time

import psutil
import pytest

from gradekit.page import PageBudget, TooCostly, render_in_child


def drawn(draw, seconds: float = 5, memory: int = 256, largest: int = 1_000_000) -> str:
    return render_in_child(draw, seconds, memory, largest)


def test_the_text_is_returned_unchanged():
    assert drawn(lambda: "é\n" * 100_000) == "é\n" * 100_000
    assert drawn(lambda: "") == ""


def test_rendering_has_no_other_effect_on_this_process():
    changed = []
    drawn(lambda: changed.append(1) or "x")
    assert changed == []


def endless() -> str:
    while True:
        pass


def endless_in_c() -> str:
    return str(sum(range(10**12)))


@pytest.mark.parametrize("draw", [endless, endless_in_c])
def test_what_takes_too_long_is_stopped(draw):
    with pytest.raises(TooCostly, match=r"more than 0\.2 s of CPU time"):
        drawn(draw, seconds=0.2)


def test_sleeping_does_not_count():
    assert drawn(lambda: time.sleep(0.5) or "x", seconds=0.3) == "x"


def test_what_takes_too_much_memory_is_stopped():
    with pytest.raises(TooCostly, match="MemoryError"):
        drawn(lambda: str(len(bytearray(600 * 2**20))), memory=256)


def test_what_becomes_too_large_is_stopped():
    with pytest.raises(TooCostly, match="larger than"):
        drawn(lambda: "x" * 2_000_000)


def fails() -> str:
    raise RuntimeError("\x1b[31mno")


def test_the_reason_of_a_failure_is_printable():
    with pytest.raises(TooCostly, match=r"^RuntimeError: \\x1b\[31mno$"):
        drawn(fails)


def test_a_process_that_exits_returns_no_text():
    with pytest.raises(TooCostly, match="its process ended"):
        drawn(lambda: os._exit(0))


def test_no_process_is_left_behind():
    before = psutil.Process().children()
    for draw in (lambda: "x", fails, endless):
        with contextlib.suppress(TooCostly):
            drawn(draw, seconds=0.1)
    assert psutil.Process().children() == before


def test_the_budget_limits_characters():
    budget = PageBudget(seconds=60, characters=10)
    assert budget.take(8) and not budget.take(3) and budget.take(2)
    assert not budget.out_of_time


def test_the_budget_limits_time():
    assert PageBudget(seconds=0, characters=10).out_of_time

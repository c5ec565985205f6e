"""When the time of code is over, by a clock and a usage that the test sets."""

from types import SimpleNamespace

import pytest

from sandbox_kernel import stopwatch
from sandbox_kernel.stopwatch import Breach, Stopwatch
from sandbox_kernel.usage import Usage


@pytest.fixture
def world(monkeypatch):
    found = SimpleNamespace(now=100.0, cpu=7.0, queued=3.0)
    monkeypatch.setattr(stopwatch.time, "monotonic", lambda: found.now)
    found.usage = lambda: Usage(found.cpu, found.queued)
    return found


def breach_after(world, watch, wall, cpu=0.0, queued=0.0):
    world.now += 0.1
    watch.is_over()  # the first look, soon after the start
    world.now += wall
    world.cpu += cpu
    if world.queued is not None:
        world.queued += queued
    watch.is_over()
    return watch.breach


def test_cpu_time_past_the_limit_is_over(world):
    watch = Stopwatch(world.usage, 5)
    assert breach_after(world, watch, wall=6, cpu=5.5) is Breach.CPU
    assert watch.reason == "ran for more than 5 s"


def test_a_busy_machine_takes_no_time_from_code_that_computes(world):
    assert breach_after(world, Stopwatch(world.usage, 5), wall=90, cpu=4.5, queued=85) is None


def test_code_that_sleeps_is_over_after_twice_the_limit(world):
    watch = Stopwatch(world.usage, 5)
    assert breach_after(world, watch, wall=9) is None
    assert breach_after(world, watch, wall=2) is Breach.ASLEEP
    assert watch.reason == "slept or waited for more than 10 s"


def test_time_in_the_queue_is_not_sleep(world):
    assert breach_after(world, Stopwatch(world.usage, 5), wall=60, queued=55) is None


def test_any_code_is_over_after_twenty_times_the_limit(world):
    watch = Stopwatch(world.usage, 5)
    assert breach_after(world, watch, wall=101, queued=101) is Breach.WALL
    assert watch.reason == "took more than 100 s in all"


def test_sleep_has_no_limit_if_the_time_in_the_queue_is_unknown(world):
    world.queued = None
    watch = Stopwatch(world.usage, 5)
    assert breach_after(world, watch, wall=99) is None
    assert breach_after(world, watch, wall=2) is Breach.WALL


def test_wall_time_counts_if_the_usage_is_unknown(world):
    world.usage = lambda: None
    watch = Stopwatch(world.usage, 5)
    assert breach_after(world, watch, wall=4) is None
    assert breach_after(world, watch, wall=2) is Breach.WALL
    assert watch.reason == "ran for more than 5 s"


def test_usage_before_the_start_does_not_count(world):
    world.cpu = 1000.0
    assert breach_after(world, Stopwatch(world.usage, 5).begin(), wall=5, cpu=4) is None

"""One check can take no more of the grader than its bounds."""

import resource
import signal
import threading

import pytest

from gradekit.session.limits import CheckOverrun, Limits, bounded
from gradekit.verdict.results import Status

torch = pytest.importorskip("torch", reason="torch is not installed")

BROADCASTS = """
def double(x):
    if x.shape == (3, 2):
        return torch.zeros(1, 60_000, dtype=torch.uint8)
    return torch.zeros(60_000, 1, dtype=torch.uint8)
"""

CHECKS = '''
import torch
from gradekit.checks import points


@points(6)
def test_difference(student):
    """The output for other sizes is the same."""
    gap = student.double(torch.ones(3, 2)) - student.double(torch.ones(2, 3))
    assert gap.double().abs().max() > 0


@points(4)
def test_value(student):
    """Twice one is two."""
    assert student.double(torch.ones(2)).dtype == torch.uint8
'''


@pytest.mark.parametrize(
    "take",
    [lambda: torch.rand(20_000, 1) - torch.rand(1, 20_000), lambda: [0] * 2**29, lambda: bytearray(2**31)],
    ids=["torch", "a list", "bytes"],
)
def test_memory_is_bounded(take):
    with pytest.raises(CheckOverrun, match="more than 512 MiB of memory"), bounded(60, 512):
        take()


def test_processor_time_is_bounded():
    with pytest.raises(CheckOverrun, match=r"more than 0\.2 s of CPU time"), bounded(0.2):
        sum(1 for _ in range(10**8))


def test_what_stays_inside_its_bounds_is_left_alone():
    with bounded():
        assert torch.zeros(2**20).sum() == 0


def test_another_error_stays_what_it_is():
    with pytest.raises(RuntimeError, match="must match"), bounded():
        torch.ones(2) + torch.ones(3)


def test_afterwards_everything_is_as_it_was():
    before = resource.getrlimit(resource.RLIMIT_DATA), signal.getsignal(signal.SIGPROF)
    with pytest.raises(KeyError), bounded():
        raise KeyError
    assert (resource.getrlimit(resource.RLIMIT_DATA), signal.getsignal(signal.SIGPROF)) == before
    assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)


def test_in_another_thread_memory_is_bounded_and_time_is_not():
    caught = []

    def run() -> None:
        try:
            with bounded(0.01, 512):
                sum(range(10**6))
                bytearray(2**31)
        except CheckOverrun as error:
            caught.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert caught == ["more than 512 MiB of memory"]


def test_one_inside_another_changes_nothing():
    with bounded():
        limit = resource.getrlimit(resource.RLIMIT_DATA)
        with bounded(1, 1):
            assert resource.getrlimit(resource.RLIMIT_DATA) == limit
        assert resource.getrlimit(resource.RLIMIT_DATA) == limit


def test_a_reply_that_a_check_broadcasts_costs_that_check_only(tiny_course, grade_answer):
    tiny_course.checks.write_text(CHECKS)
    result = grade_answer(BROADCASTS, Limits())
    first, second = result.exercises[0].checks
    assert first.outcome == "failed"
    assert first.message == (
        "The check was stopped: with the value that `double` returned (a tensor of shape (60000, 1)), it needs more "
        "than 1024 MiB of memory. Look at the shapes that the exercise asks for."
    )
    assert second.outcome == "passed"
    assert result.status == Status.GRADED

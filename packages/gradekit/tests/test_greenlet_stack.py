"""An error of torch while checks go on from another place of the C stack doesn't crash the grader."""

import subprocess
import sys

import pytest

PROGRAM = """
import functools, sys
import torch
from greenlet import getcurrent, greenlet
from gradekit.verdict.collected import _far_from_the_start

def loop():
    while True:
        main.switch()
        try:
            torch.ones(2, 3) - torch.ones(4, 5)
        except RuntimeError:
            pass

def by_min(levels, call):
    return call() if levels == 0 else min([0], key=lambda _: by_min(levels - 1, call) or 0)

def by_reduce(levels, call):
    return call() if levels == 0 else functools.reduce(lambda a, b: by_reduce(levels - 1, call), [0, 1])

main = getcurrent()
for start in range(3):
    for again in range(9):
        target = greenlet(loop if sys.argv[1] == "near" else lambda: _far_from_the_start(loop))
        by_min(start, target.switch)
        by_reduce(8, lambda: None)
        by_reduce(again, target.switch)
"""


@pytest.mark.slow
def test_an_error_of_torch_does_not_crash_far_from_the_start_of_a_greenlet():
    """With "near" instead of "far", the program crashes on Python 3.11 and 3.13, but nothing promises that it does."""
    pytest.importorskip("torch")
    done = subprocess.run([sys.executable, "-c", PROGRAM, "far"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr

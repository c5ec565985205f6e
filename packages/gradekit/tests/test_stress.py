"""On a busy machine, right answers keep their points: a short `make stress`."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

PACKAGE = Path(__file__).parents[1]
sys.path.append(str(PACKAGE))  # bench is not installed; last, so that gradekit is the installed one

from bench.busy import busy_processes  # noqa: E402


@pytest.mark.thorough
def test_right_answers_keep_their_points_beside_busy_processes_and_a_hog():
    """07 makes its first optimizer in a check, which takes seconds of CPU time."""
    small = ["--assignments", "07_inside_pretrained", "--rounds", "1", "--alternatives", "0"]
    small += ["--kinds", "both", "--busy", "2", "--hogs", "shells", "--hog-seconds", "5"]
    command = [sys.executable, "-m", "bench", "stress", *small]
    done = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 honest submissions, 1 with full marks" in done.stdout


def test_busy_processes_have_a_session_each_and_end_with_the_block():
    with busy_processes(2) as processes:
        assert [os.getsid(process.pid) for process in processes] == [process.pid for process in processes]
        assert all(process.poll() is None for process in processes)
    assert [process.returncode for process in processes] == [-signal.SIGKILL] * 2


def test_busy_processes_end_when_the_benchmark_is_killed():
    starting = "with busy_processes(1) as (process,): print(process.pid, flush=True); process.wait()"
    command = [sys.executable, "-c", f"from bench.busy import busy_processes\n{starting}"]
    benchmark = subprocess.Popen(command, cwd=PACKAGE, stdout=subprocess.PIPE, text=True)
    busy = psutil.Process(int(benchmark.stdout.readline()))
    benchmark.kill()
    benchmark.wait()
    busy.wait(timeout=30)
    assert not busy.is_running()

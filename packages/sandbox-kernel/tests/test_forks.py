"""A process that has used kernels in the sandbox can be forked, and its children can use them, too."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandbox_kernel import COLD, LIMITED, SANDBOX

EACH = pytest.mark.parametrize(
    "kernel",
    [
        SANDBOX,
        pytest.param(COLD, marks=pytest.mark.thorough),
        pytest.param(LIMITED, marks=pytest.mark.thorough),
    ],
)
_SECONDS = 300
_RUN = """
import os, sys, time
from nbclient import NotebookClient
from nbformat import v4

def run(kernel):
    notebook = v4.new_notebook(cells=[v4.new_code_cell("print(6 * 7)")])
    NotebookClient(notebook, kernel_name=kernel, timeout=200).execute()
    return notebook.cells[0].outputs[0]["text"].strip()

kernel = sys.argv[1]
"""
_POOL = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
print(run(kernel))
with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
    print(*pool.map(run, [kernel] * 2))
print(run(kernel))
"""
_CHILD_LEAVES = """
print(run(kernel), flush=True)
if os.fork() == 0:
    sys.exit()  # with everything that is registered for the end of the process
os.wait()
print(run(kernel), flush=True)
"""
_CHILD_STAYS = """
from jupyter_client.manager import KernelManager
manager = KernelManager(kernel_name=kernel)
manager.start_kernel()
started = manager.provisioner._started
child = os.fork()
if child == 0:
    time.sleep(600)
print(started.pid, child, flush=True)
time.sleep(600)
"""


def _finish(script: str, kernel: str) -> list[str]:
    """Run the script in a session of its own, and return what it prints; nothing of it may be left."""
    process = subprocess.Popen(
        [sys.executable, "-c", _RUN + script, kernel],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        printed = process.communicate(timeout=_SECONDS)[0]
        assert process.returncode == 0
        assert not _is_alive(-process.pid)
        return printed.split()
    finally:
        _end(-process.pid)


def _is_alive(number: int) -> bool:
    try:
        os.kill(number, 0) if number > 0 else os.killpg(-number, 0)
    except ProcessLookupError:
        return False
    return True


def _end(number: int) -> None:
    if _is_alive(number):
        os.kill(number, signal.SIGKILL) if number > 0 else os.killpg(-number, signal.SIGKILL)


@EACH
@pytest.mark.thorough
def test_forked_children_run_kernels_and_end(kernel):
    assert _finish(_POOL, kernel) == ["42"] * 4


@pytest.mark.slow
@EACH
def test_a_forked_child_that_exits_leaves_its_parents_server_alone(kernel):
    assert _finish(_CHILD_LEAVES, kernel) == ["42"] * 2


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", [SANDBOX, pytest.param(COLD, marks=pytest.mark.thorough)])
def test_a_forked_child_keeps_no_kernel_of_a_parent_that_is_killed(kernel):
    process = subprocess.Popen(
        [sys.executable, "-c", _RUN + _CHILD_STAYS, kernel], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    started, child = map(int, process.stdout.readline().split())
    try:
        process.kill()
        process.wait()
        deadline = time.monotonic() + 60
        while Path(f"/proc/{started}").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert (Path(f"/proc/{started}").exists(), _is_alive(child)) == (False, True)
    finally:
        _end(child)

"""A check of the meter: loads whose CPU time is known."""

import sys
from pathlib import Path

from bench.meter import measure

_BURN = "import time; start = time.process_time()\nwhile time.process_time() - start < 3: pass"
#: burns CPU in an orphaned grandchild
_ORPHAN = f"""
import os
if os.fork() == 0:
    if os.fork() == 0:
        os.setsid()
        exec({_BURN!r})
    os._exit(0)
"""
_KERNEL = """
from nbformat import v4
from gradekit.course.kernels import SANDBOX
from gradekit.session.runner import CellState
from gradekit.session.session import Session

session = Session(v4.new_notebook(cells=[v4.new_code_cell({source!r})]), kernel_name=SANDBOX)
session.run_cells()
assert all(run.state == CellState.OK for run in session.runs.values()), session.runs
session.close()
"""


def report(scratch: Path) -> list[str]:
    """A line for each load with the CPU time that was measured."""

    def cpu(source: str) -> float:
        return measure([sys.executable, "-c", source], scratch, scratch / "meter.log").cpu

    idle = min(cpu(_KERNEL.format(source="pass")) for _ in range(2))  # the first reads from the disk
    busy = cpu(_KERNEL.format(source=_BURN))
    return [
        "The meter on known loads:",
        f"  a process that was forked twice and left behind burns 3 s: {cpu(_ORPHAN):.2f} s counted",
        f"  a kernel in the sandbox burns 3 s: {busy - idle:.2f} s more counted than for an idle one",
    ]

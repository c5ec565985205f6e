"""Keeps a notebook from ending or silencing its own kernel by accident; runs in the kernel.

Its text is sent there (see `coursekit.student.channel`). It helps honest notebooks and protects nothing: code that
wants to end its process still can.
"""

import contextlib
import os
import random
import signal
import sys
import warnings
from io import StringIO
from typing import Any, NoReturn

import numpy as np

#: how a process ends that was forked for one request, and has sent the reply
ANSWERED = 17


def protect(shell: Any) -> None:
    """Make `exit()`, `quit()` and a shutdown end only their cell, and keep the output streams and the names.

    Args:
        shell: the kernel's `InteractiveShell`.
    """
    shell.ask_exit = _leave_the_cell
    shell.kernel.do_shutdown = _leave_the_cell
    for name in ("reset", "reset_selective"):
        shell.register_magic_function(_keep_the_names, "line", name)
    streams = {"stdout": sys.stdout, "stderr": sys.stderr}
    for stream in streams.values():
        stream.close = _stay_open  # type: ignore[method-assign]  # on purpose

    def restore(*_: object) -> None:
        for name, stream in streams.items():
            if getattr(sys, name) is not stream:
                setattr(sys, name, stream)

    shell.events.register("post_run_cell", restore)


def _leave_the_cell(*_: object, **__: object) -> NoReturn:
    raise SystemExit("the notebook asked its kernel to end; the cells below still run")


def _keep_the_names(_: str) -> None:
    print("Nothing was deleted: the answers are checked after the last cell, so %reset has no effect here.")


def _stay_open() -> None:
    """Leave the stream open: without it, nothing could be reported."""


def reset_torch() -> None:
    """Restore torch's settings for the whole process: threads, gradients, default dtype."""
    torch = sys.modules.get("torch")
    if torch is None:
        return
    with contextlib.suppress(RuntimeError):
        if torch.get_num_threads() != 1:
            torch.set_num_threads(1)
        if not torch.is_grad_enabled():
            torch.set_grad_enabled(True)
        if torch.get_default_dtype() != torch.float32:
            torch.set_default_dtype(torch.float32)


def set_seed(seed: int) -> None:
    """Seed the random numbers of Python, NumPy and torch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    if torch := sys.modules.get("torch"):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed also formats a stack, for CUDA


def is_answered_by_fork() -> bool:
    """Fork a process that answers the next request; False in that process, True in this one once it has ended.

    So a request leaves nothing in this process. If the other one ended in any other way, so does this one, as it would
    have done without it. Interrupts are passed on.
    """
    if sys.platform != "linux":  # elsewhere, a process with threads may not survive a fork
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        sys.stdout = sys.stderr = StringIO()  # the kernel's streams belong to threads that weren't forked
        return False
    before = signal.signal(signal.SIGINT, lambda *_: os.kill(child, signal.SIGINT))
    try:
        _, status = os.waitpid(child, 0)
    finally:
        signal.signal(signal.SIGINT, before)
    if os.waitstatus_to_exitcode(status) != ANSWERED:
        os._exit(1)
    return True

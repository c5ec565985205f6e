"""The kernel's own process: kept from ending or falling silent by accident, reset before calls, and forked; runs in it.

Its text is sent there (see `gradekit.session.channel`). It helps honest notebooks and protects nothing: code that
wants to end its process still can.
"""

import builtins
import contextlib
import gc
import importlib.abc
import importlib.util
import os
import random
import re
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from io import StringIO
from select import select
from threading import Lock, Thread
from time import monotonic
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

#: how a process ends that was forked for one request, and has sent the reply
ANSWERED = 17
#: how long the end of a cell is delayed at most by processes that still write
_READ_SECONDS = 0.2


def protect(shell: Any) -> None:
    """Make `exit()`, `quit()` and a shutdown end only their cell, and keep the output streams and the names.

    Args:
        shell: the kernel's `InteractiveShell`.
    """
    shell.ask_exit = shell.kernel.do_shutdown = _leave_the_cell
    for name in ("reset", "reset_selective"):
        shell.register_magic_function(_keep_the_names, "line", name)
    draw_without_screen(shell)
    streams = {"stdout": sys.stdout, "stderr": sys.stderr}
    descriptors = _Descriptors(list(streams.values()))
    for stream in streams.values():
        stream.close = lambda: None  # type: ignore[method-assign]  # without them, nothing could be reported

    def restore(*_: object) -> None:
        for name, stream in streams.items():
            if getattr(sys, name) is not stream:
                setattr(sys, name, stream)
        descriptors.read()

    shell.events.register("post_run_cell", restore)


class _Descriptors:
    """Reads the descriptors 1 and 2 in place of ipykernel's threads: what those pass on after a cell's end is lost."""

    def __init__(self, streams: Sequence[Any]) -> None:
        self._reading, self._process = Lock(), os.getpid()
        self._streams = {}
        for number, stream in enumerate(streams, 1):
            if getattr(stream, "_fid", None) is not None:  # ipykernel reads it here
                pipe, end = os.pipe()
                os.dup2(end, number)  # `end` stays open as well: a cell may close the descriptor
                self._streams[pipe] = stream
        Thread(target=self._follow, daemon=True).start()

    def _follow(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while select(self._streams, (), ()):
                self.read()

    def read(self) -> None:
        """Pass on what has been written, for a limited time if processes still write."""
        with contextlib.suppress(OSError, ValueError), self._reading:
            end = monotonic() + _READ_SECONDS
            while os.getpid() == self._process and (ready := select(self._streams, (), (), 0)[0]):
                for pipe in ready:  # little at once, or what never ends would fill the memory
                    self._streams[pipe].write(os.read(pipe, 1_000).decode(errors="replace"))
                if monotonic() > end:
                    break


#: backends of matplotlib that need a screen, or a browser that runs scripts
_BACKENDS = ("tk", "qt", "qt4", "qt5", "qt6", "wx", "gtk", "gtk3", "gtk4", "osx", "macosx", "nb", "web")
_MODULES = {
    f"matplotlib.backends.backend_{name}{kind}" for name in _BACKENDS for kind in ("", "agg", "cairo")
}
#: what is written in a cell that chooses a backend
_DRAWS = "matplotlib|pylab|MPLBACKEND"
_SCREENS = {f"{name}{kind}" for name in (*_BACKENDS, "notebook", "widget", "ipympl") for kind in ("", "agg")}


def draw_without_screen(shell: Any) -> None:
    """Draw figures into the notebook where it asks for a window, as with `%matplotlib qt`; there is no screen."""
    finder = _Inline(shell)
    sys.meta_path.insert(0, finder)
    for name in ("matplotlib", "pylab"):
        shell.register_magic_function(_inline_magic(shell, name), "line", name)

    def back_to_inline(*_: object) -> None:
        if finder.used:  # IPython shows figures at the end of a cell only if the backend has its own name
            finder.used = False
            from matplotlib_inline.backend_inline import flush_figures

            flush_figures()
            shell.run_line_magic("matplotlib", "inline")

    def import_first(cell: Any) -> None:
        # as in a kernel that was forked with it, before the cell can choose something else
        if "matplotlib.pyplot" not in sys.modules and re.search(_DRAWS, cell.raw_cell or ""):
            with contextlib.suppress(ImportError):
                importlib.import_module("matplotlib.pyplot")

    shell.events.register("pre_run_cell", import_first)
    shell.events.register("post_run_cell", back_to_inline)


class _Inline(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds matplotlib's own backend for notebooks in place of those that need a screen."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self.used = False

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        return importlib.util.spec_from_loader(fullname, self) if fullname in _MODULES else None

    def exec_module(self, module: ModuleType) -> None:
        from matplotlib_inline import backend_inline

        own = {name: value for name, value in vars(backend_inline).items() if not name.startswith("__")}
        vars(module).update(own)
        backend_inline.configure_inline_support(self._shell, "inline")  # or it shows figures as text
        self.used = True
        _note_inline(module.__name__.rpartition("_")[2])


def _inline_magic(shell: Any, name: str) -> Callable[[str], object]:
    original = shell.find_line_magic(name)

    def magic(line: str) -> object:
        words = line.split()
        wanted = next((word for word in words if word.lower() in _SCREENS), "")
        if wanted:
            _note_inline(wanted)
        return original(" ".join("inline" if word == wanted else word for word in words))

    return magic


def _note_inline(backend: str) -> None:
    print(f"There is no screen here, so figures are drawn into the notebook, not with {backend}.")


def _leave_the_cell(*_: object, **__: object) -> NoReturn:
    raise SystemExit("the notebook asked its kernel to end; the cells below still run")


def _keep_the_names(_: str) -> None:
    print("Nothing was deleted: the answers are checked after the last cell, so %reset has no effect here.")


class BuiltIn:
    """Python's own functions and classes. A cell may delete one, or give its name to a number, which the agent, too, would find."""

    def __init__(self) -> None:
        self._own: dict[str, Any] = {}
        self._names, self._callable, self._all, self._map = vars(builtins), callable, all, map

    def remember(self) -> None:
        kinds = (type, type(len))
        self._own = {name: value for name, value in self._names.items() if isinstance(value, kinds)}

    def put_back(self) -> None:
        """Restore those that nothing can call any more; others may be replaced on purpose."""
        if self._all(self._map(self._callable, self._map(self._names.get, self._own))):
            return
        lost = {name: own for name, own in self._own.items() if not self._callable(self._names.get(name))}
        self._names.update(lost)


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


def torch_settings() -> tuple[bool, Any] | None:
    """Whether torch records gradients, and its default dtype; None without torch."""
    torch = sys.modules.get("torch")
    return None if torch is None else (torch.is_grad_enabled(), torch.get_default_dtype())


def settings_put_back(settings: tuple[bool, Any] | None) -> list[str]:
    """Restore torch's settings, and return what they were, if they differ: `on`, `off` or a dtype."""
    found = torch_settings()
    if found == settings or found is None:
        return []
    torch = sys.modules["torch"]
    records, dtype = settings or (True, torch.float32)
    changed = []
    if found[0] != records:
        changed.append("on" if found[0] else "off")
        torch.set_grad_enabled(records)
    if found[1] != dtype:
        changed.append(str(found[1]).removeprefix("torch."))
        torch.set_default_dtype(dtype)
    return changed


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
        gc.freeze()  # collecting garbage would copy all memory that the two processes share
        sys.stdout = sys.stderr = StringIO()  # the kernel's streams belong to threads that weren't forked
        return False
    before = signal.signal(signal.SIGINT, lambda *_: os.kill(child, signal.SIGINT))
    try:
        # still there afterwards, should an interrupt be passed on now
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    finally:
        signal.signal(signal.SIGINT, before)
    _, status = os.waitpid(child, 0)
    if os.waitstatus_to_exitcode(status) != ANSWERED:
        os._exit(1)
    return True

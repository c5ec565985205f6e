"""What not every operating system has: locks, forks, limits of a process, signals, owners, how files are opened.

No other module asks for these. Windows lacks `fcntl`, `pwd` and `resource`, so they are imported by the functions that use them:
a command that needs one ends with a sentence (`gradekit.cli`), and commands that only read run without.
"""

import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, BinaryIO, TypeAlias

if TYPE_CHECKING:
    import sqlite3
    from multiprocessing.context import ForkContext, ForkServerContext

    Forks: TypeAlias = ForkContext | ForkServerContext


_PR_SET_PDEATHSIG = 1
_MEBIBYTE = 2**20


def open_safely(path: str | Path, folder: int | None = None) -> BinaryIO:
    """Open a file for reading, without waiting for a device or a pipe; `folder` is a descriptor of the folder that it is in.

    Raises:
        OSError: it is a link, or can't be read.
    """
    if not hasattr(os, "O_NOFOLLOW") and os.path.islink(path):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    flags = _flags("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
    return open(os.open(path, flags, dir_fd=folder), "rb")


def open_folder(name: str, above: int) -> int:
    """Return a descriptor of a folder in the folder `above`, without following a link.

    Raises:
        OSError: it isn't a folder, or can't be read.
    """
    return os.open(name, _flags("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC"), dir_fd=above)


def _flags(*names: str) -> int:
    """Those that this system has, for a file that is read."""
    return os.O_RDONLY | sum(getattr(os, name, 0) for name in names)


def folders_below(place: Path) -> Iterator[tuple[str, list[str], list[str], int]]:
    """Walk as `os.walk` does, without following links; also yields a descriptor of each folder."""
    return os.fwalk(place)


def name_of_owner(user: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"the unknown user {user}"


def locked_file(path: Path, wait: bool = True) -> ExitStack:
    """Lock a file with no content until what is returned is closed, or this process and its forks have ended.

    Raises:
        BlockingIOError: another process has it; only without `wait`.
    """
    path.parent.mkdir(exist_ok=True)
    held = ExitStack()
    try:
        import fcntl
    except ModuleNotFoundError:
        held.enter_context(closing(_locked_database(path, wait)))
    else:
        file = held.enter_context(path.open("a"))
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    return held


def _locked_database(path: Path, wait: bool) -> "sqlite3.Connection":
    """An empty database: SQLite's locks work, and end with the process, on every system."""
    import sqlite3

    database = sqlite3.connect(path, timeout=0.5, isolation_level=None)
    while True:
        try:
            database.execute("BEGIN EXCLUSIVE")
            return database
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise OSError(f"{path}: {error}") from error
            if not wait:
                raise BlockingIOError(f"{path}: {error}") from error


def lock_for_this_process(file: IO[str], shared: bool = False) -> bool:
    """Lock a file until this process closes it, whatever its forks do; False if another process has it."""
    import fcntl

    try:
        fcntl.lockf(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def data_limit(mebibytes: int) -> Iterator[None]:
    """Limit the memory that the code inside may use in addition to what there is now; not where /proc is missing."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    held = _data_bytes()
    wanted = held + mebibytes * _MEBIBYTE
    set_here = held > 0 and (soft == resource.RLIM_INFINITY or wanted < soft)
    if set_here:
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))
    try:
        yield
    finally:
        if set_here:
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _data_bytes() -> int:
    """The private memory of this process; 0 if unknown."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


@contextmanager
def cpu_alarm(seconds: float, ring: Callable[[], None]) -> Iterator[None]:
    """Call `ring`, which may raise an exception, if the code inside uses more CPU time; only in the main thread."""
    running = True

    def stop(number: int, frame: FrameType | None) -> None:
        if running:
            ring()

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1)  # again each second, in case something caught the first
    try:
        yield
    finally:
        running = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def ending_signals(react: Callable[[], None]) -> Iterator[None]:
    """Call `react` on SIGTERM and Ctrl-C; forks inherit this, but ignore them, since they end with this process."""
    process = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        if os.getpid() == process:
            react()

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def kill_session(leader: int) -> None:
    """Kill a process that has a session of its own, with all that it has started there."""
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def output_of_fork(work: Callable[[], bytes], seconds: float, max_bytes: int) -> tuple[bytes, bool]:
    """Call `work` in a fork of this process, which ends without any cleanup, and prints no errors.

    Args:
        seconds: CPU time, so a busy machine makes no difference.

    Returns:
        At most `max_bytes` of what `work` returned, and whether the fork was stopped since it took too long.
    """
    import resource

    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(out)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            signal.signal(signal.SIGPROF, signal.SIG_DFL)  # kills the process even inside C code
            signal.setitimer(signal.ITIMER_PROF, seconds)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            with open(into, "wb") as pipe:
                pipe.write(work())
        finally:
            os._exit(0)
    os.close(into)
    try:
        with open(out, "rb") as file:
            received = file.read(max_bytes)
    finally:
        with suppress(ProcessLookupError):
            # its output has arrived, or is too large
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    return received, os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF


def forks_of_this() -> "Forks":
    """What starts processes as forks of this one, whose other threads may hold locks at that moment."""
    import multiprocessing

    return multiprocessing.get_context("fork")


def ends_by_itself(seconds: float) -> None:
    """Have this process ended by SIGTERM, and after these seconds, unless this is called again before."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.alarm(int(seconds))


def forking() -> "Forks | None":
    """The same; None if this process has other threads."""
    one_thread = sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1
    return forks_of_this() if one_thread else None


def forking_server(modules: Sequence[str]) -> "Forks":
    """What starts processes as forks of a server with one thread, which imports these modules; those not installed are skipped."""
    import multiprocessing
    from multiprocessing import forkserver

    multiprocessing.set_forkserver_preload(list(modules))
    forkserver.ensure_running()
    return multiprocessing.get_context("forkserver")


def end_with_parent() -> None:
    """Have this process killed when its parent ends, even in the middle of a computation; on Linux only."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

"""The list of system calls that code in the sandbox may make, enforced by a seccomp filter; see seccomp(2).

The list is call_numbers.txt. It follows Docker's default profile and leaves out calls that use up a quota of the user or
the machine (inotify, AIO, keys, message queues), hold memory outside of any process (memfd, System V, vmsplice), or
are not needed (ptrace, mounts, namespaces, io_uring, bpf).
"""

import ctypes
import errno
import os
from functools import cache
from pathlib import Path

_TABLE = Path(__file__).with_name("call_numbers.txt")
#: for each machine: its column in the table, and the value of AUDIT_ARCH
_MACHINES = {"x86_64": (1, 0xC000003E), "aarch64": (2, 0xC00000B7)}
_OTHER_TABLE = 0x40000000  # calls of x32, on x86_64, have numbers from here on

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_IF_EQUAL, _IF_ABOVE, _IF_AT_LEAST = 0x15, 0x25, 0x35
_ALLOW, _REFUSE, _UNKNOWN = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
_IGNORE = 0x00050000  # the call does nothing, and returns 0
_NUMBER, _MACHINE = 0, 4  # offsets in struct seccomp_data
_PR_SET_SECCOMP, _FILTER = 22, 2

_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_NEW_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
# larger pipes, and notices and leases on files, use up quotas of the user
_F_SETLEASE, _F_NOTIFY, _F_SETPIPE_SZ = 1024, 1026, 1031
_SOL_SOCKET, _BUFFER_SIZES = 1, (7, 8, 32, 33)  # a larger buffer is memory outside of any process
_SO_LINGER = 13  # the last process to close the socket would wait: the grader, if it is passed on
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C  # typing into a terminal

Step = tuple[int, int, int, int]


def known(machine: str) -> bool:
    """Whether there is a list for this machine, such as "x86_64"; without one no call is refused."""
    return machine in _MACHINES


def numbers(machine: str) -> dict[str, int]:
    """Return the names of the listed calls and their numbers on this machine."""
    column = _MACHINES[machine][0]
    rows = [line.split() for line in _TABLE.read_text().splitlines() if line and not line.startswith("#")]
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}


def program(machine: str) -> list[Step]:
    """Return the filter as BPF instructions: (code, instructions to skip if true, if false, value)."""
    calls = numbers(machine)
    newest = max(calls.values())
    looked_at = {
        "socket": [*_only(0, _AF_UNIX, _AF_INET, _AF_INET6), *_if_equal(0, _AF_NETLINK, _only(2, 0))],
        "socketpair": _only(0, _AF_UNIX),
        "clone": [_load(0), (_AND, 0, 0, _NEW_NAMESPACES), (_IF_EQUAL, 0, 1, 0), _end(_ALLOW)],
        "clone3": [_end(_UNKNOWN)],  # a filter can't see its flags; glibc falls back to clone
        "fcntl": _all_but(1, _F_SETLEASE, _F_NOTIFY, _F_SETPIPE_SZ),
        "ioctl": _all_but(1, _TIOCSTI, _TIOCLINUX),
        "setsockopt": [
            *(_load(1), (_IF_EQUAL, 1, 0, _SOL_SOCKET), _end(_ALLOW)),
            *_if_equal(2, _SO_LINGER, [_end(_IGNORE)]),  # jupyter_client turns it off, and would fail
            *_all_but(2, *_BUFFER_SIZES),
        ],
    }
    steps = [_load_word(_MACHINE), (_IF_EQUAL, 1, 0, _MACHINES[machine][1]), _end(_REFUSE)]
    steps += [_load_word(_NUMBER), (_IF_AT_LEAST, 0, 1, _OTHER_TABLE), _end(_REFUSE)]
    # "unknown" lets a C library fall back from a call that is newer than this list
    steps += [(_IF_ABOVE, 0, 1, newest), _end(_UNKNOWN)]
    for name, look in looked_at.items():
        steps += [(_IF_EQUAL, 0, len(look) + 1, calls[name]), *look, _end(_REFUSE)]
    for first, last in _runs({number for name, number in calls.items() if name not in looked_at}):
        steps += [(_IF_AT_LEAST, 0, 2, first), (_IF_ABOVE, 1, 0, last), _end(_ALLOW)]
    return [*steps, _end(_REFUSE)]


def _end(action: int) -> Step:
    return (_RETURN, 0, 0, action)


def _load_word(offset: int) -> Step:
    return (_LOAD, 0, 0, offset)


def _load(argument: int) -> Step:
    """Load the lower half of an argument, which is all that the kernel reads of an int."""
    return _load_word(16 + 8 * argument)


def _only(argument: int, *values: int) -> list[Step]:
    """Allow these values."""
    return [_load(argument), *(step for value in values for step in ((_IF_EQUAL, 0, 1, value), _end(_ALLOW)))]


def _all_but(argument: int, *values: int) -> list[Step]:
    """Allow all values except these."""
    refused = [step for value in values for step in ((_IF_EQUAL, 0, 1, value), _end(_REFUSE))]
    return [_load(argument), *refused, _end(_ALLOW)]


def _if_equal(argument: int, value: int, then: list[Step]) -> list[Step]:
    return [_load(argument), (_IF_EQUAL, 0, len(then), value), *then]


def _runs(found: set[int]) -> list[tuple[int, int]]:
    """Return the first and last number of each run of consecutive numbers."""
    firsts = sorted(number for number in found if number - 1 not in found)
    lasts = sorted(number for number in found if number + 1 not in found)
    return list(zip(firsts, lasts, strict=True))


class _Step(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("yes", ctypes.c_uint8),
        ("no", ctypes.c_uint8),
        ("k", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.POINTER(_Step)))


@cache
def filter_of(machine: str) -> _Program:
    """The filter as the system takes it. A server calls this before it forks, since it takes milliseconds."""
    steps = program(machine)
    return _Program(len(steps), (_Step * len(steps))(*(_Step(*step) for step in steps)))


def refuse_calls() -> None:
    """Make every call that isn't listed fail, in this process and its descendants. Requires no_new_privs.

    Raises:
        OSError: the system rejects the filter.
    """
    machine = os.uname().machine
    if not known(machine):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(filter_of(machine)), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")

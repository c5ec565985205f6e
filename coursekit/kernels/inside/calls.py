"""System calls that a student's code has no use for, refused by a seccomp filter; see seccomp(2).

Most of them hold memory that belongs to no process, so that no limit and no watch would count it.
"""

import ctypes
import errno
import os

# by machine: the value of AUDIT_ARCH, and the calls' numbers
_MACHINES = {
    "x86_64": (
        0xC000003E,
        {
            **{"memfd_create": 319, "memfd_secret": 447, "shmget": 29, "msgget": 68, "semget": 64},
            **{"mq_open": 240, "add_key": 248, "request_key": 249, "keyctl": 250},
            **{"ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "bpf": 321},
            **{"io_uring_setup": 425, "userfaultfd": 323, "perf_event_open": 298},
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            **{"memfd_create": 279, "memfd_secret": 447, "shmget": 194, "msgget": 186, "semget": 190},
            **{"mq_open": 180, "add_key": 217, "request_key": 218, "keyctl": 219},
            **{"ptrace": 117, "process_vm_readv": 270, "process_vm_writev": 271, "bpf": 280},
            **{"io_uring_setup": 425, "userfaultfd": 282, "perf_event_open": 241},
        },
    ),
}
_OTHER_TABLE = 0x40000000  # from here on x86_64 counts the calls of another table

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_NUMBER, _MACHINE = 0, 4  # places in what the filter looks at
_PR_SET_SECCOMP, _FILTER = 22, 2


class _Step(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("yes", ctypes.c_uint8),
        ("no", ctypes.c_uint8),
        ("k", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.POINTER(_Step)))


def refuse_calls() -> None:
    """Have the calls fail with EPERM, in this process and all that come of it. It needs no_new_privs."""
    machine, calls = _MACHINES.get(os.uname().machine, (0, {}))
    if not calls:
        return
    steps = [
        (_LOAD, 0, 0, _MACHINE),
        (_IF_EQUAL, 1, 0, machine),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _NUMBER),
    ]
    steps += [(_IF_AT_LEAST, 0, 1, _OTHER_TABLE), (_RETURN, 0, 0, _REFUSE)]
    for number in calls.values():
        steps += [(_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    steps += [(_RETURN, 0, 0, _ALLOW)]
    array = (_Step * len(steps))(*(_Step(*step) for step in steps))
    program = _Program(len(steps), array)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")

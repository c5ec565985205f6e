"""Isolating a process: namespaces, private folders, limits, dropped privileges.

Python 3.11 has no `os.unshare` and no `mount`, so this calls the C library. Linux only; see namespaces(7),
user_namespaces(7) and capabilities(7).
"""

import ctypes
import fcntl
import os
import resource
import socket
import stat
import struct
from collections.abc import Sequence
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS = 0x00020000, 0x02000000, 0x04000000
CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x08000000, 0x10000000, 0x20000000, 0x40000000
EVERYTHING = (
    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET | CLONE_NEWCGROUP
)

_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_BIND, _MS_REC, _MS_PRIVATE = 2, 4, 8, 0x1000, 0x4000, 0x40000
_PR_SET_DUMPABLE, _PR_SET_KEEPCAPS, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 4, 8, 24, 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_CAPABILITY_VERSION_3 = 0x20080522
_CAP_SETGID, _CAP_SETUID = 6, 7
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1  # see netdevice(7)
_MADV_COLLAPSE, _HUGE_PAGE = 25, 2**21
#: pseudo-terminals of one kernel; the machine has 4,096
_TERMINALS = 32


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(kind: str, target: str, flags: int = 0, options: str = "", source: str | None = None) -> None:
    _check(
        _libc.mount(
            (source or kind).encode(), target.encode(), kind.encode() or None, flags, options.encode()
        ),
        f"mount {target}",
    )


def become(user: int) -> None:
    """Become this user for good. /proc/<pid>/root stays readable from outside."""
    _change_user(user)
    _set_capabilities()
    _check(_libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0), "prctl")


def hide_memory() -> None:
    """Keep other processes of this user from reading or changing this one."""
    _check(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl")


def serve_as(user: int) -> None:
    """Become this user, and keep only root's right to turn forks into different users."""
    _check(_libc.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0), "prctl")
    _change_user(user)
    _check(_libc.prctl(_PR_SET_KEEPCAPS, 0, 0, 0, 0), "prctl")
    _set_capabilities(_CAP_SETGID, _CAP_SETUID)


def _change_user(user: int) -> None:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)


def _set_capabilities(*kept: int) -> None:
    """Keep only these capabilities of the process."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    bits = sum(1 << number for number in kept)
    _check(_libc.capset(header, (ctypes.c_uint32 * 6)(bits, bits)), "capset")


def enter_namespaces(flags: int) -> None:
    """Move this process to new namespaces; a new pid namespace starts with its next child."""
    user, group = os.getuid(), os.getgid()
    _check(_libc.unshare(flags), "unshare")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def mount_proc() -> None:
    """Mount a /proc that shows only the processes of this pid namespace."""
    mount("proc", "/proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)


def private_folders(targets: Sequence[str], mebibytes: int, kept: Sequence[str]) -> None:
    """Mount empty writable folders at `targets`, with one size limit for all of them together.

    The files and folders `kept`, which are in some of them, are mounted there again; those that this sandbox was started
    without are left out, such as a font list that is newer.
    """
    scratch = targets[0]
    again = {path: os.open(path, os.O_PATH) for path in kept if os.path.lexists(path)}
    mount("none", "/", _MS_REC | _MS_PRIVATE)
    options = f"mode=0755,size={mebibytes}m,nr_inodes={64 * mebibytes}"
    mount("tmpfs", scratch, _MS_NOSUID | _MS_NODEV, options)
    for number, _ in enumerate(targets):
        os.mkdir(f"{scratch}/{number}")
    for number, target in reversed(list(enumerate(targets))):  # the first would hide the others
        mount("", target, _MS_BIND, source=f"{scratch}/{number}")
    for path, descriptor in again.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            Path(path).mkdir(exist_ok=True)
        else:
            Path(path).touch()
        mount("", path, _MS_BIND | _MS_REC, source=f"/proc/self/fd/{descriptor}")
        os.close(descriptor)


def private_terminals() -> None:
    """Mount pseudo-terminals that no other kernel sees, and limit their number."""
    options = f"newinstance,ptmxmode=0666,mode=0600,max={_TERMINALS}"
    mount("devpts", "/dev/pts", _MS_NOSUID | _MS_NOEXEC, options)


def bring_up_loopback() -> None:
    """Let processes of this network namespace reach each other, and nothing else, through 127.0.0.1."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP))


def forbid_user_namespaces() -> None:
    """Prevent code in this namespace from gaining privileges in a new one."""
    Path("/proc/sys/user/max_user_namespaces").write_text("0")


def drop_privileges() -> None:
    """Drop all capabilities from all sets, so that running a program can't restore any."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    for capability in range(64):
        if _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break  # past the last one that the system knows, or the process has no right to drop any
    _libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    _set_capabilities()


def use_huge_pages() -> None:
    """Store this process's memory in huge pages, if the system can: a fork then copies fewer entries of page tables.

    A page of which a fork changes a part is still copied in small pages.
    """
    for line in Path("/proc/self/maps").read_text().splitlines():
        place, rights, _, _, inode, *name = line.split()
        if rights == "rw-p" and inode == "0" and name in ([], ["[heap]"]):
            first, last = (int(end, 16) // _HUGE_PAGE for end in place.split("-"))
            for number in range(first + 1, last):
                address = ctypes.c_void_p(number * _HUGE_PAGE)
                _libc.madvise(address, ctypes.c_size_t(_HUGE_PAGE), _MADV_COLLAPSE)


def limit(limits: dict[str, int]) -> None:
    """Set resource limits by name, such as {"NPROC": 64}."""
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))

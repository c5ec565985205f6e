"""Attacks that want more rights than they have: root's powers, namespaces, mounts, devices."""

from .attack import NBGRADER, prints
from .escaping import BOTH, escape

_LIMITS = """
import resource
before = {name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")}
for name, (soft, hard) in before.items():
    if hard != resource.RLIM_INFINITY:
        for value in (resource.RLIM_INFINITY, hard + 1):
            attempt(lambda: resource.setrlimit(getattr(resource, name), (value, value)))
            attempt(lambda: resource.prlimit(os.getpid(), getattr(resource, name), (value, value)))
after = {name: resource.getrlimit(getattr(resource, name)) for name in before}
def size(limit): return float("inf") if limit[1] == resource.RLIM_INFINITY else limit[1]
print("more than the limits" if any(size(after[n]) > size(before[n]) for n in before) else "the same limits")
"""

_NAMESPACES = """
CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000, 0x20000000, 0x40000000
if os.fork() == 0:
    for flags in (CLONE_NEWUSER, CLONE_NEWUSER | CLONE_NEWNS, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWPID):
        if libc.unshare(flags) == 0:
            print("a namespace of its own", flush=True)
    os._exit(0)
os.wait()
print(subprocess.run(["unshare", "--user", "--map-root-user", "echo", "a namespace", "of its own"],
                     capture_output=True, text=True).stdout)
"""

_MOUNTS = """
import pathlib
pathlib.Path("here").mkdir(exist_ok=True)
place = str(pathlib.Path("here").absolute()).encode()
for kind, options in ((b"tmpfs", b""), (b"proc", b""), (b"overlay", b"lowerdir=/usr,upperdir=/tmp,workdir=/tmp")):
    if libc.mount(kind, place, kind, 0, options) == 0:
        print("a mount")
for folder in (b"/", b"/usr", b"/dev", b"/proc"):
    if libc.mount(None, folder, None, 32 | 4096, None) == 0:  # remount, bind: writable
        print("a mount")
    if libc.umount2(folder, 2) == 0:
        print("a mount")
attempt(lambda: os.chroot("."))
"""

_SETUID = """
for command in (["su", "-c", "id", "root"], ["sudo", "-n", "id"], ["mount", "-t", "tmpfs", "none", "/tmp"],
                ["passwd", "-d", "root"], ["newgrp", "root"], ["pkexec", "id"], ["chsh", "-s", "/bin/sh", "root"]):
    attempt(lambda: print(subprocess.run(command, capture_output=True, text=True, timeout=2, stdin=subprocess.DEVNULL).stdout))
for action in (lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setgroups([0])):
    attempt(action)
status = open("/proc/self/status").read()
powers = int(status.split("CapEff:")[1].split()[0], 16) | int(status.split("CapPrm:")[1].split()[0], 16)
print("root's powers" if os.geteuid() == 0 or powers else "no powers")
"""

_KERNEL_FILES = """
import glob
def write(path):
    with open(path, "r+b", 0) as file:
        old = file.read(64)
        file.seek(0)
        file.write(old)  # what stood there before
    print("a setting of the machine", path)
for pattern in ("/proc/sys/kernel/*", "/proc/sys/vm/*", "/proc/sys/net/*/*", "/proc/sys/user/*", "/proc/sys/fs/*",
                "/sys/kernel/*", "/sys/fs/cgroup/*", "/proc/sysrq-trigger", "/proc/self/oom_score_adj_"):
    for path in glob.glob(pattern):
        attempt(lambda: write(path)) if os.path.isfile(path) else None
"""

_DEVICES = """
import stat
for name in sorted(os.listdir("/dev")):
    path = f"/dev/{name}"
    mode = os.stat(path).st_mode
    if stat.S_ISBLK(mode) or name in ("mem", "kmem", "kmsg", "port", "fuse", "kvm", "loop-control"):
        attempt(lambda: print(os.open(path, os.O_RDONLY), "a device"))
for name, major, minor in (("disk", 8, 0), ("memory", 1, 1)):
    attempt(lambda: print(os.mknod(name, 0o600 | stat.S_IFBLK, os.makedev(major, minor)), "a device"))
import fcntl, termios
for path in ("/dev/tty", "/dev/console"):
    attempt(lambda: print(fcntl.ioctl(os.open(path, os.O_RDWR), termios.TIOCSTI, b"x"), "a device"))
"""

_PERSISTS = """
import pathlib, sys
for module in (torch, sys.modules["json"]):
    try:
        with open(module.__file__, "a") as file:
            file.write("\\n")
        print("a changed module")
    except OSError as error:
        print(error)
for folder in [*sys.path, sys.prefix, sys.base_prefix]:
    attempt(lambda: print(os.mkdir(os.path.join(folder, "@MARK@")), "a changed module") if folder and "home" not in folder else None)
"""


ATTACKS = [
    escape(
        "raises-its-limits",
        "Raise the limits that were set for it.",
        prints("more than the limits"),
        _LIMITS,
        unfit=(NBGRADER,),
    ),
    escape(
        "makes-namespaces",
        "Become root in a user namespace of its own.",
        prints("a namespace of its own"),
        _NAMESPACES,
        proofs=BOTH,
    ),
    escape(
        "mounts",
        "Mount something, or make a read-only folder writable.",
        prints("a mount"),
        _MOUNTS,
        harmful=True,
    ),
    escape(
        "runs-setuid-programs",
        "Get root's powers by su, mount and others.",
        prints("root's powers"),
        _SETUID,
        harmful=True,
    ),
    escape(
        "writes-to-proc-and-sys",
        "Change settings of the machine.",
        prints("a setting of the machine"),
        _KERNEL_FILES,
        harmful=True,
    ),
    escape(
        "opens-devices",
        "Open disks and memory, or type into a terminal.",
        prints("a device"),
        _DEVICES,
        harmful=True,
    ),
    escape(
        "changes-a-module-for-the-next",
        "Change a module on disk for the next student.",
        prints("a changed module"),
        _PERSISTS,
        harmful=True,
    ),
]

"""What runs where Linux's modules are missing. This machine is Linux: the tests take the modules and calls away."""

import subprocess
import sys

import pytest

_AS_ON_WINDOWS = """
import sys
GONE = {"fcntl", "grp", "pwd", "resource", "termios"}
class Gone:
    def find_spec(self, name, path=None, target=None):
        if name in GONE:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
for name in GONE:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Gone())
"""
_AS_ON_MACOS = """
import contextlib, fcntl, os, platform, resource, signal, socket
with contextlib.suppress(ImportError):
    import torch  # it loads the libraries of this system
platform.system = lambda: "Darwin"
for module, names in {
    fcntl: ["F_OFD_SETLK"],
    os: ["O_PATH", "memfd_create", "pidfd_open", "sched_getaffinity", "setresgid", "setresuid"],
    resource: ["RLIMIT_MSGQUEUE", "RLIMIT_SIGPENDING", "prlimit"],
    signal: ["pidfd_send_signal"],
    socket: ["AF_NETLINK"],
}.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
"""


def gradekit_on(system: str, *arguments: str, cwd=None) -> "subprocess.CompletedProcess[str]":
    program = f"{system}\nfrom gradekit.cli import main\nsys.exit(main({list(arguments)!r}))"
    command = [sys.executable, "-c", "import sys\n" + program]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["help", "sandbox"]])
def test_windows_shows_help_and_version(arguments):
    done = gradekit_on(_AS_ON_WINDOWS, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert "gradekit" in done.stdout


@pytest.mark.parametrize("command", ["table", "autograde", "watch", "doctor"])
def test_on_windows_other_commands_say_in_one_sentence_where_they_run(command, tmp_path):
    done = gradekit_on(_AS_ON_WINDOWS, command, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("gradekit: this needs Linux") and "`gradekit help sandbox`" in done.stderr
    assert done.stderr.count("\n") == 1


def test_macos_reads_and_records_and_doctor_says_that_there_is_no_sandbox(generated):
    root = generated.root
    for arguments in (["table"], ["record", "--workers", "1"]):
        done = gradekit_on(_AS_ON_MACOS, *arguments, cwd=root)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    done = gradekit_on(_AS_ON_MACOS, "doctor", cwd=root)
    assert "the sandbox needs Linux, this is Darwin" in done.stdout, done.stderr

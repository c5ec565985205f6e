"""Git for repositories that nobody vouches for: what a student pushes is read, never checked out, and runs nothing.

Each look starts from an empty repository that is deleted afterwards, so nothing that was pushed earlier has an effect.
No hooks, submodules, filters, credential helpers, redirects, or configuration of this machine are used. A launcher sets
the limits of the process, which the kernel enforces whatever Git does: bytes of a file, memory, time, and the end of its parent.
"""

import base64
import os
import re
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from gradekit.course.operating_system import kill_session
from gradekit.course.printing import printable

_MEMORY = 2**30
_OUTPUT_BYTES = 4 * 2**20
#: what a listing has for each file, at most: mode, type, id, size, and a path
_LISTED_BYTES = 4500
_HEADER_BYTES = 100
_LOOK_SECONDS = 20
_INHERITED = (
    *("PATH", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"),
    *("http_proxy", "https_proxy", "no_proxy", "HTTPS_PROXY", "NO_PROXY", "TMPDIR"),
)
_SETTINGS = {
    "core.hooksPath": "/dev/null",
    "core.symlinks": "false",
    "core.fsmonitor": "false",
    "core.bigFileThreshold": "1m",
    "protocol.allow": "never",
    "protocol.version": "2",
    "transfer.fsckObjects": "true",
    "fetch.fsckObjects": "true",
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
    "fetch.unpackLimit": "1",
    "fetch.writeCommitGraph": "false",
    "transfer.bundleURI": "false",
    "fetch.uriProtocols": "",
    "pack.threads": "1",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "credential.helper": "",
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "100",
    "http.lowSpeedTime": "15",
    "filter.lfs.process": "",
    "filter.lfs.smudge": "",
    "filter.lfs.required": "false",
}
_SSH = "ssh -oBatchMode=yes -oStrictHostKeyChecking=yes -oConnectTimeout=15 -oClearAllForwardings=yes"
#: runs in Python's isolated mode: a process with threads can't set these between fork and exec
_LAUNCHER = """
import ctypes, os, resource, signal, sys
parent, file, memory, seconds, *command = sys.argv[1:]
ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)
if os.getppid() != int(parent):
    sys.exit(1)
for limit, value in (("FSIZE", file), ("AS", memory), ("CORE", 0), ("NOFILE", 256)):
    resource.setrlimit(getattr(resource, "RLIMIT_" + limit), (int(value), int(value)))
resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))  # signal 24, not 9 as from the system
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # Git says then that a file is too large
os.umask(0o077)
os.execvp(command[0], command)
"""
#: what Git says if it reaches the limit of a file, of memory, or of CPU time
_TOO_LARGE = (
    b"File too large",
    b"died of signal 25",
    b"out of memory",
    b"died of signal 24",
)
_OBJECT = re.compile(rb"[0-9a-f]{40}|[0-9a-f]{64}")
_ENTRY = re.compile(rb"(\d{6}) (\w+) ([0-9a-f]{40,64}) +(\d+|-)\t(.+)", re.DOTALL)


class GitError(Exception):
    """Git could not do what was asked; the message is a sentence without its full stop."""


class UnusableCommit(GitError):
    """Git could read a commit, and what is in it can't be a hand-in, however often it is looked at."""


class TooLarge(UnusableCommit):
    """More came than is allowed."""


@dataclass(frozen=True)
class GitFile:
    """A file in a commit. `size` is -1 for what isn't a file, such as a submodule."""

    path: bytes
    mode: str
    blob: str
    size: int


@dataclass(frozen=True)
class Tip:
    """What a remote has: the commit of the branch, empty if there is none, and the name of its default branch."""

    commit: str
    default: str


@dataclass(frozen=True)
class Git:
    """Git with limits.

    Args:
        protocols: those that remotes may have.
        max_bytes: of what is sent.
        seconds: the longest that one command may take.
        host, token: the token is sent to this host only.
    """

    protocols: Sequence[str]
    max_bytes: int
    seconds: int
    host: str = ""
    token: str = field(default="", repr=False)

    def tip(self, remote: str, branch: str) -> Tip:
        """What the remote has now.

        Raises:
            GitError: it can't be reached, or doesn't answer in time.
        """
        command = ("ls-remote", "--symref", "--", remote, "HEAD", f"refs/heads/{branch}")
        out = self._run(command, None, min(self.seconds, _LOOK_SECONDS), secret=True)
        commit = default = ""
        for line in out.split(b"\n"):
            value, _, name = line.partition(b"\t")
            if value.startswith(b"ref: refs/heads/") and name == b"HEAD":
                default = os.fsdecode(value.removeprefix(b"ref: refs/heads/"))
            elif name == b"refs/heads/" + branch.encode() and _OBJECT.fullmatch(value):
                commit = value.decode()
        return Tip(commit, default)

    def fetch(self, remote: str, branch: str, folder: Path, like: str) -> str:
        """Fetch the newest commit of the branch, without its history, into an empty folder; returns the commit.

        Args:
            like: a commit of the remote, whose ids may be those of SHA-1 or SHA-256.

        Raises:
            TooLarge: it is larger than is allowed.
            GitError: it can't be fetched, or is damaged, or takes too long.
        """
        kind = f"--object-format={'sha256' if len(like) == 64 else 'sha1'}"
        self._run(("init", "--quiet", "--bare", "--template=", kind, str(folder)), None, self.seconds)
        options = ("--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
        command = ("fetch", *options, "--", remote, f"+refs/heads/{branch}:refs/hand-in")
        self._run(command, folder, self.seconds, secret=True)
        commit = self._run(("rev-parse", "--verify", "refs/hand-in^{commit}"), folder, self.seconds).strip()
        return commit.decode()

    def tree(self, folder: Path, commit: str, path: str = "") -> str:
        """The id of a folder in a commit, by which equal content is recognized; empty if there is no such folder.

        Raises:
            GitError: the commit can't be read.
        """
        try:
            named = f"{commit}:{path}" if path else f"{commit}^{{tree}}"
            found = (
                self._run(("rev-parse", "--verify", "--quiet", named), folder, self.seconds).strip().decode()
            )
            kind = self._run(("cat-file", "-t", found), folder, self.seconds).strip()
        except GitError:
            if path:
                return ""
            raise
        return found if kind == b"tree" else ""

    def files(self, folder: Path, tree: str, most: int) -> list[GitFile]:
        """What is in a tree, with all folders in it; nothing is written.

        Raises:
            TooLarge: there are more than `most`.
            GitError: it can't be read.
        """
        too_many = f"has more than {most} files (c.GitHandIns.max_files): take out what isn't needed, such as an environment"
        try:
            listing = self._run(
                ("ls-tree", "-r", "-l", "-z", "--full-tree", tree),
                folder,
                self.seconds,
                most=min(_OUTPUT_BYTES, most * _LISTED_BYTES),
            )
        except TooLarge as error:
            raise TooLarge(too_many) from error
        entries = []
        for line in listing.split(b"\0")[:-1]:
            match = _ENTRY.fullmatch(line)
            if match is None:
                raise UnusableCommit("has a tree that can't be read")
            mode, _, blob, size, path = match.groups()
            entries.append(GitFile(path, mode.decode(), blob.decode(), -1 if size == b"-" else int(size)))
        if len(entries) > most:
            raise TooLarge(too_many)
        return entries

    def read(self, folder: Path, entries: Sequence[GitFile]) -> Iterator[tuple[GitFile, bytes]]:
        """The contents of files, one after another. Their sizes together should be bounded.

        Raises:
            GitError: one can't be read.
        """
        asked = folder / "asked"
        asked.write_text("".join(f"{entry.blob}\n" for entry in entries))
        most = sum(entry.size + _HEADER_BYTES for entry in entries)
        out = self._run(("cat-file", "--batch"), folder, self.seconds, most, asked=asked)
        at = 0
        for entry in entries:
            header = f"{entry.blob} blob {entry.size}\n".encode()
            if out[at : at + len(header)] != header:
                raise UnusableCommit("has a file that can't be read")
            at += len(header)
            yield entry, out[at : at + entry.size]
            at += entry.size + 1

    def _run(
        self,
        command: Sequence[str],
        folder: Path | None,
        seconds: float,
        most: int = _OUTPUT_BYTES,
        secret: bool = False,
        asked: Path | None = None,
    ) -> bytes:
        """The output of a command, which is killed with all that it has started if it takes or writes too much."""
        launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER]
        limits = [str(os.getpid()), str(self.max_bytes), str(_MEMORY), str(self.seconds)]
        place = [] if folder is None else ["--git-dir", str(folder)]
        with open(asked or os.devnull, "rb") as questions:
            process = subprocess.Popen(
                [*launcher, *limits, "git", *place, *command],
                stdin=questions,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self._environment(secret),
                cwd="/",
                start_new_session=True,
            )
        try:
            out, errors = _output_of(process, time.monotonic() + seconds, most)
        finally:
            kill_session(process.pid)
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
        if process.returncode != 0:
            if any(sign in errors for sign in _TOO_LARGE):
                raise TooLarge(f"has a commit larger than {self.max_bytes / 10**6:g} MB")
            raise GitError(_reason(errors, process.returncode))
        return out

    def _environment(self, secret: bool) -> Mapping[str, str]:
        settings = list(_SETTINGS.items())
        settings += [(f"protocol.{name}.allow", "always") for name in self.protocols]
        if secret and self.token:
            host = urlsplit(self.host)
            login = base64.b64encode(f"x-access-token:{self.token}".encode()).decode()
            header = f"Authorization: Basic {login}"
            settings.append((f"http.{host.scheme}://{host.netloc}/.extraHeader", header))
        found = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        for number, (name, value) in enumerate(settings):
            found |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
        return found | {
            "GIT_CONFIG_COUNT": str(len(settings)),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "/bin/false",
            "SSH_ASKPASS": "/bin/false",
            "GIT_SSH_COMMAND": _SSH,
            "GIT_LFS_SKIP_SMUDGE": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "HOME": "/nonexistent",
            "LC_ALL": "C",
        }


def _output_of(process: subprocess.Popen[bytes], deadline: float, most: int) -> tuple[bytes, bytes]:
    """What a process writes until it ends.

    Raises:
        TooLarge: it writes more than `most` bytes.
        GitError: it hasn't ended by the deadline.
    """
    assert process.stdout and process.stderr
    texts = {process.stdout.fileno(): bytearray(), process.stderr.fileno(): bytearray()}
    out, errors = texts.values()
    with selectors.DefaultSelector() as waiting:  # unlike select.select, for any number of open files
        for stream in texts:
            waiting.register(stream, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(max(0.0, deadline - time.monotonic()))
            if not ready:
                raise GitError("did not answer in time")
            for key, _ in ready:
                part = os.read(key.fd, 2**16)
                if not part:
                    waiting.unregister(key.fd)
                elif key.fd == process.stdout.fileno() or len(errors) < 2**14:
                    texts[key.fd] += part
            if len(out) > most:
                raise TooLarge("sends too much")
    try:
        process.wait(max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise GitError("did not answer in time") from None
    return bytes(out), bytes(errors)


def _reason(errors: bytes, code: int) -> str:
    """Git's own reason, in one line, such as `fatal: repository … not found`."""
    lines = [line.strip() for line in errors.decode(errors="replace").splitlines()]
    told = [line for line in lines if line.startswith(("fatal: ", "error: ", "remote: "))] or lines
    told = [line for line in told if line.removeprefix("remote:").strip()]
    first = next((line for line in told if not line.startswith("remote: ")), told[0] if told else "")
    reason = first.split(": ", 1)[-1] if first.startswith(("fatal: ", "error: ")) else first
    # what Git advises has no effect, since no settings of this account count
    if b"dubious ownership" in errors:
        reason += ". Let the account that grades own it, or serve it by https or ssh"
    if b"redirect" in errors or b"returned error: 30" in errors:
        reason += ". The host redirects: write the new address into the roster"
    return f"can't be fetched: {printable(reason)}" if reason else f"can't be fetched: Git ended with {code}"

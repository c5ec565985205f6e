"""Several kernels at once: user ids, terminals, limits, and failed starts."""

import asyncio
import contextlib
import os
import pwd
import subprocess
import sys

import pytest

from sandbox_kernel import COLD, SANDBOX, sandboxed, start, users
from sandbox_kernel.environment import NO_FILES
from sandbox_kernel.start import StartFailed
from sandbox_kernel.users import FIRST, NOBODY, KernelUser

IN_SANDBOX = pytest.mark.parametrize("kernel", [SANDBOX, COLD])
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0 or bool(users.user_ids_problem()), reason="needs root")


@AS_ROOT
@pytest.mark.parametrize("kernel", [SANDBOX, pytest.param(COLD, marks=pytest.mark.thorough)])
def test_each_kernel_of_root_s_has_its_own_user_id(kernel, shared, start_kernel):
    source = "import os; print(os.getuid(), os.getgid())"
    first, second = shared(kernel).run(source), start_kernel(kernel).run(source)
    for found in (first, second):
        user, group = map(int, found.split())
        assert user == group >= FIRST
        with pytest.raises(KeyError):
            pwd.getpwuid(user)
    assert first != second


@AS_ROOT
def test_the_files_of_a_kernel_belong_to_its_user(shared):
    source = (
        "import os; open('it', 'w').close(); s = os.stat('it'); print(s.st_uid == s.st_gid == os.getuid())"
    )
    assert shared(SANDBOX).run(source) == "True"


@AS_ROOT
def test_an_id_is_given_once_until_it_is_released(monkeypatch):
    monkeypatch.setattr(users, "COUNT", 3)
    monkeypatch.setattr(users, "_TRIES", 3)
    taken = [users.take_user() for _ in range(4)]
    numbers = {user.number for user in taken[:3]}
    assert numbers == {FIRST, FIRST + 1, FIRST + 2}
    assert taken[3].number == NOBODY  # none is left
    taken[0].release()
    again = users.take_user()
    assert again.number == taken[0].number
    for user in [again, *taken]:
        user.release()


@AS_ROOT
def test_an_id_is_free_again_when_the_process_that_took_it_has_died(monkeypatch):
    monkeypatch.setattr(users, "COUNT", 1)
    monkeypatch.setattr(users, "_TRIES", 1)
    lines = "from sandbox_kernel import users; users.COUNT = users._TRIES = 1; print(users.take_user().number, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", lines], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert int(other.stdout.readline()) == FIRST
        assert users.take_user().number == NOBODY
        other.kill()
        other.wait()
    user = users.take_user()
    assert user.number == FIRST
    user.release()


def test_ids_of_accounts_and_subordinate_ids_are_left_alone(monkeypatch):
    assert users._in_use(0)
    assert not users._in_use(FIRST)
    monkeypatch.setattr(users, "_subordinate", lambda: ((FIRST, 10),))
    assert users._in_use(FIRST + 9)
    assert not users._in_use(FIRST + 10)


@pytest.mark.parametrize(
    ("table", "found"),
    [("0 0 4294967295", True), ("0 100000 65536", False), ("0 1000 1\n1 100000 65536", False), ("", False)],
)
def test_a_container_without_these_ids_is_recognized(table, found):
    assert users._mapped(table) is found


def test_where_ids_can_t_be_had_kernels_are_nobody(monkeypatch, start_kernel):
    monkeypatch.setattr(users, "user_ids_problem", lambda: "no ids in this test")
    assert users.take_user() == KernelUser(NOBODY)
    if os.geteuid() == 0:
        assert start_kernel(SANDBOX).run("import os; print(os.getuid())") == str(NOBODY)


@IN_SANDBOX
def test_limits_are_set_before_a_cell_runs(kernel, shared):
    source = "import resource as r; print([r.getrlimit(getattr(r, 'RLIMIT_' + n))[1] for n in ('NOFILE', 'SIGPENDING', 'MSGQUEUE', 'CORE')])"
    assert shared(kernel).run(source) == "[256, 512, 0, 0]"


def test_a_kernel_sees_no_terminal_of_another(start_kernel):
    opens = "import os, pty; ends = pty.openpty(); print(sorted(os.listdir('/dev/pts')))"
    first, second = start_kernel(SANDBOX), start_kernel(SANDBOX)
    assert first.run(opens) == second.run(opens) == "['0', 'ptmx']"


def test_terminals_are_bounded(start_kernel):
    source = """import os, pty
ends = []
try:
    while len(ends) < 200: ends += pty.openpty()
except OSError: pass
print(len(ends) // 2)"""
    assert 4 <= int(start_kernel(SANDBOX).run(source)) <= 32


def test_one_failed_start_does_not_send_the_next_kernels_the_slow_way(monkeypatch, shared, start_kernel):
    shared(SANDBOX)
    (before,) = start._warm.values()
    monkeypatch.setattr(sandboxed, "cold_because", reasons := [])
    with monkeypatch.context() as refusing:
        refusing.setattr(sandboxed, "start_warm", _refuse)
        refusing.setattr(sandboxed, "start_cold", _refuse)
        with pytest.raises(StartFailed, match="Too many references"):
            start_kernel(SANDBOX)
    assert start_kernel(SANDBOX).run("print(1)") == "1"
    assert (reasons, list(start._warm.values())) == ([], [before])


def _refuse(*arguments: object) -> None:
    raise StartFailed("the system refuses it: Too many references")


def test_a_bad_request_is_a_failed_start_with_a_reason():
    server = start.Server.launch("cold", 1)
    try:
        with pytest.raises(StartFailed, match="KeyError"):
            server.start_kernel({"no": "such request"}, NO_FILES, 60)
    finally:
        server.close()


def test_a_server_that_can_t_fork_answers_and_goes_on():
    sys.path.insert(0, os.path.dirname(start.__file__) + "/inside")
    try:
        import server
    finally:
        sys.path.pop(0)
    ours, theirs = server.socket.socketpair(server.socket.AF_UNIX, server.socket.SOCK_SEQPACKET)

    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with ours, theirs, pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fork", refuse)
        assert server._fork(theirs.fileno()) == -1
        assert b"can't start another process (Resource temporarily unavailable)" in ours.recv(1000)


def test_a_failed_start_leaves_no_id_taken(monkeypatch):
    released = []
    monkeypatch.setattr(KernelUser, "release", lambda user: released.append(user.number))
    monkeypatch.setattr(sandboxed, "start_warm", _refuse)
    monkeypatch.setattr(sandboxed, "start_cold", _refuse)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(users, "take_user", lambda: KernelUser(FIRST))
    with contextlib.suppress(StartFailed), asyncio.Runner() as runner:
        runner.run(asyncio.to_thread(sandboxed.SandboxProvisioner()._start, {}))
    assert released == [FIRST]

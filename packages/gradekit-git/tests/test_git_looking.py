"""What `gradekit watch --git` takes from a repository, whatever a student pushes: real Git servers on this machine."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from gradekit_git import fetching
from gradekit_git.looking import Looker
from gradekit_git.roster import Repository
from gradekit_git.settings import Job
from gradekit_git.store import GitStore, Seen

from .git_servers import GitServer, endless, git, git_daemon, hanging, noise

NOTEBOOK = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
NAME = "01_double"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    found = GitServer(tmp_path_factory.mktemp("server"))
    yield found
    found.close()


@dataclass
class Looks:
    """A course folder, and looks at repositories for it."""

    job: Job
    store: GitStore

    def at(
        self, url: str, student: str = "ada", branch: str = "main", folder: str = "", name: str = NAME
    ) -> Seen:
        return Looker(self.job, self.store).look(Repository(student, url, name, branch, folder))

    def files(self, student: str = "ada", name: str = NAME) -> list[dict[str, bytes]]:
        """The files of each hand-in, oldest first."""
        return [
            {
                str(path.relative_to(folder)): path.read_bytes()
                for path in sorted(folder.rglob("*"))
                if path.is_file()
            }
            for folder, _ in self.store.of(student, name)
        ]

    def left_out(self) -> dict[str, str]:
        return dict(self.store.of("ada", NAME)[-1][1].left_out)


@pytest.fixture
def looks(tmp_path) -> Callable[..., Looks]:
    root = tmp_path / "course"
    (root / "source" / NAME).mkdir(parents=True)
    (root / "source" / "02_other").mkdir()

    def make(**changes: object) -> Looks:
        values = {
            "root": str(root),
            "roster": str(root / "roster.csv"),
            "source": str(root / "source"),
            "release": str(root / "release"),
            "mode": "watch",
            "parent": os.getpid(),
            "interval": 60.0,
            "branch": "main",
            "protocols": ["http", "git"],
            "max_bytes": 1_000_000,
            "max_total_bytes": 5_000_000,
            "max_files": 50,
            "seconds": 20,
            "at_once": 2,
            "host": "",
            "report": "",
            "report_public": False,
            "webhook": "",
            "token": "",
            "webhook_secret": "",
        }
        return Looks(Job(**(values | changes)), GitStore(root))

    return make


@pytest.fixture
def work(server, request):
    """A new repository on the server."""
    return server.repository(f"r{abs(hash(request.node.name))}")


def test_a_new_commit_is_a_hand_in_with_the_time_of_fetching(looks, work):
    found = looks()
    commit = work.write(double_ipynb=NOTEBOOK, data__a_txt="a").push()
    begun = datetime.now(UTC)
    found.at(work.url)
    ((_, fetched),) = found.store.of("ada", NAME)
    assert found.files() == [{"double.ipynb": NOTEBOOK.encode(), "data/a.txt": b"a"}]
    assert (fetched.commit, fetched.not_before) == (commit, None)
    assert begun <= fetched.handed_in <= datetime.now(UTC)  # the author's date is in 2001
    found.at(work.url)
    assert len(found.files()) == 1
    later = work.write(double_ipynb=NOTEBOOK + " ").push()
    found.at(work.url)
    newest = found.store.of("ada", NAME)[-1][1]
    assert newest.commit == later and newest.not_before is not None
    assert fetched.handed_in <= newest.not_before <= newest.handed_in


def test_a_push_that_comes_while_its_repository_is_looked_at_is_looked_at_soon(looks, work, monkeypatch):
    """The look may have come too early for it."""
    monkeypatch.setattr(fetching, "_SHORTEST_PAUSE", 0.0)
    job = looks(interval=3600.0).job
    Path(job.roster).write_text(f"student,remote,assignment\nada,{work.url},{NAME}\n")
    rounds = fetching.Rounds(job, GitStore(Path(job.root)))
    looked, going_on = [threading.Event(), threading.Event()], threading.Event()
    rest = iter(looked)

    def look(repository: Repository) -> Seen:
        next(rest).set()
        going_on.wait(60)
        return Seen()

    monkeypatch.setattr(rounds._looker, "look", look)
    rounds.step()
    assert looked[0].wait(60)
    rounds.pushed([work.url])
    rounds.step()
    going_on.set()
    end = time.monotonic() + 60
    while not looked[1].wait(0.05):
        assert time.monotonic() < end
        rounds.step()


def test_a_commit_that_leaves_the_files_as_they_were_is_no_hand_in(looks, work):
    found = looks()
    work.write(double_ipynb=NOTEBOOK).push()
    found.at(work.url)
    work.push("empty")
    seen = found.at(work.url)
    assert (len(found.files()), seen.problem, seen.unreached) == (1, "", "")


def test_rewritten_history_loses_no_hand_in_and_going_back_is_another(looks, work):
    found = looks()
    first = work.write(double_ipynb="first").push()
    found.at(work.url)
    git("checkout", "--quiet", "--orphan", "other", cwd=work.clone)
    work.write(double_ipynb="second").push()
    found.at(work.url)
    git("reset", "--quiet", "--hard", first, cwd=work.clone)
    work.push_only()
    found.at(work.url)
    assert [files["double.ipynb"] for files in found.files()] == [b"first", b"second", b"first"]
    times = [fetched.handed_in for _, fetched in found.store.of("ada", NAME)]
    assert times == sorted(set(times))


def test_each_folder_named_like_an_assignment_is_handed_in_when_it_changes(looks, work):
    found = looks()
    work.write(**{"01_double__double_ipynb": "one", "02_other__other_ipynb": "one", "notes_txt": "x"}).push()
    found.at(work.url, name="")
    work.write(**{"02_other__other_ipynb": "two"}).push()
    found.at(work.url, name="")
    assert [len(found.files(name=name)) for name in (NAME, "02_other")] == [1, 2]


def test_what_was_handed_out_or_has_no_notebook_is_no_hand_in(looks, work):
    found = looks()
    release = Path(found.job.release) / NAME
    release.mkdir(parents=True)
    (release / "double.ipynb").write_text(NOTEBOOK)
    work.write(README="read me").push()
    assert "no notebook yet" in found.at(work.url).note
    work.write(double_ipynb=NOTEBOOK).push()
    assert "as it was handed out" in found.at(work.url).note
    assert found.files() == []
    work.write(double_ipynb=NOTEBOOK + "\n").push()
    assert found.at(work.url).note == ""
    assert len(found.files()) == 1


def test_links_submodules_and_reserved_names_are_left_out_by_name(looks, work):
    found = looks()
    work.write(double_ipynb=NOTEBOOK)
    git("add", "--all", cwd=work.clone)
    work.put("120000", "passwords", b"/etc/passwd")
    work.put("120000", "folder", b"/etc")
    work.put("100644", "timestamp.txt", b"2001-01-01 00:00:00 UTC")
    work.put("100644", "Submission_Secret.txt", b"x")
    git("update-index", "--add", "--cacheinfo", f"160000,{'a' * 40},module", cwd=work.clone)
    work.put(
        "100644", ".gitmodules", b'[submodule "module"]\n\tpath = module\n\turl = https://example.edu/m.git\n'
    )
    work.put("100755", "run.sh", b"#!/bin/sh\n")
    work.commit_index()
    assert found.at(work.url).problem == ""
    (files,) = found.files()
    assert sorted(files) == [".gitmodules", "double.ipynb", "run.sh"]
    assert not any(path.is_symlink() for path in found.store.hand_ins.rglob("*"))
    assert found.left_out() == {
        "passwords": "is a link, so it was not fetched.",
        "folder": "is a link, so it was not fetched.",
        "module": "is a submodule, so it was not fetched.",
        "timestamp.txt": "has a name that nbgrader uses itself, so it was not fetched.",
        "Submission_Secret.txt": "has a name that nbgrader uses itself, so it was not fetched.",
    }


def test_a_notebook_that_is_a_link_or_in_lfs_is_refused_and_says_why(looks, work):
    found = looks()
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 9\n"
    work.put("120000", "double.ipynb", b"/etc/passwd")
    work.commit_index()
    assert found.at(work.url).problem == "has no notebook: double.ipynb is a link, so it was not fetched."
    git("rm", "--quiet", "--cached", "double.ipynb", cwd=work.clone)
    work.put("100644", "double.ipynb", pointer)
    work.commit_index()
    assert "has double.ipynb in Git LFS, which is not fetched" in found.at(work.url).problem
    assert found.files() == []
    work.put("100644", "double.ipynb", NOTEBOOK.encode())
    work.put("100644", "picture.png", pointer)
    work.commit_index()
    assert found.at(work.url).problem == ""
    assert found.left_out() == {"picture.png": "is in Git LFS, so it was not fetched."}


@pytest.mark.slow
def test_a_huge_commit_is_given_up_before_it_has_arrived(looks, work):
    found = looks()
    work.write(double_ipynb=NOTEBOOK, big_txt=noise(3)).push()
    assert found.at(work.url).problem == "has a commit larger than 1 MB"
    assert found.files() == []
    assert list(found.store.unfinished.iterdir()) == []
    (work.clone / "big.txt").unlink()
    work.push()
    assert found.at(work.url).problem == ""
    assert len(found.files()) == 1


@pytest.mark.slow
def test_a_file_that_was_packed_small_and_is_large_is_not_written(looks, work):
    found = looks()
    work.write(double_ipynb=NOTEBOOK, bomb_txt=bytes(30_000_000)).push()
    found.at(work.url)
    assert found.files() == [{"double.ipynb": NOTEBOOK.encode()}]
    assert found.left_out() == {"bomb.txt": "exceeds the 1 MB of a hand-in, so it was not fetched."}


def test_a_tree_that_holds_itself_many_times_over_is_refused(looks, work):
    """Ten levels of ten equal folders: ten thousand million files in eleven objects."""
    found = looks()
    blob = git("hash-object", "-w", "--stdin", cwd=work.clone, given=b"x")
    line, kind = f"100644 blob {blob}", "f"
    for _ in range(10):
        listing = "".join(f"{line}\t{kind}{number}\n" for number in range(10)).encode()
        line, kind = f"040000 tree {git('mktree', cwd=work.clone, given=listing)}", "d"
    commit = git("commit-tree", line.split()[-1], "-m", "bomb", cwd=work.clone)
    git("push", "--quiet", str(work.bare), f"{commit}:refs/heads/main", cwd=work.clone)
    begun = time.monotonic()
    assert found.at(work.url).problem.startswith("has more than 50 files (c.GitHandIns.max_files)")
    assert time.monotonic() - begun < 10


@pytest.mark.slow
def test_all_hand_ins_of_a_student_together_have_a_limit(looks, work):
    found = looks(max_total_bytes=1_500_000)
    work.write(double_ipynb=NOTEBOOK, data_txt=noise(0.8)).push()
    assert found.at(work.url).problem == ""
    work.write(data_txt=noise(0.8)).push()
    assert "more than c.GitHandIns.max_total_megabytes" in found.at(work.url).problem
    assert len(found.files()) == 1
    more = looks(max_total_bytes=3_000_000)
    assert more.at(work.url).problem == ""
    assert len(more.files()) == 2


def raw_tree(work, *entries: tuple[bytes, bytes, str]) -> str:
    """A tree that Git itself would not write."""
    content = b"".join(mode + b" " + name + b"\0" + bytes.fromhex(blob) for mode, name, blob in entries)
    return git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", cwd=work.clone, given=content)


@pytest.mark.parametrize("name", [b"..", b".git", b"../../escaped", b"/tmp/escaped"])
def test_names_that_lead_out_of_the_folder_are_refused(looks, work, name):
    found = looks()
    blob = git("hash-object", "-w", "--stdin", cwd=work.clone, given=b"escaped")
    notebook = git("hash-object", "-w", "--stdin", cwd=work.clone, given=NOTEBOOK.encode())
    entries = sorted(
        [(b"100644", name, blob), (b"100644", b"double.ipynb", notebook)], key=lambda entry: entry[1]
    )
    commit = git("commit-tree", raw_tree(work, *entries), "-m", "x", cwd=work.clone)
    git("push", "--quiet", str(work.bare), f"{commit}:refs/heads/main", cwd=work.clone)
    seen = found.at(work.url)
    assert "can't be fetched" in seen.unreached
    assert found.files() == []
    assert not list(found.store.folder.parents[3].rglob("escaped"))
    assert not Path("/tmp/escaped").exists()


def test_hooks_and_filters_in_a_repository_or_of_this_account_run_nothing(looks, work, tmp_path, monkeypatch):
    found = looks()
    trap, program = tmp_path / "trap", f"#!/bin/sh\ntouch {tmp_path / 'trap'}\n"
    hooks = tmp_path / "home" / "hooks"
    for name in ("reference-transaction", "post-checkout", "post-index-change"):
        (hooks / name).parent.mkdir(parents=True, exist_ok=True)
        (hooks / name).write_text(program)
        (hooks / name).chmod(0o755)
    settings = f'[core]\n\thooksPath = {hooks}\n[filter "evil"]\n\tsmudge = touch {trap}\n'
    (tmp_path / "home" / ".gitconfig").write_text(settings)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    work.write(
        double_ipynb=NOTEBOOK,
        **{
            ".gitattributes": "* filter=evil export-subst\n",
            ".gitconfig": settings,
            "hooks__post-checkout": program,
        },
    ).push()
    found.at(work.url)
    assert len(found.files()) == 1
    assert not trap.exists()
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", "clone", "--quiet", work.url, tmp_path / "plain"], env=plain, check=False)
    assert trap.exists()  # so the trap would have caught a plain clone


def test_a_branch_that_vanishes_is_named_and_costs_no_hand_in(looks, work):
    found = looks()
    work.write(double_ipynb=NOTEBOOK).push()
    found.at(work.url)
    git("update-ref", "-d", "refs/heads/main", cwd=work.bare)
    seen = found.at(work.url)
    assert seen.unreached.startswith("has no branch main")
    assert seen.unreached.endswith("What was handed in before is still there")
    assert len(found.files()) == 1
    work.push_only()
    assert found.at(work.url).unreached == ""
    assert len(found.files()) == 1


def test_a_remote_that_hangs_is_given_up_and_so_is_what_it_started(looks):
    found = looks(seconds=1)
    with hanging() as url:
        begun = time.monotonic()
        assert found.at(url).unreached == "did not answer in time"
        assert time.monotonic() - begun < 5
        left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        assert url not in left


def test_a_remote_that_never_stops_sending_is_given_up(looks):
    found = looks(seconds=2)
    with endless() as url:
        begun = time.monotonic()
        assert found.at(url).unreached
        assert time.monotonic() - begun < 15


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c touch% /tmp/escaped",
        "file:///etc",
        "--upload-pack=touch /tmp/escaped",
        "ssh://-oProxyCommand=x/y",
    ],
)
def test_addresses_that_run_programs_or_read_this_machine_are_not_used(looks, url):
    assert looks().at(url).unreached
    assert not Path("/tmp/escaped").exists()


def test_the_token_goes_to_its_host_only_and_not_after_a_redirect(looks, work, server, tmp_path):
    work.write(double_ipynb=NOTEBOOK).push()
    other = GitServer(tmp_path / "other")
    try:
        found = looks(token="s3cret-token", host=server.address)
        found.at(work.url)
        assert any("Basic" in headers.get("Authorization", "") for headers in server.headers)
        found.at(f"{other.address}/r.git", student="ben")
        assert other.requests
        server.redirect_to = other.address
        assert "redirect" in found.at(work.url, student="cleo").unreached
        assert not any("Authorization" in headers for headers in other.headers)
    finally:
        server.redirect_to = ""
        other.close()
    stored = [path.read_bytes() for path in found.store.folder.rglob("*") if path.is_file()]
    assert not any(b"s3cret-token" in content for content in stored)
    assert "s3cret" not in repr(found.job)


def test_git_daemon_is_a_server_like_any_other(looks, work):
    found = looks()
    work.write(double_ipynb=NOTEBOOK).push()
    with git_daemon(work.bare.parent) as address:
        assert found.at(f"{address}/{work.bare.name}").unreached == ""
    assert len(found.files()) == 1


@pytest.mark.slow
def test_a_look_that_is_killed_leaves_all_of_a_hand_in_or_nothing(looks, work):
    found = looks()
    work.write(double_ipynb=NOTEBOOK, data_txt=noise(0.5)).push()
    script = (
        "import sys, msgspec\n"
        "from gradekit_git.looking import Looker\n"
        "from gradekit_git.roster import Repository\n"
        "from gradekit_git.settings import Job\n"
        "from gradekit_git.store import GitStore\n"
        "job = msgspec.json.decode(sys.argv[1], type=Job)\n"
        "print('ready', flush=True)\n"
        f"Looker(job, GitStore(__import__('pathlib').Path(job.root))).look(Repository('ada', {work.url!r}, {NAME!r}, 'main'))\n"
    )
    for milliseconds in (40, 120, 200, 300):
        command = [sys.executable, "-c", script, msgspec.json.encode(found.job).decode()]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            time.sleep(milliseconds / 1000)
            process.kill()
        for files in Looks(found.job, GitStore(Path(found.job.root))).files():
            assert len(files["data.txt"]) == 500_000
    found.at(work.url)
    assert len(found.files()) == 1


def test_a_clock_that_is_put_back_makes_no_two_hand_ins_of_one_time(looks, work, monkeypatch):
    found = looks()
    work.write(double_ipynb="1").push()
    found.at(work.url)
    first = found.store.of("ada", NAME)[0][1].handed_in

    class Earlier(datetime):
        @classmethod
        def now(cls, tz=None):
            return first - timedelta(hours=1)

    monkeypatch.setattr("gradekit_git.looking.datetime", Earlier)
    work.write(double_ipynb="2").push()
    found.at(work.url)
    assert found.store.of("ada", NAME)[1][1].handed_in > first

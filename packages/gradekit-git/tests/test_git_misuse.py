"""Misuse of `gradekit watch --git`: odd repositories, rosters and names, and files that a machine has damaged."""

import os
import re
import shlex
import subprocess
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gradekit.grading.running_course import RunningCourse
from gradekit_git import fetching
from gradekit_git.hardened import Git, GitError, GitFile, UnusableCommit
from gradekit_git.roster import Repository, read_roster
from gradekit_git.store import Fetched, GitStore, Outgoing, Seen
from gradekit_watch.hand_in_store import StoredSource
from gradekit_watch.ways import Look

from .git_servers import StudentRepository, git
from .test_git_looking import NAME, NOTEBOOK, looks, server, work
from .test_git_watch import TRIPLE, students

pytestmark = pytest.mark.slow

__all__ = ["looks", "server", "students", "work"]  # fixtures


def at_the_wrong_place(work: StudentRepository, kind: str) -> None:
    """Push a notebook where no hand-in for 01_double is looked for, and one for 02_other where it belongs."""
    work.write(**{"02_other__other_ipynb": NOTEBOOK})
    if kind == "link":
        work.write(work__double_ipynb=NOTEBOOK).put("120000", NAME, b"work")
    elif kind == "submodule":
        git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},{NAME}", cwd=work.clone)
    else:
        work.write(**{kind: NOTEBOOK})
    git("add", "02_other", *(["work"] if kind == "link" else []), cwd=work.clone)
    if kind not in ("link", "submodule"):
        git("add", "--all", cwd=work.clone)
    work.commit_index()


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("01_Double__any_ipynb", "01_Double/any.ipynb is outside it"),
        ("Double_ipynb", "Double.ipynb is outside it"),
        ("link", "01_double is a link"),
        ("submodule", "01_double is a submodule"),
    ],
)
def test_a_notebook_outside_of_the_assignment_s_folder_is_named(looks, work, kind, named):
    found = looks()
    (Path(found.job.release) / NAME).mkdir(parents=True)
    (Path(found.job.release) / NAME / "double.ipynb").write_text("as handed out")
    at_the_wrong_place(work, kind)
    seen = found.at(work.url, name="")
    assert f"01_double: hand-ins are in the folder 01_double, and {named}" in seen.problem
    assert [len(found.files(name=name)) for name in (NAME, "02_other")] == [0, 1]


def test_a_notebook_beside_the_folder_in_the_roster_is_named(looks, work):
    found = looks()
    (Path(found.job.release) / NAME).mkdir(parents=True)
    (Path(found.job.release) / NAME / "double.ipynb").write_text("as handed out")
    work.write(README="x").push()
    assert found.at(work.url, folder="work").note == "has no work yet"
    work.write(double_ipynb=NOTEBOOK).push()
    assert "in the folder work, and double.ipynb is outside it" in found.at(work.url, folder="work").problem


def test_a_git_that_fails_for_one_assignment_costs_the_others_nothing(looks, work, monkeypatch):
    found, files, failed = looks(), Git.files, []

    def once(self: Git, folder: Path, *rest: Any) -> list[GitFile]:
        if not failed:
            failed.append(folder)
            raise GitError("did not answer in time")
        return files(self, folder, *rest)

    monkeypatch.setattr(Git, "files", once)
    work.write(**{f"{name}__double_ipynb": NOTEBOOK for name in (NAME, "02_other")}).push()
    seen = found.at(work.url, name="")
    assert (seen.unreached, seen.problem, seen.done) == ("did not answer in time", "", False)
    assert [len(found.files(name=name)) for name in (NAME, "02_other")] == [0, 1]
    assert found.at(work.url, name="").unreached == ""
    assert [len(found.files(name=name)) for name in (NAME, "02_other")] == [1, 1]


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_a_released_notebook_elsewhere_is_no_hand_in(looks, server, kind):
    """As in a fork of the course."""
    bare, clone = server.folder / f"fork-{kind}.git", server.folder / f"fork-{kind}"
    for folder, more in ((bare, ["--bare"]), (clone, [])):
        git(
            "init", "-q", *more, f"--object-format={kind}", "--initial-branch=main", folder, cwd=server.folder
        )
    work, found = StudentRepository(bare, clone, f"{server.address}/fork-{kind}.git"), looks()
    (Path(found.job.release) / NAME).mkdir(parents=True)
    (Path(found.job.release) / NAME / "double.ipynb").write_text("as handed out")
    work.write(**{f"release__{NAME}__double_ipynb": "as handed out"}).push()
    assert found.at(work.url, name="").problem == ""
    work.write(**{f"release__{NAME}__double_ipynb": NOTEBOOK}).push()
    assert "double.ipynb is outside it" in found.at(work.url, name="").problem


def test_a_tree_that_cannot_be_read_elsewhere_costs_no_hand_in(looks, work, monkeypatch):
    found, files = looks(), Git.files
    work.write(**{f"{NAME}__double_ipynb": NOTEBOOK}).push()

    def unreadable(self: Git, folder: Path, tree: str, most: int) -> list[GitFile]:
        if tree == self.tree(folder, "refs/hand-in"):
            raise UnusableCommit("has a tree that can't be read")
        return files(self, folder, tree, most)

    monkeypatch.setattr(Git, "files", unreadable)
    assert found.at(work.url, name="").problem == "" and len(found.files()) == 1


@pytest.mark.parametrize("folders", ["{}", "w/{}", "w"])
def test_a_large_class_in_one_repository_is_read_at_once(tmp_path, folders):
    path, many = tmp_path / "roster.csv", 3000
    rows = [f"s{number},https://h.edu/c.git,{folders.format(number)}" for number in range(many)]
    path.write_text("\n".join(["student,remote,folder", *rows]))
    begun = time.process_time()
    found, bad = read_roster(path, "main", ["https"], [NAME])
    assert time.process_time() - begun < 5
    assert (len(found), len(bad)) == ((many, 0) if "{}" in folders else (0, many))
    assert all("and 2980 more" in row.reason and len(row.reason) < 500 for row in bad)


@pytest.mark.parametrize("failing", ["fetch", "ls-tree", "cat-file"])
def test_a_git_that_fails_once_is_tried_again(looks, work, monkeypatch, failing):
    """What the system killed, or what a busy machine cut off, says nothing of the commit."""
    found, run, failed = looks(), Git._run, []
    work.write(double_ipynb=NOTEBOOK).push()

    def once(self: Git, command: tuple[str, ...], *rest: Any, **more: Any) -> bytes:
        if command[0] == failing and not failed:
            failed.append(command)
            command = ("-c", "alias.x=!kill -9 $$", "x")
        return run(self, command, *rest, **more)

    monkeypatch.setattr(Git, "_run", once)
    seen = found.at(work.url)
    assert failed and seen.unreached and not seen.problem and not seen.done
    assert found.at(work.url).unreached == "" and len(found.files()) == 1


def test_a_roster_that_gets_shorter_meanwhile_ends_the_one_look(looks, work, server):
    found = looks(mode="once")
    work.write(double_ipynb=NOTEBOOK).push()
    roster = Path(found.job.roster)
    row = f"student,remote,assignment\nada,{work.url},{NAME}\n"
    roster.write_text(f"{row}ben,{server.address}/none.git,{NAME}\n")
    rounds = fetching.Rounds(found.job, found.store)
    look = rounds._looker.look

    def shortened(repository: Repository) -> Seen:
        roster.write_text(row)
        time.sleep(0.3)
        return look(repository)

    rounds._looker.look = shortened
    looking = threading.Thread(target=rounds.all_once, daemon=True)
    looking.start()
    looking.join(60)
    assert not looking.is_alive() and len(found.files()) == 1


def test_a_repository_with_ids_of_sha_256_is_fetched(looks, server):
    bare, clone = server.folder / "s256.git", server.folder / "s256"
    for folder, more in ((bare, ["--bare"]), (clone, [])):
        git("init", "-q", *more, "--object-format=sha256", "--initial-branch=main", folder, cwd=server.folder)
    work = StudentRepository(bare, clone, f"{server.address}/s256.git")
    commit = work.write(double_ipynb=NOTEBOOK).push()
    found = looks()
    found.at(work.url)
    assert [kept.commit for _, kept in found.store.of("ada", NAME)] == [commit] and len(commit) == 64


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_account_on_this_machine_is_refused_with_the_remedy(looks, work):
    found = looks(protocols=["file"])
    work.write(double_ipynb=NOTEBOOK).push()
    for owner in (65534, 0):
        for path in (work.bare, *work.bare.rglob("*")):
            os.chown(path, owner, owner)
        seen = found.at(f"file://{work.bare}")
        assert ("Let the account that grades own it" in seen.unreached) == (owner != 0)
    assert len(found.files()) == 1


def test_a_hand_in_whose_record_is_damaged_is_named_and_costs_no_other_anything(students, capfd):
    students.student("ada")
    students.push("ada")
    assert students.watch() == 0
    (record,) = GitStore(students.course.root).hand_ins.glob("ada/*/*/hand-in.json")
    record.write_bytes(b"")  # as after a power failure
    students.student("ben")
    students.push("ben", TRIPLE)
    capfd.readouterr()
    assert students.watch() == 1
    out = capfd.readouterr().out
    (remedy,) = re.findall(r"`(rm -r .*?)` and have it handed in again", out)
    assert f"{record} can't be read" in out and "Traceback" not in out
    assert (students.score("ada"), students.score("ben")) == (10, 3)
    subprocess.run(shlex.split(remedy), check=True)
    students.push("ada", TRIPLE)
    assert students.watch() == 0
    assert students.score("ada") == 3


def test_a_hand_in_that_comes_during_a_look_is_not_called_damaged(students, monkeypatch):
    students.student("ada")
    store = GitStore(students.course.root)
    running = RunningCourse.open(students.course.root)
    source, gradebook = StoredSource(running, store), running.gradebook

    def meanwhile() -> Any:
        fetched = Fetched("ada", NAME, datetime.now(UTC), 1, None, "c", "t", "http", "")
        store.add(fetched, [("double.ipynb", b"{")])
        return gradebook()

    monkeypatch.setattr(running, "gradebook", meanwhile)
    assert source.look() == Look()
    monkeypatch.undo()
    assert source.changed() and len(source.look().hand_ins) == 1


@pytest.mark.parametrize("name", ["Ada", "jose\u0301"])
def test_a_name_like_one_in_the_gradebook_is_left_to_a_person(students, capfd, name):
    with students.course.gradebook() as book:
        for known in ("ada", "jos\u00e9"):
            book.add_student(known)
    repository = students.server.repository("odd")
    students.repositories[name] = repository
    students.row(f"{name},{repository.url},{NAME}")
    students.push(name)
    assert students.watch() == 1
    out = capfd.readouterr().out
    assert "is like a name in the gradebook, which doesn't have this one" in out and ascii(name) in out
    add, remove = re.search(r"`(nbgrader db student add .*?)`", out)[1], re.search(r"`(rm -r .*?)`", out)[1]
    assert not (students.course.root / "submitted").exists()
    if name == "Ada":  # somebody else
        assert students.course.run(*shlex.split(add)).returncode == 0
        assert students.watch() == 0 and students.score("Ada") == 10
    else:
        students.rows.clear()
        students.row(f"jos\u00e9,{repository.url},{NAME}")
        subprocess.run(shlex.split(remove), check=True)
        assert students.watch() == 0 and students.score("jos\u00e9") == 10


@pytest.mark.thorough
def test_results_that_the_host_refused_are_sent_after_what_the_message_says(students, capfd):
    store = GitStore(students.course.root)
    students.student("ada")
    students.push("ada")
    store.post("ada", Outgoing("https://h.edu/a", "c0ffee", NAME, True, "1 of 1 point"))
    store.not_sent.mkdir()
    (refused,) = store.outbox.iterdir()
    refused.rename(store.not_sent / refused.name)
    assert students.watch() == 1
    (remedy,) = re.findall(r"1 result refused by the host: .*`(mv .*)`", capfd.readouterr().out)
    subprocess.run(["bash", "-c", remedy], check=True)
    assert len(store.outgoing()) == 1 and students.watch() == 0


def test_only_what_processes_that_ended_left_is_removed(tmp_path):
    store = GitStore(tmp_path)
    ended = subprocess.Popen(["true"])
    ended.wait()
    for name in (f"{ended.pid}-x", "of an earlier version"):
        (store.unfinished / name / "files").mkdir(parents=True)
        (store.unfinished / f"new-{name}").mkdir()  # perhaps of a process in another container
    hour_ago = time.time() - 3700
    with store.scratch() as mine:
        for path in store.unfinished.iterdir():
            if not path.name.startswith("new-"):
                os.utime(path, (hour_ago, hour_ago))
        store.clean(3600)
        left = {path for path in store.unfinished.iterdir() if not path.name.startswith("new-")}
        assert left == {mine} and len(list(store.unfinished.iterdir())) == 3
        store.clean()
        assert list(store.unfinished.iterdir()) == [mine]


def test_requests_beside_an_untouched_notebook_are_named(looks, work):
    found = looks()
    (Path(found.job.release) / NAME).mkdir(parents=True)
    (Path(found.job.release) / NAME / "double.ipynb").write_text(NOTEBOOK)
    work.write(double_ipynb=NOTEBOOK, requests_txt="double::test_value: why?").push()
    assert "requests.txt beside the notebook as it was handed out" in found.at(work.url).problem


def test_a_repository_of_several_students_and_a_large_one_have_their_hand_ins(looks, work):
    """Who has not handed in yet has done nothing wrong, and other folders may be full."""
    found = looks()
    (Path(found.job.release) / NAME).mkdir(parents=True)
    (Path(found.job.release) / NAME / "double.ipynb").write_text("as handed out")
    work.write(ada__double_ipynb=NOTEBOOK).push()
    assert (found.at(work.url, "eve", folder="eve").problem, found.files("eve")) == ("", [])
    work.write(**{"01_double__double_ipynb": NOTEBOOK} | {f"more__{number}_txt": "x" for number in range(60)})
    work.push()
    assert found.at(work.url, name="").problem == "" and len(found.files()) == 1

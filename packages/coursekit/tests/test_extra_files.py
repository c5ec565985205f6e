"""What lies beside a notebook, and the time at which it was handed in."""

import os
from datetime import datetime
from pathlib import PurePath

import pytest

from coursekit.student.extra_files import ExtraFiles, HandedOut, StuckError, time_handed_in


@pytest.fixture
def beside(tmp_path):
    folder = tmp_path / "submitted" / "ann" / "01"
    folder.mkdir(parents=True)
    (folder / "a.ipynb").write_text("{}")
    return ExtraFiles.in_course(tmp_path, folder)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-01-15 17:30:00 UTC", datetime(2026, 1, 15, 17, 30)),
        ("2026-01-15 17:30:00.250000 UTC\n", datetime(2026, 1, 15, 17, 30, 0, 250000)),
        ("2026-01-15 17:30:00", datetime(2026, 1, 15, 17, 30)),
        ("2026-01-15 17:30:00 Europe/Berlin", datetime(2026, 1, 15, 16, 30)),
        ("2026-01-15T17:30:00+01:00", datetime(2026, 1, 15, 16, 30)),
        ("Jan 15, 2026 5pm", datetime(2026, 1, 15, 17)),
        ("", None),
        ("12", None),
        ("soon", None),
        ("2026" * 15, None),
        ("9999-12-31 23:59:59 -1400", None),
        ("2026-01-15 17:30:00 /etc/localtime", None),
        ("2026-01-15 17:30:00 ../../etc/localtime", None),
        ("2026-01-15 17:30:00 UTC" + " " * 2000, None),
    ],
)
def test_times_are_read_as_nbgrader_reads_them_and_nothing_else_is(tmp_path, text, time):
    (tmp_path / "timestamp.txt").write_text(text)
    assert time_handed_in(tmp_path) == time


def test_without_a_timestamp_the_time_is_unknown(tmp_path):
    assert time_handed_in(tmp_path) is None


def test_ordinary_files_and_folders_stay_where_they_are(beside):
    (beside.folder / "data").mkdir()
    (beside.folder / "data" / "x.csv").write_text("1")
    (beside.folder / "timestamp.txt").write_text("2026-01-15 17:30:00 UTC")
    (beside.folder / "submission_secret.txt").write_text("f" * 128)
    before = sorted(beside.folder.rglob("*"))
    assert beside.set_aside() == []
    assert sorted(beside.folder.rglob("*")) == before
    assert not beside.aside.parent.exists()


def test_what_was_set_aside_is_said_again_until_the_notebook_is_handed_in_again(beside):
    os.mkfifo(beside.folder / "pipe")
    said = beside.set_aside()
    assert said == ["pipe is a pipe, so it was set aside."]
    again = ExtraFiles(beside.folder, beside.aside)
    assert again.set_aside() == again.notes() == said
    newer = beside.folder / "newer"
    newer.write_text("{}")
    later = (beside.aside.with_name("01.json").stat().st_mtime_ns // 10**9) - 10
    os.utime(beside.aside.with_name("01.json"), (later, later))
    newer.replace(beside.folder / "a.ipynb")
    assert ExtraFiles(beside.folder, beside.aside).set_aside() == []


def test_a_timestamp_that_was_set_aside_leaves_an_empty_one_which_means_unknown(beside):
    (beside.folder / "timestamp.txt").write_text("soon")
    beside.set_aside()
    assert (beside.folder / "timestamp.txt").read_text() == ""
    assert (beside.aside / "timestamp.txt").read_text() == "soon"


def test_a_secret_that_was_set_aside_leaves_one_that_nobody_knows(beside):
    (beside.folder / "submission_secret.txt").mkdir()
    beside.set_aside()
    assert len((beside.folder / "submission_secret.txt").read_text()) == 128


def test_files_are_set_aside_when_together_they_are_too_large(beside):
    beside.max_bytes = 1000
    for name in "abc":
        (beside.folder / name).write_bytes(bytes(400))
    (said,) = beside.set_aside()
    assert said.startswith("c exceeds the limits on files handed in")
    assert (beside.folder / "a").exists() and (beside.folder / "b").exists()


def test_a_file_inside_a_folder_is_set_aside_under_its_own_path(beside):
    (beside.folder / "data").mkdir()
    (beside.folder / "data" / "link").symlink_to("/etc/passwd")
    (beside.folder / "data" / "x").write_text("1")
    assert beside.set_aside() == ["data/link is a link, so it was set aside."]
    assert (beside.aside / "data" / "link").is_symlink()
    assert (beside.folder / "data" / "x").exists()


def test_what_would_be_in_the_way_of_a_file_that_was_handed_out_is_set_aside(beside):
    beside.handed_out = HandedOut(frozenset({PurePath("data/x.csv")}), frozenset({PurePath("data")}))
    (beside.folder / "data" / "x.csv").mkdir(parents=True)
    assert beside.set_aside() == ["data/x.csv is a folder where a file belongs, so it was set aside."]


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_set_aside(beside):
    (beside.folder / "closed").write_text("x")
    (beside.folder / "closed").chmod(0)
    assert beside.set_aside() == ["closed has no read permission, so it was set aside."]


def test_what_can_t_be_moved_is_named(beside):
    beside.aside.parents[1].parent.mkdir(parents=True)
    beside.aside.parents[1].write_text("in the way")
    os.mkfifo(beside.folder / "pipe")
    with pytest.raises(StuckError, match=r"ann/01/pipe can't be set aside .*: remove it yourself"):
        beside.set_aside()


@pytest.mark.parametrize(
    ("depth", "said"),
    [(20, []), (30, ["deep is nested more than 20 folders deep, so it was set aside and not copied."])],
)
def test_a_chain_of_folders_that_is_too_deep_is_called_so(beside, depth, said):
    beside.folder.joinpath("deep", *"x" * (depth - 1)).mkdir(parents=True)
    assert beside.set_aside() == said


def test_a_folder_of_too_many_files_is_called_so(beside):
    (beside.folder / "many").mkdir()
    for number in range(2002):
        (beside.folder / "many" / str(number)).touch()
    assert beside.set_aside() == [
        "many holds a folder of more than 2,000 files, so it was set aside and not copied."
    ]

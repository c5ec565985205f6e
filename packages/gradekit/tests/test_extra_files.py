"""Files submitted with a notebook, and the time of submission."""

import os
from datetime import datetime
from pathlib import PurePath

import pytest

from gradekit.submission.extra_files import ExtraFiles, StuckError, time_handed_in


@pytest.fixture
def extra(tmp_path):
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
def test_times_are_read_as_nbgrader_reads_them(tmp_path, text, time):
    (tmp_path / "timestamp.txt").write_text(text)
    assert time_handed_in(tmp_path) == time


def test_without_a_timestamp_the_time_is_unknown(tmp_path):
    assert time_handed_in(tmp_path) is None


def test_ordinary_files_and_folders_stay_where_they_are(extra):
    (extra.folder / "data").mkdir()
    (extra.folder / "data" / "x.csv").write_text("1")
    (extra.folder / "timestamp.txt").write_text("2026-01-15 17:30:00 UTC")
    (extra.folder / "submission_secret.txt").write_text("f" * 128)
    before = sorted(extra.folder.rglob("*"))
    assert extra.set_aside() == []
    assert sorted(extra.folder.rglob("*")) == before
    assert not extra.aside.parent.exists()


def test_notes_are_repeated_until_the_notebook_is_handed_in_again(extra):
    os.mkfifo(extra.folder / "pipe")
    notes = extra.set_aside()
    assert notes == ["pipe is a pipe, so it was set aside."]
    again = ExtraFiles(extra.folder, extra.aside)
    assert again.set_aside() == again.notes() == notes
    newer = extra.folder / "newer"
    newer.write_text("{}")
    later = (extra.aside.with_name("01.json").stat().st_mtime_ns // 10**9) - 10
    os.utime(extra.aside.with_name("01.json"), (later, later))
    newer.replace(extra.folder / "a.ipynb")
    assert ExtraFiles(extra.folder, extra.aside).set_aside() == []


def test_a_timestamp_that_is_set_aside_is_replaced_by_an_empty_file(extra):
    (extra.folder / "timestamp.txt").write_text("soon")
    extra.set_aside()
    assert (extra.folder / "timestamp.txt").read_text() == ""
    assert (extra.aside / "timestamp.txt").read_text() == "soon"


def test_a_secret_that_is_set_aside_is_replaced_by_a_random_one(extra):
    (extra.folder / "submission_secret.txt").mkdir()
    extra.set_aside()
    assert len((extra.folder / "submission_secret.txt").read_text()) == 128


def test_files_that_are_too_large_together_are_set_aside(extra):
    extra.max_bytes = 1000
    for name in "abc":
        (extra.folder / name).write_bytes(bytes(400))
    (notes,) = extra.set_aside()
    assert notes.startswith("c exceeds the limits on files handed in")
    assert (extra.folder / "a").exists() and (extra.folder / "b").exists()


def test_a_file_inside_a_folder_keeps_its_path_when_it_is_set_aside(extra):
    (extra.folder / "data").mkdir()
    (extra.folder / "data" / "link").symlink_to("/etc/passwd")
    (extra.folder / "data" / "x").write_text("1")
    assert extra.set_aside() == ["data/link is a link, so it was set aside."]
    assert (extra.aside / "data" / "link").is_symlink()
    assert (extra.folder / "data" / "x").exists()


def test_a_folder_in_place_of_a_released_file_is_set_aside(extra):
    extra.handed_out = frozenset({PurePath("data/x.csv")})
    (extra.folder / "data" / "x.csv").mkdir(parents=True)
    assert extra.set_aside() == ["data/x.csv is a folder where a file belongs, so it was set aside."]


def test_a_file_without_read_permission_is_set_aside(extra, monkeypatch):
    # root may read everything, so here the mode decides
    monkeypatch.setattr(os, "access", lambda path, mode: bool(path.stat().st_mode & 0o400))
    (extra.folder / "closed").write_text("x")
    (extra.folder / "closed").chmod(0)
    assert extra.set_aside() == ["closed has no read permission, so it was set aside."]


def test_a_file_that_cannot_be_moved_is_an_error(extra):
    extra.aside.parents[1].parent.mkdir(parents=True)
    extra.aside.parents[1].write_text("in the way")
    os.mkfifo(extra.folder / "pipe")
    with pytest.raises(StuckError, match=r"ann/01/pipe can't be set aside .*: remove it yourself"):
        extra.set_aside()


@pytest.mark.parametrize(
    ("depth", "notes"),
    [(20, []), (30, ["deep is nested more than 20 folders deep, so it was set aside and not copied."])],
)
def test_folders_that_are_nested_too_deeply_are_set_aside(extra, depth, notes):
    extra.folder.joinpath("deep", *"x" * (depth - 1)).mkdir(parents=True)
    assert extra.set_aside() == notes


def test_a_folder_with_too_many_files_is_set_aside(extra):
    (extra.folder / "many").mkdir()
    for number in range(2002):
        (extra.folder / "many" / str(number)).touch()
    assert extra.set_aside() == [
        "many holds a folder of more than 2,000 files, so it was set aside and not copied."
    ]

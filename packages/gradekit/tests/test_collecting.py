"""`nbgrader collect` from an exchange in which some students leave what nbgrader can't collect, or only with harm."""

import logging
import os
import shutil
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import ExchangeCollect
from traitlets.config import Config

from gradekit.nbgrader_plugin import configure
from gradekit.nbgrader_plugin.collecting import HarmlessCollect, copy_regular_files

TIME = "2026-01-10 12:00:00.000000 UTC"


class Exchange:
    """An exchange folder, and the course that collects `ps1` from it."""

    def __init__(self, folder: Path) -> None:
        self.inbound = folder / "exchange" / "tiny" / "inbound"
        self.inbound.mkdir(parents=True)
        self.root = folder / "course"
        self.root.mkdir()

    def hand_in(self, student: str, time: str = TIME) -> Path:
        submission = self.inbound / f"{student}+ps1+{time}+x"
        submission.mkdir()
        (submission / "ps1.ipynb").write_text("{}")
        (submission / "timestamp.txt").write_text(time)
        return submission

    def collect(self, collector: type[ExchangeCollect] = HarmlessCollect, **options: object) -> None:
        course = CourseDirectory(root=str(self.root), course_id="tiny", assignment_id="ps1")
        course.db_url = "sqlite://"
        for name in ("max_dir_size", "max_file_size"):
            if name in options:
                setattr(course, name, options.pop(name))
        config = Config(Exchange={"root": str(self.inbound.parents[1])}, ExchangeCollect=options)
        collector(coursedir=course, authenticator=None, config=config, check_owner=False).start()

    def collected(self) -> list[str]:
        return sorted(path.name for path in (self.root / "submitted").glob("*") if (path / "ps1").exists())

    def files(self, student: str) -> list[str]:
        return sorted(path.name for path in (self.root / "submitted" / student / "ps1").iterdir())


@pytest.fixture
def exchange(tmp_path: Path) -> Exchange:
    found = Exchange(tmp_path)
    found.hand_in("honest")
    return found


def put_pipe(submission: Path) -> None:
    os.mkfifo(submission / "pipe")


def put_link_to_endless_device(submission: Path) -> None:
    (submission / "zeros").symlink_to("/dev/zero")


def put_link_to_nowhere(submission: Path) -> None:
    (submission / "nowhere").symlink_to("/nowhere")


def put_link_to_a_secret(submission: Path) -> None:
    (submission.parents[3] / "secret").write_text("secret")
    (submission / "notes.txt").symlink_to(submission.parents[3] / "secret")


def put_link_to_a_folder(submission: Path) -> None:
    (submission / "everything").symlink_to("/usr")


def put_notebook_that_is_a_link(submission: Path) -> None:
    (submission / "ps1.ipynb").unlink()
    (submission / "ps1.ipynb").symlink_to("/dev/zero")


def put_deep_folders(submission: Path) -> None:
    here = os.getcwd()
    os.chdir(submission)
    for _ in range(60):
        os.mkdir("d")
        os.chdir("d")
    os.chdir(here)


def put_large_file(submission: Path) -> None:
    with (submission / "large").open("wb") as file:
        file.truncate(2**40)


def put_many_files(submission: Path) -> None:
    for number in range(2500):
        (submission / str(number)).touch()


def put_timestamp_that_is_a_pipe(submission: Path) -> None:
    (submission / "timestamp.txt").unlink()
    os.mkfifo(submission / "timestamp.txt")


def put_timestamp_that_is_no_time(submission: Path) -> None:
    (submission / "timestamp.txt").write_bytes(bytes(range(256)))


def be_a_file(submission: Path) -> None:
    shutil.rmtree(submission)
    submission.touch()


def be_a_link(submission: Path) -> None:
    shutil.rmtree(submission)
    submission.symlink_to("/usr")


ODD = [
    put_pipe,
    put_link_to_endless_device,
    put_link_to_nowhere,
    put_link_to_a_secret,
    put_link_to_a_folder,
    put_notebook_that_is_a_link,
    put_deep_folders,
    put_large_file,
    put_many_files,
    put_timestamp_that_is_a_pipe,
    put_timestamp_that_is_no_time,
    be_a_file,
    be_a_link,
]


@pytest.mark.slow
def test_nothing_that_a_student_hands_in_keeps_another_from_being_collected_and_updated(exchange):
    for number, put in enumerate(ODD):
        put(exchange.hand_in(f"{number:02}-odd"))
        exchange.hand_in(f"{number:02}-x")
    exchange.collect()
    for number in range(len(ODD)):
        exchange.hand_in(f"{number:02}-x", TIME.replace("12:", "13:"))
    exchange.collect(update=True)
    submitted = exchange.root / "submitted"
    for number in range(len(ODD)):
        assert "13:00" in (submitted / f"{number:02}-x" / "ps1" / "timestamp.txt").read_text()
    everything = list(submitted.rglob("*"))
    assert sum(path.stat().st_size for path in everything if path.is_file()) < 10_000
    assert not any(path.is_symlink() or path.is_fifo() for path in everything)
    assert "secret" not in "".join(path.read_text() for path in everything if path.suffix == ".txt")


@pytest.mark.slow
def test_what_can_be_collected_of_a_submission_is_collected(exchange, caplog):
    submission = exchange.hand_in("ada")
    put_pipe(submission)
    (submission / "data").mkdir()
    (submission / "data" / "own.csv").write_text("1,2")
    with caplog.at_level(logging.WARNING):
        exchange.collect()
    assert exchange.files("ada") == ["data", "ps1.ipynb", "timestamp.txt"]
    assert "pipe isn't a regular file, so it was not collected." in caplog.text


@pytest.mark.slow
def test_a_folder_whose_name_has_no_time_is_reported_and_the_others_are_collected(exchange, caplog):
    for time in ("soon", "", "99999-01-01 00:00:00 UTC", "2026-01-01 12:00:00 .."):
        (exchange.inbound / f"mallory+ps1+{time}").mkdir()
    exchange.collect()
    assert exchange.collected() == ["honest"]
    assert caplog.text.count("was not collected: nbgrader names such folders") == 4


@pytest.mark.thorough
def test_a_bad_timestamp_that_was_collected_before_does_not_stop_an_update(exchange):
    exchange.collect()
    (exchange.root / "submitted" / "honest" / "ps1" / "timestamp.txt").write_text("yesterday")
    exchange.hand_in("honest", TIME.replace("12:", "13:"))
    exchange.collect(update=True)
    text = (exchange.root / "submitted" / "honest" / "ps1" / "timestamp.txt").read_text()
    assert text == TIME.replace("12:", "13:")


def test_files_beyond_nbgraders_limits_stay_in_the_exchange_and_notebooks_come_first(exchange, caplog):
    submission = exchange.hand_in("ada")
    (submission / "a.bin").write_bytes(bytes(900_000))
    (submission / "b.bin").write_bytes(bytes(900_000))
    exchange.collect(max_dir_size=1000)  # kB
    assert exchange.files("ada") == ["a.bin", "ps1.ipynb", "timestamp.txt"]
    assert "b.bin exceeds the limit on the size of a submission" in caplog.text


def test_an_honest_class_is_collected_as_nbgrader_does_it(exchange, tmp_path):
    exchange.hand_in("ada", TIME.replace("12:", "11:"))
    late = exchange.hand_in("ada", TIME.replace("12:", "13:"))
    (late / ".ipynb_checkpoints").mkdir()
    (late / ".ipynb_checkpoints" / "ps1-checkpoint.ipynb").write_text("{}")
    exchange.collect(ExchangeCollect)
    usual = exchange.root / "submitted"
    usual.rename(tmp_path / "usual")
    exchange.collect()
    ours, theirs = (
        {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}
        for root in (usual, tmp_path / "usual")
    )
    assert ours == theirs
    assert "ada/ps1/ps1.ipynb" in ours


def test_an_unreadable_folder_is_an_error(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        copy_regular_files(tmp_path / "nowhere", tmp_path / "copy", 1000)


def test_a_folder_name_gives_the_time_that_nbgrader_reads(exchange):
    collector = HarmlessCollect(coursedir=CourseDirectory(root=str(exchange.root)), authenticator=None)
    record = collector._path_to_record(f"/x/a+b+ps1+{TIME}+secret")
    assert (record["username"], record["timestamp"]) == ("a+b", datetime(2026, 1, 10, 12))


def test_an_exchange_that_the_course_has_chosen_stays():
    config = Config(ExchangeFactory={"collect": "some.hub.Collect"})
    configure(config)
    assert config.ExchangeFactory.collect == "some.hub.Collect"
    config = Config()
    configure(config)
    assert config.ExchangeFactory.collect.endswith("HarmlessCollect")

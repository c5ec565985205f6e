"""Downloads from Canvas, Moodle and Gradescope become submissions, through nbgrader's own command."""

import csv
import io
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

SAMPLES = Path(__file__).parent / "samples"
NOTEBOOK = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'

Content = str | bytes


def zipped(files: dict[str, Content], method: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def damaged(method: int, start: int) -> bytes:
    """A zip of a notebook with some bytes overwritten, `start` bytes into the content."""
    packed = bytearray(zipped({"double.ipynb": NOTEBOOK}, method))
    begin = packed.index(b"double.ipynb") + len("double.ipynb") + start
    packed[begin : begin + 8] = b"\xff" * 8
    return bytes(packed)


def tarred(name: str, content: str, **headers: str) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        entry = tarfile.TarInfo(name)
        entry.size, entry.pax_headers = len(content), headers
        archive.addfile(entry, io.BytesIO(content.encode()))
    return stream.getvalue()


def rows(name: str) -> list[list[str]]:
    with (SAMPLES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


@pytest.fixture
def collect(generated) -> Callable[..., subprocess.CompletedProcess]:
    """Run `nbgrader zip_collect` on one download that holds these files."""

    def run(product: str, files: dict[str, Content], *options: str) -> subprocess.CompletedProcess:
        archive = generated.root / "downloaded" / "01_double" / "archive"
        archive.mkdir(parents=True, exist_ok=True)
        (archive / "submissions.zip").write_bytes(zipped(files))
        collector = f"--collector=coursekit.lms.{product}Collector"
        done = generated.run("nbgrader", "zip_collect", "01_double", collector, *options)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def handed_in(generated) -> Callable[[], dict[tuple[str, str], str]]:
    """The notebooks in submitted/: their text by student and name."""

    def look() -> dict[tuple[str, str], str]:
        files = (generated.root / "submitted").glob("*/01_double/*.ipynb")
        return {(path.parts[-3], path.stem): path.read_text() for path in files}

    return look


@pytest.fixture
def enrol(generated) -> Callable[..., None]:
    """Put students into the gradebook, as `nbgrader db student import` does."""

    def add(student: str, **values: str) -> None:
        with generated.gradebook() as gradebook:
            gradebook.add_student(student, **values)

    return add


@pytest.mark.parametrize("product", ["Canvas", "Moodle"])
def test_file_names_identify_the_student_and_the_notebook(product, collect, handed_in):
    sample = rows(f"{product.lower()}_downloads.csv")
    done = collect(product, {name: NOTEBOOK for name, _, _ in sample})
    assert handed_in().keys() == {(student, notebook) for _, student, notebook in sample}
    late = re.findall(r"Canvas marks (\S+) as late", done.stderr)
    assert late == (["leehan"] if product == "Canvas" else [])


def test_gradescope_metadata_has_the_students_and_the_times(collect, handed_in, generated):
    top = "assignment_9_export"
    files = {f"{top}/submission_10000000{number}/double.ipynb": NOTEBOOK for number in range(1, 6)}
    metadata = (SAMPLES / "submission_metadata.yml").read_text(encoding="utf-8")
    done = collect("Gradescope", files | {f"{top}/submission_metadata.yml": metadata})
    students = {"00123", "joerg@example.edu", "00125"}
    assert handed_in().keys() == {(student, "double") for student in students}
    stamp = generated.root / "submitted" / "00123" / "01_double" / "timestamp.txt"
    assert stamp.read_text() == "2026-01-15 17:30:00"
    assert "00125 also handed in for 00126" in done.stderr
    for number in (4, 5):
        assert f"submission_metadata.yml has no entry for submission_10000000{number}" in done.stderr


def test_students_are_found_in_the_gradebook_by_number_name_or_email(collect, handed_in, enrol):
    enrol("jane", lms_user_id="12345", first_name="Jane", last_name="Doe", email="Jane@Example.edu")
    collect("Canvas", {"doejane_12345_678901_double.ipynb": NOTEBOOK})
    assert handed_in().keys() == {("jane", "double")}
    for product, name in [
        ("Moodle", "Doe Jane_99_assignsubmission_file_/double.ipynb"),
        ("Gradescope", "submission_7/double.ipynb"),
    ]:
        metadata = "submission_7: {':submitters': [{':name': J, ':sid': '', ':email': jane@example.edu}]}"
        collect(product, {name: NOTEBOOK, "submission_metadata.yml": metadata}, "--force")
        assert handed_in().keys() == {("jane", "double")}


def test_the_newer_of_two_files_counts(collect, handed_in):
    collect(
        "Canvas",
        {
            "doejane_12345_999999_double.ipynb": "older",
            "doejane_12345_1000000_double-1.ipynb": "newer",
        },
    )
    assert handed_in() == {("doejane-12345", "double"): "newer"}


def test_people_with_the_same_name_are_not_mixed_up(collect, handed_in):
    done = collect(
        "Moodle",
        {
            "Jane Doe_1_assignsubmission_file_/double.ipynb": "hers",
            "Jane Doe_2_assignsubmission_file_/double.ipynb": "the other's",
            "Han Lee_3_assignsubmission_file_/double.ipynb": "his",
        },
    )
    assert handed_in() == {("han-lee", "double"): "his"}
    assert "jane-doe may be several people" in done.stderr


def test_a_name_shared_by_two_students_of_the_gradebook_is_not_collected(collect, handed_in, enrol):
    enrol("jane1", first_name="Jane", last_name="Doe")
    enrol("jane2", first_name="Jane", last_name="Doe")
    done = collect("Moodle", {"Jane Doe_1_assignsubmission_file_/double.ipynb": NOTEBOOK})
    assert handed_in() == {}
    assert "Jane Doe may be jane1 or jane2. Copy the file into submitted/ yourself." in done.stderr


def test_a_file_without_an_owner_is_reported_and_the_others_are_collected(collect, handed_in):
    done = collect("Canvas", {"notes.ipynb": NOTEBOOK, "doejane_12345_678901_double.ipynb": NOTEBOOK})
    assert handed_in().keys() == {("doejane-12345", "double")}
    assert "notes.ipynb was not collected: its name isn't of the form that Canvas uses" in done.stderr


def test_archives_from_students_are_unpacked(collect, handed_in):
    collect(
        "Canvas",
        {
            "doejane_1_11_work.zip": zipped({"deep/double.ipynb": NOTEBOOK, "__MACOSX/._double.ipynb": "x"}),
            "leehan_2_12_work.tar.gz": tarred("work/double.ipynb", NOTEBOOK),
        },
    )
    assert handed_in().keys() == {("doejane-1", "double"), ("leehan-2", "double")}


def test_broken_and_malicious_archives_affect_no_other(collect, handed_in, generated):
    done = collect(
        "Canvas",
        {
            "a_1_11_work.zip": b"PK not really",
            "b_2_12_work.zip": zipped(
                {"../../../../../escaped.ipynb": "x", "/escaped.ipynb": "x", "..\\escaped.ipynb": "x"}
            ),
            "c_3_13_work.gz": b"neither",
            "d_4_14_work.zip": zipped({"zeros.ipynb": b"0" * (3 << 20)}),
            "../e_5_15_double.ipynb": NOTEBOOK,
            "doejane_12345_678901_double.ipynb": NOTEBOOK,
        },
        "--HarmlessExtractor.size_limit=2",
    )
    assert handed_in() == {("doejane-12345", "double"): NOTEBOOK}
    assert list(generated.root.parent.rglob("escaped*")) == []
    assert "a_1_11_work.zip can't be unpacked" in done.stderr
    assert "points outside its folder and was skipped" in done.stderr
    assert "d_4_14_work.zip takes too much space" in done.stderr


def test_a_damaged_archive_is_reported_and_the_others_are_collected(collect, handed_in):
    done = collect(
        "Canvas",
        {
            "a_1_11_work.zip": damaged(zipfile.ZIP_DEFLATED, 0),
            "b_2_12_work.zip": damaged(zipfile.ZIP_LZMA, 4),
            "c_3_13_work.zip": zipped({"double.ipynb": NOTEBOOK}),
        },
    )
    assert handed_in().keys() == {("c-3", "double")}
    for name in ("a_1_11_work.zip", "b_2_12_work.zip"):
        assert f"{name} can't be unpacked" in done.stderr


def test_long_headers_and_many_empty_files_count_as_space(collect, handed_in):
    done = collect(
        "Canvas",
        {
            "a_1_11_work.tar.gz": tarred("double.ipynb", NOTEBOOK, comment="x" * (3 << 20)),
            "b_2_12_work.zip": zipped({f"{number}.txt": "" for number in range(600)}),
            "c_3_13_work.tar.gz": tarred("double.ipynb", NOTEBOOK, comment="x" * (1 << 20)),
        },
        "--HarmlessExtractor.size_limit=2",
    )
    assert handed_in().keys() == {("c-3", "double")}
    for name in ("a_1_11_work.tar.gz", "b_2_12_work.zip"):
        assert f"{name} takes too much space" in done.stderr


def test_several_downloads_share_one_limit(collect, handed_in, generated):
    first = generated.root / "downloaded" / "01_double" / "archive" / "first.zip"
    first.parent.mkdir(parents=True)
    first.write_bytes(zipped({"a_1_11_double.ipynb": NOTEBOOK, "zeros": b"0" * (3 << 20)}))
    done = collect(
        "Canvas",
        {"zeros": b"0" * (3 << 20), "b_2_12_double.ipynb": NOTEBOOK},
        "--HarmlessExtractor.download_limit=5",
    )
    assert handed_in().keys() == {("a-1", "double")}
    assert "submissions.zip takes too much space" in done.stderr


def test_collected_submissions_are_graded_like_any_other(collect, generated):
    notebook = generated.answer("def double(x):\n    return 2 * x")
    collect("Canvas", {"doejane_12345_678901_double-1.ipynb": nbformat.writes(notebook)})
    assert generated.coursekit("autograde", "01_double", "--workers", "1") == 0
    assert generated.grades()["doejane-12345"]["test_double"][0] == 10

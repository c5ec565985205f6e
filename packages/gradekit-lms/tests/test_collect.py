"""`nbgrader zip_collect` with the downloads of an LMS."""

import io
import re
import stat
import tarfile
import zipfile
from pathlib import Path

import nbformat
import pytest

from ...gradekit.tests.needs import mostly_slow
from .downloads import NOTEBOOK, SAMPLES, damaged, rows, tarred, zipped


@pytest.mark.parametrize("product", mostly_slow(["Canvas", "Moodle"]))
def test_file_names_identify_the_student_and_the_notebook(product, collect, handed_in):
    sample = rows(f"{product.lower()}_downloads.csv")
    done = collect(product, {name: NOTEBOOK for name, _, _ in sample})
    assert handed_in().keys() == {(student, notebook) for _, student, notebook in sample}
    late = re.findall(r"Late, .*:\n +(\S+)\n", done.reported)
    assert late == (["leehan-12347"] if product == "Canvas" else [])


def test_gradescope_metadata_has_the_students_and_the_times(collect, handed_in, generated):
    top = "assignment_9_export"
    files = {f"{top}/submission_10000000{number}/double.ipynb": NOTEBOOK for number in range(1, 6)}
    metadata = (SAMPLES / "submission_metadata.yml").read_text(encoding="utf-8")
    done = collect("Gradescope", files | {f"{top}/submission_metadata.yml": metadata})
    students = {"00123", "joerg@example.edu", "00125", "00126"}
    assert handed_in().keys() == {(student, "double") for student in students}
    stamp = generated.root / "submitted" / "00123" / "01_double" / "timestamp.txt"
    assert stamp.read_text() == "2026-01-15 17:30:00"
    for member in ("00125", "00126"):
        stamp = generated.root / "submitted" / member / "01_double" / "timestamp.txt"
        assert stamp.read_text() == "2026-01-16 11:00:00"
    assert "00126: submissions/assignment_9_export/submission_100000003/double.ipynb" in done.reported
    for number in (4, 5):
        reason = f"submission_metadata.yml has no entry for submission_10000000{number}"
        assert f"Not collected, since {reason}" in done.stderr


@pytest.mark.slow
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
    assert re.search("may be several people.*\n +jane-doe: ", done.reported)


def test_a_name_shared_by_two_students_of_the_gradebook_is_not_collected(collect, handed_in, enrol):
    enrol("jane1", first_name="Jane", last_name="Doe")
    enrol("jane2", first_name="Jane", last_name="Doe")
    done = collect("Moodle", {"Jane Doe_1_assignsubmission_file_/double.ipynb": NOTEBOOK})
    assert handed_in() == {}
    assert "Jane Doe may be jane1 or jane2. Copy the file into submitted/ yourself (1)" in done.stderr


def test_a_file_without_an_owner_is_reported_and_the_others_are_collected(collect, handed_in):
    done = collect("Canvas", {"notes.ipynb": NOTEBOOK, "doejane_12345_678901_double.ipynb": NOTEBOOK})
    assert handed_in().keys() == {("doejane-12345", "double")}
    assert re.search("its name isn't of the form that Canvas uses.*\n.*notes.ipynb", done.reported)


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
    assert not Path("/escaped.ipynb").exists()
    outside = r"b_2_12_work\.zip: .* points outside its folder or is nested too deep, and was skipped"
    assert len(re.findall(outside, done.stderr)) == 3
    assert "d_4_14_work.zip takes too much space" in done.stderr


def test_links_in_archives_are_named_and_not_collected(collect, handed_in, generated):
    zip_stream, tar_stream = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zip_stream, "w") as archive:
        archive.writestr("double.ipynb", NOTEBOOK)
        link = zipfile.ZipInfo("data.txt")
        link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    with tarfile.open(fileobj=tar_stream, mode="w:gz") as archive:
        notebook = tarfile.TarInfo("double.ipynb")
        notebook.size = len(NOTEBOOK.encode())
        archive.addfile(notebook, io.BytesIO(NOTEBOOK.encode()))
        for name, kind in (("data.txt", tarfile.SYMTYPE), ("more.txt", tarfile.LNKTYPE)):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = kind, "double.ipynb"
            archive.addfile(link)
    files = {"a_1_11_work.zip": zip_stream.getvalue(), "b_2_12_work.tar.gz": tar_stream.getvalue()}
    done = collect("Canvas", files)
    assert handed_in().keys() == {("a-1", "double"), ("b-2", "double")}
    assert list((generated.root / "submitted").rglob("*.txt")) == []
    for archive, number in (("a_1_11_work.zip", 1), ("b_2_12_work.tar.gz", 2)):
        assert (
            f"{archive}: links, devices and sparse files were skipped ({number}, such as 'data.txt')"
            in done.stderr
        )


def test_a_name_that_is_too_long_costs_nobody_else_anything(collect, handed_in):
    long = "汉" * 90
    archive = zipped({f"a_1_11_{long}.ipynb": "x", "c_3_13_double.ipynb": NOTEBOOK})
    done = collect("Canvas", {"submissions.zip": archive})
    assert handed_in().keys() == {("c-3", "double")}
    assert "can't be written (File name too long), and was skipped" in done.stderr


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


@pytest.mark.thorough
def test_submissions_are_graded_however_they_were_named(collect, generated):
    notebook = generated.answer("def double(x):\n    return 2 * x")
    collect("Canvas", {"doejane_12345_678901_double-1.ipynb": nbformat.writes(notebook)})
    generated.hand_in("han", notebook, "double.ipynb.txt")
    generated.hand_in("lena", notebook, "double-final.ipynb")
    assert generated.gradekit("autograde", "01_double", "--workers", "1") == 0
    grades = generated.grades()
    assert {student: cells["test_double"][0] for student, cells in grades.items()} == dict.fromkeys(
        ("doejane-12345", "han", "lena"), 10
    )
    (note,) = generated.autograded("lena").metadata["gradekit"]["notes"]
    assert note == "Handed in as double-final.ipynb; it was graded as double.ipynb."


def test_a_gradebook_that_cannot_be_opened_is_not_taken_for_a_new_course(collect, generated):
    (generated.root / "gradebook.db").write_text(
        "not a database, though it has more than a hundred characters " * 9
    )
    done = collect("Canvas", {"a_1_11_double.ipynb": NOTEBOOK})
    assert done.returncode == 1
    assert "isn't a database: restore the gradebook from a backup" in done.stderr


def test_strangers_are_collected_when_told_to(collect, handed_in, enrolled):
    done = collect("Canvas", {"strangereve_999_1_double.ipynb": NOTEBOOK}, "--Collector.add_students=True")
    assert handed_in().keys() == {("strangereve-999", "double")}
    assert "gradebook" not in done.reported


def test_a_new_course_takes_everybody_and_says_so_once(collect, handed_in):
    files = {f"student{number}_{number}_1_double.ipynb": NOTEBOOK for number in (1, 2)}
    done = collect("Canvas", files | {"projectgroup1_3_1_double.ipynb": NOTEBOOK})
    assert handed_in().keys() == {("student1-1", "double"), ("student2-2", "double")}
    assert done.reported.count("The gradebook has no students yet") == 1
    assert re.search("the name looks like that of a group.*\n.*projectgroup1_3_1_double.ipynb", done.reported)


def test_several_notebooks_are_told_apart_by_their_grade_ids_and_then_by_their_names(
    collect, handed_in, generated
):
    release = generated.root / "release" / "01_double"
    right = (release / "double.ipynb").read_text()
    other = (
        right.replace('"double"', '"half"').replace('"test_double"', '"test_half"').replace('"why"', '"how"')
    )
    (release / "part.2.ipynb").write_text(other)
    collect(
        "Canvas",
        {
            "a_1_11_first.ipynb": right,
            "a_1_12_second.ipynb": other,
            "b_2_13_PART.2-final.ipynb": NOTEBOOK,
            "b_2_14_my_double_2.ipynb": NOTEBOOK,
            "c_3_15_Untitled.ipynb": NOTEBOOK,
        },
    )
    expected = {(student, notebook) for student in ("a-1", "b-2") for notebook in ("double", "part.2")}
    assert handed_in().keys() == expected
    assert handed_in()["a-1", "part.2"] == other


def test_an_assignment_that_was_not_generated_is_not_collected(collect, generated):
    (generated.root / "release" / "01_double" / "double.ipynb").unlink()
    done = collect("Canvas", {"a_1_11_double.ipynb": NOTEBOOK})
    assert done.returncode == 1
    assert "run `nbgrader generate_assignment 01_double --force` first" in done.stderr


def test_folders_that_are_nested_too_deep_are_skipped(collect, handed_in):
    deep = zipped({"a/" * 1500 + "double.ipynb": "x"})
    done = collect("Canvas", {"a_1_11_work.zip": deep, "b_2_12_double.ipynb": NOTEBOOK})
    assert handed_in().keys() == {("b-2", "double")}
    assert "nested too deep" in done.stderr


def test_files_of_other_kinds_are_collected_under_their_own_names_when_told_to(collect, generated):
    files = {"a_1_11_double.ipynb": NOTEBOOK, "a_1_12_helper.py": "x = 1", "a_1_13_helper.py": "x = 2"}
    collect("Canvas", files, "--Collector.valid_ext=.ipynb", "--Collector.valid_ext=.py")
    folder = generated.root / "submitted" / "a-1" / "01_double"
    assert {path.name for path in folder.iterdir()} == {"double.ipynb", "helper.py"}
    assert (folder / "helper.py").read_text() == "x = 2"

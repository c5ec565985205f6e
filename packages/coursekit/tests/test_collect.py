"""Downloads from Canvas, Moodle and Gradescope become submissions, through nbgrader's own command."""

import csv
import io
import json
import re
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass
class Collected:
    """What `nbgrader zip_collect` logged, and its exit code."""

    stderr: str
    returncode: int = 0

    @property
    def reported(self) -> str:
        """The log without the lines in which nbgrader names every file."""
        noise = ("Parsing file", "Copying ")
        return "\n".join(line for line in self.stderr.splitlines() if not any(word in line for word in noise))


@pytest.fixture
def collect(generated) -> Callable[..., Collected]:
    """Run `nbgrader zip_collect` on one download that holds these files; None: on what is unpacked already."""

    def collect(product: str, files: dict[str, Content] | None, *options: str) -> Collected:
        archive = generated.root / "downloaded" / "01_double" / "archive"
        if files is not None:
            archive.mkdir(parents=True, exist_ok=True)
            (archive / "submissions.zip").write_bytes(zipped(files))
        collector = f"--collector=coursekit.lms.{product}Collector"
        run = generated.run("nbgrader", "zip_collect", "01_double", collector, *options)
        done = Collected(run.stderr, run.returncode)
        assert "Traceback" not in done.stderr
        return done

    return collect


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
    assert "points outside its folder or is nested too deep, and was skipped" in done.stderr
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


def test_submissions_are_graded_however_they_were_named(collect, generated):
    notebook = generated.answer("def double(x):\n    return 2 * x")
    collect("Canvas", {"doejane_12345_678901_double-1.ipynb": nbformat.writes(notebook)})
    generated.hand_in("han", notebook, "double.ipynb.txt")
    generated.hand_in("lena", notebook, "double-final.ipynb")
    assert generated.coursekit("autograde", "01_double", "--workers", "1") == 1  # it reports a renamed file
    grades = generated.grades()
    assert {student: cells["test_double"][0] for student, cells in grades.items()} == dict.fromkeys(
        ("doejane-12345", "han", "lena"), 10
    )
    (note,) = generated.autograded("lena").metadata["coursekit"]["notes"]
    assert note == "Handed in as double-final.ipynb; it was graded as double.ipynb."


STUDENTS = """
jane Jane,Doe 101|jorg Jörg,Müller 102|han Han,Lee 103|mary Mary_Ann,O'Hara 104|fang 芳,王 105|rita Rita,Rose 106
sam Sam,Smith,_Jr. 107|zoe Zoë_🎉,Faß 108|anna Anna-Lena,Groß 109|lena Lena,Groß 110|kim1 Kim,Park 111
kim2 Kim,Park 112|omar Omar,Al 113|pia Pia,Diaz 114|quin Quin,Rey 115|ugo Ugo,Neri 116|vera Vera,Wolf 117
tom Tom,Pool 119|nina Nina,Bay 120|leo Leo,Fox 121|max Max,Hunt 122|ida Ida,Low 123
"""


def content(kind: str, marker: str, released: str) -> str | bytes:
    """What a file holds; notebooks have a marker, so that one can see whose it is."""
    notebook = json.loads(released)
    notebook["metadata"]["marker"] = marker
    text = json.dumps(notebook)
    stripped = json.dumps({"cells": [], "metadata": {"marker": marker}, "nbformat": 4, "nbformat_minor": 5})
    return {
        "right": text,
        "older": text,
        "without ids": stripped,
        "text": "not a notebook",
        "folder": "",
        "zip": zipped({"my work/double.ipynb": text}),
        "zip in zip": zipped({"outer/inner.zip": zipped({"double.ipynb": text})}),
        "empty zip": zipped({}),
        "checkpoint in zip": zipped({".ipynb_checkpoints/double-checkpoint.ipynb": text}),
    }[kind]


@pytest.fixture
def enrolled(generated) -> None:
    """The students of the class are in the gradebook."""
    with generated.gradebook() as gradebook:
        for line in re.split(r"[|\n]", STUDENTS.strip()):
            student, name, number = line.split(" ")
            first, last = name.replace("_", " ").split(",", 1)
            gradebook.add_student(
                student, first_name=first, last_name=last, lms_user_id=number, email=f"{student}@example.edu"
            )


def collected_markers(root: Path) -> dict[str, set[str]]:
    """The students who have each marked notebook, as their double.ipynb."""
    found: dict[str, set[str]] = {}
    for path in (root / "submitted").glob("*/01_double/*"):
        name = path.name if path.suffix != ".ipynb" else ""
        assert name in ("", "timestamp.txt"), name
        if not name:
            marker = json.loads(path.read_text())["metadata"]["marker"]
            found.setdefault(marker, set()).add(path.parts[-3] if path.stem == "double" else str(path))
    return found


@pytest.mark.parametrize("product", ["Canvas", "Moodle", "Gradescope"])
def test_each_file_reaches_its_student_or_is_reported(product: str, collect: Callable, enrolled, generated):
    released = (generated.root / "release/01_double/double.ipynb").read_text()
    sample = rows(f"odd_{product.lower()}.csv")
    files = {name: content(kind, name, released) for name, kind, _, _ in sample}
    metadata = (SAMPLES / "odd_submission_metadata.yml").read_text(encoding="utf-8")
    done = collect(
        product, files | ({"submission_metadata.yml": metadata} if product == "Gradescope" else {})
    )
    markers, log = collected_markers(generated.root), done.reported
    wrong = []
    for name, _, students, words in sample:
        if markers.pop(name, set()) != set(students.split()):
            wrong.append(f"{name}: wrong student")
        elif words not in log:
            wrong.append(f"{name}: not reported")
    assert (wrong, markers) == ([], {}), f"{len(wrong)} of {len(sample)}: {wrong} {log}"


def test_a_listed_group_is_collected_for_each_member(collect, handed_in, generated, enrolled):
    (generated.root / "groups.csv").write_text(
        "group,student\nGroup A,jane\nGroup A,jorg@example.edu\nThe Transformers,han\nThe Transformers,103\n"
        "The Transformers,lena\nGroup B,omar\n"
    )
    groups = "--Collector.groups=groups.csv"
    for product, names in [
        ("Canvas", ["groupa_101_1_double.ipynb", "thetransformers_103_2_double-final.ipynb"]),
        ("Moodle", ["Group A_12_assignsubmission_file/double.ipynb", "The Transformers_13_assignsubmission_file_x.ipynb"]),
        ("Moodle", ["Group A-Jane Doe_1_assignsubmission_file_/double.ipynb", "Group A-Jörg Müller_2_assignsubmission_file_/double.ipynb",
                    "The Transformers-Han Lee_3_assignsubmission_file_/double.ipynb", "The Transformers-Lena Groß_4_assignsubmission_file_/double.ipynb"]),
    ]:  # fmt: skip
        done = collect(product, dict.fromkeys(names, NOTEBOOK), groups, "--force")
        assert handed_in().keys() == {(student, "double") for student in ("jane", "jorg", "han", "lena")}
        assert "not collected" not in done.reported.casefold(), done.reported


def test_a_group_that_hands_in_once_is_graded_and_gets_pages_as_two_students(collect, generated, enrolled):
    (generated.root / "groups.csv").write_text("group,student\nGroup A,jane\nGroup A,han\n")
    answer = nbformat.writes(generated.answer("def double(x):\n    return 3 * x"))
    files = {"Group A_12_assignsubmission_file/double.ipynb": answer}
    collect("Moodle", files, "--Collector.groups=groups.csv")
    assert generated.coursekit("autograde", "01_double", "--workers", "1") == 1  # others have not handed in
    done = generated.run("nbgrader", "generate_feedback", "01_double")
    assert done.returncode == 0, done.stderr
    grades = generated.grades()
    assert grades["jane"] == grades["han"] and grades["jane"]["test_double"][0] == 3
    for student in ("jane", "han"):
        page = (generated.root / "feedback" / student / "01_double" / "double.html").read_text()
        assert f"Feedback for {student}" in page and "You took three times the input." in page


def test_a_list_of_groups_may_have_semicolons_as_excel_writes_in_some_countries(
    collect, handed_in, generated
):
    (generated.root / "groups.csv").write_text("Group;Email\nGroup A;jane\nGroup A;han\n")
    collect("Moodle", {"Group A_1_assignsubmission_file/x.ipynb": NOTEBOOK}, "--Collector.groups=groups.csv")
    assert handed_in().keys() == {("jane", "double"), ("han", "double")}


def test_canvas_s_own_list_of_groups_is_read(collect, handed_in, generated, enrolled):
    (generated.root / "groups.csv").write_text(
        "\ufeffname,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id\n"
        "Jane Doe,101,,jane,Section 1,Group 1,5,\nHan Lee,103,,hlee,Section 1,Group 1,5,\nLena Groß,110,,lena,Section 1,,,\n",
        encoding="utf-8",
    )
    collect("Canvas", {"group1_101_1_double.ipynb": NOTEBOOK}, "--Collector.groups=groups.csv")
    assert handed_in().keys() == {("jane", "double"), ("han", "double")}


@pytest.mark.parametrize("text", [None, "", "team,name\na,b\n", "group,student\nÄ,b\n".encode("latin-1")])
def test_a_list_of_groups_that_cannot_be_read_ends_the_command_with_one_sentence(text, collect, generated):
    if text is not None:
        (generated.root / "groups.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    done = collect("Canvas", {"a_1_11_double.ipynb": NOTEBOOK}, "--Collector.groups=groups.csv")
    assert done.returncode == 1
    assert "groups.csv" in done.stderr
    assert not (generated.root / "submitted").exists()


def test_a_group_under_any_name_is_noticed_when_canvas_names_one_of_its_members(collect, enrolled):
    done = collect("Canvas", {"thetransformers_101_1_double.ipynb": NOTEBOOK})
    assert "thetransformers (jane)" in done.reported.split("--Collector.groups=groups.csv")[1]


def test_a_gradebook_that_cannot_be_opened_is_not_taken_for_a_new_course(collect, generated):
    (generated.root / "gradebook.db").write_text(
        "not a database, though it has more than a hundred characters " * 9
    )
    done = collect("Canvas", {"a_1_11_double.ipynb": NOTEBOOK})
    assert done.returncode == 1
    assert "can't be opened" in done.stderr


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
    assert "run `nbgrader generate_assignment 01_double` first" in done.stderr


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


def test_members_of_groups_are_collected_in_a_second_go_if_nothing_was_unpacked(
    collect, handed_in, generated, enrolled
):
    folder = generated.root / "downloaded" / "01_double" / "extracted"
    (folder / "submission_1").mkdir(parents=True)
    (folder / "submission_1" / "double.ipynb").write_text(NOTEBOOK)
    metadata = "submission_1: {':submitters': [{':sid': jane}, {':sid': han}]}"
    (folder / "submission_metadata.yml").write_text(metadata)
    assert "Run the same command again, with --force" in collect("Gradescope", None).reported
    done = collect("Gradescope", None, "--force")
    assert "again" not in done.reported
    assert handed_in().keys() == {("jane", "double"), ("han", "double")}

"""The files that students hand in with their notebooks reach the grader, or are named."""

import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO

import nbformat
import pytest

from .downloads import NOTEBOOK, zipped

#: an answer that needs a module, a file in a folder and a picture
ANSWER = """
def double(x):
    import json, mymodule
    from pathlib import Path
    factor = json.loads(Path("conf/c.json").read_text())["factor"]
    assert Path("pics/p.png").read_bytes() == b"a picture"
    return mymodule.times(factor, x)
"""
BESIDE = {
    "mymodule.py": "def times(factor, x):\n    return factor * x",
    "conf/c.json": '{"factor": 2}',
    "pics/p.png": "a picture",
}
METADATA = "submission_7: {':submitters': [{':name': Jane Doe, ':sid': jane, ':email': j@example.edu}]}"
#: how the same files reach each product, by what precedes their names
FORMS = {
    "a folder in Moodle": ("Moodle", "Jane Doe_1_assignsubmission_file/", None),
    "a zip in Moodle": ("Moodle", "Jane Doe_1_assignsubmission_file_/", "work.zip"),
    "a zip in one name": ("Moodle", "Jane Doe_1_assignsubmission_file_", "work.zip"),
    "a zip in Canvas": ("Canvas", "doejane_1_11_", "work-1.zip"),
    "a folder in Gradescope": ("Gradescope", "submission_7/", None),
    "a zip in Gradescope": ("Gradescope", "submission_7/", "work.zip"),
}


def collected(course) -> dict[str, str]:
    """The files in the only submission, by their paths."""
    (folder,) = (course.root / "submitted").glob("*/01_double")
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".txt")
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8", errors="replace") for path in files
    }


@pytest.mark.parametrize("form", FORMS)
def test_other_files_lie_next_to_the_notebook_as_they_did_when_it_was_written(form, collect, generated):
    product, before, archive = FORMS[form]
    files = {"double.ipynb": NOTEBOOK} | BESIDE
    packed = {f"homework/{name}": content for name, content in files.items()}
    whole = {archive: zipped(packed)} if archive else files
    download = {f"{before}{name}": content for name, content in whole.items()}
    done = collect(
        product, download | ({"submission_metadata.yml": METADATA} if product == "Gradescope" else {})
    )
    assert collected(generated) == files
    assert "not collected" not in done.reported.lower()


@pytest.mark.slow
def test_answers_that_need_other_files_get_the_points_that_nbgrader_alone_gives(collect, generated):
    """Canvas has no folders: the picture and the configuration are in a zip, and the module has Canvas's number."""
    notebook = nbformat.writes(generated.answer(ANSWER))
    rest = {name: content for name, content in BESIDE.items() if "/" in name}
    collect(
        "Canvas",
        {
            "doejane_1_11_double-1.ipynb": notebook,
            "doejane_1_12_mymodule-1.py": BESIDE["mymodule.py"],
            "doejane_1_13_rest-1.zip": zipped(rest),
        },
    )
    generated.gradekit("autograde", "01_double", "--workers", "1")
    plain = generated.root.with_name("plain")
    shutil.copytree(
        generated.root, plain, ignore=shutil.ignore_patterns("autograded", "gradebook.db", ".gradekit")
    )
    (plain / "nbgrader_config.py").write_text("")
    shutil.rmtree(plain / "submitted")
    theirs = plain / "submitted" / "jane" / "01_double"
    for name, content in (BESIDE | {"double.ipynb": notebook}).items():
        (theirs / name).parent.mkdir(parents=True, exist_ok=True)
        (theirs / name).write_text(content)
    course = type(generated)(plain)
    for command in (["generate_assignment", "01_double", "--force"], ["autograde", "01_double"]):
        done = course.run("nbgrader", *command)
        assert done.returncode == 0, done.stderr
    (ours,), (alone,) = generated.grades().values(), course.grades().values()
    assert ours["test_double"] == alone["test_double"]
    assert ours["test_double"][0] == 10


def test_every_file_that_is_left_is_named_with_the_reason(collect: Callable, generated):
    folder = "Jane Doe_1_assignsubmission_file/"
    left = {
        ".DS_Store": "hidden",
        ".ipynb_checkpoints/double-checkpoint.ipynb": "hidden",
        "draft.py~": "hidden",
        "timestamp.txt": "nbgrader has a file of its own",
        "big.bin": "beyond",
        "conf": "a folder has the same name",
    }
    content = {"big.bin": "x" * 2_000_000}
    files = {f"{folder}{name}": content.get(name, "x") for name in left if name != "conf"}
    files |= {f"{folder}double.ipynb": NOTEBOOK, f"{folder}work.zip": zipped({"conf/c.json": "{}"})}
    files |= {f"{folder}conf": "x", "Han Lee_2_assignsubmission_file/work.rar": "x"}
    done = collect("Moodle", files, "--Collector.max_megabytes=1")
    for name, reason in left.items():
        if name != "conf":
            assert f"{folder}{name} ({reason}" in done.reported
    assert f"conf/c.json ({left['conf']})" in done.reported
    assert "han-lee: submissions/Han Lee_2_assignsubmission_file/work.rar" in done.reported
    assert "files skipped" not in done.reported
    assert collected(generated).keys() == {"double.ipynb", "conf", "work.zip"}


def test_a_long_list_is_written_to_a_file_which_is_named(collect, generated):
    folder = "Jane Doe_1_assignsubmission_file/"
    names = [f".hidden{number}" for number in range(30)]
    done = collect("Moodle", {f"{folder}{name}": "x" for name in [*names, "double.ipynb", "a.py"]})
    path = generated.root / "downloaded" / "01_double" / "extracted.txt"
    assert f"and 10 more, listed in {path}" in done.reported
    assert all(name in path.read_text() for name in names)
    assert f"jane-doe: submissions/{folder}a.py as a.py" in path.read_text()


def test_files_of_two_hand_ins_do_not_mix(collect, generated):
    """`data-1.csv` is the newer `data.csv`, but `part-1.csv` and `part-2.csv` are names that the student chose."""
    names = [
        "11_double.ipynb",
        "12_data.csv",
        "13_data-1.csv",
        "14_part-1.csv",
        "15_part-2.csv",
        "16_old-3.csv",
    ]
    done = collect("Canvas", {f"doejane_1_{name}": NOTEBOOK if "ipynb" in name else name for name in names})
    files = collected(generated)
    assert files.keys() == {
        "double.ipynb",
        "data.csv",
        "data-1.csv",
        "part-1.csv",
        "part-2.csv",
        "old-3.csv",
        "old.csv",
    }
    assert "doejane-1: old-3.csv as old.csv" in done.reported


def test_other_files_stay_behind_when_told_to(collect, generated):
    folder = "Jane Doe_1_assignsubmission_file/"
    collect(
        "Moodle",
        {f"{folder}{name}": NOTEBOOK for name in ("double.ipynb", "a.py")},
        "--Collector.other_files=False",
    )
    assert collected(generated).keys() == {"double.ipynb"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stored", "system", "read"),
    [
        ("Béla".encode(), 3, "Béla"),  # macOS, and most servers
        ("Be\u0301la".encode(), 3, "Béla"),
        ("Béla".encode("cp437"), 0, "Béla"),  # Windows Explorer
        ("Søren São".encode("cp850"), 0, "Søren São"),
        ("Béla Hernández".encode("cp1252"), 3, "Béla Hernández"),
        ("王芳".encode(), 0, "王芳"),
    ],
)
def test_names_in_a_zip_without_the_flag_for_utf_8_are_read_as_their_authors_saw_them(
    stored, system, read, collect, handed_in
):
    name = b"x" * len(stored)
    packed = zipped({f"{name.decode()}_1_assignsubmission_file/double.ipynb": NOTEBOOK}).replace(name, stored)
    packed = packed.replace(b"PK\x01\x02\x14\x03", b"PK\x01\x02\x14" + bytes([system]))
    collect("Moodle", {"submissions.zip": packed})
    assert {student for student, _ in handed_in()} == {read.casefold().replace(" ", "-")}


def test_infozip_s_extra_field_tells_the_name(collect, handed_in):
    shown, stored = "Béla_1_assignsubmission_file_double.ipynb", "B?la_1_assignsubmission_file_double.ipynb"
    entry = zipfile.ZipInfo(stored)
    content = struct.pack("<BL", 1, zlib.crc32(stored.encode())) + shown.encode()
    entry.extra = struct.pack("<HH", 0x7075, len(content)) + content
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(entry, NOTEBOOK)
    collect("Moodle", {"submissions.zip": stream.getvalue()})
    assert {student for student, _ in handed_in()} == {"béla"}

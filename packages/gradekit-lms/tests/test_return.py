"""`gradekit return`: pages go back under the names of the download."""

import re
import zipfile
from pathlib import Path

import nbformat
import pytest

from gradekit_lms.returning import write_zip

from ...gradekit.tests.needs import mostly_thorough
from .downloads import NOTEBOOK


def moodle_s_reading(name: str) -> tuple[str, str] | None:
    """The participant and the file that Moodle finds: `is_valid_filename_for_import` in importziplib.php."""
    parts = name.split("/")
    if parts[-1].startswith((".", "~")):
        return None
    for place, part in enumerate(parts):
        words = part.split("_", 4)
        if len(words) >= 4 and words[1].isdigit() and words[2] == "assignsubmission":
            rest = "/".join([*words[4:], *parts[place + 1 :]])
            return words[1], rest.lstrip("/")
    return None


def canvas_s_reading(name: str) -> list[str]:
    """The user and the file that Canvas finds: `infer_comment_context_from_filename`."""
    return [word for word in Path(name).name.split("_") if re.fullmatch(r"\d+", word)][:2]


def names_in(path: Path) -> set[str]:
    with zipfile.ZipFile(path) as archive:
        assert all(b"<!DOCTYPE html>" in archive.read(name) for name in archive.namelist())
        return set(archive.namelist())


def graded(course, collect, product: str, names: list[str], *options: str) -> str:
    """Collect a download with these names, grade it, and write the pages; returns the log of collecting."""
    notebook = nbformat.writes(course.answer("def double(x):\n    return 2 * x"))
    done = collect(product, dict.fromkeys(names, notebook), *options)
    course.gradekit("autograde", "01_double", "--workers", "1")
    written = course.run("nbgrader", "generate_feedback", "01_double")
    assert written.returncode == 0, written.stderr
    return done.reported


@pytest.mark.thorough
def test_moodle_s_pages_have_the_folders_of_the_download(collect, generated, capsys):
    folders = ["Jane Doe_11_assignsubmission_file", "Jörg Müller_12_assignsubmission_file_"]
    one_name = "Han Lee_13_assignsubmission_file_double-final.ipynb"
    graded(generated, collect, "Moodle", [*(f"{folder}/double.ipynb" for folder in folders), one_name])
    assert generated.gradekit("return", "01_double") == 0
    path = generated.root / "reports" / "01_double" / "pages-for-moodle.zip"
    assert capsys.readouterr().out.splitlines()[-1] == f"01_double: 3 pages in {path}"
    expected = {f"{folder}/double.html" for folder in folders} | {
        "Han Lee_13_assignsubmission_file_double.html"
    }
    assert names_in(path) == expected
    assert {moodle_s_reading(name) for name in expected} == {
        (number, "double.html") for number in ("11", "12", "13")
    }


@pytest.mark.slow
def test_canvas_s_pages_have_the_numbers_of_the_newest_file(collect, generated):
    names = ["doejane_1_11_double.ipynb", "doejane_1_14_double-1.ipynb", "leehan_LATE_2_12_my_2_double.ipynb"]
    graded(generated, collect, "Canvas", names)
    assert generated.gradekit("return", "01_double") == 0
    found = names_in(generated.root / "reports" / "01_double" / "pages-for-canvas.zip")
    assert found == {"doejane_1_14_double.html", "leehan_LATE_2_12_double.html"}
    assert sorted(map(canvas_s_reading, found)) == [["1", "14"], ["2", "12"]]


@pytest.mark.slow
def test_whoever_gets_no_page_is_named(collect, generated, enrol, capsys):
    """Two of one name, one who handed in no notebook, one who left, one graded again, one from elsewhere."""
    for student in ("ann", "ben", "eve", "gil", "hal"):
        enrol(student, first_name=student.title(), last_name="Fox")
    for student in ("jane1", "jane2"):
        enrol(student, first_name="Jane", last_name="Doe")
    names = [
        f"{name} Fox_{number}_assignsubmission_file/double.ipynb"
        for number, name in enumerate(["Ann", "Ben", "Gil"])
    ]
    names += [f"Jane Doe_{number}_assignsubmission_file/double.ipynb" for number in (7, 8)]
    generated.hand_in("eve", generated.answer("def double(x):\n    return 3 * x"))
    log = graded(generated, collect, "Moodle", names)
    assert "Jane Doe may be jane1 or jane2" in log
    generated.run("nbgrader", "db", "student", "remove", "ben", "--force")
    page = generated.root / "feedback" / "ann" / "01_double" / "double.html"
    page.unlink()
    generated.run("nbgrader", "autograde", "01_double", "--student", "gil", "--force")
    capsys.readouterr()
    assert generated.gradekit("return", "01_double") == 1
    printed = capsys.readouterr().out
    for line in [
        "no page of ann: no page yet: `nbgrader generate_feedback 01_double`",
        "no page of ben: not in the gradebook",
        "no page of eve: not collected from an LMS",
        "no page of gil: graded again since the page was written: `nbgrader generate_feedback 01_double --force`",
    ]:
        assert line in printed
    for advice in re.findall("`(nbgrader .*)`", printed):
        done = generated.run(*advice.split())
        assert done.returncode == 0, done.stderr
    generated.gradekit("return", "01_double")
    found = names_in(generated.root / "reports" / "01_double" / "pages-for-moodle.zip")
    assert found == {f"{name}_assignsubmission_file/double.html" for name in ("Ann Fox_0", "Gil Fox_2")}


@pytest.mark.thorough
def test_a_group_s_page_is_returned_once(collect, generated, enrol, capsys):
    for student in ("ann", "ben"):
        enrol(student)
    (generated.root / "groups.csv").write_text("group,student\nGroup A,ann\nGroup A,ben\n")
    name = "Group A_5_assignsubmission_file/double.ipynb"
    graded(generated, collect, "Moodle", [name], "--Collector.groups=groups.csv")
    assert generated.gradekit("return", "01_double") == 0
    assert "ann's page is for ben, too" in capsys.readouterr().out
    path = generated.root / "reports" / "01_double" / "pages-for-moodle.zip"
    assert names_in(path) == {"Group A_5_assignsubmission_file/double.html"}


@pytest.mark.thorough
def test_without_names_the_command_says_how_to_get_them(collect, generated, capsys):
    names = ["Jane Doe_11_assignsubmission_file/double.ipynb"]
    graded(generated, collect, "Moodle", names)
    record = generated.root / ".gradekit" / "downloads" / "01_double.json"
    record.write_text("{")
    assert generated.gradekit("return", "01_double") == 2
    assert (
        "`nbgrader zip_collect 01_double --force` with the collector of your LMS" in capsys.readouterr().err
    )
    collect("Moodle", {names[0]: NOTEBOOK}, "--force")
    assert record.exists()
    generated.gradekit("return", "01_double")
    assert names_in(generated.root / "reports" / "01_double" / "pages-for-moodle.zip")


@pytest.mark.slow
@pytest.mark.parametrize("from_the_exchange", mostly_thorough([["han-lee"], []]), ids=["one", "none"])
def test_release_feedback_names_the_pages_that_it_cannot_release(
    from_the_exchange, collect, generated, tmp_path
):
    names = [
        f"{name}_1{place}_assignsubmission_file/double.ipynb"
        for place, name in enumerate(["Jane Doe", "Han Lee"])
    ]
    config = generated.root / "nbgrader_config.py"
    config.write_text(
        config.read_text() + f"c = get_config()\nc.Exchange.root = {str(tmp_path / 'exchange')!r}\n"
        "c.CourseDirectory.course_id = 'course'\n"
    )
    (tmp_path / "exchange").mkdir()
    graded(generated, collect, "Moodle", names)
    for student in from_the_exchange:
        folder = generated.root / "feedback" / student / "01_double"
        (folder / "submission_secret.txt").write_text("secret")
        (folder / "timestamp.txt").write_text("2026-01-01 12:00:00 UTC")
    done = generated.run("nbgrader", "release_feedback", "01_double")
    assert "Traceback" not in done.stderr
    assert done.returncode == (0 if from_the_exchange else 1)
    assert (
        "didn't come through the exchange: " + ("jane-doe" if from_the_exchange else "han-lee, jane-doe")
        in done.stderr
    )
    assert "Pages for Canvas or Moodle: `gradekit return 01_double`" in done.stderr
    released = list((tmp_path / "exchange" / "course" / "feedback").glob("*.html"))
    assert len(released) == len(from_the_exchange)
    assert generated.gradekit("return", "01_double") == 0


def test_a_disk_without_room_leaves_the_zip_before(tmp_path, monkeypatch):
    place = tmp_path / "pages.zip"
    write_zip(place, {})
    before = place.read_bytes()
    with pytest.raises(OSError, match="nowhere"):
        write_zip(place, {"a.html": tmp_path / "nowhere"})
    assert place.read_bytes() == before and list(tmp_path.iterdir()) == [place]

"""Pictures in written answers: attached, in the text itself, or in a file beside the notebook."""

import base64
import io
import json
import os
import zlib
from copy import deepcopy
from pathlib import Path
from urllib.parse import quote

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbformat import v4
from nbgrader.server_extensions.formgrader import handlers
from PIL import Image
from traitlets.config import Config

from gradekit.course.cells import MARKERS, find_cell
from gradekit.nbgrader_plugin import configure
from gradekit.page import displayed
from gradekit.page.displayed import Pictures, text_and_pictures
from gradekit.page.markdown import safe_markdown
from gradekit.submission.notebook_file import parse_submitted

from .beside_plain import BothSides, both_sides, source_notebook
from .restored import restore_notebook
from .tiny_course import mark


def picture(kind: str = "PNG", color: str = "red", size: tuple[int, int] = (3, 2)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, color).save(file, kind)
    return file.getvalue()


def in_base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


RED, BLUE = picture(), picture(color="blue")
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>evil()</script></svg>'


@pytest.fixture
def both(made_once, tmp_path) -> BothSides:
    return both_sides(made_once, tmp_path)


def answer_with(both, text: str, attachments: dict | None = None):
    notebook = both.released(why=text)
    if attachments is not None:
        find_cell(notebook, "why")["attachments"] = attachments
    return notebook


def in_formgrader(side) -> BeautifulSoup:
    """The page on which a TA grades ada's notebook."""
    config = Config()
    if "configure" in (side.root / "nbgrader_config.py").read_text():
        configure(config)
    else:
        config.HTMLExporter.template_name = "formgrade"
        config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    resources = {"assignment_id": "a1", "notebook_id": "p1", "index": 0, "total": 1, "base_url": ""}
    path = side.folder("autograded") / "p1.ipynb"
    html, _ = HTMLExporter(config=config).from_filename(str(path), resources=resources)
    return BeautifulSoup(html, "html.parser")


def sources(page: BeautifulSoup) -> list[str]:
    return [image.get("src") for image in page.find_all("img")]


def embedded(data: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{in_base64(data)}"


@pytest.mark.slow
def test_an_attached_picture_reaches_the_grader_and_the_page_as_with_plain_nbgrader(both):
    attachments = {"sketch.png": {"image/png": in_base64(RED)}}
    both.hand_in(answer_with(both, "![A sketch](attachment:sketch.png)", attachments))
    both.autograde()
    for side in both.sides:
        assert side.grades() == {"test_double": (2.0, False), "why": (None, True)}
        assert find_cell(side.autograded(), "why").attachments == attachments
    assert sources(in_formgrader(both.ours)) == [embedded(RED)]
    both.ours.run("nbgrader", "generate_feedback", "a1")
    assert sources(BeautifulSoup(both.ours.page(), "html.parser")) == [embedded(RED)]
    both.ours.run("jupyter", "nbconvert", "--to", "html", "autograded/ada/a1/p1.ipynb")


@pytest.mark.thorough
def test_a_picture_beside_the_notebook_is_shown_whatever_its_place_and_name(both):
    text = (
        '<img src="figure.png"> ![](pics/p.png) ![](two%20words.png) ![](<Zoë.png>) <img src="UPPER.PNG">'
        ' <img src="./pics\\p.png"> ![](FIGURE.png)'
    )
    names = ("figure.png", "pics/p.png", "two words.png", "Zoe\u0308.png", "UPPER.PNG")
    both.hand_in(answer_with(both, text), dict.fromkeys(names, RED))
    both.autograde()
    both.ours.run("nbgrader", "generate_feedback", "a1")
    assert sources(BeautifulSoup(both.ours.page(), "html.parser")) == [embedded(RED)] * 7
    assert sources(in_formgrader(both.ours)) == [embedded(RED)] * 7
    assert all(sources(in_formgrader(both.plain)))
    for name in names:
        assert (both.plain.folder("autograded") / name).exists()
        assert (both.ours.folder("autograded") / name).exists()


@pytest.mark.thorough
def test_a_picture_in_the_text_itself_does_not_count_as_text(both):
    """Colab writes pasted pictures into the text."""
    photo = picture("JPEG", size=(1500, 1000)) + os.urandom(1_000_000)  # larger than any text may be
    text = f"As in ![photo](data:image/jpeg;base64,{in_base64(photo)}) and **bold**"
    both.hand_in(answer_with(both, text))
    both.autograde()
    both.ours.run("nbgrader", "generate_feedback", "a1")
    for side in both.sides:
        assert side.grades()["why"] == (None, True)
    for page in (BeautifulSoup(both.ours.page(), "html.parser"), in_formgrader(both.ours)):
        assert sources(page) == [embedded(photo, "image/jpeg")]
        assert page.find("strong", string="bold")


def shown(text: str, attachments: dict | None = None, folder: Path | None = None) -> BeautifulSoup:
    source, inside = text_and_pictures(text)
    html = Pictures(folder).put_into(safe_markdown(source), inside, attachments or {})
    return BeautifulSoup(html, "html.parser")


@pytest.mark.parametrize(
    ("kind", "mime"),
    [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("GIF", "image/gif"), ("WEBP", "image/webp")],
)
def test_the_type_of_a_picture_is_read_from_its_data(kind, mime):
    data = picture(kind)
    assert sources(shown("![](attachment:a)", {"a": {"image/png": in_base64(data)}})) == [
        embedded(data, mime)
    ]


def test_svg_is_shown_as_a_picture_in_which_no_script_runs():
    assert sources(shown("![](attachment:a)", {"a": {"image/svg+xml": in_base64(SVG)}})) == [
        embedded(SVG, "image/svg+xml")
    ]
    assert sources(shown(f"![](data:image/svg+xml;base64,{in_base64(SVG)})")) == [
        embedded(SVG, "image/svg+xml")
    ]


def bomb() -> bytes:
    """A PNG of a few bytes that claims to have 10,000 million pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)

    header = (100_000).to_bytes(4) * 2 + bytes([8, 2, 0, 0, 0])
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b""))
        + chunk(b"IEND", b"")
    )


NOT_SHOWN = {
    "missing.png": "The picture missing.png is not shown: no such file was handed in with the notebook",
    "attachment:gone.png": "The picture gone.png is not shown: the notebook doesn't contain it",
    "../secret.png": "The picture ../secret.png is not shown: no such file was handed in with the notebook",
    "/etc/passwd": "no such file was handed in",
    "link.png": "no such file was handed in",
    "https://example.org/x.png": "The picture https://example.org/x.png is not shown: pages load nothing from the web",
    "//example.org/x.png": "pages load nothing from the web",
    "C:\\Users\\me\\x.png": "The picture C:\\Users\\me\\x.png is not shown: no such file",
    "file:///home/me/x.png": "The picture file:///home/me/x.png is not shown: no such file",
    "scan.pdf": "The picture scan.pdf is not shown: it can't be read as a PNG, JPEG, GIF, WebP or SVG picture. "
    "It is beside the notebook.",
    "photo.heic": "It is beside the notebook.",
    "broken.png": "it can't be read",
    "bomb.png": "it is too large. It is beside the notebook.",
    "large.png": "it is too large",
    "entities.svg": "it is too large",
    "attachment:scan": "it can't be read as a PNG, JPEG, GIF, WebP or SVG picture. It is in the notebook.",
    "attachment:bad": "it can't be read",
    "attachment:bomb": "it is too large. It is in the notebook.",
    "data:image/png;base64,AAAA": "The picture in this text is not shown: it can't be read",
    "embedded:7": "it can't be read",
}


@pytest.mark.parametrize("address", NOT_SHOWN)
def test_a_picture_that_cannot_be_shown_is_named_with_the_reason(tmp_path, address):
    folder = tmp_path / "ada"
    folder.mkdir()
    (tmp_path / "secret.png").write_bytes(RED)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    for name, content in {
        "scan.pdf": b"%PDF-1.7",
        "photo.heic": b"\0\0\0\x18ftypheic",
        "broken.png": RED[:40],
        "bomb.png": bomb(),
        "large.png": RED + bytes(displayed.MAX_PICTURE_BYTES),
        "entities.svg": b'<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg>&a;</svg>',
    }.items():
        (folder / name).write_bytes(content)
    attachments = {
        "scan": {"application/pdf": in_base64(b"%PDF-1.7")},
        "bad": {"image/png": "!"},
        "bomb": {"image/png": in_base64(bomb())},
    }
    page = shown(f'<img src="{address}">', attachments, folder)
    assert not page.find("img")
    assert NOT_SHOWN[address] in page.text


@pytest.mark.parametrize(
    "form", ["{}", "/{}", "%2F%2F{}", "%2F{}", "{}%3F", "\\\\{}", "x/../../{}", "files//{}"]
)
def test_no_way_of_writing_a_path_leads_out_of_the_folder(tmp_path, form):
    (tmp_path / "ada" / "x").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(RED)
    for place in (tmp_path / "secret.png", "../secret.png", "x/../../secret.png"):
        for path in (str(place), str(place).replace("/", "\\"), quote(str(place), safe="")):
            assert not shown(f'<img src="{form.format(path)}">', folder=tmp_path / "ada").find("img")


def test_the_pictures_of_a_page_are_limited_together(monkeypatch):
    monkeypatch.setattr(displayed, "PAGE_PICTURES", 2)
    page = shown("![](attachment:a) " * 3, {"a": {"image/png": in_base64(RED)}})
    assert len(sources(page)) == 2
    assert "the pictures of this page are too many or too large together. It is in the notebook." in page.text


@pytest.mark.parametrize(
    "attachments",
    [7, [], "x", {"a": 7}, {"a": []}, {"a": {"image/png": 7}}, {"a": {"image/png": {"b": 1}}}, {"a": None}],
    ids=str,
)
def test_attachments_in_another_form_are_left_out_with_a_note(attachments):
    cell = {"cell_type": "markdown", "metadata": {}, "source": "x", "attachments": attachments}
    found = parse_submitted(json.dumps({"nbformat": 4, "cells": [cell]}).encode(), "a.ipynb")
    assert found.notebook is not None and "attachments" not in found.notebook.cells[0]
    assert found.notes == ["The pictures attached to the cell number 1 are damaged; they were left out."]


@pytest.mark.parametrize("data", [in_base64(RED), [in_base64(RED)[:10], in_base64(RED)[10:]]])
def test_attachments_are_read_in_both_forms_that_notebooks_have(data):
    cell = {"cell_type": "markdown", "source": "x", "attachments": {"a": {"image/png": data}}}
    found = parse_submitted(json.dumps({"nbformat": 4, "cells": [cell]}).encode(), "a.ipynb")
    assert found.notebook.cells[0].attachments == {"a": {"image/png": in_base64(RED)}}


def restored(change):
    """A restored notebook: a question with a picture of the instructor's, and an answer that is handed in as changed."""
    question = v4.new_markdown_cell("![](attachment:q)", metadata=mark("question", locked=True))
    given = v4.new_markdown_cell("![](attachment:q) given")
    answer = v4.new_markdown_cell("Your answer", metadata=mark("why", grade=True, solution=True, points=1))
    for cell in (question, given):
        cell["attachments"] = {"q": {"image/png": in_base64(RED)}}
    released = v4.new_notebook(cells=[question, given, answer])
    submitted = deepcopy(released)
    change(submitted.cells)
    return restore_notebook(submitted, released)[0]


def test_the_instructor_s_own_pictures_stay_as_they_were_handed_out():
    def change(cells):
        cells[0]["attachments"] = {"q": {"image/png": in_base64(BLUE)}, "more": {}}
        del cells[1]["attachments"]

    for cell in restored(change).cells[:2]:
        assert cell.attachments == {"q": {"image/png": in_base64(RED)}}


def test_the_picture_in_a_text_that_was_copied_to_its_answer_comes_with_it():
    def change(cells):
        cells.append(v4.new_markdown_cell("![](attachment:mine)"))
        cells[-1]["attachments"] = {"mine": {"image/png": in_base64(BLUE)}}

    answer = find_cell(restored(change), "why")
    assert answer.source == "![](attachment:mine)"
    assert answer.attachments == {"mine": {"image/png": in_base64(BLUE)}}


def test_of_attachments_with_the_same_name_each_cell_keeps_its_own():
    def change(cells):
        cells[2].source = "![](attachment:image.png)"
        cells[2]["attachments"] = {"image.png": {"image/png": in_base64(BLUE)}}
        cells.insert(0, v4.new_markdown_cell("![](attachment:image.png)"))
        cells[0]["attachments"] = {"image.png": {"image/png": in_base64(RED)}}

    cells = restored(change).cells
    assert cells[0].attachments["image.png"]["image/png"] == in_base64(RED)
    assert find_cell(restored(change), "why").attachments["image.png"]["image/png"] == in_base64(BLUE)


def answers_with_a_picture_only(both):
    """By student, an answer in which only a picture is the student's own, and a file beside it."""
    notebook = both.released()
    attached = deepcopy(notebook)
    find_cell(attached, "why")["attachments"] = {"sketch": {"image/png": in_base64(BLUE)}}
    return {
        "attached": (attached, {}),
        "file": (notebook, {"sketch.png": BLUE}),
        "nothing": (notebook, {}),
        "text": (both.released(why="![](attachment:s)"), {}),
    }


@pytest.mark.slow
def test_a_picture_alone_is_an_answer_that_a_person_grades(tmp_path):
    both = BothSides(tmp_path)
    source = source_notebook()
    begin, end = MARKERS
    text = "Draw it: ![](attachment:sketch) or ![](sketch.png)"
    find_cell(source, "why").source = f"{text}\n{begin}\nSo.\n{end}"
    find_cell(source, "why")["attachments"] = {"sketch": {"image/png": in_base64(RED)}}
    both.write(source)
    for student, (notebook, files) in answers_with_a_picture_only(both).items():
        both.hand_in(notebook, files, student)
    both.autograde()
    assert {
        student: both.ours.grades(student)["why"] for student in ("attached", "file", "nothing", "text")
    } == {
        "attached": (None, True),
        "file": (None, True),
        "nothing": (0, False),
        "text": (None, True),
    }


DISPLAYING = """\
from IPython.display import SVG, Image, display

display(Image("figure.png"), Image("figure.jpg"), SVG("figure.svg"))

def double(x):
    return 2 * x"""


@pytest.mark.thorough
def test_pictures_that_code_displays_are_kept_in_the_formats_that_plain_nbgrader_keeps(both):
    jpeg = picture("JPEG")
    files = {"figure.png": RED, "figure.jpg": jpeg, "figure.svg": SVG}
    both.hand_in(both.released(DISPLAYING), files)
    both.autograde()

    def kept(side):
        outputs = find_cell(side.autograded(), "double").outputs
        return [kind for output in outputs for kind in output.data if kind.startswith("image/")]

    assert kept(both.ours) == kept(both.plain) == ["image/png", "image/jpeg", "image/svg+xml"]
    both.ours.run("nbgrader", "generate_feedback", "a1")
    shown = sources(BeautifulSoup(both.ours.page(), "html.parser"))
    assert shown[:2] == [embedded(RED), embedded(jpeg, "image/jpeg")]
    assert shown[2].startswith("data:image/svg+xml;base64,")


@pytest.mark.slow
def test_the_pictures_of_a_model_answer_are_not_released(tmp_path):
    source = source_notebook()
    find_cell(source, "why").source = "![](attachment:model)"
    find_cell(source, "why")["attachments"] = {"model": {"image/png": in_base64(RED)}}
    both = BothSides(tmp_path)
    both.write(source)
    both.ours.run("nbgrader", "generate_assignment", "a1", "--force")
    released = [nbformat.read(side.root / "release" / "a1" / "p1.ipynb", as_version=4) for side in both.sides]
    assert ["attachments" in find_cell(notebook, "why") for notebook in released] == [True, False]
    in_source = nbformat.read(both.ours.root / "source" / "a1" / "p1.ipynb", as_version=4)
    assert "attachments" in find_cell(in_source, "why")

"""The site: what it takes from the notebooks, and that it shows no solution."""

import base64
import re
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbformat import v4

from gradekit.course import Course

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

from building import badges  # noqa: E402
from building.docstrings import to_rst  # noqa: E402
from building.formulas import spaced  # noqa: E402
from building.leaks import leaks, secret_lines  # noqa: E402
from building.notebooks import all_lines, fill_in, is_complete, outputs_of, provided  # noqa: E402
from building.pages import get_it  # noqa: E402
from building.samples import ASSIGNMENT as SAMPLE  # noqa: E402
from building.syllabus import concept_map, parts_of, weeks  # noqa: E402

WARM_UP = "00_warm_up"
COURSE = Course(ROOT)
#: one black point
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
SHOW = (
    "from IPython.display import display\n"
    "for step in (50, 100):\n    print(f'\\rtraining: {step}%', end='', flush=True)\nprint()\n"
    f"display({{'image/png': '{PNG}', 'text/plain': 'One black point, and nothing else.'}}, raw=True)\n"
    "print(double(4))"
)


@pytest.fixture(scope="module")
def parts():
    return parts_of(COURSE)


def test_the_first_notebook_says_how_long_the_course_takes(parts):
    (path,) = COURSE.assignment("01_positional_encoding").source_notebooks()
    text = " ".join(cell.source for cell in nbformat.read(path, as_version=4).cells).replace("\n", " ")
    exercises, rest = re.search(r"add up to (\d+) hours, and .* take about (\d+) more\.", text).groups()
    assert abs(int(exercises) - sum(part.minutes for part in parts) / 60) <= 0.5
    assert abs(int(rest) - sum(part.reading for part in parts) / 60) <= 1


def marked(name, **kind):
    default = {"grade": False, "solution": False, "locked": False, "schema_version": 3}
    return {"nbgrader": default | {"grade_id": name} | kind}


@pytest.fixture
def tiny(tmp_path):
    """A course with one exercise, whose solution and test print something."""
    solution = (
        "def double(number):\n    ### BEGIN SOLUTION\n    return number + number  # not number ** 2\n"
        "    ### END SOLUTION\nprint('of the solution')"
    )
    cells = [
        v4.new_markdown_cell("# 1 · Double", id="title"),
        v4.new_code_cell(solution, id="answer", metadata=marked("double", solution=True)),
        v4.new_code_cell(
            "print('of the test')", id="test", metadata=marked("test_double", grade=True, points=1)
        ),
        v4.new_code_cell(SHOW, id="given", metadata={"jupyter": {"source_hidden": True}}),
    ]
    folder = tmp_path / "source" / "01_double"
    folder.mkdir(parents=True)
    nbformat.write(v4.new_notebook(cells=cells), folder / "double.ipynb")
    cells[1].source = "def double(number):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    release = tmp_path / "release" / "01_double"
    release.mkdir(parents=True)
    nbformat.write(v4.new_notebook(cells=cells), release / "double.ipynb")
    (tmp_path / "requirements").mkdir()
    for name in ("course.lock", "model.lock"):
        (tmp_path / "requirements" / name).write_text("")
    return Course(tmp_path)


def test_a_page_shows_what_provided_cells_put_out_and_exercises_as_they_are_handed_out(tiny, tmp_path):
    (assignment,) = tiny.assignments()
    outputs = outputs_of([assignment], tmp_path / "cache")
    assert set(outputs["01_double"]) == {"given"}
    page = assignment.released("double")
    (figure,) = fill_in(page, outputs["01_double"], assignment, "generated/double", tmp_path / "extra")
    _, answer, test, given = page.cells
    assert answer.outputs == test.outputs == []
    assert "YOUR CODE HERE" in answer.source
    assert figure.description == "One black point, and nothing else."
    assert (tmp_path / "extra" / figure.file).read_bytes() == base64.b64decode(PNG)
    progress, shown, printed = given.outputs
    assert progress.text == "training: 100%\n"
    assert 'alt="One black point, and nothing else." width="1" height="1"' in shown.data["text/html"]
    assert printed.text == "8\n"
    assert "hide-input" in given.metadata.tags
    # a change of the text needs no second run, one of the code does
    stored = next((tmp_path / "cache").iterdir())
    source = tiny.root / "source" / "01_double" / "double.ipynb"
    source.write_text(source.read_text().replace("1 · Double", "1 · Twice"))
    outputs_of([assignment], tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == [stored]
    source.write_text(source.read_text().replace("double(4)", "double(5)"))
    changed = outputs_of([assignment], tmp_path / "cache")
    assert "10" in all_lines(changed["01_double"])
    assert not stored.exists()


def test_no_output_of_an_answer_or_a_test_is_provided():
    for assignment in COURSE.assignments():
        cells = assignment.released(assignment.released_names()[0]).cells
        exercises = {cell.id for cell in cells if cell.metadata.get("nbgrader", {}).get("solution")}
        tests = {cell.id for cell in cells if cell.metadata.get("nbgrader", {}).get("grade")}
        shown = {cell.id for cell in cells if provided(cell)}
        assert shown and not shown & (exercises | tests)


def test_a_line_of_a_solution_anywhere_on_the_site_is_found(tiny, tmp_path):
    line = "return number + number # not number ** 2"
    secret = secret_lines(tiny.assignments())
    assert secret == {line}
    assert secret_lines(tiny.assignments(), public=[f"For example:\n    {line}"]) == set()
    site = tmp_path / "site"
    site.mkdir()
    (site / "fine.html").write_text("<pre>double(4)</pre>")
    assert leaks(site, secret) == []
    code = "<span>return</span> <span>number</span> +  number  <i># not number ** 2</i>"
    (site / "page.html").write_text(f"<pre>{code}</pre>")
    cell = v4.new_code_cell(f"def double(number):\n    {line}", id="x")
    nbformat.write(v4.new_notebook(cells=[cell]), site / "book.ipynb")
    with zipfile.ZipFile(site / "all.zip", "w") as archive:
        archive.writestr("earlier.py", line)
    assert leaks(site, secret) == [f"{name}: {line}" for name in ("all.zip", "book.ipynb", "page.html")]


def test_the_search_for_leaks_knows_the_solutions_of_every_assignment():
    for assignment in COURSE.assignments():
        assert len(secret_lines([assignment])) > (5 if assignment.name == WARM_UP else 20)


def test_a_notebook_whose_files_solve_earlier_ones_is_no_download():
    assert [assignment.name for assignment in COURSE.assignments() if is_complete(assignment)][:3] == [
        WARM_UP,
        "01_positional_encoding",
        "02_attention",
    ]
    assert not is_complete(COURSE.assignment("03_attention_modules"))


def test_the_pages_of_the_sample_class_are_not_about_this_course():
    assert SAMPLE not in [assignment.name for assignment in COURSE.assignments()]


def test_the_syllabus_says_what_the_notebooks_say(parts):
    for part, assignment in zip(parts, COURSE.assignments(), strict=True):
        if part.name == WARM_UP:
            assert part.points == 10
            assert part.hours < 0.75
        else:
            assert part.points == 100
            assert part.minutes >= 60 and part.reading > 20
        assert bool(part.builds_on) == (assignment.source_folder / "earlier.py").exists()
        assert all(number < part.number for number in part.builds_on)
        assert part.ends
        assert len(part.idea) < 45  # it fits into its box of the concept map
    drawing = concept_map(parts)
    assert drawing.count('class="head"') == sum(len(part.builds_on) for part in parts)


def test_each_notebook_begins_with_its_points_its_hours_and_what_it_builds_on(parts):
    for part, assignment in zip(parts, COURSE.assignments(), strict=True):
        first = assignment.released(part.notebook).cells[0].source
        (head,) = re.findall(r"^\*Transformers from scratch, (.+)\*$", first, re.MULTILINE)
        points, hours = re.search(r", (\d+) points, about (half an hour|[\d½]+ hours)", head).groups()
        assert int(points) == part.points
        said = 0.5 if "half" in hours else float(hours.split()[0].replace("½", ".5"))
        assert abs(said - part.hours) < 0.3
        builds_on = re.findall(r"\d+", head.partition("builds on")[2])
        assert tuple(map(int, builds_on)) == part.builds_on


@pytest.mark.parametrize("count", [1, 6, 9, 10, 14, 30])
def test_a_term_has_every_notebook_in_order_and_all_of_its_hours(parts, count):
    hours = [part.hours for part in parts]
    plan = weeks(hours, count)
    assert len(plan) == count
    order = [index for week in plan for index, _ in week]
    assert order == sorted(order) and set(order) == set(range(len(hours)))
    assert sum(time for week in plan for _, time in week) == pytest.approx(sum(hours))


def test_with_few_weeks_the_longest_is_as_short_as_possible():
    assert weeks([2, 3, 4, 8], 2) == [[(0, 2), (1, 3), (2, 4)], [(3, 8)]]
    assert weeks([1, 6], 3) == [[(0, 1)], [(1, 3)], [(1, 3)]]


def test_links_to_the_repository_appear_when_its_address_is_set(tmp_path, monkeypatch):
    monkeypatch.setattr(badges, "ROOT", tmp_path)
    citation = tmp_path / "CITATION.cff"
    citation.write_text("repository-code: https://github.com/OWNER/transformers-from-scratch\n")
    assert badges.badges("02_attention", "attention") == [] and badges.address_of_site() == ""
    assert "ask the person" in get_it() and "git clone" not in get_it()
    citation.write_text("repository-code: https://github.com/Ada/course\n")
    links = badges.badges("02_attention", "attention")
    assert len(links) == 3
    assert all("Ada/course" in link and "standalone/02_attention/attention.ipynb" in link for link in links)
    assert badges.address_of_site() == "https://ada.github.io/course/"
    assert "git clone https://github.com/Ada/course.git\ncd course\n" in get_it() and "ask" not in get_it()


DOCSTRING = """Compare `a`s.

Args:
    name, context: the words,
        in a *sentence*.
    key: by which it is found.

Raises:
    OSError, ValueError: it can't.

Returns:
    None if: nothing differs.

Example:
    compare(a)

    compare(b)
Raises (from every method):
    OSError: no disk.

- One
  item."""


def test_each_section_of_a_docstring_is_on_its_page_with_all_of_its_entries():
    assert to_rst(DOCSTRING) == [
        *("Compare \\ ``a``\\ s.", ""),
        *(":Parameters:", "    - **name**, **context** – the words, in a \\*sentence\\*."),
        *("    - **key** – by which it is found.", ""),
        *(":Raises:", "    - :exc:`.OSError`, :exc:`.ValueError` – it can't.", ""),
        *(":Returns:", "    None if: nothing differs.", ""),
        *(".. rubric:: Example", "", ".. code-block:: python", ""),
        *("    compare(a)", "", "    compare(b)", ""),
        *(":Raises (from every method):", "    - :exc:`.OSError` – no disk.", ""),
        *("- One", "  item.", ""),
    ]


def test_names_of_functions_in_a_formula_have_thin_spaces_but_none_before_a_parenthesis():
    space, none = 'lspace="0.167em"', 'rspace="0"'
    assert spaced("<mi>p</mi><mi>cos</mi><mi>a</mi>") == (
        f'<mi>p</mi><mo form="prefix" {space} rspace="0.167em">cos</mo><mi>a</mi>'
    )
    assert spaced("<mi>W</mi><mo>ReLU</mo><mo stretchy='false'>&#x00028;</mo>") == (
        f"<mi>W</mi><mo form=\"prefix\" {space} {none}>ReLU</mo><mo stretchy='false'>&#x00028;</mo>"
    )
    assert '<mtd><mo form="prefix" lspace="0"' in spaced("<mtd><mi>sin</mi><mi>a</mi></mtd>")
    assert spaced("<mi>model</mi>") == "<mi>model</mi>"

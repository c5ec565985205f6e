"""A class whose written answers are in places where a person may overlook them."""

import base64
import io
from collections.abc import Callable
from copy import deepcopy

from nbformat import NotebookNode, v4
from PIL import Image

from .odd_course import code, marked
from .tiny_course import TinyCourse, cell_of, lab

CONFIGURE = "from gradekit.nbgrader_plugin import configure\nconfigure(get_config())\nget_config().SolutionPasses.enabled = False\n"
FIRST = "Adding a number to itself makes two of it, and two of it are the double."
SECOND = "Zero stays zero, since nothing comes from nothing however often it is added."
WHOLE = f"{FIRST} {SECOND}"
PASTED = "![image.png](attachment:image.png)"
TABLE = f"| a | b |\n|---|---|\n| one | two |\n\n$x^2 = 4$\n\n{WHOLE}"
STEP = "Then I wrote down what the steps of the plan are, one after the other."


def png(shade: int) -> bytes:
    """A picture that differs for each shade."""
    file = io.BytesIO()
    Image.new("RGB", (20, 10), (shade, 0, 0)).save(file, "PNG")
    return file.getvalue()


def base64_png(shade: int) -> str:
    return base64.b64encode(png(shade)).decode()


def source() -> NotebookNode:
    written = {"grade": True, "solution": True, "points": 5}
    solution = "### BEGIN SOLUTION\nBecause.\n### END SOLUTION"
    return lab([
        v4.new_markdown_cell("# Lab", id="title"),
        code("double", "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION", solution=True),
        code("test_double", "assert double(1) == 2", grade=True, locked=True, points=2),
        marked(v4.new_markdown_cell("Why is it the double?"), "question", locked=True),
        marked(v4.new_markdown_cell(solution), "why", **written),
        v4.new_markdown_cell("## A plan", id="plan"),
        marked(v4.new_markdown_cell("Make a plan in cells of your own."), "task", task=True, locked=True, points=3),
        v4.new_markdown_cell("## The end", id="end"),
    ])  # fmt: skip


#: what a student saves from a page of `gradekit defend`
DEFENSE = b'{"sheet": "0123456789abcdef", "answers": {"1": "A", "2": "C", "3": "B"}}'
#: by student, a change of the notebook
ANSWERS: dict[str, Callable[[NotebookNode], None]] = {}
#: by student, files beside the notebook
FILES: dict[str, dict[str, bytes]] = {
    "answer beside": {"answer.txt": WHOLE.encode()},
    "pdf beside": {"scan.pdf": b"%PDF-1.4"},
    "picture beside": {"mine.png": png(60)},
    "short and beside": {"scan.pdf": b"%PDF-1.4"},
    "short and a defense": {"defense (1).json": DEFENSE},
}


def answer(change: Callable[[NotebookNode], None]) -> Callable[[NotebookNode], None]:
    ANSWERS[change.__name__.replace("_", " ")] = change
    return change


def put_below(notebook: NotebookNode, name: str, cell: NotebookNode) -> None:
    place = next(i for i, one in enumerate(notebook.cells) if one["id"] == name)
    notebook.cells.insert(place + 1, cell)


def typed(text: str, **values: object) -> Callable[[NotebookNode], None]:
    return lambda notebook: cell_of(notebook, "why").update(source=text, **values)


ANSWERS["ann"] = typed(WHOLE)
ANSWERS["bob"] = typed(f"{WHOLE} Yes.")
ANSWERS["answer beside"] = ANSWERS["pdf beside"] = typed("YOUR ANSWER HERE")
for name, shade in {"photo": 20, "other photo": 40}.items():
    ANSWERS[name] = typed(PASTED, attachments={"image.png": {"image/png": base64_png(shade)}})
ANSWERS["photo lost"] = typed(PASTED)
ANSWERS["attached"] = typed("YOUR ANSWER HERE", attachments={"a b.png": {"image/png": base64_png(80)}})
ANSWERS["photo in the text"] = typed(f'<img src="data:image/png;base64,{base64_png(100)}">')
ANSWERS["picture beside"] = typed("![mine](mine.png)")
ANSWERS["picture on the web"] = typed("![x](https://example.org/abc.png)")
ANSWERS["link"] = typed("[my answer](https://example.org/document/abc)")
ANSWERS["short and beside"] = typed("See the other file.")
ANSWERS["short and a defense"] = typed("It is added to itself.")
ANSWERS["table"] = typed(TABLE)
ANSWERS["hidden in html"] = typed(f"<!-- {WHOLE} -->")
for name, shade in {
    "text and photo": 120,
    "text and other photo": 140,
    "text and the same photo": 120,
}.items():
    ANSWERS[name] = typed(f"{WHOLE}\n\n{PASTED}", attachments={"image.png": {"image/png": base64_png(shade)}})


@answer
def at_the_end(notebook: NotebookNode) -> None:
    notebook.cells.append(v4.new_markdown_cell(f"My answer: {WHOLE}"))


def photo_of(shade: int) -> dict[str, object]:
    return {"image.png": {"image/png": base64_png(shade)}}


@answer
def photo_at_the_end(notebook: NotebookNode) -> None:
    notebook.cells.append(v4.new_markdown_cell(PASTED, attachments=photo_of(190)))


@answer
def photo_in_the_question(notebook: NotebookNode) -> None:
    cell_of(notebook, "why").source = WHOLE
    cell = cell_of(notebook, "question")
    cell.update(source=f"{cell.source}\n\n{PASTED}", attachments=photo_of(200))


@answer
def photo_in_the_heading_below(notebook: NotebookNode) -> None:
    cell_of(notebook, "why").source = WHOLE
    cell = cell_of(notebook, "plan")
    cell.update(source=f"{PASTED}\n\n{cell.source}", attachments=photo_of(210))


@answer
def photo_only_in_the_question(notebook: NotebookNode) -> None:
    cell = cell_of(notebook, "question")
    cell.update(source=f"{cell.source}\n\n{PASTED}", attachments=photo_of(220))


@answer
def very_long(notebook: NotebookNode) -> None:
    cell_of(notebook, "why").source = f"{WHOLE} " * 200 + "The end."


@answer
def very_long_with_another_end(notebook: NotebookNode) -> None:
    cell_of(notebook, "why").source = f"{WHOLE} " * 200 + "Quite another end of it all."


@answer
def half_below(notebook: NotebookNode) -> None:
    cell_of(notebook, "why").source = FIRST
    put_below(notebook, "why", v4.new_markdown_cell(SECOND))


@answer
def half_above(notebook: NotebookNode) -> None:
    cell_of(notebook, "why").source = SECOND
    put_below(notebook, "question", v4.new_markdown_cell(FIRST))


@answer
def photo_below(notebook: NotebookNode) -> None:
    cell_of(notebook, "why").source = WHOLE
    cell = v4.new_markdown_cell(PASTED, attachments={"image.png": {"image/png": base64_png(160)}})
    put_below(notebook, "why", cell)


@answer
def drawn_below(notebook: NotebookNode) -> None:
    cell_of(notebook, "why").source = WHOLE
    lines = [
        "import base64",
        "from IPython.display import Image",
        f"Image(base64.b64decode('{base64_png(180)}'))",
    ]
    put_below(notebook, "why", v4.new_code_cell("\n".join(lines)))


@answer
def split_with_its_mark(notebook: NotebookNode) -> None:
    own = cell_of(notebook, "why")
    own.source = FIRST
    half = deepcopy(own)
    half["id"], half.source = "second", SECOND
    put_below(notebook, "why", half)


@answer
def half_in_the_question(notebook: NotebookNode) -> None:
    cell_of(notebook, "why").source = SECOND
    cell_of(notebook, "question").source += f"\n\n{FIRST}"


@answer
def half_in_the_heading_below(notebook: NotebookNode) -> None:
    cell_of(notebook, "why").source = FIRST
    cell_of(notebook, "plan").source = f"{SECOND}\n\n## A plan"


@answer
def short_and_elsewhere(notebook: NotebookNode) -> None:
    cell_of(notebook, "why").source = "See the end."
    notebook.cells.append(v4.new_markdown_cell(WHOLE))


@answer
def did_the_task(notebook: NotebookNode) -> None:
    cell_of(notebook, "why").source = WHOLE
    put_below(notebook, "task", v4.new_markdown_cell(STEP))


def make_class(course: TinyCourse) -> None:
    """Hand in and grade all of `ANSWERS`."""
    (course.root / "source" / "01_double").mkdir(parents=True)
    (course.root / "nbgrader_config.py").write_text(CONFIGURE)
    course.write_source(source())
    done = course.run("nbgrader", "generate_assignment", "01_double")
    assert done.returncode == 0, done.stderr
    for student, change in ANSWERS.items():
        notebook = course.assignment.released("double")
        cell_of(notebook, "double").source = "def double(x):\n    return 2 * x"
        change(notebook)
        path = course.hand_in(student, notebook)
        for file, content in FILES.get(student, {}).items():
            path.with_name(file).write_bytes(content)
    assert course.gradekit("autograde", "01_double", "--workers", "1") == 0

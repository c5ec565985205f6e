"""What a check sees of the figures and the text that a notebook puts out."""

import json
from contextlib import closing
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from nbformat import v4

from gradekit.checks import assert_close
from gradekit.checks.asserts import CheckFailure
from gradekit.codecs import describe
from gradekit.course import CourseError
from gradekit.inside.agent import Agent
from gradekit.inside.messages import MessageError, encode
from gradekit.session.limits import Limits
from gradekit.session.proxy import Student, asked_by
from gradekit.session.replies import read_reply
from gradekit.session.runner import text_of
from gradekit.session.session import Session
from gradekit.session.values import CheckOutcome, StudentError
from gradekit.submission.submission import Submission
from gradekit.verdict.explanation import explain
from gradekit_data.figure_codec import Figure


def seen(figure: object) -> Figure:
    """The figure as it arrives in the grader."""
    try:
        return read_reply(encode({"ok": True, "value": figure}), lambda item: item).value
    finally:
        plt.close("all")


def test_lines_arrive_with_their_points_and_looks():
    figure, axes = plt.subplots()
    axes.plot([1, 2, 3], [1, 4, np.nan], "r--o", label="squares", linewidth=2)
    axes.plot(pd.to_datetime(["2024-01-01", "2024-01-02"]), [0, 1])
    axes.axhline(2)
    axes.set(title="Growth", xlabel="x", ylabel="y", xlim=(0, 4), yscale="log")
    axes.legend()
    figure.suptitle("Both")
    found = seen(figure)
    (panel,) = found.axes
    assert (panel.title, panel.xlabel, panel.ylabel, found.title) == ("Growth", "x", "y", "Both")
    assert (panel.xlim, panel.yscale, panel.legend) == ((0, 4), "log", ("squares",))
    line, dated, _ = panel.lines
    assert (line.label, line.color, line.style, line.marker, line.width) == (
        "squares",
        "#ff0000",
        "--",
        "o",
        2,
    )
    np.testing.assert_array_equal(line.x, [1, 2, 3])
    np.testing.assert_array_equal(line.y, [1, 4, np.nan])
    assert dated.label == ""
    assert np.diff(dated.x) == [1]


def test_bars_arrive_by_their_centers():
    _, (one, other, third) = plt.subplots(1, 3)
    one.bar(["a", "b"], [3, -4], width=0.5)
    other.barh([0, 1], [2, 5], left=1)
    third.hist([1, 1, 2, 9], bins=[0, 5, 10])
    one, other, third = seen(one).axes
    assert one.xticklabels == ("a", "b")
    np.testing.assert_allclose(one.bars[0].positions, [0, 1])
    np.testing.assert_allclose(one.bars[0].heights, [3, -4])
    assert other.bars[0].horizontal and not one.bars[0].horizontal
    np.testing.assert_allclose(other.bars[0].positions, [0, 1])
    np.testing.assert_allclose(other.bars[0].heights, [2, 5])
    np.testing.assert_allclose(other.bars[0].bottoms, [1, 1])
    np.testing.assert_allclose(third.bars[0].heights, [3, 1])
    np.testing.assert_allclose(third.bars[0].positions, [2.5, 7.5])


def test_marks_are_the_same_whichever_way_they_were_drawn():
    _, (one, other) = plt.subplots(1, 2)
    one.scatter([2, 1], [4, 3], c=[0.5, 0.1], label="points")
    other.plot([2], [4], "o")
    other.plot([1], [3], linestyle="", marker="x")
    one, other = seen(one).axes
    np.testing.assert_array_equal(one.marks, [[1, 3], [2, 4]])
    np.testing.assert_array_equal(one.marks, other.marks)
    np.testing.assert_array_equal(one.points[0].values, [0.5, 0.1])


def test_images_and_pies_arrive_and_a_colorbar_is_not_counted():
    figure, (one, other, third) = plt.subplots(1, 3)
    figure.colorbar(one.imshow(np.arange(6).reshape(2, 3), cmap="gray"))
    other.pcolormesh(np.ones((2, 4)))
    third.pie([1, 3])
    found = seen(figure)
    assert (len(found.axes), found.colorbars) == (3, 1)
    (image,) = found.axes[0].images
    np.testing.assert_array_equal(image.values, np.arange(6).reshape(2, 3))
    assert (image.colormap, image.limits, image.origin) == ("gray", (0, 5), "upper")
    assert found.axes[1].images[0].values.size == 8
    np.testing.assert_allclose(found.axes[2].wedges, [0.25, 0.75])


def test_plots_of_pandas_and_seaborn_are_figures():
    seaborn = pytest.importorskip("seaborn")
    frame = pd.DataFrame({"x": ["a", "b", "a"], "y": [1.0, 2.0, 3.0]})
    assert len(seen(frame.plot()).axes[0].lines) == 1
    found = seen(seaborn.barplot(frame, x="x", y="y", errorbar=None))
    np.testing.assert_allclose(np.concatenate([group.heights for group in found.axes[0].bars]), [2, 2])
    grid = seaborn.relplot(frame, x="y", y="y")
    assert len(seen(grid.figure).axes[0].marks) == 3


def test_a_figure_of_too_many_parts_is_refused_in_the_kernel():
    figure, axes = plt.subplots()
    for number in range(501):
        axes.plot([0], [number])
    with pytest.raises(MessageError, match="more than 500 lines"):
        seen(figure)


def test_a_figure_is_described_and_a_call_closes_what_it_drew():
    def plot(x: list[float]) -> None:
        plt.plot(x, x)

    before = plt.get_fignums()
    agent = Agent({"plot": plot})
    request = {"do": "call", "name": "plot", "args": [[1, 2]], "kwargs": {}}
    assert read_reply(agent.answer(encode([request])), lambda item: item).value is None
    (figure,) = read_reply(agent.answer(encode([request | {"drawing": True}])), lambda item: item).value
    np.testing.assert_array_equal(figure.axes[0].lines[0].x, [1, 2])
    assert describe(figure) == "a figure with 1 pair of axes"
    assert plt.get_fignums() == before


CELLS = {
    "imports": "import os\nimport matplotlib.pyplot as plt\nimport numpy as np",
    "plain": "plt.plot([1, 2], [3, 4])\nplt.title('one')",
    "shown": "plt.plot([1], [1])\nplt.title('first')\nplt.show()\nplt.bar([1], [2])\nplt.title('second')\nplt.show()",
    "loose": "from matplotlib.figure import Figure\nloose = Figure()\nloose.subplots().set_title('loose')\nloose",
    "no_figure": "x = 1",
    "closed": "from matplotlib import pyplot\npyplot.plot([1])\npyplot.close('all')",
    "function": "def draw(y):\n    fig, ax = plt.subplots()\n    ax.plot(y)\n    plt.show()\n\n"
    "def empty():\n    plt.figure()\n\n"
    "def give(y):\n    plt.figure()\n    other, ax = plt.subplots()\n    ax.set_title('given')\n    plt.figure()\n    return ax\n\n"
    "def nothing():\n    return 1\n\n"
    "def closes(y):\n    plt.plot(y)\n    plt.close()",
    "printing": "import sys\nprint('Hello', 3)\nsys.stderr.write('a warning')\nprint('again')\nnp.arange(3)",
    "displaying": "display(np.float64(2))\nplt.plot([1])\nplt.show()\n'last'",
    "failing": "print('before')\nplt.plot([1])\n1 / 0",
    "looping": "while True: pass",
    "blank": "# YOUR CODE HERE\nraise NotImplementedError()",
    "flood": "print('x' * 1_000_000)",
}


@pytest.fixture(scope="module")
def student():
    def cells():
        return [
            v4.new_code_cell(source, metadata={"nbgrader": {"grade_id": name, "solution": True}})
            for name, source in CELLS.items()
        ]

    book = v4.new_notebook(cells=cells())
    released = v4.new_notebook(cells=cells())
    for cell in released.cells:
        if cell.metadata.nbgrader.grade_id != "blank":
            cell.source = "# YOUR CODE HERE\nraise NotImplementedError()\n"
    session = Session(book, Limits(cell_seconds=2, call_seconds=3))
    with closing(session):
        session.run_cells()
        yield Student(session, Submission(book, released))


def test_the_figure_of_a_cell_is_seen_although_it_was_closed(student):
    line = student.figure("plain").axes[0].lines[0]
    np.testing.assert_array_equal(line.y, [3, 4])
    assert student.figure("shown").axes[0].title == "second"
    assert student.figure("loose").axes[0].title == "loose"


def test_the_pictures_on_the_page_stay_as_they_were(student):
    def pictures(name: str) -> int:
        (cell,) = [c for c in student._session.notebook.cells if c.metadata.nbgrader.grade_id == name]
        return sum("image/png" in output.get("data", {}) for output in cell.outputs)

    assert [pictures(name) for name in ("plain", "shown", "loose", "function")] == [1, 2, 1, 0]


def test_the_figure_of_a_function_is_what_it_returns_or_draws(student):
    np.testing.assert_array_equal(student.figure_of("draw", [5.0, 6.0]).axes[0].lines[0].y, [5, 6])
    assert student.figure_of("give", [1]).axes[0].title == "given"
    with pytest.raises(
        StudentError, match=r"^`closes` has no open figure at its end: `plt.close\(\)` closes it\. Remove"
    ):
        student.figure_of("closes", [1])
    with pytest.raises(StudentError, match=r"^`nothing` draws no figure\.$"):
        student.figure_of("nothing")
    with pytest.raises(StudentError, match=r"^`empty` draws nothing in its figure\.$"):
        student.figure_of("empty")
    with pytest.raises(StudentError, match="raised TypeError"):
        student.figure_of("draw")
    assert isinstance(student.give([1]), Figure)


def test_a_check_that_cannot_use_the_figure_blames_the_figure(student):
    figure = student.figure("plain")
    assert asked_by(student).last == ("plain", figure)
    try:
        _, _ = figure.axes
    except ValueError as error:
        found = explain(error, student, Path(__file__))
    assert found is not None and found[0] == CheckOutcome.FAILED
    assert found[1].startswith("The figure of `plain` doesn't have the parts that this check looks for")


def test_a_cell_that_closes_its_figure_is_told_so(student):
    with pytest.raises(StudentError) as error:
        student.figure("closed")
    assert str(error.value) == (
        "The cell `closed` has no open figure at its end: `pyplot.close('all')` closes it. Remove that call."
    )


def test_a_cell_without_a_figure_is_told_so(student):
    with pytest.raises(StudentError, match=r"^The cell `no_figure` draws no figure\.$") as error:
        student.figure("no_figure")
    assert error.value.outcome == CheckOutcome.FAILED


def test_the_output_of_a_cell_is_what_it_printed_and_displayed(student):
    assert student.output("printing") == "Hello 3\nagain\narray([0, 1, 2])\n"
    assert student.output("displaying") == "np.float64(2.0)\n'last'\n"
    assert student.output("no_figure") == ""
    assert len(student.output("flood")) < 200_000


@pytest.mark.parametrize(
    ("cell", "outcome", "words"),
    [
        ("failing", CheckOutcome.BLOCKED, r"^The cell `failing` stopped with ZeroDivisionError: division by zero \(line 3\)\.$"),
        ("looping", CheckOutcome.TIMED_OUT, "^The cell `looping` took too long: it "),
        ("blank", CheckOutcome.NOT_ANSWERED, "^Not answered: the cell `blank` is as it was handed out.$"),
    ],
)  # fmt: skip
def test_a_cell_that_did_not_run_to_its_end_has_a_clear_outcome(student, cell, outcome, words):
    for ask in (student.figure, student.output):
        with pytest.raises(StudentError, match=words) as error:
            ask(cell)
        assert error.value.outcome == outcome


def test_a_cell_that_is_not_in_the_notebook_is_the_check_s_fault(student):
    with pytest.raises(CourseError, match="`elsewhere`, which the notebook does not have"):
        student.output("elsewhere")


def test_output_in_other_forms_is_no_text():
    assert (
        text_of({"outputs": [{"output_type": "stream", "name": "stdout", "text": None}, json.loads("{}")]})
        == ""
    )


def check_of_a_plot(figure: Figure) -> None:
    """As in docs/writing-checks.md."""
    (axes,) = figure.axes
    assert axes.xlabel and axes.ylabel, "Label both axes: a reader can't know what they show."
    assert axes.lines, "Draw the loss as a line, with `plt.plot`."
    assert_close(axes.lines[0].y, np.array([3.0, 2.0]), name="loss", context="in the plot")
    assert axes.yscale == "log", (
        "The loss spans several powers of ten: `plt.yscale('log')` makes the end visible."
    )


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda axes: axes.plot([3, 2]), "Label both axes"),
        (lambda axes: (axes.set(xlabel="x", ylabel="y"), axes.scatter([0, 1], [3, 2])), "as a line"),
        (
            lambda axes: (axes.set(xlabel="x", ylabel="y"), axes.plot([2, 3])),
            r"`loss` in the plot has the right shape \(2,\), but differs by up to about 1; all of its 2 entries are off\.",
        ),
        (lambda axes: (axes.set(xlabel="x", ylabel="y"), axes.plot([3, 2])), "powers of ten"),
    ],
)
def test_a_check_of_a_plot_teaches(draw, words):
    figure, axes = plt.subplots()
    draw(axes)
    with pytest.raises((AssertionError, CheckFailure), match=words):
        check_of_a_plot(seen(figure))

"""Notebooks that ask for windows, as VS Code and Spyder leave them, draw their figures into the notebook."""

import pytest
from nbformat import v4

from gradekit.session.limits import Limits
from gradekit.session.session import Session
from sandbox_kernel import COLD, SANDBOX

FIGURE = """
import matplotlib.pyplot as plt
plt.figure()
plt.plot([1, 2])
{show}
done = True"""
ASKING = {
    **{
        name: f"%matplotlib {name}"
        for name in ("qt", "qt5", "tk", "osx", "gtk", "wx", "notebook", "widget", "Qt6")
    },
    "pylab": "%pylab qt",
    **{
        f"use {name}": f"import matplotlib\nmatplotlib.use('{name}')"
        for name in ("TkAgg", "QtAgg", "MacOSX", "nbAgg")
    },
    "switch_backend": "import matplotlib.pyplot as plt\nplt.switch_backend('Qt5Agg')",
    "rcParams": "import matplotlib\nmatplotlib.rcParams['backend'] = 'WXAgg'",
    "environment": "import os\nos.environ['MPLBACKEND'] = 'TkAgg'",
    "gui": "%gui qt",
}


#: tried each time; the others by `make test-all`
EXAMPLES = ("qt", "widget", "use TkAgg", "rcParams")


def run(asking: str, kernel: str = SANDBOX) -> tuple[list, list[str]]:
    """What three cells put out: one that asks, and two with a figure, with and without `plt.show()`."""
    sources = [asking, FIGURE.format(show="plt.show()"), FIGURE.format(show="")]
    notebook = v4.new_notebook(cells=[v4.new_code_cell(source) for source in sources])
    session = Session(notebook, Limits(), kernel)
    try:
        session.run_cells()
    finally:
        session.close()
    return [session.runs[index].state for index in range(3)], notebook.cells


def pictures(cell) -> int:
    return sum("image/png" in output.get("data", {}) for output in cell.outputs)


@pytest.mark.parametrize(
    "name", [name if name in EXAMPLES else pytest.param(name, marks=pytest.mark.thorough) for name in ASKING]
)
def test_figures_are_drawn_into_the_notebook(name):
    states, cells = run(ASKING[name])
    assert states == ["ok"] * 3, cells
    assert [pictures(cell) for cell in cells] == [0, 1, 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["rcParams", *(pytest.param(n, marks=pytest.mark.thorough) for n in ("environment", "use QtAgg"))]
)
def test_they_are_in_a_kernel_that_has_not_imported_matplotlib_before(name):
    states, cells = run(ASKING[name], COLD)
    assert states == ["ok"] * 3, cells
    assert [pictures(cell) for cell in cells] == [0, 1, 1]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["qt", "pylab", "use TkAgg", "switch_backend"])
def test_one_line_says_so(name):
    _, cells = run(ASKING[name])
    said = [line for cell in cells for output in cell.outputs for line in output.get("text", "").splitlines()]
    notes = [
        line
        for line in said
        if line.startswith("There is no screen here, so figures are drawn into the notebook")
    ]
    assert len(notes) == 1


@pytest.mark.slow
@pytest.mark.parametrize("asking", ["%matplotlib inline", "%matplotlib", "%matplotlib agg"])
def test_what_needs_no_screen_is_left_alone(asking):
    states, cells = run(asking)
    assert states == ["ok"] * 3
    assert not any("no screen" in output.get("text", "") for cell in cells for output in cell.outputs)

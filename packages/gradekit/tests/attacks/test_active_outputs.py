"""What code displays can hold scripts; in formgrader, where the grader is logged in, none of them runs."""

import json
from types import SimpleNamespace

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from traitlets.config import Config

from gradekit.nbgrader_plugin import configure

from .pages import WORD, runs_script

ACTIVE = [
    {"text/html": f"<script>{WORD}</script><p onclick='{WORD}'>x</p>"},
    {"text/html": f"<a href='java&#x0A;script:{WORD}'>x</a><img src=x onerror={WORD}>"},
    {"text/html": f"<svg onload={WORD}><script>{WORD}</script></svg><svg><style><img src=x onerror={WORD}>"},
    {"text/html": f"<style><!--</style><img title='--></style><script>{WORD}</script>'>"},
    {"text/html": f"<p>$\\href{{javascript:{WORD}}}{{x}}$</p>"},
    {"text/html": "<p>x</p>" * 1_000 + f"<script>{WORD}</script>"},
    {"text/markdown": f"<script>{WORD}</script> [x](javascript:{WORD}) $\\href{{javascript:{WORD}}}{{x}}$"},
    {"text/latex": f"$\\href{{javascript:{WORD}}}{{x}}$<script>{WORD}</script>"},
    {"image/svg+xml": f"<svg xmlns='http://www.w3.org/2000/svg'><script>{WORD}</script></svg>"},
    {"image/png": f'AAAA"><script>{WORD}</script>', "text/plain": f"<script>{WORD}</script>"},
    {"application/javascript": f"{WORD}()", "text/plain": ""},
    {"application/json": {f"<script>{WORD}</script>": 1}, "text/plain": ""},
    {f"application/vnd.<script>{WORD}</script>+json": {}, "text/plain": ""},
    {
        "application/vnd.jupyter.widget-view+json": {"model_id": f"</script><script>{WORD}</script>"},
        "text/plain": "w",
    },
    {"text/vnd.mermaid": f"<script>{WORD}</script>", "text/plain": ""},
]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(d, id=f"{i}-{next(iter(d))[:24]}", marks=[] if i < 3 else pytest.mark.slow)
        for i, d in enumerate(ACTIVE)
    ],
)
def test_nothing_that_code_displayed_runs_in_formgrader(tiny_course, data):
    """Whatever is in autograded/, also an isolated frame, which nbconvert writes."""
    config = Config()
    configure(config)
    notebook = tiny_course.assignment.released("double")
    odd = {"text/html": {"isolated": True}, "gradekit_checks": True}
    for kind, count in (("display_data", {}), ("execute_result", {"execution_count": 1})):
        output = nbformat.from_dict(
            {"output_type": kind, "data": {"text/plain": "", **data}, "metadata": odd, **count}
        )
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs.append(output)
    folder = tiny_course.root / "autograded" / "ada" / "01_double"
    folder.mkdir(parents=True)
    (folder / "double.ipynb").write_text(json.dumps(notebook))
    resources = {"assignment_id": "01_double", "notebook_id": "double", "index": 0, "total": 1}
    html, _ = HTMLExporter(config=config).from_filename(str(folder / "double.ipynb"), resources=resources)
    assert WORD in json.dumps(data) and runs_script(SimpleNamespace(page=html)) == ""
    assert BeautifulSoup(html, "html.parser").find_all("iframe") == []

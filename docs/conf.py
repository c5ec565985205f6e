"""The documentation site, built by `make docs` with Sphinx.

Executed notebooks, sample pages, pages of the root folder and a page for each module are written to docs/generated/ first.
"""

import re
import shutil
import sys
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.docutils import SphinxTranslator

ROOT = Path(__file__).resolve().parents[1]
GENERATED = ROOT / "docs" / "generated"
#: what is copied into the site as it is
EXTRA = ROOT / "build" / "extra"
EXTRA.mkdir(parents=True, exist_ok=True)  # Sphinx looks before anything is written
#: outputs of notebooks and sample pages, by hash
CACHE = ROOT / ".gradekit" / "site"
sys.path.insert(0, str(ROOT / "docs"))

from building.badges import address_of_site  # noqa: E402
from building.docstrings import to_rst  # noqa: E402
from building.formulas import spaced  # noqa: E402
from building.leaks import leaks, secret_lines  # noqa: E402
from building.notebooks import outputs_of, write_notebooks  # noqa: E402
from building.pages import write_parts  # noqa: E402
from building.reference import write_copies, write_references  # noqa: E402
from building.samples import sample_pages  # noqa: E402
from building.syllabus import parts_of  # noqa: E402
from gradekit.course import Course  # noqa: E402

project = "Transformers from scratch"
extensions = ["myst_nb", "sphinx.ext.autodoc"]
templates_path = ["_templates"]
exclude_patterns = ["generated/parts"]  # included in other pages
html_static_path = ["_static"]
html_extra_path = [str(EXTRA)]
html_css_files = ["site.css"]
html_baseurl = address_of_site()
highlight_language = "none"  # shell commands, tables of text: only marked blocks are code
html_theme = "pydata_sphinx_theme"
html_title = project
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_center": ["top-links.html"],
    "show_prev_next": False,
    "footer_start": [],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "**": ["pages.html"]}
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = (
    "off"  # student notebooks raise NotImplementedError; building/notebooks.py has run the others
)
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False  # those of other packages are written for another format
toc_object_entries_show_parents = "hide"
autodoc_mock_imports = ["distributed"]
suppress_warnings = [
    "myst.header",  # notebooks skip heading levels
    "misc.highlighting_failure",  # cells with magics, and output shown as code
]


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", (inline_formula, None), (block_formula, None))
    app.connect("builder-inited", lambda app: write_generated())
    app.connect("source-read", link_to_copies)
    app.connect("doctree-read", fill_empty_headers)
    app.connect("autodoc-process-docstring", docstring_to_rst)
    app.connect("build-finished", refuse_solutions)


def write_generated() -> None:
    for folder in (GENERATED, EXTRA):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    course = Course(ROOT)
    assignments = course.assignments()
    figures = write_notebooks(assignments, outputs_of(assignments, CACHE), GENERATED, EXTRA)
    shutil.copytree(sample_pages(CACHE), EXTRA / "samples")
    write_parts(parts_of(course), figures, GENERATED)
    write_copies()
    write_references()


def refuse_solutions(app: Sphinx, error: Exception | None) -> None:
    if error is None:
        found = leaks(Path(app.outdir), secret_lines(Course(ROOT).assignments()))
        if found:
            raise SphinxError("the site shows lines of solutions:\n" + "\n".join(found))


def link_to_copies(app: Sphinx, page: str, source: list[str]) -> None:
    """Point links to files outside docs/ at their copies."""
    source[0] = re.sub(
        r"\]\(\.\./(?:\.github/)?((?:packages/[a-z-]+/|deploy/jupyterhub/)?[A-Z]+\.md)",
        r"](/generated/\1",
        source[0],
    )
    source[0] = re.sub(r"\]\(\.\./release/([^)#]*\.ipynb)", r"](/generated/notebooks/\1", source[0])


def fill_empty_headers(app: Sphinx, page: nodes.document) -> None:
    """Give a text to headings of columns that have none, or only a formula, for readers who hear them."""
    for head in page.findall(nodes.thead):
        for entry in head.findall(nodes.entry):
            formulas = list(entry.findall(nodes.math))
            texts = [text for text in entry.findall(nodes.Text) if text.parent not in formulas]
            if not any(text.strip() for text in texts):
                name = "formula" if formulas else "row"
                entry += nodes.paragraph("", "", nodes.inline("", name, classes=["visually-hidden"]))


def docstring_to_rst(
    app: Sphinx, what: str, name: str, of: object, options: object, lines: list[str]
) -> None:
    lines[:] = to_rst("\n".join(lines))


def inline_formula(writer: SphinxTranslator, node: nodes.Element) -> None:
    writer.body.append(mathml(node, "inline"))
    raise nodes.SkipNode


def block_formula(writer: SphinxTranslator, node: nodes.Element) -> None:
    writer.body.append(f'<div class="formula" tabindex="0">{mathml(node, "block")}</div>')
    raise nodes.SkipNode


def mathml(node: nodes.Element, display: str) -> str:
    # latex2mathml knows the environment by its other name
    return spaced(convert(node.astext().replace("{aligned}", "{align*}"), display=display))

"""The documentation site, built by `make docs` with Sphinx.

The student notebooks, pages of the root folder and a page for each module are copied or written to docs/generated/ first.
"""

import importlib
import inspect
import re
import shutil
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxTranslator

ROOT = Path(__file__).resolve().parents[1]
GENERATED = ROOT / "docs" / "generated"
SOURCES = {
    "sandbox_kernel": ROOT / "packages" / "sandbox-kernel" / "src" / "sandbox_kernel",
    "coursekit": ROOT / "packages" / "coursekit" / "src" / "coursekit",
}
#: files that run inside a kernel or are copied into a course, so they can't be imported here
NOT_IMPORTED = {"__main__.py", "inside", "template"}

project = "Transformers from scratch"
extensions = ["myst_nb", "sphinx.ext.autodoc"]
html_theme = "pydata_sphinx_theme"
html_title = project
html_show_copyright = False
html_show_sourcelink = False
html_theme_options = {"navbar_center": [], "show_prev_next": False, "footer_start": [], "footer_end": []}
html_sidebars = {"**": ["globaltoc.html"]}
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # student notebooks raise NotImplementedError
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_mock_imports = ["distributed"]
suppress_warnings = [
    "myst.header",  # notebooks skip heading levels
    "misc.highlighting_failure",  # cells with magics, and output shown as code
]


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer("mathml", (inline_formula, None), (block_formula, None))
    app.connect("builder-inited", lambda app: write_generated())
    app.connect("source-read", link_to_copies)
    app.connect("autodoc-process-docstring", docstring_to_rst)


def write_generated() -> None:
    shutil.rmtree(GENERATED, ignore_errors=True)
    for notebook in sorted((ROOT / "release").glob("*/*.ipynb")):
        place = GENERATED / "notebooks" / notebook.parent.name
        place.mkdir(parents=True)
        shutil.copy(notebook, place)
    copy_page(ROOT / "CONTRIBUTING.md")
    copy_page(ROOT / "SECURITY.md")
    for page in ROOT.glob("packages/*/*.md"):
        copy_page(page)
    for package, folder in SOURCES.items():
        parts = {path for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
        for part in sorted(part for part in parts if part.name not in NOT_IMPORTED):
            write_reference(package, part)


def copy_page(page: Path) -> None:
    """Copy a page from outside docs/, with links that lead to the same places."""
    here = page.relative_to(ROOT)

    def moved(link: re.Match[str]) -> str:
        target = (page.parent / link[1]).resolve()
        if target.is_relative_to(ROOT / "docs"):
            return f"](/{target.relative_to(ROOT / 'docs')}"
        if target.suffix == ".md":
            return f"](/generated/{target.relative_to(ROOT)}"
        return f"](/../{target.relative_to(ROOT)}"

    copy = GENERATED / here
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(re.sub(r"\]\((?![a-z]+:|#)([^)#\s]+)", moved, page.read_text("utf-8")), "utf-8")


def write_reference(package: str, part: Path) -> None:
    """One page for a module, or for a subpackage with all its modules."""
    if part.name == "__init__.py":
        modules = [package]
    elif part.is_dir():
        paths = sorted(path.relative_to(part.parent) for path in part.rglob("*.py"))
        kept = [path for path in paths if not NOT_IMPORTED & set(path.parts)]
        dotted = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in kept]
        modules = sorted(f"{package}.{name}" for name in dotted)
    else:
        modules = [f"{package}.{part.stem}"]
    text = f"# {modules[0]}\n"
    for module in modules:
        heading = "" if module == modules[0] else f"\n## {module}\n"
        options = ["members", "show-inheritance", *(["no-index"] if has_namesake(module) else [])]
        rst = "\n".join([f".. automodule:: {module}", *(f"   :{option}:" for option in options)])
        text += f"{heading}\n```{{eval-rst}}\n{rst}\n```\n"
    place = GENERATED / "reference" / package / f"{modules[0]}.md"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def has_namesake(module: str) -> bool:
    """Whether the package has a function of the same name as its module: Sphinx can list only one."""
    parent, _, name = module.rpartition(".")
    namesake = getattr(importlib.import_module(parent), name, None) if parent else None
    return namesake is not None and not inspect.ismodule(namesake)


def link_to_copies(app: Sphinx, page: str, source: list[str]) -> None:
    """Point links to files outside docs/ at their copies."""
    source[0] = re.sub(r"\]\(\.\./((?:packages/[a-z-]+/)?[A-Z]+\.md)", r"](/generated/\1", source[0])
    source[0] = re.sub(r"\]\(\.\./release/([^)#]*\.ipynb)", r"](/generated/notebooks/\1", source[0])


def docstring_to_rst(
    app: Sphinx, what: str, name: str, of: object, options: object, lines: list[str]
) -> None:
    """Our docstrings are plain text: paragraphs become prose, indented ones stay as they are."""
    result: list[str] = []
    for paragraph in "\n".join(lines).strip("\n").split("\n\n"):
        block = paragraph.splitlines()
        if any(line.startswith(" ") for line in block) or re.search(r"\S {2,}\S", paragraph):
            result += ["::", "", *("    " + line for line in block), ""]
        else:
            code = re.split(r"(`[^`]+`)", paragraph)
            escaped = [
                f"`{part}`" if part.startswith("`") else re.sub(r"([\\*_|`])", r"\\\1", part) for part in code
            ]
            # code directly after a letter or before one needs an escaped space between them in reStructuredText
            result += [*"\\ ".join(part for part in escaped if part).splitlines(), ""]
    lines[:] = result


def inline_formula(writer: SphinxTranslator, node: nodes.Element) -> None:
    writer.body.append(mathml(node, "inline"))
    raise nodes.SkipNode


def block_formula(writer: SphinxTranslator, node: nodes.Element) -> None:
    writer.body.append(f'<div class="math">{mathml(node, "block")}</div>')
    raise nodes.SkipNode


def mathml(node: nodes.Element, display: str) -> str:
    # latex2mathml knows the environment by its other name
    return convert(node.astext().replace("{aligned}", "{align*}"), display=display)

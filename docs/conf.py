"""The documentation site, built by `make docs` with Sphinx.

The student notebooks, pages of the root folder and a page for each module are copied or written to docs/generated/ first.
"""

import ast
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
    "gradekit_integrity": ROOT / "packages" / "gradekit-integrity" / "src" / "gradekit_integrity",
    "gradekit_lms": ROOT / "packages" / "gradekit-lms" / "src" / "gradekit_lms",
    "gradekit": ROOT / "packages" / "gradekit" / "src" / "gradekit",
}
#: how the packages' READMEs, which a package index shows, begin a link to a file
IN_REPOSITORY = r"https://github\.com/[^/\s]+/[^/\s]+/blob/main/"
#: files that run inside a kernel or are copied into a course, so they can't be imported here
NOT_IMPORTED = {"__main__.py", "template"}
NOT_IMPORTED_FOLDER = SOURCES["sandbox_kernel"] / "inside"
#: headings of lists in docstrings, and Sphinx's name for an entry
FIELDS = {"Args:": "param", "Raises:": "raises"}

project = "Transformers from scratch"
extensions = ["myst_nb", "sphinx.ext.autodoc"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
highlight_language = "none"  # shell commands, tables of text: only marked blocks are code
html_theme = "pydata_sphinx_theme"
html_title = project
html_show_copyright = False
html_show_sourcelink = False
html_theme_options = {"navbar_center": [], "show_prev_next": False, "footer_start": [], "footer_end": []}
html_sidebars = {"**": ["pages.html"]}
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # student notebooks raise NotImplementedError
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
    app.connect("autodoc-process-docstring", docstring_to_rst)


def write_generated() -> None:
    shutil.rmtree(GENERATED, ignore_errors=True)
    for notebook in sorted((ROOT / "release").glob("*/*.ipynb")):
        place = GENERATED / "notebooks" / notebook.parent.name
        place.mkdir(parents=True)
        shutil.copy(notebook, place)
    copy_page(ROOT / "CONTRIBUTING.md")
    copy_page(ROOT / "SECURITY.md")
    copy_page(ROOT / "deploy" / "jupyterhub" / "README.md")
    for page in ROOT.glob("packages/*/*.md"):
        copy_page(page)
    for package, folder in SOURCES.items():
        parts = [path for path in sorted(folder.iterdir()) if path.name not in NOT_IMPORTED]
        parts = [path for path in parts if path != NOT_IMPORTED_FOLDER]
        parts = [path for path in parts if path.suffix == ".py" or (path / "__init__.py").exists()]
        for part in parts:
            write_reference(package, part)
        with (GENERATED / "reference" / package / f"{package}.md").open("a", encoding="utf-8") as page:
            page.write(list_of_modules(package, [part for part in parts if part.name != "__init__.py"]))


def list_of_modules(package: str, parts: list[Path]) -> str:
    """The modules and subpackages of a package, each with its first sentence, and the pages below this one."""
    lines = []
    for part in parts:
        source = part / "__init__.py" if part.is_dir() else part
        docstring = ast.get_docstring(ast.parse(source.read_text("utf-8"))) or ""
        sentence = " ".join(docstring.split("\n\n")[0].split())
        lines.append(f"- [{part.stem}]({package}.{part.stem}.md): {sentence}\n")
    pages = "\n".join(f"{package}.{part.stem}" for part in parts)
    return f"\n## Modules\n\n{''.join(lines)}\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"


def copy_page(page: Path) -> None:
    """Copy a page from outside docs/, with links that lead to the same places."""
    here = page.relative_to(ROOT)

    def place_of(target: Path) -> str:
        if target.is_relative_to(ROOT / "docs"):
            return f"/{target.relative_to(ROOT / 'docs')}"
        if target.suffix == ".md":
            return f"/generated/{target.relative_to(ROOT)}"
        return f"/../{target.relative_to(ROOT)}"

    text = re.sub(
        r"\]\((?![a-z]+:|#)([^)#\s]+)",
        lambda link: f"]({place_of((page.parent / link[1]).resolve())}",
        page.read_text("utf-8"),
    )
    text = re.sub(rf"\]: {IN_REPOSITORY}([^#\s]+)", lambda link: f"]: {place_of(ROOT / link[1])}", text)

    copy = GENERATED / here
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text, "utf-8")


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
    source[0] = re.sub(
        r"\]\(\.\./((?:packages/[a-z-]+/|deploy/jupyterhub/)?[A-Z]+\.md)", r"](/generated/\1", source[0]
    )
    source[0] = re.sub(r"\]\(\.\./release/([^)#]*\.ipynb)", r"](/generated/notebooks/\1", source[0])


def docstring_to_rst(
    app: Sphinx, what: str, name: str, of: object, options: object, lines: list[str]
) -> None:
    """Our docstrings are plain text: paragraphs become prose, indented ones stay as they are.

    Paragraphs that begin with `Args:` or `Raises:` become lists.
    """
    result: list[str] = []
    for paragraph in "\n".join(lines).strip("\n").split("\n\n"):
        heading, _, entries = paragraph.partition("\n")
        if heading in FIELDS:
            fields = re.sub(
                r"^    ([\w.\\]+): ", rf":{FIELDS[heading]} \1: ", prose_to_rst(entries), flags=re.M
            )
            result += [*fields.splitlines(), ""]
        elif re.search(r"^ |\S {2,}\S", paragraph, flags=re.M):
            result += ["::", "", *("    " + line for line in paragraph.splitlines()), ""]
        else:
            result += [*prose_to_rst(paragraph).splitlines(), ""]
    lines[:] = result


def prose_to_rst(text: str) -> str:
    code = re.split(r"(`[^`]+`)", text)
    parts = [f"`{part}`" if part.startswith("`") else re.sub(r"([\\*_|`])", r"\\\1", part) for part in code]
    # code directly after a letter or before one needs an escaped space between them in reStructuredText
    return "\\ ".join(part for part in parts if part)


def inline_formula(writer: SphinxTranslator, node: nodes.Element) -> None:
    writer.body.append(mathml(node, "inline"))
    raise nodes.SkipNode


def block_formula(writer: SphinxTranslator, node: nodes.Element) -> None:
    writer.body.append(f'<div class="formula">{mathml(node, "block")}</div>')
    raise nodes.SkipNode


def mathml(node: nodes.Element, display: str) -> str:
    # latex2mathml knows the environment by its other name
    return convert(node.astext().replace("{aligned}", "{align*}"), display=display)

"""Pages for the packages' modules, and copies of pages from outside docs/ with links that lead to the same places."""

import ast
import importlib
import inspect
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "docs" / "generated"
PACKAGES = sorted(path.parent for path in ROOT.glob("packages/*/pyproject.toml"))
#: the modules of the packages; that of the course is of no use to others
SOURCES = {
    folder.name: folder
    for package in PACKAGES
    for folder in (package / "src").iterdir()
    if folder.name != "transformer_course"
}
#: how the packages' READMEs, which a package index shows, begin a link to a file
IN_REPOSITORY = r"https://github\.com/[^/\s]+/[^/\s]+/blob/main/"
#: files that run inside a kernel or are copied into a course, so they can't be imported here
NOT_IMPORTED = {"__main__.py", "template"}
NOT_IMPORTED_FOLDER = SOURCES["sandbox_kernel"] / "inside"


def write_copies() -> None:
    """Copy the pages of the root folder, the packages and deploy/."""
    copy_page(ROOT / "CONTRIBUTING.md")
    copy_page(ROOT / ".github" / "SECURITY.md")
    copy_page(ROOT / "deploy" / "jupyterhub" / "README.md")
    for page in ROOT.glob("packages/*/*.md"):
        copy_page(page)


def write_references() -> None:
    """Write the pages of all packages, and the part of the first page that lists them."""
    (GENERATED / "parts" / "packages.md").write_text(pages_of_packages(), encoding="utf-8")
    for package, folder in SOURCES.items():
        parts = [path for path in sorted(folder.iterdir()) if path.name not in NOT_IMPORTED]
        parts = [path for path in parts if path != NOT_IMPORTED_FOLDER]
        parts = [path for path in parts if path.suffix == ".py" or (path / "__init__.py").exists()]
        for part in parts:
            write_reference(package, part)
        with (GENERATED / "reference" / package / f"{package}.md").open("a", encoding="utf-8") as page:
            page.write(list_of_modules(package, [part for part in parts if part.name != "__init__.py"]))


def pages_of_packages() -> str:
    """The table of contents with the pages of each package."""
    lines = []
    for name in (package.name for package in PACKAGES):
        lines.append(f"{name} <generated/packages/{name}/README>")
        lines.append(f"Changes in {name} <generated/packages/{name}/CHANGELOG>")
        if (module := name.replace("-", "_")) in SOURCES:
            lines.append(f"API of {name} <generated/reference/{module}/{module}>")
    entries = "\n".join(lines)
    return f"```{{toctree}}\n:hidden:\n:caption: Packages\n:maxdepth: 1\n\n{entries}\n```\n"


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
    here = Path(*(part for part in page.relative_to(ROOT).parts if part != ".github"))

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

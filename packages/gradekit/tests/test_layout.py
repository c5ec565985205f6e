"""The layout of the packages: who imports whom, and how long a module may be."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradekit.codecs import kernel_texts
from gradekit.session import channel

PACKAGES = Path(__file__).parents[2]
GRADEKIT = PACKAGES / "gradekit" / "src" / "gradekit"
SANDBOX_KERNEL = PACKAGES / "sandbox-kernel" / "src" / "sandbox_kernel"
#: packages that depend on gradekit, which doesn't know them
COMPANIONS = sorted(PACKAGES.glob("gradekit-*/src/gradekit_*"))
ALL = [SANDBOX_KERNEL, GRADEKIT, *COMPANIONS]
#: bottom to top; a module imports only from its own room and those before it
ORDER = [
    "inside",
    "course",
    "codecs",
    "submission",
    "session",
    "relations",
    "checks",
    "verdict",
    "attempts",
    "page",
    "nbgrader_plugin",
    "grading",
    "report",
    "cli",
]


def imported(path: Path) -> Iterator[str]:
    """The dotted names that a file imports."""
    return imported_by(path.read_text())


def imported_by(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms(path: Path) -> set[str]:
    """The rooms of gradekit whose modules a file imports."""
    names = [name.split(".") for name in imported(path)]
    return {name[1] for name in names if name[0] == "gradekit" and len(name) > 1}


@pytest.mark.parametrize("package", ALL, ids=lambda folder: folder.name)
def test_imports_name_the_whole_module(package):
    """The tests below read no relative imports."""
    relative = [
        f"{path}:{node.lineno}"
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert relative == []


def test_modules_import_only_from_those_below_them():
    wrong = []
    for path in GRADEKIT.rglob("*.py"):
        own = path.relative_to(GRADEKIT).parts[0]
        if own in ("__init__.py", "__main__.py"):
            continue
        assert own in ORDER, f"{path} has no place"
        wrong += [f"{path}: {name}" for name in rooms(path) if ORDER.index(name) > ORDER.index(own)]
    assert wrong == []


def test_the_page_about_the_architecture_lists_the_rooms_in_this_order():
    page = (PACKAGES.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)/` \| ", page.partition("| room |")[2].partition("\n\n")[0], re.M) == ORDER
    named = re.findall(r"`(\w+/[\w/]+\.py)`", page)
    assert [path for path in named if not (GRADEKIT / path).is_file()] == []


def test_that_page_says_how_large_packages_may_be_and_what_each_needs_of_the_others():
    page = (PACKAGES.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("| package |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \| (.*)\|$", table, re.M)
    assert {name for name, _, _ in rows} == {folder.name for folder in ALL}
    for folder in ALL:
        ((most, needed),) = [(most, needed) for name, most, needed in rows if name == folder.name]
        texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*.py")]
        count = sum(bool(line.strip()) for text in texts for line in text.splitlines())
        assert count < int(most.replace(",", "")), folder.name
        used = {name.split(".")[0] for path in folder.rglob("*.py") for name in imported(path)}
        declared = set(re.findall(r"\w+", needed))
        assert used & {other.name for other in ALL} - {folder.name} <= declared, folder.name
        metadata = tomllib.loads((folder.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
        lines = metadata["project"]["dependencies"]
        names = {line.partition(">")[0].replace("-", "_") for line in lines}
        assert names & {other.name for other in ALL} == declared, folder.name


def sent_with_codecs() -> dict[str, str]:
    """Names and texts of the modules that are sent for values of other libraries."""
    return {name: text for _, texts in kernel_texts().values() for name, text in texts}


def test_what_is_sent_into_the_kernel_imports_nothing_else_of_gradekit():
    texts = {str(path): path.read_text() for path in (GRADEKIT / "inside").glob("*.py")}
    for name, text in (texts | sent_with_codecs()).items():
        ours = {found for found in imported_by(text) if found.startswith("gradekit")}
        assert all(found.startswith("gradekit.inside.") for found in ours), name


def test_that_folder_has_what_is_sent_and_nothing_else():
    sent = {f"gradekit.inside.{name}" for name in channel.PARTS}
    sent |= {name for name in sent_with_codecs() if name.startswith("gradekit.")}
    assert sent == {f"gradekit.inside.{path.stem}" for path in (GRADEKIT / "inside").glob("[!_]*.py")}


@pytest.mark.parametrize("package", ALL, ids=lambda folder: folder.name)
def test_no_modules_import_each_other_in_a_circle(package):
    modules = {
        ".".join(path.relative_to(package.parent).with_suffix("").parts): path
        for path in package.rglob("*.py")
    }
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    imported: dict[str, set[str]] = {}
    for name, path in modules.items():
        found = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        names = {f"{node.module}.{alias.name}" for node in found for alias in node.names}
        imported[name] = ({node.module for node in found} | names) & modules.keys() - {name}
    while leaves := [name for name, others in imported.items() if not others & imported.keys()]:
        for name in leaves:
            del imported[name]
    assert sorted(imported) == []


def test_the_grader_knows_nothing_of_the_packages_that_depend_on_it():
    names = {folder.name for folder in COMPANIONS}
    for path in [*GRADEKIT.rglob("*.py"), *SANDBOX_KERNEL.rglob("*.py")]:
        assert names.isdisjoint(name.split(".")[0] for name in imported(path)), path


def test_the_kernel_s_package_knows_nothing_of_courses():
    for path in SANDBOX_KERNEL.rglob("*.py"):
        assert "gradekit" not in path.read_text() and "nbgrader" not in path.read_text(), path


def test_modules_stay_short_enough_to_read():
    files = [path for package in ALL for path in package.rglob("*.py")]
    assert [path for path in files if len(path.read_text().splitlines()) > 500] == []


#: public names that several modules may define, and why
SHARED_NAMES = {
    "add": "how each module of the command line adds its commands",
    "main": "what a program runs",
    "R": "a type variable",
    "T": "a type variable",
}


def public_names(tree: ast.Module) -> set[str]:
    """The public classes, functions and constants that a module defines at its top level."""
    found = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [n for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
            found |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return {name for name in found if not name.startswith("_")}


def test_a_public_name_is_defined_in_one_module_only():
    places: dict[str, list[Path]] = {}
    for path in [path for package in ALL for path in package.rglob("*.py")]:
        if "template" not in path.parts:  # what `gradekit new` copies
            for name in public_names(ast.parse(path.read_text())):
                places.setdefault(name, []).append(path)
    doubled = {name: paths for name, paths in places.items() if len(paths) > 1}
    assert {name: doubled[name] for name in doubled.keys() - SHARED_NAMES.keys()} == {}


@pytest.mark.parametrize("package", ALL, ids=lambda folder: folder.name)
def test_no_two_modules_of_a_package_have_the_same_name(package):
    places: dict[str, list[Path]] = {}
    for path in package.rglob("*.py"):
        if path.name != "__init__.py" and "template" not in path.parts:
            places.setdefault(path.name, []).append(path)
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}

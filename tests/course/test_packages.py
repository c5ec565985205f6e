"""The packages' metadata: one version, one address, and links that lead somewhere when an index shows them."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(path.parent for path in ROOT.glob("packages/*/pyproject.toml"))
ADDRESS = re.search(r"^repository-code: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1]
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]

each_package = pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)


def project(package: Path) -> dict:
    return tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_packages_have_one_version_and_need_each_other_in_it():
    names = {project(package)["name"] for package in PACKAGES}
    assert names == {package.name for package in PACKAGES}
    (version,) = {project(package)["version"] for package in PACKAGES}
    needed = [
        line
        for package in PACKAGES
        for lines in [
            project(package)["dependencies"],
            *project(package).get("optional-dependencies", {}).values(),
        ]
        for line in lines
        if re.split(r"[<>=\[]", line)[0] in names and "[" not in line
    ]
    assert {line.partition(">=")[2] for line in needed} == {version}


def test_gradekit_has_an_extra_for_each_package_that_depends_on_it_and_its_readme_lists_all():
    readme = (ROOT / "packages/gradekit/README.md").read_text(encoding="utf-8")
    extras = project(ROOT / "packages/gradekit")["optional-dependencies"]
    companions = {package.name.partition("-")[2] for package in PACKAGES if "gradekit-" in package.name}
    assert companions == {extra for extra, lines in extras.items() if lines[0].startswith("gradekit-")}
    assert companions <= set(re.findall(r"\w+", extras["all"][0]))
    assert set(re.findall(r"^\| `([a-z]+)` \|", readme, re.MULTILINE)) == set(extras)


@each_package
def test_the_metadata_names_all_versions_of_python_that_are_tested_and_the_address(package):
    metadata = project(package)
    stated = [line.rpartition(" ")[2] for line in metadata["classifiers"] if ":: Python :: 3." in line]
    assert stated == PYTHONS
    assert metadata["requires-python"] == f">={PYTHONS[0]}"
    assert all(url.startswith(ADDRESS) for url in metadata["urls"].values())
    assert str(PYTHONS) in (ROOT / "packages/noxfile.py").read_text().replace('"', "'")


@each_package
def test_the_readme_links_to_pages_and_headings_that_exist(package):
    text = (package / "README.md").read_text(encoding="utf-8")
    links = [
        *re.findall(r"\]\(([^)#\s]+[^)\s]*)\)", text),
        *re.findall(r"^\[[^\]]+\]: (\S+)$", text, re.MULTILINE),
    ]
    links += project(package)["urls"].values()
    assert [link for link in links if not link.startswith("https://")] == []
    inside = [
        link.removeprefix(f"{ADDRESS}/blob/main/") for link in links if link.startswith(f"{ADDRESS}/blob")
    ]
    assert inside
    for link in inside:
        path, _, heading = link.partition("#")
        page = (ROOT / path).read_text(encoding="utf-8")
        headings = [
            re.sub(r"[^\w -]", "", line).lower() for line in re.findall(r"^#+ (.+)$", page, re.MULTILINE)
        ]
        assert not heading or heading in [line.replace(" ", "-") for line in headings], link


@each_package
def test_the_package_carries_the_license_and_says_what_changed(package):
    assert (package / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert f"## [{project(package)['version']}]" in (package / "CHANGELOG.md").read_text(encoding="utf-8")

"""The address of the repository, which the packages' metadata, their READMEs and CITATION.cff name.

    python packages/address.py                           # print it
    python packages/address.py https://github.com/me/it  # change it everywhere

The one place that says it is `repository-code` in CITATION.cff; a test compares the others with it. On a package index,
links have to be complete, so the READMEs can't have relative ones.
"""

import argparse
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CITATION = ROOT / "CITATION.cff"


def address() -> str:
    """The address, without a slash at its end."""
    found = re.search(r"^repository-code: (\S+)$", CITATION.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None, f"{CITATION} has no repository-code"
    return found[1]


def files() -> list[Path]:
    """The files that name the address."""
    packages = ROOT / "packages"
    return [CITATION, *sorted([*packages.glob("*/pyproject.toml"), *packages.glob("*/README.md")])]


def change(new: str) -> None:
    old = re.compile(re.escape(address()) + r"(?![\w.-])")
    for path in files():
        path.write_text(old.sub(new, path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Print or change the address of the repository.")
    parser.add_argument("new", nargs="?", help="such as https://github.com/me/transformers-from-scratch")
    if new := parser.parse_args().new:
        change(new.rstrip("/"))
    print(address())

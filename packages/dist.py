"""Builds what is published, the sdist and the wheel of each package, into build/dist/: `make dist`.

transformer-course gets the notebooks, solutions and checks of the last commit, packed. Each package is built twice, in two places, and must be the same byte for byte. The time in the archives is that of the last commit,
or SOURCE_DATE_EPOCH. twine checks what a package index would show.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "build" / "dist"
PACKAGES = sorted(path.parent.name for path in ROOT.glob("packages/*/pyproject.toml"))
#: what the course is made of, beside the folders of its assignments
COURSE = ["nbgrader_config.py", "source", "release"]


def build(folder: Path) -> dict[str, bytes]:
    """Build all packages from copies of their sources below `folder`; returns the files by their names."""
    for name in PACKAGES:
        copy = shutil.copytree(
            ROOT / "packages" / name, folder / name, ignore=shutil.ignore_patterns("__pycache__")
        )
        if name == "transformer-course":
            pack_course(Path(copy) / "src" / "transformer_course" / "course.zip")
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist"), copy]
        done = subprocess.run(
            command, env=_environment(), capture_output=True, text=True, check=False
        )  # the wheel is built from the sdist
        if done.returncode:
            sys.exit(f"{name} can't be built:\n{done.stdout}{done.stderr}")
    return {path.name: path.read_bytes() for path in (folder / "dist").iterdir()}


def pack_course(target: Path) -> None:
    """Write an archive of what `gradekit learn` needs of the course."""
    checks = [f"tests/{path.name}" for path in (ROOT / "source").iterdir() if path.is_dir()]
    command = ["git", "-C", str(ROOT), "archive", "--format=zip", "-9", f"--output={target}", "HEAD"]
    subprocess.run([*command, *COURSE, *sorted(checks)], check=True)


def _environment() -> dict[str, str]:
    last_commit = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    time = (
        os.environ.get("SOURCE_DATE_EPOCH")
        or subprocess.run(last_commit, capture_output=True, text=True, check=True).stdout
    )
    return os.environ | {"SOURCE_DATE_EPOCH": time.strip()}


def main() -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        files, again = build(Path(one)), build(Path(other))
    if different := sorted(name for name in files if files[name] != again.get(name)):
        sys.exit(f"built twice, these differ: {', '.join(different)}")
    shutil.rmtree(TARGET, ignore_errors=True)
    TARGET.mkdir(parents=True)
    for name, content in files.items():
        (TARGET / name).write_bytes(content)
    paths = sorted(map(str, TARGET.iterdir()))
    sys.exit(
        subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *paths], check=False).returncode
    )


if __name__ == "__main__":
    main()

"""The command `transformer-course`."""

import os
import shutil
import sys
import tempfile
import zipfile
from importlib.resources import as_file, files
from pathlib import Path

import platformdirs

from gradekit.cli import main as gradekit
from gradekit_authoring.environment import as_typed
from transformer_course import __version__

#: where you work, below the folder in which the command runs
FOLDER = "transformers-from-scratch"


def unpacked() -> Path:
    """The course's folder, which this makes when it is needed first."""
    place = platformdirs.user_data_path("transformer-course", appauthor=False) / __version__
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=place.parent))
        try:
            with (
                as_file(files("transformer_course") / "course.zip") as packed,
                zipfile.ZipFile(packed) as content,
            ):
                content.extractall(made)
            os.rename(made, place)
        except OSError:
            if not place.exists():  # another command may have been faster
                raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return place


def main() -> int:
    options = ["--folder", FOLDER, "--called", as_typed("transformer-course")]
    return gradekit(["--course-dir", str(unpacked()), "learn", *options, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

"""What coursekit itself writes into a course's folder."""

import os
from pathlib import Path

#: the folder of a course for what is not meant for people
FOLDER = ".coursekit"


def write_atomically(path: Path, text: str) -> None:
    """Write a file, or leave it as it is, so that a killed command leaves no partial file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_text(text, encoding="utf-8")
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)

"""A graded notebook as HTML: without scripts or network, in limited time and size."""

from pathlib import Path

PAGE_TEMPLATES = Path(__file__).parent / "templates"

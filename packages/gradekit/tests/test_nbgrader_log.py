"""What nbgrader's commands log."""

import logging

import pytest

from gradekit.nbgrader_plugin.converters import OnlyMissingNotebooks


def passes(message: str, *args: object) -> bool:
    return bool(OnlyMissingNotebooks().filter(logging.LogRecord("n", 30, "", 0, message, args, None)))


@pytest.mark.parametrize("name", ["t08-[ab]*", "h44[1]*?"])
def test_a_folder_whose_name_looks_like_a_pattern_is_not_called_empty(tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    message = "No notebooks were matched by '%s'"
    assert passes(message, str(folder / "*.ipynb"))
    (folder / "double.ipynb").touch()
    assert not passes(message, str(folder / "*.ipynb"))


def test_every_other_message_is_logged(tmp_path):
    (tmp_path / "double.ipynb").touch()
    assert passes("Could not read '%s'", str(tmp_path / "*.ipynb"))
    assert passes("No notebooks were matched by '%s'")

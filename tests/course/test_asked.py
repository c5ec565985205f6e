"""No hidden check looks at what the exercise's text doesn't ask for, in the assignments that were read for it."""

import pytest

from .asked import FOLDER, missing


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.toml")))
def test_words_of_the_notebook_ask_for_every_check(name):
    assert missing(name) == []

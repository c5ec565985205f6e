"""nbgrader's own tests of its commands, with coursekit in force: each passes, or its difference is argued.

`nbgrader.toml` has the tests that fail, and why that is better than what they expect. `nbgrader_plain.txt` has those that
don't pass without coursekit either; `python -m peers` measures them.
"""

import tomllib
from pathlib import Path

import pytest

from .nbgrader_suite import FILES, outcomes

HERE = Path(__file__).parent
ARGUED = tomllib.loads((HERE / "nbgrader.toml").read_text(encoding="utf-8"))
PLAIN = {line.split(maxsplit=1)[1] for line in (HERE / "nbgrader_plain.txt").read_text().splitlines()}


def of_file(file, names):
    return {name for name in names if name.partition("::")[0] == file}


@pytest.mark.thorough
@pytest.mark.parametrize("file", FILES)
def test_nbgrader_s_tests_pass_unless_the_difference_is_argued(file, tmp_path):
    found = outcomes(file, tmp_path / "run", configured=True)
    failed = {name for name, outcome in found.items() if outcome != "passed"} - PLAIN
    assert failed == of_file(file, ARGUED), "these fail and aren't listed, or are listed and pass"
    assert found


def test_every_difference_has_a_reason_and_is_one_of_a_test_that_exists():
    assert {name.partition("::")[0] for name in [*ARGUED, *PLAIN]} <= set(FILES)
    assert not PLAIN & set(ARGUED)
    assert all(len(reason.split()) > 8 for reason in ARGUED.values())

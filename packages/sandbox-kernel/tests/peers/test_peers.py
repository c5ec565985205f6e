"""The projects that start kernels, tested with ours by their own tests, which are downloaded and never committed.

NAME.toml lists the tests that don't pass, each with the reason. A test that isn't listed and fails, or is listed and
passes, fails here: so the lists can only get shorter.
"""

from pathlib import Path

import pytest
from suite import Differences, install_tools, outcomes, unpacked

pytestmark = pytest.mark.thorough
PROJECTS = sorted(path.stem for path in Path(__file__).parent.glob("*.toml"))


@pytest.fixture(scope="module")
def tools(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("tools")
    install_tools(folder)
    return folder


@pytest.mark.parametrize("project", PROJECTS)
def test_its_own_tests_pass_with_the_sandbox_except_those_that_are_listed(project, tools, tmp_path):
    listed = Differences.read(Path(__file__).with_name(f"{project}.toml"))
    found = outcomes(unpacked(project, tools, tmp_path), listed.files, tools, tmp_path)
    assert len(found) > len(listed.differ)
    certain = {name: passed for name, passed in found.items() if name not in listed.flaky}
    failed = {name for name, passed in certain.items() if not passed}
    assert failed == listed.differ.keys()
    assert listed.flaky.keys() <= found.keys()


def test_each_difference_has_a_reason():
    for project in PROJECTS:
        listed = Differences.read(Path(__file__).with_name(f"{project}.toml"))
        assert all(len(reason.split()) >= 4 for reason in (listed.differ | listed.flaky).values())

"""The attacks are a package, so that they run as a script as well: `make attacks`."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))


def pytest_itemcollected(item: pytest.Item) -> None:
    item.add_marker("attacks")

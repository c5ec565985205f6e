"""Shared by all checks of this assignment."""

import pytest

from gradekit.checks import forbid

only_own_code = forbid("*zscore", "*StandardScaler", "*preprocessing.scale")


@pytest.fixture
def arrays():
    """Checks and answers use NumPy arrays."""
    return "numpy"

"""What some tests need and a machine may not have."""

import pytest

from gradekit.inside.arrays import has_torch

needs_torch = pytest.mark.skipif(not has_torch(), reason="torch is not installed")

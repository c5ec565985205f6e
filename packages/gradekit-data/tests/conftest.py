"""The courses of gradekit's tests."""

from ...gradekit.tests.conftest import elsewhere

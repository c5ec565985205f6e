"""The courses of gradekit's tests."""

from ...gradekit.tests.conftest import (
    class_original,
    elsewhere,
    generated,
    generated_original,
    graded_class,
    graded_original,
    made_once,
    tiny_original,
)

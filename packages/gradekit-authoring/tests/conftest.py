"""The courses of gradekit's tests."""

from ...gradekit.tests.conftest import (
    elsewhere,
    generated,
    generated_original,
    made_once,
    tiny_course,
    tiny_original,
    tiny_source,
)

"""The courses of gradekit's tests."""

from ...gradekit.tests.conftest import (
    course_at,
    elsewhere,
    generated,
    generated_original,
    made_once,
    tiny_original,
)

"""The courses of gradekit's tests."""

from ...gradekit.tests.conftest import (
    class_original,
    course_at,
    elsewhere,
    empty_class,
    graded_class,
    graded_original,
    made_once,
    tiny_course,
    tiny_original,
    tiny_source,
)

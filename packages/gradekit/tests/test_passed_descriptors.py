"""Code in a kernel can pass no open files to the grader, which would have to close them and may have to wait."""

import platform

import pytest

from gradekit.course.kernels import LIMITED
from gradekit.verdict.grade import grade
from gradekit.verdict.opened import GradingJob, HowToRun

PASSES = """
def double(x):
    import socket
    import gradekit.inside.agent as agent
    socket.send_fds(agent._connection, [b"x"], [1])
    return 2 * x
"""
_SINCE = (6, 16)


@pytest.mark.slow
@pytest.mark.skipif(
    tuple(int(part) for part in platform.release().split(".")[:2] if part.isdigit()) < _SINCE,
    reason="Linux has SO_PASSRIGHTS since 6.16",
)
def test_the_grader_takes_no_descriptors_from_a_kernel_without_a_sandbox(empty_class):
    assignment = empty_class.assignment
    job = GradingJob(
        assignment,
        "double",
        empty_class.answer(PASSES),
        assignment.released("double"),
        HowToRun(kernel_name=LIMITED),
    )
    exercise = grade(job).result.exercises[0]
    assert exercise.earned == 0
    assert "PermissionError" in exercise.checks[0].message

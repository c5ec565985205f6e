"""Where kernels can't be forked, an instructor decides whether they start cold, and reads if any did."""

from gradekit.report.table import ClassTable, Row, table_lines
from gradekit.verdict.results import Status, SubmissionResult


def test_the_table_says_how_many_notebooks_were_graded_in_a_cold_kernel_and_why():
    results = [
        SubmissionResult(Status.GRADED, cold_because="no\x1bnamespaces"),
        SubmissionResult(Status.GRADED),
    ]
    rows = [Row("alice", "graded", results=results[:1]), Row("bob", "graded", results=results[1:])]
    (line,) = [line for line in table_lines(ClassTable("a1", {}, rows)) if "cold" in line]
    assert line.startswith(
        "1 notebook graded in a kernel that was started cold, since it couldn't be forked (no"
    )
    assert "\x1b" not in line and line.endswith("c.RunChecks.cold_fallback = False")


def test_the_table_says_nothing_of_it_if_all_kernels_were_forked():
    rows = [Row("bob", "graded", results=[SubmissionResult(Status.GRADED)])]
    assert "cold" not in "\n".join(table_lines(ClassTable("a1", {}, rows)))

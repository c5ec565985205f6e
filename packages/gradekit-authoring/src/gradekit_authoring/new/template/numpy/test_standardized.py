"""Checks of exercise 1. Students read the docstring of each check."""

import numpy as np

from gradekit.checks import (
    assert_close,
    assert_differs,
    assert_shape,
    assert_unchanged,
    assert_varies,
    points,
)


@points(40)
def test_equals_the_formula(student, reference, draw):
    """The output equals (x - μ) / σ, with the mean and the standard deviation of each column."""
    # compare with the recorded output of the solution, so that known mistakes are recognized
    (table,) = reference.inputs("square", table=(4, 4))
    reference.assert_close(student.standardized(3 * table + 1), name="output")

    # compare with NumPy, with sizes drawn for each submission, so that no answer can be hard-coded
    rows, columns = draw.sizes(2, low=4, high=12)
    table = draw.normal(rows, columns)
    expected = (table - np.mean(table, axis=0)) / np.std(table, axis=0)
    assert_close(student.standardized(table), expected, name="output")


@points(15)
def test_each_column(student, draw):
    """Each column has the same output as when it is passed alone."""
    table = draw.normal(7, 3) * [1, 10, 100]
    output = student.standardized(table)
    assert_shape(output, (7, 3), name="output")
    for place in range(3):
        alone = student.standardized(table[:, [place]])
        assert_close(alone, output[:, [place]], name="output", context="for one column alone")
    assert_varies(output, name="output")  # two equal constants would also be close
    assert_differs(output, table, "The output equals the input.")


@points(10)
def test_units(student, draw):
    """Another unit, such as °F in place of °C, changes nothing."""
    table = draw.normal(6, 4)
    output = student.standardized(table)
    context = "for the same table in other units"
    assert_close(student.standardized(1.8 * table + 32), output, name="output", context=context)
    assert_varies(output, name="output")


@points(15)
def test_constant_column(student, reference):
    """A column whose entries are all equal becomes 0; the other columns are not affected."""
    (table,) = reference.inputs("constant", table=(4, 3))
    table[:, 1] = 3
    reference.assert_close(student.standardized(table), name="output", context="with a constant column")


@points(5)
def test_whole_numbers(student, draw):
    """A table of whole numbers works, too."""
    table = draw.integers(0, 100, (8, 3))
    table[0] = 100  # so that no column is constant
    table[1] = 0
    expected = (table - np.mean(table, axis=0)) / np.std(table, axis=0)
    assert_close(student.standardized(table), expected, name="output", context="for whole numbers")


@points(5)
def test_unchanged(student, draw):
    """The table keeps its values."""
    assert_unchanged(student.call("standardized", draw.normal(5, 3)))

"""Known wrong answers to this assignment, each an edit of the instructor's solution cell.

`gradekit audit` verifies that each is caught by one of the checks in its `about`.
"""

from gradekit.checks import Mistake

MEAN = "mean = table.mean(axis=0)"
SPREAD = "spread = table.std(axis=0)"
OUTPUT = "return (table - mean) / spread"

MISTAKES = [
    Mistake(
        "one_less",
        cell="standardized",
        edits=[(SPREAD, "spread = table.std(axis=0, ddof=1)")],
        about=["test_equals_the_formula"],
        sentence="Your variance divides by the number of rows minus 1. Divide by the number of rows: `ddof=0`.",
    ),
    Mistake(
        "no_root",
        cost="Every value is wrong.",
        cell="standardized",
        edits=[(SPREAD, "spread = table.var(axis=0)")],
        about=["test_equals_the_formula"],
        sentence="You divided by the variance. Divide by its square root, the standard deviation.",
    ),
    Mistake(
        "mean_kept",
        cost="Every value is wrong.",
        cell="standardized",
        edits=[(OUTPUT, "return table / spread")],
        about=["test_equals_the_formula"],
        sentence="You divided, but did not subtract the mean first.",
    ),
    Mistake(
        "over_the_row",
        cost="Everything is computed along the wrong axis.",
        cell="standardized",
        edits=[
            (MEAN, "mean = table.mean(axis=1, keepdims=True)"),
            (SPREAD, "spread = table.std(axis=1, keepdims=True)"),
        ],
        about=["test_equals_the_formula", "test_each_column"],
        sentence="You took the mean and the standard deviation of each row. Take those of each column: `axis=0`.",
    ),
    Mistake(
        "over_everything",
        cost="Everything is computed along the wrong axis.",
        cell="standardized",
        edits=[(MEAN, "mean = table.mean()"), (SPREAD, "spread = table.std()")],
        about=["test_equals_the_formula", "test_each_column"],
        sentence="You took one mean and one standard deviation of the whole table. Each column has its own: `axis=0`.",
    ),
    Mistake(
        "zero_by_zero",
        cell="standardized",
        lacks=("*where",),
        edits=[("np.where(spread == 0, 1, spread)", "spread")],
        about=["test_constant_column"],
        sentence="Where a column is constant, you divided 0 by 0. Divide by 1 there.",
    ),
    Mistake(
        "in_place",
        cell="standardized",
        edits=[(OUTPUT, "table -= mean\n    return table / spread")],
        about=["test_unchanged"],
        sentence="You subtracted the mean from `table` itself. Make a new array: `table - mean`.",
    ),
]

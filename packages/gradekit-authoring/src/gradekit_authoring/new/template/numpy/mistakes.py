"""Known wrong answers to this assignment, each an edit of the instructor's solution cell.

`gradekit audit` verifies that each is caught by one of the checks that it is about.
"""

from gradekit.checks import Mistakes

MEAN = "mean = table.mean(axis=0)"
SPREAD = "spread = table.std(axis=0)"
OUTPUT = "return (table - mean) / spread"

wrong = Mistakes(cell="standardized")

wrong.about("test_equals_the_formula")
wrong("one_less", SPREAD, "spread = table.std(axis=0, ddof=1)")
wrong.says("Your variance divides by the number of rows minus 1. Divide by the number of rows: `ddof=0`.")
wrong("no_root", SPREAD, "spread = table.var(axis=0)")
wrong.says("You divided by the variance. Divide by its square root, the standard deviation.")
wrong.costs("Every value is wrong.")
wrong("mean_kept", OUTPUT, "return table / spread")
wrong.says("You divided, but did not subtract the mean first.")
wrong.costs("Every value is wrong.")

wrong.about("test_equals_the_formula", "test_each_column")
wrong("over_the_row", MEAN, "mean = table.mean(axis=1, keepdims=True)")
wrong.edit(SPREAD, "spread = table.std(axis=1, keepdims=True)")
wrong.says("You took the mean and the standard deviation of each row. Take those of each column: `axis=0`.")
wrong.costs("Everything is computed along the wrong axis.")
wrong("over_everything", MEAN, "mean = table.mean()")
wrong.edit(SPREAD, "spread = table.std()")
wrong.says("You took one mean and one standard deviation of the whole table.")
wrong.says("Each column has its own: `axis=0`.")
wrong.costs("Everything is computed along the wrong axis.")

wrong.about("test_constant_column")
wrong("zero_by_zero", "np.where(spread == 0, 1, spread)", "spread")
wrong.says("Where a column is constant, you divided 0 by 0. Divide by 1 there.", lacks=("*where",))

wrong.about("test_unchanged")
wrong("in_place", OUTPUT, "table -= mean\n    return table / spread")
wrong.says("You subtracted the mean from `table` itself. Make a new array: `table - mean`.")

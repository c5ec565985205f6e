"""Lines for students to try: small examples that can be followed by hand, and that fail if the answer is wrong."""

import numpy as np

from gradekit.checks import try_it


@try_it("test_standardized")
def three_columns(standardized):
    """The means are 3, 4 and 7, the standard deviations 2, 4 and 0, and the last column becomes zeros."""
    numbers = np.array([[1.0, 0.0, 7.0], [5.0, 8.0, 7.0]])
    found = standardized(numbers)
    print("You should get [[-1, -1, 0], [1, 1, 0]]. You get", found.tolist())
    assert np.allclose(found, [[-1, -1, 0], [1, 1, 0]]), "A column is not standardized."
    print("The table should still be [[1, 0, 7], [5, 8, 7]]. It is", numbers.tolist())
    assert numbers.tolist() == [[1, 0, 7], [5, 8, 7]], "Your function changed the table."

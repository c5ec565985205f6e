"""Checks of exercise 5: score_std. A measurement is noisy, so the tolerance is 10%."""

import math

import torch

from gradekit.checks import assert_close, assert_seed_kept, assert_varies, fail, points


@points(2, see="Why divide by the root?")
def test_without_the_scale(student, reference, draw):
    """Without the scale, the standard deviation of the scores is √d_k."""
    reference.assert_close(student.score_std(64, False), context="spread at width 64", rtol=0.1)
    # at small widths, one query for all pairs would show
    for d_k in [1, 2, 3, *draw.integers(10, 50, (2,)).tolist(), 200]:
        context = f"spread at width {d_k}"
        assert_close(student.score_std(d_k, scaled=False), math.sqrt(d_k), context=context, rtol=0.1)


@points(1, see="Why divide by the root?")
def test_with_the_scale(student, reference, draw):
    """With the scale, the standard deviation of the scores is about 1 at every width."""
    reference.assert_close(student.score_std(64, True), context="spread at width 64", rtol=0.1)
    for d_k in [*draw.integers(10, 50, (2,)).tolist(), 120]:
        assert_close(student.score_std(d_k, scaled=True), 1.0, context=f"spread at width {d_k}", rtol=0.1)


@points(1)
def test_is_measured(student):
    """The number is measured on new random vectors each time, so it is close to the formula but never equal to it."""
    found = []
    for d_k in [4, 9, 25]:
        found.append(student.score_std(d_k, False))
        if math.isclose(found[-1], math.sqrt(d_k), rel_tol=1e-6):
            raise AssertionError(
                "Your number is exactly √d_k. Measure it on random vectors instead of computing the formula."
            )
    assert_varies(torch.tensor(found), name="score_std", context="at widths 4, 9 and 25")
    scaled = torch.tensor([student.score_std(d_k, True) for d_k in [4, 9, 25]])
    assert_varies(scaled, name="score_std", context="with the scale, at widths 4, 9 and 25", atol=1e-6)
    # 10 000 pairs are off by 0.8 % on average; 2500 pairs by 1.5 %
    for d_k in (16, 48):
        again = torch.zeros(0)
        for seed in range(16):
            again = torch.cat([again, torch.tensor([float(student.score_std(d_k, True, seed=seed))])])
            if seed == 5 and again.std() < 0.009:
                break  # 2500 pairs are seldom as close to each other
        if 0.8 < again.mean() < 1.2 and again.std() > 0.015:  # another number is for the other checks
            fail("Your number differs too much from one time to the next. Draw at least 10 000 pairs.")
        if again.max() - again.min() < 1e-6:
            fail("Each call returns the same number. Draw new vectors in each, without a seed of your own.")
    in_a_row = student.define("def twice(score_std): return score_std(4, True), score_std(4, True)")
    if len(set(map(float, in_a_row.twice(student.get("score_std"))))) == 1:
        fail("Two calls in a row return the same number. Draw new vectors in each.")
    assert_seed_kept(lambda seed: student.call("score_std", 4, True, seed=seed))


@points(1)
def test_returns_a_float(student):
    """The number is a Python float."""
    number = student.score_std(5, True)
    assert isinstance(number, float), f"score_std returns a {type(number).__name__}. It has to be a float."

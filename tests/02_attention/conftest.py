"""Shared by the checks: the ban on ready-made attention, an oracle, and checks that need no formula.

A wrong formula fails only the checks that are about the formula. The others compare the student's function with
itself on equivalent inputs, so that one mistake does not cost points everywhere.
"""

import pytest
import torch
import torch.nn.functional as F

from gradekit.checks import TORCH_ATTENTION, assert_reaches, fail, for_checks, forbid

only_own_code = forbid(*TORCH_ATTENTION, "Transformer*")


@pytest.fixture
def oracle():
    """torch's own attention: a function of (q, k, v, mask=None) that returns the output."""
    return lambda q, k, v, mask=None: F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


@for_checks
def assert_queries_matter(output):
    """Fail if all queries get the same output, as from a function that returns zeros."""
    if torch.allclose(output, output[..., :1, :]):
        fail("Every query gets the same output, so the output does not depend on the queries.")


@for_checks
def assert_gradients(student, /, name, q, k, v, *mask):
    """Fail unless gradients reach q, k and v, and reach q through the output as well as through the weights."""
    gradients = student.gradients(name, q, k, v, *mask)
    assert_reaches(gradients)
    with_other_values = student.gradients(name, q, k, 2 * v, *mask)
    if torch.allclose(gradients.inputs[0], with_other_values.inputs[0]):
        fail(
            "Gradients reach q and k through the weights that you return, but not through the output: "
            "the weights are detached before they are multiplied by v."
        )

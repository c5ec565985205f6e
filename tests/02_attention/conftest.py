"""Shared by the checks: the ban on ready-made attention, an oracle, and checks that need no formula.

A wrong formula fails only the checks that are about the formula. The others compare the student's function with
itself on equivalent inputs, so that one mistake does not cost points everywhere.
"""

import torch
import torch.nn.functional as F

from gradekit.checks import (
    TORCH_ATTENTION,
    assert_close,
    assert_full_precision,
    assert_reaches,
    assert_varies,
    fail,
    for_checks,
    forbid,
)

only_own_code = forbid(*TORCH_ATTENTION, "Transformer*")


@for_checks
def oracle(q, k, v, mask=None):
    """The output of torch's own attention."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


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


@for_checks
def assert_precise(output, weights, v, scores):
    """Fail unless the weights and the output are float64 and as precise as that; `scores` are the right ones."""
    right = torch.softmax(scores, dim=-1)
    assert_full_precision(output, right @ v, name="output")
    assert_full_precision(weights, right, name="weights", each=True)
    context = ", compared with your weights times v,"
    if weights.dtype == torch.float64 and weights.shape[-1] == v.shape[-2]:
        assert_close(output, weights @ v, name="output", context=context, atol=1e-10, rtol=1e-10)
    assert_varies(output, name="output")

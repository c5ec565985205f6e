"""Snippets for students: small examples that can be done by hand, and that fail if the answer is wrong."""

import math

import torch

from gradekit.checks import try_it

NOT_SHOWN = {
    "The values are right: what is wrong is that torch computes them.": [
        "torch_does_it",
        "masked_torch_does_it",
    ],
}


# --------------------------------------------------------------------------------------------- exercise 1
@try_it("test_by_hand")
def root_of_the_width(scores):
    """The score of tokens 0 and 1 is their dot product, divided by √8."""
    tokens = torch.randn(1, 1, 4, 8, generator=torch.Generator().manual_seed(42)) * 0.5
    dot_product = torch.dot(tokens[0, 0, 0], tokens[0, 0, 1]).item()
    factor = dot_product / scores[0, 0, 0, 1].item()
    print(f"The dot product is {factor:.2f} times your score, and should be √8 = 2.83 times.")
    assert abs(factor - 8**0.5) < 0.01, "`scores` are not the dot products divided by √8."


@try_it("test_by_hand")
def ratios_of_weights(scores, weights):
    """The softmax of a row: positive, sums to 1, and two weights compare like e to the power of their scores."""
    row, score = weights[0, 0, 0].tolist(), scores[0, 0, 0].tolist()
    print("Row 0 of `weights` should sum to 1. It sums to", sum(row))
    assert abs(sum(row) - 1) < 1e-4, "Row 0 of `weights` does not sum to 1."
    ratio = math.exp(score[0] - score[1])
    print(f"Weight 0 should be {ratio:.3f} times weight 1. It is {row[0] / row[1]:.3f} times.")
    assert abs(row[0] / row[1] - ratio) < 0.01, "`weights` is not the softmax of `scores` along the rows."


@try_it("test_by_hand")
def one_average(weights, result):
    """The first number of the result, summed up token by token."""
    tokens = torch.randn(1, 1, 4, 8, generator=torch.Generator().manual_seed(42)) * 0.5
    average = sum(weights[0, 0, 0, j].item() * tokens[0, 0, j, 0].item() for j in range(4))
    print(f"result[0, 0, 0, 0] should be {average:.4f}. It is {result[0, 0, 0, 0].item():.4f}.")
    assert abs(result[0, 0, 0, 0].item() - average) < 1e-4, "Row 0 of `result` is not v, weighted by row 0."


# --------------------------------------------------------------------------------------------- exercise 2
@try_it("test_attention")
def three_to_one(attention):
    """One query, two keys of width 4: the scores are ln 3 and 0, so the weights are 3 to 1."""
    query = torch.tensor([[2.0, 0.0, 0.0, 0.0]])
    keys = torch.tensor([[math.log(3), 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    values = torch.tensor([[4.0, 0.0, 8.0], [0.0, 8.0, 8.0]])
    output, found = attention(query, keys, values)
    print("The weights should be [[0.75, 0.25]]. They are", found.tolist())
    assert found.shape == (1, 2), f"The weights, returned second, have shape {tuple(found.shape)}."
    assert torch.allclose(found, torch.tensor([[0.75, 0.25]]), atol=1e-4), "The weights are wrong."
    print("The output should be [[3, 2, 8]]. It is", output.tolist())
    assert output.shape == (1, 3) and torch.allclose(output, torch.tensor([[3.0, 2.0, 8.0]]), atol=1e-4), (
        "The output is not the average of the values with these weights."
    )


@try_it("test_attention", "test_unequal_lengths_and_widths")
def three_queries(attention):
    """Three equal queries, two keys: each query has the weights 3 to 1."""
    queries = torch.tensor([[1.0], [1.0], [1.0]])
    output, found = attention(
        queries, torch.tensor([[math.log(3)], [0.0]]), torch.tensor([[4.0, 0.0], [0.0, 8.0]])
    )
    print("Every row of the weights should be [0.75, 0.25]. They are", found.tolist())
    assert found.shape == (3, 2), (
        f"The weights have shape {tuple(found.shape)}, not (L_query, L_key) = (3, 2)."
    )
    assert torch.allclose(found, torch.tensor([[0.75, 0.25]]), atol=1e-4), "The weights are wrong."
    assert output.shape == (3, 2), f"The output has shape {tuple(output.shape)}, not (L_query, d_v) = (3, 2)."


@try_it("test_attention", "test_leading_axes")
def two_heads(attention):
    """Two heads, each with two queries: the weights of head 0 are 3 to 1, those of head 1 are 1 to 3."""
    queries = torch.ones(1, 2, 2, 1)  # (batch, heads, L_query, d_k)
    keys = torch.tensor([[math.log(3), 0.0], [0.0, math.log(3)]]).reshape(1, 2, 2, 1)
    _, found = attention(queries, keys, torch.ones(1, 2, 2, 3))
    print(
        "Each query should have [0.75, 0.25] in head 0, and [0.25, 0.75] in head 1. You have", found.tolist()
    )
    right = torch.tensor([[0.75, 0.25], [0.25, 0.75]])[None, :, None].expand(1, 2, 2, 2)
    assert found.shape == right.shape and torch.allclose(found, right, atol=1e-4), (
        "A head is wrong when there are others."
    )


@try_it("test_attention", "test_large_scores")
def score_of_a_thousand(attention):
    """A score of 1000 against one of 0: all the weight is on the first key."""
    _, found = attention(torch.tensor([[1000.0]]), torch.tensor([[1.0], [0.0]]), torch.ones(2, 1))
    print("The weights should be [[1, 0]]. They are", found.tolist())
    assert found[0, 0] == 1, "e to the power of 1000 is infinite: the weights are not [1, 0]."


@try_it("test_attention", "test_gradients")
def gradient_of_the_query(attention):
    """The output depends on the query, so a gradient gets back to it."""
    query = torch.tensor([[1.0, 2.0]], requires_grad=True)
    output, _ = attention(query, torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[1.0], [5.0]]))
    print("Does the output know that it was computed from the query?", output.requires_grad)
    assert output.requires_grad, "No gradient gets from the output to the query: something was detached."


@try_it("test_attention", "test_float64")
def double_precision(attention):
    """float64 in, float64 out."""
    one = torch.ones(2, 2, dtype=torch.float64)
    output, found = attention(one, one, one)
    print("Both should be float64:", output.dtype, found.dtype)
    assert output.dtype == found.dtype == torch.float64, "The inputs are float64, but what you return is not."


@try_it("test_attention", "test_inputs_unchanged")
def same_inputs_afterwards(attention):
    """Ones go in, and are still ones afterwards."""
    inputs = [torch.ones(2, 2) for _ in range(3)]
    attention(*inputs)
    print("q, k and v should still be ones:", *(one.tolist() for one in inputs))
    assert all((one == 1).all() for one in inputs), "Your function changed one of its inputs."


# ------------------------------------------------------------------------------------- exercises 3a and 3b
@try_it("test_padding_mask")
def two_short_sequences(make_padding_mask):
    """Two sequences of three ids, with padding at the end, and at the start."""
    found = make_padding_mask(torch.tensor([[7, 5, 0], [0, 9, 7]]))
    print("The mask should be [[[True, True, False]], [[False, True, True]]]. It is", found.tolist())
    assert found.shape == (2, 1, 3), (
        f"The mask has shape {tuple(found.shape)}, not (batch, 1, length) = (2, 1, 3)."
    )
    assert found.dtype == torch.bool, f"The mask has dtype {found.dtype}, not torch.bool."
    assert found.tolist() == [[[True, True, False]], [[False, True, True]]], (
        "The mask hides the wrong tokens."
    )


@try_it("test_padding_mask", "test_other_pad_id")
def padding_is_5(make_padding_mask):
    """Padding is 5 here, and 0 is a token like any other."""
    found = make_padding_mask(torch.tensor([[0, 3, 5, 8]]), pad_idx=5)
    print("The mask should be [[[True, True, False, True]]]. It is", found.tolist())
    assert found.flatten().tolist() == [True, True, False, True], (
        "The tokens with id 5 should be hidden, and no others."
    )


@try_it("test_padding_mask", "test_ids_unchanged")
def same_ids_afterwards(make_padding_mask):
    """The ids are the same afterwards."""
    some_ids = torch.tensor([[7, 5, 1]])
    make_padding_mask(some_ids, pad_idx=1)
    print("The ids should still be [[7, 5, 1]]. They are", some_ids.tolist())
    assert some_ids.tolist() == [[7, 5, 1]], "Your function changed the ids."


@try_it("test_causal_mask")
def three_by_three(make_causal_mask):
    """Three tokens: each sees itself and those before it."""
    found = make_causal_mask(3)
    right = [[True, False, False], [True, True, False], [True, True, True]]
    print("The mask should be", right)
    print("It is             ", found.tolist())
    assert found.shape == (3, 3), f"The mask has shape {tuple(found.shape)}, not (length, length) = (3, 3)."
    assert found.tolist() == right, "The mask hides the wrong keys: rows are queries, columns are keys."
    assert found.dtype == torch.bool, f"The mask has dtype {found.dtype}, not torch.bool."


@try_it("test_causal_mask", "test_shape")
def hundred_by_hundred(make_causal_mask):
    """A hundred tokens need a mask of 100 × 100."""
    found = make_causal_mask(100)
    print("The shape should be (100, 100). It is", tuple(found.shape))
    assert found.shape == (100, 100), "The shape of the mask does not follow its length."


# ---------------------------------------------------------------------------------------------- exercise 4
@try_it("test_masked_attention")
def third_key_hidden(masked_attention):
    """The scores are ln 3, 0 and 5. The last key is hidden, so the weights are 3 to 1 to nothing."""
    query = torch.tensor([[[2.0, 0.0, 0.0, 0.0]]])
    keys = torch.tensor([[[math.log(3), 0.0, 0.0, 0.0], [0.0] * 4, [5.0, 0.0, 0.0, 0.0]]])
    values = torch.tensor([[[4.0, 0.0], [0.0, 8.0], [9.0, 9.0]]])
    output, found = masked_attention(query, keys, values, torch.tensor([[[True, True, False]]]))
    print("The weights should be [[[0.75, 0.25, 0]]]. They are", found.tolist())
    assert found.shape == (1, 1, 3), f"The weights, returned second, have shape {tuple(found.shape)}."
    assert torch.allclose(found, torch.tensor([[[0.75, 0.25, 0.0]]]), atol=1e-4), "The weights are wrong."
    print("The output should be [[[3, 2]]]. It is", output.tolist())
    assert torch.allclose(output, torch.tensor([[[3.0, 2.0]]]), atol=1e-4), "The output is wrong."


@try_it("test_masked_attention")
def past_only(masked_attention):
    """Two equal keys and a causal mask: query 0 sees key 0 alone, query 1 sees both."""
    same = torch.ones(1, 2, 3)
    _, found = masked_attention(same, same, same, torch.tensor([[True, False], [True, True]]))
    print("The weights should be [[[1, 0], [0.5, 0.5]]]. They are", found.tolist())
    right = torch.tensor([[[1.0, 0.0], [0.5, 0.5]]])
    assert torch.allclose(found, right, atol=1e-4), "A query has weight on a key that the mask hides from it."


@try_it("test_masked_attention")
def own_mask_each(masked_attention):
    """Two sequences of two keys: the first sees both keys, the second only its second one."""
    same = torch.ones(2, 2, 3)
    visible = torch.tensor([[[True, True]], [[False, True]]])  # (batch, 1, L_key)
    _, found = masked_attention(same, same, same, visible)
    print("The queries should have [0.5, 0.5] in sequence 0, [0, 1] in sequence 1. You have", found.tolist())
    right = torch.tensor([[[0.5, 0.5]], [[0.0, 1.0]]]).expand(2, 2, 2)
    assert found.shape == right.shape and torch.allclose(found, right, atol=1e-4), (
        "A sequence does not have its own mask."
    )


@try_it("test_masked_attention")
def without_a_mask(masked_attention):
    """Three queries, two keys, no mask: the weights of each are 3 to 1."""
    queries = torch.tensor([[[2.0, 0.0, 0.0, 0.0]] * 3])  # d_k is 4
    keys = torch.tensor([[[math.log(3), 0.0, 0.0, 0.0], [0.0] * 4]])
    _, found = masked_attention(queries, keys, torch.ones(1, 2, 5))
    print("Every row of the weights should be [0.75, 0.25]. They are", found.tolist())
    assert found.shape == (1, 3, 2), f"The weights have shape {tuple(found.shape)}, not (1, 3, 2)."
    assert torch.allclose(found, torch.tensor([[0.75, 0.25]]), atol=1e-4), "The weights are wrong."


@try_it("test_masked_attention", "test_mask_broadcasts")
def one_mask_for_two_heads(masked_attention):
    """Two heads with the same mask (1, 1, L_query, L_key): both hide key 0 from query 0."""
    same = torch.ones(1, 2, 2, 3)  # (batch, heads, L, d)
    visible = torch.tensor([[[[False, True], [True, True]]]])
    _, found = masked_attention(same, same, same, visible)
    print("Both heads should have [[0, 1], [0.5, 0.5]]. You have", found.tolist())
    right = torch.tensor([[0.0, 1.0], [0.5, 0.5]]).expand(1, 2, 2, 2)
    assert found.shape == right.shape and torch.allclose(found, right, atol=1e-4), "A head is wrong."


@try_it("test_masked_attention")
def very_low_score(masked_attention):
    """The visible key has the score -3,000,000, the hidden one 5: all the weight is on the visible one."""
    query, keys = torch.tensor([[[1.0]]]), torch.tensor([[[-3e6], [5.0]]])
    _, found = masked_attention(query, keys, torch.ones(1, 2, 1), torch.tensor([[[True, False]]]))
    print("The weights should be [[[1, 0]]]. They are", found.tolist())
    assert found.tolist() == [[[1.0, 0.0]]], "A hidden key has an effect: its score is not low enough."


@try_it("test_masked_attention")
def high_scores(masked_attention):
    """Visible scores of 1000 and 0: all the weight is on the first key."""
    query, keys = torch.tensor([[[1000.0]]]), torch.tensor([[[1.0], [0.0]]])
    _, found = masked_attention(query, keys, torch.ones(1, 2, 1), torch.tensor([[[True, True]]]))
    print("The weights should be [[[1, 0]]]. They are", found.tolist())
    assert found.tolist() == [[[1.0, 0.0]]], "e to the power of 1000 is infinite: the weights are not [1, 0]."


@try_it("test_masked_attention", "test_query_with_no_key")
def nothing_to_see(masked_attention):
    """Query 0 may attend to nothing, so its weights and its output are zeros."""
    same = torch.ones(1, 2, 2)
    output, found = masked_attention(same, same, same, torch.tensor([[[False, False], [True, True]]]))
    print("The weights should be [[[0, 0], [0.5, 0.5]]]. They are", found.tolist())
    assert torch.allclose(found, torch.tensor([[[0.0, 0.0], [0.5, 0.5]]])), "The weights are wrong."
    print("The output should be [[[0, 0], [1, 1]]]. It is", output.tolist())
    assert torch.allclose(output, torch.tensor([[[0.0, 0.0], [1.0, 1.0]]])), "The output is wrong."


@try_it("test_masked_attention", "test_gradients")
def gradient_past_the_mask(masked_attention):
    """Query 0 may attend to nothing. Still, no gradient contains NaN, and one reaches query 1."""
    queries = torch.ones(1, 2, 2, requires_grad=True)
    keys = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]])
    visible = torch.tensor([[[False, False], [True, True]]])
    output, _ = masked_attention(queries, keys, keys, visible)
    assert output.requires_grad, "No gradient gets from the output to the queries: something was detached."
    values = keys.clone().requires_grad_()
    masked_attention(queries, keys, values, visible)[0].sum().backward()
    print("The gradient of the queries:", queries.grad.tolist())
    print("The gradient of the values:", values.grad.tolist())
    assert not torch.cat([queries.grad, values.grad]).isnan().any(), "A gradient contains NaN."


@try_it("test_masked_attention", "test_inputs_unchanged_and_dtype_kept")
def same_masked_inputs_afterwards(masked_attention):
    """Ones in float64 go in with a mask. None of them changes, and float64 comes back."""
    inputs = [torch.ones(1, 2, 2, dtype=torch.float64) for _ in range(3)]
    visible = torch.tensor([[[False, False], [True, False]]])
    output, _ = masked_attention(*inputs, visible)
    print("q, k and v should still be ones:", *(one.tolist() for one in inputs))
    assert all((one == 1).all() for one in inputs), "Your function changed q, k or v."
    print("The mask should still be [[[False, False], [True, False]]]:", visible.tolist())
    assert visible.tolist() == [[[False, False], [True, False]]], "Your function changed the mask."
    assert output.dtype == torch.float64, f"The inputs are float64, but the output is {output.dtype}."


# ---------------------------------------------------------------------------------------------- exercise 5
@try_it("test_score_std")
def spread_at_width_100(score_std):
    """At width 100 the scores spread by √100 = 10, scaled ones by 1, each time a little more or less."""
    plain, scaled = score_std(100, False), score_std(100, True)
    print(f"The spread should be about 10, and scaled about 1. You have {plain:.3f} and {scaled:.3f}.")
    assert 9 < plain < 11, "Without the scale, the spread is not about 10."
    assert 0.9 < scaled < 1.1, "With the scale, the spread is not about 1."
    assert plain != 10, "It is exactly 10, as in the formula. Measure it on random vectors."
    assert isinstance(plain, float), f"score_std returns a {type(plain).__name__}, not a float."

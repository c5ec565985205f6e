"""Snippets for students: modules with weights that can be followed by hand, which fail if the answer is wrong."""

import math

import torch

from gradekit.checks import try_it


# -------------------------------------------------------------------------------------- exercises 1 and 3
@try_it("test_self_attention")
def nine_to_one(SelfAttention):
    """Two tokens of width 1. Token 0 has the weights 9 to 1, token 1 has 3 to 1, and the values are 20 and 0."""
    attend, log = SelfAttention(1, 4, 2), 2 * math.log(3)
    rows = torch.tensor([-1, -1, -1, -1, -log, 0, 0, 0, 20, 40])  # the weights of q, then k, then v
    bias = torch.tensor([-1.0, -1, -1, -1, 0, 0, 0, 0, 0, 0])
    layers = [attend.q, attend.k, attend.v] if hasattr(attend, "q") else list(attend.children())
    sizes = [layer.out_features for layer in layers]
    for layer, row, shift in zip(layers, rows.split(sizes), bias.split(sizes), strict=True):
        layer.weight.data, layer.bias.data[:] = row[:, None], shift
    found = attend(torch.tensor([[[1.0], [0.0]]]))
    assert isinstance(found, torch.Tensor), f"forward returns a {type(found).__name__}, not only the output."
    print("The output should be [[[18, 36], [15, 30]]]. It is", found.tolist())
    right = torch.tensor([[[18.0, 36.0], [15.0, 30.0]]])
    assert found.shape == right.shape, f"The output has shape {tuple(found.shape)}, not (1, 2, 2)."
    assert torch.allclose(found, right, atol=1e-3), "The output is wrong."


@try_it("test_self_attention", "test_mask")
def last_token_hidden(SelfAttention):
    """Three tokens, the last one hidden: the output of the others is the same as without it."""
    attend, tokens = SelfAttention(2, 2, 2), torch.tensor([[[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]]])
    hidden = attend(tokens, torch.tensor([[[True, True, False]]]))[:, :2]
    alone = attend(tokens[:, :2])
    print("Both should be the same:", hidden.tolist(), alone.tolist())
    assert torch.allclose(hidden, alone, atol=1e-5), "A token has an effect that the mask hides."


@try_it("test_self_attention", "test_query_with_no_key")
def first_token_sees_nothing(SelfAttention):
    """Token 0 may attend to nothing, so its output is zeros."""
    found = SelfAttention(2, 3, 2)(torch.ones(1, 2, 2), torch.tensor([[[False, False], [True, True]]]))
    print("The output of token 0 should be [0, 0]. It is", found[0, 0].tolist())
    assert (found[0, 0] == 0).all(), "A token that may attend to nothing does not get zeros."


@try_it("test_self_attention", "test_everything_learns")
def gradients_of_self_attention(SelfAttention):
    """After backward(), each weight has a gradient."""
    attend = SelfAttention(2, 3, 2)
    found = attend(torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]))
    assert found.requires_grad, "The output does not know how it was computed, so nothing can be trained."
    found.square().sum().backward()
    for name, parameter in attend.named_parameters():
        print(f"{name} should have a gradient. Has one:", parameter.grad is not None)
        assert parameter.grad is not None, f"No gradient reaches {name}."


@try_it("test_self_attention", "test_three_layers")
def three_layers_with_bias(SelfAttention):
    """Three layers from width 2 to 1: each has 2 weights and a bias, 9 numbers in all."""
    count = sum(parameter.numel() for parameter in SelfAttention(2, 1, 1).parameters())
    print("There should be 9 parameters. There are", count)
    assert count == 9, "The module does not have three layers with a bias each."
    order = [name[0] for name, _ in SelfAttention(2, 1, 1).named_parameters() if name[1:] == ".weight"]
    print("The layers should be created in the order q, k, v. They are", order)
    assert order in ([], ["q", "k", "v"]), "The order is different."


@try_it("test_self_attention", "test_float64_and_input_unchanged")
def precise_and_unchanged(SelfAttention):
    """In float64, the output has more digits than float32 can hold, and x is the same afterwards."""
    tokens = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]], dtype=torch.float64)
    found = SelfAttention(2, 3, 2).double()(tokens)
    print("x should still be [[[1, 0], [0, 2]]]. It is", tokens.tolist())
    assert tokens.tolist() == [[[1, 0], [0, 2]]], "Your module changed x."
    print("The output should change if it is rounded to float32:", found.tolist(), found.float().tolist())
    assert not torch.equal(found, found.float().double()), "The output was computed in float32."


@try_it("test_cross_attention")
def one_token_asks(CrossAttention):
    """One token asks three: the weights are 9 to 1 to 1, and the values are 22, 0 and 0."""
    attend, log = CrossAttention(1, 1, 4, 2), 2 * math.log(3)
    rows = torch.tensor([-1, -1, -1, -1, -log, 0, 0, 0, 22, 44])  # the weights of q, then k, then v
    bias = torch.tensor([-1.0, -1, -1, -1, 0, 0, 0, 0, 0, 0])
    layers = [attend.q, attend.k, attend.v]
    sizes = [layer.out_features for layer in layers]
    for layer, row, shift in zip(layers, rows.split(sizes), bias.split(sizes), strict=True):
        layer.weight.data, layer.bias.data[:] = row[:, None], shift
    found = attend(torch.tensor([[[1.0]]]), torch.tensor([[[1.0], [0.0], [0.0]]]))
    assert isinstance(found, torch.Tensor), f"forward returns a {type(found).__name__}, not only the output."
    print("The output should be [[[18, 36]]]. It is", found.tolist())
    assert found.shape == (1, 1, 2), f"The output has shape {tuple(found.shape)}, not (1, 1, 2)."
    assert torch.allclose(found, torch.tensor([[[18.0, 36.0]]]), atol=1e-3), "The output is wrong."


@try_it("test_cross_attention", "test_unequal_lengths", "test_unequal_widths")
def three_tokens_ask(CrossAttention):
    """Three tokens of width 2 ask a single one of width 1, so each gets the value of that one."""
    attend, other = CrossAttention(2, 1, 3, 4), torch.tensor([[[1.0]]])
    found = attend(torch.tensor([[[1.0, 0.0], [0.0, 2.0], [3.0, 3.0]]]), other)
    print("The shape should be (1, 3, 4). It is", tuple(found.shape))
    assert found.shape == (1, 3, 4), "The output does not have a row for each token of x."
    print("Each row should be the value:", attend.v(other).tolist(), found.tolist())
    assert torch.allclose(found, attend.v(other).expand(1, 3, 4), atol=1e-5), "A row is not that value."


@try_it("test_cross_attention", "test_mask")
def last_token_of_y_hidden(CrossAttention):
    """The last of three tokens of y is hidden: the output is the same as without it."""
    attend, asking = CrossAttention(2, 2, 2, 2), torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    other = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]]])
    hidden = attend(asking, other, torch.tensor([[[True, True, False]]]))
    alone = attend(asking, other[:, :2])
    print("Both should be the same:", hidden.tolist(), alone.tolist())
    assert torch.allclose(hidden, alone, atol=1e-5), "A token of y has an effect that the mask hides."


@try_it("test_cross_attention", "test_query_with_no_key")
def first_token_of_x_sees_nothing(CrossAttention):
    """Token 0 of x may attend to nothing, so its output is zeros."""
    hidden = torch.tensor([[[False, False], [True, True]]])
    found = CrossAttention(2, 2, 3, 2)(torch.ones(1, 2, 2), torch.ones(1, 2, 2), hidden)
    print("The output of token 0 should be [0, 0]. It is", found[0, 0].tolist())
    assert (found[0, 0] == 0).all(), "A token that may attend to nothing does not get zeros."


@try_it("test_cross_attention", "test_everything_learns")
def gradients_of_cross_attention(CrossAttention):
    """After backward(), each weight has a gradient."""
    attend = CrossAttention(2, 2, 3, 2)
    found = attend(torch.tensor([[[1.0, 3.0]]]), torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]))
    assert found.requires_grad, "The output does not know how it was computed, so nothing can be trained."
    found.square().sum().backward()
    for name, parameter in attend.named_parameters():
        print(f"{name} should have a gradient. Has one:", parameter.grad is not None)
        assert parameter.grad is not None, f"No gradient reaches {name}."


@try_it("test_cross_attention", "test_three_layers")
def three_layers_of_cross_attention(CrossAttention):
    """Layers from width 2, 3 and 3 to 1, each with a bias: 3 + 4 + 4 numbers."""
    count = sum(parameter.numel() for parameter in CrossAttention(2, 3, 1, 1).parameters())
    print("There should be 11 parameters. There are", count)
    assert count == 11, "The module does not have three layers with a bias each."
    order = [name[0] for name, _ in CrossAttention(2, 3, 1, 1).named_parameters() if name[1:] == ".weight"]
    print("The layers should be created in the order q, k, v. They are", order)
    assert order in ([], ["q", "k", "v"]), "The order is different."


@try_it("test_cross_attention", "test_float64_and_inputs_unchanged")
def precise_and_both_unchanged(CrossAttention):
    """In float64, the output has more digits than float32 can hold, and x and y are the same afterwards."""
    asking = torch.tensor([[[1.0, 3.0]]], dtype=torch.float64)
    other = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]], dtype=torch.float64)
    found = CrossAttention(2, 2, 3, 2).double()(asking, other)
    print("x and y should still be [[[1, 3]]] and [[[1, 0], [0, 2]]]:", asking.tolist(), other.tolist())
    assert asking.tolist() == [[[1, 3]]], "Your module changed x."
    assert other.tolist() == [[[1, 0], [0, 2]]], "Your module changed y."
    print("The output should change if it is rounded to float32:", found.tolist(), found.float().tolist())
    assert not torch.equal(found, found.float().double()), "The output was computed in float32."


# --------------------------------------------------------------------------------------------- exercise 2
@try_it("test_equivariance_gap")
def running_sums(equivariance_gap):
    """A running sum, with the sign changed: 1, 3, 10 become -1, -4, -14, and 10, 1, 3 become -10, -11, -14."""
    numbers = torch.tensor([[[1.0], [1.0], [1.0]], [[1.0], [3.0], [10.0]]])  # two sequences
    numbers = numbers.repeat(1, 1, 2)  # of vectors that have each number twice
    before = numbers.clone()
    found = equivariance_gap(lambda x: -x.cumsum(dim=1), numbers, torch.tensor([2, 0, 1]))
    print("In the new order, the first are -14, -1, -4. The largest difference is 10. You have", found)
    assert isinstance(found, float), f"The gap is a {type(found).__name__}, not a float."
    assert found == 10, "The gap is wrong."
    assert torch.equal(numbers, before), "Your function changed x."


# --------------------------------------------------------------------------------------------- exercise 4
@try_it("test_multi_headed_attention")
def two_simple_heads(MultiHeadedAttention):
    """Head 0 makes 1, -2 of a token 1, head 1 makes 10, 20, and the final layer doubles everything."""

    class Head(torch.nn.Module):
        def __init__(self, *numbers):
            super().__init__()
            self.v, self.output_dim = torch.nn.Linear(1, len(numbers), bias=False), len(numbers)
            self.v.weight.data = torch.tensor(numbers)[:, None]

        def forward(self, x, mask=None):
            return self.v(x)

    both = MultiHeadedAttention([Head(1.0, -2.0), Head(10.0, 20.0)], 4)
    with torch.no_grad():
        both.linear.weight.copy_(2 * torch.eye(4))
        both.linear.bias.zero_()
    found = both(torch.tensor([[[1.0]]]))
    print("The output should be [[[2, -4, 20, 40]]]. It is", found.tolist())
    assert found.tolist() == [[[2, -4, 20, 40]]], "The output is wrong."


@try_it("test_multi_headed_attention", "test_heads_of_different_widths")
def widths_one_and_three(MultiHeadedAttention):
    """Heads of width 1 and 3 side by side have width 4."""
    one, three = torch.nn.Module(), torch.nn.Module()
    one.v, one.output_dim = torch.nn.Linear(2, 1), 1
    three.v, three.output_dim = torch.nn.Linear(2, 3), 3
    both = MultiHeadedAttention([one, three], 5)
    print("linear.weight should have shape (5, 4). It has", tuple(both.linear.weight.shape))
    assert both.linear.weight.shape == (5, 4), "The width of `linear` is not the sum of the heads' widths."


@try_it("test_multi_headed_attention", "test_heads_belong_to_the_module")
def names_of_parameters(MultiHeadedAttention):
    """torch finds the parameters of both heads, and the bias of the final layer."""
    heads_2 = [torch.nn.Module(), torch.nn.Module()]
    for head in heads_2:
        head.v, head.output_dim = torch.nn.Linear(2, 1), 1
    both = MultiHeadedAttention(heads_2, 5)
    found = [name for name, _ in both.named_parameters()]
    print("torch finds", found)
    for name in ("attn_modules.0.v.weight", "attn_modules.1.v.weight", "linear.bias"):
        assert name in found, f"torch does not find {name}."
    print("The head at place 0 should be the one that was passed in:", both.attn_modules[0] is heads_2[0])
    assert both.attn_modules[0] is heads_2[0], "The heads are copies."


@try_it("test_multi_headed_attention", "test_mask")
def heads_that_need_a_mask(MultiHeadedAttention):
    """Each head counts the entries of the mask, so each has to get it."""

    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.v, self.output_dim = torch.nn.Linear(1, 1), 1

        def forward(self, x, mask=None):
            counts.append(0 if mask is None else mask.numel())
            return x

    counts = []
    MultiHeadedAttention([Counting(), Counting()], 1)(torch.ones(1, 3, 1), torch.ones(3, 3, dtype=torch.bool))
    print("The heads should count [9, 9]. They count", counts)
    assert counts == [9, 9], "Not every head gets the mask."


@try_it("test_multi_headed_attention", "test_everything_learns")
def gradients_of_heads(MultiHeadedAttention):
    """After backward(), the values' layer of a head has a gradient."""

    class Head(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.v, self.output_dim = torch.nn.Linear(2, 1), 1

        def forward(self, x, mask=None):
            return self.v(x)

    head = Head()
    MultiHeadedAttention([head], 1)(torch.tensor([[[1.0, 0.0], [0.0, 2.0]]])).sum().backward()
    print("v.weight of the head should have a gradient:", head.v.weight.grad)
    assert head.v.weight.grad is not None, "No gradient reaches the head."


# --------------------------------------------------------------------------------------------- exercise 5
@try_it("test_fused_attention")
def two_heads_by_hand(FusedMultiHeadAttention):
    """For query 0, head 0 has the weights 3 to 1, head 1 has 1 to 9. For query 1 it is the other way around."""
    two, bias, log = FusedMultiHeadAttention(8, 2).eval(), torch.zeros(24), math.log(3)
    bias[0] = bias[5] = 2.0
    rows = torch.cat([torch.eye(8), torch.eye(8), 2 * torch.eye(8)])  # the weights of w_q, w_k and w_v
    layers = [two.w_q, two.w_k, two.w_v] if hasattr(two, "w_q") else [next(two.children())]
    sizes = [layer.out_features for layer in layers]
    for layer, row, shift in zip(layers, rows.split(sizes), bias.split(sizes), strict=True):
        layer.weight.data, layer.bias.data[:] = row, shift
    two.w_o.weight.data, two.w_o.bias.data[:] = torch.eye(8) / 2, 0
    queries = torch.stack([0 * bias[:8], -2 * bias[:8]])[None]
    keys = torch.tensor([[[log, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 2 * log, 0, 0]]])
    values = torch.tensor([[[4.0, 0, 0, 0, 0, 0, 0, 10], [0, 0, 0, 0, 0, 0, 10, 0]]])
    output, found = two(queries, keys, values)
    right = torch.tensor([[[[0.75, 0.25], [0.25, 0.75]], [[0.1, 0.9], [0.9, 0.1]]]])
    print(f"The weights should be\n{right}. They are\n{found}.")
    assert found.shape == right.shape and torch.allclose(found, right, atol=1e-4), "The weights are wrong."
    right = torch.tensor([[[3.0, 0, 0, 0, 0, 0, 9, 1], [1, 0, 0, 0, 0, 0, 1, 9]]])
    print(f"The output should be\n{right}. It is\n{output}.")
    assert torch.allclose(output, right, atol=1e-3), "The output is wrong."


@try_it("test_fused_attention", "test_mask")
def masks_for_both_heads(FusedMultiHeadAttention):
    """Three masks that hide key 1 from query 0: of each sequence, of all sequences, and of all queries."""
    tokens, attend = torch.ones(2, 2, 4), FusedMultiHeadAttention(4, 2).eval()
    for visible in ([[True, False], [True, True]], [[[True, False]], [[True, False]]]):
        _, found = attend(tokens, tokens, tokens, torch.tensor(visible))
        print("Query 0 should have the weights [1, 0] in both heads. You have", found[:, :, 0].tolist())
        assert found.shape == (2, 2, 2, 2), f"The weights have shape {tuple(found.shape)}, not (2, 2, 2, 2)."
        assert (found[:, :, 0] == torch.tensor([1.0, 0.0])).all(), "Key 1 is not hidden, or key 0 is."
    each = torch.tensor([[[True, False], [True, True]], [[True, True], [True, True]]])  # (batch, 2, 2)
    _, found = attend(tokens, tokens, tokens, each)
    print("In sequence 1 nothing is hidden, so all weights should be 0.5:", found[1].tolist())
    assert (found[0, :, 0, 1] == 0).all() and torch.allclose(found[1], torch.tensor(0.5)), (
        "A sequence does not have its own mask."
    )


@try_it("test_fused_attention", "test_query_with_no_key")
def query_without_keys(FusedMultiHeadAttention):
    """Query 0 may attend to nothing, so its weights are zeros in both heads."""
    tokens = torch.ones(1, 2, 4)
    visible = torch.tensor([[False, False], [True, True]])
    output, found = FusedMultiHeadAttention(4, 2).eval()(tokens, tokens, tokens, visible)
    print("The weights of query 0 should be zeros. They are", found[0, :, 0].tolist())
    assert (found[0, :, 0] == 0).all(), "The weights of a query with no key are not zeros."
    assert not output.isnan().any(), "The output contains NaN."


@try_it("test_fused_attention", "test_heads_must_share_the_width")
def width_9_for_2_heads(FusedMultiHeadAttention):
    """Two heads can't share a width of 9."""
    said = None
    try:
        FusedMultiHeadAttention(9, 2)
    except ValueError as error:
        said = str(error)
    print("There should be a ValueError that names 9 and 2:", said)
    assert said is not None, "There is no ValueError."
    assert "9" in said and "2" in said, "The message does not name both numbers."


@try_it("test_fused_attention", "test_dropout_in_training")
def weights_of_one_are_dropped(FusedMultiHeadAttention):
    """One key, so each weight is 1. Dropout with 0.2 makes it 0 or 1 / 0.8 = 1.25, and so all numbers of the head."""
    dropping = FusedMultiHeadAttention(8, 2, dropout=0.2).train()
    for name, parameter in dropping.named_parameters():  # so that queries, keys and values are all 1
        parameter.data.fill_(1.0 if name.endswith("bias") else 0.0)
    dropping.w_o.weight.data, dropping.w_o.bias.data = torch.eye(8), torch.zeros(8)
    output, _ = dropping(torch.ones(1, 50, 8), torch.ones(1, 1, 8), torch.ones(1, 1, 8))
    parts = output.reshape(50, 2, 4)  # (queries, heads, width of a head)
    print(
        "There should be 0 and 1.25. There are",
        sorted({round(number, 4) for number in output.flatten().tolist()}),
    )
    dropped, kept = (parts == 0).all(-1), (parts - 1.25).abs().amax(-1) < 1e-4
    assert (dropped | kept).all(), "A head's numbers are not all 0, or all 1.25."
    assert dropped.any() and kept.any(), "Nothing is dropped, or everything."


@try_it("test_fused_attention", "test_weights_before_dropout")
def returned_before_dropout(FusedMultiHeadAttention):
    """One key, so each weight is 1, and it is returned before it may be dropped."""
    dropping, tokens = FusedMultiHeadAttention(4, 2, dropout=0.5).train(), torch.ones(1, 50, 4)
    _, found = dropping(tokens, tokens[:, :1], tokens[:, :1])
    print("All weights should be 1. They are", sorted(set(found.flatten().tolist())))
    assert torch.allclose(found, torch.tensor(1.0)), "The weights were returned after dropout."


@try_it("test_fused_attention", "test_no_dropout_otherwise")
def nothing_to_drop(FusedMultiHeadAttention):
    """By default nothing is dropped in training, and after eval() nothing is ever dropped: two calls have the same output."""
    tokens = torch.ones(1, 20, 4)
    default, calm = FusedMultiHeadAttention(4, 2).train(), FusedMultiHeadAttention(4, 2, dropout=0.5).eval()
    for name, module in [("by default", default), ("after eval()", calm)]:
        one, two = module(tokens, tokens, tokens)[0], module(tokens, tokens, tokens)[0]
        print(f"{name}, two calls should differ by 0. They differ by {(one - two).abs().max().item():.3g}.")
        assert torch.equal(one, two), f"Something is dropped {name}."


@try_it("test_fused_attention", "test_everything_learns")
def gradients_of_four_layers(FusedMultiHeadAttention):
    """After backward(), each of the four layers has a weight and a bias of its own, and gradients."""
    learning = FusedMultiHeadAttention(4, 2).eval()
    tokens = torch.tensor([[[1.0, 0.0, 2.0, 0.0], [0.0, 3.0, 0.0, 1.0]]])
    output, _ = learning(tokens, tokens, tokens)
    output.square().sum().backward()
    count = sum(parameter.numel() for parameter in learning.parameters())
    print("There should be 4 · (16 + 4) = 80 parameters. There are", count)
    assert count == 80, "There are not four layers with a bias each."
    for name, parameter in learning.named_parameters():
        print(f"{name} should have a gradient. Has one:", parameter.grad is not None)
        assert parameter.grad is not None, f"No gradient reaches {name}."


@try_it("test_fused_attention", "test_float64_and_inputs_unchanged")
def precise_and_mask_unchanged(FusedMultiHeadAttention):
    """In float64, the output has more digits than float32 can hold, and the inputs are the same afterwards."""
    tokens = torch.tensor([[[1.0, 0.0, 2.0, 0.0], [0.0, 3.0, 0.0, 1.0]]], dtype=torch.float64)
    visible, copy = torch.tensor([[True, False], [True, True]]), tokens.clone()
    output, _ = FusedMultiHeadAttention(4, 2).double().eval()(tokens, tokens, tokens, visible)
    print("The mask should still be [[True, False], [True, True]]. It is", visible.tolist())
    assert visible.tolist() == [[True, False], [True, True]], "Your module changed the mask."
    assert torch.equal(tokens, copy), "Your module changed its inputs."
    print(
        "The output should change if it is rounded to float32:",
        output[0, 0].tolist(),
        output[0, 0].float().tolist(),
    )
    assert not torch.equal(output, output.float().double()), "The output was computed in float32."


# --------------------------------------------------------------------------------------------- exercise 6
@try_it("test_copy_heads")
def two_heads_copied(copy_heads):
    """Two heads of width 2: rows 0 and 1 belong to head 0, rows 2 and 3 to head 1."""
    source, target, parts = torch.nn.Module(), torch.nn.Module(), [torch.nn.Module(), torch.nn.Module()]
    for name in ("q", "k", "v"):
        for part in parts:
            setattr(part, name, torch.nn.Linear(4, 2))
        setattr(target, f"w_{name}", torch.nn.Linear(4, 4))
    source.attn_modules, source.linear = torch.nn.ModuleList(parts), torch.nn.Linear(4, 4)
    target.w_o = torch.nn.Linear(4, 4)
    copy_heads(source, target)
    for name, part, rows in [(name, i, slice(2 * i, 2 * i + 2)) for name in "qkv" for i in range(2)]:
        layer, own = getattr(target, f"w_{name}"), getattr(parts[part], name)
        print(f"Rows {2 * part} and {2 * part + 1} of w_{name} should be {name} of head {part}.")
        assert torch.equal(layer.weight[rows], own.weight), "The weights are different."
        assert torch.equal(layer.bias[rows], own.bias), "The biases are different."
    print("w_o should be the final layer.")
    assert torch.equal(target.w_o.weight, source.linear.weight), "The weights are different."
    assert torch.equal(target.w_o.bias, source.linear.bias), "The biases are different."


@try_it("test_copy_heads", "test_list_unchanged", "test_no_shared_memory")
def apart_afterwards(copy_heads):
    """The heads keep their numbers, and changing them later doesn't change the copy."""
    source, target, part = torch.nn.Module(), torch.nn.Module(), torch.nn.Module()
    part.q, part.k, part.v = (torch.nn.Linear(2, 2) for _ in range(3))
    source.attn_modules, source.linear = torch.nn.ModuleList([part]), torch.nn.Linear(2, 2)
    target.w_q, target.w_k, target.w_v, target.w_o = (torch.nn.Linear(2, 2) for _ in range(4))
    before = [parameter.clone() for parameter in source.parameters()]
    copy_heads(source, target)
    print("The heads should have the numbers that they had.")
    assert all(map(torch.equal, before, source.parameters())), "Your function changed the heads."
    copied = [parameter.clone() for parameter in target.parameters()]
    with torch.no_grad():
        for parameter in source.parameters():
            parameter.add_(1.0)
    print("Then 1 is added to all numbers of the heads. The copy should not change.")
    assert all(map(torch.equal, copied, target.parameters())), "The copy changes with the heads."
    print("All parameters should still be trained.")
    both = [*source.parameters(), *target.parameters()]
    assert all(parameter.requires_grad for parameter in both), "Some have requires_grad=False."

"""Snippets for students: vectors, caches and models that can be followed by hand, which fail if the answer is wrong."""

import math

import torch

from gradekit.checks import try_it


# --------------------------------------------------------------------------------------------- exercise 1
@try_it("test_rotate")
def two_vectors_turned(rotate):
    """The pairs of (1, 0, 1, 0) at position 5 turn to (cos, sin), those of (0, 1, 0, 1) at 100 to (-sin, cos)."""
    vectors = torch.tensor([[[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]]])
    for base, speeds in [((), (1, 0.01)), ((100.0,), (1, 0.1))]:
        found = rotate(vectors, torch.tensor([5, 100]), *base)
        right = [number for speed in speeds for number in (math.cos(5 * speed), math.sin(5 * speed))]
        right += [number for speed in speeds for number in (-math.sin(100 * speed), math.cos(100 * speed))]
        print(f"With {base or 'the default'} as base, the speeds are {speeds}, so it should be", right)
        print("It is", found.flatten().tolist())
        assert found.shape == (1, 2, 4), f"The shape is {tuple(found.shape)}, not (1, 2, 4)."
        assert torch.allclose(found.flatten(), torch.tensor(right), atol=1e-4), (
            "The vectors are turned in the wrong way."
        )
        assert vectors.tolist() == [[[1, 0, 1, 0], [0, 1, 0, 1]]], "Your function changed its input."


@try_it("test_rotate", "test_dtype")
def position_257(rotate):
    """A pair in bfloat16, at position 257. Its cosine is 0.82, and that of 256 is -0.04."""
    found = rotate(torch.tensor([[1.0, 0.0]], dtype=torch.bfloat16), torch.tensor([257]))
    print("The first number should be 0.82, and the dtype torch.bfloat16:", found[0, 0].item(), found.dtype)
    assert found.dtype == torch.bfloat16, "The result has the wrong dtype."
    assert abs(found[0, 0].item() - 0.82) < 0.02, "The angle is not that of 257."


@try_it("test_rotate", "test_odd_width")
def seven_columns(rotate):
    """Of seven columns, one has no partner."""
    said = None
    try:
        rotate(torch.ones(2, 7), torch.arange(2))
    except ValueError as error:
        said = str(error)
    print("There should be a ValueError that names 7:", said)
    assert said is not None and "7" in said, "There is no ValueError that names the width."


# --------------------------------------------------------------------------------------------- exercise 2
@try_it("test_rms_norm")
def roots_of_36_and_16(RMSNorm):
    """The mean squares of (1, 7) and (1, 3) are 25 and 5. With eps = 11, they are divided by 6 and by 4."""
    layer_11, vectors = RMSNorm(2, eps=11.0), torch.tensor([[[1.0, 7.0], [1.0, 3.0]]])
    start = {name: parameter.tolist() for name, parameter in layer_11.named_parameters()}
    print("The only parameter should be weight, [1, 1]. There is", start)
    assert start == {"weight": [1.0, 1.0]}, "The parameters are different."
    layer_11.weight.data = torch.tensor([6.0, 12.0])
    found = layer_11(vectors)
    print("With weight = [6, 12], the output should be [[[1, 14], [1.5, 9]]]. It is", found.tolist())
    assert torch.allclose(found, torch.tensor([[[1.0, 14.0], [1.5, 9.0]]])), "The output is wrong."
    assert vectors.tolist() == [[[1, 7], [1, 3]]], "Your module changed its input."
    found = layer_11.to(torch.bfloat16)(torch.tensor([[1.0, 2.0]], dtype=torch.bfloat16))
    print("In bfloat16, the output should be bfloat16, too:", found.dtype)
    assert found.dtype == torch.bfloat16, "The output has the wrong dtype."


# --------------------------------------------------------------------------------------------- exercise 3
@try_it("test_swiglu")
def two_gates(SwiGLU):
    """The gates are silu(1) = 0.731 and silu(-1) = -0.269, and let 10 and 100 through: 7.31 - 26.89."""
    small = SwiGLU(1, 2)
    shapes = {name: tuple(parameter.shape) for name, parameter in small.named_parameters()}
    right = {"w_down.weight": (1, 2), "w_gate.weight": (2, 1), "w_up.weight": (2, 1)}
    print(f"The parameters should be {right}. They are", shapes)
    assert shapes == right, "The parameters are different."
    small.w_gate.weight.data = torch.tensor([[1.0], [-1.0]])
    small.w_up.weight.data = torch.tensor([[10.0], [100.0]])
    small.w_down.weight.data = torch.tensor([[1.0, 1.0]])
    found = small(torch.tensor([[[1.0]]]))
    print("The output should be -19.58. It is", found.tolist())
    assert abs(found.item() + 19.583) < 0.01, "The output is wrong."
    found.sum().backward()
    lost = [name for name, parameter in small.named_parameters() if parameter.grad is None]
    print("Parameters without a gradient (there should be none):", lost)
    assert lost == [], "A layer does not learn."


@try_it("test_swiglu")
def a_closed_gate(SwiGLU):
    """A gate of -1000 lets nothing through, and the gradient there is 0."""
    small = SwiGLU(1, 1)
    for layer in (small.w_gate, small.w_up, small.w_down):
        layer.weight.data = torch.tensor([[1.0]])
    x = torch.tensor([[[-1000.0]]], requires_grad=True)
    small(x).sum().backward()
    print("The gradient of x should be 0. It is", x.grad.item())
    assert x.grad.item() == 0.0, "The gradient is wrong where a gate is far below 0."


# --------------------------------------------------------------------------------------------- exercise 4
@try_it("test_grouped_attention")
def four_heads_two_groups(grouped_attention):
    """The queries of four heads score two keys. Group 0 has 4 at key 0, group 1 has 8 at key 1."""
    log = 2 * math.log(3)  # width 4, so scores are divided by 2
    asked = torch.tensor([1.0, 2.0, 1.0, 0.0]).reshape(1, 4, 1, 1).repeat(1, 1, 1, 4)
    offered = torch.zeros(1, 2, 2, 4)
    offered[0, 0, 0, 0] = offered[0, 1, 1, 0] = log
    given = torch.tensor([4.0, 0.0, 0.0, 8.0]).reshape(1, 2, 2, 1).repeat(1, 1, 1, 4)
    for seen, right, out in [
        (None, [[0.75, 0.25], [0.9, 0.1], [0.25, 0.75], [0.5, 0.5]], [3.0, 3.6, 6.0, 4.0]),
        (torch.tensor([[True, False]]), [[1.0, 0.0]] * 4, [4.0, 4.0, 0.0, 0.0]),
    ]:
        both = grouped_attention(asked, offered, given, seen)
        assert isinstance(both, tuple) and len(both) == 2, "The result is not a pair."
        output, found = both
        print(f"Mask {seen}: the weights should be {right}. They are", found.tolist())
        assert found.shape == (1, 4, 1, 2), f"The weights have shape {tuple(found.shape)}, not (1, 4, 1, 2)."
        assert torch.allclose(found[0, :, 0], torch.tensor(right), atol=1e-4), "The weights are wrong."
        print(f"The heads should return {out}. They return", output[..., 0].flatten().tolist())
        assert torch.allclose(output[..., 0].flatten(), torch.tensor(out), atol=1e-3), "The output is wrong."


@try_it("test_grouped_attention", "test_groups_of_equal_size")
def seven_heads_and_three_groups(grouped_attention):
    """Seven heads can't be split into three groups."""
    said = None
    try:
        grouped_attention(torch.ones(1, 7, 1, 2), torch.ones(1, 3, 1, 2), torch.ones(1, 3, 1, 2))
    except ValueError as error:
        said = str(error)
    print("There should be a ValueError that names 7 and 3:", said)
    assert said is not None, "There is no ValueError."
    assert "7" in said and "3" in said, "The message does not name both numbers."


@try_it("test_grouped_attention", "test_float64_gradients_and_inputs_unchanged")
def gradient_and_dtype(grouped_attention):
    """float64 queries return a float64 output, and a gradient gets back to them."""
    asked = torch.tensor([[[[1.0, 3.0]]]], dtype=torch.float64, requires_grad=True)
    offered = torch.tensor([[[[1.0, 0.0], [0.0, 2.0]]]], dtype=torch.float64)
    found = grouped_attention(asked, offered, offered)[0]
    print("The output should be float64:", found.dtype)
    assert found.dtype == torch.float64, "The output doesn't have the dtype of the queries."
    print("Does the output know that it was computed from the queries?", found.requires_grad)
    assert found.requires_grad, "No gradient gets back to the queries."


# --------------------------------------------------------------------------------------------- exercise 5
@try_it("test_causal_attention")
def two_tokens_one_apart(CausalAttention):
    """Head 0 of token 1 scores 2 cos 1 and 2, so its weights are 0.285 and 0.715. Head 1 scores half of that."""
    tiny = CausalAttention(4, 2, 1)
    shapes = [tuple(tiny.get_parameter(f"w_{name}.weight").shape) for name in "qkvo"]
    print("The weights of w_q, w_k, w_v and w_o should be (4, 4), (2, 4), (2, 4), (4, 4):", shapes)
    assert shapes == [(4, 4), (2, 4), (2, 4), (4, 4)], "A layer has the wrong size."
    assert len(list(tiny.parameters())) == 4, "There are more parameters than the four weights."
    rows = torch.tensor([[1.0], [0.0]]), torch.tensor([[8.0, 0.0, 0.0, 0.0], [0.0, 4.0, 0.0, 0.0]])
    tiny.w_q.weight.data = torch.tensor([[2.0], [0.0], [1.0], [0.0]]).repeat(1, 4) * math.sqrt(2)
    tiny.w_k.weight.data, tiny.w_v.weight.data = rows[0].repeat(1, 4), rows[1]
    tiny.w_o.weight.data = 2 * torch.eye(4)
    found = tiny(torch.eye(4)[None, :2])  # token 0 has the value (8, 0), token 1 has (0, 4)
    right = torch.tensor([[[16.0, 0.0, 16.0, 0.0], [4.560, 5.720, 6.193, 4.904]]])
    print(f"The output should be\n{right}. It is\n{found}")
    assert found.shape == right.shape and torch.allclose(found, right, atol=1e-2), "The output is wrong."
    found.sum().backward()
    print(
        "All weights should have a gradient:",
        [name for name, p in tiny.named_parameters() if p.grad is not None],
    )
    assert all(parameter.grad is not None for parameter in tiny.parameters()), "A layer does not learn."


@try_it("test_causal_attention")
def four_tokens_in_three_pieces(CausalAttention, KVCache):
    """Four tokens, two of them equal: read at once, and with a cache in pieces of 1, 2 and 1."""
    torch.manual_seed(0)
    tiny, box, other = CausalAttention(4, 2, 1), KVCache(), KVCache()
    four = torch.tensor(
        [[[1.0, 0.0, 2.0, 0.0], [1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 3.0], [2.0, 0.0, 1.0, 1.0]]]
    )
    at_once = tiny(four)
    pieces = torch.cat([tiny(part, box) for part in four.split([1, 2, 1], dim=1)], dim=1)
    print(f"Both should be the same:\n{at_once}\n{pieces}")
    assert torch.allclose(at_once, pieces, atol=1e-5), "With a cache, the output is different."
    new = torch.cat([tiny(part, other) for part in four.split([2, 2], dim=1)], dim=1)
    print(f"With a new cache, too:\n{new}")
    assert torch.allclose(at_once, new, atol=1e-5), "With a new cache, the output is different."
    print("The cache should hold (1, 1, 4, 2) keys and values:", tuple(box.k.shape), tuple(box.v.shape))
    assert box.k.shape == box.v.shape == (1, 1, 4, 2), (
        "The cache does not hold one key and value for each group."
    )
    print("The first two tokens are equal, but their rotated keys shouldn't be:", box.k[0, 0, :2].tolist())
    assert not torch.allclose(box.k[0, 0, 0], box.k[0, 0, 1], atol=1e-4), (
        "The keys in the cache are not rotated."
    )
    again = tiny(four)
    print(f"Without a cache, it should be the same as at first:\n{again}")
    assert again.shape == at_once.shape and torch.allclose(again, at_once, atol=1e-5), "Something was kept."


@try_it("test_causal_attention", "test_base")
def all_speeds_equal(CausalAttention, rotate):
    """With base=1 all pairs turn at the same speed. All weights are 1 on the diagonal, so that rotate(x) is both q and k."""
    tiny, x = CausalAttention(4, 1, 1, base=1.0), torch.tensor([[[1.0, 0.0, 2.0, 0.0], [0.0, 0.0, 3.0, 1.0]]])
    for layer in (tiny.w_q, tiny.w_k, tiny.w_v, tiny.w_o):
        layer.weight.data = torch.eye(4)
    turned = rotate(x, torch.arange(2), 1.0)[0]
    weights = torch.softmax(turned[1] @ turned.T / 2, dim=-1)
    found, right = tiny(x)[0, 1], weights @ x[0]
    print("The second token should become", right.tolist(), "and becomes", found.tolist())
    assert torch.allclose(found, right, atol=1e-4), "The base does not reach both rotations."


# --------------------------------------------------------------------------------------------- exercise 6
@try_it("test_decoder_only")
def a_one_through_the_block(Block):
    """The norms multiply by 2 and 3, attention adds 1, feed-forward adds 5."""

    class Part(torch.nn.Module):
        def __init__(self, forward):
            super().__init__()
            self.forward = forward

    def attend(x, cache=None):
        heard.append(cache)
        return x + 1

    heard, tiny = [], Block(2, 1, 1, 2)
    tiny.norm1, tiny.norm2 = Part(lambda x: 2 * x), Part(lambda x: 3 * x)
    tiny.attention, tiny.feed_forward = Part(attend), Part(lambda x: x + 5)
    found = tiny(torch.ones(1, 1, 2), "a cache").tolist()
    print("1 should become 21. It becomes", found)
    assert found == [[[21, 21]]], "The parts are put together in the wrong way."
    print("The attention should get ['a cache']. It gets", heard)
    assert heard == ["a cache"], "The cache does not reach the attention."


@try_it("test_decoder_only")
def token_0_through_two_blocks(DecoderOnly, KVCache):
    """Token 0 is (1, 0). The blocks add 1 and multiply by 2, the norm multiplies by 10: (40, 20)."""

    class Part(torch.nn.Module):
        def __init__(self, forward):
            super().__init__()
            self.forward = forward

    def of_block(change):
        return Part(lambda x, cache=None: heard.append(cache) or change(x))

    heard, tiny = [], DecoderOnly(3, 2, 1, 1, 2, 2)
    tiny.embedding.weight.data = torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0]])
    tiny.blocks = torch.nn.ModuleList([of_block(lambda x: x + 1), of_block(lambda x: 2 * x)])
    tiny.norm = Part(lambda x: 10 * x)
    boxes = [KVCache(), KVCache()]
    found = tiny(torch.tensor([[0]]), boxes)
    print("The logits of (1, 0), (0, 1) and (2, 2) should be [[[40, 20, 120]]]. They are", found.tolist())
    assert found.tolist() == [[[40, 20, 120]]], "The logits are wrong."
    print("The two blocks should get caches 0 and 1. They get", [*map(boxes.index, heard)])
    assert heard == boxes, "A block gets the wrong cache."
    found.sum().backward()
    print("Token 2 was not read, but should learn, as an output:", tiny.embedding.weight.grad[2].tolist())
    assert tiny.embedding.weight.grad[2].any(), "The table does not learn through the logits."


@try_it("test_decoder_only")
def two_blocks_of_92(DecoderOnly):
    """5 ids of width 4, two blocks with 92 numbers each, and a norm with 4. At width 16, the table starts with a standard deviation of 1/4."""
    found = sum(parameter.numel() for parameter in DecoderOnly(5, 4, 2, 1, 3, 2).parameters())
    print("There should be 208 parameters. There are", found)
    assert found == 208, "A part is missing, shared, or not needed."
    found = DecoderOnly(500, 16, 2, 1, 3, 1).embedding.weight.std().item()
    print(f"The standard deviation should be about 0.25. It is {found:.3f}.")
    assert 0.2 < found < 0.3, "The embedding starts too large or too small."


@try_it("test_decoder_only", "test_base_and_eps")
def norms_that_return_nothing(DecoderOnly):
    """With an eps of 10**12, every norm returns nearly 0: a block leaves x as it is, and all logits are 0."""
    tiny, x = DecoderOnly(5, 8, 2, 1, 6, 1, eps=1e12), torch.randn(1, 3, 8)
    change, logits = (
        (tiny.blocks[0](x) - x).abs().max().item(),
        tiny(torch.tensor([[1, 2, 3]])).abs().max().item(),
    )
    print(
        f"The block should change x by 0. It changes it by {change:.4f}. The largest logit should be 0. It is {logits:.4f}."
    )
    assert change < 1e-3 and logits < 1e-3, "The eps does not reach every norm."


@try_it("test_decoder_only", "test_base_and_eps")
def two_bases(DecoderOnly):
    """The same weights with two bases."""
    one, other = DecoderOnly(5, 8, 2, 1, 6, 1), DecoderOnly(5, 8, 2, 1, 6, 1, base=2.0)
    for weight in one.parameters():
        weight.data.normal_()
    other.load_state_dict(one.state_dict())
    ids = torch.tensor([[1, 2, 3, 4]])
    gap = (one(ids) - other(ids)).abs().max().item()
    print(f"The logits should differ. They differ by {gap:.4f}.")
    assert gap > 1e-3, "The base does not reach the attention."


# --------------------------------------------------------------------------------------------- exercise 7
@try_it("test_generate")
def three_more_each_time(generate):
    """A model that always writes 3 more than the last id, modulo 10."""

    class ThreeMore(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = torch.nn.ModuleList([torch.nn.Identity(), torch.nn.Identity()])

        def forward(self, ids, caches=None):
            assert not self.training and not torch.is_grad_enabled(), "Training mode, or gradients are on."
            heard.append((ids.tolist(), caches))
            return torch.nn.functional.one_hot((ids + 3) % 10, 10).float()

    heard, begun = [], torch.tensor([[1, 2], [5, 0]])
    found = generate(ThreeMore(), begun, 3)
    print("The ids should be [[1, 2, 5, 8, 1], [5, 0, 3, 6, 9]]. They are", found.tolist())
    assert found.tolist() == [[1, 2, 5, 8, 1], [5, 0, 3, 6, 9]], "The wrong ids were written."
    assert found.dtype == torch.int64, f"The ids are {found.dtype}."
    print("It should read the prompt, then [[5], [3]] and [[8], [6]]. It read", [ids for ids, _ in heard])
    assert [ids for ids, _ in heard] == [[[1, 2], [5, 0]], [[5], [3]], [[8], [6]]], "It read something else."
    assert all(caches is not None and caches[0] is heard[0][1][0] for _, caches in heard), (
        "The caches are different each time."
    )
    assert begun.tolist() == [[1, 2], [5, 0]], "Your function changed the prompt."


@try_it("test_generate", "test_writes_the_likeliest_tokens")
def two_texts_on_their_own(generate):
    """Text 0 has the logits 2.999, 3 and 0, so it writes 1. Text 1 has 2.8, 2.9 and 5, so it writes 2."""

    class Same(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = torch.nn.ModuleList([torch.nn.Identity()])

        def forward(self, ids, caches=None):
            return torch.tensor([[[2.999, 3.0, 0.0]], [[2.8, 2.9, 5.0]]]).expand(2, ids.shape[1], 3)

    found = generate(Same(), torch.tensor([[1], [1]]), 1).tolist()
    print("The ids should be [[1, 1], [1, 2]]. They are", found)
    assert found == [[1, 1], [1, 2]], "A text does not write its own likeliest token."


# --------------------------------------------------------------------------------------------- exercise 8
@try_it("test_cache_bytes")
def counted_in_three_caches(cache_bytes, KVCache):
    """6 numbers of 2 bytes and 9 of 8 bytes, then 5 keys and 5 values of 4 bytes, then nothing: 12 + 72 + 20 + 20."""
    boxes = [KVCache(), KVCache(), KVCache()]
    boxes[0].append(
        torch.zeros(1, 1, 3, 2, dtype=torch.float16), torch.zeros(1, 1, 3, 3, dtype=torch.float64)
    )
    boxes[1].append(torch.zeros(1, 1, 5, 1), torch.zeros(1, 1, 5, 1))
    found = cache_bytes(boxes)
    print("There should be 124 bytes. There are", found)
    assert found == 124, "The number of bytes is wrong."
    assert isinstance(found, int), f"The number is a {type(found).__name__}, not an int."


# --------------------------------------------------------------------------------------------- exercise 9
@try_it("test_load_weights")
def a_block_of_numbers(load_weights, DecoderOnly):
    """A file whose first tensor is full of 1, the second of 2, and so on."""
    tiny = DecoderOnly(3, 4, 2, 2, 4, 1)
    names = [
        "attn_norm",
        "attn_q",
        "attn_k",
        "attn_v",
        "attn_output",
        "ffn_norm",
        "ffn_gate",
        "ffn_up",
        "ffn_down",
    ]
    file = {f"blk.0.{name}.weight": torch.full((4, 4), float(n)) for n, name in enumerate(names, 1)}
    for n in (1, 6):
        file[f"blk.0.{names[n - 1]}.weight"] = torch.full((4,), float(n))
    file |= {"token_embd.weight": torch.full((3, 4), 10.0), "output_norm.weight": torch.full((4,), 11.0)}
    load_weights(tiny, file)
    block = tiny.blocks[0]
    layers = [block.attention.w_q, block.attention.w_k, block.attention.w_v, block.attention.w_o]
    layers += [block.norm2, block.feed_forward.w_gate, block.feed_forward.w_up, block.feed_forward.w_down]
    found = [part.weight.mean().item() for part in [block.norm1, *layers, tiny.embedding, tiny.norm]]
    print("From norm1 to the final norm there should be 1 to 11. There are", found)
    assert found == [float(n) for n in range(1, 12)], "A tensor is in the wrong place."


@try_it("test_load_weights")
def three_files_that_do_not_fit(load_weights, DecoderOnly):
    """Files of zeros: one with a tensor left out, one with a tensor too many, and two of another shape. Nothing may be loaded."""
    tiny = DecoderOnly(3, 4, 2, 1, 5, 1)
    shapes = {"attn_norm": [4], "attn_q": [4, 4], "attn_k": [2, 4], "attn_v": [2, 4], "attn_output": [4, 4]}
    shapes |= {"ffn_norm": [4], "ffn_gate": [5, 4], "ffn_up": [5, 4], "ffn_down": [4, 5]}
    file = {f"blk.0.{name}.weight": torch.zeros(shape) for name, shape in shapes.items()}
    file |= {"token_embd.weight": torch.zeros(3, 4), "output_norm.weight": torch.zeros(4)}
    for name, tensor in [
        ("blk.0.attn_v.weight", None),
        ("output.weight", torch.zeros(3, 4)),
        ("blk.0.ffn_down.weight", torch.zeros(5, 4)),
        ("output_norm.weight", torch.zeros(1)),
    ]:
        said, wrong = "nothing", {**file, name: tensor}
        try:
            load_weights(tiny, {key: value for key, value in wrong.items() if value is not None})
        except ValueError as error:
            said = str(error)
        print(f"A ValueError should name {name}. It says", said)
        assert name in said, "The file doesn't fit, but that isn't said."
        zeros = [part for part, weight in tiny.named_parameters() if not weight.any()]
        assert not zeros, f"Something was loaded from a file that doesn't fit: {zeros}"


@try_it("test_load_weights", "test_copies")
def the_file_changes_afterwards(load_weights, DecoderOnly):
    """A file of ones is loaded, then filled with zeros."""
    tiny = DecoderOnly(3, 4, 2, 2, 4, 1)
    names = [f"attn_{part}" for part in ("norm", "q", "k", "v", "output")]
    names += [f"ffn_{part}" for part in ("norm", "gate", "up", "down")]
    file = {f"blk.0.{name}.weight": torch.ones([4] if name.endswith("norm") else [4, 4]) for name in names}
    file |= {"token_embd.weight": torch.ones(3, 4), "output_norm.weight": torch.ones(4)}
    parameters = list(tiny.parameters())
    load_weights(tiny, file)
    for tensor in file.values():
        tensor.zero_()
    print(
        "Every weight should still be 1. They are between",
        min(w.min().item() for w in tiny.parameters()),
        "and 1",
    )
    assert all((weight == 1).all() for weight in tiny.parameters()), "The model shares memory with the file."
    same = all(new is old for new, old in zip(tiny.parameters(), parameters, strict=True))
    print("The parameters should be the same objects as before:", same)
    assert same, "The model has new parameters."

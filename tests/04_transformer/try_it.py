"""Snippets for students: modules whose parts add and multiply, so that a single number can be followed by hand."""

import torch

from gradekit.checks import try_it


# --------------------------------------------------------------------------------------------- exercise 1
@try_it("test_feed_forward")
def one_and_minus_two(FeedForward):
    """1 and -2 become 1, -2 and 3 in the hidden vector, of which the ReLU leaves 1, 0 and 3."""
    small = FeedForward(2, 3, dropout=1.0).eval()
    shapes = [tuple(p.shape) for name, p in sorted(small.named_parameters())]
    print("The biases and weights should have the shapes (3,), (3, 2), (2,), (2, 3):", shapes)
    assert shapes == [(3,), (3, 2), (2,), (2, 3)], "The layers have the wrong sizes, or no bias."
    small.linear1.weight.data = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    small.linear1.bias.data = torch.tensor([0.0, 0.0, 4.0])
    small.linear2.weight.data = torch.tensor([[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]])
    small.linear2.bias.data = torch.tensor([0.5, 0.0])
    numbers = torch.tensor([[[1.0, -2.0]]], requires_grad=True)
    found = small(numbers)
    print("The output should be [[[4.5, -4]]]. It is", found.tolist())
    assert torch.allclose(found, torch.tensor([[[4.5, -4.0]]])), "The output is wrong."
    found.sum().backward()
    assert numbers.grad is not None and small.linear1.weight.grad is not None, "No gradient gets through."
    found = small.train()(numbers)
    print("In training, with dropout=1, only the last bias should be left, [[[0.5, 0]]]:", found.tolist())
    assert found.tolist() == [[[0.5, 0.0]]], "Dropout does not act on the hidden vector."


# --------------------------------------------------------------------------------------------- exercise 2
@try_it("test_encoder_layer")
def a_one_through_the_layer(EncoderLayer):
    """Attention makes q + 2k + 4v + 1, feed-forward adds 3, the norms multiply by 2 and by 3."""

    class Part(torch.nn.Module):
        def __init__(self, forward):
            super().__init__()
            self.forward = forward

    for first, right, dropped in [(False, 117, 6), (True, 67, 1)]:
        tiny = EncoderLayer(2, 1, 3, dropout=1.0, norm_first=first)
        tiny.self_attn = Part(lambda query, key, value, mask=None: (query + 2 * key + 4 * value + 1, None))
        tiny.feed_forward = Part(lambda x: x + 3)
        tiny.norm1, tiny.norm2 = Part(lambda x: 2 * x), Part(lambda x: 3 * x)
        ones = torch.ones(1, 1, 2)
        found = tiny.eval()(ones).tolist()
        print(f"norm_first={first}: 1 should become {right}:", found)
        assert found == [[[right, right]]], "The parts are put together in the wrong way."
        found = tiny.train()(ones).tolist()
        print(f"In training, with dropout=1, only the norms should act, so 1 becomes {dropped}:", found)
        assert found == [[[dropped, dropped]]], "Dropout acts in the wrong place."
        assert (ones == 1).all(), "Your layer changed its input."


@try_it("test_encoder_layer")
def the_parts_of_a_layer(EncoderLayer):
    """Width 4, two heads: attention has 4 · 20 numbers, feed-forward 31, and the norms 16."""
    four = EncoderLayer(4, 2, 3, dropout=1.0)
    found = sum(parameter.numel() for parameter in four.parameters())
    print("There should be 127 parameters. There are", found)
    assert found == 127, "A part is missing, shared, or has the wrong size."
    one, other = torch.ones(1, 1, 4), torch.tensor([[[1.0, 2.0, 3.0, 4.0]]])
    heads = four.self_attn(one, one, one)[1].shape[1]
    print("There should be two heads. There are", heads)
    assert heads == 2, "The number of heads is not passed on."
    for name, part in [
        ("self_attn", lambda x: four.self_attn(x, x, x)[0]),
        ("feed_forward", four.feed_forward),
    ]:
        print(
            f"With dropout=1, {name} should return the same for all inputs:",
            part(one).tolist(),
            part(other).tolist(),
        )
        assert torch.equal(part(one), part(other)), f"The probability of dropout is not passed to {name}."


@try_it("test_encoder_layer")
def the_last_of_three_is_hidden(EncoderLayer):
    """Three tokens, the last one hidden: what the first two become must not depend on it. And all parameters learn."""
    three = torch.tensor([[[1.0, 2.0, 4.0, 0.0], [0.0, 3.0, 1.0, 1.0], [5.0, 0.0, 0.0, 2.0]]])
    for first in (False, True):
        four = EncoderLayer(4, 2, 3, norm_first=first)
        hidden = four(three, torch.tensor([[[True, True, False]]]))[:, :2]
        alone = four(three[:, :2])
        print(f"norm_first={first}: both should be the same:\n{hidden}\n{alone}")
        assert torch.allclose(hidden, alone, atol=1e-5), "A token that is hidden has an effect."
        (alone**3).sum().backward()
        lost = [name for name, parameter in four.named_parameters() if parameter.grad is None]
        print("Parameters without a gradient (there should be none):", lost)
        assert lost == [], "A part is not used, or does not learn."


@try_it("test_encoder_layer")
def what_self_attention_of_an_encoder_layer_reads(EncoderLayer):
    """Dropout leaves the input of self-attention alone: without a norm before it, a 1 arrives as a 1."""
    heard = []
    for first in (False, True):
        tiny = EncoderLayer(2, 1, 3, dropout=1.0, norm_first=first)
        tiny.norm1 = torch.nn.Identity()
        tiny.self_attn.register_forward_pre_hook(
            lambda part, given, named: heard.extend([*given, *named.values()]), with_kwargs=True
        )
        tiny(torch.ones(1, 1, 2))
    read = [part.tolist() for part in heard if part is not None and part.is_floating_point()]
    print("In training, with dropout=1, self-attention should still read ones only:", read)
    assert all(part == [[[1, 1]]] for part in read), "Dropout acts on the input of self-attention."


@try_it("test_encoder_layer")
def a_layer_keeps_its_order(EncoderLayer):
    """A post-norm layer ends in a norm, so its vectors have the mean 0, also after another layer was made."""
    post = EncoderLayer(4, 2, 3, norm_first=False)
    EncoderLayer(4, 2, 3, norm_first=True)
    means = post(torch.eye(4)[None]).mean(dim=-1)
    print("These means should be 0:", means)
    assert torch.allclose(means, torch.zeros(1, 4), atol=1e-5), "The norm isn't last."


# --------------------------------------------------------------------------------------------- exercise 3
@try_it("test_decoder_layer")
def a_one_and_a_seven(DecoderLayer):
    """Self-attention makes q + 2k + 4v + 1, cross-attention q + 2k + 4v + 5, feed-forward adds 3; norms: times 2, 3, 5."""

    class Part(torch.nn.Module):
        def __init__(self, forward):
            super().__init__()
            self.forward = forward

    for first, right, dropped in [(False, 2505, 30), (True, 669, 1)]:
        tiny = DecoderLayer(2, 1, 3, dropout=1.0, norm_first=first)
        tiny.self_attn = Part(lambda query, key, value, mask=None: (query + 2 * key + 4 * value + 1, None))
        tiny.cross_attn = Part(lambda query, key, value, mask=None: (query + 2 * key + 4 * value + 5, None))
        tiny.feed_forward, tiny.norm1 = Part(lambda x: x + 3), Part(lambda x: 2 * x)
        tiny.norm2, tiny.norm3 = Part(lambda x: 3 * x), Part(lambda x: 5 * x)
        ones, sevens = torch.ones(1, 1, 2), torch.full((1, 1, 2), 7.0)
        found = tiny.eval()(ones, sevens).tolist()
        print(f"norm_first={first}, memory 7: 1 should become {right}:", found)
        assert found == [[[right, right]]], "The parts are put together in the wrong way."
        found = tiny.train()(ones, sevens).tolist()
        print(f"In training, with dropout=1, only the norms should act, so 1 becomes {dropped}:", found)
        assert found == [[[dropped, dropped]]], "Dropout acts in the wrong place."
        assert (ones == 1).all() and (sevens == 7).all(), "Your layer changed its input."


@try_it("test_decoder_layer")
def who_sees_what(DecoderLayer):
    """Three tokens and a causal mask; the memory has three, and the last one is hidden."""
    torch.manual_seed(0)
    three, read = torch.randn(1, 3, 4), torch.randn(1, 3, 4)
    masks = torch.ones(3, 3, dtype=torch.bool).tril(), torch.tensor([[[True, True, False]]])
    for first in (False, True):
        four = DecoderLayer(4, 2, 3, norm_first=first)
        before = four(three, read, *masks)
        for what, place, seen in [
            ("token", 2, [False, False, True]),
            ("memory", 1, [True] * 3),
            ("memory", 2, [False] * 3),
        ]:
            one, other = three.clone(), read.clone()
            (one if what == "token" else other)[0, place] = torch.tensor([3.0, -1.0, 0.0, 1.0])
            found = ((four(one, other, *masks) - before).abs().amax(-1) > 1e-5)[0].tolist()
            print(
                f"norm_first={first}, another {what} {place}: these should change: {seen}, these do: {found}"
            )
            assert found == seen, "A position sees what it shouldn't, or doesn't see what it should."
        blind = masks[0], masks[1] & False
        moves = (four(three, other, *blind) - four(three, read, *blind)).abs().max().item()
        print("With all of the memory hidden, another memory should change nothing. It changes", moves)
        assert moves < 1e-5, "The memory has an effect, although its mask hides everything."


@try_it("test_decoder_layer")
def the_parts_of_a_decoder_layer(DecoderLayer):
    """Width 4: two attentions with 80 numbers each, feed-forward with 31, three norms with 8 each. All learn."""
    for first in (False, True):
        four = DecoderLayer(4, 2, 3, norm_first=first)
        found = sum(parameter.numel() for parameter in four.parameters())
        print("There should be 215 parameters. There are", found)
        assert found == 215, "A part is missing, shared, or has the wrong size."
        read = torch.tensor([[[1.0, 2.0, 3.0, 5.0], [2.0, 0.0, 1.0, 1.0]]], requires_grad=True)
        (four(torch.tensor([[[4.0, 0.0, 1.0, 1.0]]]), read) ** 3).sum().backward()
        lost = [name for name, parameter in four.named_parameters() if parameter.grad is None]
        lost += ["memory"] if read.grad is None else []
        print("Without a gradient, which should be nothing:", lost)
        assert lost == [], "A part is not used, or does not learn."
    four, one, other = DecoderLayer(4, 2, 3, dropout=1.0), torch.ones(1, 1, 4), torch.eye(4)[:1, None]
    for part in (four.self_attn, four.cross_attn, lambda x, *_: (four.feed_forward(x),)):
        found = part(one, one, one)[0], part(other, other, other)[0]
        print("With dropout=1, a part should return the same for all inputs:", found)
        assert torch.equal(*found), "The probability of dropout is not passed on."


@try_it("test_decoder_layer")
def what_self_attention_of_a_decoder_layer_reads(DecoderLayer):
    """Dropout leaves the input of self-attention alone: without a norm before it, a 1 arrives as a 1."""
    heard = []
    for first in (False, True):
        tiny = DecoderLayer(2, 1, 3, dropout=1.0, norm_first=first)
        tiny.norm1 = torch.nn.Identity()
        tiny.self_attn.register_forward_pre_hook(
            lambda part, given, named: heard.extend([*given, *named.values()]), with_kwargs=True
        )
        tiny(torch.ones(1, 1, 2), torch.zeros(1, 1, 2))
    read = [part.tolist() for part in heard if part is not None and part.is_floating_point()]
    print("In training, with dropout=1, self-attention should still read ones only:", read)
    assert all(part == [[[1, 1]]] for part in read), "Dropout acts on the input of self-attention."


# --------------------------------------------------------------------------------------------- exercise 4
@try_it("test_encoder")
def a_one_through_the_encoder(Encoder):
    """Embeddings of 1: times √4, plus the code 0, 1, 0, 1 of position 0. The layers compute 2x + 1, then 3x."""

    class Part(torch.nn.Module):
        def __init__(self, forward):
            super().__init__()
            self.forward = forward

    def first(x, mask=None):
        masks.append(mask)
        return 2 * x + 1

    for norm_first, right in [(False, [15.0, 21.0, 15.0, 21.0]), (True, [-1.0, 1.0, -1.0, 1.0])]:
        masks, small = [], Encoder(5, 4, 2, 3, 2, 9, pad_idx=3, norm_first=norm_first)
        small.embedding.weight.data.fill_(1)
        small.layers = torch.nn.ModuleList(
            [Part(first), Part(lambda x, mask=None: (first(x, mask) - 1) * 1.5)]
        )
        found, visible = small(torch.tensor([[1, 2, 3]]))
        print(f"norm_first={norm_first}: position 0 should be {right}:", found[0, 0].tolist())
        assert torch.allclose(found[0, 0], torch.tensor(right), atol=1e-4), "The memory is wrong."
        print("3 is padding. The returned mask should be [[[True, True, False]]]:", visible.tolist())
        assert visible.tolist() == [[[True, True, False]]], "The mask is wrong."
        for mask in masks:
            print("Both layers should get it. One gets", mask)
            assert mask is not None and (mask == visible).all(), "A layer gets the wrong mask, or none."


@try_it("test_encoder")
def two_layers_of_127(Encoder):
    """5 ids of width 4, two layers with 127 numbers each, and a final norm with 8 in pre-norm. All layers learn."""
    for norm_first, right in [(False, 274), (True, 282)]:
        small = Encoder(5, 4, 2, 3, 2, 9, norm_first=norm_first)
        found = sum(parameter.numel() for parameter in small.parameters())
        print(f"norm_first={norm_first}: there should be {right} parameters. There are {found}.")
        assert found == right, "A part is missing, shared, or has the wrong size."
        made = small.layers[1](torch.tensor([[[1.0, 2.0, 3.0, 9.0]]])).mean().item()
        print("The mean of a layer's output is 0 in post-norm only:", round(made, 4))
        assert (abs(made) < 1e-4) != norm_first, "norm_first is not passed to the layers."
        (small(torch.tensor([[1, 2, 0]]))[0][:, :2] ** 3).sum().backward()
        lost = [name for name, parameter in small.named_parameters() if parameter.grad is None]
        print("Parameters without a gradient (there should be none):", lost)
        assert lost == [], "A part is not used, or does not learn."


@try_it("test_encoder")
def start_and_dropout(Encoder):
    """Width 16, so the embeddings start with a standard deviation of 1/4. With dropout=1, all of the sum is dropped."""
    small, heard = Encoder(500, 16, 2, 3, 1, 9, pad_idx=7, dropout=1.0, norm_first=True), []
    spread = small.embedding.weight.std().item()
    print(f"The standard deviation should be about 0.25. It is {spread:.2f}.")
    assert 0.2 < spread < 0.3, "The embeddings start too large or too small."
    print("The row of the padding, 7, should be zeros:", small.embedding.weight[7].tolist())
    assert not small.embedding.weight[7].any(), "The padding row is not zero."
    small.embedding(torch.tensor([7, 8])).sum().backward()
    print("Its gradient should be 0:", small.embedding.weight.grad[7].tolist())
    assert not small.embedding.weight.grad[7].any(), "The padding row learns."
    one = torch.ones(1, 1, 16)
    print(
        "In training, with dropout=1, a pre-norm layer should change nothing:", small.layers[0](one).tolist()
    )
    assert torch.equal(small.layers[0](one), one), "The probability of dropout is not passed to the layers."
    small.layers[0].register_forward_pre_hook(lambda part, given: heard.append(given[0]))
    small(torch.tensor([[1, 2]]))
    print("The first layer should get zeros:", heard[0].tolist())
    assert not heard[0].any(), "Dropout does not act on the sum of embeddings and positions."


# --------------------------------------------------------------------------------------------- exercise 5
@try_it("test_decoder")
def a_one_through_the_decoder(Decoder):
    """Embeddings of 1: times √4, plus the code 0, 1, 0, 1 of position 0. The layers compute 2y + 1, then 3y."""

    class Step(torch.nn.Module):
        def forward(self, y, memory, target_mask=None, memory_mask=None):
            heard.append((memory.tolist(), target_mask, memory_mask))
            return 2 * y + 1 if self is small.layers[0] else 3 * y

    for norm_first, right in [(False, [15.0, 21.0, 15.0, 21.0]), (True, [-1.0, 1.0, -1.0, 1.0])]:
        heard, small = [], Decoder(5, 4, 2, 3, 2, 9, pad_idx=3, norm_first=norm_first)
        small.embedding.weight.data.fill_(1)
        small.layers = torch.nn.ModuleList([Step(), Step()])
        read = torch.full((2, 3, 4), 7.0)
        visible = torch.tensor([[[True, False, False]], [[True, True, False]]])
        found = small(torch.tensor([[1, 2, 3], [1, 2, 3]]), read, visible)
        print(f"norm_first={norm_first}: position 0 should be {right}:", found[0, 0].tolist())
        assert torch.allclose(found[0, 0], torch.tensor(right), atol=1e-4), "The output is wrong."
        wanted = torch.tensor([[[True, False, False], [True, True, False], [True, True, False]]] * 2)
        for got, target_mask, memory_mask in heard:
            print(
                f"3 is padding. A layer should get\n{wanted}\n{visible}. It gets\n{target_mask}\n{memory_mask}"
            )
            assert got == read.tolist(), "A layer gets the wrong memory."
            assert torch.equal(target_mask.expand(2, 3, 3), wanted), "The target mask is wrong."
            assert memory_mask is not None and torch.equal(memory_mask, visible), "The memory mask is wrong."


@try_it("test_decoder")
def padding_at_the_start(Decoder):
    """3 is padding, here at position 0. No position may attend to it."""

    class Step(torch.nn.Module):
        def forward(self, y, memory, target_mask=None, memory_mask=None):
            heard.append(target_mask)
            return y

    heard, small = [], Decoder(5, 4, 2, 3, 1, 9, pad_idx=3)
    small.layers = torch.nn.ModuleList([Step()])
    small(torch.tensor([[3, 1, 2]]), torch.ones(1, 2, 4))
    wanted = torch.tensor([[[False, False, False], [False, True, False], [False, True, True]]])
    print(f"The layer should get\n{wanted}\nIt gets\n{heard[0]}")
    assert torch.equal(heard[0].expand(1, 3, 3), wanted), "The target mask is wrong."


@try_it("test_decoder")
def two_layers_of_215(Decoder):
    """5 ids of width 4, two layers with 215 numbers each, and a final norm with 8 in pre-norm. All layers learn."""
    for norm_first, right in [(False, 450), (True, 458)]:
        small, read = Decoder(5, 4, 2, 3, 2, 9, norm_first=norm_first), torch.tensor([[[1.0, 2.0, 3.0, 9.0]]])
        found = sum(parameter.numel() for parameter in small.parameters())
        print(f"norm_first={norm_first}: there should be {right} parameters. There are {found}.")
        assert found == right, "A part is missing, shared, or has the wrong size."
        made = small.layers[1](read, read).mean().item()
        print("The mean of a layer's output is 0 in post-norm only:", round(made, 4))
        assert (abs(made) < 1e-4) != norm_first, "norm_first is not passed to the layers."
        (small(torch.tensor([[1, 2]]), read) ** 3).sum().backward()
        lost = [name for name, parameter in small.named_parameters() if parameter.grad is None]
        print("Parameters without a gradient (there should be none):", lost)
        assert lost == [], "A part is not used, or does not learn."


@try_it("test_decoder")
def start_and_dropout_of_the_decoder(Decoder):
    """Width 16, so the embeddings start with a standard deviation of 1/4. With dropout=1, all of the sum is dropped."""
    small, heard = Decoder(500, 16, 2, 3, 1, 9, pad_idx=7, dropout=1.0, norm_first=True), []
    spread = small.embedding.weight.std().item()
    print(f"The standard deviation should be about 0.25. It is {spread:.2f}.")
    assert 0.2 < spread < 0.3, "The embeddings start too large or too small."
    print("The row of the padding, 7, should be zeros:", small.embedding.weight[7].tolist())
    assert not small.embedding.weight[7].any(), "The padding row is not zero."
    small.embedding(torch.tensor([7, 8])).sum().backward()
    print("Its gradient should be 0:", small.embedding.weight.grad[7].tolist())
    assert not small.embedding.weight.grad[7].any(), "The padding row learns."
    one = torch.ones(1, 1, 16)
    found = small.layers[0](one, one)
    print("In training, with dropout=1, a pre-norm layer should change nothing:", found.tolist())
    assert torch.equal(found, one), "The probability of dropout is not passed to the layers."
    small.layers[0].register_forward_pre_hook(lambda part, given: heard.append(given[0]))
    small(torch.tensor([[1, 2]]), one)
    print("The first layer should get zeros:", heard[0].tolist())
    assert not heard[0].any(), "Dropout does not act on the sum of embeddings and positions."


# --------------------------------------------------------------------------------------------- exercise 6
@try_it("test_transformer")
def sizes_of_a_small_transformer(Transformer):
    """5 and 6 ids, width 4, two layers: 282 numbers in the encoder, 462 in the decoder, 30 at the end."""
    small = Transformer(5, 6, 4, 2, 3, 2, 30)
    found = sum(parameter.numel() for parameter in small.parameters())
    print("There should be 774 parameters. There are", found)
    assert found == 774, "A size is not passed on, or a part is missing."
    long = torch.tensor([[4] * 25]), torch.tensor([[5] * 25])
    found = small(*long)
    print("25 tokens should be possible, and have logits for 6 ids, (1, 25, 6):", tuple(found.shape))
    assert found.shape == (1, 25, 6), "The logits have the wrong shape."
    found.pow(3).sum().backward()
    lost = [name for name, parameter in small.named_parameters() if parameter.grad is None]
    print("Parameters without a gradient (there should be none):", lost)
    assert lost == [], "A part is not used, or does not learn."


@try_it("test_transformer")
def what_the_output_layer_says(Transformer):
    """The last layer has the bias 2, -1, 0 and no weights. Its output is returned as it is."""
    small = Transformer(5, 3, 4, 2, 3, dropout=1.0)
    for weight, words in [(0.0, "whatever was read"), (1.0, "in training with dropout=1")]:
        small.output.weight.data.fill_(weight)
        small.output.bias.data = torch.tensor([2.0, -1.0, 0.0])
        found = small(torch.tensor([[1, 2]]), torch.tensor([[1]]))
        print(f"The logits should be [[[2, -1, 0]]], {words}:", found.tolist())
        assert torch.allclose(found, small.output.bias), (
            "The logits are changed, or dropout is not passed on."
        )


@try_it("test_transformer")
def padding_with_4(Transformer):
    """A source that is padded with 4 has the same logits as without padding."""
    torch.manual_seed(0)
    small, begun = Transformer(5, 6, 4, 2, 3, pad_idx=4).eval(), torch.tensor([[1, 0]])
    alone, padded = (small(torch.tensor([ids]), begun) for ids in ([1, 0, 2], [1, 0, 2, 4]))
    print(f"Both should be the same:\n{alone}\n{padded}")
    assert torch.allclose(alone, padded, atol=1e-5), "The padding of the source has an effect."
    read, visible = small.encode(torch.tensor([[1, 0, 2, 4]]))
    right = small.encoder(torch.tensor([[1, 0, 2, 4]]))[0]
    print(f"encode should return the output of the encoder:\n{read}\n{right}")
    assert torch.allclose(read, right), "encode does not return the memory."
    found = small.decode(begun, read, visible)
    print(f"encode and decode should return the same logits as one call:\n{found}\n{padded}")
    assert torch.allclose(found, padded, atol=1e-5), "encode and decode do something different from forward."

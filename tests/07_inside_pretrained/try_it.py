"""Snippets for students: models of a few numbers and vectors on paper, which fail if the answer is wrong."""

import math
from types import SimpleNamespace

import torch

from gradekit.checks import try_it


# --------------------------------------------------------------------------------------------- exercise 1
@try_it("test_byte_pairs", "test_join_pair", "test_join_pair_edges")
def pairs_of_1_and_2(join_pair):
    """A pair is joined from left to right, and no id is used twice, not even a new one."""
    for given, left_right, new, right in [
        ([1, 2, 2, 1, 1, 2], (1, 2), 5, [5, 2, 1, 5]),
        ([3, 3, 3, 3, 3], (3, 3), 5, [5, 5, 3]),
        ([1, 2, 2], (1, 2), 1, [1, 2]),
        ([], (1, 2), 5, []),
    ]:
        copy = list(given)
        found = join_pair(copy, left_right, new)
        print(f"{given} with {left_right} as {new} should become {right}. It becomes", found)
        assert list(found) == right, "The pair is not joined as it should be."
        assert copy == given, "Your function changed the list that it was given."


@try_it("test_byte_pairs", "test_merges", "test_ties", "test_number_of_merges", "test_train_encode_decode")
def merges_of_short_texts(train_merges):
    """In bababa, b is 98 and a is 97. Where pairs are equally frequent, the first in the text counts."""
    for words, most, right in [
        ("bababa", 3, [(98, 97), (256, 256), (257, 256)]),
        ("aaab", 1, [(97, 97)]),
        ("baaa caca", 2, [(97, 97), (99, 97)]),
        ("cdab", 1, [(99, 100)]),
        ("zyxwzyxwq", 2, [(122, 121), (256, 120)]),
        ("cba", 9, [(99, 98), (256, 97)]),
        ("ab", 0, []),
        ("é", 9, [(195, 169)]),
    ]:
        found = [tuple(pair) for pair in train_merges(words, most)]
        print(f"The first {most} merges of {words!r} should be {right}. They are", found)
        assert found == right, "The wrong pairs were merged."


@try_it("test_byte_pairs", "test_order_of_merges", "test_any_text", "test_train_encode_decode")
def ids_of_short_texts(encode):
    """Letters a, b, c are 97, 98, 99. The merges are applied one after the other, each in the whole text."""
    for words, given, right in [
        ("abc", [(98, 99), (97, 98)], [97, 256]),
        ("ababc", [(97, 98), (256, 99), (256, 256)], [256, 257]),
        ("bcabc", [(98, 99), (97, 98), (97, 256)], [256, 258]),
        ("aé", [], [97, 195, 169]),
        ("éé", [(195, 169)], [256, 256]),
        ("abab", [(120, 121)], [97, 98, 97, 98]),
        ("", [(97, 98)], []),
    ]:
        found = encode(words, given)
        print(f"{words!r} with the merges {given} should become {right}. It becomes", found)
        assert list(found) == right, "The ids are wrong."


@try_it("test_byte_pairs", "test_round_trip", "test_part_of_a_character", "test_train_encode_decode")
def texts_of_some_ids(decode):
    """195 and 169 are the two bytes of é, and 97 and 98 are a and b."""
    for given, known, right in [
        ([97, 98], [], "ab"),
        ([256, 97, 257], [(97, 98), (256, 98)], "abaabb"),
        ([195, 169], [], "é"),
        ([256, 169], [(98, 195)], "bé"),
        ([195, 97], [], "\ufffda"),
        ([169], [], "\ufffd"),
        ([], [], ""),
    ]:
        found = decode(given, known)
        print(f"{given} with the merges {known} should be {right!r}. It is", repr(found))
        assert found == right, "The text is wrong."


# --------------------------------------------------------------------------------------------- exercise 2
@try_it("test_next_token")
def even_and_odd(next_token_probabilities):
    """If the sum of the ids is even, the next one has 0.5, 0.3 and 0.2, and if it is odd, 0.1, 0.3 and 0.6."""

    class Sums(torch.nn.Module):
        def forward(self, input_ids):
            recorded.append(torch.is_grad_enabled())
            return SimpleNamespace(logits=5 + torch.tensor([even, odd]).log()[input_ids.cumsum(dim=1) % 2])

    recorded, even, odd = [], [0.5, 0.3, 0.2], [0.1, 0.3, 0.6]
    sums = Sums().eval()
    found = next_token_probabilities(sums, torch.tensor([[1, 1], [0, 1]]))
    print(f"After 1, 1 and after 0, 1 there should be {[even, odd]}. There is", found.tolist())
    assert found.shape == (2, 3), f"The shape is {tuple(found.shape)}, not (2, 3)."
    assert torch.allclose(found, torch.tensor([even, odd]), atol=1e-4), "The probabilities are wrong."
    assert not any(recorded), "Gradients are on."
    assert not sums.training, "The model was in evaluation mode, and is in training mode now."


@try_it("test_next_token")
def one_more_token(generate_step):
    """Three tokens, a, Ġb and ab, which are next with 0.1, 0.3 and 0.6."""

    class Same(torch.nn.Module):
        def forward(self, input_ids):
            recorded.append(torch.is_grad_enabled())
            return SimpleNamespace(logits=torch.tensor([0.1, 0.3, 0.6]).log().expand(*input_ids.shape, 3))

    recorded, tokens_3 = [], ["a", "Ġb", "ab"]
    words = SimpleNamespace(
        convert_ids_to_tokens=lambda ids: (
            tokens_3[ids] if isinstance(ids, int) else [tokens_3[i] for i in ids]
        ),
        decode=lambda ids: "".join(tokens_3[int(i)] for i in ids).replace("Ġ", " "),
        encode=lambda text: [2] * text.count("ab"),
    )
    for k, right in [(2, [("ab", 0.6), ("Ġb", 0.3)]), (10, [("ab", 0.6), ("Ġb", 0.3), ("a", 0.1)])]:
        ids, found = generate_step(Same(), words, torch.tensor([[0, 1]]), k)
        print(f"k={k}: there should be [[0, 1, 2]] and {right}. There is", ids.tolist(), found)
        assert ids.tolist() == [[0, 1, 2]], "The ids are wrong."
        assert [(token, round(share, 3)) for token, share in found] == right, "The candidates are wrong."
    assert not any(recorded), "Gradients are on."


# --------------------------------------------------------------------------------------------- exercise 3
@try_it("test_sampling")
def squares_of_1_2_4(sampling_probabilities):
    """Logits ln 1, ln 2, ln 4, and ln 100, ln 50, ln 25. At temperature 1/2, the probabilities are proportional to the squares."""
    numbers = torch.tensor([[1.0, 2.0, 4.0], [100.0, 50.0, 25.0]])
    for top, right in [
        (None, [[1 / 21, 4 / 21, 16 / 21], [16 / 21, 4 / 21, 1 / 21]]),
        (2, [[0.0, 0.2, 0.8], [0.8, 0.2, 0.0]]),
        (9, [[1 / 21, 4 / 21, 16 / 21], [16 / 21, 4 / 21, 1 / 21]]),
    ]:
        logs = numbers.log()
        found = sampling_probabilities(logs, temperature=0.5, top_k=top)
        print(f"top_k={top}: it should be {right}. It is", found.tolist())
        assert torch.allclose(found, torch.tensor(right), atol=1e-4), "The probabilities are wrong."
        assert torch.equal(logs, numbers.log()), "Your function changed the logits."


@try_it("test_sampling")
def sums_modulo_5(generate_n_tokens):
    """The likeliest next id is the sum of all so far, modulo 5: after 1 and 2 come 3, then 6 - 5 = 1."""

    class Sums(torch.nn.Module):
        def forward(self, input_ids):
            recorded.append(torch.is_grad_enabled())
            hot = torch.nn.functional.one_hot(input_ids.cumsum(dim=1) % 5, 5)
            return SimpleNamespace(logits=hot.float())

    recorded, begun = [], torch.tensor([[1, 2], [4, 3]])
    found = generate_n_tokens(Sums(), begun, 3).tolist()
    print("The ids should be [[1, 2, 3, 1, 2], [4, 3, 2, 4, 3]]. They are", found)
    assert found == [[1, 2, 3, 1, 2], [4, 3, 2, 4, 3]], "The wrong ids were written."
    assert begun.tolist() == [[1, 2], [4, 3]], "Your function changed the ids that it was given."
    assert not any(recorded), "Gradients are on."


@try_it("test_sampling")
def four_hundred_draws(generate_n_tokens):
    """Logits 0 and ln 3: of 400 draws at temperature 1, about 300 are 1; near 0, all are, and with top_k=1 as well."""

    class Same(torch.nn.Module):
        def forward(self, input_ids):
            return SimpleNamespace(logits=torch.tensor([0.0, math.log(3)]).expand(*input_ids.shape, 2))

    for heat, top, least, most in [
        (1.0, None, 260, 340),
        (0.01, None, 400, 400),
        (100.0, None, 160, 240),
        (1.0, 1, 400, 400),
    ]:
        found = generate_n_tokens(Same(), torch.zeros(400, 1, dtype=torch.int64), 1, heat, top)
        ones = found[:, 1].sum().item()
        print(f"Temperature {heat}, top_k={top}: there should be {least} to {most} ones. There are {ones}.")
        assert least <= ones <= most, "The draws have the wrong probabilities."


# -------------------------------------------------------------------------------------------- exercise 3b
@try_it("test_top_p")
def two_rows_of_four(keep_top_p):
    """The first row is surer than the second one."""
    shares = torch.tensor([[0.1, 0.5, 0.1, 0.3], [0.3, 0.15, 0.35, 0.2]], dtype=torch.float64)
    before = shares.clone()
    for top_p, right in [
        (0.4, [[0, 1, 0, 0], [6 / 13, 0, 7 / 13, 0]]),
        (0.75, [[0, 5 / 8, 0, 3 / 8], [6 / 17, 0, 7 / 17, 4 / 17]]),
        (1.0, shares.tolist()),
    ]:
        found = keep_top_p(shares, top_p)
        print(f"With top_p = {top_p}, this should be kept:", [[round(x, 3) for x in row] for row in right])
        print("Your function keeps:", [[round(x, 3) for x in row] for row in found.tolist()])
        right = torch.tensor(right, dtype=torch.float64)
        assert found.shape == (2, 4) and torch.allclose(found.double(), right, atol=1e-6), (
            "That is something else."
        )
        assert found.dtype == torch.float64, f"The result should be float64, not {found.dtype}."
        assert torch.equal(shares, before), "The function changed the probabilities that it was given."


@try_it("test_top_p")
def two_equally_likely(keep_top_p):
    """With 0.6, one token of 0.4 is not enough, and both have 0.8 together. So the other two go."""
    found = keep_top_p(torch.tensor([[0.1, 0.4, 0.1, 0.4]]), 0.6)
    print("You should get [[0, 0.5, 0, 0.5]]. You get", found.tolist())
    assert torch.allclose(found, torch.tensor([[0.0, 0.5, 0.0, 0.5]])), "That is something else."


# --------------------------------------------------------------------------------------------- exercise 4
@try_it("test_cosine")
def three_four_and_four_three(cosine_similarity):
    """(3, 4) and (4, 3): 24 / 25. The opposite direction has -1, a short vector the same as a long one, and zero has 0."""
    u = torch.tensor([[[3.0, 4.0]], [[0.0, 0.0]]])  # (2, 1, 2)
    found = cosine_similarity(u, torch.tensor([[4.0, 3.0], [-3.0, -4.0], [4e-4, 3e-4]]))
    print("The similarities should be [[0.96, -1, 0.96], [0, 0, 0]]. They are", found.tolist())
    assert found.shape == (2, 3), f"The shape is {tuple(found.shape)}, not (2, 3)."
    right = torch.tensor([[0.96, -1.0, 0.96], [0.0, 0.0, 0.0]])
    assert torch.allclose(found, right, atol=1e-3), "The similarities are wrong."


@try_it("test_cosine")
def twins(nearest_words):
    """one and twin have the same direction, long is at 45 degrees, and up at 90."""
    five, table = ["one", "twin", "long", "up", "back"], [[1.0, 0], [2, 0], [10, 10], [0, 1], [-1, 0]]
    for asked, other in [("one", "twin"), ("twin", "one")]:
        found = nearest_words(asked, five, torch.tensor(table), k=3)
        print(f"The nearest of {asked} should be {other} (1), long (0.707) and up (0). They are", found)
        assert [word for word, _ in found] == [other, "long", "up"], "The wrong words are nearest."
        assert abs(found[1][1] - 0.7071) < 1e-3, "A similarity is wrong."


# --------------------------------------------------------------------------------------------- exercise 5
@try_it("test_analogy")
def from_1_0_to_1_2(analogy):
    """a = (1, 0) is to b = (1, 2) as c = (4, 0) is to (4, 2). same has this direction, and far that of c."""
    seven, table = (
        ["a", "b", "c", "same", "long", "far", "up"],
        [[1.0, 0], [1, 2], [4, 0], [2, 1], [30, 30], [8, 0], [0, 1]],
    )
    found = analogy("a", "b", "c", seven, torch.tensor(table), k=4)
    right = [("same", 1.0), ("long", 0.949), ("far", 0.894), ("up", 0.447)]
    print(f"The words should be {right}. They are", found)
    assert [word for word, _ in found] == [word for word, _ in right], "The wrong words are nearest."
    for (_, yours), (word, number) in zip(found, right, strict=True):
        assert abs(yours - number) < 1e-3, f"The similarity of {word} is wrong."


# --------------------------------------------------------------------------------------------- exercise 6
@try_it("test_additive")
def one_of_six_is_hidden(additive_mask):
    """Two queries, three keys: query 0 may not attend to key 1."""
    seen = torch.tensor([[[True, False, True], [True, True, True]]])
    found = additive_mask(seen)
    print("It should be [[[0, -inf, 0], [0, 0, 0]]], or a huge negative number. It is", found.tolist())
    assert found.shape == (1, 2, 3), f"The shape is {tuple(found.shape)}, not (1, 2, 3)."
    assert seen.sum() == 5, "Your function changed the mask."
    assert (found[seen] == 0).all(), "Something is added where the mask is True."
    assert found[0, 0, 1] < -1e6, "A large score can outweigh what you add, or it is NaN."


@try_it("test_additive")
def three_to_one_to_nothing(attention_with_additive_mask):
    """Scores ln 3, 0 and 0, the last one hidden: the weights are 3 to 1 to 0."""
    keys = torch.zeros(3, 4)
    keys[0, 0] = math.log(3)
    output, found = attention_with_additive_mask(
        torch.tensor([[2.0, 0.0, 0.0, 0.0]]),
        keys,
        torch.tensor([[4.0, 0.0], [0.0, 8.0], [9.0, 9.0]]),
        torch.tensor([[0.0, 0.0, -math.inf]]),
    )
    print("The weights should be [[0.75, 0.25, 0]]. They are", found.tolist())
    assert torch.allclose(found, torch.tensor([[0.75, 0.25, 0.0]]), atol=1e-4), "The weights are wrong."
    print("The output should be [[3, 2]]. It is", output.tolist())
    assert torch.allclose(output, torch.tensor([[3.0, 2.0]]), atol=1e-3), "The output is wrong."


# --------------------------------------------------------------------------------------------- exercise 7
@try_it("test_own_layers")
def gelu_of_1_and_minus_1(GeluFeedForward):
    """With weights of 1 and biases of 0, 1 becomes 0.84134 and -1 becomes -0.15866."""
    small = GeluFeedForward(1, 1, dropout=1.0)
    for name, parameter in small.named_parameters():
        parameter.data.fill_(1.0 if name.endswith("weight") else 0.0)
    found = small.eval()(torch.tensor([[[1.0], [-1.0]]])).flatten().tolist()
    print("It should be [0.84134, -0.15866]. It is", [round(number, 5) for number in found])
    assert abs(found[0] - 0.84134) < 5e-5 and abs(found[1] + 0.15866) < 5e-5, "This is not GELU."
    found = small.train()(torch.tensor([[[1.0], [-1.0]]])).flatten().tolist()
    print("In training, with dropout=1, it should be [0, 0]. It is", found)
    assert found == [0, 0], "Dropout does not act on the hidden vector."


@try_it("test_own_layers")
def a_number_for_each_part(load_layer, GeluFeedForward):
    """A checkpoint of layers 0, 1 and 11. The weights of layer 1 are full of 100, 101, …, its biases of 150, 151, …"""
    names = ["self.query", "self.key", "self.value", "output.dense", "output.LayerNorm"]
    names = [*(f"attention.{name}" for name in names), "intermediate.dense", *names[3:]]
    shapes, checkpoint = [(2, 2), (2, 2), (2, 2), (2, 2), (2,), (3, 2), (2, 3), (2,)], {}
    for start in (0, 1, 11):
        for place, (name, shape) in enumerate(zip(names, shapes, strict=True)):
            checkpoint[f"encoder.layer.{start}.{name}.weight"] = torch.full(shape, 100.0 * start + place)
            checkpoint[f"encoder.layer.{start}.{name}.bias"] = torch.full(
                shape[:1], 100.0 * start + place + 50
            )
    loaded = load_layer(checkpoint, 1, 2, eps=0.25)
    parts = ["norm2", "norm1", "feed_forward.linear1", "feed_forward.linear2", *"koqv"]
    for name, right in zip(parts, [107, 104, 105, 106, 101, 103, 100, 102], strict=True):
        part = loaded.get_submodule(f"self_attn.w_{name}" if len(name) == 1 else name)
        found = part.weight.unique().tolist(), part.bias.unique().tolist()
        print(f"{name} should have {right} and {right + 50}. It has", *found)
        assert found == ([right], [right + 50]), "A part has the numbers of another one, or random ones."
    print("Both norms should have an eps of 0.25:", loaded.norm1.eps, loaded.norm2.eps)
    assert loaded.norm1.eps == loaded.norm2.eps == 0.25, "eps is not used."
    assert loaded.self_attn.num_heads == 2 and not loaded.norm_first, (
        "It should have 2 heads, and be post-norm."
    )
    assert isinstance(loaded.feed_forward, GeluFeedForward), "The layer has the wrong feed-forward network."


@try_it("test_own_layers")
def two_sentences(sentence_vectors):
    """(3, 0) and (0, 4), then padding: the mean (1.5, 2) has length 2.5. The second sentence points up."""
    made = torch.tensor([[[3.0, 0.0], [0.0, 4.0], [9.0, 9.0]], [[0.0, 5.0], [0.0, 1.0], [0.0, 3.0]]])
    found = sentence_vectors(made, torch.tensor([[1, 1, 0], [1, 1, 1]]))
    print("The vectors should be [[0.6, 0.8], [0, 1]]. They are", found.tolist())
    assert torch.allclose(found, torch.tensor([[0.6, 0.8], [0.0, 1.0]]), atol=1e-4), "The vectors are wrong."
    assert made[0, 2].tolist() == [9, 9], "Your function changed its input."


# --------------------------------------------------------------------------------------------- exercise 8
@try_it("test_training_step")
def two_predictions(training_step):
    """After 0, token 1 has 3/4, after 1 it has 1/2. So 0, 1, 1 has the loss (0.288 + 0.693) / 2 = 0.490."""

    class Pairs(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.nn.Parameter(torch.zeros(2, 2))

        def forward(self, input_ids):
            return SimpleNamespace(logits=self.table[input_ids])

    pairs, right = Pairs(), torch.tensor([[-0.125, math.log(3) + 0.125], [-0.25, 0.25]])
    sgd = torch.optim.SGD(pairs.parameters(), lr=1.0)
    for again in ("the first", "the second"):  # from the same start
        pairs.table.data = torch.tensor([[0.0, math.log(3)], [0.0, 0.0]])
        found = training_step(pairs, sgd, torch.tensor([[0, 1, 1]]))
        print("The loss should be 0.490. It is", found)
        assert isinstance(found, float), f"The loss is a {type(found).__name__}, not a float."
        assert abs(found - 0.4904) < 1e-3, "The loss is wrong."
        print(f"After {again} step, the table should be {right.tolist()}. It is", pairs.table.tolist())
        assert torch.allclose(pairs.table, right, atol=1e-3), "The table has moved in the wrong way."

"""Snippets for students: batches, losses and models that can be followed by hand, and fail if the answer is wrong."""

import itertools
import math

import torch

from gradekit.checks import try_it


# --------------------------------------------------------------------------------------------- exercise 1
@try_it("test_fresh_batch")
def two_of_four_draws(fresh_batch):
    """Four draws in a row: [7, 6, 8], [4, 4] twice, which is held out, and [5, 3]. The answers are backwards."""
    draws = itertools.cycle([[7, 6, 8], [4, 4], [4, 4], [5, 3]])
    secret = {(4, 4)}
    found = fresh_batch(lambda: list(next(draws)), lambda ids: [*ids[::-1], 2], 2, secret)
    got, got_targets = (ids.tolist() for ids in found)
    print("The source should have the rows [7, 6, 8] and [5, 3, 0], in any order. It is", got)
    print("Their targets should be [8, 6, 7, 2] and [3, 5, 2, 0]. They are", got_targets)
    assert sorted(got) == [[5, 3, 0], [7, 6, 8]], "The source is wrong."
    right = {(7, 6, 8): [8, 6, 7, 2], (5, 3, 0): [3, 5, 2, 0]}
    assert got_targets == [right[tuple(row)] for row in got], "The targets are wrong."
    assert found[0].dtype == found[1].dtype == torch.int64, "The ids are not integers (int64)."
    print("held_out should still be {(4, 4)}. It is", secret)
    assert secret == {(4, 4)}, "Your function changed held_out."


# --------------------------------------------------------------------------------------------- exercise 2
@try_it("test_shift_right")
def eight_in_front(shift_right):
    """BOS is 8 here: it comes in front, and the last token drops out. EOS, 2, stays."""
    some_targets = torch.tensor([[9, 4, 7], [6, 2, 0]])
    found = shift_right(some_targets, 8)
    print("The decoder should read [[8, 9, 4], [8, 6, 2]]. It reads", found.tolist())
    assert found.tolist() == [[8, 9, 4], [8, 6, 2]], "The decoder reads something else."
    assert found.dtype == torch.int64, f"The ids are {found.dtype}, not int64."
    print("The targets should still be [[9, 4, 7], [6, 2, 0]]. They are", some_targets.tolist())
    assert some_targets.tolist() == [[9, 4, 7], [6, 2, 0]], "Your function changed the targets."


# --------------------------------------------------------------------------------------------- exercise 3
@try_it("test_sequence_loss")
def three_positions_count(sequence_loss):
    """The right token has the probability 0.6, 0.2 and 0.6 at three positions. The fourth is padding, which is 2 here."""
    log = math.log(
        3
    )  # e to the power of log, 0 and 0 is 3, 1 and 1, so the probabilities are 0.6, 0.2 and 0.2
    some_logits = torch.tensor([[[log, 0, 0], [0, 0, log]], [[0, log, 0], [0, 0, 0]]])
    found = float(sequence_loss(some_logits, torch.tensor([[0, 0], [1, 2]]), 2))
    right = -(math.log(0.6) + math.log(0.2) + math.log(0.6)) / 3
    print(f"The loss should be {right:.4f}. It is {found:.4f}.")
    assert abs(found - right) < 1e-4, "The loss is wrong."


@try_it("test_sequence_loss", "test_large_logits")
def logit_of_200(sequence_loss):
    """The wrong token has the logit 200, the right one 0: the loss is 200."""
    found = float(sequence_loss(torch.tensor([[[200.0, 0.0, 0.0]]]), torch.tensor([[1]]), 2))
    print("The loss should be 200. It is", found)
    assert abs(found - 200) < 1e-3, "The probability is too small for a float, so its logarithm is not 200."


@try_it("test_sequence_loss", "test_gradients", "test_scalar_of_the_same_dtype")
def double_loss(sequence_loss):
    """The loss is a scalar tensor of the dtype of the logits, and backward() can start from it."""
    some_logits = torch.zeros(1, 1, 3, dtype=torch.float64, requires_grad=True)
    found = sequence_loss(some_logits, torch.tensor([[1]]), 2)
    print("The loss should be a tensor. It is a", type(found).__name__)
    assert isinstance(found, torch.Tensor) and found.shape == (), "The loss is not a scalar tensor."
    assert found.requires_grad, "The loss does not know how it was computed, so nothing can be trained."
    print("Its dtype should be torch.float64. It is", found.dtype)
    assert found.dtype == torch.float64, "The loss doesn't have the dtype of the logits."


# --------------------------------------------------------------------------------------------- exercise 4
@try_it("test_train")
def twenty_steps(train):
    """A model that is one row of logits learns in 20 steps that the answer is always 3."""

    class Row(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.row = torch.nn.Parameter(torch.tensor([0.0, 0, 0, 2, 0, 0]))

        def forward(self, source, read):
            seen.append([source[0, 0].item(), read[0, 0].item(), self.training, self.row.tolist()])
            return self.row.expand(*read.shape, 6)

    def batch():  # the source says how many steps there were, the targets are 3, 3 and padding
        return torch.tensor([[len(seen)]]), torch.tensor([[-1, -1, -1]]), torch.tensor([[3, 3, 0]])

    seen = []
    found = train(Row().eval(), batch, 20, 0.1)
    numbers, inputs, modes, rows = zip(*seen, strict=True)
    assert numbers == tuple(range(20)) and set(inputs) == {-1}, f"The model did not read the batches: {seen}"
    assert all(modes), "The model was not in training mode."
    assert all(one != next_one for one, next_one in itertools.pairwise(rows)), "A step changed nothing."
    print("There should be 20 floats that begin with 0.517 and fall:", found)
    assert all(isinstance(loss, float) for loss in found) and len(found) == 20, "These are not 20 floats."
    assert abs(found[0] - 0.517) < 0.01 and found[-1] < found[0], "The losses are wrong."


@try_it("test_train", "test_gradients_are_cleared")
def one_gradient_at_a_time(train):
    """At the start of a step, the gradient is that of the last step alone, or was cleared already."""

    class Row(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.row = torch.nn.Parameter(torch.tensor([0.0, 0, 0, 2, 0, 0]))
            self.row.register_hook(lambda gradient: last.append(gradient.clone()))

        def forward(self, source):
            if self.row.grad is not None and self.row.grad.any():
                print(f"The gradient should be {last[-1].tolist()}. It is {self.row.grad.tolist()}.")
                assert torch.allclose(self.row.grad, last[-1]), "Gradients of several steps were added up."
            return self.row.expand(*source.shape, 6)

    last, three = [], torch.tensor([[3]])
    train(Row(), lambda: (three, three), 4, 0.01)


@try_it("test_train", "test_one_optimizer")
def five_up_and_one_down(train):
    """Five steps push the logit of token 3 up, the sixth pushes it down. Adam still follows the five."""

    class Pushed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.logit = torch.nn.Parameter(torch.zeros(()))

        def forward(self, source):
            logits_of_3.append(self.logit.item())
            return self.logit * torch.nn.functional.one_hot(torch.full_like(source, 3), 6)

    logits_of_3 = []
    train(
        Pushed(),
        lambda: (torch.ones(1, 1).long(), torch.tensor([[3 if len(logits_of_3) < 5 else 4]])),
        12,
        0.1,
    )
    print("The sixth step should make the logit larger:", logits_of_3[5:7])
    assert logits_of_3[6] > logits_of_3[5], "The optimizer has forgotten the five steps before."


@try_it("test_train", "test_one_optimizer", "test_learning_rate_is_used")
def a_hundredth_of_the_gradient(train):
    """One weight always has a hundredth of the gradient of the other. Adam moves both about as far."""

    class Two(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.two = torch.nn.Parameter(torch.zeros(2))

        def forward(self, source):
            logit = self.two[0] + self.two[1] / 100
            return logit * torch.nn.functional.one_hot(torch.full_like(source, 3), 6)

    model_with_two, three = Two(), torch.tensor([[3]])
    train(model_with_two, lambda: (three, three), 20, 0.01)
    found = model_with_two.two.abs().tolist()
    print("Both weights should move about as far. They move", found)
    assert found[1] >= found[0] / 2, "The step of a weight depends on the size of its gradients."


@try_it("test_train", "test_learning_rate_is_used")
def tiny_learning_rate(train):
    """With a learning rate of a billionth, the weights hardly change."""

    class Row(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.row = torch.nn.Parameter(torch.zeros(6))

        def forward(self, source):
            return self.row.expand(*source.shape, 6)

    model_with_a_row, three = Row(), torch.tensor([[3]])
    train(model_with_a_row, lambda: (three, three), 20, 1e-9)
    found = model_with_a_row.row.abs().max().item()
    print(f"The weights should change by less than a millionth. They change by {found:.2g}.")
    assert found < 1e-6, "The learning rate that is passed in has no effect."


# -------------------------------------------------------------------------------------------- exercise 4b
@try_it("test_adamw")
def two_steps_for_one_weight(adamw_step):
    """A weight of 2 with the gradients 4 and -4: betas 1/4 and 3/4, lr 0.1, eps 1, decay 0.5."""
    settings = {"lr": 0.1, "betas": (0.25, 0.75), "eps": 1.0, "decay": 0.5}
    now = torch.tensor([2.0]), torch.zeros(1), torch.zeros(1)
    # step 1: mean 3, corrected 4; square 4, corrected 16; 2 - 0.1 · (4 / 5 + 0.5 · 2) = 1.82
    # step 2: mean -2.25, corrected -2.4; square 7, corrected 16; 1.82 - 0.1 · (-2.4 / 5 + 0.5 · 1.82) = 1.777
    for step, gradient, right in [(1, 4.0, (1.82, 3.0, 4.0)), (2, -4.0, (1.777, -2.25, 7.0))]:
        before = [float(x) for x in now]
        found = adamw_step(now[0], torch.tensor([gradient]), *now[1:], step, **settings)
        print(
            f"After step {step}, weight, mean, square should be", right, "They are", [float(x) for x in found]
        )
        assert all(abs(float(x) - y) < 1e-3 for x, y in zip(found, right, strict=True)), "They are not."
        assert [float(x) for x in now] == before, "The function changed its arguments."
        now = found


@try_it("test_adamw", "test_defaults_dtype_and_inputs_unchanged")
def gradient_as_small_as_eps(adamw_step):
    """A weight of 2 with the gradient 3e-8, lr 0.1, and the defaults."""
    zeros = torch.zeros(1)
    found = [float(x) for x in adamw_step(zeros + 2, zeros + 3e-8, zeros, zeros, 1, lr=0.1)]
    # 3e-8 / (3e-8 + 1e-8) = 0.75, so 2 - 0.1 · (0.75 + 0.01 · 2) = 1.923
    print("Weight, mean, square should be 1.923, 3e-09, 9e-19. They are", found)
    assert abs(found[0] - 1.923) < 5e-4, "The weight is wrong."
    assert abs(found[1] * 1e9 - 3) < 0.01 and abs(found[2] * 1e19 - 9) < 0.01, "The means are wrong."


@try_it("test_adamw", "test_cosine_rate")
def six_rates(cosine_rate):
    """Six steps, two of them warm-up, with lr = 8."""
    rates = [cosine_rate(step, 6, 8.0, 2) for step in range(1, 7)]
    print("The rates should be 4, 8, 6.83, 4, 1.17, 0. They are", rates)
    right = (4, 8, 4 + 8**0.5, 4, 4 - 8**0.5, 0)
    assert all(abs(x - y) < 1e-6 for x, y in zip(rates, right, strict=True)), "They are not."


# --------------------------------------------------------------------------------------------- exercise 5
@try_it("test_greedy_decode")
def two_scripts(greedy_decode):
    """The model writes what the source says. BOS is 3 and EOS is 4 here, so row 0 ends after 2 tokens, row 1 after 4."""

    class Script(torch.nn.Module):
        def encode(self, source):
            return source, source > 0

        def decode(self, tokens, memory, memory_mask):
            return torch.nn.functional.one_hot(memory[:, : tokens.shape[1]], 10).float()

    script = torch.full((2, 30), 9)
    script[:, :4] = torch.tensor([[7, 4, 9, 9], [5, 2, 6, 4]])
    found = greedy_decode(Script(), script, 10, 3, 4).tolist()
    print("The tokens should be [[7, 4, 0, 0], [5, 2, 6, 4]]. They are", found)
    assert found == [[7, 4, 0, 0], [5, 2, 6, 4]], "The wrong tokens were written."
    found = greedy_decode(Script(), script, 2, 3, 4).tolist()
    print("With max_len=2, they should be [[7, 4], [5, 2]]. They are", found)
    assert found == [[7, 4], [5, 2]], "max_len is not the number of tokens."


@try_it("test_greedy_decode")
def what_the_model_is_asked(greedy_decode):
    """The model writes 7, then EOS, which is 4 here. It is encoded once, without dropout and gradients."""

    class Script(torch.nn.Module):
        def encode(self, source):
            asked.append("encode")
            return source, source > 0

        def decode(self, tokens, memory, memory_mask):
            asked.append(tokens[0].tolist())
            assert not self.training, "Dropout is on: the model is in training mode."
            assert not torch.is_grad_enabled(), "Gradients are on."
            assert memory_mask is not None, "The mask from encode is missing."
            return torch.nn.functional.one_hot(memory[:, : tokens.shape[1]], 10).float()

    asked, woken = [], Script().train()
    greedy_decode(woken, torch.tensor([[7, 4, 9, 9, 9, 9]]), 5, 3, 4)
    print("It should be asked to encode, and to decode [3], then [3, 7]. It was asked", asked)
    assert asked == ["encode", [3], [3, 7]], "It was asked something else."
    model = Script().eval()
    greedy_decode(model, torch.tensor([[4]]), 5, 3, 4)
    assert not model.training, "A model that was in evaluation mode is in training mode afterwards."
    print("Afterwards the model should be in evaluation mode, and gradients should be on again.")
    assert not woken.training, "A model that was in training mode is in training mode again."
    assert torch.is_grad_enabled(), "Gradients are off."


@try_it("test_greedy_decode", "test_writes_the_likeliest_tokens")
def two_rows_on_their_own(greedy_decode):
    """For the tokens 3, 4 and 5, row 0 has the logits 3, 2.9 and 0, and row 1 has 2.8, 0 and 5."""

    class Same(torch.nn.Module):
        def encode(self, source):
            return source, source > 0

        def decode(self, tokens, memory, memory_mask):
            logits = torch.tensor([[0.0, 0.0, 0.0, 3.0, 2.9, 0.0], [0.0, 0.0, 0.0, 2.8, 0.0, 5.0]])
            return logits[:, None].expand(2, tokens.shape[1], 6)

    found = greedy_decode(Same(), torch.tensor([[9], [9]]), 1, 1, 2).tolist()
    print("The tokens should be [[3], [5]]. They are", found)
    assert found == [[3], [5]], "A row does not write its own likeliest token."


# --------------------------------------------------------------------------------------------- exercise 6
@try_it("test_exact_match")
def two_of_four_rows(exact_match):
    """Of four rows, the first two are right. In the third, two tokens are swapped, and the fourth goes on too long."""
    right = torch.tensor([[7, 8, 2], [5, 2, 0], [6, 9, 2], [4, 2, 0]])
    made = torch.tensor([[7, 8, 2], [5, 2, 0], [9, 6, 2], [4, 2, 3]])
    found = exact_match(made, right)
    print("The share should be 0.5. It is", found)
    assert isinstance(found, float), f"The share is a {type(found).__name__}, not a float."
    assert found == 0.5, "The share is wrong."


@try_it("test_exact_match", "test_unequal_widths")
def wider_by_one(exact_match):
    """Two rows, one column more than expected: the first has a different token there, the second only padding."""
    found = exact_match(torch.tensor([[7, 8, 2], [5, 2, 0]]), torch.tensor([[7, 8], [5, 2]]))
    print("The share should be 0.5. It is", found)
    assert found == 0.5, "The narrower one does not count as padded."


# --------------------------------------------------------------------------------------------- exercise 7
@try_it("test_vocabulary")
def three_words(build_vocabulary):
    """Three different words, after the four special symbols."""
    found = build_vocabulary(["a B a", "c B"])
    right = {"<pad>": 0, "<bos>": 1, "<eos>": 2, "<unk>": 3, "a": 4, "B": 5, "c": 6}
    print("The vocabulary should be", right)
    print("It is                   ", found)
    assert found == right, "The vocabulary is wrong."


@try_it("test_vocabulary")
def there_and_back(to_ids, to_text):
    """A word that is not in the vocabulary becomes 3. A text ends at EOS, 2, and has no BOS and no padding."""
    known = {"<pad>": 0, "<bos>": 1, "<eos>": 2, "<unk>": 3, "a": 4, "B": 5, "c": 6}
    found = to_ids("c zebra a", known)
    print("The ids should be [6, 3, 4]. They are", found)
    assert found == [6, 3, 4], "The ids are wrong."
    assert len(known) == 7, "Your function changed the vocabulary."
    found = to_text([1, 4, 3, 0, 5, 2, 6], known)
    print("The text should be 'a <unk> B'. It is", repr(found))
    assert found == "a <unk> B", "The text is wrong."


# --------------------------------------------------------------------------------------------- exercise 8
@try_it("test_sorting_transformer")
def parameters_of_one_layer(SortingTransformer):
    """Vocabulary 5, width 4, 3 places, one layer: 32 numbers are in the embeddings, 172 in the layer, 8 in the norm, 25 at the end."""
    for layers, right in [(1, 32 + 172 + 8 + 25), (2, 32 + 2 * 172 + 8 + 25)]:
        found = sum(parameter.numel() for parameter in SortingTransformer(5, 4, 3, layers).parameters())
        print(f"With num_layers={layers}, there should be {right} parameters. There are {found}.")
        assert found == right, "The number of parameters is wrong."


@try_it("test_sorting_transformer")
def what_the_last_layer_gets(SortingTransformer):
    """The last linear layer gets vectors with mean 0 and variance 1, and its output is returned."""
    tiny, heard = SortingTransformer(5, 4, 3).eval(), []
    for part in tiny.modules():
        if isinstance(part, torch.nn.Linear) and part.out_features == 5:
            part.register_forward_hook(lambda part, given, made: heard.append((given[0], made)))
    found = tiny(torch.tensor([[3, 4, 3]]))
    vectors, made = heard[-1]
    print("The means should be 0:", [round(number, 3) for number in vectors.mean(-1).flatten().tolist()])
    assert vectors.shape == (1, 3, 4) and vectors.mean(-1).abs().max() < 1e-3, "There is no norm before it."
    variances = vectors.var(-1, unbiased=False)
    print("The variances should be 1:", [round(number, 3) for number in variances.flatten().tolist()])
    assert (variances - 1).abs().max() < 0.1, "There is no norm before it."
    assert torch.equal(found, made), "You return something other than the output of the last layer."
    modes = [part.norm_first for part in tiny.modules() if hasattr(part, "norm_first")]
    heads = [part.num_heads for part in tiny.modules() if hasattr(part, "num_heads")]
    print("The layers should be pre-norm, and have 4 heads:", modes, heads)
    assert all(modes) and set(heads) <= {4}, "The layers are different."


@try_it("test_sorting_transformer")
def every_place_counts(SortingTransformer):
    """The last number has an effect on the first place, and the same number in two places has two outputs."""
    torch.manual_seed(0)
    tiny = SortingTransformer(5, 4, 3).eval()
    one, other = tiny(torch.tensor([[3, 4, 4]])), tiny(torch.tensor([[3, 4, 3]]))
    print("The first place should change:", one[0, 0].tolist(), other[0, 0].tolist())
    assert not torch.allclose(one[0, 0], other[0, 0], atol=1e-6), "The first place can't see the last one."
    print("Places 1 and 2 should differ:", one[0, 1].tolist(), one[0, 2].tolist())
    assert not torch.allclose(one[0, 1], one[0, 2], atol=1e-6), "The places have no effect."


@try_it("test_sorting_transformer")
def everything_is_used(SortingTransformer):
    """After backward(), each parameter has a gradient."""
    tiny = SortingTransformer(5, 4, 3)
    tiny(torch.tensor([[3, 4, 3]])).square().sum().backward()
    found = [name for name, parameter in tiny.named_parameters() if parameter.grad is None]
    print("Parameters without a gradient (there should be none):", found)
    assert found == [], "A part of the model is not used, or does not learn."

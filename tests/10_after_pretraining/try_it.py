"""Snippets for students: small batches and layers that can be worked out on paper, which fail if the answer is wrong."""

import math

import torch
from torch import nn

from gradekit.checks import try_it


# --------------------------------------------------------------------------------------------- exercise 1
@try_it("test_answer_batch")
def two_dialogues(answer_batch):
    """1 2 | 3 and 4 | 5 7 6, filled up with 7: the first row has one place left, and the 7 in the second belongs to the answer."""
    given = [([1, 2], [3]), ([4], [5, 7, 6])]
    found = answer_batch(given, 7)
    print("The ids should be [[1, 2, 3, 7], [4, 5, 7, 6]]. They are", found[0].tolist())
    print("These should count: [[0, 0, 1, 0], [0, 1, 1, 1]]. These do:", found[1].int().tolist())
    assert found[0].tolist() == [[1, 2, 3, 7], [4, 5, 7, 6]], "The ids are wrong."
    assert found[1].int().tolist() == [[0, 0, 1, 0], [0, 1, 1, 1]], "`counts` are wrong."
    assert found[0].dtype == torch.int64 and found[1].dtype == torch.bool, "The types are wrong."
    assert given == [([1, 2], [3]), ([4], [5, 7, 6])], "The lists have changed."


# --------------------------------------------------------------------------------------------- exercise 2
@try_it("test_answer_loss")
def three_to_one_and_one_to_one(answer_loss):
    """Of two tokens, the right one has 3/4 at position 0 of row 0, 1/4 at its position 1, and 1/2 at position 0 of row 1."""
    three = math.log(3)
    said = torch.tensor([[[three, 0.0], [three, 0.0], [9.0, 0.0]], [[0.0, 0.0], [0.0, 9.0], [9.0, 0.0]]])
    said.requires_grad_()
    marks = torch.tensor([[False, True, True], [True, True, False]])
    found = answer_loss(said, torch.tensor([[1, 0, 1], [0, 1, 0]]), marks)
    print("The loss should be (0.288 + 1.386 + 0.693) / 3 = 0.789. It is", found.item())
    assert found.shape == () and abs(found.item() - 0.789) < 1e-3, "The loss is wrong."
    assert found.requires_grad, "The loss is cut off from the gradients."
    assert marks.int().tolist() == [[0, 1, 1], [1, 1, 0]], "`counts` have changed."


@try_it("test_answer_loss")
def nan_where_nothing_counts(answer_loss):
    """Only the token at position 1 counts, and it has the probability 1/2. What is said at positions 1 and 2 is NaN."""
    said = torch.tensor([[[0.0, 0.0], [math.nan, 0.0], [math.nan, 0.0]]])
    found = answer_loss(said, torch.tensor([[0, 1, 1]]), torch.tensor([[False, True, False]])).item()
    print("The loss should be log 2 = 0.693. It is", found)
    assert abs(found - 0.693) < 1e-3, "The loss is wrong."


@try_it("test_answer_loss", "test_nothing_counts")
def only_position_0_is_marked(answer_loss):
    """Only position 0 is marked, which nothing predicts."""
    said = None
    try:
        answer_loss(torch.zeros(1, 2, 3), torch.tensor([[0, 1]]), torch.tensor([[True, False]]))
    except ValueError as error:
        said = repr(error)
    print("There should be a ValueError:", said)
    assert said, "There is no ValueError."


# --------------------------------------------------------------------------------------------- exercise 3
@try_it("test_lora_linear")
def one_number_in_two_out(LoRALinear):
    """x is 2, the layer makes (2, 4) + (1, 1) of it. A is (3, -5), so A x = (6, -10), B leaves it so, and alpha / rank is 1/2."""
    one_in = nn.Linear(1, 2)
    one_in.weight.data, one_in.bias.data = torch.tensor([[1.0], [2.0]]), torch.tensor([1.0, 1.0])
    around = LoRALinear(one_in, 2, 1.0)
    print("At first, (3, 5):", around(torch.tensor([2.0])).tolist())
    assert torch.allclose(around(torch.tensor([2.0])), torch.tensor([3.0, 5.0])), (
        "At first it should be the layer."
    )
    around.A.data, around.B.data = torch.tensor([[3.0], [-5.0]]), torch.eye(2)
    for what, layer_now in [("module", around), ("merged layer", around.merged()), ("module, later", around)]:
        found = layer_now(torch.tensor([2.0]))
        print(f"The {what} should return (3 + 3, 5 - 5) = (6, 0). It returns", found.tolist())
        assert torch.allclose(found, torch.tensor([6.0, 0.0])), f"The {what} is wrong."


@try_it("test_lora_linear")
def which_weights_are_trained(LoRALinear):
    """Only A and B are trained. A is normally distributed with standard deviation 1/20, so 5 % of it are beyond 0.1, B is 0."""
    around = LoRALinear(nn.Linear(400, 3), 50, 4.0)
    found = sorted(key for key, value in around.named_parameters() if value.requires_grad)
    print("Trained should be A and B:", found)
    assert found == ["A", "B"], "Other parameters are trained."
    spread, beyond = around.A.std().item(), (around.A.abs() > 0.1).float().mean().item()
    print(
        f"The standard deviation of A should be 0.05: {spread:.3f}. Beyond 0.1 should be 4.6 %: {beyond:.1%}"
    )
    assert abs(spread - 0.05) < 0.003 and abs(beyond - 0.0455) < 0.01, "A is distributed in another way."
    assert (around.B == 0).all(), "B is not zeros."


@try_it("test_lora_linear")
def without_a_bias_and_rank(LoRALinear):
    """A float64 layer without a bias stays so when it is merged; x keeps its value; the rank -1 is refused."""
    vector = torch.ones(2, dtype=torch.float64)
    around = LoRALinear(nn.Linear(2, 2, bias=False, dtype=torch.float64), 1, 1.0)
    kinds = [around.A.dtype, around.B.dtype, around.merged().weight.dtype]
    print("All should be float64:", kinds, "and there should be no bias:", around.merged().bias)
    assert kinds == [torch.float64] * 3 and around.merged().bias is None, "That is not so."
    around(vector)
    assert vector.tolist() == [1.0, 1.0], "x has changed."
    said = ""
    try:
        LoRALinear(nn.Linear(2, 2), -1, 1.0)
    except ValueError as error:
        said = str(error)
    print("There should be a ValueError that contains -1:", said)
    assert "-1" in said, "There is none."


# --------------------------------------------------------------------------------------------- exercise 4
@try_it("test_add_lora")
def layers_called_one_and_zero(add_lora, LoRALinear):
    """Sequential layers are called 0, 1, 2. Both called 0 are linear, of 3 to 2 and 2 to 2: rank 3 makes 15 + 12 weights."""
    inner = nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2))
    outer = nn.Sequential(nn.Linear(3, 2), inner, nn.Linear(2, 10))
    number = add_lora(outer, ["0", "x"], 3, 6.0)
    changed = [type(part).__name__ for part in (outer[0], inner[0], inner[1], outer[2])]
    print("LoRALinear, LoRALinear, LayerNorm, Linear:", changed, "and 27 weights:", number)
    assert changed == ["LoRALinear", "LoRALinear", "LayerNorm", "Linear"], "Other layers have changed."
    needed = {key for key, value in outer.named_parameters() if value.requires_grad}
    print("Trained should be 0.A, 0.B, 1.0.A and 1.0.B:", needed)
    assert needed == {"0.A", "0.B", "1.0.A", "1.0.B"} and number == 27, "Others are trained, or counted."
    outer[0].A.data.fill_(1.0), outer[0].B.data.fill_(1.0)
    rise = (outer[0](torch.ones(3)) - outer[0].linear(torch.ones(3)))[0].item()
    print("Filled with ones, the first adds 6 / 3 · 3 · 3 = 18, with A of 3 rows:", rise, outer[0].A.shape)
    assert outer[0].A.shape[0] == 3 and abs(rise - 18) < 1e-4, "Rank or alpha is another one."


@try_it("test_add_lora", "test_merge")
def one_layer_merged(add_lora, merge_lora, LoRALinear):
    """One layer of two gets a change of ones; merging returns 1, leaves no LoRALinear, and the output stays."""
    outer = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    add_lora(outer, ["1"], 1, 1.0)
    outer[1].A.data.fill_(1.0), outer[1].B.data.fill_(1.0)
    expected = outer(torch.ones(2))
    found = (
        merge_lora(outer),
        isinstance(outer[1], LoRALinear),
        torch.allclose(outer(torch.ones(2)), expected),
    )
    print("There should be (1, False, True):", found)
    assert found == (1, False, True), "Merging is wrong."


@try_it("test_add_lora", "test_no_such_layer")
def no_layer_of_this_name(add_lora):
    """There is no layer called w_o."""
    said = ""
    try:
        add_lora(nn.Sequential(nn.Linear(1, 1)), ["w_o"], 1, 1.0)
    except ValueError as error:
        said = str(error)
    print("There should be a ValueError that contains w_o:", said)
    assert "w_o" in said, "There is none."


@try_it("test_add_lora", "test_the_right_layers")
def an_embedding_of_this_name(add_lora):
    """`w` is a linear layer, and in the model inside it is an embedding; `w2` has another name."""
    outer = nn.ModuleDict(
        {"w": nn.Linear(2, 2), "w2": nn.Linear(2, 2), "deep": nn.ModuleDict({"w": nn.Embedding(3, 2)})}
    )
    add_lora(outer, ["w"], 1, 1.0)
    changed = [type(part).__name__ for part in (outer["w"], outer["w2"], outer["deep"]["w"])]
    print("LoRALinear, Linear, Embedding:", changed)
    assert changed == ["LoRALinear", "Linear", "Embedding"], "Other layers have changed."


@try_it("test_add_lora", "test_the_right_layers")
def two_layers_of_one_name(add_lora):
    """Two modules contain a linear layer called v."""
    outer = nn.ModuleList([nn.ModuleDict({"v": nn.Linear(2, 2)}), nn.ModuleDict({"v": nn.Linear(2, 2)})])
    add_lora(outer, ["v"], 1, 1.0)
    changed = [type(part["v"]).__name__ for part in outer]
    print("LoRALinear, LoRALinear:", changed)
    assert changed == ["LoRALinear", "LoRALinear"], "Other layers have changed."


# --------------------------------------------------------------------------------------------- exercise 5
@try_it("test_answer_log_probs")
def answers_of_two_and_one(answer_log_probs):
    """Row 0: the tokens that count have the probabilities 3/4 and 1/4. Row 1: e to the power of -1000, and position 0 is marked."""
    three = math.log(3)
    said = torch.tensor([[[three, 0.0], [three, 0.0], [9.0, 0.0]], [[0.0, 0.0], [0.0, 1000.0], [9.0, 0.0]]])
    said.requires_grad_()
    marks = torch.tensor([[False, True, True], [True, False, True]])
    found = answer_log_probs(said, torch.tensor([[1, 0, 1], [1, 1, 0]]), marks)
    print("They should be [-0.288 - 1.386, -1000] = [-1.674, -1000]. They are", found.tolist())
    assert torch.allclose(found, torch.tensor([-1.674, -1000.0]), atol=1e-3), "The sums are wrong."
    assert found.requires_grad, "They are cut off from the gradients."
    assert marks.int().tolist() == [[0, 1, 1], [1, 0, 1]], "`counts` have changed."


# --------------------------------------------------------------------------------------------- exercise 6
@try_it("test_dpo_loss")
def gains_of_two_and_minus_one(dpo_loss):
    """Pair 0 gains 2 and -1, pair 1 gains 0 and 3. With beta = 0.5 the margins are 1.5 and -1.5, with 0.1 they are 0.3 and -0.3."""
    before = torch.tensor([-7.0, -9.0], requires_grad=True)
    now = torch.tensor([-5.0, -9.0], requires_grad=True)
    for betas, right, total in [((0.5,), [1.5, -1.5], 0.951), ((), [0.3, -0.3], 0.704)]:
        found = dpo_loss(now, torch.tensor([-5.0, -1.0]), before, torch.tensor([-4.0, -4.0]), *betas)
        print(
            f"With {betas or 'no beta'}, margins {right} and the loss {total}:",
            found[1].tolist(),
            found[0].item(),
        )
        assert torch.allclose(found[1], torch.tensor(right), atol=1e-4), "The margins are wrong."
        assert abs(found[0].item() - total) < 1e-3, "The loss is wrong."
        assert before.tolist() == [-7.0, -9.0], "The inputs have changed."
        assert not found[1].requires_grad, "The margins are not cut off from the gradients."
        found[0].backward()
    print("There should be a gradient for the policy, and None for the reference:", now.grad, before.grad)
    assert now.grad is not None and before.grad is None, "The gradients are wrong."


@try_it("test_dpo_loss", "test_large_margins")
def a_margin_of_minus_500(dpo_loss):
    """The margin is -500."""
    zeros = torch.zeros(1)
    found = dpo_loss(zeros - 500, zeros, zeros, zeros, 1.0)[0].item()
    print("The loss should be 500. It is", found)
    assert abs(found - 500) < 1e-2, "The loss is wrong."


# --------------------------------------------------------------------------------------------- exercise 7
@try_it("test_preference_loss")
def models_of_one_logit(preference_loss):
    """To the policy, token 1 has 3/4, to the reference 1/2. The chosen answer is 1 1, the rejected one 0, and then a 1 for padding."""

    def of_odds(odds):
        logit = torch.tensor([0.0, odds.log()])
        return lambda ids: (
            recorded.append((odds.item(), torch.is_grad_enabled())) or logit.expand(*ids.shape, 2)
        )

    recorded, new, old = [], of_odds(torch.tensor(3.0)), of_odds(torch.tensor(1.0))
    won = torch.tensor([[0, 1, 1]]), torch.tensor([[False, True, True]])
    lost = torch.tensor([[0, 0, 1]]), torch.tensor([[False, True, False]])
    # the chosen one gains 2 log(3/2) = 0.811, the rejected one log(1/2) = -0.693
    found = preference_loss(new, old, won, lost, 2.0)
    print(
        "The margin should be 2 · (0.811 + 0.693) = 3.008, the loss 0.048:",
        found[1].tolist(),
        found[0].item(),
    )
    assert abs(found[1].item() - 3.008) < 1e-3 and abs(found[0].item() - 0.048) < 1e-3, "One is wrong."
    print("Twice the policy, with gradients, and twice the reference, without:", recorded)
    assert sorted(recorded) == [(1, False), (1, False), (3, True), (3, True)], "The models run otherwise."


@try_it("test_preference_loss", "test_the_reference_is_frozen")
def a_policy_of_one_number(preference_loss):
    """The logit of token 1 is 0. The rejected answer is 0 0 0; the chosen one is 1: both push it up."""
    logit = torch.zeros(1, requires_grad=True)
    model = lambda ids: torch.cat([0 * logit, logit]).expand(*ids.shape, 2)  # noqa: E731
    won = torch.tensor([[0, 1]]), torch.tensor([[False, True]])
    lost = torch.tensor([[0, 0, 0, 0]]), torch.tensor([[False, True, True, True]])
    found, _ = preference_loss(model, model, won, lost, 1.0)
    print("The loss should know how it was computed:", found.requires_grad)
    assert found.requires_grad, "No gradient gets back to the policy."
    found.backward()
    print("The gradient should be -(1/2) · (1/2 + 3/2) = -1. It is", logit.grad.item())
    assert abs(logit.grad.item() + 1) < 1e-4, "The gradient is wrong: do both answers get one?"

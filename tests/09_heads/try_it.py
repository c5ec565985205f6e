"""Snippets for students: tables of weights and models that can be followed by hand, which fail if the answer is wrong."""

import math
from types import SimpleNamespace

import torch

from gradekit.checks import try_it


# --------------------------------------------------------------------------------------------- exercise 1
@try_it("test_previous_token_score")
def two_tables(previous_token_score):
    """Two tables. In the first, 0.4 and 0.2 lie one back, in the second 1 and 0.5."""
    one = [[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.1, 0.2, 0.7]]
    other = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]
    both = torch.tensor([[one], [other]])  # (2, 1, 3, 3)
    found = previous_token_score(both)
    print("The scores should be [[0.3], [0.75]]. They are", found.tolist())
    assert found.shape == (2, 1), f"The scores have shape {tuple(found.shape)}, not (2, 1)."
    assert torch.allclose(found, torch.tensor([[0.3], [0.75]])), "The scores are wrong."
    assert both.equal(torch.tensor([[one], [other]])), "Your function changed its input."


# --------------------------------------------------------------------------------------------- exercise 2
@try_it("test_induction_score")
def period_2_in_six_tokens(induction_score):
    """a b a b a b: queries 2, 3, 4 and 5 should look at keys 1, 2, 3 and 4, where 0.9, 0.6, 0.3 and 0.2 lie."""
    table_6 = torch.eye(6)
    table_6[1] = torch.tensor([0.8, 0.2, 0.0, 0.0, 0.0, 0.0])
    table_6[2] = torch.tensor([0.1, 0.9, 0.0, 0.0, 0.0, 0.0])
    table_6[3] = torch.tensor([0.2, 0.2, 0.6, 0.0, 0.0, 0.0])
    table_6[4] = torch.tensor([0.1, 0.1, 0.5, 0.3, 0.0, 0.0])
    table_6[5] = torch.tensor([0.1, 0.1, 0.1, 0.1, 0.2, 0.4])
    found = induction_score(torch.stack([table_6, torch.eye(6)])[:, None], 2)
    print(
        "The scores, of this table and of one in which each looks at itself, should be [[0.5], [0]]:",
        found.tolist(),
    )
    assert found.shape == (2, 1), f"The scores have shape {tuple(found.shape)}, not (2, 1)."
    assert torch.allclose(found, torch.tensor([[0.5], [0.0]])), "The scores are wrong."


@try_it("test_induction_score", "test_nothing_is_repeated")
def six_tokens_of_period_6_and_7(induction_score):
    """In six tokens, nothing is repeated after 6 or 7."""
    for round_of in (6, 7):
        said = None
        try:
            induction_score(torch.eye(6), round_of)
        except ValueError as error:
            said = str(error)
        print(f"There should be a ValueError that names 6 and {round_of}:", said)
        assert said is not None, "There is no ValueError."
        assert "6" in said and str(round_of) in said, "The message does not name both numbers."


# --------------------------------------------------------------------------------------------- exercise 3
@try_it("test_position_losses")
def three_to_one(position_losses):
    """The right token has 3/4 and 1/4 at position 0, and at position 1 one half, and e to the power of -1000."""
    log = math.log(3)
    said = torch.tensor([[[log, 0.0], [0.0, 0.0], [log, 0.0]], [[0.0, log], [0.0, 1000.0], [log, 0.0]]])
    found = position_losses(said, torch.tensor([[0, 0, 1], [1, 0, 0]]))
    print(
        "The losses should be [(0.288 + 1.386) / 2, (0.693 + 1000) / 2] = [0.837, 500.347]:", found.tolist()
    )
    assert found.shape == (2,), f"The losses have shape {tuple(found.shape)}, not (2,)."
    assert torch.allclose(found, torch.tensor([0.837, 500.347]), atol=1e-3), "The losses are wrong."


@try_it("test_position_losses")
def two_halves(half_losses):
    """Period 3: 1 and 3 belong to the first half, 4 and 6 to the second, and 90 to neither."""
    found = half_losses(torch.tensor([1.0, 3.0, 90.0, 4.0, 6.0]), 3)
    print("The means should be (2.0, 5.0). They are", found)
    assert isinstance(found, tuple), f"The result is a {type(found).__name__}, not a tuple."
    assert all(isinstance(half, float) for half in found), "The means are not floats."
    assert found == (2.0, 5.0), "The means are wrong."


# --------------------------------------------------------------------------------------------- exercise 4
@try_it("test_look_back")
def three_positions_and_strength_4(look_back):
    """Three positions: position 1 scores 4 with 0, position 2 scores 4 with 1, and all else is 0."""
    asked, offered = look_back(3, 4.0)
    found = asked @ offered.T / asked.shape[1] ** 0.5
    print("The scores should be [[0, 0, 0], [4, 0, 0], [0, 4, 0]]. They are", found.tolist())
    right = torch.tensor([[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]])
    assert torch.allclose(found, right, atol=1e-4), "The scores are wrong."


# --------------------------------------------------------------------------------------------- exercise 5
@try_it("test_induction_by_hand")
def a_b_a(induction_by_hand):
    """Tokens 0, 1, 0 and the strength ln 3: a perfect match counts three times as much as none."""
    found = induction_by_hand(torch.tensor([0, 1, 0]), 5, math.log(3))
    # after head 1, position 1 knows that 0 came before it; position 2 has 1/4 of 0 and 3/4 of 1
    # query 2 compares 0 with that, so its weights are as 1 to 3 to the root of the root of 3
    one = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.25, 0.75, 0.0]]
    two = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.188, 0.564, 0.248]]
    out = [[1.0, 0.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0, 0.0], [0.436, 0.564, 0.0, 0.0, 0.0]]
    for what, right, yours in zip(["predicted", "first", "second"], [out, one, two], found, strict=True):
        print(f"{what} should be\n{torch.tensor(right)}. It is\n{yours}")
        assert yours.shape == torch.tensor(right).shape, f"`{what}` has the wrong shape."
        assert torch.allclose(yours, torch.tensor(right), atol=1e-3), f"`{what}` is wrong."


@try_it("test_induction_by_hand")
def a_b_a_by_default(induction_by_hand):
    """By default the strength is 100, so the second 0 looks at position 1 with a weight of 1, up to rounding."""
    some = torch.tensor([0, 1, 0])
    found = induction_by_hand(some, 5)[2][2, 1].item()
    print(f"The weight should be 1.0000000. It is {found:.7f}.")
    assert found > 0.999999, "The strength is not 100 by default."
    assert some.tolist() == [0, 1, 0], "Your function changed the tokens."


# --------------------------------------------------------------------------------------------- exercise 6
@try_it("test_ablate")
def head_0_of_three(ablate):
    """Two sequences, three heads, two positions: head 0 outputs (0, 1), (2, 3), (12, 13), (14, 15), with the mean (7, 8)."""
    put_out = torch.arange(24.0).reshape(2, 3, 2, 2)
    for kinds, right in [((), [0.0, 0.0]), (("zero",), [0.0, 0.0]), (("mean",), [7.0, 8.0])]:
        found = ablate(put_out, 0, *kinds)
        print(f"With {kinds or 'no kind'}, head 0 should be {right} everywhere:", found[:, 0].tolist())
        assert torch.equal(found[:, 0], torch.tensor(right).expand(2, 2, 2)), "Head 0 is wrong."
        assert torch.equal(found[:, 1:], torch.arange(24.0).reshape(2, 3, 2, 2)[:, 1:]), (
            "Another head changed."
        )
        assert torch.equal(put_out, torch.arange(24.0).reshape(2, 3, 2, 2)), (
            "Your function changed its input."
        )


@try_it("test_ablate", "test_kinds")
def a_kind_called_median(ablate):
    """There is no kind called median."""
    said = None
    try:
        ablate(torch.ones(1, 1, 1, 1), 0, "median")
    except ValueError as error:
        said = str(error)
    print("There should be a ValueError that names median:", said)
    assert said is not None and "median" in said, "There is no ValueError that names it."


# --------------------------------------------------------------------------------------------- exercise 7
@try_it("test_losses_without")
def losses_that_add_up(losses_without):
    """The heads of three layers output 1 and 2, 4 and 8, 16 and 32, and the loss is their sum, 63."""

    class Heads:
        layers, num_heads = [0, 1, 2], 2

        def __call__(self, tokens, edit=lambda layer, outputs: outputs):
            recorded.append(torch.is_grad_enabled())
            loss = torch.tensor([100.0, 100.0, 0.0, 0.0])  # of four positions; only 2 is in the second half
            for layer in self.layers:
                put_out = torch.zeros(1, 2, 4, 1)  # (batch, heads, length, d_head)
                put_out[0, :, 2, 0] = torch.tensor([1.0, 2.0]) * 4**layer
                loss = loss + edit(layer, put_out).sum(dim=(1, 3))
            return torch.stack([-loss, torch.log1p(-torch.exp(-loss))], dim=-1), None

    recorded, zeros = [], torch.zeros(1, 4, dtype=torch.int64)
    # the mean over four positions is a quarter, so it leaves a quarter of the head's output
    for kinds, share in [((), 1.0), (("zero",), 1.0), (("mean",), 0.75)]:
        found, right = (
            losses_without(Heads(), zeros, *kinds),
            63 - share * 2.0 ** torch.arange(6).reshape(3, 2),
        )
        print(f"With {kinds or 'no kind'}, the losses should be {right.tolist()}. They are {found.tolist()}.")
        assert found.shape == (3, 2) and torch.allclose(found, right, atol=1e-3), "The losses are wrong."
    assert not any(recorded), "Gradients are on."


# --------------------------------------------------------------------------------------------- exercise 8
@try_it("test_logit_lens")
def one_three_nine_ten(logit_lens):
    """A vector of one number: 1 at first, then the layers add 2, 6 and 1. The norm adds 5."""
    chain = SimpleNamespace(
        embedding=lambda ids: ids[..., None].float(),
        layers=[lambda x: (x + 1, None), lambda x: (2 * x, None), lambda x: (0 * x + 1, None)],
        norm=lambda x: x + 5,
        unembed=lambda x: torch.cat([10 * x, -x], dim=-1),
    )
    found = logit_lens(chain, torch.tensor([[1]]))
    print("1, 3, 9 and 10 should be seen as [60, -6], [80, -8], [140, -14] and [150, -15]:", found.tolist())
    assert found.shape == (4, 1, 1, 2), f"The shape is {tuple(found.shape)}, not (4, 1, 1, 2)."
    assert found[:, 0, 0].tolist() == [[60, -6], [80, -8], [140, -14], [150, -15]], "A view is wrong."

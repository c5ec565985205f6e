"""Small examples that show students what is wrong (see docs/writing-checks.md)."""

import math

import torch

from gradekit.checks import try_it


# ---------------------------------------------------------------------------------------------- exercise 1
@try_it("test_differences")
def two_and_three(differences):
    """Two vectors of a, three of b, each of one number: a table of 2 × 3 differences."""
    left, right = torch.tensor([[10.0], [0.0]]), torch.tensor([[1.0], [2.0], [3.0]])
    found = differences(left, right)
    print("The shape should be (2, 3, 1). It is", tuple(found.shape))
    assert found.shape == (2, 3, 1), "Not every vector of a meets every vector of b on axes of their own."
    print("You should get 9 8 7 and -1 -2 -3. You get", found.squeeze(-1).tolist())
    assert found.squeeze(-1).tolist() == [[9.0, 8.0, 7.0], [-1.0, -2.0, -3.0]], "The differences are wrong."


@try_it("test_differences", "test_inputs_unchanged_and_dtype_kept")
def same_vectors_afterwards(differences):
    """float64 vectors of ones: they are still ones afterwards, and their differences are float64."""
    left, right = torch.ones(2, 3, dtype=torch.float64), torch.ones(1, 3, dtype=torch.float64)
    found = differences(left, right)
    print("Both should still be ones:", left.tolist(), right.tolist())
    assert bool((left == 1).all() and (right == 1).all()), "Your function changed a or b."
    print("The dtype should be torch.float64. It is", found.dtype)
    assert found.dtype == torch.float64, "The vectors are float64, but your result isn't."


# ---------------------------------------------------------------------------------------------- exercise 2
@try_it("test_stable_softmax")
def one_to_three(stable_softmax):
    """Two numbers that differ by ln 3: their weights are 1 to 3."""
    found = stable_softmax(torch.tensor([[0.0, math.log(3)], [0.0, 0.0]]), -1)
    print("You should get [[0.25, 0.75], [0.5, 0.5]]. You get", found.tolist())
    right = torch.tensor([[0.25, 0.75], [0.5, 0.5]])
    assert torch.allclose(found, right, atol=1e-4), "The weights are wrong."


@try_it("test_stable_softmax", "test_any_axis")
def along_the_columns(stable_softmax):
    """With dim=0, the weights of the first column are equal, and those of the second are 3 to 1."""
    found = stable_softmax(torch.tensor([[0.0, math.log(3)], [0.0, 0.0]]), dim=0)
    print("You should get [[0.5, 0.75], [0.5, 0.25]]. You get", found.tolist())
    right = torch.tensor([[0.5, 0.75], [0.5, 0.25]])
    assert torch.allclose(found, right, atol=1e-4), "The weights of a column are wrong."


@try_it("test_stable_softmax", "test_large_numbers")
def a_thousand(stable_softmax):
    """1000 above the rest, or 1000 below another row."""
    found = stable_softmax(torch.tensor([[0.0, 0.0, 0.0, 1000.0]]), -1)
    print("You should get [[0, 0, 0, 1]]. You get", found.tolist())
    assert found.tolist() == [[0.0, 0.0, 0.0, 1.0]], "A power of e is too large, or was cut off."
    found = stable_softmax(torch.tensor([[1000.0, 1001.0], [0.0, 0.0]]), -1)
    print("You should get about [[0.27, 0.73], [0.5, 0.5]]. You get", found.tolist())
    right = torch.tensor([[0.2689, 0.7311], [0.5, 0.5]])
    assert torch.allclose(found, right, atol=1e-3), "A row depends on how large the numbers are."


@try_it("test_stable_softmax", "test_input_unchanged_and_dtype_kept")
def same_numbers_afterwards(stable_softmax):
    """float64 ones: they are still ones afterwards, and their weights are float64."""
    numbers = torch.ones(2, 2, dtype=torch.float64)
    found = stable_softmax(numbers, -1)
    print("They should still be ones:", numbers.tolist())
    assert bool((numbers == 1).all()), "Your function changed x."
    print("The dtype should be torch.float64. It is", found.dtype)
    assert found.dtype == torch.float64, "The numbers are float64, but your weights aren't."


# ---------------------------------------------------------------------------------------------- exercise 3
@try_it("test_masked_mean")
def two_of_three(masked_mean):
    """Two sentences of one number per token: 2, 4 and padding; 6 and two times padding, at the start."""
    numbers = torch.tensor([[[2.0], [4.0], [90.0]], [[90.0], [90.0], [6.0]]])
    found = masked_mean(numbers, torch.tensor([[True, True, False], [False, False, True]]))
    print("You should get [[3], [6]]. You get", found.tolist())
    assert found.tolist() == [[3.0], [6.0]], "It is not the mean of the tokens alone."


@try_it("test_masked_mean", "test_sentence_without_tokens")
def only_padding(masked_mean):
    """One sentence of padding alone."""
    found = masked_mean(torch.tensor([[[5.0], [7.0]]]), torch.tensor([[False, False]]))
    print("You should get [[0]]. You get", found.tolist())
    assert found.tolist() == [[0.0]], "0 divided by 0 is not a number."


@try_it("test_masked_mean", "test_inputs_unchanged_and_dtype_kept")
def same_sentence_afterwards(masked_mean):
    """A sentence of a token and padding, in float64, is the same afterwards."""
    numbers = torch.tensor([[[5.0], [7.0]]], dtype=torch.float64)
    found = masked_mean(numbers, torch.tensor([[True, False]]))
    print("x should still be [[[5], [7]]]. It is", numbers.tolist())
    assert numbers.tolist() == [[[5.0], [7.0]]], "Your function changed x."
    print("The dtype should be torch.float64. It is", found.dtype)
    assert found.dtype == torch.float64, "x is float64, but your result isn't."


@try_it("test_masked_mean", "test_inputs_unchanged_and_dtype_kept")
def gradient_of_padding(masked_mean):
    """A sentence of padding alone has zeros as gradients, beside a sentence with one token."""
    numbers = torch.tensor([[[5.0], [7.0]], [[4.0], [8.0]]], requires_grad=True)
    masked_mean(numbers, torch.tensor([[False, False], [True, False]])).sum().backward()
    print("The gradient of x should be [[[0], [0]], [[1], [0]]]. It is", numbers.grad.tolist())
    assert numbers.grad.tolist() == [[[0.0], [0.0]], [[1.0], [0.0]]], "Somewhere you divide by 0."


# ---------------------------------------------------------------------------------------------- exercise 4
@try_it("test_affine")
def names_and_shapes(Affine):
    """A layer of width 2 has two parameters, each with two numbers."""
    found = {name: tuple(value.shape) for name, value in Affine(2).named_parameters()}
    print("You should have {'scale': (2,), 'shift': (2,)}. You have", found)
    assert found == {"scale": (2,), "shift": (2,)}, "An optimizer wouldn't find what it should learn."


@try_it("test_affine")
def a_new_layer(Affine):
    """A new layer returns what it gets."""
    found = Affine(2)(torch.tensor([[3.0, 4.0]]))
    print("You should get [[3, 4]]. You get", found.tolist())
    assert found.tolist() == [[3.0, 4.0]], "scale should begin as ones, and shift as zeros."


@try_it("test_affine")
def times_ten_plus_one(Affine):
    """With a scale of 10 and 100 and a shift of 1 and 2, 3 and 4 become 31 and 402."""
    module = Affine(2)
    module.load_state_dict({"scale": torch.tensor([10.0, 100.0]), "shift": torch.tensor([1.0, 2.0])})
    found = module(torch.tensor([[3.0, 4.0]]))
    print("You should get [[31, 402]]. You get", found.tolist())
    assert found.tolist() == [[31.0, 402.0]], "It is not x · scale + shift."


@try_it("test_affine", "test_gradients_and_dtype")
def gradients_of_both(Affine):
    """Both parameters get a gradient, and x keeps its values."""
    module, numbers = Affine(2), torch.tensor([[3.0, 4.0]])
    with torch.no_grad():
        module.scale.fill_(2)
    module(numbers).sum().backward()
    print("The gradients should be [3, 4] and [1, 1]:", module.scale.grad, module.shift.grad)
    assert module.scale.grad.tolist() == [3.0, 4.0], "The gradient of scale is wrong."
    assert module.shift.grad.tolist() == [1.0, 1.0], "The gradient of shift is wrong."
    print("x should still be [[3, 4]]:", numbers.tolist())
    assert numbers.tolist() == [[3.0, 4.0]], "Your forward changed x."

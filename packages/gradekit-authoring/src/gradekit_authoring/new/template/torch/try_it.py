"""Lines for students to try: small examples that can be followed by hand, and that fail if the answer is wrong."""

import torch

from gradekit.checks import try_it


@try_it("test_normalized")
def one_and_five(normalized):
    """The mean of 1 and 5 is 3 and their standard deviation is 2, so they become -1 and 1, and so do 1 and 9."""
    numbers = torch.tensor([[1.0, 5.0], [1.0, 9.0]], dtype=torch.float64)
    found = normalized(numbers, eps=0.0)
    print("You should get [[-1, 1], [-1, 1]]. You get", found.tolist())
    assert torch.allclose(found.float(), torch.tensor([-1.0, 1.0])), "The output is not (x - μ) / σ."
    assert found.dtype == torch.float64, f"x is float64, but the output is {found.dtype}."
    print("x should still be [[1, 5], [1, 9]]. It is", numbers.tolist())
    assert numbers.tolist() == [[1, 5], [1, 9]], "Your function changed x."


@try_it("test_normalized", "test_eps")
def eps_of_twelve(normalized):
    """The variance of 1 and 5 is 4. With an eps of 12, they are divided by √(4 + 12) = 4."""
    found = normalized(torch.tensor([1.0, 5.0]), eps=12.0)
    print("You should get [-0.5, 0.5]. You get", found.tolist())
    assert torch.allclose(found, torch.tensor([-0.5, 0.5])), "You don't divide by √(σ² + ε)."

"""Wrong answers to exercise 5, `score_std`."""

from gradekit.checks import Mistakes

SCALE = "        scores = scores / math.sqrt(d_k)"

wrong = Mistakes()

wrong.about("test_without_the_scale")
wrong("variance", "scores.std()", "scores.var()")
wrong.says("You return the variance. The standard deviation is its square root.")
wrong("always_scaled", "if scaled:", "if True:")
wrong.says("You divide by the square root of d_k even if `scaled` is false.")
wrong("mean_of_the_scores", "scores.std()", "scores.mean()")
wrong.says(
    "You return the mean of the scores, which is about 0. Return their standard deviation.",
    uses=("*mean",),
    lacks=("*std", "*var", "*pow*", "*square*", "*abs*"),
)
wrong("uniform_numbers", "q = torch.randn(pairs, d_k)", "q = torch.rand(pairs, d_k)")
wrong.edit("k = torch.randn(pairs, d_k)", "k = torch.rand(pairs, d_k)")
wrong.says("You draw numbers between 0 and 1, whose mean is not 0.")
wrong.says("Draw standard-normal numbers with `torch.randn`.", uses=("*rand",), lacks=("*randn", "*normal"))

wrong.about("test_without_the_scale", "test_with_the_scale")
wrong("mean_distance", "scores.std()", "scores.abs().mean()")
wrong.says("You return the mean of the absolute scores. Return their standard deviation.")
wrong("scaled_the_wrong_way_round", "if scaled:", "if not scaled:")
wrong.says("You divide by the square root of d_k if `scaled` is false. Divide if it is true.")
wrong("uniform_vectors", "q = torch.randn", "q = torch.rand")
wrong.edit("k = torch.randn", "k = torch.rand")
wrong.says("Your vectors are uniform between 0 and 1 (torch.rand). Draw them standard normal (torch.randn).")
wrong("query_with_itself", "(q * k)", "(q * q)")
wrong.says("You multiply each vector by itself. The query and the key are two independent vectors.")
wrong("products_not_summed", ".sum(dim=-1)", "")
wrong.says("You measure the spread of the individual products. A score is their sum over the width.")
wrong("products_averaged", ".sum(dim=-1)", ".mean(dim=-1)")
wrong.says("You average the products over the width. A dot product is their sum.")
wrong("summed_over_the_pairs", "(q * k).sum(dim=-1)", "(q * k).sum(dim=0)")
wrong.says("You sum over the pairs. Sum over the width, the last axis.")
wrong("too_few_pairs", "10_000", "4")
wrong.says("You draw too few pairs, so the result is mostly chance. Draw at least 10 000.")
wrong.costs("So few pairs measure nothing.", "too_few_pairs")

wrong.about("test_with_the_scale")
wrong("never_scaled", SCALE, "        pass")
wrong.says("You never divide by the square root of d_k, not even if `scaled` is true.")
wrong("scaled_by_d_k", "math.sqrt(d_k)", "d_k")
wrong.says("You divide by d_k. Divide by its square root.")

wrong.about("test_is_measured")
wrong("formula_not_measured", "return scores.std().item()", "return 1.0 if scaled else math.sqrt(d_k)")
wrong.says("You compute the number from the formula. Measure it on random vectors.")

wrong.about("test_returns_a_float")
wrong("tensor_returned", ".item()", "")
wrong.says("You return a tensor. Convert it to a float with `.item()`.")

"""Wrong answers to exercise 5, `score_std`."""

from gradekit.checks import Mistake

SCALE = "        scores = scores / math.sqrt(d_k)"

MISTAKES = [
    Mistake(
        "variance",
        cell="score_std",
        edits=[("scores.std()", "scores.var()")],
        about=["test_without_the_scale"],
        sentence="You return the variance. The standard deviation is its square root.",
    ),
    Mistake(
        "mean_distance",
        cell="score_std",
        edits=[("scores.std()", "scores.abs().mean()")],
        about=["test_without_the_scale", "test_with_the_scale"],
        sentence="You return the mean of the absolute scores. Return their standard deviation.",
    ),
    Mistake(
        "never_scaled",
        cell="score_std",
        edits=[(SCALE, "        pass")],
        about=["test_with_the_scale"],
        sentence="You never divide by the square root of d_k, not even if `scaled` is true.",
    ),
    Mistake(
        "always_scaled",
        cell="score_std",
        edits=[("if scaled:", "if True:")],
        about=["test_without_the_scale"],
        sentence="You divide by the square root of d_k even if `scaled` is false.",
    ),
    Mistake(
        "scaled_the_wrong_way_round",
        cell="score_std",
        edits=[("if scaled:", "if not scaled:")],
        about=["test_without_the_scale", "test_with_the_scale"],
        sentence="You divide by the square root of d_k if `scaled` is false. Divide if it is true.",
    ),
    Mistake(
        "scaled_by_d_k",
        cell="score_std",
        edits=[("math.sqrt(d_k)", "d_k")],
        about=["test_with_the_scale"],
        sentence="You divide by d_k. Divide by its square root.",
    ),
    Mistake(
        "uniform_vectors",
        cell="score_std",
        edits=[("q = torch.randn", "q = torch.rand"), ("k = torch.randn", "k = torch.rand")],
        about=["test_without_the_scale", "test_with_the_scale"],
        sentence="Your vectors are uniform between 0 and 1 (torch.rand). "
        "Draw them standard normal (torch.randn).",
    ),
    Mistake(
        "query_with_itself",
        cell="score_std",
        edits=[("(q * k)", "(q * q)")],
        about=["test_without_the_scale", "test_with_the_scale"],
        sentence="You multiply each vector by itself. The query and the key are two independent vectors.",
    ),
    Mistake(
        "products_not_summed",
        cell="score_std",
        edits=[(".sum(dim=-1)", "")],
        about=["test_without_the_scale", "test_with_the_scale"],
        sentence="You measure the spread of the individual products. A score is their sum over the width.",
    ),
    Mistake(
        "products_averaged",
        cell="score_std",
        edits=[(".sum(dim=-1)", ".mean(dim=-1)")],
        about=["test_without_the_scale", "test_with_the_scale"],
        sentence="You average the products over the width. A dot product is their sum.",
    ),
    Mistake(
        "summed_over_the_pairs",
        cell="score_std",
        edits=[("(q * k).sum(dim=-1)", "(q * k).sum(dim=0)")],
        about=["test_without_the_scale", "test_with_the_scale"],
        sentence="You sum over the pairs. Sum over the width, the last axis.",
    ),
    Mistake(
        "formula_not_measured",
        cell="score_std",
        edits=[("return scores.std().item()", "return 1.0 if scaled else math.sqrt(d_k)")],
        about=["test_is_measured"],
        sentence="You compute the number from the formula. Measure it on random vectors.",
    ),
    Mistake(
        "tensor_returned",
        cell="score_std",
        edits=[(".item()", "")],
        about=["test_returns_a_float"],
        sentence="You return a tensor. Convert it to a float with `.item()`.",
    ),
    Mistake(
        "too_few_pairs",
        cell="score_std",
        edits=[("10_000", "4")],
        about=["test_without_the_scale", "test_with_the_scale"],
        sentence="You draw too few pairs, so the result is mostly chance. Draw at least 10 000.",
    ),
    Mistake(
        "mean_of_the_scores",
        uses=("*mean",),
        lacks=("*std", "*var", "*sqrt*", "*pow*", "*square*", "*abs*"),
        cell="score_std",
        edits=[("scores.std()", "scores.mean()")],
        about=["test_without_the_scale"],
        sentence="You return the mean of the scores, which is about 0. Return their standard deviation.",
    ),
    Mistake(
        "uniform_numbers",
        uses=("*rand",),
        lacks=("*randn", "*normal"),
        cell="score_std",
        edits=[
            ("q = torch.randn(pairs, d_k)", "q = torch.rand(pairs, d_k)"),
            ("k = torch.randn(pairs, d_k)", "k = torch.rand(pairs, d_k)"),
        ],
        about=["test_without_the_scale"],
        sentence="You draw numbers between 0 and 1, whose mean is not 0. Draw standard-normal numbers with `torch.randn`.",
    ),
]

"""Wrong answers to exercise 1, `by_hand`."""

from gradekit.checks import Mistake

MISTAKES = [
    Mistake(
        "by_hand_no_scale",
        cell="by_hand",
        edits=[(" / math.sqrt(d_k)", "")],
        about=["test_scores"],
        sentence="You left out the division by the square root of the width.",
    ),
    Mistake(
        "by_hand_divided_by_width",
        cell="by_hand",
        edits=[("math.sqrt(d_k)", "d_k")],
        about=["test_scores"],
        sentence="You divided by the width. Divide by its square root.",
    ),
    Mistake(
        "by_hand_times_root",
        cell="by_hand",
        edits=[("/ math.sqrt(d_k)", "* math.sqrt(d_k)")],
        about=["test_scores"],
        sentence="You multiplied by the square root of the width. Divide by it.",
    ),
    Mistake(
        "by_hand_root_of_length",
        cell="by_hand",
        edits=[("q.shape[-1]", "q.shape[-2]")],
        about=["test_scores"],
        sentence="You divided by the square root of the number of tokens, 4. Use the width of the vectors, 8.",
    ),
    Mistake(
        "by_hand_softmax_over_queries",
        cell="by_hand",
        edits=[("dim=-1", "dim=-2")],
        about=["test_weights_follow_from_scores"],
        sentence="Your softmax runs over the queries, so the columns sum to 1. "
        "It should run over the keys, the last axis.",
    ),
    Mistake(
        "by_hand_softmax_over_heads",
        cell="by_hand",
        edits=[("dim=-1", "dim=1")],
        about=["test_weights_follow_from_scores"],
        sentence="Your softmax runs over the axis of the heads, so all weights are 1. "
        "It should run over the keys, the last axis.",
    ),
    Mistake(
        "by_hand_sigmoid",
        cell="by_hand",
        edits=[("torch.softmax(scores, dim=-1)", "torch.sigmoid(scores)")],
        about=["test_weights_follow_from_scores"],
        sentence="You applied a sigmoid to each score, so the rows don't sum to 1. Use a softmax.",
    ),
    Mistake(
        "by_hand_log_softmax",
        cell="by_hand",
        edits=[("torch.softmax", "torch.log_softmax")],
        about=["test_weights_follow_from_scores"],
        sentence="You used log_softmax, so your weights are logarithms. Use softmax.",
    ),
    Mistake(
        "by_hand_not_exponential",
        cell="by_hand",
        edits=[("torch.softmax(scores, dim=-1)", "scores / scores.sum(dim=-1, keepdim=True)")],
        about=["test_weights_follow_from_scores"],
        sentence="You divided the scores by their sum. The softmax applies the exponential function to them first.",
    ),
    Mistake(
        "by_hand_result_from_scores",
        cell="by_hand",
        edits=[("weights @ v", "scores @ v")],
        about=["test_result_follows_from_weights"],
        sentence="You multiplied v by the scores. Multiply it by the weights.",
    ),
    Mistake(
        "by_hand_weights_transposed",
        cell="by_hand",
        edits=[("weights @ v", "weights.transpose(-2, -1) @ v")],
        about=["test_result_follows_from_weights"],
        sentence="You multiplied v by the transposed weights. "
        "A row of the weights belongs to one query, so leave them as they are.",
    ),
    Mistake(
        "by_hand_plain_average",
        cell="by_hand",
        edits=[("weights @ v", "v.mean(dim=-2, keepdim=True).expand_as(v)")],
        about=["test_result_follows_from_weights"],
        sentence="Your result is the plain average of v, the same for every token. Use `weights` to weight the average.",
    ),
    Mistake(
        "by_hand_scaled_twice",
        cell="by_hand",
        edits=[("torch.softmax(scores, dim=-1)", "torch.softmax(scores / math.sqrt(d_k), dim=-1)")],
        about=["test_weights_follow_from_scores"],
        sentence="You divided by the square root of d_k twice: in the scores, and again in the weights.",
    ),
]

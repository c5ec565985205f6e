"""Wrong answers to exercise 1, `by_hand`."""

from gradekit.checks import Mistakes

wrong = Mistakes("by_")

wrong.about("test_scores")
wrong("hand_no_scale", " / math.sqrt(d_k)", "")
wrong.says(
    "Your scores are not divided by the square root of the width: they are those of `q @ k.transpose(-2, -1)`."
)
wrong("hand_divided_by_width", "math.sqrt(d_k)", "d_k")
wrong.says("You divided by the width. Divide by its square root.")
wrong("hand_times_root", "/ math.sqrt(d_k)", "* math.sqrt(d_k)")
wrong.says("You multiplied by the square root of the width. Divide by it.")
wrong("hand_root_of_length", "q.shape[-1]", "q.shape[-2]")
wrong.says("You divided by the square root of the number of tokens, 4. Use the width of the vectors, 8.")

wrong.about("test_weights_follow_from_scores")
wrong("hand_softmax_over_queries", "dim=-1", "dim=-2")
wrong.says("Your softmax runs over the queries, so the columns sum to 1.")
wrong.says("It should run over the keys, the last axis.")
wrong("hand_softmax_over_heads", "dim=-1", "dim=1")
wrong.says("Your softmax runs over the axis of the heads, so all weights are 1.")
wrong.says("It should run over the keys, the last axis.")
wrong("hand_sigmoid", "torch.softmax(scores, dim=-1)", "torch.sigmoid(scores)")
wrong.says("You applied a sigmoid to each score, so the rows don't sum to 1. Use a softmax.")
wrong("hand_log_softmax", "torch.softmax", "torch.log_softmax")
wrong.says("You used log_softmax, so your weights are logarithms. Use softmax.")
wrong("hand_not_exponential", "torch.softmax(scores, dim=-1)", "scores / scores.sum(dim=-1, keepdim=True)")
wrong.says("You divided the scores by their sum. The softmax applies the exponential function to them first.")
wrong("hand_scaled_twice", "torch.softmax(scores, dim=-1)", "torch.softmax(scores / math.sqrt(d_k), dim=-1)")
wrong.says("You divided by the square root of d_k twice: in the scores, and again in the weights.")

wrong.about("test_result_follows_from_weights")
wrong("hand_result_from_scores", "weights @ v", "scores @ v")
wrong.says("You multiplied v by the scores. Multiply it by the weights.")
wrong("hand_weights_transposed", "weights @ v", "weights.transpose(-2, -1) @ v")
wrong.says("You multiplied v by the transposed weights.")
wrong.says("A row of the weights belongs to one query, so leave them as they are.")
wrong("hand_plain_average", "weights @ v", "v.mean(dim=-2, keepdim=True).expand_as(v)")
wrong.says("Your result is the plain average of v, the same for every token.")
wrong.says("Use `weights` to weight the average.")

wrong.unnamed(
    "Its values are too few and simple: other mistakes return them, too.", "hand_softmax_over_heads"
)

"""Wrong answers to exercise 4b, `adamw_step` and `cosine_rate`."""

from gradekit.checks import Mistakes

MEAN = "mean = b1 * mean + (1 - b1) * gradient"
SQUARE = "square = b2 * square + (1 - b2) * gradient**2"
DIRECTION = "direction = mean / (1 - b1**step) / ((square / (1 - b2**step)).sqrt() + eps)"
RETURN = "return weight - lr * (direction + decay * weight), mean, square"
RISE = "return lr * step / warmup"
FALL = "return lr / 2 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))"

wrong = Mistakes("adamw_")

wrong.about("test_first_step", "test_weight")
wrong("no_correction", DIRECTION, "direction = mean / (square.sqrt() + eps)")
wrong.says(
    "You don't divide the running means by 1 - beta ** step, so they are too small in the first steps."
)
wrong("only_mean_corrected", DIRECTION, "direction = mean / (1 - b1**step) / (square.sqrt() + eps)")
wrong.says("You correct the mean of the gradients, but not that of their squares.")
wrong("only_square_corrected", DIRECTION, "direction = mean / ((square / (1 - b2**step)).sqrt() + eps)")
wrong.says("You correct the mean of the squares, but not that of the gradients.")
wrong("no_root", DIRECTION, "direction = mean / (1 - b1**step) / (square / (1 - b2**step) + eps)")
wrong.says("You divide by the mean of the squares. Divide by its square root.")
wrong("up_the_hill", RETURN, "return weight + lr * (direction - decay * weight), mean, square")
wrong.says("Your weights follow the gradient instead of going against it.")
wrong("step_from_zero", "b1, b2 = betas", "b1, b2 = betas\n    step = step + 1")
wrong.says("You count one step too many: the first step is already number 1.")

wrong.about("test_weight")
wrong("eps_under_the_root", DIRECTION)
wrong.to("direction = mean / (1 - b1**step) / (square / (1 - b2**step) + eps).sqrt()")
wrong.says("You add eps under the root. It is added to the root.")
wrong("no_eps", DIRECTION, "direction = mean / (1 - b1**step) / (square / (1 - b2**step)).sqrt()")
wrong.says("You leave out eps, so a weight without a gradient becomes NaN.")
wrong("gradient_for_mean", DIRECTION)
wrong.to("direction = gradient / ((square / (1 - b2**step)).sqrt() + eps)")
wrong.says("You divide the gradient of this step. Divide the running mean of the gradients.")

wrong.about("test_decay", "test_weight")
wrong("decay_in_the_gradient", MEAN, "gradient = gradient + decay * weight\n    " + MEAN)
wrong.says("You add the decay to the gradient, where the division rescales it. AdamW keeps it apart.")
wrong("decay_without_lr", RETURN, "return weight - lr * direction - decay * weight, mean, square")
wrong.says("You don't multiply the decay by lr.")
wrong("no_decay", RETURN, "return weight - lr * direction, mean, square")
wrong.says("You leave out the weight decay.")
wrong("decay_backwards", RETURN, "return weight - lr * (direction - decay * weight), mean, square")
wrong.says("Your decay makes the weights larger. It should draw them toward 0.")

wrong.about("test_weight")
wrong("decay_after_the_step", RETURN)
wrong.to("return (weight - lr * direction) * (1 - lr * decay), mean, square")
wrong.says("You shrink the weight after its step. The decay is of the weight before the step.")

wrong.about("test_running_means")
wrong("returns_corrected", DIRECTION)
wrong.to(
    "mean, square = mean / (1 - b1**step), square / (1 - b2**step)\n    direction = mean / (square.sqrt() + eps)"
)
wrong.says("You return the corrected means. The next step needs the ones without a hat.")
wrong("square_of_the_mean", SQUARE, "square = b2 * square + (1 - b2) * mean**2")
wrong.says("You square the running mean. Square the gradient.")
wrong("not_squared", SQUARE, "square = b2 * square + (1 - b2) * gradient.abs()")
wrong.says("You average the absolute values of the gradients. Average their squares.")
wrong("added_up", MEAN, "mean = b1 * mean + gradient")
wrong.says("You add the gradient in full. The running mean takes only 1 - beta of it.")
wrong("shares_exchanged", MEAN, "mean = (1 - b1) * mean + b1 * gradient")
wrong.says("You exchange the shares: beta is the share of the old mean, 1 - beta that of the new gradient.")
wrong("betas_exchanged", "b1, b2 = betas", "b2, b1 = betas")
wrong.says("You exchange the two betas. The first belongs to the mean, the second to the squares.")

wrong.about("test_weight")
wrong("rate_ignored", RETURN, "return weight - 0.001 * (direction + decay * weight), mean, square")
wrong.says("You always use the same learning rate. Use lr.")

wrong.about("test_defaults_dtype_and_inputs_unchanged")
wrong("other_default_decay", "decay=0.01):", "decay=0.0):")
wrong.says("Your default for decay isn't 0.01.")
wrong("other_default_betas", "betas=(0.9, 0.999)", "betas=(0.9, 0.98)")
wrong.says("Your default for betas isn't (0.9, 0.999).")
wrong("other_default_eps", "eps=1e-8", "eps=1e-6")
wrong.says("Your default for eps isn't 1e-8.")
wrong("in_place", MEAN, "mean.mul_(b1).add_((1 - b1) * gradient)")
wrong.says("You write into `mean`, which was passed in. Make a new tensor.")
wrong("weight_in_place", RETURN)
wrong.to("weight -= lr * (direction + decay * weight)\n    return weight, mean, square")
wrong.says("You write into `weight`, which was passed in. Make a new tensor.")

wrong.about("test_cosine_rate")
wrong("no_warmup", "if step <= warmup:\n        " + RISE, "pass")
wrong.says("Your learning rate doesn't rise during the warm-up.")
wrong("whole_cosine", FALL, FALL.replace("math.pi", "2 * math.pi"))
wrong.says("Your cosine goes down and up again. Half of it, up to π, goes down.")
wrong("straight_down", FALL, "return lr * (steps - step) / (steps - warmup)")
wrong.says("Your learning rate falls along a line instead of a cosine.")
wrong("cosine_from_the_start", FALL, "return lr / 2 * (1 + math.cos(math.pi * step / steps))")
wrong.says(
    "Your cosine starts at step 0. It should start at the end of the warm-up, so that there is no jump."
)
wrong("longer_fall", FALL, "return lr / 2 * (1 + math.cos(math.pi * (step - warmup) / steps))")
wrong.says("Your rate isn't 0 in the last step. After the warm-up, steps - warmup steps are left.")
wrong("rise_from_zero", RISE, "return lr * (step - 1) / warmup")
wrong.says("Your rate is 0 in step 1. In step t of the warm-up it is t / warmup of lr.")
wrong("not_halved", FALL, "return lr * math.cos(math.pi / 2 * (step - warmup) / (steps - warmup))")
wrong.says("You take a quarter of a cosine. Half of it, from 1 to -1, is moved up by 1 and halved.")

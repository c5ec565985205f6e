"""Other right answers to exercise 4b, `adamw_step` and `cosine_rate`."""

from gradekit.checks import Alternatives

right = Alternatives("adamw_")

RATE = """

def cosine_rate(step, steps, lr, warmup):
    if step > warmup:
        return lr * (0.5 + 0.5 * float(np.cos(np.pi * (step - warmup) / (steps - warmup))))
    return step / warmup * lr
"""

right("as_in_torch").source(
    """
def adamw_step(weight, gradient, mean, square, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    weight = weight * (1 - lr * decay)
    mean = torch.lerp(mean, gradient, 1 - betas[0])
    square = (square * betas[1]).addcmul(gradient, gradient, value=1 - betas[1])
    denominator = square.sqrt() / (1 - betas[1] ** step) ** 0.5 + eps
    return weight.addcdiv(mean, denominator, value=-lr / (1 - betas[0] ** step)), mean, square
"""
    + RATE
)

right("with_copies").source(
    """
def adamw_step(weight, gradient, mean, square, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    weight, mean, square = weight.clone(), mean.clone(), square.clone()
    beta1, beta2 = betas
    mean *= beta1
    mean += (1 - beta1) * gradient
    square *= beta2
    square += (1 - beta2) * gradient.pow(2)
    m_hat = mean / (1 - beta1 ** step)
    s_hat = square / (1 - beta2 ** step)
    weight -= lr * decay * weight
    weight -= lr * m_hat / (torch.sqrt(s_hat) + eps)
    return [weight, mean, square]
"""
    + RATE
)

right("rate_with_cosine_squared").source("""
def adamw_step(weight, gradient, mean, square, step, lr, betas=(0.9, 0.999), eps=1e-8, decay=0.01):
    with torch.no_grad():
        m = gradient + betas[0] * (mean - gradient)
        s = gradient * gradient + betas[1] * (square - gradient * gradient)
        update = (m / (1 - betas[0] ** step)).div((s / (1 - betas[1] ** step)) ** 0.5 + eps)
        return weight.sub(lr * update).sub(lr * decay * weight), m, s


def cosine_rate(step, steps, lr, warmup):
    if warmup and step < warmup:
        return step * (lr / warmup)
    return lr * math.cos((step - warmup) / (steps - warmup) * math.pi / 2) ** 2
""")

"""Wrong answers to exercise 8, `logit_lens`."""

from gradekit.checks import mistakes_in, with_costs

VIEW = "views.append(model.unembed(model.norm(x)))"
FIRST = "views = [model.unembed(model.norm(x))]"
DEPTH = "test_every_depth"
mistake = mistakes_in("logit_lens", "lens_")

MISTAKES = [
    mistake(
        "no_norm",
        [(VIEW, "views.append(model.unembed(x))"), (FIRST, "views = [model.unembed(x)]")],
        [DEPTH],
        "You don't apply the final norm before `unembed`.",
    ),
    mistake(
        "norm_at_the_end_only",
        [(FIRST, "views = [model.unembed(x)]")],
        [DEPTH],
        "You don't apply the final norm to the embedding. The lens applies it at every depth.",
    ),
    mistake(
        "not_added",
        [("x = x + added", "x = added")],
        [DEPTH],
        "A layer returns what is to be *added* to x. You replace x by it.",
    ),
    mistake(
        "what_each_layer_adds",
        [(VIEW, "views.append(model.unembed(model.norm(added)))")],
        [DEPTH],
        "You look at what each layer adds. Look at the sum so far, x.",
    ),
    mistake(
        "norm_goes_on",
        [("x = x + added", "x = model.norm(x + added)")],
        [DEPTH],
        "You pass the normalized vectors on to the next layer. The norm is only for the view.",
    ),
    mistake(
        "layers_on_the_embedding",
        [("added, _ = layer(x)", "added, _ = layer(model.embedding(tokens))")],
        [DEPTH],
        "Every layer reads the embedding. It should read the sum of everything before it.",
    ),
    mistake(
        "no_embedding",
        [(FIRST, "views = []")],
        [DEPTH],
        "The view after the embedding is missing: there is one more view than layers.",
    ),
    mistake(
        "one_late",
        [
            (
                "views.append(model.unembed(model.norm(x)))",
                "views.append(model.unembed(model.norm(x - added)))",
            )
        ],
        [DEPTH],
        "You look before the layer has added its part, so the last layer is never seen.",
    ),
    mistake(
        "backwards",
        [("return torch.stack(views)", "return torch.stack(views[::-1])")],
        [DEPTH],
        "Your views begin with the last layer. The first one comes from the embedding.",
    ),
    mistake(
        "probabilities",
        [("return torch.stack(views)", "return torch.softmax(torch.stack(views), dim=-1)")],
        [DEPTH],
        "You return probabilities. Return logits.",
    ),
    mistake(
        "layers_second",
        [("torch.stack(views)", "torch.stack(views, dim=1)")],
        [DEPTH],
        "Your views are on axis 1. They should be on axis 0, before the batch.",
    ),
    mistake(
        "two_layers",
        [("for layer in model.layers:", "for layer in model.layers[:2]:")],
        [DEPTH],
        "You stop after two layers. The model may have any number.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "The first view, the number of views and what each of them shows are wrong.": [
            "lens_no_embedding",
            "lens_backwards",
            "lens_layers_second",
            "lens_two_layers",
        ],
    },
)

"""Wrong answers to exercise 8, `logit_lens`."""

from gradekit.checks import Mistakes

VIEW = "views.append(model.unembed(model.norm(x)))"
FIRST = "views = [model.unembed(model.norm(x))]"
DEPTH = "test_every_depth"
EVERY_VIEW = "The first view, the number of views and what each of them shows are wrong."

wrong = Mistakes("lens_")

wrong.about(DEPTH)
wrong("no_norm", VIEW, "views.append(model.unembed(x))")
wrong.edit(FIRST, "views = [model.unembed(x)]")
wrong.says("You don't apply the final norm before `unembed`.")
wrong("norm_at_the_end_only", FIRST, "views = [model.unembed(x)]")
wrong.says("You don't apply the final norm to the embedding. The lens applies it at every depth.")
wrong("not_added", "x = x + added", "x = added")
wrong.says("A layer returns what is to be *added* to x. You replace x by it.")
wrong("what_each_layer_adds", VIEW, "views.append(model.unembed(model.norm(added)))")
wrong.says("You look at what each layer adds. Look at the sum so far, x.")
wrong("norm_goes_on", "x = x + added", "x = model.norm(x + added)")
wrong.says("You pass the normalized vectors on to the next layer. The norm is only for the view.")
wrong("layers_on_the_embedding", "added, _ = layer(x)", "added, _ = layer(model.embedding(tokens))")
wrong.says("Every layer reads the embedding. It should read the sum of everything before it.")
wrong("no_embedding", FIRST, "views = []")
wrong.says("The view after the embedding is missing: there is one more view than layers.")
wrong.costs(EVERY_VIEW)
wrong("one_late")
wrong.edit("views.append(model.unembed(model.norm(x)))", "views.append(model.unembed(model.norm(x - added)))")
wrong.says("You look before the layer has added its part, so the last layer is never seen.")
wrong("backwards", "return torch.stack(views)", "return torch.stack(views[::-1])")
wrong.says("Your views begin with the last layer. The first one comes from the embedding.")
wrong.costs(EVERY_VIEW)
wrong("probabilities", "return torch.stack(views)", "return torch.softmax(torch.stack(views), dim=-1)")
wrong.says("You return probabilities. Return logits.")
wrong("layers_second", "torch.stack(views)", "torch.stack(views, dim=1)")
wrong.says("Your views are on axis 1. They should be on axis 0, before the batch.")
wrong.costs(EVERY_VIEW)
wrong("two_layers", "for layer in model.layers:", "for layer in model.layers[:2]:")
wrong.says("You stop after two layers. The model may have any number.")
wrong.costs(EVERY_VIEW)

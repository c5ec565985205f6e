"""Other right answers to exercise 8, `logit_lens`."""

from gradekit.checks import Alternatives

right = Alternatives("lens_")

right("streams_first").source("""
def logit_lens(model, tokens):
    streams = [model.embedding(tokens)]
    for layer in model.layers:
        streams.append(streams[-1] + layer(streams[-1])[0])
    return model.unembed(model.norm(torch.stack(streams)))
""")

right("joined_one_by_one").source("""
def logit_lens(model, tokens):
    def look(x):
        return model.unembed(model.norm(x))

    x = model.embedding(tokens)
    views = look(x).unsqueeze(0)
    for index in range(len(model.layers)):
        x = x + model.layers[index](x)[0]
        views = torch.cat([views, look(x).unsqueeze(0)])
    return views
""")

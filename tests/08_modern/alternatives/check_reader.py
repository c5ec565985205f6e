"""Other right answers to exercise 10, `check_reader`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("every_place_to_cut").source("""
def check_reader(new_reader):
    generator = torch.Generator().manual_seed(0)
    text, other = torch.randn(2, 3, 14, 4, generator=generator)
    expected, expected_of_other = new_reader()(text), new_reader()(other)
    cuts = [[0, i, j, 14] for i in range(1, 13) for j in range(i + 1, 14)] + [list(range(15))]
    for cut in cuts:
        first, second = new_reader(), new_reader()
        for start, stop in zip(cut, cut[1:]):
            a, b = first(text[:, start:stop]), second(other[:, start:stop])
            assert (a - expected[:, start:stop]).abs().max() < 5e-3, f"tokens {start} to {stop}"
            assert (b - expected_of_other[:, start:stop]).abs().max() < 5e-3, f"tokens {start} to {stop}, other text"
""")

right("random_cuts").source("""
def in_pieces(readers, texts, rng):
    places, outputs = [0] * len(texts), [[] for _ in texts]
    while any(place < text.shape[1] for place, text in zip(places, texts)):
        i = rng.randrange(len(texts))
        piece = texts[i][:, places[i] : places[i] + rng.choice([1, 1, 1, 2, 5])]
        if piece.shape[1]:
            outputs[i].append(readers[i](piece))
            places[i] += piece.shape[1]
    return [torch.cat(parts, 1) for parts in outputs]


def check_reader(new_reader):
    rng = random.Random(1)
    for trial in range(30):
        texts = [torch.randn(2, 16, 4), torch.randn(3, 20, 4)]
        right = [new_reader()(text) for text in texts]
        found = in_pieces([new_reader(), new_reader()], texts, rng)
        for one, other in zip(found, right):
            if one.shape != other.shape or not torch.allclose(one, other, atol=4e-3, rtol=0):
                raise AssertionError("the pieces have other outputs than the whole")
""")

right("one_property_after_another").source("""
def check_reader(new_reader):
    x = torch.randn(4, 12, 4)
    once, again = new_reader()(x), new_reader()(x)
    assert torch.allclose(once, again, rtol=0, atol=2e-3), "a new reader isn't empty"
    one_by_one = new_reader()
    for t in range(12):
        output = one_by_one(x[:, t : t + 1])
        assert torch.allclose(output, once[:, t : t + 1], rtol=0, atol=2e-3), f"token {t}, one by one"
        new_reader()(x[:2])
    for first in (1, 3, 6):
        reader = new_reader()
        assert torch.allclose(reader(x[:, :first]), once[:, :first], rtol=0, atol=2e-3)
        assert torch.allclose(reader(x[:, first : first + 4]), once[:, first : first + 4], rtol=0, atol=2e-3)
        assert torch.allclose(reader(x[:, first + 4 :]), once[:, first + 4 :], rtol=0, atol=2e-3)
""")

"""Other right answers to exercise 4, `cosine`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("normalised_first", "product = (u * v).sum(dim=-1)")
right.to("product = (F.normalize(u, dim=-1) * F.normalize(v, dim=-1)).sum(dim=-1)")
right.edit("return product / lengths.clamp(min=1e-30)", "return product")

right("einsum_and_where")
right.edit("(u * v).sum(dim=-1)", 'torch.einsum("...d,...d->...", *torch.broadcast_tensors(u, v))')
right.edit("return product / lengths.clamp(min=1e-30)")
right.to("return torch.where(lengths > 0, product / lengths, torch.zeros_like(product))")

right("nan_to_num", "product / lengths.clamp(min=1e-30)", "torch.nan_to_num(product / lengths)")
right(
    "sorted_without_the_word",
    "    similarity[place] = -torch.inf\n"
    "    top = torch.topk(similarity, k)\n"
    "    return [(words[i], score) for i, score in zip(top.indices.tolist(), top.values.tolist(), strict=True)]",
    "    pairs = [(other, score) for other, score in zip(words, similarity.tolist()) if other != word]\n"
    "    return sorted(pairs, key=lambda pair: pair[1], reverse=True)[:k]",
)

right("cosine_as_a_method_of_that_name").source("""
class Similarity:
    @staticmethod
    def cosine_similarity(u, v):
        return (u * v).sum(-1) / (u.norm(dim=-1) * v.norm(dim=-1)).clamp(min=1e-12)
def cosine_similarity(u, v):
    return Similarity.cosine_similarity(u, v)
def nearest_words(word, words, vectors, k=5):
    me = words.index(word)
    s = Similarity.cosine_similarity(vectors, vectors[me])
    s[me] = -torch.inf
    return [(words[i], x) for x, i in zip(*(t.tolist() for t in s.topk(k)))]
""")

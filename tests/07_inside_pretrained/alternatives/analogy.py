"""Other right answers to exercise 5, `analogy`."""

from gradekit.checks import Alternatives

right = Alternatives()

right("own_functions_and_a_set").source("""
def analogy(a, b, c, words, vectors, k=5):
    row = {word: number for number, word in enumerate(words)}
    target = vectors[row[c]] + (vectors[row[b]] - vectors[row[a]])
    unit = vectors / vectors.norm(dim=1, keepdim=True)
    similarity = unit @ (target / target.norm())
    found = []
    for number in similarity.argsort(descending=True).tolist():
        if words[number] not in {a, b, c} and len(found) < k:
            found.append((words[number], similarity[number].item()))
    return found
""")

right("own_cosine", "F.cosine_similarity(target, vectors, dim=-1)", "cosine_similarity(target, vectors)")

right("with_three_more", "    similarity[places] = -torch.inf\n", "")
right.edit("torch.topk(similarity, k)", "torch.topk(similarity, k + 3)")
right.edit("strict=True)]", "strict=True) if i not in places][:k]")

right("similarities_as_tensors").source("""
def analogy(a, b, c, words, vectors, k=5):
    i, j, l = map(words.index, (a, b, c))
    s = F.cosine_similarity((vectors[j] - vectors[i] + vectors[l])[None], vectors)
    order = [n for n in s.argsort(descending=True).tolist() if n not in (i, j, l)]
    return [(words[n], s[n]) for n in order[:k]]
""")

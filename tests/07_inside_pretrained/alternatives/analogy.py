"""Other right answers to exercise 4, `analogy`."""

from gradekit.checks import Alternative

ALTERNATIVES = [
    Alternative(
        "own_functions_and_a_set",
        cell="analogy",
        source="""
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
""",
    ),
    Alternative(
        "own_cosine",
        cell="analogy",
        edits=[("F.cosine_similarity(target, vectors, dim=-1)", "cosine_similarity(target, vectors)")],
    ),
    Alternative(
        "with_three_more",
        cell="analogy",
        edits=[
            ("    similarity[places] = -torch.inf\n", ""),
            ("torch.topk(similarity, k)", "torch.topk(similarity, k + 3)"),
            ("strict=True)]", "strict=True) if i not in places][:k]"),
        ],
    ),
    Alternative(
        "similarities_as_tensors",
        cell="analogy",
        source="""
def analogy(a, b, c, words, vectors, k=5):
    i, j, l = map(words.index, (a, b, c))
    s = F.cosine_similarity((vectors[j] - vectors[i] + vectors[l])[None], vectors)
    order = [n for n in s.argsort(descending=True).tolist() if n not in (i, j, l)]
    return [(words[n], s[n]) for n in order[:k]]
""",
    ),
]

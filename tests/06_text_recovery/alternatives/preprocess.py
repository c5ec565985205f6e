"""Other right answers to exercise 1, `preprocess`."""

from gradekit.checks import Alternative

ALTERNATIVES = [
    Alternative(
        "pre_one_line",
        cell="preprocess",
        source="""
def preprocess(text, lemmas):
    return [lemmas.get(w, w) for w in re.findall(r"\\w+", text.lower()) if w not in {"a", "an", "the"}]
""",
    ),
    Alternative(
        "pre_step_by_step",
        cell="preprocess",
        source="""
def preprocess(text, lemmas):
    tokens = tokenize(text)
    tokens = [token for token in tokens if any(letter.isalpha() or letter.isdigit() for letter in token)]
    tokens = [token.casefold() for token in tokens]
    tokens = list(filter(lambda token: token not in ARTICLES, tokens))
    for i, token in enumerate(tokens):
        if token in lemmas:
            tokens[i] = lemmas[token]
    return tokens
""",
    ),
    Alternative(
        "pre_lemma_first",
        cell="preprocess",
        edits=[
            ("word = token.lower()", "word = lemmas.get(token.lower(), token.lower())"),
            ("words.append(lemmas.get(word, word))", "words += [word]"),
        ],
    ),
    Alternative(
        "pre_lower_case_text", cell="preprocess", edits=[("tokenize(text)", "tokenize(text.lower())")]
    ),
    Alternative(
        "pre_a_list_of_its_own_class",
        cell="preprocess",
        source="""
class Words(list):
    def __str__(self):
        return " ".join(self)
def preprocess(text, lemmas):
    words = Words()
    for token in tokenize(text):
        token = token.lower()
        if token.isalnum() and token not in ARTICLES:
            words.append(lemmas.get(token, token))
    return words
""",
    ),
]

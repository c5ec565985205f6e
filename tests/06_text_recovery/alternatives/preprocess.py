"""Other right answers to exercise 1, `preprocess`."""

from gradekit.checks import Alternatives

right = Alternatives("pre_")

right("one_line").source("""
def preprocess(text, lemmas):
    return [lemmas.get(w, w) for w in re.findall(r"\\w+", text.lower()) if w not in {"a", "an", "the"}]
""")

right("step_by_step").source("""
def preprocess(text, lemmas):
    tokens = tokenize(text)
    tokens = [token for token in tokens if any(letter.isalpha() or letter.isdigit() for letter in token)]
    tokens = [token.casefold() for token in tokens]
    tokens = list(filter(lambda token: token not in ARTICLES, tokens))
    for i, token in enumerate(tokens):
        if token in lemmas:
            tokens[i] = lemmas[token]
    return tokens
""")

right("lemma_first", "word = token.lower()", "word = lemmas.get(token.lower(), token.lower())")
right.edit("words.append(lemmas.get(word, word))", "words += [word]")

right("lower_case_text", "tokenize(text)", "tokenize(text.lower())")

right("a_list_of_its_own_class").source("""
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
""")

"""Wrong answers to exercise 1, `preprocess`."""

from gradekit.checks import Mistakes

NEARLY_ALL_WORDS = "Every check compares a list of words, and this changes nearly all of them."

wrong = Mistakes()

wrong.about("test_case")
wrong("pre_case_kept", "token.lower()", "token")
wrong.says("You leave capitals as they are. Convert each word to lower case first.")
wrong("pre_articles_before_case", "if word in ARTICLES", "if token in ARTICLES")
wrong.says("You check for articles before you convert the word to lower case, so `The` isn't recognized.")
wrong("pre_lemma_before_case", "lemmas.get(word, word)", "lemmas.get(token, word)")
wrong.says("You look up the word with its capitals. The keys of the table are in lower case.")

wrong.about("test_punctuation")
wrong("pre_punctuation_kept", "if not token.isalnum():", "if token.isspace():")
wrong.says("You leave punctuation in. Remove tokens without a letter or a digit.")
wrong("pre_some_punctuation_kept", "if not token.isalnum():", 'if token in ".,?!":')
wrong.says("You remove only some punctuation marks. Remove every token without a letter or a digit.")
wrong("pre_digits_dropped", "isalnum", "isalpha")
wrong.says("You also remove numbers.")
wrong.says("Tokens made of digits stay: `isalnum` is true for them, `isalpha` is not.")
wrong("pre_split_at_spaces", "tokenize(text)", "text.split()")
wrong.says("You split at spaces, so a word followed by a comma is lost. Begin with `tokenize(text)`.")

wrong.about("test_articles")
wrong("pre_articles_kept", "        if word in ARTICLES:\n            continue\n", "")
wrong.says("You leave the articles in. Remove them.")
wrong("pre_only_the", "in ARTICLES", 'in ("the",)')
wrong.says("You remove only `the`. Remove `a` and `an` as well.")
wrong("pre_an_forgotten", "in ARTICLES", 'in ("a", "the")')
wrong.says("You forgot the article `an`.")
wrong("pre_articles_as_beginnings", "word in ARTICLES", "word.startswith(ARTICLES)")
wrong.says("You remove every word that begins with the letters of an article, such as `and` and `they`.")
wrong.says("Compare whole words.")
wrong("pre_articles_inside_words", "        if word in ARTICLES:\n            continue\n")
wrong.to(
    '        for article in ("the", "an", "a"):\n            word = word.replace(article, "")\n'
    "        if not word:\n            continue\n",
)
wrong.says("You remove the letters of the articles inside words. Compare whole words.")
wrong.costs(NEARLY_ALL_WORDS)
wrong("pre_removed_while_looping", "    return words")
wrong.to(
    "    for word in words:\n        if word in ARTICLES:\n            words.remove(word)\n    return words"
)
wrong.edit("        if word in ARTICLES:\n            continue\n")
wrong.says("You remove from a list while you loop over it, so the word after an article is skipped.")
wrong.says("Of two articles in a row, one stays. Make a new list.")

wrong.about("test_inflection")
wrong("pre_inflection_kept", "lemmas.get(word, word)", "word")
wrong.says("You leave inflected forms as they are. Look each word up in `lemmas`.")
wrong("pre_global_table", "lemmas.get(word, word)", "LEMMAS.get(word, word)")
wrong.says("You look words up in the table `LEMMAS` of the grammar. Use the argument `lemmas`.")
wrong("pre_unknown_dropped")
wrong.edit("words.append(lemmas.get(word, word))", "words.extend([lemmas[word]] if word in lemmas else [])")
wrong.says("You drop words that aren't in the table. They stay as they are.")
wrong.costs(NEARLY_ALL_WORDS)
wrong("pre_unknown_is_an_error", "lemmas.get(word, word)", "lemmas[word]")
wrong.says("Your code fails for a word that isn't in the table. Such words stay as they are.")
wrong.costs(NEARLY_ALL_WORDS)
wrong("pre_lemma_of_the_lemma", "words.append(lemmas.get(word, word))")
wrong.to("while word in lemmas:\n            word = lemmas[word]\n        words.append(word)")
wrong.says("You look up the lemma again, as if it were an inflected form. Look each word up once.")
wrong("pre_final_s_cut", "lemmas.get(word, word)", 'lemmas.get(word, word.removesuffix("s"))')
wrong.says("You cut an s off words that aren't in the table.")
wrong.says("They stay as they are: think of `bus` and `his`.")

wrong.about("test_the_whole_pipeline")
wrong("pre_one_string", "return words", 'return " ".join(words)')
wrong.says("You return one string. Return the list of the words.")
wrong.costs(NEARLY_ALL_WORDS)
wrong("pre_each_word_once", "return words", "return list(dict.fromkeys(words))")
wrong.says("You keep each word only once. Keep repeated words.")
wrong("pre_sorted", "return words", "return sorted(words)")
wrong.says("You sort the words. Keep them in the order of the text.")
wrong.costs(NEARLY_ALL_WORDS)

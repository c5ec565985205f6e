"""Wrong answers to exercise 1, `preprocess`."""

from gradekit.checks import mistakes_in, with_costs

mistake = mistakes_in("preprocess")

MISTAKES = [
    mistake(
        "pre_case_kept",
        [("token.lower()", "token")],
        "test_case",
        "You leave capitals as they are. Convert each word to lower case first.",
    ),
    mistake(
        "pre_articles_before_case",
        [("if word in ARTICLES", "if token in ARTICLES")],
        "test_case",
        "You check for articles before you convert the word to lower case, so `The` isn't recognized.",
    ),
    mistake(
        "pre_lemma_before_case",
        [("lemmas.get(word, word)", "lemmas.get(token, word)")],
        "test_case",
        "You look up the word with its capitals. The keys of the table are in lower case.",
    ),
    mistake(
        "pre_punctuation_kept",
        [("if not token.isalnum():", "if token.isspace():")],
        "test_punctuation",
        "You leave punctuation in. Remove tokens without a letter or a digit.",
    ),
    mistake(
        "pre_some_punctuation_kept",
        [("if not token.isalnum():", 'if token in ".,?!":')],
        "test_punctuation",
        "You remove only some punctuation marks. Remove every token without a letter or a digit.",
    ),
    mistake(
        "pre_digits_dropped",
        [("isalnum", "isalpha")],
        "test_punctuation",
        "You also remove numbers. Tokens made of digits stay: `isalnum` is true for them, `isalpha` is not.",
    ),
    mistake(
        "pre_split_at_spaces",
        [("tokenize(text)", "text.split()")],
        "test_punctuation",
        "You split at spaces, so a word followed by a comma is lost. Begin with `tokenize(text)`.",
    ),
    mistake(
        "pre_articles_kept",
        [("        if word in ARTICLES:\n            continue\n", "")],
        "test_articles",
        "You leave the articles in. Remove them.",
    ),
    mistake(
        "pre_only_the",
        [("in ARTICLES", 'in ("the",)')],
        "test_articles",
        "You remove only `the`. Remove `a` and `an` as well.",
    ),
    mistake(
        "pre_an_forgotten",
        [("in ARTICLES", 'in ("a", "the")')],
        "test_articles",
        "You forgot the article `an`.",
    ),
    mistake(
        "pre_articles_as_beginnings",
        [("word in ARTICLES", "word.startswith(ARTICLES)")],
        "test_articles",
        "You remove every word that begins with the letters of an article, such as `and` and `they`. "
        "Compare whole words.",
    ),
    mistake(
        "pre_articles_inside_words",
        [
            (
                "        if word in ARTICLES:\n            continue\n",
                '        for article in ("the", "an", "a"):\n            word = word.replace(article, "")\n'
                "        if not word:\n            continue\n",
            )
        ],
        "test_articles",
        "You remove the letters of the articles inside words. Compare whole words.",
    ),
    mistake(
        "pre_inflection_kept",
        [("lemmas.get(word, word)", "word")],
        "test_inflection",
        "You leave inflected forms as they are. Look each word up in `lemmas`.",
    ),
    mistake(
        "pre_global_table",
        [("lemmas.get(word, word)", "LEMMAS.get(word, word)")],
        "test_inflection",
        "You look words up in the table `LEMMAS` of the grammar. Use the argument `lemmas`.",
    ),
    mistake(
        "pre_unknown_dropped",
        [("words.append(lemmas.get(word, word))", "words.extend([lemmas[word]] if word in lemmas else [])")],
        "test_inflection",
        "You drop words that aren't in the table. They stay as they are.",
    ),
    mistake(
        "pre_unknown_is_an_error",
        [("lemmas.get(word, word)", "lemmas[word]")],
        "test_inflection",
        "Your code fails for a word that isn't in the table. Such words stay as they are.",
    ),
    mistake(
        "pre_lemma_of_the_lemma",
        [
            (
                "words.append(lemmas.get(word, word))",
                "while word in lemmas:\n            word = lemmas[word]\n        words.append(word)",
            )
        ],
        "test_inflection",
        "You look up the lemma again, as if it were an inflected form. Look each word up once.",
    ),
    mistake(
        "pre_final_s_cut",
        [("lemmas.get(word, word)", 'lemmas.get(word, word.removesuffix("s"))')],
        "test_inflection",
        "You cut an s off words that aren't in the table. They stay as they are: think of `bus` and `his`.",
    ),
    mistake(
        "pre_one_string",
        [("return words", 'return " ".join(words)')],
        "test_the_whole_pipeline",
        "You return one string. Return the list of the words.",
    ),
    mistake(
        "pre_each_word_once",
        [("return words", "return list(dict.fromkeys(words))")],
        "test_the_whole_pipeline",
        "You keep each word only once. Keep repeated words.",
    ),
    mistake(
        "pre_sorted",
        [("return words", "return sorted(words)")],
        "test_the_whole_pipeline",
        "You sort the words. Keep them in the order of the text.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "Every check compares a list of words, and this changes nearly all of them.": [
            "pre_unknown_dropped",
            "pre_unknown_is_an_error",
            "pre_one_string",
            "pre_sorted",
        ],
    },
)

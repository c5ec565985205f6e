"""Made-up notebooks: texts where a person must decide about an empty written answer, and where 0 is right.

Two thirds were written before the code that decides was read, the last third, from `LATER` on, after it was mended.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

Output = dict[str, object]

#: The released notebook: (name, kind, source). "written" and "answer" are answer cells, "test" a test cell, the others were handed out.
RELEASED = [
    ("title", "markdown", "# Numbers in Python\n\nAnswer all questions. Keep answers short."),
    ("h_rounding", "markdown", "## Rounding\n\n**Question 1.** Why is `0.1 + 0.2 == 0.3` false? How do you compare floats?"),
    ("rounding", "written", "YOUR ANSWER HERE"),
    ("h_double", "markdown", "## Doubling\n\nWrite `double(x)`, which returns twice `x`, for numbers and arrays."),
    ("double", "answer", 'def double(x):\n    """Return twice x."""\n    # YOUR CODE HERE\n    raise NotImplementedError()'),
    ("test_double", "test", "assert double(2) == 4\nassert double(-1.5) == -3"),
    ("h_speed", "markdown", "## Speed\n\n**Question 2.** When is NumPy faster than a loop over a list?\n\nWhy?"),
    ("speed", "written", "YOUR ANSWER HERE"),
    ("h_count", "markdown", "## Counting\n\nWrite `count_words(text)`, which counts how often each word of a text occurs."),
    ("count_words", "answer", "def count_words(text):\n    # YOUR CODE HERE\n    raise NotImplementedError()"),
    ("test_count", "test", 'assert count_words("a b a") == {"a": 2, "b": 1}'),
    ("h_memory", "markdown", "## Memory\n\nFor 10 tokens, the counts need 500 bytes. Does memory grow with the text or with its vocabulary?"),
    ("memory", "written", "YOUR ANSWER HERE"),
]  # fmt: skip

USUAL = {
    "rounding": "0.1 has no finite binary expansion, so the sum is rounded. Use math.isclose.",
    "double": 'def double(x):\n    """Return twice x."""\n    return 2 * x',
    "speed": "When the array is large, since its loop is compiled.",
    "count_words": "def count_words(text):\n    counts = {}\n    for word in text.split():\n        counts[word] = counts.get(word, 0) + 1\n    return counts",
    "memory": "With the vocabulary: each different word is stored once.",
}


@dataclass
class Own:
    """A cell of the student's, inserted below the cell `below`."""

    below: str
    source: str
    kind: str = "code"
    outputs: list[Output] = field(default_factory=list)
    attachments: dict[str, dict[str, str]] | None = None


@dataclass
class Texts:
    """A notebook in which the answers `empty` are as released, and whether a person must decide about these."""

    name: str
    person: bool
    #: Cells that differ from USUAL or RELEASED; the question that is empty has its released text.
    cells: Mapping[str, str] = field(default_factory=dict)
    own: list[Own] = field(default_factory=list)
    empty: tuple[str, ...] = ("speed",)
    #: Cells of another notebook of the same assignment that has its own release (one heading and one written question `other`).
    other: list[Own] = field(default_factory=list)
    attachments: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)


def stream(text: str, name: str = "stdout") -> Output:
    return {"output_type": "stream", "name": name, "text": text}


def data(**mime: object) -> Output:
    return {
        "output_type": "display_data",
        "metadata": {},
        "data": {k.replace("__", "/"): v for k, v in mime.items()},
    }


DOUBLE = "def double(x):\n    return 2 * x\n"
PIC = {
    "sheet.png": {
        "image/png": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
    }
}

TWICE = "def twice(x):\n    return x + x\n"
DOC = 'def double(x):\n    """Return twice x.\n'
ALL = [
    Texts("own text cell at the end", True, own=[Own("memory", "NumPy wins once arrays have some hundred entries, because it loops in C.", "markdown")]),
    Texts("own short text cell at the end", True, own=[Own("memory", "Large arrays: compiled loop.", "markdown")]),
    Texts("own text cell below a test", True, own=[Own("test_double", "For big arrays. It is C.", "markdown")]),
    Texts("own text cell next to the empty answer", True, own=[Own("h_speed", "For big arrays, it is C.", "markdown")]),
    Texts("comment with its number below the code", True, {"double": DOUBLE + "\n# Q2: numpy runs in C"}),
    Texts("comment with its number right of code", True, {"double": DOUBLE + "import numpy as np  # Q2: compiled, for big arrays"}),
    Texts("comment of words that parse", True, {"double": DOUBLE + "\n# Yes, always"}),
    Texts("comment of one word", True, {"double": DOUBLE + "\n# Always"}),
    Texts("comment that reads like a comparison", True, {"double": DOUBLE + "\n# arrays not in lists"}),
    Texts("comment of a sentence between code", True, {"double": DOUBLE + "\n# numpy is faster for large arrays since its loops are compiled\n\n\nprint(double(3))"}),
    Texts("comment in a test cell", True, {"test_double": "assert double(2) == 4\nassert double(-1.5) == -3\n\n# NumPy is faster if the list is long, as no Python code runs for an element"}),
    Texts("photo of a sheet in the first answer", True, {"rounding": "![sheet.png](attachment:sheet.png)"}, attachments={"rounding": PIC}),
    Texts("photo of a sheet with words in the first answer", True, {"rounding": "See my sheet\n\n![sheet.png](attachment:sheet.png)"}, attachments={"rounding": PIC}),
    Texts("photo in own cell", True, own=[Own("memory", "![sheet.png](attachment:sheet.png)", "markdown", attachments=PIC)]),
    Texts("both answers in one cell, numbered", True, {"rounding": "1) It is rounded in base 2. Use isclose.\n2) For long arrays, since NumPy loops in C."}),
    Texts("both answers in one cell, with Question 2", True, {"memory": "Question 2: long arrays, C loops.\n\nQuestion 3: with its vocabulary."}),
    Texts("all answers in the first cell as paragraphs", True, {"rounding": "Binary fractions are rounded. Use isclose.\n\nIf it has many entries, as the loop is in C.\n\nWith the vocabulary."}, empty=("speed", "memory")),
    Texts("print in own cell", True, own=[Own("test_count", 'print("NumPy is faster when an array is long, because it is compiled")', outputs=[stream("NumPy is faster when an array is long, because it is compiled\n")])]),
    Texts("string in own cell", True, own=[Own("test_count", '"""\nFor long arrays it is faster. The loop runs in C there.\n"""', outputs=[{"output_type": "execute_result", "execution_count": 4, "metadata": {}, "data": {"text/plain": "'\\nFor long arrays it is faster. The loop runs in C there.\\n'"}}])]),
    Texts("variable with the answer", True, own=[Own("test_count", 'answer2 = "For long arrays it is faster, since its loops run in C"')]),
    Texts("short variable q2", True, own=[Own("test_count", 'q2 = "C loops"')]),
    Texts("dictionary of answers", True, own=[Own("test_count", 'answers = {\n    "q1": "rounded to 53 bits",\n    "q2": "long arrays because compiled loops are quick",\n}')]),
    Texts("output of a helper of the student's", True, own=[Own("test_count", "show(texts[2])", outputs=[stream("NumPy is faster for long arrays, e.g. those above 1000 entries, because each step is done in C.\n")])]),
    Texts("timed output", True, own=[Own("test_count", "%%time\nshow(texts[2])", outputs=[stream("Long arrays are faster in NumPy because the loop itself has been compiled.\nCPU times: user 3 us, sys: 1 us, total: 4 us\nWall time: 6 us\n")])]),
    Texts("output with curly quotes and a dash", True, own=[Own("test_count", "show(2)", outputs=[stream("It’s faster for long arrays – a list’s loop makes an object of each “number” at 10% of the speed.\n")])]),
    Texts("output as HTML", True, own=[Own("test_count", "HTML(texts[2])", outputs=[data(text__plain="<IPython.core.display.HTML object>", text__html="<p>NumPy is faster for long arrays, because the loop is compiled and <b>needs no objects</b>.</p>")])]),
    Texts("output as Markdown", True, own=[Own("test_count", "Markdown(texts[2])", outputs=[data(text__plain="<IPython.core.display.Markdown object>", text__markdown="NumPy is **faster** for long arrays: the loop is compiled, so it needs no objects.")])]),
    Texts("output beside a large picture", True, own=[Own("test_count", "%matplotlib inline\nplt.plot(t)\nshow(texts[2])", outputs=[stream("As the plot shows, NumPy is faster from about 200 entries on, since it loops in C.\n"), data(text__plain="<Figure size 640x480 with 1 Axes>", image__png="iVBORw0KGgo" + "A" * 400_000)])]),
    Texts("typed into input()", True, own=[Own("test_count", 'a2 = input("Your answer? ")', outputs=[stream("Your answer? when lists are long since compiled loops need no objects\n")])]),
    Texts("display(Markdown) with a literal", True, own=[Own("test_count", 'display(Markdown("NumPy is faster for **long arrays**, since its loop runs in C"))', outputs=[data(text__plain="<IPython.core.display.Markdown object>")])]),
    Texts("%%markdown cell", True, own=[Own("test_count", "%%markdown\nNumPy is faster for long arrays since its loop runs in C")]),
    Texts("own cell of comments", True, own=[Own("test_count", "# For long arrays NumPy is faster.\n# It loops in C.")]),
    Texts("code cell with prose", True, own=[Own("test_count", "For long arrays NumPy is faster. It loops in C.")]),
    Texts("raw cell", True, own=[Own("test_count", "For long arrays NumPy is faster. It loops in C.", "raw")]),
    Texts("comment in the code cell right below another answer", True, own=[Own("rounding", "x = 0.1 + 0.2\n\n# Q2: no objects in the loop")]),
    Texts("sentence as comment in the code cell right below another answer", True, own=[Own("rounding", "x = 0.1 + 0.2\nprint(x)\n\n# NumPy is faster for arrays that are long, since each step runs in C")]),
    Texts("words added to the heading", True, {"h_speed": RELEASED[6][2] + "\n\nFor long arrays, as they loop in C."}),
    Texts("words added to another heading", True, {"h_count": RELEASED[8][2] + "\n\nNumPy is faster for long arrays, as they loop in C."}),
    Texts("words added to the title", True, {"title": RELEASED[0][2] + "\n\n2: long arrays are faster, as they loop in C."}),
    Texts("words added to a docstring", True, {"double": 'def double(x):\n    """Return twice x.\n\n    NumPy is faster than a loop when arrays are long.\n    """\n    return 2 * x'}),
    Texts("docstring of a function q2", True, own=[Own("test_count", 'def q2():\n    """Long arrays are faster, since they loop in C."""')]),
    Texts("German comment with its number", True, {"count_words": USUAL["count_words"] + "\n\n# Frage 2: NumPy ist bei langen Arrays schneller, da kompiliert"}),
    Texts("Chinese own cell", True, own=[Own("memory", "数组很大时更快，因为循环是编译的。", "markdown")]),
    Texts("Chinese comment", True, {"double": DOUBLE + "\n# 数组很大时更快，因为循环是编译的。"}),
    Texts("formula in own cell", True, own=[Own("test_count", "$$t = a + b n,\\quad b_{NumPy} < b_{list}$$", "markdown")]),
    Texts("link in own cell", True, own=[Own("memory", "https://docs.example.org/d/1Abc", "markdown")]),
    Texts("own text in the other notebook", True, other=[Own("other", "NumPy is faster for long arrays; the loop is compiled.", "markdown")]),
    Texts("comment in the other notebook", True, other=[Own("other", "x = 1\n\n# Q2: NumPy is faster for long arrays, the loop is compiled")]),
    Texts("comment that starts with the heading", True, {"count_words": "# Speed: for long arrays, C\n" + USUAL["count_words"]}),
    Texts("f-string printed", True, own=[Own("test_count", 'n = 300\nprint(f"From {n} entries on NumPy is faster because no object is made for each entry")')]),
    Texts("nothing else", False),
    Texts("nothing else, two empty", False, empty=("speed", "memory")),
    Texts("section comment above a helper", False, {"double": "# My helper functions\n\n\n" + TWICE + "\n\n" + DOUBLE}),
    Texts("section comments in an own cell", False, own=[Own("test_count", "# Imports\n\nimport math\nimport numpy as np\n\n# Settings\n\nN = 100\n\n# Timing\n\nfor i in range(N):\n    double(i)")]),
    Texts("ruled section comments", False, own=[Own("test_count", "# ------------------------------\n# Helper functions\n# ------------------------------\n\n" + TWICE)]),
    Texts("code between triple quotes", False, {"double": '"""\nfor i in range(3):\n    total = total + values[i]\n"""\n' + DOUBLE}),
    Texts("code between triple quotes at the end", False, {"double": DOUBLE + '\n"""\ndef double(x):\n    result = x + x\n    print(result)\n    return result\n"""'}),
    Texts("commented-out code", False, {"double": DOUBLE + "\n# def double(x):\n#     result = x + x\n#     return result"}),
    Texts("commented-out calls at the end", False, {"double": DOUBLE + "\n# print(double(3))\n# double(np.arange(3))"}),
    Texts("commented-out name at the end", False, own=[Own("test_count", "total = double(3)\ntotal\n# total[0]")]),
    Texts("comments of each step", False, {"count_words": "def count_words(text):\n    # Step 1: create an empty dictionary for the counts\n    counts = {}\n\n    # Step 2: split the text into words at blanks\n    for word in text.split():\n        # Step 3: add one to the count of this word\n        counts[word] = counts.get(word, 0) + 1\n\n    # Step 4: return the counts\n    return counts"}),
    Texts("TODO", False, {"double": "def double(x):\n    # TODO: test with negative numbers\n    return 2 * x"}),
    Texts("why as a comment on code", False, {"double": "def double(x):\n    # why not a loop: arrays work too\n    return 2 * x"}),
    Texts("why as a comment at the top", False, {"double": "# why not x << 1: floats\n" + DOUBLE}),
    Texts("for 10 words in a comment", False, {"count_words": "# tested for 10 words\n" + USUAL["count_words"]}, empty=("memory",)),
    Texts("for 10 in a loop's comment", False, own=[Own("test_count", "# run it for 10 rounds\nfor i in range(10):\n    double(i)")], empty=("memory",)),
    Texts("docstring of an own helper", False, {"double": 'def twice(x):\n    """Add x to itself, which works for numbers, lists and arrays."""\n    return x + x\n\n\ndef double(x):\n    return twice(x)'}),
    Texts("full docstring with parameters", False, {"count_words": 'def count_words(text):\n    """\n    Count the words of a text.\n\n    Parameters:\n        text (str): the text whose words are counted\n\n    Returns:\n        dict: how often each word occurs\n    """\n    counts = {}\n    for word in text.split():\n        counts[word] = counts.get(word, 0) + 1\n    return counts'}),
    Texts("messages of assertions", False, own=[Own("test_double", 'assert double(4) == 8, "double should return twice its input, also for large numbers"')]),
    Texts("messages of exceptions", False, {"double": 'def double(x):\n    if isinstance(x, str):\n        raise TypeError("x has to be a number or an array, not a string")\n    return 2 * x'}),
    Texts("a text as data", False, own=[Own("test_count", 'text = "the quick brown fox jumps over the lazy dog and the cat"\ncount_words(text)', outputs=[{"output_type": "execute_result", "execution_count": 3, "metadata": {}, "data": {"text/plain": "{'the': 3, 'quick': 1, 'brown': 1, 'fox': 1, 'jumps': 1, 'over': 1,\n 'lazy': 1, 'dog': 1, 'and': 1, 'cat': 1}"}}])]),
    Texts("training output", False, own=[Own("test_count", "train()", outputs=[stream("epoch 1: loss 0.31, accuracy 0.87\nepoch 2: loss 0.25, accuracy 0.91\nBest model saved to model.pt\n")])]),
    Texts("warning of a library", False, own=[Own("test_count", "np.log(0)", outputs=[stream("/tmp/ipykernel_1/2.py:1: RuntimeWarning: divide by zero encountered in log\n  np.log(0)\n", "stderr")])]),
    Texts("progress bar", False, own=[Own("test_count", "for _ in tqdm(range(10)):\n    pass", outputs=[stream("100%|██████████| 10/10 [00:00<00:00, 98.77it/s]", "stderr")])]),
    Texts("traceback", False, own=[Own("test_count", "double(None)", outputs=[{"output_type": "error", "ename": "TypeError", "evalue": "unsupported operand type(s) for *: 'int' and 'NoneType'", "traceback": ["TypeError: unsupported operand type(s) for *: 'int' and 'NoneType'"]}])]),
    Texts("data frame", False, own=[Own("test_count", "df.head()", outputs=[data(text__plain="   word  count\n0  a  2\n1  b  1", text__html="<div><table><thead><tr><th></th><th>word</th><th>count</th></tr></thead><tbody><tr><th>0</th><td>a</td><td>2</td></tr></tbody></table></div>")])]),
    Texts("data frame info", False, own=[Own("test_count", "df.info()", outputs=[stream("<class 'pandas.core.frame.DataFrame'>\nRangeIndex: 2 entries, 0 to 1\nData columns (total 2 columns):\n #   Column  Non-Null Count  Dtype \n---  ------  --------------  ----- \n 0   word    2 non-null      object\n 1   count   2 non-null      int64 \ndtypes: int64(1), object(1)\nmemory usage: 160.0+ bytes\n")])]),
    Texts("pip install", False, own=[Own("title", "%pip install numpy", outputs=[stream("Requirement already satisfied: numpy in /usr/lib/python3/site-packages (2.1.0)\nNote: you may need to restart the kernel to use updated packages.\n")])]),
    Texts("plot with a title", False, own=[Own("test_count", 'plt.plot(sizes, times)\nplt.title("Time of both loops over lists of floats")\nplt.xlabel("number of entries in the list")\nplt.show()', outputs=[data(text__plain="<Figure size 640x480 with 1 Axes>", image__png="iVBORw0KGgo" + "A" * 400_000)])]),
    Texts("printed results", False, own=[Own("test_double", 'print("double of 3 is", double(3))', outputs=[stream("double of 3 is 6\n")])]),
    Texts("results as comments", False, own=[Own("test_double", "double(4)  # 8\ndouble(0.1)\n# 0.2")]),
    Texts("result as comment at the end", False, own=[Own("test_double", "double(4)\n# -> 8")]),
    Texts("computation beside an answer", False, own=[Own("rounding", "0.1 + 0.2\n# 0.30000000000000004")]),
    Texts("answer of two paragraphs", False, {"rounding": "0.1 has no finite binary expansion. So it is rounded.\n\nUse math.isclose or np.allclose with a tolerance."}),
    Texts("answer with emphasis", False, {"rounding": "**Floats** are *rounded* in base 2; compare with `math.isclose(a, b)`."}),
    Texts("name in the title", False, {"title": RELEASED[0][2] + "\n\nName: Ada Lovelace"}),
    Texts("marks of editors", False, {"double": "# -*- coding: utf-8 -*-\n# %%\nimport math  # noqa: F401\n\n" + DOUBLE + "# type: ignore"}),
    Texts("left-over template", False, {"double": 'def double(x):\n    """Return twice x."""\n    # YOUR CODE HERE\n    return 2 * x\n    raise NotImplementedError()'}),
    Texts("other notebook answered", False, other=[Own("other", "y = 3\nprint(y)", outputs=[stream("3\n")])]),
    Texts("comments above lines of code", False, {"double": "# the product works for numbers and for arrays\n" + DOUBLE}),
    Texts("long comment above a function", False, {"count_words": "# This function counts words: it splits the text at blanks,\n# goes over its words and adds one to the count of each.\n" + USUAL["count_words"]}),
    Texts("comment at the end of a block", False, {"count_words": "def count_words(text):\n    counts = {}\n    for word in text.split():\n        counts[word] = counts.get(word, 0) + 1\n        # now the next word\n    return counts"}),
    Texts("alternative in a comment", False, {"count_words": USUAL["count_words"] + "\n\n# return dict(Counter(text.split()))"}),
    Texts("end markers", False, {"double": DOUBLE + "\n# end"}),
    Texts("own test with a heading comment", False, own=[Own("test_double", "# Own tests\nassert double(0) == 0\nassert double(5) == 10")]),
    Texts("class with docstrings", False, own=[Own("test_count", 'class Counter:\n    """Counts words of texts that are added one after the other."""\n\n    def add(self, text):\n        """Add all words of this text to the counts so far."""\n        self.counts = count_words(text)')]),
    Texts("printed table", False, own=[Own("test_count", "for n in sizes:\n    print(n, t[n])", outputs=[stream("size    list    numpy\n10      0.1     0.3\n1000    9.7     0.4\n")])]),
    Texts("log lines", False, own=[Own("test_count", "run()", outputs=[stream("INFO:root:reading file words.txt\nINFO:root:12 words read\nDEBUG:root:done\n", "stderr")])]),
    Texts("print of the time", False, own=[Own("test_count", 't = time.time()\ndouble(np.arange(1000))\nprint(f"Time: {time.time() - t:.3f} s")', outputs=[stream("Time: 0.002 s\n")])]),
]  # fmt: skip
LATER = [
    Texts("answers under a heading at the end", True, own=[Own("memory", "# Answers\n\n1. rounding\n2. big arrays", "markdown")]),
    Texts("one word in own cell", True, own=[Own("test_double", "Vectorization", "markdown")]),
    Texts("answer in the code answer's docstring", True, {"double": DOC + "\n\n    Question 2: for big arrays.\n    \"\"\"\n    return 2 * x"}),
    Texts("inline comment with question", True, {"count_words": USUAL["count_words"] + "  # question 2: with big arrays"}),
    Texts("Q.2 comment on top", True, {"double": "# Q.2 big arrays\n" + DOUBLE}),
    Texts("printed two answers", True, own=[Own("test_count", 'print("Q1: binary")\nprint("Q2: big arrays")')]),
    Texts("variable named speed", True, own=[Own("test_count", 'speed = "Arrays that are big are faster as there are no objects"\nprint(speed)')]),
    Texts("list of answers", True, own=[Own("test_count", 'answers = ["Q1 rounding", "Q2 big arrays"]')]),
    Texts("comment of two lines below an own test", True, {"test_double": "assert double(2) == 4\nassert double(-1.5) == -3\n# NumPy: long arrays\n# since it is compiled"}),
    Texts("Markdown from a file shown", True, own=[Own("test_count", "display(Markdown(open('a.md').read()))", outputs=[data(text__plain="<IPython.core.display.Markdown object>", text__markdown="### 2\n\nOnce there are many entries, as C code has no objects to make.")])]),
    Texts("chat pasted into raw cell", True, own=[Own("test_count", "Student: when? Assistant: for large arrays", "raw")]),
    Texts("answer with emoji", True, own=[Own("memory", "🚀 big arrays", "markdown")]),
    Texts("picture in own cell next to another answer", True, own=[Own("rounding", "![a](attachment:sheet.png)", "markdown", attachments=PIC)], ),
    Texts("three answers in the last one", True, {"memory": "- rounding\n- big arrays\n- the vocabulary"}, empty=("rounding", "speed")),
    Texts("numbered answers in the last one", True, {"memory": "2. big arrays\n3. the vocabulary"}),
    Texts("answer above the title", True, {"title": "Q2: big arrays\n\n" + RELEASED[0][2]}),
    Texts("shown by a function of the student's", True, own=[Own("test_count", "def say(t):\n    print(t)\n\n\nsay('When arrays have many entries, as the loop is in C code')", outputs=[stream("When arrays have many entries, as the loop is in C code\n")])]),
    Texts("French comment", True, {"double": DOUBLE + "\n\n# Quand le tableau est grand, car la boucle est compilée"}),
    Texts("comment after return", True, {"double": "def double(x):\n    return 2 * x\n    # When arrays have many entries the loop in C is faster"}),
    Texts("latex output", True, own=[Own("test_count", "Latex(t)", outputs=[data(text__plain="<IPython.core.display.Latex object>", text__latex="For long arrays the cost of each entry is lower: $b < a$")])]),
    Texts("assert message with number", True, own=[Own("test_count", 'assert True, "Q2: big arrays"')]),
    Texts("commented-out with words at the end", True, {"double": DOUBLE + "\n# print(double(3))\n# big arrays are faster since they have no objects"}),
    Texts("true", True, {"double": DOUBLE + "\n\n# Yes"}),
    Texts("hyphens", True, {"double": DOUBLE + "\n\n# large-array, C-loop"}),
    Texts("text below code in code cell by mistake", True, own=[Own("test_count", "import numpy as np\nBig arrays are faster because they are compiled")]),
    Texts("prints with separators", False, own=[Own("test_count", 'print("=" * 30)\nprint("Results of the timing:")\nprint(t)', outputs=[stream("=" * 30 + "\nResults of the timing:\n0.3\n")])]),
    Texts("sections between functions", False, {"double": TWICE + "\n\n# Now the real one\n\n\n" + DOUBLE}),
    Texts("comment above loop", False, {"count_words": "def count_words(text):\n    # loop over all words of the text and add one\n    c = {}\n    for w in text.split():\n        c[w] = c.get(w, 0) + 1\n    return c"}),
    Texts("commented-out prints between", False, {"double": "def double(x):\n    # print(x)\n    # print(type(x))\n    return 2 * x"}),
    Texts("commented-out assignment", False, {"double": DOUBLE + "\n# x = 3\n# y = double(x)"}),
    Texts("commented-out for", False, {"double": DOUBLE + "\n# for i in range(3):\n#     print(double(i))"}),
    Texts("commented-out multi-line call", False, {"double": DOUBLE + "\n# print(\n#     double(3),\n# )"}),
    Texts("translate a sentence", False, own=[Own("test_count", 'count_words("a sentence with quite a few words in it")', outputs=[{"output_type": "execute_result", "execution_count": 3, "metadata": {}, "data": {"text/plain": "{'a': 2, 'sentence': 1, 'with': 1, 'quite': 1}"}}])]),
    Texts("texts in a list", False, own=[Own("test_count", 'texts = ["the first text of the two", "and this is the second one"]\nfor t in texts:\n    print(count_words(t))', outputs=[stream("{'the': 2, 'first': 1, 'text': 1, 'of': 1, 'two': 1}\n{'and': 1, 'this': 1, 'is': 1, 'the': 1, 'second': 1, 'one': 1}\n")])]),
    Texts("argparse help", False, own=[Own("test_count", 'p.add_argument("--n", help="number of the entries of the array")')]),
    Texts("f-string of results", False, own=[Own("test_count", 'for n, s in zip(sizes, secs):\n    print(f"An array of {n} entries takes {s:.2f} seconds in all")', outputs=[stream("An array of 10 entries takes 0.10 seconds in all\nAn array of 100 entries takes 0.30 seconds in all\n")])]),
    Texts("logging setup", False, own=[Own("test_count", 'logging.info("read %d words of the text in this file", n)')]),
    Texts("widgets", False, own=[Own("test_count", "interact(f, n=3)", outputs=[data(text__plain="interactive(children=(IntSlider(value=3, description='n'), Output()))")])]),
    Texts("model printed", False, own=[Own("test_count", "print(model)", outputs=[stream("Sequential(\n  (0): Linear(in_features=3, out_features=2, bias=True)\n  (1): ReLU()\n)\n")])]),
    Texts("git output", False, own=[Own("test_count", "!git status", outputs=[stream("On branch main\nYour branch is up to date with the remote branch of it.\n")])]),
    Texts("whos", False, own=[Own("test_count", "%whos", outputs=[stream("Variable   Type       Data/Info\n-------------------------------\ndouble     function   <function double at 0x7f>\n")])]),
    Texts("answers of the usual length with code", False, {"rounding": "Because of `0.1` in binary:\n`0.1 + 0.2` is rounded up; use `abs(a - b) < 1e-9`."}),
    Texts("answer with a line break", False, {"rounding": "It is rounded in base 2.\nUse math.isclose to compare."}),
    Texts("string without effect as comment", False, {"double": '"""Doubling."""\n\n' + DOUBLE}),
    Texts("long data string", False, own=[Own("test_count", 'poem = """the sea is wide\nthe sky is high\nand so are you"""\ncounts = count_words(poem)')]),
    Texts("sorted words", False, own=[Own("test_count", 'text = "the sea is wide the sky is high"\nprint(" ".join(sorted(text.split())))', outputs=[stream("high is is sea sky the the wide\n")])]),
    Texts("class of constants", False, own=[Own("test_count", 'class Config:\n    name = "model with two heads"  # a name\n    size = 3')]),
    Texts("own tests with comments", False, own=[Own("test_double", "# zero\nassert double(0) == 0\n\n# negative numbers\nassert double(-1) == -2\n")]),
    Texts("decorator", False, {"double": "import functools\n\n\n@functools.cache  # remember results of calls\n" + DOUBLE}),
    Texts("plot only", False, own=[Own("test_count", "plt.plot([1, 2])", outputs=[{"output_type": "execute_result", "execution_count": 4, "metadata": {}, "data": {"text/plain": "[<matplotlib.lines.Line2D at 0x7f0>]"}}])]),
]  # fmt: skip

"""The names that a cell defines and uses, found without running it."""

import time

import pytest

from gradekit.checks.snippets import bound
from gradekit.submission.names import (
    body_of,
    closing_call,
    defined_names,
    mentions,
    parameters_of,
    roundabout,
    words,
)
from gradekit.submission.statements import globals_in


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(x):\n    y = 1", {"f"}),
        ("class A:\n    b = 1", {"A"}),
        ("import torch.nn as nn, os.path", {"nn", "os"}),
        ("a, (b, c) = 1, (2, 3)\nd: int = 4", {"a", "b", "c", "d"}),
        ("%matplotlib inline\nx = 1", {"x"}),
        ("def broken(:\n    pass\nx = 3", {"broken", "x"}),
        ("", set()),
    ],
)
def test_names_bound_at_top_level(source, expected):
    assert defined_names(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "F.scaled_dot_product_attention(q, k, v)",
        "from torch.nn.functional import scaled_dot_product_attention as sdpa",
        "getattr(F, 'scaled_dot_product_attention')(q)",
        "torch.nn.TransformerEncoderLayer(4, 2)",
        "getattr(F, 'scaled_dot_' + 'product_attention')(q)",
        "getattr(F, f'scaled_dot_{\"product\"}_attention')(q)",
        "getattr(F, '_'.join(['scaled', 'dot', 'product', 'attention']))(q)",
        "operator.attrgetter('nn.functional.scaled_dot_product_attention')(torch)",
        "%matplotlib inline\nF.scaled_dot_product_attention(q)",
        "y = %time F.scaled_dot_product_attention(q)",
        "%time y = F.scaled_dot_product_attention(q)",
        "%%time\nF.scaled_dot_product_attention(q)",
        "!ls\nF.scaled_dot_product_attention(q)",
        "x = !ls\nF.scaled_dot_product_attention(q)",
        "F?\nF.scaled_dot_product_attention(q)",
        "  y = 1\n  F.scaled_dot_product_attention(q)",
        ">>> F.scaled_dot_product_attention(q)",
        "class scaled:\n    pass\nscaled_dot_product_attention(q)",
    ],
)
def test_a_forbidden_name_is_found_however_it_is_written(source):
    assert mentions(source, ("scaled_dot_product_attention", "Transformer*"))


def test_a_forbidden_name_in_prose_is_not_a_use_of_it():
    source = "def f(x):\n    '''Like F.scaled_dot_product_attention.'''\n    # scaled_dot_product_attention\n    return x"
    assert mentions(source, ("scaled_dot_product_attention",)) is None


@pytest.mark.parametrize(
    "source",
    [
        "def scaled_dot_product_attention(q):\n    return q\nscaled_dot_product_attention(q)",
        "def attention(q):\n    def scaled_dot_product_attention(q):\n        return q\n    return scaled_dot_product_attention(q)",
        "getattr(self, name)",
        "def broken(:\n    scaled_dot_product_attention",
    ],
)
def test_the_student_s_own_function_may_have_a_forbidden_name(source):
    assert mentions(source, ("scaled_dot_product_attention",)) is None


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("torch._C._nn.scaled(q)", "torch._C._nn.scaled"),
        ("import torch as t\nt._C.f()", "torch._C.f"),
        ("from torch import _C\n_C.f()", "torch._C"),
        ("import torch._C as c\nc.f()", "torch._C.f"),
        ("torch.ops.aten.f(q)", "torch.ops"),
        ("F.softmax(q)", "torch.nn.functional.softmax"),
    ],
)
def test_attributes_of_torch_have_their_full_path(source, path):
    assert path in words(source)


def test_the_student_s_own_names_have_no_path():
    assert words("self.ops.run()") == ("run", "ops", "self")


@pytest.mark.parametrize(
    ("source", "way"),
    [
        ("exec(text)", "exec"),
        ("eval('F.' + name)", "eval"),
        ("__import__('torch')", "__import__"),
        ("getattr(F, name)", "getattr"),
        ("getattr(torch.nn, 'a' + name)(q)", "getattr"),
        ("import builtins\nbuiltins.f = 1", "builtins"),
        ("get_ipython().input_transformers_cleanup.append(f)", "input_transformers_cleanup"),
        ("F.__dict__['f'](q)", "__dict__"),
        ("%time x = 1\nexec(text)", "exec"),
    ],
)
def test_a_way_around_a_forbidden_name_is_noticed(source, way):
    assert roundabout(source) == way


@pytest.mark.parametrize(
    "source",
    [
        "model.eval()",
        "getattr(self, name)",
        "getattr(F, 'softmax')(q)",
        "re.compile('x')",
        "x = 1",
        "def f(:",
    ],
)
def test_ordinary_code_is_not_a_way_around_a_name(source):
    assert roundabout(source) is None


def test_a_cell_with_many_magics_is_parsed_quickly():
    source = "%time x = 1\n" * 20_000 + "F.scaled_dot_product_attention(q)"
    started = time.process_time()
    assert mentions(source, ("scaled_dot_product_attention",))
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(x, /, y, *z, k=1):\n    pass", ("x", "y")),
        ("def f(x):\n    pass\ndef f(table):\n    pass", ("table",)),
        ("class f(nn.Module):\n    def forward(self, q, k):\n        pass", ()),
        ("class f:\n    def __init__(self, q):\n        pass", ("q",)),
        ("f = lambda x: x", ()),
        ("def f(:", ()),
    ],
)
def test_the_positional_parameters_of_a_function_or_a_class(source, expected):
    assert parameters_of(source, "f") == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import matplotlib.pyplot as p\np.plot(x)\np.close(1)", "p.close(1)"),
        ("from matplotlib.pyplot import close\nclose()", "close()"),
        ("plt.close()", "plt.close()"),
        ("file.close()\nplt.plot(x)", ""),
        ("def g():\n    plt.close()", "plt.close()"),
    ],
)
def test_a_call_that_closes_figures_is_found(source, expected):
    assert closing_call(source) == expected


def test_only_the_named_function_is_searched_for_a_closing_call():
    source = "def draws():\n    plt.plot([1])\ndef closes():\n    plt.close()"
    assert (closing_call(source, "draws"), closing_call(source, "closes")) == ("", "plt.close()")


def test_a_long_sum_of_anything_is_no_text_and_stops_nothing():
    for operand in ("x", "'a'"):
        source = "y = " + " + ".join([operand] * 2_500)
        assert words(source)[0] == "y"
        assert roundabout(source) is None
    assert "softmax" in words("z = 'soft' + 'max'")


def test_the_parameters_of_a_class_are_those_of_init_and_of_its_call_those_of_forward():
    source = "class Head:\n    def __init__(self, size): ...\n    def forward(self, q, k): ..."
    assert parameters_of(source, "Head") == ("size",)
    assert parameters_of(source, "Head", called=True) == ("q", "k")


def test_odd_line_ends_are_read_without_a_warning_of_ipython_s(recwarn):
    for line_end in ("\r", "\u2028", "\x0c"):
        body_of(f"x = 1{line_end}%time y = 2")
    assert not recwarn.list


@pytest.mark.parametrize(
    ("code", "read"),
    [
        ("y = [t for t in a]", {"a"}),
        ("y = {t: u for t in a for u in b}", {"a", "b"}),
        ("def f():\n    return {t for t in a}", {"a"}),
        ("t = [t for t in t]", {"t"}),
    ],
)
def test_the_names_of_a_comprehension_are_not_those_around_it(code, read):
    assert set(globals_in(code)) == read
    assert bound(code) == {code[4] if code.startswith("def") else code[0]}

"""Side effects of the student's code, and the standard mutants that look for what one call can't show."""

import pytest

from gradekit.checks.variants import Variant
from gradekit_authoring.grade_variants import grade_variant
from gradekit_authoring.mutants.survivors import run_mutants

from ...gradekit.tests.needs import needs_torch

pytestmark = needs_torch

IN_PLACE = "def double(x):\n    y = 2 * x\n    x.data.zero_()\n    return y"
IN_PLACE_IF_LARGE = (
    "def double(x):\n    y = 2 * x\n    if x.numel() > 6:\n        x.data.zero_()\n    return y"
)
MODULES = '''
import torch
from gradekit.checks import points

HELP = """
import torch

class Layer(torch.nn.Module):
    def forward(self, x):
        return x
"""


@points(1)
def test_first(student):
    """A model in evaluation mode."""
    layer = student.define(HELP).Layer().eval()
    student.double(layer)


@points(1)
def test_second(student):
    """The same again."""
    layer = student.define(HELP).Layer().eval()
    student.double(layer)
'''


def failed(course, source: str) -> dict[str, str]:
    """The messages of the checks that an answer fails, by name."""
    result = grade_variant(course.assignment, Variant("answer", "double", source=source)).result
    return {
        check.name: check.message
        for exercise in result.exercises
        for check in exercise.checks
        if check.message
    }


def without_the_check_of_inputs(course) -> None:
    text = course.checks.read_text()
    course.checks.write_text(
        text[: text.index("@points(1)\ndef test_unchanged")].replace("assert_unchanged, ", "")
    )


def test_an_input_changed_in_another_check_fails_the_check_that_asks(tiny_course):
    assert list(failed(tiny_course, IN_PLACE)) == ["test_unchanged"]
    (message,) = failed(tiny_course, IN_PLACE_IF_LARGE).values()  # only the drawn sizes are large enough
    assert message == "`double` changed its argument `x` in place. Make a new tensor instead."


def test_without_a_check_that_asks_the_first_that_sees_it_fails(tiny_course):
    without_the_check_of_inputs(tiny_course)
    assert list(failed(tiny_course, IN_PLACE)) == ["test_value"]
    assert list(failed(tiny_course, IN_PLACE_IF_LARGE)) == ["test_any_size"]


def test_a_file_may_allow_side_effects(tiny_course):
    without_the_check_of_inputs(tiny_course)
    text = "import pytest\n\npytestmark = pytest.mark.side_effects\n" + tiny_course.checks.read_text()
    tiny_course.checks.write_text(text)
    assert failed(tiny_course, IN_PLACE) == {}


def test_a_model_left_in_training_mode_is_said_once(tiny_course):
    tiny_course.checks.write_text(MODULES)
    (message,) = failed(tiny_course, "def double(x):\n    x.train()").values()
    assert message.startswith(
        "`double` got its argument `x` in evaluation mode and left it in training mode."
    )
    assert failed(tiny_course, "def double(x):\n    x.eval()") == {}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("torch.set_grad_enabled(False)", "`double` leaves torch's gradients switched off"),
        ("torch.set_default_dtype(torch.float64)", "`double` changes torch's default dtype"),
    ],
)
def test_settings_of_torch_that_a_call_leaves_changed_fail_one_check(tiny_course, line, words):
    source = f"def double(x):\n    y = 2 * x\n    {line}\n    return y"
    messages = failed(tiny_course, source)
    assert list(messages) == ["test_unchanged"]
    assert messages["test_unchanged"].startswith(words)
    without_the_check_of_inputs(tiny_course)
    text = "import pytest\n\npytestmark = pytest.mark.side_effects\n" + tiny_course.checks.read_text()
    tiny_course.checks.write_text(text)
    assert list(failed(tiny_course, source)) == ["test_value"]


def test_settings_that_a_call_puts_back_are_no_fault(tiny_course):
    source = "def double(x):\n    torch.set_grad_enabled(False)\n    torch.set_grad_enabled(True)\n    return 2 * x"
    assert failed(tiny_course, source) == {}


KEPT = (
    MODULES[: MODULES.index("@points(1)")]
    .replace("import points", "import assert_model_kept, points")
    .replace("class Layer(torch.nn.Module):", "class Layer(torch.nn.Sequential):")
    .replace("return x", "return super().forward(x)")
    + """
@points(1)
def test_kept(student):
    helper = student.define(HELP + "\\ndef layer():\\n    return Layer(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))")
    layer = helper.layer()
    assert_model_kept(student, layer, lambda: student.call("double", layer))
"""
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "begin"),
    [
        ("x[0].bias.data += 1", "`double` changed the model's `0.bias`."),
        ("x.eval()", "`double` got the model in training mode and left a part of it in evaluation mode."),
        ("x[1].train()", "`double` got the model in evaluation mode and left a part of it in training mode."),
        (
            "x.requires_grad_(True)",
            "`double` changed whether the model's parameter `0.weight` requires gradients.",
        ),
        (
            "x[1].weight.requires_grad_(False)",
            "`double` changed whether the model's parameter `1.weight` requires",
        ),
        ("x.zero_grad()", "`double` changed the gradient that the model's parameter `0.weight` held."),
        (
            "x(torch.ones(2)).sum().backward()",
            "`double` changed the gradient that the model's parameter `0.weight`",
        ),
        ("x[0].register_forward_hook(lambda *_: None)", "`double` left a hook on the model."),
    ],
)
def test_a_check_can_ask_that_a_model_is_kept_in_all_respects(tiny_course, line, begin):
    tiny_course.checks.write_text(KEPT)
    assert failed(tiny_course, f"def double(x):\n    {line}")["test_kept"].startswith(begin)


def test_a_model_that_is_used_and_put_back_is_kept(tiny_course):
    tiny_course.checks.write_text(KEPT)
    use = """def double(x):
    mode, hook = x.training, x[0].register_forward_hook(lambda *_: None)
    x.eval()
    with torch.no_grad():
        x(torch.ones(2))
    hook.remove()
    x.train(mode)
"""
    assert failed(tiny_course, use) == {}


SEEDING = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        torch.manual_seed(3)
        return x

def double(x):
    return x
"""


def test_a_module_that_sets_the_seed_is_told_so(tiny_course):
    tiny_course.checks.write_text(
        "import torch\nfrom gradekit.checks import points\n\n\n@points(1)\ndef test_it(student):\n"
        "    student.Model()(torch.ones(2))\n"
    )
    assert "sets the random seed each time" in failed(tiny_course, SEEDING)["test_it"]
    assert failed(tiny_course, SEEDING.replace("torch.manual_seed(3)", "pass")) == {}


def test_the_standard_mutants_follow_from_what_the_checks_give(tiny_course):
    run = run_mutants(tiny_course.assignment, workers=1, standard=True, everything=True)
    assert [mutant.name.removeprefix("double:standard:double:") for mutant in run.made] == [
        *("remembers", "in_place", "axis_of_one", "squeezed", "above_40", "above_512", "large", "float64"),
    ]
    assert [mutant.after for mutant in run.survivors] == [
        "`double` is wrong for an axis of size 1",
        "`double` drops axes of size 1 from its result for a first axis of size 1",
        "`double` is wrong for an axis longer than 40",
        "`double` is wrong for an axis longer than 512",
        "`double` is wrong for numbers above 30",
        "`double` loses the digits of double precision",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("words", ["is wrong for an axis of size 1", "changes its first array in place"])
def test_a_standard_mutant_may_survive_with_a_reason_that_is_true(tiny_course, capsys, words):
    entry = f'from gradekit.checks import Equivalent\n\nEQUIVALENT = [Equivalent("double", "", "`double` {words}", "So.")]\n'
    (tiny_course.assignment.checks / "equivalent.py").write_text(entry)
    assert tiny_course.gradekit("audit", "--standard", "--workers", "1", "01_double") == 1
    printed = capsys.readouterr().out
    survives = words.startswith("is wrong")
    assert ("1 may survive" in printed) == survives
    assert ("catches it; remove the entry" in printed) == (not survives)


def test_edits_and_standard_faults_are_asked_for_one_at_a_time(tiny_course, capsys):
    assert tiny_course.gradekit("audit", "--standard", "--mutants", "01_double") == 2
    assert "give either --mutants or --standard" in capsys.readouterr().err


LISTS = '''
from gradekit.checks import points


@points(1)
def test_first(student):
    """A list of words, a table, and lists in a list."""
    student.double(["a", "b"], {"a": 1}, [[1, 2], [float("nan")]])
'''


@pytest.mark.parametrize(
    ("line", "begin"),
    [
        ("words.remove('a')", "`double` changed its argument `words` in place. Make a new list instead."),
        ("table['b'] = 2", "`double` changed its argument `table` in place. Make a new dictionary instead."),
        ("rows[0].append(3)", "`double` changed its argument `rows` in place. Make a new list instead."),
        ("words[0] = 'A'", "`double` changed its argument `words` in place."),
    ],
)
def test_a_list_or_a_dictionary_that_is_changed_in_place_is_told(tiny_course, line, begin):
    tiny_course.checks.write_text(LISTS)
    source = f"def double(words, table, rows):\n    {line}"
    assert failed(tiny_course, source)["test_first"].startswith(begin)
    assert failed(tiny_course, source.replace(line, "sorted(words), dict(table, c=1), rows + [1]")) == {}

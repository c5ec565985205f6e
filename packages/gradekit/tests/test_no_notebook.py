"""Students who handed in something, but no notebook of the assignment, are told apart from those who handed in nothing."""

import pytest

from .needs import mostly_thorough
from .tiny_course import RIGHT


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    mostly_thorough(
        ["double.py", "other.ipynb", "report.pdf", "double.ipynb.zip", "a folder/double.py"], examples=2
    ),
)
def test_what_was_handed_in_instead_is_named(name, generated):
    with generated.gradebook() as gradebook:
        gradebook.add_student("nobody")
    generated.hand_in("ann", generated.answer(RIGHT))
    folder = generated.hand_in("cem", "{}", "double.txt").parent
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / "double.txt").rename(folder / name)
    (folder / "timestamp.txt").write_text("2026-11-01 10:00:00 UTC")
    sentence = f"cem: missing. No notebook of this assignment, but {name.split('/')[0]}\n"
    for command in (("autograde", "--workers", "1"), ("table",)):
        printed = generated.run("gradekit", command[0], "01_double", *command[1:]).stdout
        assert sentence in printed
        assert "nobody: missing" not in printed


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "but"), [("report.pdf", ", but report.pdf"), ("", "")])
def test_a_later_hand_in_without_a_notebook_is_named_with_the_scores_that_stay(name, but, generated, capsys):
    stamp = generated.hand_in("ada", generated.answer(RIGHT)).with_name("timestamp.txt")
    stamp.write_text("2026-11-01 10:00:00 UTC")
    assert generated.gradekit("autograde", "01_double") == 0
    stamp.with_name("double.ipynb").unlink()
    stamp.write_text("2026-11-02 10:00:00 UTC")
    if name:
        stamp.with_name(name).write_text("2")
    sentence = (
        f"ada: the last hand-in of 2026-11-02 10:00 UTC has no notebook{but}. "
        "The scores are those of the one before of 2026-11-01 10:00 UTC\n"
    )
    for command in ("regrade", "autograde", "table"):
        capsys.readouterr()
        assert generated.gradekit(command, "01_double") == 0
        assert capsys.readouterr().out.count(sentence) == 1
    assert generated.grades()["ada"]["test_double"] == (10, None, False)

"""Hand-ins of groups, as an LMS packs them."""

import nbformat
import pytest

from .downloads import NOTEBOOK


@pytest.mark.slow
def test_a_listed_group_is_collected_for_each_member(collect, handed_in, generated, enrolled):
    (generated.root / "groups.csv").write_text(
        "group,student\nGroup A,jane\nGroup A,jorg@example.edu\nThe Transformers,han\nThe Transformers,103\n"
        "The Transformers,lena\nGroup B,omar\n"
    )
    groups = "--Collector.groups=groups.csv"
    for product, names in [
        ("Canvas", ["groupa_101_1_double.ipynb", "thetransformers_103_2_double-final.ipynb"]),
        ("Moodle", ["Group A_12_assignsubmission_file/double.ipynb", "The Transformers_13_assignsubmission_file_x.ipynb"]),
        ("Moodle", ["Group A-Jane Doe_1_assignsubmission_file_/double.ipynb", "Group A-Jörg Müller_2_assignsubmission_file_/double.ipynb",
                    "The Transformers-Han Lee_3_assignsubmission_file_/double.ipynb", "The Transformers-Lena Groß_4_assignsubmission_file_/double.ipynb"]),
    ]:  # fmt: skip
        done = collect(product, dict.fromkeys(names, NOTEBOOK), groups, "--force")
        assert handed_in().keys() == {(student, "double") for student in ("jane", "jorg", "han", "lena")}
        assert "not collected" not in done.reported.casefold(), done.reported


@pytest.mark.slow
def test_a_group_that_hands_in_once_is_graded_and_gets_pages_as_two_students(collect, generated, enrolled):
    (generated.root / "groups.csv").write_text("group,student\nGroup A,jane\nGroup A,han\n")
    answer = nbformat.writes(generated.answer("def double(x):\n    return 3 * x"))
    files = {"Group A_12_assignsubmission_file/double.ipynb": answer}
    collect("Moodle", files, "--Collector.groups=groups.csv")
    assert generated.gradekit("autograde", "01_double", "--workers", "1") == 0
    done = generated.run("nbgrader", "generate_feedback", "01_double")
    assert done.returncode == 0, done.stderr
    grades = generated.grades()
    assert grades["jane"] == grades["han"] and grades["jane"]["test_double"][0] == 3
    for student in ("jane", "han"):
        page = (generated.root / "feedback" / student / "01_double" / "double.html").read_text()
        assert f"Feedback for {student}" in page and "You took three times the input." in page


@pytest.mark.slow
def test_a_list_of_groups_may_have_semicolons_as_excel_writes_in_some_countries(
    collect, handed_in, generated
):
    (generated.root / "groups.csv").write_text("Group;Email\nGroup A;jane\nGroup A;han\n")
    collect("Moodle", {"Group A_1_assignsubmission_file/x.ipynb": NOTEBOOK}, "--Collector.groups=groups.csv")
    assert handed_in().keys() == {("jane", "double"), ("han", "double")}


def test_canvas_s_own_list_of_groups_is_read(collect, handed_in, generated, enrolled):
    (generated.root / "groups.csv").write_text(
        "\ufeffname,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id\n"
        "Jane Doe,101,,jane,Section 1,Group 1,5,\nHan Lee,103,,hlee,Section 1,Group 1,5,\nLena Groß,110,,lena,Section 1,,,\n",
        encoding="utf-8",
    )
    collect("Canvas", {"group1_101_1_double.ipynb": NOTEBOOK}, "--Collector.groups=groups.csv")
    assert handed_in().keys() == {("jane", "double"), ("han", "double")}


@pytest.mark.slow
@pytest.mark.parametrize("text", [None, "", "team,name\na,b\n", "group,student\nÄ,b\n".encode("latin-1")])
def test_a_list_of_groups_that_cannot_be_read_ends_the_command_with_one_sentence(text, collect, generated):
    if text is not None:
        (generated.root / "groups.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    done = collect("Canvas", {"a_1_11_double.ipynb": NOTEBOOK}, "--Collector.groups=groups.csv")
    assert done.returncode == 1
    assert "groups.csv" in done.stderr
    assert not (generated.root / "submitted").exists()


def test_a_group_under_any_name_is_noticed_when_canvas_names_one_of_its_members(collect, enrolled):
    done = collect("Canvas", {"thetransformers_101_1_double.ipynb": NOTEBOOK})
    assert "thetransformers (jane)" in done.reported.split("--Collector.groups=groups.csv")[1]


def test_members_of_groups_are_collected_in_a_second_go_if_nothing_was_unpacked(
    collect, handed_in, generated, enrolled
):
    folder = generated.root / "downloaded" / "01_double" / "extracted"
    (folder / "submission_1").mkdir(parents=True)
    (folder / "submission_1" / "double.ipynb").write_text(NOTEBOOK)
    metadata = "submission_1: {':submitters': [{':sid': jane}, {':sid': han}]}"
    (folder / "submission_metadata.yml").write_text(metadata)
    assert "Run the same command again, with --force" in collect("Gradescope", None).reported
    done = collect("Gradescope", None, "--force")
    assert "again" not in done.reported
    assert handed_in().keys() == {("jane", "double"), ("han", "double")}

"""The roster of `gradekit watch --git`: a row with a mistake is named, and costs nobody else anything."""

import subprocess

import pytest

from gradekit.course import CourseError
from gradekit_git.roster import read_roster, same_remote

NAME = "01_double"
GOOD = "https://git.example.edu/ada.git"


def read(tmp_path, text: str):
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8")
    return read_roster(path, "main", ["https", "ssh"], ["01_double", "02_other"])


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("../eve,https://h/r", "student's name that nbgrader can't handle"),
        (".eve,https://h/r", "student's name that nbgrader can't handle"),
        ("<b>eve,https://h/r", "student's name that nbgrader can't handle"),
        (",https://h/r", "has no student"),
        ("eve,", "has no remote"),
        ("eve,-oProxyCommand=x", "isn't an address"),
        ("eve,ext::sh -c x", "isn't an address"),
        ("eve,https://h/a b", "isn't an address: https://h/a b. Write each space in it as %20"),
        ("eve,https://[h/r", "isn't an address"),
        ("eve,https:///r", "without a host"),
        ("eve,ssh://-oProxyCommand=x/r", "without a host"),
        ("eve,file:///etc", "protocol, file, is not in"),
        ("eve,/etc", "protocol, file, is not in"),
        ("eve,http://h/r", "protocol, http, is not in"),
        ("eve,https://u:p4ss@h/r", "password or token in its remote"),
        ("eve,https://t0ken@h/r", "password or token in its remote"),
        ("eve,https://h/r,03_none", "no assignment of the course"),
        ("eve,https://h/r,,a..b", "a branch that Git doesn't allow"),
        ("eve,https://h/r,,--upload-pack=x", "a branch that Git doesn't allow"),
        ("eve,https://h/r,,,../other", "outside of the repository"),
        ("eve,https://h/r,,,,,7", "more fields than columns"),
    ],
)
def test_a_bad_row_is_named_and_the_others_are_used(tmp_path, row, words):
    good, bad = read(tmp_path, f"student,remote,assignment,branch,folder,group\nada,{GOOD}\n{row}\n")
    assert [repository.student for repository in good] == ["ada"]
    assert [found.row for found in bad] == [3]
    assert words in bad[0].reason
    assert "p4ss" not in bad[0].reason and "t0ken" not in bad[0].reason


def test_two_students_with_one_remote_are_both_left_out_unless_they_are_a_group(tmp_path):
    head, third = "student,remote,group\n", "cleo,https://git.example.edu/cleo\n"
    same = f"ada,{GOOD},{{0}}\nben,git@GIT.example.edu:Ada,{{1}}\n"
    for groups in (("", ""), ("a", "b"), ("a", "")):
        good, bad = read(tmp_path, head + same.format(*groups) + third)
        assert [repository.student for repository in good] == ["cleo"]
        assert all("the same remote as others (ada, ben)" in row.reason for row in bad) and len(bad) == 2
    good, bad = read(tmp_path, head + same.format("a", "a") + third)
    assert [repository.student for repository in good] == ["ada", "ben", "cleo"] and bad == []


def test_one_repository_may_have_a_folder_for_each_student(tmp_path):
    good, bad = read(tmp_path, f"student,remote,folder\nada,{GOOD},ada\nben,{GOOD},/ben/\n")
    assert [repository.folder for repository in good] == ["ada", "ben"] and bad == []


def test_a_student_has_one_repository_for_an_assignment(tmp_path):
    head = "student,remote,assignment\n"
    good, bad = read(tmp_path, head + "ada,https://h/1,01_double\nada,https://h/2,02_other\n")
    assert len(good) == 2 and bad == []
    for second in ("01_double", ""):
        good, bad = read(tmp_path, head + f"ada,https://h/1,01_double\nada,https://h/2,{second}\n")
        assert good == [] and len(bad) == 2


@pytest.mark.parametrize(
    "text", ["", "ada,https://h/r\n", "student;remote\nada;x\n", "student,remote,color\n"]
)
def test_a_file_without_the_columns_is_refused(tmp_path, text):
    with pytest.raises(CourseError, match="must name the columns student and remote"):
        read(tmp_path, text)


def test_a_byte_order_mark_and_spaces_are_no_mistake(tmp_path):
    good, bad = read(tmp_path, f"\ufeffstudent, remote\r\nZoë van Dijk , {GOOD} \r\n\r\n")
    assert [(each.student, each.remote, each.branch) for each in good] == [("Zoë van Dijk", GOOD, "main")]
    assert bad == []


def test_forms_of_one_address_are_recognized():
    forms = (
        "https://H.edu/a/b.git",
        "https://h.edu/a/b/",
        "git@h.edu:a/b",
        "ssh://git@h.edu:22/a/b.git",
        "http://h.edu/A/B",
        # a student may have written it so that it isn't like another's
        "https://h.edu./a//b",
        "https://h.edu/a/x/../%62",
        "git@h.edu:./a/b",
    )
    assert len(set(map(same_remote, forms))) == 1
    assert same_remote("http://h.edu:3000/a/b") != same_remote("http://h.edu:8080/a/b")


@pytest.mark.parametrize(
    "branch", ["été", "fix#1", "a@b", "v1,2", "-x", "a b", "a..b", "x.lock", "@", "a@{1}", "a~1", "/a"]
)
def test_branches_are_those_that_git_allows(tmp_path, branch):
    path = tmp_path / "roster.csv"
    path.write_text(f'student,remote,branch\nada,https://h.edu/a.git,"{branch}"\n')
    allowed = subprocess.run(["git", "check-ref-format", f"refs/heads/{branch}"], check=False).returncode == 0
    found, bad = read_roster(path, "main", ["https"], [NAME])
    assert (len(found), len(bad)) == ((1, 0) if allowed and branch not in ("-x", "@") else (0, 1))


def test_nobody_hands_in_the_folder_of_another(tmp_path):
    path = tmp_path / "roster.csv"
    rows = ["student,remote,assignment,folder"]
    rows += [
        f"{name},https://h.edu/c.git,{NAME},{folder}"
        for name, folder in (("ada", ""), ("ben", "b"), ("eve", "b/c"))
    ]
    path.write_text("\n".join(rows))
    found, bad = read_roster(path, "main", ["https"], [NAME])
    assert found == [] and [row.student for row in bad] == ["ada", "ben", "eve"]


def test_a_quotation_mark_without_its_pair_is_named_with_a_line(tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text('student,remote\nada,"https://h.edu/a.git\n')
    with pytest.raises(CourseError, match=r"roster.csv, line 2: .* needs its pair"):
        read_roster(path, "main", ["https"], [NAME])

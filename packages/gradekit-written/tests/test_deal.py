"""Hand grading dealt out to several graders, and how their scores compare."""

import csv
import re
import shutil
from collections import Counter

import pytest

from gradekit.course import CourseError
from gradekit.course.cells import find_cell
from gradekit.course.rubrics import RubricItem
from gradekit_written.cli import _share
from gradekit_written.deal import Reading, SecondScore, deal_out, grader_names
from gradekit_written.graders import _items, _Scored, calibration, chance_corrected
from gradekit_written.written_answers import WrittenAnswer

from ...gradekit.tests.tiny_course import RIGHT, RIGHT_HALF

STUDENTS = [f"s{number:02}" for number in range(12)]
NAMES = [f"n{number:02}" for number in range(23)]


def piles(readings):
    return Counter(reading.grader for reading in readings)


@pytest.mark.parametrize("graders", [["ann"], ["ann", "bob"], ["ann", "bob", "cy"], list("abcde")])
@pytest.mark.parametrize("count", [1, 2, 7, 23])
@pytest.mark.parametrize("twice", [0, 0.1, 0.5, 1])
def test_piles_differ_by_at_most_one_and_nobody_reads_a_submission_twice(graders, count, twice):
    if twice and len(graders) == 1:
        with pytest.raises(CourseError, match="--twice needs two graders"):
            deal_out(NAMES[:count], graders, twice)
        return
    readings = deal_out(NAMES[:count], graders, twice)
    assert Counter(r.submission for r in readings if not r.second) == Counter(NAMES[:count])
    twice_read = [r.submission for r in readings if r.second]
    assert len(twice_read) == len(set(twice_read)) == -(-count * twice // 1)
    assert len({(r.submission, r.grader) for r in readings}) == len(readings)
    sizes = [piles(readings)[grader] for grader in graders]
    assert max(sizes) - min(sizes) <= 1


def test_the_seed_decides_who_reads_what():
    ann_and_bob = ["ann", "bob"]
    assert deal_out(NAMES, ann_and_bob, 0.2) == deal_out(reversed(NAMES), ann_and_bob, 0.2)
    assert deal_out(NAMES, ann_and_bob, 0.2) != deal_out(NAMES, ann_and_bob, 0.2, seed=1)


def test_what_was_dealt_stays_with_its_grader_and_late_submissions_go_to_the_smallest_pile():
    before = deal_out(NAMES[:10], ["ann", "bob"], 0.2)
    after = deal_out(NAMES[:13], ["ann", "bob"], 0.2, kept=before)
    assert set(before) < set(after)
    assert sorted(piles(after).values()) == [8, 8]
    without_bob = [reading for reading in before if reading.grader == "ann"]
    assert {r.grader for r in deal_out(NAMES[:10], ["ann", "cy"], kept=without_bob)} == {"ann", "cy"}


def test_a_submission_s_first_reader_is_never_its_second():
    kept = [Reading("x", "bob", second=True)]
    assert Reading("x", "ann") in deal_out(["x"], ["bob", "ann"], kept=kept)


@pytest.mark.parametrize("names", ["", ",", "ann,Ann", "ann,../bob", "ann,b ob", "a" * 41])
def test_names_of_graders_are_names_of_files(names):
    with pytest.raises(CourseError, match="--to"):
        grader_names(names)


@pytest.mark.parametrize("share", ["10", "x%", "101%", "-1%"])
def test_a_share_is_in_percent(share):
    with pytest.raises(Exception, match="is not a share such as 10%"):
        _share(share)
    assert _share("12.5 %") == 0.125


@pytest.fixture(scope="module")
def written_original(class_original, course_at, tmp_path_factory):
    """A graded class of twelve; all but the last have answered `why`."""
    course = course_at(shutil.copytree(class_original, tmp_path_factory.mktemp("written") / "course"))
    for student in STUDENTS:
        notebook = course.answer(RIGHT, RIGHT_HALF)
        if student != STUDENTS[-1]:
            next(cell for cell in notebook.cells if cell["id"] == "why").source = f"=1+1\nsays {student}."
        course.hand_in(student, notebook)
    assert course.gradekit("autograde", "01_double", "--workers", "1") == 0
    return course.root


@pytest.fixture
def written(written_original, course_at, tmp_path):
    return course_at(shutil.copytree(written_original, tmp_path / "course"))


def lists(course):
    found = {}
    for path in sorted((course.root / "dealt" / "01_double").glob("*.csv")):
        with path.open(newline="") as file:
            found[path.name] = list(csv.DictReader(file))
    return found


def deal(course, *options):
    return course.gradekit("deal", "01_double", *options)


def type_scores(course, name, scores, to=None, column="score"):
    """Type scores into the second readings of a list, as a grader does."""
    path = course.root / "dealt" / "01_double" / name
    rows = lists(course)[name]
    for row, score in zip([row for row in rows if row["reading"] == "second"], scores, strict=True):
        row[column] = score
    with (to or path).open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0], delimiter=";" if to else ",")
        table.writeheader()
        table.writerows(rows)


def test_each_grader_gets_a_list_of_links_without_names_of_students(written, capsys):
    assert deal(written, "--to", "ann,bob", "--twice", "40%", "--address", "https://hub.example.edu/u/") == 0
    out = capsys.readouterr().out
    assert "01_double: 11 submissions with 11 written answers\n" in out
    found = lists(written)
    assert list(found) == ["ann.csv", "bob.csv"]
    assert sorted(map(len, found.values())) == [8, 8]
    rows = [row for rows in found.values() for row in rows]
    with written.gradebook() as gradebook:
        ids = {
            notebook.id: notebook.student.id
            for submission in gradebook.assignment_submissions("01_double")
            for notebook in submission.notebooks
        }
    first = [row for row in rows if row["reading"] == "first"]
    assert {ids[row["submission"]] for row in first} == set(STUDENTS[:-1])
    assert {row["score"] for row in first} == {"in formgrader"}
    second = [row for row in rows if row["reading"] == "second"]
    assert len(second) == 5 and {row["score"] for row in second} == {""}
    for row in rows:
        assert row["link"] == f"https://hub.example.edu/u/formgrader/submissions/{row['submission']}"
        assert (row["answer"], row["points"]) == ("why", "5")
    for row in second:  # the text of the answer, which is no formula in a spreadsheet
        assert row["text"].startswith("'=1+1\nsays ")
    assert deal(written, "--to", "ann,bob", "--twice", "40%", "--address", "https://hub.example.edu/u/") == 0
    assert lists(written) == found


def test_the_list_of_a_grader_who_has_left_goes_to_the_others_but_for_its_scores(written):
    deal(written, "--to", "ann,bob", "--twice", "40%")
    before = lists(written)
    assert deal(written, "--to", "ann,cy") == 0
    after = lists(written)
    assert list(after) == ["ann.csv", "cy.csv"]
    first = [row["submission"] for rows in after.values() for row in rows if row["reading"] == "first"]
    assert len(first) == len(set(first)) == 11
    seconds = sum(row["reading"] == "second" for row in after["ann.csv"])
    assert seconds == sum(row["reading"] == "second" for row in before["ann.csv"])

    type_scores(written, "ann.csv", ["4"] * seconds)
    assert deal(written, "--to", "bob,cy") == 0
    kept = lists(written)["ann.csv"]
    assert [(row["reading"], row["score"]) for row in kept] == [("second", "4")] * seconds


def test_a_grader_for_whom_nothing_is_left_is_named(written, capsys):
    deal(written, "--to", "ann,bob")
    capsys.readouterr()
    assert deal(written, "--to", "ann,bob,cy") == 0
    out = capsys.readouterr().out
    assert "  nothing for cy: all were dealt out before\n" in out


def test_a_list_in_another_encoding_gets_advice(written, capsys, tmp_path):
    deal(written, "--to", "ann,bob", "--twice", "40%")
    path = tmp_path / "bob.csv"
    text = (written.root / "dealt" / "01_double" / "bob.csv").read_text()
    path.write_text(text, encoding="utf-16")
    assert deal(written, "--scores", str(path)) == 2
    assert f"{path} isn't in UTF-8: save it again as a CSV file in UTF-8" in capsys.readouterr().err


@pytest.mark.slow
def test_a_filled_in_list_is_read_back_and_the_report_compares_the_graders(written, capsys, tmp_path):
    deal(written, "--to", "ann,bob", "--twice", "40%")
    readings = {name: rows for name, rows in lists(written).items()}
    with written.gradebook() as gradebook:
        for name, rows in readings.items():
            for row in rows:
                if row["reading"] == "first":
                    notebook = gradebook.find_submission_notebook_by_id(row["submission"])
                    grade = next(grade for grade in notebook.grades if grade.name == "why")
                    grade.manual_score, grade.needs_manual_grade = (4 if name == "ann.csv" else 3), False
        gradebook.db.commit()
    seconds = {name: sum(row["reading"] == "second" for row in rows) for name, rows in readings.items()}
    mailed = tmp_path / "from bob.csv"
    type_scores(written, "bob.csv", ["2,5"] * seconds["bob.csv"], to=mailed)
    capsys.readouterr()
    assert deal(written, "--scores", str(mailed)) == 0
    assert f"{mailed}: {seconds['bob.csv']} scores\n" in capsys.readouterr().out
    type_scores(written, "ann.csv", ["4"] * seconds["ann.csv"])  # typed in place, which is as good

    assert deal(written, "--to", "ann,bob", "--twice", "40%") == 0  # loses no score
    found = calibration(written.running, written.assignment)
    ann, bob = found.graders
    assert (ann.grader, ann.count, ann.waiting, ann.quartiles) == ("ann", 8, 0, (4, 4, 4))
    assert (bob.count, bob.quartiles[2]) == (8, 3) and bob.caution == "Too few answers to judge."
    (both,) = found.agreements
    assert both.count == 5 and both.apart == seconds["bob.csv"]  # 4 and 2.5; not 4 and 3
    expected = -(1.5 * seconds["bob.csv"] + seconds["ann.csv"]) / 5
    assert both.difference == pytest.approx(expected)

    assert written.gradekit("report", "01_double") == 0
    out = capsys.readouterr().out
    assert "  ann, why: 8 graded: median 4 of 5, middle half from 4 to 4. Too few answers to judge." in out
    assert f"  why, 5 answers graded twice: ann gives {-expected:.1f} more than bob on average; " in out
    page = (written.root / "reports/01_double/report.html").read_text()
    assert '<section id="graders">' in page and "Answers graded twice" in page


def test_where_the_package_is_missing_the_report_names_the_lists_that_it_leaves_out(
    written, capsys, monkeypatch
):
    deal(written, "--to", "ann,bob")
    monkeypatch.setattr("gradekit.report.class_report.entry_points", lambda group: [])
    capsys.readouterr()
    assert written.gradekit("report", "01_double") == 1
    assert (
        f"  left out: {written.root / 'dealt' / '01_double'}, since gradekit-written, which compares the graders, "
        "is not installed\n"
    ) in capsys.readouterr().out


def test_without_dealing_the_report_has_no_graders(written):
    assert calibration(written.running, written.assignment) is None


@pytest.mark.parametrize("score", ["six", "5.5", "-1", "nan"])
def test_a_score_that_is_none_is_refused_with_its_line(written, capsys, score):
    deal(written, "--to", "ann,bob", "--twice", "10%")
    name = next(name for name, rows in lists(written).items() if any(r["reading"] == "second" for r in rows))
    type_scores(written, name, [score] * sum(row["reading"] == "second" for row in lists(written)[name]))
    capsys.readouterr()
    assert deal(written, "--to", "ann,bob") == 2
    err = capsys.readouterr().err
    assert f"{name}, line " in err and f"the score {score} is not a number from 0 to 5" in err


def test_what_can_t_be_dealt_or_read_is_said_in_a_sentence(written, capsys, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    for options, sentence in [
        ((), "use either --to ann,bob, to name the graders, or --scores FILE, to read a list"),
        (("--to", "ann", "--twice", "10%"), "--twice needs two graders: name them with --to ann,bob"),
        (("--scores", str(other)), "other.csv has no column answer, points, reading, score, submission"),
        (("--scores", str(tmp_path / "none.csv")), "none.csv can't be read"),
    ]:
        assert deal(written, *options) == 2
        err = capsys.readouterr().err
        assert sentence in err and len(err.splitlines()) == 1
    deal(written, "--to", "ann,bob")
    capsys.readouterr()
    assert deal(written, "--scores", str(written.root / "dealt/01_double/ann.csv")) == 2
    assert "has no score: type them into the column `score`" in capsys.readouterr().err


def test_nothing_to_deal_is_said_in_a_sentence(graded_class, capsys):
    assert deal(graded_class, "--to", "ann") == 2
    assert "01_double has no written answers to grade" in capsys.readouterr().err


LINEAR, SUM = RubricItem(3, "it is linear"), RubricItem(2, "*both* are <b>equal</b>")
WITH_RUBRIC = f"Because.\n\n**Rubric (5 points)**\n\n- 3: {LINEAR.text}\n- 2: {SUM.text}"


def ratings(**grader_given):
    """Ratings of answers, in a string for each grader: 1 and 0, or a blank if the grader has not read it."""
    return [
        (grader, f"{place:02}", mark == "1")
        for grader, marks in grader_given.items()
        for place, mark in enumerate(marks)
        if mark != " "
    ]


def test_two_graders_are_compared_by_kappa_as_computed_by_hand():
    # of 20 answers: 8 both, 4 only ann, 2 only bob, 6 neither. Observed 14/20; expected 12/20 * 10/20 + 8/20 * 10/20
    both = ratings(ann="1" * 12 + "0" * 8, bob="1" * 8 + "0" * 4 + "1" * 2 + "0" * 6)
    assert chance_corrected(both) == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert chance_corrected(ratings(ann="10", bob="01")) == pytest.approx(-1)


def test_more_graders_are_compared_by_alpha_as_computed_by_hand():
    # 12 ratings in 6 pairs, 6 of each value; 2 pairs differ: 1 - (2 * 2 / 12) / (2 * 6 * 6 / (12 * 11)) = 7/18
    three = ratings(ann="11  10", bob="1000  ", cy="  0011")
    assert chance_corrected(three) == pytest.approx(7 / 18)


def test_if_everybody_or_nobody_has_an_idea_there_is_no_agreement_beyond_chance():
    assert chance_corrected(ratings(ann="111", bob="111")) is None
    assert chance_corrected(ratings(ann="000", bob="000", cy="000")) is None


def scored_twice(number, comment, score, second):
    answer = WrittenAnswer(f"{number:02}", "s", "double", "why", 5, score, comment)
    return [_Scored(answer, "ann", score), _Scored(answer, "bob", second and second.score, second)]


def test_an_idea_is_compared_where_both_scores_are_sums_of_ideas(tiny_course, tiny_source):
    find_cell(tiny_source, "why").source = WITH_RUBRIC
    tiny_course.write_source(tiny_source)
    rubric = f"1. (3) {LINEAR.text}\n2. (2) {SUM.text}"
    both, one, none = SecondScore(5, "1 2", rubric), SecondScore(3, "1", rubric), SecondScore(0)
    scores = [
        *(scored_twice(n, f"Good.\n\n{LINEAR.line}\n{SUM.line}", 5, both) for n in range(8)),
        *(scored_twice(n, LINEAR.line, 3, one) for n in range(8, 12)),
        *(scored_twice(n, f"{LINEAR.line}\n{SUM.line}", 5, one) for n in range(12, 16)),
        *(scored_twice(n, "Nothing.", 0, none) for n in range(16, 20)),
        # not counted: typed scores, no second score yet, and items of another rubric
        scored_twice(20, LINEAR.line, 2.5, one),
        scored_twice(21, "", 3, one),
        scored_twice(22, LINEAR.line, 3, SecondScore(4, "1", rubric)),
        scored_twice(23, LINEAR.line, 3, None),
        scored_twice(24, LINEAR.line, 3, SecondScore(3, "1", "1. (3) something else")),
    ]
    found = list(_items(tiny_course.assignment, [one for pair in scores for one in pair]))
    linear, equal = found
    assert (linear.item, linear.count, linear.same, linear.value) == (LINEAR.text, 20, 20, 1)
    # ann 12 of 20, bob 8 of 20, both 8, neither 8: observed 0.8, expected 0.48
    assert (equal.count, equal.same, equal.caution) == (20, 16, "")
    assert equal.value == pytest.approx((0.8 - 0.48) / (1 - 0.48)) and equal.in_words == "κ 0.62"
    few = list(_items(tiny_course.assignment, [one for pair in scores[:19] for one in pair]))
    assert [(item.count, item.value, item.caution) for item in few] == [
        (19, None, "20 answers are needed.")
    ] * 2


@pytest.mark.slow
def test_a_second_reader_types_numbers_of_ideas_and_the_report_compares_each(written, tiny_source, capsys):
    find_cell(tiny_source, "why").source = WITH_RUBRIC
    written.write_source(tiny_source)
    deal(written, "--to", "ann,bob", "--twice", "100%")
    found = lists(written)
    assert {row["rubric"] for row in found["ann.csv"] if row["reading"] == "second"} == {
        f"1. (3) {LINEAR.text}\n2. (2) {SUM.text}"
    }
    page = (written.root / "dealt/01_double/ann.html").read_text()
    assert re.search(r"<ol>\s*<li>\(3\) it is linear</li>\s*<li>\(2\) <em>both</em>", page)
    with written.gradebook() as gradebook:
        for row in (row for rows in found.values() for row in rows if row["reading"] == "first"):
            notebook = gradebook.find_submission_notebook_by_id(row["submission"])
            grade = next(grade for grade in notebook.grades if grade.name == "why")
            grade.manual_score, grade.needs_manual_grade = 5, False
            comment = next(comment for comment in notebook.comments if comment.name == "why")
            comment.manual_comment = f"Well done.\n\n{LINEAR.line}\n{SUM.line} Yes."
        gradebook.db.commit()
    for name in found:
        count = sum(row["reading"] == "second" for row in found[name])
        type_scores(written, name, ["1 2", *["1"] * (count - 1)], column="items")
    assert deal(written, "--to", "ann,bob", "--twice", "100%") == 0
    kept = [row for rows in lists(written).values() for row in rows if row["reading"] == "second"]
    assert sorted((row["items"], row["score"]) for row in kept) == [("1", "3")] * 9 + [("1 2", "5")] * 2
    capsys.readouterr()
    assert written.gradekit("report", "01_double") == 0
    assert (
        "  why, it is linear: the same for 11 of 11 answers. 20 answers are needed."
        in capsys.readouterr().out
    )
    page = (written.root / "reports/01_double/report.html").read_text()
    assert "Agreement in each idea" in page and "*both* are &lt;b&gt;equal&lt;/b&gt;" in page
    assert "<b>equal" not in page

    type_scores(
        written,
        "bob.csv",
        ["3 1"] * sum(row["reading"] == "second" for row in found["bob.csv"]),
        column="items",
    )
    assert deal(written, "--to", "ann,bob") == 2
    assert "the items 3 1 must be numbers from 1 to 2, separated by spaces" in capsys.readouterr().err


@pytest.fixture
def with_rubric(written, tiny_source):
    """Lists of two graders, who each read some answers as the second."""
    find_cell(tiny_source, "why").source = WITH_RUBRIC
    written.write_source(tiny_source)
    deal(written, "--to", "ann,bob", "--twice", "100%")
    return written


def change(course, name, reading, **cells):
    """Change the last such row of a list; returns where it is, as a message says."""
    path = course.root / "dealt" / "01_double" / name
    rows = lists(course)[name]
    row = [row for row in rows if row["reading"] == reading][-1]
    row.update(cells)
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, row)
        table.writeheader()
        table.writerows(rows)
    before = path.read_text().partition(row["link"])[0]
    return f"{path}, line {before.count(chr(10)) + 1}, answer why of the submission {row['submission']}"


def test_a_row_or_list_that_can_t_be_read_is_named_with_its_first_line_and_left_out_of_the_report(
    with_rubric, capsys
):
    where = change(with_rubric, "bob.csv", "second", items="1 9")
    (with_rubric.root / "dealt/01_double/cy.csv").write_text("a,b\n1,2\n")
    capsys.readouterr()
    assert with_rubric.gradekit("report", "01_double") == 1
    out = capsys.readouterr().out
    sentence = f"{where}: the items 1 9 must be numbers from 1 to 2, separated by spaces"
    assert f"  left out: {sentence}\n" in out and "cy.csv has no column" in out
    assert (
        f"<li>Left out: {sentence}</li>" in (with_rubric.root / "reports/01_double/report.html").read_text()
    )
    assert deal(with_rubric, "--to", "ann,bob") == 2  # which would remove what was typed
    assert sentence in capsys.readouterr().err


@pytest.mark.slow
def test_what_is_typed_where_it_does_not_count_is_named(with_rubric, capsys, tmp_path):
    both = change(with_rubric, "bob.csv", "second", items="1", score="4")
    first = change(with_rubric, "bob.csv", "first", score="2", items="2")
    remarks = (
        f"  {first}: 2 and 2 doesn't count, since this is a first reading: grade it in formgrader\n",
        f"  {both}: the score 4 counts, although the items 1 add up to 3\n",
    )
    mailed = shutil.copy(with_rubric.root / "dealt/01_double/bob.csv", tmp_path)
    for options in (("report", "01_double"), ("deal", "01_double", "--to", "ann,bob")):
        capsys.readouterr()
        assert with_rubric.gradekit(*options) == 0
        out = capsys.readouterr().out
        assert all(remark in out for remark in remarks), out
    assert deal(with_rubric, "--scores", str(mailed)) == 0
    out = capsys.readouterr().out
    dealt = str(with_rubric.root / "dealt/01_double/bob.csv")
    assert all(remark.replace(dealt, str(mailed)) in out for remark in remarks), out
    assert remarks[0] not in out and remarks[1] in out  # the list was written again without it

"""Values of pandas: they arrive as they were, are compared as `pandas.testing` does, and messages say what to do."""

import datetime

import numpy as np
import pandas as pd
import pytest

from gradekit.checks.asserts import CheckFailure, assert_close, assert_unchanged, describe, difference
from gradekit.checks.reference import Reference, Store
from gradekit.course import CourseError
from gradekit.inside.agent import Agent
from gradekit.inside.messages import MessageError, decode, encode
from gradekit.session.replies import read_reply
from gradekit.session.values import Call, CheckOutcome, Opaque
from gradekit.verdict.diagnosis import fingerprint_of
from gradekit.verdict.results import same_numbers

PENGUINS = pd.DataFrame(
    {
        "species": ["Adelie", "Adelie", "Gentoo", "Chinstrap", "Gentoo"],
        "island": ["T", "B", "B", "D", "B"],
        "mass": [3700, 3800, 5000, 3700, 5300],
        "bill": [39.1, 39.5, 46.1, np.nan, 48.2],
        "year": [2007, 2008, 2008, 2009, 2009],
    }
)
MEAN = PENGUINS.groupby("species")["mass"].mean()
TABLE = PENGUINS.groupby("species", as_index=False).agg(mass=("mass", "mean"), n=("mass", "size"))
HEAVY = PENGUINS[PENGUINS.mass > 3750].reset_index(drop=True)
DAYS = pd.DataFrame({"day": pd.to_datetime(["2024-01-01", "2024-01-02"]), "t": [1.5, 2.5]})
BINS = pd.cut(PENGUINS.mass, [0, 4000, 9000])

VALUES = {
    "every column": pd.DataFrame(
        {"a": [1, 2], "b": ["x", None], "c": [1.5, np.nan], "d": [True, False], "e": [np.inf, -0.0]},
        index=pd.date_range("2024-01-01", periods=2, tz="Europe/Berlin", name="day"),
    ),
    "nothing": pd.DataFrame(),
    "no columns": pd.DataFrame(index=range(3)),
    "no rows": pd.DataFrame(columns=["a", "b"]),
    "a column twice": pd.DataFrame([[1, "x"], [3, "y"]], columns=["a", "a"]),
    "labels of all kinds": pd.DataFrame({1: [1], "1": [2], np.nan: [3], None: [4], ("a", 1): [5]}),
    "two levels": PENGUINS.groupby(["island", "species"]).agg({"mass": ["mean", "max"], "bill": ["sum"]}),
    "bins": PENGUINS.groupby(BINS, observed=False).mass.sum(),
    "ordered categories": pd.Series(pd.Categorical(["lo", None, "hi"], ["lo", "hi"], ordered=True), name="c"),
    "nullable integers": pd.Series([1, None, 3], dtype="Int64"),
    "nullable booleans": pd.Series([True, None], dtype="boolean"),
    "nullable floats": pd.Series([1.5, None], dtype="Float32"),
    "nullable text": pd.Series(["a", None], dtype="string"),
    "text": pd.Series(["ü😀", "", None]),
    "objects": pd.Series(
        [
            1,
            "a",
            None,
            2.5,
            datetime.date(2020, 1, 2),
            pd.Timestamp("2020", tz="UTC"),
            pd.NA,
            pd.NaT,
            (1, "b"),
        ],
        dtype=object,
    ),
    "periods": pd.Series(pd.period_range("2024-01", periods=3, freq="M")),
    "durations": pd.Series(pd.to_timedelta([1, 2], unit="h")),
    "dates with gaps": pd.DatetimeIndex(["2024-01-01", None], name="d"),
    "a range": pd.RangeIndex(2, 12, 5, name="r"),
    "an index of two levels": pd.MultiIndex.from_product([[1, 2], ["a", "b"]], names=["x", None]),
    "an array of text": PENGUINS.species.unique(),
    "a categorical": pd.Categorical(["a", "b", "a"]),
    "small numbers": pd.Series(np.arange(3, dtype="uint8"), index=[np.nan, 1, 2]),
    "a date": pd.Timestamp("2024-01-01 12:00", tz="Europe/Berlin"),
    "a duration": pd.Timedelta("1h"),
    "a bin": pd.Interval(0, 1),
    "a month": pd.Period("2024-01", "M"),
    "no date": pd.NaT,
    "nothing known": pd.NA,
}


def assert_equal(found: object, value: object) -> None:
    assert type(found) is type(value)
    if isinstance(value, pd.DataFrame):
        pd.testing.assert_frame_equal(found, value, check_freq=False)
    elif isinstance(value, pd.Series):
        pd.testing.assert_series_equal(found, value, check_freq=False)
    elif isinstance(value, pd.Index):
        pd.testing.assert_index_equal(found, value, exact=True)
    elif isinstance(value, pd.api.extensions.ExtensionArray):
        pd.testing.assert_extension_array_equal(found, value)
    else:
        assert found is value or found == value


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_arrives_as_it_was_in_both_directions(value):
    assert_equal(read_reply(encode({"ok": True, "value": value}), lambda item: item).value, value)
    assert_equal(decode(encode([value]))[0], value)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_equals_itself_and_is_recorded(value, tmp_path):
    assert difference(value, value) is None
    store = Store(tmp_path / "reference.safetensors", recording=True)
    Reference(store, "test_x::test_y").assert_close(value, name="result")
    store.save()
    again = Store.load(tmp_path)
    Reference(again, "test_x::test_y").assert_close(value, name="result")
    before = store.path.read_bytes()
    again.save()
    assert again.path.read_bytes() == before


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (pd.Series([[1], [2]]), "the Series holds list objects; only text, numbers"),
        (pd.DataFrame({"parts": [{"a": 1}]}), "the column `parts` holds dict objects"),
        (pd.Series(pd.arrays.SparseArray([0, 1])), "has the dtype Sparse"),
        (pd.Series([1j]), "has the dtype complex128, which can't be checked"),
        (pd.DataFrame(np.zeros((1, 1001))), "more than 1000 columns"),
    ],
)
def test_what_cannot_be_sent_is_named(value, words):
    with pytest.raises(MessageError, match=words):
        encode(value)


WRONG = [
    ("the index is not reset after grouping", TABLE.set_index("species"), TABLE,
     "has `species` as its index, but should have it as a column: use `reset_index()`"),
    ("the groups are a column", TABLE, TABLE.set_index("species"),
     "has `species` as a column, but should have it as its index: use `set_index('species')`"),
    ("agg with lists", PENGUINS.groupby("species").agg({"mass": ["mean", "size"]}).reset_index(), TABLE,
     "has columns of 2 levels, such as (`mass`, `size`), but should have plain names: "
     'name them, as in `agg(total=("x", "sum"))`'),
    ("max instead of mean", TABLE.assign(mass=[3900.5, 3700.0, 5300.0]), TABLE,
     "is wrong in the column `mass`: most of its 3 rows are wrong"),
    ("another name", TABLE.rename(columns={"n": "count"}), TABLE,
     "lacks the column `n` and has the column `count`, which should not be there"),
    ("a capital", TABLE.rename(columns={"mass": "Mass"}), TABLE,
     "has the column `Mass`, but its name should be `mass`"),
    ("a space", TABLE.rename(columns={"mass": "mass "}), TABLE,
     "has the column `mass `, but its name should be `mass`"),
    ("a name that is text", pd.DataFrame({"2007": [1]}), pd.DataFrame({2007: [1]}),
     "has a column whose name `2007` is of type str, but should be of type int"),
    ("one column more", TABLE.assign(x=1), TABLE, "has the column `x`, which should not be there"),
    ("one column less", TABLE[["species", "n"]], TABLE, "lacks the column `mass`"),
    ("a column twice", TABLE[["species", "mass", "mass", "n"]], TABLE,
     "has the column `mass` the wrong number of times"),
    ("columns in another order", TABLE[["n", "species", "mass"]], TABLE,
     "has the right columns in the wrong order: yours are `n`, `species`, `mass`, "
     "but should be `species`, `mass`, `n`"),
    ("sorted by another column", TABLE.sort_values("mass").reset_index(drop=True), TABLE,
     "has the right rows in the wrong order: check how they are sorted"),
    ("ascending", PENGUINS.sort_values("bill"), PENGUINS.sort_values("bill", ascending=False),
     "has the right rows in the wrong order: check how they are sorted"),
    ("filtered without a new index", PENGUINS[PENGUINS.mass > 3750], HEAVY,
     "has the index 1, 2, 4, but should have 0, 1, 2: renumber the rows with `reset_index(drop=True)`"),
    ("a filter that keeps too much", PENGUINS[PENGUINS.mass >= 3700].reset_index(drop=True), HEAVY,
     "has 5 rows, but should have 3"),
    ("NaN not dropped", PENGUINS, PENGUINS.dropna(),
     "has 5 rows, which is too many: 1 row of yours with NaN may be the reason"),
    ("duplicates not dropped", pd.concat([PENGUINS, PENGUINS.iloc[:2]]), PENGUINS,
     "has 7 rows, which is too many: 2 duplicate rows may be the reason"),
    ("NaN filled with 0", PENGUINS.assign(bill=PENGUINS.bill.fillna(0)), PENGUINS,
     "is wrong in the column `bill`: one of its 5 rows is wrong"),
    ("NaN left by a merge", PENGUINS.assign(mass=PENGUINS.mass.where(PENGUINS.mass > 3700)), PENGUINS,
     "is wrong in the column `mass`: some of its 5 rows are NaN where a value belongs; that column has "
     "the dtype float64, but should have int64: it holds NaN, which turns integers into floats"),
    ("two columns wrong", PENGUINS.assign(bill=PENGUINS.bill * 2, year=2000), PENGUINS,
     "is wrong in the columns `bill`, `year`: in `bill`, most of its 5 rows are wrong"),
    ("dates as text", DAYS.assign(day=["2024-01-01", "2024-01-02"]), DAYS,
     "has the dtype str in the column `day`, but should have datetime64[us]: "
     "convert the text to dates with `pd.to_datetime`"),
    ("numbers as text", PENGUINS.assign(year=PENGUINS.year.astype(str)), PENGUINS,
     "has the dtype str in the column `year`, but should have int64: "
     "convert the text to numbers, as with `pd.to_numeric`"),
    ("numbers as objects", PENGUINS.assign(year=PENGUINS.year.astype(object)), PENGUINS,
     "has the dtype object in the column `year`, but should have int64: "
     'its entries are numbers, so convert it with `astype("int64")`'),
    ("some numbers missing", PENGUINS.assign(year=pd.Series([2007, None, 2008, 2008, 2009], dtype=object)), PENGUINS,
     "has the dtype object in the column `year`, but should have int64: its entries are numbers, but some are missing"),
    ("some numbers as text", PENGUINS.assign(year=pd.Series(["2007", 2007, 2008, 2008, 2009], dtype=object)), PENGUINS,
     "has the dtype object in the column `year`, but should have int64: "
     "convert the text to numbers, as with `pd.to_numeric`"),
    ("True as an object", (PENGUINS.mass > 3700).astype(object), PENGUINS.mass > 3700,
     'has the dtype object, but should have bool: its entries are True and False, so convert it with `astype("bool")`'),
    ("truth for numbers", PENGUINS.assign(year=(PENGUINS.mass > 3700).astype(object)), PENGUINS,
     "has the dtype object in the column `year`, but should have int64: it holds values of type bool instead of numbers"),
    ("dates as objects", DAYS.assign(day=DAYS.day.astype(object)), DAYS,
     "has the dtype object in the column `day`, but should have datetime64[us]: "
     "convert its entries with `pd.to_datetime`"),
    ("floats for integers", PENGUINS.assign(mass=PENGUINS.mass * 1.0), PENGUINS,
     "has the dtype float64 in the column `mass`, but should have int64"),
    ("True as text", (PENGUINS.mass > 3700).astype(str), PENGUINS.mass > 3700,
     "has the dtype str, but should have bool: it holds text or other objects instead of True and False"),
    ("a frame for a Series", MEAN.to_frame(), MEAN,
     "is a DataFrame of 3 rows and 1 column, but should be a Series: "
     "take one column of it, as in `df[...]`"),
    ("a Series for a frame", MEAN, TABLE,
     "is a Series of 3 entries, but should be a DataFrame: "
     "`.to_frame()` or double brackets, as in `df[[...]]`, make one"),
    ("an array for a Series", MEAN.to_numpy(), MEAN,
     "is an array of shape (3,), but should be a Series: "
     "leave out `.values` or `.to_numpy()`, or wrap it in `pd.Series(...)`"),
    ("a Series for an array", MEAN, np.ones(3),
     "is a Series of 3 entries, but should be an array of shape (3,): `.to_numpy()` makes one"),
    ("parentheses forgotten", Opaque(0, "method"), MEAN,
     "is a method, but should be a Series: are the parentheses of a call missing?"),
    ("nothing computed for the groups", Opaque(0, "DataFrameGroupBy"), MEAN,
     "is a DataFrameGroupBy, but should be a Series: "
     "say what to compute for each group, as with `.mean()`"),
    ("sorted by value", MEAN.sort_values(ascending=False), MEAN,
     "has the right index in the wrong order: check how the rows are sorted"),
    ("another name of the Series", MEAN.rename("average"), MEAN,
     "has the name `average`, but should have the name `mass`"),
    ("the name of the index lost", MEAN.rename_axis(None), MEAN,
     "has an index with no name, but should have the name `species`"),
    ("other labels", MEAN.set_axis(["a", "Chinstrap", "c"]).rename_axis("species"), MEAN,
     "has a wrong index: most of its 3 labels are wrong"),
    ("shares instead of numbers", PENGUINS.species.value_counts(normalize=True), PENGUINS.species.value_counts(),
     "is wrong: all of its 3 entries are wrong; it has the dtype float64, but should have int64"),
    ("levels exchanged", PENGUINS.groupby(["island", "species"]).mass.sum(),
     PENGUINS.groupby(["species", "island"]).mass.sum(),
     "has an index with the names `island`, `species`, but should have the names `species`, `island`"),
    ("no order of the categories", pd.Series(pd.Categorical(["a"])), pd.Series(pd.Categorical(["a"], ordered=True)),
     "has unordered categories, but should have ordered ones"),
    ("categories in another order", pd.Series(pd.Categorical(["a"], ["a", "b"])), pd.Series(pd.Categorical(["a"], ["b", "a"])),
     "has the categories `a`, `b` in the wrong order"),
    ("floats as labels", pd.Series([1, 2], index=[0.0, 1.0]), pd.Series([1, 2]),
     "has an index of dtype float64, but should have int64"),
    ("a time zone too much", pd.Series(pd.date_range("2024", periods=2, tz="UTC")),
     pd.Series(pd.date_range("2024", periods=2)),
     "has the dtype datetime64[us, UTC], but should have datetime64[us]: "
     "remove the time zone with `tz_localize(None)`"),
    ("sorted text", PENGUINS.species.sort_values().unique(), PENGUINS.species.unique(),
     "has the right entries in the wrong order: check how they are sorted"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("own", "right", "words"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG]
)
def test_the_message_says_what_a_student_did(own, right, words):
    assert difference(own, right) == words


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_other_values_are_not_equal(value):
    for other in VALUES.values():
        if other is not value:
            assert difference(other, value) is not None


def test_the_right_entries_are_never_shown():
    right = TABLE.assign(mass=[1234.5, 2345.6, 3456.7], species=["Hidden", "Names", "Only"])
    for column in right:
        text = difference(right.assign(**{column: TABLE[column] * 2}), right)
        assert text is None or not any(secret in text for secret in ("1234", "2345", "3456", "Hidden"))


def test_floats_have_the_tolerance_of_arrays_and_integers_have_none():
    one = pd.Series([1.0, np.inf, np.nan])
    assert difference(one + 1e-6, one) is None
    assert difference(one + 1e-2, one) is not None
    assert difference(one + 1e-2, one, atol=0.1) is None
    assert difference(pd.Series([100_001]), pd.Series([100_000])) is not None
    assert difference(-one, one) is not None


@pytest.mark.parametrize(
    ("own", "right", "ignore"),
    [
        (TABLE[["n", "species", "mass"]], TABLE, ["column order"]),
        (TABLE.sort_values("mass").reset_index(drop=True), TABLE, ["row order"]),
        (MEAN.sort_values(ascending=False), MEAN, ["row order"]),
        (PENGUINS[PENGUINS.mass > 3750], HEAVY, ["index"]),
        (TABLE.assign(n=TABLE.n * 1.0), TABLE, ["dtypes"]),
        (TABLE.astype({"species": "category"}), TABLE, ["dtypes"]),
        (TABLE.set_axis(TABLE.index.astype("int32")), TABLE, ["dtypes"]),
        (TABLE.set_axis(TABLE.index.astype("float64")), TABLE, ["dtypes"]),
        (TABLE.set_axis(TABLE.index.astype("object")), TABLE, ["dtypes"]),
        (MEAN.rename("x").rename_axis("y"), MEAN, ["names"]),
        (PENGUINS.sample(frac=1, random_state=0), PENGUINS, ["row order", "index"]),
    ],
)
def test_a_check_says_what_does_not_matter(own, right, ignore):
    assert difference(own, right) is not None
    assert_close(own, right, name="result", ignore=ignore)
    with pytest.raises(CourseError, match="there is no sorting"):
        difference(own, right, ignore=["sorting"])


def test_a_question_ends_the_sentence():
    with pytest.raises(CheckFailure, match=r"missing\?$"):
        assert_close(Opaque(0, "method"), MEAN, name="result")


def test_equal_wrong_frames_have_equal_fingerprints(tmp_path):
    def of(value: object) -> tuple[str, list[float]]:
        store = Store(tmp_path / "reference.safetensors", recording=True)
        reference = Reference(store, "test_x::test_y")
        reference.assert_close(TABLE, name="result")
        store.recording = False
        with pytest.raises(CheckFailure) as failure:
            reference.assert_close(value, name="result")
        return fingerprint_of(CheckOutcome.FAILED, str(failure.value), reference, drawn=False)

    text, numbers = of(TABLE.assign(mass=TABLE.mass * 2))
    again, close = of(TABLE.assign(mass=TABLE.mass * 2 + 1e-6))
    assert text == again and same_numbers(numbers, close)
    assert text.startswith("`result` DataFrame of shape (3, 3)")
    assert not same_numbers(numbers, of(TABLE.assign(mass=TABLE.mass * 3))[1])
    assert of(TABLE.assign(species="x"))[0] != text
    assert of(None)[0].startswith("message: `result` is None, but should be a DataFrame")


def test_a_frame_changed_in_place_is_reported():
    def add(frame: pd.DataFrame) -> pd.DataFrame:
        frame["new"] = 1
        return frame

    agent = Agent({"add": add, "safe": lambda frame: frame.assign(new=1)})
    for name, changed in (("add", [0]), ("safe", [])):
        request = {"do": "call", "name": name, "args": [PENGUINS], "kwargs": {}}
        reply = decode(agent.answer(encode([request])))
        assert reply["changed"] == changed
    with pytest.raises(
        CheckFailure, match=r"changed its argument `frame` in place. Work on a copy, as in `df ="
    ):
        assert_unchanged(Call(PENGUINS, [0], "add", ("frame",)))
    with pytest.raises(CheckFailure, match=r"changed its argument number 2 and argument `by` in place"):
        assert_unchanged(Call(PENGUINS, [1, "by"], "add", ("frame",)))
    assert_unchanged(Call(MEAN, [], "safe"))


def test_a_value_is_described_without_its_contents():
    assert (
        describe([PENGUINS, MEAN])
        == "a list of 2 (a DataFrame of 5 rows and 5 columns, a Series of 3 entries)"
    )

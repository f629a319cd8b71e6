"""What comes in from outside, checked once."""

import math
from fractions import Fraction

import numpy as np
import pytest

from shortlist import AnytimeSPS, Shortlister
from shortlist import _validation as check
from shortlist.errors import InvalidParameter, InvalidScores, NoCandidates


def test_float32_coverage_is_the_decimal_that_was_written():
    assert Shortlister(coverage=np.float32(0.9), delta=0.01).policy == AnytimeSPS(0.9)


def test_a_miss_rate_is_that_of_the_decimal():
    assert check.miss_rate(0.9) == Fraction(1, 10)
    assert 1 - 0.9 != 0.1  # why


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.5, math.nan, math.inf, True, "0.9", None])
def test_bad_probabilities_are_named(value):
    with pytest.raises(InvalidParameter, match=r"coverage is .*strictly between 0 and 1, for example"):
        check.check_probability("coverage", value, 0.9)


@pytest.mark.parametrize("value", [Fraction(1, 4), np.float64(0.25), np.float32(0.25), 0.25])
def test_numbers_of_any_kind_are_plain_floats(value):
    number = check.check_probability("coverage", value, 0.9)
    assert (number, type(number)) == (0.25, float)


def test_counts():
    assert check.check_count("keep", np.int64(3)) == 3
    assert type(check.check_count("keep", np.int64(3))) is int
    for value, message in ((2.0, "keep is 2.0; it must be a whole number"), (0, "at least 1"), (2**60, "too large")):
        with pytest.raises(InvalidParameter, match=message):
            check.check_count("keep", value)


@pytest.mark.parametrize("scores", [[0.5, -0.0], np.array([0.5, -0.0]), np.array([0.5, -0.0], np.float32), (0.5, 0)])
def test_scores_are_a_copy_with_one_zero(scores):
    values = check.check_scores(scores)
    assert values.dtype == np.float64
    assert values.tolist() == [0.5, 0.0]
    assert math.copysign(1.0, values[1]) == 1.0
    assert values is not scores


def test_large_scores_whose_squares_overflow_are_still_finite():
    assert check.check_scores(np.array([1e300, -1e300])).tolist() == [1e300, -1e300]
    with pytest.raises(InvalidScores, match=r"scores\[1\] is inf"):
        check.check_scores(np.array([1e300, np.inf]))


def test_an_empty_list_must_be_allowed():
    assert check.check_scores([], allow_empty=True).size == 0
    with pytest.raises(NoCandidates, match="allow_empty=True"):
        check.check_scores([], allow_empty=False)
    with pytest.raises(NoCandidates, match=r"at least one candidate$"):
        check.check_scores([])


def test_true_scores_may_be_minus_infinity_and_nothing_else():
    assert check.check_true_scores([0.5, -math.inf]).tolist() == [0.5, -math.inf]
    assert check.check_true_scores([]).size == 0
    for bad in (math.inf, math.nan):
        with pytest.raises(InvalidScores, match=r"true_scores\[1\] is"):
            check.check_true_scores([0.5, bad])


NAMED = {"bm25": [1.0, 2.0, math.nan], "dense": [0.1, None, -0.0]}
TABLE = [[1.0, 0.1], [2.0, math.nan], [math.nan, 0.0]]


class Frame:
    """What is asked of a data frame: the names of its columns, and each of them."""

    columns = ("bm25", "dense")

    def __getitem__(self, name):
        return np.array(NAMED[name], dtype=float)

    def __len__(self):
        return 3


@pytest.mark.parametrize(
    ("scores", "expected", "names"),
    [
        (NAMED, None, ("bm25", "dense")),
        (dict(reversed(NAMED.items())), ("bm25", "dense"), ("bm25", "dense")),
        (Frame(), None, ("bm25", "dense")),
    ],
)
def test_several_scorers_are_a_table_in_the_order_of_the_first_round(scores, expected, names):
    values, scorers = check.check_table(scores, expected)
    assert scorers == names
    assert np.array_equal(values, TABLE, equal_nan=True)
    assert math.copysign(1.0, values[2, 1]) == 1.0


def test_a_pandas_frame_is_a_table():
    pandas = pytest.importorskip("pandas")
    values, scorers = check.check_table(pandas.DataFrame(NAMED))
    assert (scorers, values.shape) == (("bm25", "dense"), (3, 2))
    assert check.check_table(pandas.Series([0.5, 0.25]))[0].tolist() == [0.5, 0.25]


@pytest.mark.parametrize("scores", [[0.5, 0.25], (0.5, 0.25), np.array([0.5, 0.25]), np.array([0.5, 0.25], np.float32)])
def test_one_scorer_without_a_name_is_a_number_for_each_candidate(scores):
    for expected in (None, check.UNNAMED):
        values, scorers = check.check_table(scores, expected)
        assert (values.tolist(), scorers) == ([0.5, 0.25], check.UNNAMED)


def test_one_scorer_with_a_name_is_a_number_for_each_candidate():
    values, scorers = check.check_table({"dense": [0.5, 0.25]})
    assert (values.tolist(), scorers) == ([0.5, 0.25], ("dense",))


def test_one_candidate_with_several_scorers():
    """Names of scorers and of documents look the same: ids, or rounds before, say which these are."""
    scores = {"one": [0.3], "two": [0.8]}
    assert check.check_table(scores)[0].shape == (1, 2)
    assert check.check_table(scores, ("one", "two"), named=False)[0].shape == (1, 2)
    with pytest.raises(InvalidScores, match=r"mapping of 'one', 'two' to one number each: if these are candidates"):
        check.check_table(scores, named=False)
    assert check.check_table({"one": [0.3]}, named=False)[1] == ("one",)


PAIRS = "without names: which scorers are these.*if these are pairs of an id and its score"


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.zeros((5, 3)), r"the shape \(5, 3\), without names: which scorers are these\? pass {name: column}"),
        ([[0.5, 1.0, 2.0], [0.5, 1.0, 2.0]], "which scorers are these"),
        ([(7, 0.1), (9, 0.8)], PAIRS),
        ([("doc", 0.1), ("other", 0.8)], PAIRS),
        (np.zeros((1, 3)), r"if these are 3 candidates, pass scores\[0\]"),
        (np.zeros((3, 1)), r"for one score per candidate, pass scores\[:, 0\]"),
        (
            {"doc1": 0.3, "doc2": 0.8},
            r"a mapping of numbers; .* ids: propose\(list\(scores.values\(\)\), ids=list\(scores\)\)",
        ),
        ({"doc1": np.float32(0.3)}, "a mapping of numbers"),
        ((score for score in (0.1, 0.2)), "of type generator"),
        ("0.1", "of type str"),
    ],
)
def test_what_says_nothing_of_scorers_is_refused(scores, message):
    for expected in (None, ("a", "b")):
        with pytest.raises(InvalidScores, match=message):
            check.check_table(scores, expected)


def test_the_index_of_a_pandas_object_is_its_ids():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series([0.1, 0.9], index=["x", "y"])
    assert check.index_of(series) == check.index_of(pandas.DataFrame({"a": series, "b": series})) == ["x", "y"]
    assert check.index_of({"a": series, "b": series + 1}) == ["x", "y"]
    assert check.index_of(pandas.Series([0.1, 0.9])) is None
    frame = pandas.DataFrame({"a": [1.0], "b": [2.0]})  # its columns are scorers
    assert check.check_table(frame, named=False)[1] == ("a", "b")
    assert len(check.index_of(pandas.Series([0.1, 0.9], index=["x", pandas.NA]))) == 2
    assert check.index_of(pandas.Series([0.1, 0.9, 0.8])[lambda each: each > 0.5]) == [1, 2]
    for other in ([0.1, 0.2], (0.1,), np.zeros(2), {"a": [0.1]}, "text", None):
        assert check.index_of(other) is None
    with pytest.raises(InvalidScores, match=r"the index of 'a' is not that of 'b'.*align them with pandas.DataFrame"):
        check.index_of({"a": series, "b": series[::-1]})


class Tensor:
    """What a tensor of torch does: numpy reads it only from the processor, without a gradient, and not as bfloat16."""

    def __init__(self, values, moved=False, kind="bfloat16"):
        self.values, self.moved, self.kind = values, moved, kind
        self.ndim = np.ndim(values)

    def __len__(self):
        return len(self.values)

    def __array__(self, *_, **__):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad")

    def detach(self):
        return Tensor(self.values, kind=self.kind)

    def cpu(self):
        return Tensor(self.values, moved=True, kind=self.kind)

    def is_floating_point(self):
        return self.kind != "bool"

    def double(self):
        return Tensor(self.values, self.moved, "float64")

    def numpy(self):
        assert self.moved
        if self.kind == "bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return np.asarray(self.values)


def test_tensors_of_any_type_and_device():
    """The real ones are in tests/models."""
    assert check.check_table(Tensor([0.5, 0.25]))[0].tolist() == [0.5, 0.25]
    assert check.check_table({"a": Tensor([0.5]), "b": [0.1]})[0].tolist() == [[0.5, 0.1]]
    with pytest.raises(InvalidScores, match="which scorers are these"):
        check.check_table(Tensor(np.zeros((4, 3))))
    with pytest.raises(InvalidScores, match="scores are of type bool"):
        check.check_table(Tensor([True, False], kind="bool"))


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.array(0.5), r"scores have the shape \(\)"),
        (np.zeros((1, 2, 3)), r"scores have the shape \(1, 2, 3\)"),
        ({0.5, 0.25}, "scores are of type set"),
        (iter([0.5]), "scores are of type list_iterator"),
        ({"a": [0.5, math.nan]}, r"scores\[1\] is nan"),  # with one scorer such a candidate has none at all
        ({}, "scorers are"),
        ({1: [0.5], 2: [0.25]}, "their names must be strings"),
        ({"a": [0.5], "b": [0.25, 0.5]}, "there are 1 scores of 'a' and 2 of 'b'"),
        ({"a": [0.5], "b": ["x"]}, "the scores of 'b' have the shape"),
        ({"a": [0.5], "b": [[0.25]]}, "the scores of 'b' have the shape"),
        ({"a": [0.5], "b": [math.inf]}, "the score of 'b' for candidate 0 is inf"),
        ({"a": [0.5, None], "b": [0.25, math.nan]}, "candidate 1 has no score at all"),
        ({"a": [0.5], "b": [object()]}, "the scores of 'b' are of type object"),
        ({"a": [], "b": []}, "scores are empty"),
    ],
)
def test_bad_tables_are_named(scores, message):
    with pytest.raises((InvalidScores, InvalidParameter, NoCandidates), match=message):
        check.check_table(scores)


@pytest.mark.parametrize(
    ("scores", "expected", "message"),
    [
        ([0.5], ("a", "b"), "of one scorer without a name, and those of the first round were of 'a', 'b'"),
        ({"a": [0.5]}, ("a", "b"), "of 'a', and those of the first round were of 'a', 'b'"),
        ({"a": [0.5]}, check.UNNAMED, "of 'a', and those of the first round were of one scorer without a name"),
    ],
)
def test_other_scorers_than_in_the_first_round_are_named(scores, expected, message):
    with pytest.raises(InvalidScores, match=message):
        check.check_table(scores, expected)


@pytest.mark.parametrize("names", ["ab", [], None, ["a", "a"], ["a", 1], ["\ud800"]])
def test_bad_names_of_scorers_are_refused(names):
    with pytest.raises(InvalidParameter, match="scorers are"):
        check.check_scorers(names)
    assert check.check_scorers(["a", "b"]) == ("a", "b")


def test_what_a_search_left_out_is_one_number_for_each_scorer():
    assert check.check_below(0.5, check.UNNAMED) == 0.5
    assert check.check_below({"dense": 0.5}, ("dense",)) == 0.5
    assert check.check_below({"dense": 0.5}, ("bm25", "dense")) == [None, 0.5]
    assert check.check_below({}, ("dense",)) is None
    for bound, message in (
        (0.5, "there are 2 scorers; give one for each"),
        ({"splade": 0.5}, "truncated_below names 'splade', and the scorers are 'bm25', 'dense'"),
        ({"dense": math.inf}, "truncated_below is inf"),
    ):
        with pytest.raises(InvalidParameter, match=message):
            check.check_below(bound, ("bm25", "dense"))


def test_labeled_lists():
    tables, places, names = check.check_lists([{"b": [1.0, 2.0], "a": [3.0, 4.0]}, {"a": [5.0], "b": [6.0]}], [1, -1])
    assert ([table.tolist() for table in tables], places, names) == (
        [[[1.0, 3.0], [2.0, 4.0]], [[6.0, 5.0]]],
        [(1,), ()],
        ("b", "a"),
    )
    assert check.check_lists(np.zeros((2, 3, 2)), [0, 2], ["a", "b"])[2] == ("a", "b")
    empty = [{"a": [1.0, 2.0], "b": [1.0, 2.0]}, {"a": [], "b": []}, []]  # searches that found nothing
    assert [len(table) for table in check.check_lists(empty, [0, -1, -1])[0]] == [2, 0, 0]
    for lists, right, message in (
        ([], [], "lists are empty"),
        ({"a": [0.5]}, [0], "lists are empty, or not lists"),
        ([[0.5]], [0, 1], "give the position of the right candidate in each of the 1 lists"),
        ([[0.5]], [0.0], r"right\[0\] is 0.0; it must be a position, or several if all are needed"),
        ([[0.5]], [[0, -1]], r"right\[0\] is \[0, -1\], and list 0 has the positions 0 to 0"),
        ([[0.5]], [1], r"right\[0\] is 1, and list 0 has the positions 0 to 0"),
        ([[0.5]], [-2], r"right\[0\] is -2"),
        ([[0.5], {"a": [0.5]}], [0, 0], "those of the first round were of one scorer"),
    ):
        with pytest.raises((InvalidScores, InvalidParameter), match=message):
            check.check_lists(lists, right)


def test_a_table_is_aligned_with_the_scorers_of_the_rounds_before():
    values = np.array([[1.0, np.nan], [2.0, 3.0]])
    assert check.align_table(values, ("a", "b"), ("a", "b")) is values
    turned = check.align_table(values, ("b", "a"), ("a", "c", "b"))
    assert np.array_equal(turned, [[np.nan, np.nan, 1.0], [3.0, np.nan, 2.0]], equal_nan=True)
    assert np.array_equal(check.align_table(np.array([1.0]), ("b",), ("a", "b")), [[np.nan, 1.0]], equal_nan=True)
    assert check.align_table(np.empty(0), ("",), ("a", "b")).shape == (0, 2)
    assert check.align_table(np.empty((0, 2)), ("a", "b"), ("",)).shape == (0,)
    for scorers, expected in ((("",), ("a",)), (("a",), ("",)), (("a", "c"), ("a", "b")), (("",), ("a", "b"))):
        with pytest.raises(InvalidScores, match="those of the first round were"):
            check.align_table(np.ones((1, len(scorers))), scorers, expected)


def test_an_empty_list_has_the_scorers_of_the_rounds_before():
    for empty in ([], np.empty(0)):
        values, scorers = check.check_table(empty, ("a", "b"), allow_empty=True)
        assert (values.shape, scorers) == ((0, 2), ("a", "b"))
    assert check.check_table([], allow_empty=True)[1] == ("",)

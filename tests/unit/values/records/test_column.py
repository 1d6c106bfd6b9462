"""Columns: what is made of every record alike, against NumPy on plain data."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liptest.enumerate.symbols.symbolic_data import PathTree
from liptest.enumerate.trees.choice_tree import Abort
from liptest.values.answers.aligned import AlignedRun, AlignedValue
from liptest.values.answers.answer_book import AnswerBook
from liptest.values.array import SymbolicArray
from liptest.values.column_functions import look_up
from liptest.values.records.column import FUNCTIONS, Column

VALUES, RECORDS = 5, 40
CONSTANTS = np.array([3.0, -1.5, 0.25, 7.0, 2.0])
ROWS = np.array([[0.5, -2.0], [3.0, 0.5], [0.0, 0.25], [-1.0, 4.0], [1.0, 1.0]])
Step = Callable[[Any], Any]


def lookup(constants: Any, places: Any) -> Any:
    """``constants[places]`` of plain arrays and of columns."""
    return look_up(constants, places) if type(places) is SymbolicArray else constants[places]


def in_place(x: Any) -> Any:
    """Writes into an array of its own."""
    made = x * 1.0
    made += 2
    made -= x
    made[x > 2] = -1
    made[x == 1] = (x * 3)[x == 1]
    other = made[:]
    other *= 2
    return made


#: Entry by entry, by name.
STEPS: dict[str, Step] = {
    "add": lambda x: x + 3,
    "subtract": lambda x: 2 - x,
    "multiply": lambda x: x * 2,
    "halve": lambda x: x * 0.5,
    "floor divide": lambda x: x // 2,
    "remainder": lambda x: x % 3,
    "negative": lambda x: -x,
    "absolute": lambda x: abs(x - 2),
    "square": lambda x: x**2,
    "clip": lambda x: np.clip(x, 1, 3),
    "clip method": lambda x: x.clip(None, 2),
    "minimum": lambda x: np.minimum(x, 2),
    "maximum": lambda x: np.maximum(1.5, x),
    "where": lambda x: np.where(x > 2, x, 0),
    "first that holds": lambda x: np.select([x > 2, x == 1], [x, 2.5], 1),
    "equal": lambda x: (x == 1).astype(int),
    "mask": lambda x: ((x > 1) & ~(x == 3)) * 2,
    "float": lambda x: x.astype(float),
    "short": lambda x: x.astype(np.int8).astype(np.int64),
    "copy": lambda x: x.copy() + 0,
    "look up": lambda x: lookup(CONSTANTS, np.clip(x, 0, 4).astype(int)),
    "digitize": lambda x: np.digitize(x, [0.5, 2.5]),
    "isin": lambda x: np.isin(x, [1, 4]).astype(float),
    "select": lambda x: x[x > 0],
    "round": lambda x: np.round(x * 0.3, 1) * 10,
    "in place": in_place,
    "sign": lambda x: np.sign(x - 1),
}
#: Of the result, to numbers.
ENDS: dict[str, Step] = {
    "sum": lambda x: [x.sum()],
    "sum but NaN": lambda x: [np.nansum(x)],
    "sum of half": lambda x: [np.sum(x * 0.5)],
    "count": lambda x: [np.count_nonzero(x)],
    "comparison": lambda x: [(x > 1).sum(), (x <= 1).sum()],
    "bincount": lambda x: list(np.bincount(abs(x).astype(int) % 7, minlength=7)),
    "histogram": lambda x: list(np.histogram(x, bins=[-10, 0, 2.5, 90])[0]),
    "even histogram": lambda x: list(np.histogram(x, bins=5, range=(-2.0, 7.5))[0]),
}
ENDS_OF_ALL: dict[str, Step] = {
    "mean": lambda x: [x.mean()],
    "dot": lambda x: [np.dot(x, np.ones(RECORDS)), np.full(RECORDS, 2) @ x],
}


def symbolic(book: AnswerBook) -> tuple[AlignedRun, SymbolicArray]:
    """A column of the record values themselves, in a run of its own."""
    tree = PathTree("a test")
    run = AlignedRun(tree, releases=False)
    tree.noise = run
    values = np.arange(VALUES, dtype=np.int64)
    values.flags.writeable = False
    return run, SymbolicArray(Column(tree, book, values))


def value_of(found: Any, run: AlignedRun, book: AnswerBook, counts: Any) -> float:
    """A number that data determine, where so many records have each value."""
    if type(found) is not AlignedValue:
        return float(found)
    terms = ((factor, run.noises[variable]) for variable, factor in found.form.terms)
    total = sum(factor * book.value(one.number, counts) for factor, one in terms)
    return float(found.form.constant + total)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(sorted(STEPS)), max_size=5),
    st.sampled_from(sorted(ENDS | ENDS_OF_ALL)),
    st.integers(0, 2**32),
)
def test_chains_are_numpys(steps: list[str], end: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = rng.integers(0, VALUES, RECORDS) * rng.integers(0, 2, RECORDS)
    book = AnswerBook(RECORDS, VALUES)
    run, column = symbolic(book)
    plain = data
    try:
        for step in steps:
            column = STEPS[step](column)
        found = (ENDS | ENDS_OF_ALL)[end](column)
    except Abort:
        assert {"select", "look up", "in place"} & set(steps), (steps, end)
        return
    for step in steps:
        plain = STEPS[step](plain)
    expected = (ENDS | ENDS_OF_ALL)[end](plain)
    counts = np.bincount(data, minlength=VALUES)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert value_of(one, run, book, counts) == pytest.approx(float(other), rel=1e-12, abs=1e-12)
        kind = one.kind if type(one) is AlignedValue else type(one)
        assert kind is type(other)


@pytest.mark.parametrize(
    "use",
    [
        lambda x: (ROWS_OF(x) / np.maximum(1.0, norms(x))).sum(axis=0),
        lambda x: np.sum(ROWS_OF(x) * 0.5, axis=0),
        lambda x: ROWS_OF(x)[:, 1].sum(keepdims=False),
        lambda x: np.mean(np.clip(ROWS_OF(x), -1, 1), axis=0),
        lambda x: (ROWS_OF(x) @ np.array([1.0, 2.0])).sum(),
        lambda x: (ROWS_OF(x) ** 2).sum(axis=1).sum(),
        lambda x: np.where((ROWS_OF(x) ** 2).sum(axis=1) > 3, 1.0, 0.0).sum(),
        lambda x: (ROWS_OF(x) * (x > 1)[:, None]).sum(axis=0),
        lambda x: ROWS_OF(x)[x > 2].sum(axis=0),
    ],
)
def test_rows_are_numpys(use: Step) -> None:
    data = np.random.default_rng(1).integers(0, VALUES, RECORDS)
    book = AnswerBook(RECORDS, VALUES)
    run, column = symbolic(book)
    counts = np.bincount(data, minlength=VALUES)
    found, expected = use(column), np.atleast_1d(use(data))
    numbers = list(found) if type(found) is SymbolicArray else [found]
    assert [value_of(one, run, book, counts) for one in numbers] == pytest.approx(expected.tolist())


def ROWS_OF(x: Any) -> Any:
    """Rows of a matrix, by place."""
    return lookup(ROWS, x)


def norms(x: Any) -> Any:
    """Of the rows."""
    return np.linalg.norm(ROWS_OF(x), axis=1, keepdims=True)


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x[0],
        lambda x: x[1:],
        lambda x: x[::-1],
        lambda x: np.argsort(x),
        lambda x: np.cumsum(x)[0],
        lambda x: x.argmax(),
        lambda x: np.nanmedian(x),
        lambda x: x[x > 1].std(),
        lambda x: x + np.arange(RECORDS),
        lambda x: np.dot(x, np.arange(RECORDS)),
        lambda x: x[x > 1].mean(),
        lambda x: np.zeros(x[x > 1].shape),
        lambda x: np.bincount(x),
        lambda x: np.histogram(x, bins=3),
        lambda x: 1 / x,
        lambda x: np.i0(x),
        lambda x: np.random.default_rng(0).permutation(x),
        lambda x: np.roll(x, 1),
        lambda x: x.reshape(2, -1),
        lambda x: x.astype(np.float32).sum() / 2,
        lambda x: np.exp(x.astype(np.float32)).sum(),
        lambda x: np.dot(x.astype(np.float32), x.astype(np.float32)),
        lambda x: x.astype(np.uint8).sum(),
        lambda x: (x * 2**50).sum(),
        lambda x: x.__setitem__(0, 1),
        lambda x: x.__iadd__(np.arange(RECORDS)),
        lambda x: lookup(np.arange(3), x),
        lambda x: int(x.sum()) + x[x > 1][0],
        lambda x: list(x),
        lambda x: bool(x.sum()),
        lambda x: np.argmax(np.bincount(x, minlength=5)),
        lambda x: f"{x.sum()}",
        lambda x: {x.sum(): 1},
        lambda x: np.einsum("i->i", x),
    ],
)
def test_what_is_not_the_same_for_every_record_is_refused(use: Step) -> None:
    _, column = symbolic(AnswerBook(RECORDS, VALUES))
    with pytest.raises(Abort, match="where data are symbolic"):
        use(column)


def test_no_function_is_followed_by_chance() -> None:
    """Whatever is not in the table is refused: default deny."""
    followed = {one.__name__ for one in FUNCTIONS}
    for name in sorted(set(dir(np))):
        function = getattr(np, name)
        if not hasattr(function, "_implementation") or {name, function.__name__} & followed:
            continue
        _, column = symbolic(AnswerBook(RECORDS, VALUES))
        try:
            found = function(column)
        except (Abort, TypeError):
            continue
        if np.average is not function:
            assert isinstance(found, (bool, np.bool_, int)), (name, type(found))


def test_equal_tables_are_one_answer() -> None:
    book = AnswerBook(RECORDS, VALUES)
    run, column = symbolic(book)
    first = (column == 1).sum()
    second = np.count_nonzero(column == 1)
    third = np.where(column == 1, 1.0, 0.0).sum()
    assert first.form == second.form == third.form
    assert len(book.tables) == len(run.noises) == 1


def test_float_sums_widen_the_differences_unless_they_are_exact() -> None:
    book = AnswerBook(1000, VALUES)
    _, column = symbolic(book)
    (column * 0.25).sum()
    assert not book.margins
    (column * 0.1).sum()
    (margin,) = book.margins.values()
    assert 0 < margin < 1e-10
    np.dot(column * 0.1, np.ones(1000))
    assert max(book.margins.values()) > margin


def test_an_average_with_equal_weights_is_a_scaled_sum() -> None:
    book = AnswerBook(1000, VALUES)
    _, column = symbolic(book)
    ones, halves = np.ones(1000), np.full(1000, 0.5)
    plain = np.average(column)
    assert np.average(column, weights=ones).form == plain.form
    expected = (column * 0.5).sum().form * Fraction(1, 500)
    assert np.average(column, axis=0, weights=halves).form == expected
    several = halves.copy()
    several[:10] = 3
    for refused in (several, np.zeros(1000), np.ones(999), [1.0] * 1000, column):
        with pytest.raises(Abort):
            np.average(column, weights=refused)

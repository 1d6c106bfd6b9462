"""Datasets that note what is read of them: they answer as NumPy does, and miss no read."""

from __future__ import annotations

import copy
import operator
from typing import Any

import numpy as np
import pytest

from liptest.enumerate.watch.access_tracking import (
    MAX_READS,
    WHOLE,
    Reads,
    TypedNumber,
    answer,
    coordinates_read,
    reads_only_a_count,
)
from liptest.enumerate.watch.access_tracking import TrackedArray as Recorded

ARRAY = np.array([2, 0, 1, 1, 0, 3])
ARRAY.flags.writeable = False

ENTRY = ((), ("entry", 1))
#: What is done, and what it reads.
LITTLE: list[tuple[Any, list[Any]]] = [
    (len, []),
    (lambda a: a.shape, []),
    (lambda a: (a.size, a.ndim, a.dtype, a.itemsize, a.nbytes), []),
    (np.zeros_like, []),
    (np.shape, []),
    (lambda a: a[1], [ENTRY]),
    (lambda a: a[-5], [ENTRY]),
    (lambda a: a[np.int64(1)], [ENTRY]),
    (lambda a: a[1:][0], [((("slice", 1, 6, 1),), ("entry", 0))]),
    (lambda a: a[::-1][1], [((("slice", 5, None, -1),), ("entry", 1))]),
    (lambda a: a[::-1][5], [((("slice", 5, None, -1),), ("entry", 5))]),
    (lambda a: a[[1, 3]].sum(), [((("take", (1, 3)),), ("sum",))]),
    (lambda a: a.sum(), [((), ("sum",))]),
    (np.sum, [((), ("sum",))]),
    (lambda a: a.mean(), [((), ("mean",))]),
    (np.count_nonzero, [((), ("count_nonzero",))]),
    (np.max, None),
    (lambda a: a.min(), [((), ("min",))]),
    (lambda a: a.any(), [((), ("any",))]),
    (lambda a: np.bincount(a, minlength=5), [((), ("bincount", 5))]),
    (lambda a: (a == 1).sum(), [((("eq", TypedNumber.of(1), False),), ("sum",))]),
    (lambda a: (a >= 1).all(), [((("ge", TypedNumber.of(1), False),), ("all",))]),
    (lambda a: np.equal(1, a).sum(), [((("eq", TypedNumber.of(1), True),), ("sum",))]),
    (lambda a: (~(a == 1)).sum(), [((("eq", TypedNumber.of(1), False), ("invert",)), ("sum",))]),
    (lambda a: (2 * a - 1).sum(), None),
    (lambda a: (5 - a).sum(), [((("sub", TypedNumber.of(5), True),), ("sum",))]),
    (lambda a: a.astype(np.float64).mean(), [((("astype", "<f8"),), ("mean",))]),
    (lambda a: a @ np.arange(6), None),
    (lambda a: np.dot(np.arange(6), a), None),
    (lambda a: a.dot(np.arange(6)), None),
    (lambda a: next(iter(a)), [((), ("entry", 0))]),
]
WHOLLY: list[Any] = [
    list,
    lambda a: a.tolist(),
    lambda a: a + a,
    lambda a: a * np.arange(6),
    lambda a: np.arange(6) - a,
    lambda a: a / 2,
    lambda a: -a,
    lambda a: a % 2,
    lambda a: a.var(),
    lambda a: a.sum(axis=0),
    lambda a: np.sum(a, axis=0),
    lambda a: np.sort(a),
    lambda a: np.cumsum(a),
    lambda a: np.where(a == 1, 5, 7),
    lambda a: a[a == 1],
    lambda a: a[np.array([0, 2])],
    lambda a: a[None, :],
    lambda a: np.asarray(a),
    lambda a: np.array(a, dtype=float),
    lambda a: np.concatenate([a, a]),
    lambda a: str(a),
    lambda a: repr(a),
    lambda a: f"{a}",
    lambda a: 3 in a,
    lambda a: a.copy(),
    copy.copy,
    copy.deepcopy,
    lambda a: a @ np.linspace(0, 1, 6),
    lambda a: np.max(a, initial=9),
    lambda a: np.add.reduce(a),
    lambda a: np.less(a, 1, dtype=object),
    lambda a: sum(a),
    sorted,
    lambda a: (a & 1).sum(),
    lambda a: divmod(a, 2),
    lambda a: np.random.default_rng(1).permutation(a),
]
RAISING: list[Any] = [
    lambda a: a[6],
    lambda a: a[-7],
    lambda a: a[[9]],
    lambda a: a["x"],
    hash,
    bool,
    int,
    lambda a: operator.setitem(a, 0, 1),
    lambda a: operator.iadd(a, 1),
    lambda a: a.nothing,
    lambda a: a.fill(0),
    lambda a: a @ np.arange(5),
    lambda a: a.sort(),
    lambda a: operator.setitem(a == 1, 0, True) if False else operator.setitem(a[1:], 0, 1),
]


def alike(found: Any, expected: Any) -> bool:
    same = type(found) is type(expected) or isinstance(found, Recorded)
    return same and np.array_equal(np.asarray(found), np.asarray(expected))


@pytest.mark.parametrize("case", range(len(LITTLE)))
def test_little_is_read_and_answered_as_by_numpy(case: int) -> None:
    action, expected = LITTLE[case]
    reads = Reads(ARRAY)
    found = action(Recorded(reads))
    assert alike(found, action(ARRAY))
    assert WHOLE not in reads.known
    if expected is not None:
        assert list(reads.known) == expected
    for read, known in reads.known.items():
        assert np.array_equal(answer(ARRAY, read), known)


@pytest.mark.parametrize("action", WHOLLY)
def test_what_is_not_known_reads_everything(action: Any) -> None:
    reads = Reads(ARRAY)
    found, expected = action(Recorded(reads)), action(ARRAY)
    assert reads.everything
    if not isinstance(expected, tuple):
        assert alike(found, expected)


@pytest.mark.parametrize("action", RAISING)
def test_errors_are_those_of_numpy(action: Any) -> None:
    with pytest.raises(Exception) as expected:
        action(ARRAY)
    with pytest.raises(type(expected.value)):
        action(Recorded(Reads(ARRAY)))
    assert ARRAY.tolist() == [2, 0, 1, 1, 0, 3]


def test_it_looks_like_an_array_but_compiled_code_must_ask() -> None:
    stand_in = Recorded(Reads(ARRAY))
    assert isinstance(stand_in, np.ndarray)
    assert not issubclass(type(stand_in), np.ndarray)
    with pytest.raises(TypeError):
        memoryview(stand_in)


def test_many_reads_are_the_whole_dataset() -> None:
    array = np.arange(2 * MAX_READS)
    reads = Reads(array)
    stand_in = Recorded(reads)
    for place in range(MAX_READS):
        assert stand_in[place] == place
    assert WHOLE not in reads.known
    assert stand_in[MAX_READS] == MAX_READS
    assert list(reads.known)[-1] == WHOLE
    assert len(reads.known) == MAX_READS + 1


@pytest.mark.parametrize(
    ("action", "count"),
    [
        (lambda a: a.sum() + len(a), True),
        (lambda a: (a == 1).mean(), True),
        (lambda a: (3 * a - 1).max(), True),
        (lambda a: np.bincount(a, minlength=2), True),
        (lambda a: (0.1 * a).sum(), False),
        (lambda a: (3 * a).mean(), False),
        (lambda a: a[1:].sum(), False),
        (lambda a: a[0], False),
        (lambda a: a @ np.arange(4), False),
        (lambda a: a.astype(float).sum(), False),
        (list, False),
        (lambda a: a.var(), False),
    ],
)
def test_what_depends_on_the_count_alone(action: Any, count: bool) -> None:
    reads = Reads(np.array([0, 1, 1, 0]))
    action(Recorded(reads))
    assert reads_only_a_count(list(reads.known)) is count
    if count:
        for read, known in reads.known.items():
            for other in ([1, 1, 0, 0], [0, 1, 0, 1]):
                assert np.array_equal(answer(np.array(other), read), known)


def test_coordinates_that_are_read() -> None:
    reads = Reads(ARRAY)
    stand_in = Recorded(reads)
    assert coordinates_read(list(reads.known)) == set()
    assert stand_in[4] + stand_in[-6] == 2
    assert coordinates_read(list(reads.known)) == {0, 4}
    assert stand_in[1:].sum() == 5
    assert coordinates_read(list(reads.known)) is None


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda a: (a + 2.0**53).max(), lambda a: (a + 2**53).max()),
        (lambda a: ((a == 1) + True).sum(), lambda a: ((a == 1) + 1).sum()),
        (lambda a: (a * np.float32(3)).sum(), lambda a: (a * np.float64(3)).sum()),
        (lambda a: (a * -0.0).max(), lambda a: (a * 0.0).max()),
    ],
)
def test_equal_numbers_of_other_kinds_are_other_reads(first: Any, second: Any) -> None:
    reads = Reads(ARRAY)
    for action in (first, second):
        assert repr(action(Recorded(reads))) == repr(action(ARRAY))
    assert len(reads.known) == 2
    for read, known in reads.known.items():
        assert repr(answer(ARRAY, read)) == repr(known)


def test_the_same_number_is_the_same_read_even_if_it_is_none() -> None:
    reads = Reads(ARRAY)
    for _ in range(2):
        (Recorded(reads) + float("nan")).sum()
    assert len(reads.known) == 1

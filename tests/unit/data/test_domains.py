"""Errors, limits and names of domains; the contract of all of them is in tests/contract."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

import liptest as lt
from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.errors import DatasetError, InputError


@pytest.mark.parametrize("wrong", [0, -1, 2.0, "3", None, True])
def test_a_cube_needs_a_dimension(wrong: object) -> None:
    with pytest.raises(InputError, match="dimension="):
        Hypercube(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [Hypergrid, RecordGrid])
@pytest.mark.parametrize("wrong", [[], [0], [3, -1], [2.5], "22", 5, None, [[1, 2]], [True]])
def test_a_grid_needs_sizes(kind: type[Domain], wrong: object) -> None:
    with pytest.raises(InputError, match="sizes"):
        kind(wrong)  # type: ignore[arg-type]


def test_sizes_may_be_any_sequence_of_whole_numbers() -> None:
    for given in ((2, 3), [2, 3], np.array([2, 3]), range(2, 4)):
        assert Hypergrid(given) == Hypergrid([2, 3])  # type: ignore[arg-type]
        assert all(type(size) is int for size in Hypergrid(given).sizes)  # type: ignore[arg-type]


def test_kinds_with_the_same_sizes_differ() -> None:
    domains = [Hypercube(2), Hypergrid([2, 2]), RecordGrid([2, 2])]
    assert len({*domains}) == 3
    assert Hypercube(2) != (2, 2)


def test_the_integer_type_is_the_smallest_signed_one() -> None:
    sizes = {2: "int8", 128: "int8", 129: "int16", 2**15: "int16", 2**15 + 1: "int32"}
    for size, name in sizes.items():
        assert Hypergrid([size]).dtype == np.dtype(name)
    widest = Hypergrid([128])
    points = widest.check_points([[0], [127]])
    assert int(points[0, 0] - points[1, 0]) == -127


def test_a_million_bits() -> None:
    cube = Hypercube(1_000_000)
    assert cube.size == 1 << 1_000_000
    assert cube.diameter == 1_000_000
    point = np.zeros(1_000_000, dtype=np.int8)
    assert cube.distance(point, 1 - point).tolist() == [1_000_000]
    with pytest.raises(InputError, match="dimension=1000000"):
        cube.index(point)


def test_the_largest_domain_with_indices() -> None:
    assert int(Hypercube(62).index(np.ones(62))[0]) == 2**62 - 1
    assert Hypercube(62).points([2**62 - 1]).tolist() == [[1] * 62]
    with pytest.raises(InputError, match="too many points"):
        Hypercube(63).points([0])
    with pytest.raises(InputError, match="too many points"):
        next(Hypercube(63).all_points())


@pytest.mark.parametrize(
    "wrong",
    [
        [0, 1],
        [[[0, 1, 0]]],
        [[0, 1, 2]],
        [[0, -1, 0]],
        [[0.5, 0, 0]],
        [[np.nan, 0, 0]],
        [[np.inf, 0, 0]],
        [["a", "b", "c"]],
        [[None, 0, 0]],
        [[1j, 0, 0]],
        [[0, 1, 0], [0, 1]],
        5,
        [],
    ],
)
@pytest.mark.parametrize("private", [False, True])
def test_points_outside_are_refused(wrong: object, private: bool) -> None:
    with pytest.raises(DatasetError):
        Hypercube(3).check_points(wrong, private=private)  # type: ignore[arg-type]


def test_a_shape_is_told_as_it_was_given() -> None:
    with pytest.raises(DatasetError, match=r"shape=\(3,\) does not fit Hypercube\(1\)"):
        Hypercube(1).check_points([0, 1, 0])


def test_the_first_point_outside_is_named() -> None:
    with pytest.raises(DatasetError, match=r"row 1, coordinate 2: 77"):
        Hypergrid([5, 5, 5]).check_points([[0, 1, 2], [0, 1, 77], [99, 0, 0]])


@pytest.mark.parametrize("secret", [[[4417, 0]], [[4417, 0], [4417]], [[4417.5, 0]]])
def test_private_data_are_not_quoted(secret: object) -> None:
    with pytest.raises(DatasetError) as caught:
        Hypercube(2).check_points(secret, private=True)  # type: ignore[arg-type]
    text = "".join(traceback.format_exception_only(caught.value))
    assert "4417" not in text
    assert "row 0" not in text
    assert caught.value.value is None


def test_pairs_are_counted_without_a_list_of_them() -> None:
    """Of 100,000 values of a record there are five thousand million pairs."""
    assert RecordGrid([100_000] * 2).neighbouring_pairs == 2 * 100_000 * (100_000 * 99_999 // 2)
    for domain in (RecordGrid([3, 4, 4]), Hypergrid([3, 4, 4]), Hypercube(3)):
        counted = [len(domain.value_pairs(axis)) for axis in range(3)]
        assert [domain.count_value_pairs(axis) for axis in range(3)] == counted


def test_long_sizes_are_cut_in_names() -> None:
    assert repr(RecordGrid([3] * 1000)) == "RecordGrid([3] * 1000)"
    assert len(repr(Hypergrid(range(2, 1000)))) < 100


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        (lt.Hypercube(1), "1 bit"),
        (lt.Hypercube(5000), "5,000 bits"),
        (lt.AnswerGrid([4] * 4, relation="all"), "4 answers in 0..3"),
        (lt.AnswerGrid([4, 2], relation="one"), "2 answers in 0..3, 0..1"),
        (lt.Hypergrid([1]), "1 count in 0..0"),
        (lt.RecordGrid([3] * 12), "12 records in 0..2"),
        (lt.RecordGrid([*range(2, 9)]), "7 records in ranges from 0..1 to 0..7"),
    ],
)
def test_what_a_dataset_is_made_of(domain, words):
    assert domain.dataset_words == words

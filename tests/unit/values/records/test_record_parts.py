"""Slices and blocks of the records: a sum over a part moves only with the records of the part."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.privacy.proofs.prices import align
from liptest.values.records.record_parts import find_line, find_places
from tests.shares import mostly_slow

N, VALUES = 6, 3
SMALL = lt.RecordGrid([VALUES] * N)
DATASETS = [np.array(one) for one in product(range(VALUES), repeat=N)]
Numbers = Callable[[Any], Any]


def largest_change(numbers: Numbers) -> float:
    """By brute force over all neighbours, in l1."""
    known = {tuple(one): np.ravel(numbers(one.copy())).astype(float) for one in DATASETS}
    found = 0.0
    for key, here in known.items():
        for place in range(N):
            for value in range(key[place] + 1, VALUES):
                there = known[(*key[:place], value, *key[place + 1 :])]
                found = max(found, float(np.abs(here - there).sum()))
    return found


def price(numbers: Numbers, domain: lt.Domain = SMALL) -> float:
    """What it costs to release them with Laplace noise of scale 1 each."""

    def release(data: Any, rng: Any) -> Any:
        found = numbers(data)
        if isinstance(found, (list, tuple)):
            return [one + rng.laplace() for one in found]
        return found + rng.laplace(size=np.shape(found))

    found = align(lt.mechanism(release), domain)
    assert found.price is not None, found.reason
    return found.epsilon


def written_behind(data: Any) -> Any:
    x = data.copy()
    part = x[1:4]
    x[x > 1] = 0
    return part.sum()


def written_to_places(data: Any) -> Any:
    x = data.astype(float)
    part = x[np.arange(len(x))]
    x[x > 1] = 0
    return part.sum() + 2 * x.sum()


def copied_before(data: Any) -> Any:
    x = data.copy()
    part = x[::2].ravel()
    x[x > 1] = 0
    return part.sum() + x[::2].sum()


def looped(data: Any) -> Any:
    total = 0
    for value in data[1:4]:
        if value > 1:
            total += value * value
    return total


EXPRESSIONS: dict[str, Numbers] = {
    "halves": lambda d: [d[:3].sum(), d[3:].sum()],
    "overlapping": lambda d: [d[:4].sum(), d[2:].sum() * 2],
    "whole and part": lambda d: [d.sum(), d[2:4].sum()],
    "part of a part": lambda d: d[1:][::2][1:].sum() + d[:1].sum(),
    "from behind": lambda d: [d[-2:].sum(), d[::-1].sum()],
    "places in a line": lambda d: [
        d[np.arange(3)].sum(),
        d[np.array([3, 4, 5])].sum(),
        d[[1, 3]].sum(),
    ],
    "places from behind": lambda d: [
        d[np.arange(5, 1, -1)].sum(),
        d[[-1]].sum(),
        d[1:][[0, 2]].sum(),
    ],
    "places by truths": lambda d: [
        d[np.arange(6) < 2].sum(),
        d[[True] + [False] * 5].sum(),
        len(d[[4]]),
    ],
    "split places": lambda d: [d[one].sum() for one in np.array_split(np.arange(6), 4)],
    "every second": lambda d: [d[::2].sum(), d[1::2].sum(), d.sum()],
    "selection in a part": lambda d: [(d[:3] == 1).sum(), len(d[:3]), d[3:][d[3:] > 1].sum()],
    "squares and steps": lambda d: [(d[::3] ** 2).sum(), np.abs(d[1:5] - 1).sum()],
    "counts by half": lambda d: np.concatenate(
        [np.bincount(d[:3], minlength=3), np.bincount(d[3:], minlength=3)]
    ),
    "mean": lambda d: [d[:4].mean(), d[4:].mean()],
    "split": lambda d: [one.sum() for one in np.split(d, 3)],
    "uneven split": lambda d: [one.sum() for one in np.array_split(d, 4)],
    "grid by rows": lambda d: d.reshape(2, -1).sum(axis=1),
    "grid by columns": lambda d: np.reshape(d, (2, 3)).sum(axis=0) + 1,
    "grid of others": lambda d: np.clip(d.reshape(3, 2) * 2 - 1, 0, 2).mean(axis=1),
    "grid as a whole": lambda d: [d.reshape(3, 2).T.sum(), d.reshape(2, 3)[1].sum()],
    "entries of a grid": lambda d: [d.reshape(3, 2)[:, 1].sum(), d.reshape(3, 2)[1:].sum()],
    "lines of a grid": lambda d: [line.sum() for line in d.reshape(2, 3)],
    "records": lambda d: [d[0], d[-1] * 2, d.sum()],
    "record of a part": lambda d: [d[1:4][1], d[::2][-1], d[:1].sum()],
    "record of another type": lambda d: [(d * 0.5)[2] + d[np.int64(2)], (d**2)[0]],
    "row of a record": lambda d: list(np.array([[1, 0], [0, 2], [1, 1]])[d][2]),
    "entry of a row": lambda d: [np.array([[1, 0], [0, 2], [1, 1]])[d][1, 1], d[1]],
    "record of a grid": lambda d: [d.reshape(2, -1)[1][0], d[3:].sum()],
    "types": lambda d: [d.astype(float)[:2].sum(), (d.reshape(2, 3).astype(float) / 2).sum(1)[0]],
    "rows": lambda d: np.array([[1, 0], [0, 2], [1, 1]])[d][:4].sum(axis=0),
    "list": lambda d: [sum(d[:2].tolist()), sum(v for v in d[2:] if v != 1)],
    "written behind": written_behind,
    "written to places": written_to_places,
    "copied before": copied_before,
    "looped": looped,
}


@pytest.mark.parametrize("name", mostly_slow(EXPRESSIONS, 3))
def test_the_price_is_the_largest_change(name: str) -> None:
    numbers = EXPRESSIONS[name]
    assert price(numbers) == pytest.approx(largest_change(numbers), abs=1e-9)


slices = st.builds(
    slice,
    st.none() | st.integers(-N - 1, N + 1),
    st.none() | st.integers(-N - 1, N + 1),
    st.sampled_from([None, 1, 2, 3, -1, -2]),
)


@pytest.mark.slow
@given(st.lists(st.tuples(slices, st.integers(0, VALUES - 1)), min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_any_slices(chosen: list[tuple[slice, int]]) -> None:
    chosen = [(one, value) for one, value in chosen if len(range(N)[one])]
    if not chosen:
        return
    numbers = lambda data: [(data[one] == value).sum() for one, value in chosen]  # noqa: E731
    assert price(numbers) == pytest.approx(largest_change(numbers), abs=1e-9)


@pytest.mark.slow
@given(st.lists(st.none() | st.builds(range, *[st.integers(0, 30)] * 2, st.integers(1, 5))))
def test_kinds_of_positions_are_all_there_are(parts: list[range | None]) -> None:
    parts = [one for one in parts if one is None or len(one)]
    every = {tuple(n for n, one in enumerate(parts) if one is None or p in one) for p in range(31)}
    found = find_places(parts, 31)
    assert found is not None
    assert {place.answers for place in found} == every
    for place in found:
        inside = (n for n, one in enumerate(parts) if one is None or place.position in one)
        assert place.answers == tuple(inside)


@given(st.integers(-5, 5), st.integers(-4, 4), st.integers(1, 6), st.integers(-1, 9))
def test_lines_are_what_steps_evenly(start: int, step: int, length: int, moved: int) -> None:
    positions = start + step * np.arange(length)
    if length == 1 or step:
        assert list(find_line(positions) or ()) == positions.tolist()
    if 0 <= moved < length and length > 2:
        positions[moved] += 1
        assert find_line(positions) is None


REFUSED: dict[str, Numbers] = {
    "products of other records": lambda d: (d[:3] * d[3:]).sum(),
    "what is written into a part": lambda d: [d[:3].__setitem__(slice(None), 1), d.sum()],
    "a sum of rows": lambda d: (d.reshape(2, 3)[0] + d.reshape(2, 3)[1]).max(),
    "a part of a selection": lambda d: d[d > 0][:2].sum(),
    "places twice": lambda d: d[[2, 2]].sum(),
    "positions that noise says": lambda d: d[: int(d.sum())].sum(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_more_than_parts_is_refused(name: str) -> None:
    release = lambda data, rng: np.sum(REFUSED[name](data)) + rng.laplace()  # noqa: E731
    assert align(lt.mechanism(release), SMALL).price is None


@pytest.mark.slow
def test_long_lines_of_a_grid() -> None:
    halves = lambda data: data.reshape(2, -1).sum(axis=1)  # noqa: E731
    assert price(halves, lt.Hypercube(20_000)) == 1.0


def noise_for_one_half(data: Any, rng: Any) -> Any:
    return data[:6000].sum() + rng.laplace(0, 1.0), data[4000:].sum() + rng.laplace(0, 1.0)


def noise_for_halves(data: Any, rng: Any) -> Any:
    return data[:5000].sum() + rng.laplace(0, 1.0), data[5000:].sum() + rng.laplace(0, 1.0)


@pytest.mark.slow
def test_overlapping_parts_are_refuted_where_they_overlap() -> None:
    people = lt.Hypercube(10_000)
    verdict = lt.check_privacy(noise_for_one_half, people, epsilon=1)
    assert verdict.decision == "NO"
    witness = verdict.witness
    changed = np.flatnonzero(np.asarray(witness.dataset) != np.asarray(witness.neighbour))
    assert 4000 <= changed.item() < 6000
    assert witness.verify(lt.mechanism(noise_for_one_half))
    assert lt.check_privacy(noise_for_halves, people, epsilon=1).decision == "YES"


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1.0, 0.99])
def test_blocks_of_many_records(epsilon: float) -> None:
    """One record is in one block of a hundred: the noise of one is enough."""
    blocks = lambda data, rng: data.reshape(100, -1).sum(axis=1) + rng.laplace(size=100)  # noqa: E731
    verdict = lt.check_privacy(blocks, lt.Hypercube(10_000), epsilon=epsilon)
    assert verdict.decision == ("YES" if epsilon == 1 else "NO")
    if epsilon == 1:
        assert "for datasets of 10,000 records" in str(verdict)

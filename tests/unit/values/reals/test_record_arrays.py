"""Arrays of numbers of each record against NumPy: the nearest of some points, and what follows.

With Laplace noise of scale 1 on each number the price is the largest change of all numbers together
that one record makes. It is found here by NumPy, over all records or over many.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from tests.shares import mostly_slow
from tests.unit.values.frame_prices import reason_of

POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.25], [0.125, 0.75]])
CENTRES = np.array([[0.25, 0.125], [0.75, 0.625], [0.125, 0.75]])
PLACES = np.array([1.0, 2.5, 4.0])
TABLE: Any = lt.Table({"x": lt.Real(0, 1), "y": lt.Real(0, 2)}, rows=2, relation="replace")
WIDE: Any = lt.Table({c: lt.Real(0, 1) for c in "xyz"}, rows=2, relation="replace")
CORNERS = np.linspace(0.0, 1.0, 9)
Sums = Callable[[Any], Any]


def nearest(rows: Any) -> Any:
    return np.linalg.norm(rows[:, None, :] - CENTRES[None], axis=2).argmin(1)


def by_squares(rows: Any) -> Any:
    return ((rows[:, None] - CENTRES) ** 2).sum(axis=2).argmin(axis=1)


def nearest_place(numbers: Any) -> Any:
    return np.abs(numbers[:, None] - PLACES).argmin(axis=1)


def sums_in_place(labels: Any, numbers: Any) -> Any:
    sums = np.zeros((3, 2) if np.ndim(numbers) > 1 else 3)
    np.add.at(sums, labels, numbers)
    return sums


def of_each(rows: Any) -> Any:
    labels = nearest(rows)
    return np.array([rows[labels == k].sum(axis=0) for k in range(3)])


def one_hot(data: Any) -> Any:
    return (nearest_place(data)[:, None] == np.arange(3)).astype(float).sum(axis=0)


#: Of records 0 .. 5.
OF_NUMBERS: dict[str, Sums] = {
    "counts": lambda d: np.bincount(nearest(POINTS[d]), minlength=3),
    "squares": lambda d: np.bincount(by_squares(POINTS[d]), minlength=3),
    "sums": lambda d: of_each(POINTS[d]),
    "places": lambda d: np.bincount(nearest_place(d), minlength=3),
    "outer": lambda d: np.bincount(np.abs(np.subtract.outer(d, PLACES)).argmin(1), minlength=3),
    "turned": lambda d: np.bincount(np.abs(PLACES[:, None] - d[None, :]).argmin(0), minlength=3),
    "weights": lambda d: np.bincount(nearest_place(d), weights=d, minlength=3),
    "in place": lambda d: sums_in_place(nearest_place(d), d),
    "one-hot": one_hot,
    "eye": lambda d: np.eye(3)[nearest_place(d)].T @ d,
    "products": lambda d: (POINTS[d][:, :, None] * POINTS[d][:, None, :]).sum(axis=0),
    "c_": lambda d: np.c_[np.ones(len(d)), POINTS[d]].sum(axis=0),
    "r_": lambda d: np.r_[POINTS[d].sum(axis=0), d.sum(), 3],
    "farthest": lambda d: np.max(np.abs(d[:, None] - PLACES), axis=1).sum(),
    "any": lambda d: np.any(d[:, None] == np.array([2, 5]), axis=1).sum(),
    "far": lambda d: (
        np.linalg.norm(POINTS[d][:, None] - CENTRES, axis=-1).min(axis=1) < 0.25
    ).sum(),
    "both axes": lambda d: (POINTS[d][:, None, :] - CENTRES).sum(axis=(1, 2)).sum(),
    "selected": lambda d: np.bincount(nearest(POINTS[d[d > 1]]), minlength=3),
}
#: Of two real numbers of a row.
OF_ROWS: dict[str, Sums] = {
    "counts": lambda x: np.bincount(nearest(x), minlength=3),
    "squares": lambda x: np.bincount(by_squares(x), minlength=3),
    "sums": of_each,
    "in place": lambda x: sums_in_place(by_squares(x), x),
    "products": lambda x: (x[:, :, None] * x[:, None, :]).sum(axis=0),
    "of one": lambda x: np.bincount(nearest_place(x[:, 1]), weights=x[:, 1], minlength=3),
    "largest": lambda x: np.bincount(x.argmax(axis=1), minlength=2),
    "above": lambda x: (x > 0.5).astype(float).sum(axis=0),
    "chosen": lambda x: np.where(x > 0.5, x, 0.0).sum(axis=0),
}


def noisy(sums: Sums, scale: float = 1.0) -> Any:
    def release(data: Any, rng: Any) -> Any:
        made = sums(data)
        return made + rng.laplace(0, scale, np.shape(made))

    return release


def of_frame(sums: Sums) -> Any:
    return noisy(lambda frame: sums(frame.to_numpy()))


def price_on(table: Any, release: Any) -> Any:
    return align(lt.mechanism(release).on_domain(table), table)


def largest_change(made: list[Any]) -> float:
    return max(float(np.abs(one - other).sum()) for one, other in product(made, repeat=2))


@pytest.mark.parametrize("name", mostly_slow(OF_NUMBERS, 4))
def test_prices_of_numbers(name: str) -> None:
    sums = OF_NUMBERS[name]
    made = [np.asarray(sums(np.array([value, 0]))) for value in range(6)]
    alignment = align(lt.mechanism(noisy(sums)), lt.RecordGrid([6] * 2))
    assert float(alignment.epsilon) == pytest.approx(largest_change(made), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_ROWS)
def test_prices_of_rows(name: str) -> None:
    sums = OF_ROWS[name]
    made = [np.asarray(sums(np.array([[x, 2 * y], [0, 0]]))) for x in CORNERS for y in CORNERS]
    price = float(price_on(TABLE, of_frame(sums)).epsilon)
    assert largest_change(made) - 1e-9 <= price <= 9.0 + 1e-9


def nearest_of_three(frame: Any) -> Any:
    centres = np.array([[0.1, 0.2, 0.3], [0.5, 0.5, 0.1], [0.9, 0.1, 0.5]])
    rows = frame.to_numpy()
    return np.bincount(np.linalg.norm(rows[:, None] - centres, axis=2).argmin(1), minlength=3)


@pytest.mark.slow
def test_more_than_two_numbers_are_added_up_in_an_order_that_does_not_change() -> None:
    assert float(price_on(WIDE, noisy(nearest_of_three)).epsilon) == 2.0
    rows: Any = lt.Table({c: lt.Real(0, 1) for c in "xyz"}, rows=2, relation="add_remove")
    assert "more than two" in reason_of(lt.mechanism(noisy(nearest_of_three)), rows)


def steps(frame: Any, rng: Any, scale: float = 4.0) -> Any:
    """Lloyd's algorithm with noise: two steps, each of which costs at most 5 by its scale."""
    rows, centres = frame.to_numpy(), CENTRES
    for _ in range(2):
        labels = np.linalg.norm(rows[:, None, :] - centres, axis=2).argmin(axis=1)
        counts = np.bincount(labels, minlength=3) + rng.laplace(0, scale, 3)
        sums = np.stack([rows[labels == k].sum(axis=0) for k in range(3)])
        sums = sums + rng.laplace(0, 3 * scale, (3, 2))
        centres = np.clip(sums / np.maximum(counts, 1)[:, None], 0, 2)
    return centres


@pytest.mark.slow
def test_steps_with_released_centres() -> None:
    price = float(price_on(TABLE, steps).epsilon)
    # Two counts move by 1, two sums by as much as a row has: 3 by 12.
    assert price == pytest.approx(2 * (2 / 4 + 6 / 12), abs=1e-9)


def from_centres(frame: Any, rng: Any) -> Any:
    rows, centres = frame.to_numpy(), CENTRES + rng.laplace(0, 1, (3, 2))
    labels = ((rows[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    return np.bincount(labels, minlength=3) + rng.laplace(0, 2, 3)


def means_as_centres(frame: Any, rng: Any) -> Any:
    rows = frame.to_numpy()
    sums, count = rows.sum(axis=0) + rng.laplace(0, 1, 2), (rows[:, 0] > 0).sum() + rng.laplace()
    far = np.abs(rows - sums / count).sum(axis=1) > 1
    return far.sum() + rng.laplace()


@pytest.mark.slow
def test_noise_beside_centres() -> None:
    assert float(price_on(TABLE, from_centres).epsilon) == 1.0
    assert "noise of any size" in reason_of(lt.mechanism(means_as_centres), TABLE)


def between_records(data: Any) -> Any:
    return (np.abs(data[:, None] - data[None, :]) < 1).sum()


def over_the_records(data: Any) -> Any:
    return np.abs(data[:, None] - PLACES).argmin(axis=0)


def added_twice(data: Any) -> Any:
    sums = np.zeros(3)
    np.add.at(sums, nearest_place(data), data)
    np.add.at(sums, nearest_place(data), data)
    return sums


@pytest.mark.parametrize("sums", [between_records, over_the_records, added_twice])
def test_what_looks_at_several_records_is_refused(sums: Sums) -> None:
    assert reason_of(lt.mechanism(noisy(sums)), lt.RecordGrid([6] * 4))


#: Masks with a truth for each number of a row choose numbers, and no rows.
MASKS: list[Sums] = [
    lambda x: x[x > 0.5].sum(),
    lambda x: x[:, 0][x > 0.5].sum(),
    lambda x: np.where(x > 0.5, x[:, 0], 0.0).sum(),
    lambda x: (x[:, None] - x[0]).sum(axis=2).argmin(axis=1).sum(),
]


@pytest.mark.parametrize("sums", MASKS)
def test_masks_of_rows_do_not_choose_records(sums: Sums) -> None:
    assert reason_of(lt.mechanism(of_frame(sums)), TABLE)


def test_numbers_too_close_to_tell_are_refused() -> None:
    def thirds(data: Any) -> Any:
        rows = np.stack([data / 3, data / 7, data / 11], axis=1)
        distances = ((rows[:, None] - np.array([[0.1] * 3, [0.1 + 1e-13] * 3])) ** 2).sum(axis=2)
        return np.bincount(distances.argmin(axis=1), minlength=2)

    refused = reason_of(lt.mechanism(noisy(thirds)), lt.RecordGrid([6] * 4))
    assert "rounded in an unknown order" in refused


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "decision"), [(2.0, "YES"), (1.0, "NO")])
def test_nearest_of_five_thousand(scale: float, decision: str) -> None:
    release = noisy(OF_NUMBERS["places"], scale)
    verdict = lt.check_privacy(release, lt.RecordGrid([6] * 5000), epsilon=1, seed=1)
    assert verdict.decision == decision


def of_copied_places(data: Any, rng: Any) -> Any:
    places = PLACES.copy()
    for _ in range(2):
        labels = np.abs(data[:, None] - places).argmin(axis=1)
        counts = np.bincount(labels, minlength=3) + rng.laplace(0, 4, 3)
        sums = np.bincount(labels, weights=data, minlength=3) + rng.laplace(0, 40, 3)
        places = np.clip(sums / np.maximum(counts, 1), 0, 5)
    return places.tolist()


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "decision"), [(1.4, "YES"), (0.3, "INCONCLUSIVE")])
def test_a_method_of_a_global_array(epsilon: float, decision: str) -> None:
    verdict = lt.check_privacy(of_copied_places, lt.RecordGrid([6] * 50), epsilon=epsilon, seed=1)
    assert verdict.decision in (decision, "NO")
    assert verdict.decision != "NO" or epsilon < 1

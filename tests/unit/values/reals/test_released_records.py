"""Whole-number records beside released numbers: steps of descent, quantiles, selections.

The oracle is NumPy at values and released numbers on a grid: what one record changes in a step.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.symbolic.answers import Differences
from liptest.symbolic.direct_sums import NormalSums, largest_normal_shift
from liptest.values.reals.recipes import RowCondition
from liptest.values.reals.rounded_sums import find_margin
from liptest.values.records.row_cells import group_comparisons
from tests.unit.values.frame_prices import reason_of

VALUES = 8
MANY = lt.RecordGrid([VALUES] * 5000)
#: Released numbers at which a step may be dearest: at values, next to them, and far away.
NUMBERS = sorted({v + d for v in np.arange(-3, 11, 0.5) for d in (0, 1e-9, -1e-9)} | {-1e6, 1e6})


def largest_loss(entry: Callable[[Any, Any], Any]) -> float:
    """Of the number, and of a sum of such entries, by one record, at the scales of the test."""
    values = np.arange(VALUES)
    losses = []
    for number in NUMBERS:
        added = np.asarray(entry(values, number), dtype=np.float64)
        rows = values / (VALUES - 1), added / 4
        losses.append(sum(np.abs(row[:, None] - row) for row in rows).max())
    return float(max(losses))


def proved(function: Any, domain: Any = MANY, **claim: Any) -> Any:
    claim = claim or {"epsilon": 100}
    return lt.check_privacy(
        lt.mechanism(function), domain, floats="ideal", method="alignment", **claim
    )


#: By name what a record adds to a step.
STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "clipped": lambda x, w: np.clip(w - x, -1, 1),
    "one side": lambda x, w: np.clip(x - w, 0, 2.5),
    "sign": lambda x, w: np.sign(w - x),
    "absolute": lambda x, w: np.minimum(np.abs(x - w), 3),
    "truths": lambda x, w: x > w,
    "where": lambda x, w: np.where(x > w, 2, -1),
    "between": lambda x, w: (x >= w - 1) & (x < w + 1),
    "not": lambda x, w: ~(x == w),
    "of some records": lambda x, w: np.clip(x - w, -1, 1) * (x > 3),
    "projected": lambda x, w: np.clip(w, 0, 7) * (x > 3),
    "clipped at a number": lambda x, w: np.clip(x, 0, np.clip(w, 1, 5)),
    "selected": lambda x, w: np.where(x <= w, x, 0),
    "floor": lambda x, w: np.floor(np.clip(x - w, -1.5, 1.5)),
}


@pytest.mark.parametrize("name", STEPS)
def test_each_step_costs_what_its_dearest_number_does(name: str) -> None:
    step = STEPS[name]

    def two_steps(data: Any, rng: Any) -> Any:
        number = data.sum() + rng.laplace(scale=VALUES - 1)
        return number, step(data, number).sum() + rng.laplace(scale=4)

    verdict = proved(two_steps)
    wanted = largest_loss(step)
    assert verdict.largest_loss >= wanted * (1 - 1e-9)
    assert math.isclose(verdict.largest_loss, wanted, rel_tol=1e-8)


def median(data: Any, rng: Any) -> Any:
    theta = 3.5
    for _ in range(5):
        theta -= 0.5 * (np.sign(theta - data).sum() + rng.laplace(0, 10)) / len(data)
    return theta


def quantile(data: Any, rng: Any) -> Any:
    q = 4.0
    for _ in range(3):
        below = np.mean(data <= q) + rng.laplace(scale=3 / len(data))
        q = q + 0.5 * (0.9 - below)
    return q


def many_counts(data: Any, rng: Any) -> Any:
    q = 4.0
    for _ in range(12):
        q = q + 0.5 * (0.9 - ((data <= q).sum() + rng.laplace(scale=12)) / len(data))
    return q


def many_clipped_sums(data: Any, rng: Any) -> Any:
    theta = 3.5
    for _ in range(15):
        theta = theta + np.clip(data - theta, -1, 1).mean() + rng.laplace(scale=30 / len(data))
    return theta


def batches(data: Any, rng: Any) -> Any:
    m, size = 3.5, len(data) // 5
    for k in range(5):
        batch = data[k * size : (k + 1) * size]
        m = m + 0.1 * (np.clip(batch - m, -1, 1).sum() + rng.laplace(scale=2)) / size
    return m


def counts_of_parts(data: Any, rng: Any) -> Any:
    m = (data.sum() + rng.laplace(scale=14)) / len(data)
    parts = data < m - 1, (data >= m - 1) & (data < m + 1), data >= m + 1
    return m, [part.sum() + rng.laplace(scale=4) for part in parts]


def selected_records(data: Any, rng: Any) -> Any:
    m = (data.sum() + rng.laplace(scale=21)) / len(data)
    above = data[data > m]
    return above.sum() + rng.laplace(scale=21), len(above) + rng.laplace(scale=3)


def scaled_by_released(data: Any, rng: Any) -> Any:
    mu, s, n = 3.5, 2.0, len(data)
    for _ in range(2):
        z = np.clip((data - mu) / s, -1, 1)
        first = z.sum() / n + rng.laplace(scale=8 / n)
        size = np.abs(z).sum() / n + rng.laplace(scale=4 / n)
        mu, s = mu + s * first, np.maximum(0.5, s * size)
    return mu, s


def growing_bound(data: Any, rng: Any) -> Any:
    c = 1
    for _ in range(3):
        if (data <= c).sum() + rng.laplace(scale=6) > 0.9 * len(data):
            break
        c *= 2
    return np.clip(data, 0, c).sum() + rng.laplace(scale=2 * c)


def two_rounds(data: Any, rng: Any) -> Any:
    coarse = np.bincount(data // 2, minlength=4) + rng.laplace(scale=4, size=4)
    k = int(np.argmax(coarse))
    return k, [(data == 2 * k + j).sum() + rng.laplace(scale=4) for j in range(2)]


def whole_noise(data: Any, rng: Any) -> Any:
    med = 3.0
    for _ in range(2):
        count = (data > med).sum() + rng.geometric(0.5) - rng.geometric(0.5)
        med = med + count / len(data) - 0.5
    return med


#: Programs with what they lose.
LOSSES: dict[Callable[[Any, Any], Any], float] = {
    median: 1,
    quantile: 1,
    many_counts: 1,
    many_clipped_sums: 1,
    batches: 1,
    counts_of_parts: 1,
    selected_records: 1,
    scaled_by_released: 27 / 32,
    growing_bound: 1,
    two_rounds: 1,
    whole_noise: 2 * math.log(2),
}


@pytest.mark.slow
@pytest.mark.parametrize("function", LOSSES, ids=lambda function: function.__name__)
def test_what_programs_lose(function: Any) -> None:
    verdict = proved(function)
    assert math.isclose(verdict.largest_loss, LOSSES[function], rel_tol=1e-9)


@pytest.mark.slow
def test_a_million_records_cost_no_more() -> None:
    verdict = proved(many_clipped_sums, lt.RecordGrid([VALUES] * 1_000_000))
    assert math.isclose(verdict.largest_loss, 1, rel_tol=1e-9)


@pytest.mark.slow
def test_one_record_that_comes_or_goes_moves_less() -> None:
    def descend(frame: Any, rng: Any) -> Any:
        theta = 1.0
        for _ in range(3):
            theta -= 0.01 * (np.clip(theta - frame["x"], -1, 1).sum() + rng.laplace(scale=3))
        return theta

    columns = {"x": lt.Integer(0, 7), "y": lt.Bit()}
    losses = [
        proved(descend, lt.Table(columns, rows=50, relation=relation)).largest_loss
        for relation in ("replace", "add_remove")
    ]
    assert losses == pytest.approx([2, 1], rel=1e-9)


def descend_with(steps: int, noise: Callable[[Any], Any]) -> Any:
    def descend(data: Any, rng: Any) -> Any:
        theta = 3.5
        for _ in range(steps):
            theta = theta + 0.1 * (np.clip(data - theta, -1, 1).sum() + noise(rng)) / len(data)
        return theta

    return descend


@pytest.mark.slow
@pytest.mark.parametrize("steps", [3, 12])
def test_normal_steps_compose_as_the_root_of_their_squares(steps: int) -> None:
    descend = descend_with(steps, lambda rng: rng.normal(scale=16))
    mu = math.sqrt(steps) * 2 / 16
    for claim, wanted in ((mu * (1 + 1e-6), "YES"), (mu * (1 - 1e-3), "INCONCLUSIVE")):
        assert proved(descend, mu=claim).decision == wanted


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1, 3])
def test_noise_for_fewer_steps_is_never_enough(scale: float) -> None:
    descend = descend_with(3, lambda rng: rng.laplace(scale=2 * scale))
    wanted = "YES" if scale == 3 else "INCONCLUSIVE"
    assert proved(descend, epsilon=1).decision == wanted


def two_counts(scale: float) -> Any:
    def count_twice(data: Any, rng: Any) -> Any:
        theta = 0.5
        for _ in range(2):
            theta = theta + ((data > theta).sum() + rng.laplace(scale=scale)) / 2 - 0.5
        return theta

    return lt.mechanism(count_twice)


@pytest.mark.slow
def test_half_of_the_noise_is_refuted_on_a_few_records() -> None:
    domain = lt.RecordGrid([3] * 2)
    verdict = lt.check_privacy(two_counts(1), domain, epsilon=1, floats="ideal")
    assert verdict.decision == "NO"
    assert verdict.witness.verify(two_counts(1))
    enough = lt.check_privacy(two_counts(2), domain, epsilon=1, floats="ideal")
    assert enough.decision == "YES"


@pytest.mark.slow
@pytest.mark.parametrize("bits", [2, 3])
def test_a_price_is_at_least_the_exact_loss(bits: int) -> None:
    exact = lt.exact_epsilon(two_counts(1), lt.Hypercube(bits)).value
    price = lt.check_privacy(
        two_counts(1), lt.Hypercube(bits), epsilon=9, floats="ideal", method="alignment"
    )
    assert exact <= price.largest_loss + 1e-9


@pytest.mark.slow
def test_arrays_compare_with_continuous_noise_as_lists_do() -> None:
    def of_array(data: Any, rng: Any) -> Any:
        number = data.sum() + rng.laplace()
        return int((data > number).sum()) > 1

    def of_list(data: Any, rng: Any) -> Any:
        number = sum(data.tolist()) + rng.laplace()
        return sum(1 for one in data.tolist() if one > number) > 1

    losses = [lt.exact_epsilon(lt.mechanism(one), lt.Hypercube(2)) for one in (of_array, of_list)]
    assert losses[0].value == pytest.approx(losses[1].value, rel=1e-9)


# ---- what is refused


def after_release(step: Callable[[Any, Any], Any], start: Any = None) -> Any:
    def release(data: Any, rng: Any) -> Any:
        number = data.sum() + rng.laplace(scale=7) if start is None else start(data, rng)
        return number, step(data, number) + rng.laplace(scale=4)

    return lt.mechanism(release)


REFUSED: dict[str, tuple[Any, str]] = {
    "not clipped": (after_release(lambda x, w: (w - x).sum()), r"may overflow.*clip"),
    "without noise": (
        after_release(lambda x, w: (x > w).sum(), lambda x, rng: x.mean()),
        r"without noise",
    ),
    "noise of any size": (
        after_release(lambda x, w: np.clip(w - x, 0, 1).sum(), lambda x, rng: rng.normal(0, 1e200)),
        r"noise of any size",
    ),
    "a quotient of any size": (
        after_release(lambda x, w: np.clip(1 / w - x, 0, 1).sum()),
        r"noise of any size",
    ),
    "whole numbers": (
        after_release(
            lambda x, w: np.clip(w - x, 0, 1).sum(), lambda x, rng: x.sum() + rng.geometric(0.5)
        ),
        r"released whole number.*float",
    ),
    "rounded entries": (after_release(lambda x, w: (np.exp(x) > w).sum()), r"whole numbers"),
    "single records": (after_release(lambda x, w: (x - w)[0]), r"not a comparison of the same"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_all_else_is_refused_with_the_line(name: str) -> None:
    function, words = REFUSED[name]
    reason = reason_of(function, MANY)
    assert re.search(words, reason), reason
    assert "test_released_records.py" in reason


@pytest.mark.slow
def test_sums_of_many_real_numbers_are_each_at_their_own_worst() -> None:
    def descend(frame: Any, rng: Any) -> Any:
        x, theta = frame["x"].to_numpy(), 3.5
        for _ in range(10):
            theta = theta + np.clip(x - theta, -1, 1).sum() + rng.laplace(scale=20)
        return theta

    verdict = proved(descend, lt.Table({"x": lt.Real(0, 7)}, rows=50))
    assert verdict.largest_loss == pytest.approx(1, rel=1e-9)


# ---- the parts


def known(constant: float) -> Any:
    return "known", ("sum", 0, 1, Fraction(constant), -math.inf, math.inf)


def test_truths_of_a_group_are_those_that_some_number_has() -> None:
    table = np.arange(4)
    record = "table", table.dtype.char, table.tobytes()
    compared = (np.less, 0.0), (np.greater_equal, 1.0), (np.equal, -0.5), (np.not_equal, 1.0)
    conditions = [RowCondition(how, record, known(by)) for how, by in compared]
    [group] = group_comparisons(conditions, {})
    found = {tuple(row) for row in group.truths.tolist()}
    numbers = np.arange(-6, 6, 0.25)
    wanted = {
        tuple(bool(how(x, w + by)) for how, by in compared) for x, w in product(table, numbers)
    }
    assert found == wanted
    mirrored = RowCondition(np.greater, known(0.0), record)
    [group] = group_comparisons([conditions[0], mirrored], {})
    assert group.truths.tolist() == [[False, False], [True, True]]


def test_numbers_that_floats_may_exchange_are_apart() -> None:
    table = np.arange(4.0)
    record = "table", table.dtype.char, table.tobytes()
    conditions = [RowCondition(np.less, record, known(by)) for by in (0.0, 1e-12)]
    assert [len(group.truths) for group in group_comparisons(conditions, {})] == [2, 2]


def test_one_record_moves_a_sum_in_a_fixed_order_by_less() -> None:
    rng = np.random.default_rng(0)
    for records in (10, 1_000, 30_000):
        sizes = np.array([7.0, np.nextafter(2.5, 3)])
        bound = find_margin(sizes, records, is_off=False, in_pairs=True, is_fixed=True)
        entries = rng.uniform(-7, 7, records)
        for _ in range(20):
            other = entries.copy()
            place = int(rng.integers(records))
            other[place] = rng.uniform(-7, 7)
            change = Fraction(float(other.sum())) - Fraction(float(entries.sum()))
            exact = Fraction(float(other[place])) - Fraction(float(entries[place]))
            assert abs(change - exact) <= bound
    assert bound < find_margin(sizes, records, is_off=False, in_pairs=True) / 3


def test_sums_in_a_box_beside_others_are_joined_as_squares() -> None:
    class Sum:
        def __init__(self, answer: int) -> None:
            self.answers, self.variance = {answer: 1}, Fraction(4)

    rows = [{0: 1}, {1: 1}, {}]
    core = Differences.of_tables(rows, size=4)
    differences = core.widen_by({2: Fraction(2), 3: Fraction(1)})
    normal: Any = NormalSums([Sum(answer) for answer in range(4)])  # type: ignore[misc]
    shift, _ = largest_normal_shift(normal, differences)
    assert float(shift) == pytest.approx(math.sqrt((2 + 4 + 1) / 4), rel=1e-9)


def test_data_do_not_only_move_what_is_calculated_with_a_released_number() -> None:
    def release(data: Any, rng: Any) -> Any:
        number = data.sum() + rng.laplace(scale=7)
        return number, np.clip(data - number, -1, 1).sum() + rng.laplace(scale=4)

    paths: Any = lt.mechanism(release).on_domain(MANY).align_paths(MANY)
    assert len(paths.paths) == 1
    assert paths.moved is None
    assert paths.added(1) is None


PRODUCTS: dict[str, tuple[Callable[[Any], Any], float]] = {
    "einsum of a product": (lambda x: np.einsum("i,i->", x, np.ones(len(x))), 7),
    "einsum of squares": (lambda x: np.einsum("i,i", x, x), 49),
    "einsum of one": (lambda x: np.einsum("i->", x), 7),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_einsum_adds_up_products(name: str) -> None:
    function, change = PRODUCTS[name]
    verdict = proved(lambda data, rng: function(data) + rng.laplace(scale=change))
    assert verdict.largest_loss == pytest.approx(1, rel=1e-9)


@pytest.mark.parametrize("wanted", ["i,j->", "i,i->i", "i"])
def test_einsum_that_keeps_records_is_refused(wanted: str) -> None:
    def add(data: Any, rng: Any) -> Any:
        arrays = [data] * (1 + wanted.count(","))
        return np.sum(np.einsum(wanted, *arrays)) + rng.laplace(scale=49)

    assert isinstance(lt.mechanism(add).on_domain(MANY).align_paths(MANY), NoPaths)


def test_errors_at_a_released_number_are_averaged_and_multiplied() -> None:
    def release(data: Any, rng: Any) -> Any:
        number = data.sum() + rng.laplace(scale=7)
        errors = np.clip(data - number, -1, 1)
        first = errors @ np.ones(len(data)) + rng.laplace(scale=2)
        second = np.dot(data, errors) + rng.laplace(scale=14)
        return first, second, np.average(errors) + rng.laplace(scale=2 / len(data))

    # From a record 0 to 7: 1 of the number, 1, 7 / 14, and 1.
    assert proved(release).largest_loss == pytest.approx(3.5, rel=1e-8)


def bins_around(data: Any, rng: Any) -> Any:
    m = (data.sum() + rng.laplace(scale=14)) / len(data)
    counts, edges = np.histogram(data, bins=m + np.array([-2.0, -1.0, 0.0, 1.0, 2.0]))
    return edges, counts + rng.laplace(scale=4, size=4)


def bins_beside(data: Any, rng: Any) -> Any:
    m = np.clip((data.sum() + rng.laplace(scale=14)) / len(data), 0, 7)
    counts, _ = np.histogram(data, bins=[-1.0, m, 8.0])
    return counts + rng.laplace(scale=4, size=2)


def places_among(data: Any, rng: Any) -> Any:
    m = (data.sum() + rng.laplace(scale=14)) / len(data)
    places = np.digitize(data, [m - 1, m, m + 1])
    return np.bincount(places, minlength=4) + rng.laplace(scale=4, size=4)


@pytest.mark.slow
@pytest.mark.parametrize("function", [bins_around, bins_beside, places_among])
def test_bins_between_released_edges_are_comparisons(function: Any) -> None:
    # Two counts move by 1, whatever the number of bins.
    assert proved(function).largest_loss == pytest.approx(1, rel=1e-9)

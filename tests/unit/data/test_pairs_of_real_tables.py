"""Plain pairs of tables with real columns: they are neighbours, and show what code reads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.data.real_tables import RealRows
from liptest.privacy.searches.refutation import _OF_REALS
from tests.shares import mostly_slow

COLUMNS: dict[str, Any] = {
    "age": lt.Real(18, 120),
    "income": lt.Real(),
    "region": lt.Category(["north", "south", "east"]),
}
DOMAINS = [
    (COLUMNS, {}),
    (COLUMNS, {"relation": "add_remove"}),
    ({**COLUMNS, "user": lt.Key()}, {"unit": "user"}),
    ({**COLUMNS, "user": lt.Key()}, {"unit": "user", "at_most": 2, "relation": "add_remove"}),
    ({"age": lt.Real(0, 1)}, {}),
]


@pytest.mark.parametrize(("columns", "options"), DOMAINS)
@pytest.mark.parametrize("rows", [4, 7, 100])
def test_they_are_neighbours(columns: Any, options: Any, rows: int) -> None:
    domain = lt.Table(columns, rows=rows, **options)
    assert isinstance(domain, RealRows)
    pairs = list(domain.plain_pairs())
    assert len(pairs) <= _OF_REALS  # all of which are looked at
    for left, right in pairs:
        domain.check_points(np.stack([left, right]))
        assert domain.distance([left], [right]).tolist() == [1]


PEOPLE = lt.Table(COLUMNS, rows=100_000)
OPEN = lt.Table(COLUMNS, rows=100_000, relation="add_remove")


@lt.mechanism
def keys(frame: Any, rng: Any) -> Any:
    return {one: float(rng.laplace()) for one in sorted(frame["region"].unique())}


@lt.mechanism
def median(frame: Any, rng: Any) -> Any:
    return frame["age"].median() + rng.laplace(scale=0.01)


@lt.mechanism
def bound_by_a_quantile(frame: Any, rng: Any) -> Any:
    most = frame["income"].clip(0, 1e6).quantile(0.99)
    return frame["income"].clip(0, most).sum() + rng.laplace(scale=1 + most)


@lt.mechanism
def interquartile_range(frame: Any, rng: Any) -> Any:
    low, high = np.percentile(frame["age"].to_numpy(), [25, 75])
    return high - low + rng.laplace(scale=0.01)


@pytest.mark.slow
def test_code_that_needs_a_row_is_not_told_to_raise_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RealRows, "draw", lambda self, rng, few: self.zeros)
    verdict = lt.check_privacy(interquartile_range, OPEN, epsilon=1, floats="ideal")
    assert verdict.decision == "NO", str(verdict)


@pytest.mark.slow
@pytest.mark.parametrize(
    "domain", [pytest.param(PEOPLE, marks=pytest.mark.slow), OPEN], ids=["replace", "add_remove"]
)
@pytest.mark.parametrize(
    "program",
    [
        keys,
        pytest.param(median, marks=pytest.mark.slow),
        bound_by_a_quantile,
        pytest.param(interquartile_range, marks=pytest.mark.slow),
    ],
)
def test_what_is_read_off_the_data_is_refuted(program: Any, domain: Any) -> None:
    verdict = lt.check_privacy(program, domain, epsilon=1, floats="ideal")
    assert verdict.decision == "NO", str(verdict)
    assert verdict.witness is not None
    assert verdict.witness.verify(program.on_domain(domain))


@lt.mechanism
def right(frame: Any, rng: Any) -> Any:
    return frame["age"].clip(18, 90).sum() + rng.laplace(scale=72.001)


@pytest.mark.parametrize("rows", mostly_slow([3_000, 100_000, 1_000_000], 3))
@pytest.mark.parametrize("ends", [(0, 1), (-3, 120), (0.0, 0.7), ()])
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_running_sums_of_32_bits_are_doubled(relation: str, ends: Any, rows: int) -> None:
    domain: Any = lt.Table({"x": lt.Real(*ends)}, rows=rows, relation=relation)
    pairs = list(domain._pairs_of_single_sums())
    assert len(pairs) == 1 or rows < 100_000
    for pair in pairs:
        sides = [domain.entries(side)["x"] for side in pair]
        exact, running = (
            float(one[0]) - float(one[1])
            for one in (
                [math.fsum(side) for side in sides],
                [np.cumsum(side.astype(np.float32))[-1] for side in sides],
            )
        )
        changed = sides[0][0] - (sides[1][0] if domain.is_full else 0)
        assert exact == pytest.approx(changed, rel=1e-9)
        assert running > (1.9 if rows >= 100_000 else 1.7) * exact


@lt.mechanism
def running_sum(frame: Any, rng: Any) -> Any:
    total = np.float32(0)
    for one in frame["income"].clip(0, 200_000).to_numpy().astype(np.float32):
        total += one
    return float(total) + rng.laplace(scale=200_000)


@lt.mechanism
def running_sum_of_doubles(frame: Any, rng: Any) -> Any:
    total = 0.0
    for one in frame["income"].clip(0, 200_000).to_numpy():
        total += one
    return total + rng.laplace(scale=200_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "domain", [pytest.param(PEOPLE, marks=pytest.mark.slow), OPEN], ids=["replace", "add_remove"]
)
def test_a_running_sum_of_32_bits_is_refuted_and_one_of_64_is_proved(domain: Any) -> None:
    wrong = lt.check_privacy(running_sum, domain, epsilon=1.5, floats="ideal")
    assert wrong.decision == "NO", str(wrong)
    assert wrong.largest_loss == pytest.approx(2, abs=0.02)
    assert wrong.witness is not None
    assert wrong.witness.verify(running_sum.on_domain(domain))
    right = lt.check_privacy(running_sum_of_doubles, domain, epsilon=1.001, floats="ideal")
    assert right.decision == "YES", str(right)


@lt.mechanism
def sum_that_is_not_followed(frame: Any, rng: Any) -> Any:
    return math.fsum(sorted(frame["share"].clip(-1, 1).tolist())) + rng.laplace(scale=1.001)


@pytest.mark.slow
@pytest.mark.parametrize("user", [{}, {"user": lt.Key()}], ids=["rows", "users"])
def test_a_replaced_row_is_not_a_neighbour_where_rows_come_and_go(user: Any) -> None:
    domain = lt.Table(
        {"share": lt.Real(-2, 2), **user},
        rows=1000,
        relation="add_remove",
        unit="user" if user else "row",
        at_most=1 if user else None,
    )
    verdict = lt.check_privacy(sum_that_is_not_followed, domain, epsilon=1, floats="ideal")
    assert verdict.decision == "INCONCLUSIVE", str(verdict)


@pytest.mark.slow
def test_what_is_right_is_not() -> None:
    assert lt.check_privacy(right, PEOPLE, epsilon=1, floats="ideal").decision == "YES"
    searched = lt.check_privacy(right, PEOPLE, epsilon=1, floats="ideal", method="refutation")
    assert searched.decision == "INCONCLUSIVE"


@lt.mechanism
def incomes_that_are_clipped_above(frame: Any, rng: Any) -> Any:
    adults = frame[frame["age"] > 20]
    return adults["income"].clip(upper=1000).sum() + rng.laplace(scale=1000)


@lt.mechanism
def mean_of_some(frame: Any, rng: Any) -> Any:
    some = frame[frame["age"].between(30, 90)]
    return some["income"].clip(0, 1000).mean() + rng.laplace(scale=0.01)


USERS = lt.Table({**COLUMNS, "user": lt.Key()}, rows=1_000, unit="user")
SOME_USERS = lt.Table(
    {"region": lt.Category(["north", "south"]), "user": lt.Key()}, rows=1_000, unit="user"
)


@lt.mechanism
def once_in_each_region(frame: Any, rng: Any) -> Any:
    return len(frame.drop_duplicates(["user", "region"])) + rng.laplace(scale=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "domain"),
    [
        (incomes_that_are_clipped_above, OPEN),
        (mean_of_some, OPEN),
        (once_in_each_region, USERS),
        (once_in_each_region, SOME_USERS),
    ],
)
def test_rows_that_code_selects_are_among_them(program: Any, domain: Any) -> None:
    verdict = lt.check_privacy(program, domain, epsilon=1, floats="ideal")
    assert verdict.decision == "NO", str(verdict)
    assert verdict.witness is not None
    assert verdict.witness.verify(program.on_domain(domain))


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_tables_of_one_row_have_pairs(relation: str) -> None:
    domain = lt.Table({"age": lt.Real(0, 100)}, rows=1, relation=relation)
    pairs = list(domain.plain_pairs())
    assert pairs
    verdict = lt.check_privacy(
        lambda people, rng: float(people["age"].sum() + rng.laplace(0, 101)), domain, epsilon=1.0
    )
    assert verdict.decision == "YES"


REGIONS = ["north", "south"]


@lt.mechanism
def small_groups_left_out(frame: Any, rng: Any) -> Any:
    counts = frame["region"].value_counts().reindex(REGIONS, fill_value=0)
    return (counts.where(counts >= 5, 0) + rng.laplace(scale=2, size=2)).tolist()


@lt.mechanism
def largest_group(frame: Any, rng: Any) -> Any:
    return frame["region"].value_counts().head(1).index[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "real", "relation"),
    [
        (small_groups_left_out, {"x": lt.Real(0, 1)}, "replace"),
        (small_groups_left_out, {}, "add_remove"),
        (largest_group, {"x": lt.Real(0, 1)}, "replace"),
    ],
)
def test_small_and_largest_groups_are_refuted(mechanism: Any, real: Any, relation: Any) -> None:
    columns = {"region": lt.Category(REGIONS), **real}
    domain: Any = lt.Table(columns, rows=200, relation=relation)
    verdict = lt.check_privacy(mechanism, domain, epsilon=1, method="refutation", floats="ideal")
    assert verdict.decision == "NO", str(verdict)
    assert verdict.witness is not None
    assert verdict.witness.verify(mechanism.on_domain(domain))

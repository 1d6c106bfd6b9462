"""Tables that are drawn: which are proved with all their neighbours, beside brute force."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt
from liptest.data.distributions import DomainAlone
from liptest.errors import DatasetError, InputError
from liptest.evidence.certificate import Certificate, certify
from liptest.evidence.verify import problems
from liptest.privacy.plans import privacy_plan_table
from liptest.privacy.proofs.alignment import prove_by_alignment
from liptest.privacy.request import validate_request
from liptest.privacy.samples.sampled_tables import ProvedTables, draw_table
from liptest.privacy.settings import CheckSettings
from liptest.privacy.verdicts import PrivacyVerdict
from liptest.runs.fingerprints import fingerprint

REGIONS = ["north", "south"]
DRAWN: dict[str, Any] = {"method": "neighbourhoods", "search_laws": 0, "floats": "ideal"}
COLUMNS = {"age": lt.Real(0, 10), "region": lt.Category(REGIONS)}


def crowd(rows: int = 300, relation: str = "add_remove") -> lt.Table:
    return lt.Table(COLUMNS, rows=rows, relation=relation)


def some_crowd(rng: np.random.Generator) -> Any:
    n = int(rng.integers(100, 200))
    return {"age": rng.uniform(2, 8, n), "region": rng.choice(REGIONS, n)}


@lt.mechanism
def if_enough(frame: Any, rng: Any) -> Any:
    if len(frame) < 50:
        return "too few"
    return frame["age"].clip(0, 10).sum() + rng.laplace(scale=10)


@lt.mechanism
def often_near(frame: Any, rng: Any) -> Any:
    if len(frame) < 150:
        return "too few"
    return frame["age"].clip(0, 10).sum() + rng.laplace(scale=10)


@lt.mechanism
def larger_of_two(frame: Any, rng: Any) -> Any:
    return max(frame["age"].sum(), 1.0) + rng.laplace(scale=10)


@pytest.mark.slow
def test_a_check_of_the_data_is_private_on_most_tables() -> None:
    drawn = lt.SampledDistribution.of_tables(crowd(), some_crowd)
    verdict = lt.check_privacy(if_enough, drawn, epsilon=1, exception_mass=0.1, **DRAWN)
    assert verdict.decision == "YES", str(verdict)
    assert verdict.guarantee.kind == "sampling"
    assert verdict.guarantee.exception_mass == 0.1
    assert "outside a set of untypical datasets" in str(verdict)
    # The same, but for a claim that no table keeps.
    dear = lt.check_privacy(if_enough, drawn, epsilon=0.9, exception_mass=0.1, **DRAWN)
    assert dear.decision == "INCONCLUSIVE"
    assert "neighbours of drawn table 1" in dear.reason


@pytest.mark.slow
def test_where_many_tables_are_near_the_check_nothing_is_promised() -> None:
    drawn = lt.SampledDistribution.of_tables(crowd(), some_crowd)
    verdict = lt.check_privacy(often_near, drawn, epsilon=1, exception_mass=0.01, seed=3, **DRAWN)
    assert verdict.decision == "INCONCLUSIVE"
    assert "comparison, without noise in it" in verdict.reason


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "neighbourhoods"])
def test_with_a_search_rare_tables_are_found(method: str) -> None:
    drawn = lt.SampledDistribution.of_tables(crowd(), some_crowd)
    options = DRAWN | {"method": method, "search_laws": None, "exception_mass": 0.2}
    verdict = lt.check_privacy(if_enough, drawn, epsilon=1, **options)
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.verify(if_enough.on_domain(drawn.domain))


def test_functions_of_real_sums_have_a_price() -> None:
    verdict = lt.check_privacy(larger_of_two, crowd(), epsilon=1, floats="ideal")
    assert verdict.decision == "YES", str(verdict)
    assert verdict.largest_loss == pytest.approx(1, abs=1e-9)


@pytest.mark.slow
def test_budget_and_certificate() -> None:
    drawn = lt.SampledDistribution.of_tables(crowd(), some_crowd)
    verdict = lt.check_privacy(if_enough, drawn, epsilon=1, budget=20, seed=1, **DRAWN)
    assert verdict.decision == "INCONCLUSIVE"
    assert "the budget ended after 20 of" in verdict.reason
    loose = DRAWN | {"exception_mass": 0.3}
    whole = lt.check_privacy(if_enough, drawn, epsilon=1, seed=1, **loose)
    given = certify(whole, fingerprint(if_enough), drawn, own_seed=False)
    text = given.to_json()
    assert Certificate.from_json(text).to_json() == text
    assert problems(text, if_enough, drawn) == []
    assert problems(text, often_near, drawn)


# ---- what counts as inside, by brute force


def proves_near(mechanism: Any, table: lt.Table, dataset: Any) -> bool:
    task = validate_request(
        mechanism, DomainAlone(table.around([dataset])), CheckSettings(epsilon=9)
    )
    found = prove_by_alignment(task)
    near: Any = task.distribution.domain.near  # type: ignore[attr-defined]
    return isinstance(found, PrivacyVerdict) and near.holds_for(dataset)


def is_above(limit: float) -> Any:
    @lt.mechanism
    def compared(frame: Any, rng: Any) -> Any:
        scale = 10 if frame["age"].sum() > limit else 20
        return frame["age"].sum() + rng.laplace(scale=scale)

    return compared


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_no_neighbour_of_what_is_proved_lies_on_the_other_side(relation: str) -> None:
    table = lt.Table({"age": lt.Real(0, 10)}, rows=4, relation=relation)
    decided = []
    for limit, ages in itertools.product(
        (12.0, 17.0, 25.0), ([5.0, 5, 5, 5], [9.0, 9, 9, 9], [3.0, 3, 3, 3])
    ):
        total = sum(ages)
        if relation == "replace":
            ends = total - max(ages), total - min(ages) + 10
        else:
            ages = ages[:3]
            total = sum(ages)
            ends = total - max(ages), total + 10
        dataset = table.encode({"age": ages})
        proved = proves_near(is_above(limit), table, dataset)
        decided.append(proved)
        if proved:
            assert not ends[0] <= limit < ends[1]
        if abs(total - limit) > 10.001:
            assert proved
    assert True in decided
    assert False in decided


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_all_rows_of_a_user_may_cross(relation: str) -> None:
    columns = {"user": lt.Key(), "age": lt.Real(0, 10)}
    table = lt.Table(columns, rows=12, relation=relation, unit="user", at_most=2)
    frame = {"user": [0, 0, 1, 1, 2, 2], "age": [5.0] * 6}
    dataset = table.encode(frame)
    limits = {limit: proves_near(is_above(limit), table, dataset) for limit in (9, 19, 49, 51)}
    # Two rows of 10 come, or two of 5 go and two of 10 come.
    assert limits == {9: True, 19: False, 49: False, 51: True}


@pytest.mark.slow
def test_counts_are_compared_exactly() -> None:
    table = lt.Table({"age": lt.Integer(0, 3)}, rows=30, relation="add_remove")

    def at_least(limit: int) -> Any:
        @lt.mechanism
        def counted(frame: Any, rng: Any) -> Any:
            return rng.laplace(scale=1) + (0 if len(frame) >= limit else 1)

        return counted

    dataset = table.encode({"age": [1] * 10})
    # Tables of 9 to 11 rows.
    found = [limit for limit in (9, 10, 11, 12) if not proves_near(at_least(limit), table, dataset)]
    assert found == [10, 11]


WAYS: dict[str, tuple[Any, float, bool]] = {
    # 54 / 49 * 49 is below 54 in floats.
    "divided": (lambda n: n / 49 * 49, 54, False),
    "a whole number again": (lambda n: int(n / 49 * 49), 54, False),
    "cancelled": (lambda n: (n + 2.0**60) - 2.0**60, 1, False),
    "cancelled with a limit": (lambda n: n + 2.0**60, 2.0**60 + 1, False),
    "vanished": (lambda n: n * 1e-200 * 1e-200, 0, False),
    "few digits": (lambda n: n * np.float32(1) + np.float32(1e6), 1e6 + 0.5, False),
    "far": (lambda n: n / 49 * 49, 53.5, True),
    "exact": (lambda n: 3 * n + 1, 163, True),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_only_what_floats_say_on_all_neighbours_is_settled(way: str) -> None:
    made, limit, is_settled = WAYS[way]
    table = lt.Table({"age": lt.Integer(0, 3)}, rows=100_000, relation="add_remove")

    @lt.mechanism
    def told(frame: Any, rng: Any) -> Any:
        if made(len(frame)) >= limit:
            return len(frame) + rng.laplace(scale=1)
        return "few"

    said = {bool(made(n) >= limit) for n in (54, 55, 56)}
    assert proves_near(told, table, table.encode({"age": [1] * 55})) is is_settled
    assert not is_settled or said == {True}


# ---- draws


def test_rows_of_a_public_frame() -> None:
    public = pd.DataFrame({"age": [1.0, 2.0, 3.0], "region": ["north", "south", "south"]})
    table = crowd(20)
    drawn = lt.SampledDistribution.of_rows(table, public, rows=range(5, 8))
    rng = np.random.default_rng(0)
    frames = [table.frame(one) for one in drawn.sample(rng, 40)]
    assert {len(frame) for frame in frames} == {5, 6, 7}
    rows = {row for frame in frames for row in frame.itertuples(index=False, name=None)}
    assert rows == set(public.itertuples(index=False, name=None))
    alone = lt.SampledDistribution.of_rows(crowd(20), public, rows=9, independent=True)
    rows = {
        row
        for one in alone.sample(rng, 40)
        for row in table.frame(one).itertuples(index=False, name=None)
    }
    assert len(rows) == 6
    full = crowd(4, "replace")
    whole = lt.SampledDistribution.of_rows(full, public)
    assert {len(full.frame(one)) for one in whole.sample(rng, 5)} == {4}


@pytest.mark.parametrize("relation", ["replace", "add_remove"])
def test_rows_of_whole_numbers(relation: str) -> None:
    table = lt.Table(
        {"age": lt.Integer(0, 5), "region": lt.Category(REGIONS)}, rows=6, relation=relation
    )
    public = {"age": [1, 4], "region": ["south", "north"]}
    for independent, kinds in ((False, 2), (True, 4)):
        drawn = lt.SampledDistribution.of_rows(table, public, rows=6, independent=independent)
        points = drawn.sample(np.random.default_rng(1), 30)
        rows = {
            row for one in points for row in table.frame(one).itertuples(index=False, name=None)
        }
        assert len(rows) == kinds
        assert {(1, "south"), (4, "north")} <= rows


def test_users_are_drawn_with_all_their_rows() -> None:
    columns = {"user": lt.Key(), "spend": lt.Real(0, 100)}
    table = lt.Table(columns, rows=50, unit="user", at_most=3)
    public = pd.DataFrame({"user": ["a", "b", "b", "c", "c", "c"], "spend": [1.0, 2, 2, 3, 3, 3]})
    drawn = lt.SampledDistribution.of_rows(table, public, rows=[10])
    for one in drawn.sample(np.random.default_rng(2), 20):
        frame = table.frame(one)
        assert frame["user"].nunique() == 10
        for _, own in frame.groupby("user"):
            assert set(own["spend"]) == {float(len(own))}
    assert table.frame(table.encode(public))["spend"].tolist() == public["spend"].tolist()


@pytest.mark.slow
def test_draws_repeat_and_do_not_depend_on_each_other() -> None:
    drawn = lt.SampledDistribution.of_tables(crowd(), some_crowd)
    task = validate_request(if_enough, drawn, CheckSettings(epsilon=1))
    assert np.array_equal(draw_table(task, 5), draw_table(task, 5))
    assert not np.array_equal(draw_table(task, 5), draw_table(task, 6))
    walk = ProvedTables(task)
    assert [walk.why_not(draw_table(task, k)) for k in range(30)] == [""] * 30
    assert walk.proofs < 30


def test_what_does_not_fit_is_refused() -> None:
    table = crowd(4)
    with pytest.raises(InputError, match=r"lt\.Table and a function"):
        lt.SampledDistribution.of_tables(table, 3)  # type: ignore[arg-type]
    public = {"age": [1.0], "region": ["north"]}
    for rows in (5, [], [-1]):
        with pytest.raises(InputError, match="rows="):
            lt.SampledDistribution.of_rows(table, public, rows=rows)
    with pytest.raises(InputError, match="all tables of this domain"):
        lt.SampledDistribution.of_rows(crowd(4, "replace"), public, rows=3)
    with pytest.raises(DatasetError, match="no column 'age'"):
        lt.SampledDistribution.of_rows(table, {"region": ["north"], "age": ["old"]})
    with pytest.raises(DatasetError, match="outside Real"):
        lt.SampledDistribution.of_rows(table, {"age": [11.0], "region": ["north"]})
    with pytest.raises(InputError, match="has no rows"):
        lt.SampledDistribution.of_rows(table, {"age": [], "region": []})
    drawn = lt.SampledDistribution.of_tables(
        table, lambda rng: {"age": [1.0] * 9, "region": ["north"] * 9}
    )
    with pytest.raises(DatasetError, match="9 rows"):
        drawn.sample(np.random.default_rng(0), 1)
    slots = lt.ProductDistribution.uniform(
        lt.Table({"age": lt.Integer(0, 2)}, rows=3, relation="add_remove")
    )
    # One bad pair of tables is many pairs of slots: masses of slots say nothing of tables.
    for asked in (
        lambda: lt.check_privacy(if_enough, slots, epsilon=1),
        lambda: lt.exception_mass(if_enough, slots, epsilon=1),
        lambda: lt.privacy_profile(if_enough, slots, epsilons=[1.0]),
        lambda: privacy_plan_table(
            slots, outputs=2, epsilon=1, exception_mass=0.1, failure_probability=0.1
        ),
    ):
        with pytest.raises(InputError, match="product law of slots"):
            asked()

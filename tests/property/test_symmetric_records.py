"""One of the records that a mechanism treats alike stands for all: what it sees is the same."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.data.domains import Domain
from liptest.data.points import PointBatch
from liptest.privacy.methods import affordable_laws, neighbourhoods
from liptest.privacy.plans import privacy_plan_table
from liptest.privacy.request import Task
from liptest.privacy.samples import symmetric_records
from liptest.privacy.samples.symmetric_records import (
    SymmetricChanges,
    find_symmetries,
)
from liptest.privacy.settings import CheckSettings
from liptest.privacy.visits import choose_method


def sized(statistic: Any) -> Any:
    return lt.StatisticMechanism(statistic, [0, 1], by_first_number)


def by_first_number(values: np.ndarray) -> np.ndarray:
    """Two laws, far apart at one value in eleven."""
    first = values.reshape(len(values), -1)[:, 0]
    p = np.where(first % 11 == 0, 0.05, 0.3)
    return np.log(np.stack([p, 1 - p], axis=1))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, Domain]:
    """Statistics and the domains that they fit."""
    d, kind = draw(st.integers(1, 6)), draw(st.integers(0, 5))
    if kind == 0:
        return lt.Count(), lt.Hypercube(d)
    if kind == 1:
        cells = draw(st.integers(1, 3))
        return lt.Histogram(cells), lt.RecordGrid([cells] * d)
    sizes = draw(st.lists(st.integers(1, 3), min_size=d, max_size=d))
    domain = draw(st.sampled_from([lt.RecordGrid(sizes), lt.Hypercube(d)]))
    small = st.integers(-2, 2)
    if kind == 2:
        return lt.statistics.WeightedSum(draw(st.lists(small, min_size=d, max_size=d))), domain
    if kind == 3:
        return lt.statistics.OrderStatistic(draw(st.integers(1, d))), domain
    if kind == 4:
        size = draw(st.integers(1, 3))
        table = draw(st.lists(small, min_size=size, max_size=size))
        return lt.statistics.Contributions(table), lt.RecordGrid([size] * d)
    tables = {n: draw(st.lists(small, min_size=n, max_size=n)) for n in set(domain.sizes)}
    return lt.statistics.Contributions.each([tables[n] for n in domain.sizes]), domain


@pytest.mark.slow
@given(cases(), st.integers(0, 2**32))
def test_the_neighbouring_values_of_a_draw_are_those_of_all_its_neighbours(
    case: tuple[Any, Domain], seed: int
) -> None:
    statistic, domain = case
    classes = statistic.kinds(domain)
    assert classes is not None
    near = SymmetricChanges.of(domain, classes)
    centres = lt.ProductDistribution.uniform(domain).sample(np.random.default_rng(seed), 3)
    batch = PointBatch(centres, *near.neighbour_changes(centres))
    assert np.all(np.diff(batch.rows) >= 0)
    values = statistic.values(batch.array())
    for row, centre in enumerate(batch.centres):
        changed = [tuple(np.atleast_1d(v)) for v in values[3:][batch.rows == row]]
        every = statistic.values(domain.neighbours(centre))
        assert set(changed) == {tuple(np.atleast_1d(v)) for v in every}
        copies = batch.array()[3:][batch.rows == row]
        assert np.all(domain.distance(np.repeat(centre[None], len(copies), axis=0), copies) == 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statistic", "sizes", "decision"),
    [
        (lt.Histogram(4), [4] * 600, "NO"),
        (lt.statistics.WeightedSum([1, 2] * 300), [4] * 600, "NO"),
        (lt.statistics.Contributions([0, 11, 22, 33]), [4] * 600, "YES"),
        (lt.statistics.OrderStatistic(300), [4] * 600, "YES"),
    ],
)
def test_verdicts_are_those_of_all_neighbours(
    monkeypatch: pytest.MonkeyPatch, statistic: Any, sizes: list[int], decision: str
) -> None:
    law = lt.ProductDistribution.uniform(lt.RecordGrid(sizes))
    mechanism = sized(statistic)
    options: dict[str, Any] = {"epsilon": 1, "method": "neighbourhoods", "seed": 1}
    options |= {"exception_mass": 0.2, "search_laws": 0}
    assert find_symmetries(mechanism, law.domain) is not None
    few = lt.check_privacy(mechanism, law, **options)
    with ProcessPoolExecutor(2) as executor:
        shared = lt.check_privacy(mechanism, law, executor=executor, **options)
    monkeypatch.setattr(symmetric_records, "_MANY_NEIGHBOURS", 1 << 30)
    every = lt.check_privacy(mechanism, law, **options)
    assert str(few.decision) == str(shared.decision) == str(every.decision) == decision
    assert few.cost.laws == shared.cost.laws == few.cost.draws * 1801
    assert str(few.witness) == str(shared.witness)
    if decision == "YES":
        assert (few.cost.laws, few.cost.pairs) == (every.cost.laws, every.cost.pairs)
        assert few.largest_loss == every.largest_loss
    else:
        assert few.witness is not None
        assert few.witness.verify(mechanism)


def test_where_one_record_of_each_kind_is_compared() -> None:
    def is_drawn(mechanism: Any, domain: Domain) -> bool:
        return find_symmetries(mechanism, domain) is not None

    records = lt.RecordGrid([3] * 2000)
    assert is_drawn(sized(lt.Histogram(3)), records)
    assert not is_drawn(sized(lt.statistics.WeightedSum(range(2000))), records)
    assert not is_drawn(sized(lt.statistics.UserStatistic(lambda x: x.max(axis=1))), records)
    assert not is_drawn(lt.ClosedForm([0], lambda x: np.zeros((len(x), 1))), records)
    counts = lt.Hypergrid([3] * 2000)
    assert not is_drawn(sized(lt.Histogram(2000, given="counts")), counts)


def task(mechanism: Any, law: Any, budget: int | None = None) -> Task:
    return Task(mechanism, law, CheckSettings(epsilon=1.0, budget=budget), seed=0)


@pytest.mark.slow
def test_auto_counts_the_laws_that_are_asked_for() -> None:
    many = lt.ProductDistribution.uniform(lt.RecordGrid([16] * 60_000))
    planned = neighbourhoods(many, 1e-3, 1e-6).plan
    assert planned.laws > affordable_laws(sized(lt.Histogram(16)), "sampling")
    assert planned.draws * 241 < affordable_laws(sized(lt.Histogram(16)), "sampling")
    assert choose_method(task(sized(lt.Histogram(16)), many)) == "neighbourhoods"
    # Nothing else of a statistic says which records it treats alike.
    blind = sized(lt.statistics.UserStatistic(lambda x: x.max(axis=1)))
    assert choose_method(task(blind, many)) == "light-neighbourhoods"
    # A budget is spent on laws as they are counted.
    assert choose_method(task(sized(lt.Histogram(16)), many, 10**9)) == "light-neighbourhoods"
    assert choose_method(task(sized(lt.Histogram(16)), many, 10**11)) == "neighbourhoods"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "neighbourhoods"])
def test_as_many_laws_are_counted_as_were_planned(method: str) -> None:
    law = lt.ProductDistribution.uniform(lt.RecordGrid([4] * 600))
    mechanism = sized(lt.statistics.Contributions([[0, 1], [11, 5], [22, 3], [33, 7]]))
    options: dict[str, Any] = {"epsilon": 1, "exception_mass": 0.2, "search_laws": 0}
    found = lt.check_privacy(mechanism, law, method=method, seed=1, **options)
    assert (str(found.decision), found.method) == ("YES", "neighbourhoods")
    assert found.cost.laws == found.plan.laws == found.plan.draws * 1801
    rows = privacy_plan_table(law, 2, epsilon=1, exception_mass=0.2, failure_probability=1e-6)
    assert {row.laws for row in rows if row.method == "neighbourhoods"} == {found.cost.laws}

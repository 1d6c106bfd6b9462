"""A class with values of its own inherits nothing that was said of the values of another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest import statistics
from liptest.data.points import PointBatch
from liptest.errors import InputError
from liptest.privacy.noiseless_laws import is_additive
from liptest.privacy.proofs import exhaustive
from liptest.statistics.protocol import has_values_of

CUBE = lt.Hypercube(5)
UNIFORM = lt.ProductDistribution.uniform(CUBE)


class Watched(lt.Count):
    """A count, and a hundred more where the first record is 1."""

    def values(self, points: np.ndarray) -> np.ndarray:
        return np.asarray(super().values(points) + 100 * points[:, 0].astype(np.int64))


class Squared(lt.statistics.WeightedSum):
    """The square of a sum, with edges of its own."""

    def values(self, points: np.ndarray) -> np.ndarray:
        return np.asarray(super().values(points) ** 2)

    def edge_count(self, domain: Any) -> Any:
        return super().edge_count(domain)

    def edges(self, domain: Any) -> Any:
        return ((left**2, right**2) for left, right in super().edges(domain))


class Mixed:
    """Values from a class that is not a statistic."""

    def values(self, points: np.ndarray) -> np.ndarray:
        return np.asarray(points[:, 0].astype(np.int64) * 7)


class Both(Mixed, lt.Count):
    """Takes its values from the one and all else from the other."""


class Named(lt.Count):
    """The same values under another name."""

    name = "clicks"


def logs_by_size(values: np.ndarray) -> np.ndarray:
    """Values of 100 and more are told from others."""
    p = np.where(values >= 100, 0.999, 0.001)
    return np.log(np.stack([p, 1 - p], axis=1))


@pytest.mark.parametrize("kind", [Watched, Both])
def test_what_is_known_of_a_count_is_not_known_of_other_values(kind: Any) -> None:
    statistic = kind()
    assert isinstance(statistic, lt.Count)
    assert not statistic.proved_edges
    assert statistic.edge_count(CUBE) is None
    assert statistic.kinds(CUBE) is None
    assert statistic.difference_sets(CUBE) is None
    with pytest.raises(InputError, match="has no edges"):
        statistic.edges(CUBE)
    assert not has_values_of(statistic, lt.Count)
    points = CUBE.points(np.arange(4))
    batch = PointBatch(points, *CUBE.neighbour_changes(points))
    changed = statistic.changed_values(batch, statistic.values(points))
    assert np.array_equal(changed, statistic.values(batch.array()[4:]))


def test_a_class_that_changes_nothing_keeps_all() -> None:
    statistic = Named()
    assert statistic.proved_edges
    assert statistic.edge_count(CUBE) == 5
    assert statistic.kinds(CUBE).tolist() == [0] * 5
    assert has_values_of(statistic, lt.Count)


def test_other_values_are_no_proof_of_a_claim_that_does_not_hold() -> None:
    mechanism = lt.ShiftMechanism(Watched(), lt.DiscreteLaplace(1))
    found = lt.check_privacy(mechanism, UNIFORM, epsilon=1.0, seed=1)
    assert str(found.decision) == "NO"
    assert found.witness is not None
    assert found.witness.verify(mechanism)
    for exact in (lt.exact_epsilon, lambda seen, _: lt.exception_mass(seen, UNIFORM, epsilon=1.0)):
        with pytest.raises(InputError, match="unbounded outputs"):
            exact(mechanism, CUBE)
    table = lt.StatisticMechanism(Watched(), [0, 1], logs_by_size)
    assert lt.exact_epsilon(table, CUBE).value > 5
    assert lt.exception_mass(table, UNIFORM, epsilon=1.0).lower > 0.4
    assert not is_additive(Watched())


def test_edges_by_difference_are_those_of_the_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exhaustive, "FEW_EDGES", 0)
    mechanism = lt.ShiftMechanism(Squared([1] * 5), lt.DiscreteLaplace(1))
    assert lt.exact_epsilon(mechanism, CUBE).value == pytest.approx(9.0)


class Narrow(statistics.Statistic):
    """Values in a type that their differences do not fit into."""

    name = "narrow"

    def __init__(self, ends: tuple[Any, Any], kind: Any) -> None:
        self.ends, self.kind = ends, kind

    def values(self, points: np.ndarray) -> np.ndarray:
        return np.where(points[:, 0] == 1, self.ends[1], self.ends[0]).astype(self.kind)


@pytest.mark.parametrize(
    ("ends", "kind"), [((-128, 127), np.int8), ((0, 255), np.uint8), ((0, 255), np.uint64)]
)
def test_differences_are_those_of_whole_numbers_whatever_their_type(ends: Any, kind: Any) -> None:
    mechanism = lt.ShiftMechanism(Narrow(ends, kind), lt.DiscreteLaplace(1))
    found = lt.check_privacy(mechanism, UNIFORM, epsilon=1.0, seed=1)
    assert str(found.decision) == "NO"
    assert found.largest_loss == pytest.approx(255.0)
    table = lt.StatisticMechanism(Narrow(ends, kind), [0, 1], lambda v: logs_by_size(v + 1))
    assert lt.exact_epsilon(table, CUBE).value > 5


@pytest.mark.parametrize(
    ("ends", "kind"), [((0, 1), float), ((0, 2**61), np.int64), ((0, 2**63), np.uint64)]
)
def test_values_that_are_not_whole_numbers_below_2_to_the_61_are_refused(
    ends: Any, kind: Any
) -> None:
    mechanism = lt.ShiftMechanism(Narrow(ends, kind), lt.DiscreteLaplace(1))
    with pytest.raises(InputError, match="statistic=narrow"):
        lt.check_privacy(mechanism, UNIFORM, epsilon=1.0, seed=1)

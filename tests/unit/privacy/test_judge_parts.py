"""A batch in pieces and parts is judged as a whole, each pair with the distance of its own."""

from __future__ import annotations

import math

import numpy as np
import pytest

import liptest as lt
from liptest.data.points import PointBatch
from liptest.privacy.claims import Claim
from liptest.privacy.judge import LossJudge
from liptest.runs.driver import Judgement, QueryBatch

DOMAIN = lt.Hypergrid([9, 9, 9])


class Small(lt.ClosedForm):
    """Few points at once, so that a batch has many parts."""

    limit = 5

    def points_per_slice(self, domain):
        return self.limit


def _mechanism(worst: tuple[int, ...] | None = None) -> Small:
    """Two outputs; the loss of two values of the sum is 0.1 for each step, at one point more."""

    def log_pmf(points):
        logit = 0.1 * points.astype(float).sum(axis=1)
        if worst is not None:
            logit = logit + 5.0 * (points == np.array(worst)).all(axis=1)
        return np.stack([-np.logaddexp(0, -logit), -np.logaddexp(0, logit)], axis=1)

    return Small([0, 1], log_pmf)


def _batch(seed: int = 0, centres: int = 12):
    """Changes of one coordinate by 1 to 4, with their distances; some centres have none."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 5, (centres, 3)).astype(DOMAIN.dtype)
    rows = np.sort(rng.integers(0, centres, 40))
    coordinates = rng.integers(0, 3, 40)
    steps = rng.integers(1, 5, 40)
    values = points[rows, coordinates] + steps
    return QueryBatch(PointBatch(points, rows, coordinates, values), distances=steps), steps


def _largest(mechanism: Small, batch: QueryBatch) -> float:
    """By hand, pair by pair."""
    left, right = batch.pair_positions()
    array = batch.points.array()
    logs = mechanism.log_pmf(array)
    losses = np.abs(logs[left] - logs[right]).max(axis=1)
    return float((losses / batch.distances).max())


@pytest.mark.parametrize("limit", [1, 3, 5, 1000])
@pytest.mark.parametrize("pieces", [1, 2, 5, 12])
def test_the_largest_loss_is_each_pairs_own_share(limit, pieces):
    mechanism = _mechanism()
    mechanism.__class__.limit = limit
    batch, steps = _batch()
    judge = LossJudge(mechanism, DOMAIN, Claim(3.0))
    total = sum((judge.judge_piece(batch, piece, pieces) for piece in range(pieces)), Judgement())
    assert total.pairs == len(steps)
    assert total.draws == len(batch.points.centres)
    assert total.largest == pytest.approx(_largest(mechanism, batch), rel=1e-12)
    assert total.violation is None


@pytest.mark.parametrize("pieces", [1, 3])
def test_listed_pairs_are_judged_once(pieces):
    mechanism = _mechanism()
    batch, steps = _batch()
    pairs = np.stack(batch.pair_positions(), axis=1)
    listed = QueryBatch(PointBatch(batch.points.array()), pairs=pairs, distances=steps)
    judge = LossJudge(mechanism, DOMAIN, Claim(3.0))
    total = sum((judge.judge_piece(listed, piece, pieces) for piece in range(pieces)), Judgement())
    assert total.pairs == len(steps)
    assert total.largest == pytest.approx(_largest(mechanism, batch), rel=1e-12)


@pytest.mark.parametrize("limit", [1, 5, 1000])
def test_a_violation_in_a_later_part_has_its_own_distance(limit):
    batch, steps = _batch(3)
    array = batch.points.array()
    left, right = batch.pair_positions()
    for pair in (4, 19, 33, 39):
        mechanism = _mechanism(tuple(array[right[pair]].tolist()))
        mechanism.__class__.limit = limit
        found = LossJudge(mechanism, DOMAIN, Claim(0.5)).judge(batch).violation
        assert found is not None
        logs = mechanism.log_pmf(array)
        shares = np.abs(logs[left] - logs[right]).max(axis=1) / steps
        first = int(np.flatnonzero(shares > 0.5)[0])
        known = {array[left[first]].tobytes(), array[right[first]].tobytes()}
        # Narrowed to neighbours on the way between the two.
        assert found.distance == 1
        sides = [np.array(side) for side in (found.evidence.dataset, found.evidence.neighbour)]
        assert DOMAIN.distance(*sides)[0] == 1
        ends = {found.left.tobytes(), found.right.tobytes()} if hasattr(found, "left") else known
        assert ends & known or math.isfinite(found.evidence.loss_lower)
        assert found.evidence.verify(mechanism)

"""A round that is judged in pieces: the same judgement, whole draws, the same verdicts."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.data.points import PointBatch
from liptest.privacy.claims import Claim
from liptest.privacy.judge import LossJudge
from liptest.privacy.methods import edge_pairs, full_neighbourhoods, light_neighbourhoods
from liptest.runs.driver import Judgement, QueryBatch, Sampling, run

DRAWS = {"full": full_neighbourhoods, "light": light_neighbourhoods, "edges": edge_pairs}


class InSlices(lt.ClosedForm):
    """A biased coin that wants few datasets at once."""

    most = 5

    def points_per_slice(self, domain: Any) -> int:
        return self.most


def coin(points: np.ndarray) -> np.ndarray:
    share = 1.0 / (1.0 + np.exp(-0.1 * (points @ np.arange(points.shape[1]))))
    return np.log(np.stack([1 - share, share], axis=1))


def task(draw: str, d: int, epsilon: float, seed: int, pieces: int) -> Sampling:
    law = lt.ProductDistribution.bernoulli(np.linspace(0.2, 0.9, d))
    judge = LossJudge(InSlices(["no", "yes"], coin), law.domain, Claim(epsilon, 0.0, 1e-9))
    method = partial(DRAWS[draw], law)
    return Sampling(method, judge, 30, d + 1.0, d, seed, chunk_points=8 * (d + 1), pieces=pieces)


def facts(found: Judgement) -> Any:
    # A slice is asked for whole, also where its first pair is violated.
    queries = found.queries if found.violation is None else None
    counts = found.draws, queries, found.pairs, found.repeats, pytest.approx(found.largest)
    violation = found.violation and (found.violation.evidence, found.violation.distance)
    return counts, violation, found.answered


@pytest.mark.slow
@given(st.sampled_from(list(DRAWS)), st.integers(2, 9), st.integers(1, 9), st.integers(0, 99))
def test_pieces_add_up_to_the_round(draw: str, d: int, pieces: int, seed: int) -> None:
    for epsilon in (0.35, 5.0):
        whole = run(task(draw, d, epsilon, seed, 1))
        parts = run(task(draw, d, epsilon, seed, pieces))
        assert facts(parts.total) == facts(whole.total)
        assert parts.ended == whole.ended


@pytest.mark.slow
@given(st.integers(1, 12), st.integers(1, 6), st.integers(1, 9), st.integers(0, 99))
def test_pieces_are_whole_draws(d: int, n: int, pieces: int, seed: int) -> None:
    law = lt.ProductDistribution.uniform(lt.Hypercube(d))
    judge = LossJudge(InSlices(["no", "yes"], coin), law.domain, Claim(50.0, 0.0, 1e-9))
    batch = full_neighbourhoods(law, np.random.default_rng(seed), n)
    found = [judge.judge_piece(batch, piece, pieces) for piece in range(pieces)]
    for one in found:
        assert one.queries == one.draws * (d + 1)
        assert one.pairs == one.draws * d
    assert sum(one.draws for one in found) == n


def test_listed_pairs_are_one_piece() -> None:
    judge = LossJudge(InSlices(["no", "yes"], coin), lt.Hypercube(2), Claim(5.0, 0.0, 1e-9))
    points = PointBatch(np.array([[0, 0], [0, 1]], dtype=np.int8))
    batch = QueryBatch(points, pairs=np.array([[0, 1]]))
    found = [judge.judge_piece(batch, piece, 3) for piece in range(3)]
    assert [one.pairs for one in found] == [1, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.35, 5.0])
def test_workers_share_the_pieces_of_a_round(epsilon: float) -> None:
    sampling = task("full", 6, epsilon, 3, 4)
    with ProcessPoolExecutor(2) as executor:
        shared = run(sampling, executor=executor)
    assert facts(shared.total) == facts(run(replace(sampling, pieces=1)).total)


@pytest.mark.slow
def test_progress_is_told_within_a_round() -> None:
    mechanism = InSlices(["no", "yes"], coin)
    law = lt.ProductDistribution.uniform(lt.Hypercube(6))
    options: dict[str, Any] = {"method": "neighbourhoods", "seed": 1, "search_laws": 0}
    done: list[int] = []
    options["progress"] = lambda draws, _: done.append(draws)
    found = lt.check_privacy(mechanism, law, epsilon=3, exception_mass=0.01, **options)
    assert found.decision == "YES"
    assert len(done) == 16
    assert done == sorted(done)
    assert done[-1] == found.cost.draws == found.plan.draws

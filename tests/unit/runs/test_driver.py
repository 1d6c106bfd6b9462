"""The one loop: chunks and seeds, early stop, budgets, interruption, look-ahead."""

from __future__ import annotations

from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from liptest.data.domains import Hypercube
from liptest.data.edges import edge_distribution
from liptest.data.points import PointBatch, from_array
from liptest.data.product import ProductDistribution
from liptest.lipschitz.check import DifferenceJudge
from liptest.lipschitz.oracles import as_oracle
from liptest.runs.driver import Finding, Judgement, QueryBatch, Sampling, run
from liptest.runs.driver import RunOutcome as Outcome

D = 12
LAW = ProductDistribution.uniform(Hypercube(D))


def edges(rng: np.random.Generator, count: int) -> QueryBatch:
    return QueryBatch(edge_distribution(LAW).draw(rng, count))


def needle(points: np.ndarray) -> np.ndarray:
    """Violated on the 12 edges at one point: 1 in 2048 edges."""
    return np.where(np.all(points == 1, axis=1), 9.0, 0.0)


def flat(points: np.ndarray) -> np.ndarray:
    return np.zeros(len(points))


def task(function: Any = needle, **changes: Any) -> Sampling:
    sampling = Sampling(
        draw=edges,
        judge=DifferenceJudge(as_oracle(function, Hypercube(D)), 1.0),
        draws=6000,
        points_per_draw=2,
        dimension=D,
        seed=5,
        chunk_points=500,
    )
    return replace(sampling, **changes)


def facts(outcome: Outcome) -> tuple[Any, ...]:
    total = outcome.total
    found = total.violation
    pair = None if found is None else (found.point.tolist(), found.other.tolist(), found.evidence)
    counts = (total.draws, total.queries, total.pairs, total.repeats, total.largest)
    return (outcome.ended, outcome.planned, counts, pair)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 8])
@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_results_do_not_depend_on_workers(pool: type[Executor], workers: int) -> None:
    samplings = [task(), task(seed=6), task(flat, draws=1001), task(seed=2**80, stage=3)]
    with pool(workers) as executor:  # type: ignore[call-arg]
        for sampling in samplings:
            serial = run(sampling)
            assert facts(run(sampling, executor=executor)) == facts(serial)
            assert serial.ended == ("complete" if serial.total.violation is None else "violation")
    assert {run(sampling).ended for sampling in samplings} == {"complete", "violation"}


def test_the_first_violated_draw_in_order_ends_the_run() -> None:
    for seed in range(20):
        sampling = task(seed=seed)
        outcome = run(sampling)
        first = None
        for number in range(24):
            sequence = np.random.SeedSequence(seed, spawn_key=(0, number))
            batch = edges(np.random.Generator(np.random.SFC64(sequence)), 250)
            gaps = needle(batch.points.centres) - needle(batch.points.array()[250:])
            hits = np.flatnonzero(np.abs(gaps) > 1)
            if len(hits):
                first = 250 * number + int(hits[0]), batch.points.point(int(hits[0]))
                break
        if first is None:
            assert (outcome.ended, outcome.total.draws) == ("complete", 6000)
            continue
        draw, centre = first
        assert outcome.ended == "violation"
        assert outcome.total.draws == outcome.total.pairs == draw + 1
        assert outcome.total.queries == 500 * (draw // 250 + 1)
        assert outcome.total.violation is not None
        assert outcome.total.violation.point.tolist() == centre.tolist()


def test_seeds_and_stages_draw_differently() -> None:
    batches: list[list[list[int]]] = []

    def record(rng: np.random.Generator, count: int) -> QueryBatch:
        batch = edges(rng, count)
        batches.append(batch.points.array().tolist())
        return batch

    for changes in ({}, {"seed": 6}, {"stage": 1}, {}):
        run(task(flat, draw=record, draws=250, **changes))
    assert batches[0] == batches[3]
    assert batches[0] != batches[1] != batches[2] != batches[0]


def test_chunks_of_one_run_differ() -> None:
    drawn = []
    run(
        task(
            flat, draws=500, draw=lambda rng, n: drawn.append(rng.integers(2**60)) or edges(rng, n)
        )
    )
    assert len(set(drawn)) == len(drawn) == 2


@pytest.mark.parametrize(
    ("changes", "draws"),
    [
        ({"chunk_points": 500, "points_per_draw": 2}, 250),
        ({"chunk_points": 500, "points_per_draw": 0.5}, 500),
        ({"chunk_points": 1, "points_per_draw": 1001}, 1),
        ({"chunk_points": 1 << 16, "points_per_draw": 2, "dimension": 1_000_000}, 4),
        ({"chunk_points": 1 << 16, "points_per_draw": 2, "dimension": 10**8}, 1),
    ],
)
def test_chunks_are_bounded_in_points_and_coordinates(changes: dict[str, Any], draws: int) -> None:
    assert task(**changes).chunk_draws == draws


def test_no_draws_are_complete_at_once() -> None:
    outcome = run(task(draws=0), progress=lambda done, planned: pytest.fail("no chunk"))
    assert facts(outcome) == ("complete", 0, (0, 0, 0, 0, 0.0), None)


def test_progress_is_told_after_each_chunk() -> None:
    told: list[tuple[int, int]] = []
    run(task(flat, draws=600), progress=lambda done, planned: told.append((done, planned)))
    assert told == [(250, 600), (500, 600), (600, 600)]


class Interrupt:
    """A progress callback that is Ctrl-C at the k-th chunk."""

    def __init__(self, chunk: int) -> None:
        self.left = chunk

    def __call__(self, done: int, planned: int) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("workers", [0, 2])
def test_ctrl_c_keeps_the_draws_that_were_made(workers: int) -> None:
    pool = ThreadPoolExecutor(workers) if workers else None
    outcome = run(task(flat), executor=pool, progress=Interrupt(3))
    assert (outcome.ended, outcome.planned) == ("interrupted", 6000)
    assert outcome.total.draws == 750
    assert outcome.total.queries == 1500
    if pool is not None:
        pool.shutdown()


def test_ctrl_c_in_the_judge_keeps_the_chunks_before_it() -> None:
    def stop(number: int) -> Any:
        calls.append(number)
        if len(calls) == 3:
            raise KeyboardInterrupt

    calls: list[int] = []
    outcome = run(task(flat, draw=lambda rng, n: stop(n) or edges(rng, n)))
    assert (outcome.ended, outcome.total.draws) == ("interrupted", 500)


def test_ctrl_c_does_not_lose_a_violation_that_was_found() -> None:
    serial = run(task())
    assert serial.ended == "violation"
    chunk = -(-serial.total.draws // 250)
    assert facts(run(task(), progress=Interrupt(chunk))) == facts(serial)


def test_ctrl_c_after_the_last_chunk_changes_nothing() -> None:
    outcome = run(task(flat, draws=600), progress=Interrupt(3))
    assert (outcome.ended, outcome.total.draws) == ("complete", 600)


def test_other_errors_of_the_callback_pass() -> None:
    def fail(done: int, planned: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(task(flat), progress=fail)


@pytest.mark.parametrize(
    ("budget", "ended", "draws"),
    [(1, "budget", 250), (500, "budget", 250), (501, "budget", 500), (1200, "complete", 600)],
)
def test_a_budget_ends_after_the_chunk_that_reaches_it(budget: int, ended: str, draws: int) -> None:
    outcome = run(task(flat, draws=600), max_queries=budget)
    assert (outcome.ended, outcome.total.draws) == (ended, draws)


def test_a_budget_does_not_hide_a_violation() -> None:
    serial = run(task())
    assert run(task(), max_queries=serial.total.queries).ended == "violation"


class Counting(ThreadPoolExecutor):
    """Counts tasks that were handed in."""

    handed = 0

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:  # type: ignore[override]
        self.handed += 1
        return super().submit(*args, **kwargs)


def test_few_chunks_are_started_beyond_the_violation() -> None:
    stop = run(task()).total.draws
    with Counting(2) as pool:
        run(task(draws=10**7), executor=pool)
        assert -(-stop // 250) <= pool.handed <= -(-stop // 250) + 3


@dataclass(frozen=True)
class Fixed:
    """A judge that answers from a list, by chunk."""

    answers: list[Judgement]
    seen: list[int] = field(default_factory=list)

    def judge(self, batch: QueryBatch) -> Judgement:
        self.seen.append(len(batch.points.centres))
        return self.answers[len(self.seen) - 1]


def test_judgements_add_up_and_doubt_does_not_stop() -> None:
    point = np.zeros(D, dtype=np.int8)
    doubts = [Finding(point, point, 1, evidence=k) for k in range(2)]
    judge = Fixed(
        [
            Judgement(250, 3, 4, 1, 0.5, False),
            Judgement(250, 30, 40, 1, 2.5, True, doubt=doubts[0]),
            Judgement(100, 300, 400, 1, 1.5, False, doubt=doubts[1]),
        ]
    )
    outcome = run(task(judge=judge, draws=600))
    assert judge.seen == [250, 250, 100]
    assert outcome.ended == "complete"
    total = outcome.total
    assert (total.draws, total.queries, total.pairs, total.repeats) == (600, 333, 444, 3)
    assert (total.largest, total.answered) == (2.5, True)
    assert total.doubt is doubts[0]


def test_pairs_of_a_batch() -> None:
    centres = np.array([[0, 0], [1, 1]], dtype=np.int8)
    changes = [np.array(part) for part in ([0, 0, 1], [0, 1, 0], [1, 1, 0])]
    neighbours = QueryBatch(PointBatch(centres, *changes))
    assert [part.tolist() for part in neighbours.pair_positions()] == [[0, 0, 1], [2, 3, 4]]
    assert neighbours.pair_distances().tolist() == [1, 1, 1]
    assert [neighbours.draw_of(i) for i in range(5)] == [0, 1, 0, 0, 1]
    far = QueryBatch(from_array(centres), pairs=np.array([[0, 1]]), distances=np.array([2]))
    assert [part.tolist() for part in far.pair_positions()] == [[0], [1]]
    assert far.pair_distances().tolist() == [2]
    near = QueryBatch(from_array(centres), pairs=np.array([[0, 1]]))
    assert near.pair_distances().tolist() == [1]


def test_the_draw_of_a_pair_is_its_later_end() -> None:
    centres = np.array([[0, 0], [1, 1]], dtype=np.int8)
    points = PointBatch(centres, *(np.array([k]) for k in (0, 0, 1)))
    batch = QueryBatch(points, pairs=np.array([[1, 2]]))
    oracle = as_oracle(lambda x: 5.0 * x[:, 1], Hypercube(2))
    judgement = DifferenceJudge(oracle, 1.0).judge(batch)
    assert (judgement.draws, judgement.pairs) == (2, 1)


@dataclass
class Notes:
    """A journal in memory that begins where it is told."""

    total: Judgement = field(default_factory=Judgement)
    chunks: int = 0
    ended: int = 0

    def begin(self, sampling: Sampling) -> tuple[Judgement, int]:
        return self.total, self.chunks

    def note(self, total: Judgement, chunks: int) -> None:
        self.total, self.chunks = total, chunks

    def end(self) -> None:
        self.ended += 1


@pytest.mark.parametrize("function", [needle, flat])
@pytest.mark.parametrize("seed", [5, 6, 7])
def test_a_run_may_begin_behind_any_chunk(function: Any, seed: int) -> None:
    sampling = task(function, seed=seed)
    whole = run(sampling)
    for first in range(-(-whole.total.draws // 250)):
        notes = Notes()
        run(sampling, progress=Interrupt(first + 1), journal=notes)
        assert (notes.chunks, notes.ended) == (first + 1, 1)
        if notes.total.violation is None:
            assert facts(run(sampling, journal=notes)) == facts(whole)


def test_a_budget_that_was_used_up_before_stays_used_up() -> None:
    whole = run(task(flat), max_queries=1000)
    notes = Notes()
    run(task(flat), max_queries=1000, journal=notes)
    again = run(
        task(flat, draw=lambda rng, n: pytest.fail("a draw")), max_queries=1000, journal=notes
    )
    assert facts(again) == facts(whole)


def test_a_journal_is_ended_by_errors_too() -> None:
    def fail(done: int, planned: int) -> None:
        raise ZeroDivisionError

    notes = Notes()
    with pytest.raises(ZeroDivisionError):
        run(task(flat), progress=fail, journal=notes)
    assert (notes.chunks, notes.ended) == (1, 1)

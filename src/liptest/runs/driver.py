"""The one loop: draw, query, compare, count, stop.

A tester or a privacy method gives a law of ``QueryBatch``es; a *judge* says what a comparison
means (functions: a difference, privacy: a loss). The driver owns chunks, seeds, counts, early
stop at the first violated pair in draw order, progress and interruption.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import IntArray
from liptest.data.points import PointBatch
from liptest.runs.interrupts import until_interrupted
from liptest.runs.workers import has_processes, map_in_order

#: Called as ``progress(draws done, draws planned)`` after each chunk.
Progress = Callable[[int, int], None]
# A chunk has its own seed, so its size is part of what a seed means: it may depend on the
# task, never on the number of workers.
_CHUNK_POINTS = 1 << 16
_CHUNK_COORDINATES = 1 << 22


@dataclass(frozen=True, slots=True)
class QueryBatch:
    """Points to query and pairs of them to compare, in draw order.

    Parameters
    ----------
    points
        n centres (one per draw unless ``draws`` says otherwise) and m changed copies.
    pairs
        (k, 2) positions in ``points``; None compares each changed point with its centre.
    distances
        (k,) distance of each pair; None means 1, neighbours.
    owners
        (n,) the draw of each centre, ascending; None means a draw for each.
    """

    points: PointBatch
    pairs: NDArray[np.int64] | None = None
    distances: NDArray[np.int64] | None = None
    owners: NDArray[np.int64] | None = None

    @classmethod
    def of_neighbourhoods(
        cls, centres: IntArray, rows: NDArray[np.int64], neighbours: IntArray
    ) -> QueryBatch:
        """Each centre followed by its neighbours, points of their own with centres ``rows``."""
        owners = np.concatenate([np.arange(len(centres)), rows])
        order = np.argsort(owners, kind="stable")
        points = np.ascontiguousarray(np.concatenate([centres, neighbours])[order])
        owners = owners[order]
        firsts = np.searchsorted(owners, np.arange(len(centres)))
        others = np.setdiff1d(np.arange(len(points)), firsts, assume_unique=True)
        pairs = np.stack([firsts[owners[others]], others], axis=1)
        return cls(PointBatch(points), pairs=pairs, owners=owners)

    def pair_positions(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The two ends of each pair as positions in ``points``; two (k,) arrays."""
        if self.pairs is not None:
            return self.pairs[:, 0], self.pairs[:, 1]
        n = len(self.points.centres)
        return self.points.rows, np.arange(n, len(self.points))

    def pair_distances(self) -> NDArray[np.int64]:
        """Distance of each pair, (k,)."""
        if self.distances is not None:
            return self.distances
        count = len(self.points.rows) if self.pairs is None else len(self.pairs)
        return np.ones(count, dtype=np.int64)

    @property
    def draws(self) -> int:
        """How many draws the batch holds."""
        if self.owners is None or len(self.owners) == 0:
            return len(self.points.centres)
        return int(self.owners[-1]) + 1

    def draw_of(self, position: int) -> int:
        """The draw that a position belongs to."""
        n = len(self.points.centres)
        if self.owners is not None:
            return int(self.owners[position])
        return position if position < n else int(self.points.rows[position - n])


@dataclass(frozen=True)
class Finding:
    """A pair that is, or may be, violated. ``evidence`` is the judge's (a witness)."""

    point: IntArray
    other: IntArray
    distance: int
    evidence: Any = None


@dataclass(frozen=True)
class Judgement:
    """What a judge found in one batch, or, added up, in a run.

    ``violation`` is certain, ``doubt`` could not be decided. ``draws`` counts the draws made, in
    draw order, up to and with the violated one. ``largest`` is the largest ratio or loss seen.
    ``answered`` is False while nothing but raised exceptions came back. ``evidence`` is the
    judge's own; it adds up. ``spent`` says that a budget of the function or mechanism itself has
    ended, so that further batches are not worth their cost.
    """

    draws: int = 0
    queries: int = 0
    pairs: int = 0
    repeats: int = 0
    largest: float = 0.0
    answered: bool = False
    violation: Finding | None = None
    doubt: Finding | None = None
    evidence: Any = None
    spent: bool = False

    def __add__(self, later: Judgement) -> Judgement:
        return Judgement(
            draws=self.draws + later.draws,
            queries=self.queries + later.queries,
            pairs=self.pairs + later.pairs,
            repeats=self.repeats + later.repeats,
            largest=max(self.largest, later.largest),
            answered=self.answered or later.answered,
            violation=self.violation or later.violation,
            doubt=self.doubt or later.doubt,
            evidence=_sum(self.evidence, later.evidence),
            spent=self.spent or later.spent,
        )


def ends_run(judgement: Judgement) -> bool:
    """Whether the draws behind it are not worth making."""
    return judgement.violation is not None or judgement.spent


def _sum(first: Any, later: Any) -> Any:
    if first is None or later is None:
        return later if first is None else first
    return first + later


class Judge(Protocol):
    """Queries the points of a batch and compares its pairs, in draw order."""

    def judge(self, batch: QueryBatch) -> Judgement:
        """Stop at the first certain violation; deterministic in the batch."""
        ...


@runtime_checkable
class PieceJudge(Judge, Protocol):
    """A judge that can also judge a part of a batch: whole draws, and the same as in the whole."""

    def judge_piece(self, batch: QueryBatch, piece: int, pieces: int) -> Judgement:
        """The judgements of pieces 0 .. pieces - 1 add up to that of the batch."""
        ...


@dataclass(frozen=True)
class Sampling:
    """A sampling task: everything that fixes verdict, witness and counts.

    Parameters
    ----------
    draw
        ``draw(rng, count) -> QueryBatch`` with one centre per draw; must pickle for processes.
    judge
        Compares.
    draws
        How many draws the plan asks for.
    points_per_draw, dimension
        Expected points per draw and d: they set the chunk size.
    seed, stage
        Points are drawn in rounds; round k from ``SeedSequence(seed, spawn_key=(stage, k))``.
    chunk_points
        Points per round; smaller for mechanisms that take long per law.
    pieces
        Chunks that a round is judged in, where the judge is a ``PieceJudge``. They change neither
        draws nor results, but a run can be stopped and shared out between them.
    """

    draw: Callable[[np.random.Generator, int], QueryBatch]
    judge: Judge
    draws: int
    points_per_draw: float
    dimension: int
    seed: int
    stage: int = 0
    chunk_points: int = _CHUNK_POINTS
    pieces: int = 1
    _last: dict[str, tuple[int, QueryBatch]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def chunks(self) -> int:
        """How many chunks there are."""
        return math.ceil(self.draws / self.chunk_draws) * self.pieces

    @property
    def chunk_draws(self) -> int:
        """Draws per round."""
        by_points = self.chunk_points / max(self.points_per_draw, 1.0)
        return max(1, int(min(by_points, _CHUNK_COORDINATES / self.dimension)))

    def chunk(self, number: int) -> Judgement:
        """Run one chunk; depends on nothing but its number."""
        turn, piece = divmod(number, self.pieces)
        if self.pieces == 1:
            return self.judge.judge(self._drawn(turn))
        judge: Any = self.judge
        judgement: Judgement = judge.judge_piece(self._draw_once(turn), piece, self.pieces)
        return judgement

    def datasets(self, number: int) -> NDArray[Any]:
        """All points of a round, (n, d), as small as they are."""
        return self._drawn(number).points.array()

    def _draw_once(self, turn: int) -> QueryBatch:
        # The pieces of a round come one after the other, mostly in one process.
        last = self._last.get("round")
        if last is None or last[0] != turn:
            last = self._last["round"] = turn, self._drawn(turn)
        return last[1]

    def _drawn(self, turn: int) -> QueryBatch:
        count = min(self.chunk_draws, self.draws - turn * self.chunk_draws)
        sequence = np.random.SeedSequence(self.seed, spawn_key=(self.stage, turn))
        return self.draw(np.random.Generator(np.random.SFC64(sequence)), count)


class Journal(Protocol):
    """Keeps what is done of a run, so that a later one can go on (``liptest.runs.checkpoints``)."""

    def begin(self, sampling: Sampling) -> tuple[Judgement, int]:
        """The sum of the chunks that are done, and how many they are."""
        ...

    def note(self, total: Judgement, chunks: int) -> None:
        """Told after each chunk."""
        ...

    def end(self) -> None:
        """Told when the run ends, however it does."""
        ...


@dataclass(frozen=True)
class RunOutcome:
    """How a run ended: ``ended`` is "complete", "violation", "budget" or "interrupted"."""

    total: Judgement
    ended: str
    seconds: float
    planned: int = field(default=0)


def run(
    sampling: Sampling,
    *,
    executor: Executor | None = None,
    progress: Progress | None = None,
    max_queries: int | None = None,
    journal: Journal | None = None,
) -> RunOutcome:
    """Run a sampling task until it is complete, violated, interrupted or over budget.

    ``max_queries`` stops after the chunk that reaches it. Ctrl-C keeps what is complete: a
    violation that was found before it stays found. The chunk in which it came is dropped. With a
    journal the run goes on where an earlier one was cut off.
    """
    started = time.perf_counter()
    total, done = (Judgement(), 0) if journal is None else journal.begin(sampling)
    stopped = "budget"
    chunks = sampling.chunks
    if done and _is_enough(total, max_queries):
        chunks = done
    results = _judge(sampling, chunks, executor, done)
    try:
        # Closed at once on any exit: cancels what has not started.
        with closing(results), closing(until_interrupted(results)) as judged:
            for number, result in enumerate(judged, done + 1):
                total += result
                if journal is not None:
                    journal.note(total, number)
                if progress is not None:
                    progress(total.draws, sampling.draws)
                if _is_enough(total, max_queries):
                    break
    except KeyboardInterrupt:
        stopped = "interrupted"
    finally:
        if journal is not None:
            journal.end()
    if total.violation is not None:
        ended = "violation"
    else:
        ended = "complete" if total.draws >= sampling.draws else stopped
    return RunOutcome(total, ended, time.perf_counter() - started, sampling.draws)


def _judge(
    sampling: Sampling, chunks: int, executor: Executor | None, first: int
) -> Generator[Judgement, None, None]:
    """The chunks in order; workers that are processes share what they learn, if the judge can."""
    from liptest.runs.lessons import Learns, Rounds, map_informed

    if sampling.pieces > 1 or not (has_processes(executor) and isinstance(sampling.judge, Learns)):
        return map_in_order(sampling.chunk, chunks, executor, first=first, ends=ends_run)
    assert executor is not None
    points = sampling.points_per_draw * sampling.chunk_draws
    rounds = Rounds(sampling.datasets, chunks, max(points, 1.0), sampling.dimension)
    return map_informed(
        sampling.chunk, rounds, sampling.judge, executor, first=first, ends=ends_run
    )


def _is_enough(total: Judgement, max_queries: int | None) -> bool:
    return ends_run(total) or (max_queries is not None and total.queries >= max_queries)

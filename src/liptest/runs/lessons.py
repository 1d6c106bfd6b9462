"""Workers share what they learn: repeated datasets are looked at by one of them only.

The draws of a run are known before it (they depend on the seed and their number). Where they
repeat datasets often, a few rounds are drawn ahead, the datasets that are new are dealt out, each
to one worker, and what was learnt travels with the chunks that are judged next. Verdicts, witnesses
and counts are those of each worker looking at all by itself: a judge asks for the same laws, and
gets them from memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from liptest.errors import LiptestError
from liptest.runs.workers import map_in_order

# Points drawn to see how often datasets come again; the first wave of chunks, and its growth.
_SAMPLE = 1 << 12
_FIRST_WAVE = 1 << 10
_GROWTH = 4
# Datasets that a worker is given at once: an analysis is set up for each such part. The most that
# one run shares: 400 bytes each for their laws, and fewer where they are long.
_SLICE = 64
_MOST = 100_000
_MOST_VALUES = 1 << 26
# Rounds with more values than this are not drawn ahead.
_ROUND_VALUES = 1 << 22
# Less than this share of repeated laws is not worth the way.
_WORTH = 0.15
Datasets = NDArray[np.int64]
T = TypeVar("T")


class Learner(Protocol):
    """Knows what it has learnt of datasets, and takes in what others have."""

    def learn(self, datasets: Datasets) -> Any:
        """What is new of datasets, (n, d), ready to travel; None where it cannot travel."""
        ...

    def absorb(self, lesson: Any) -> Any:
        """Take it in; the lesson to hand on."""
        ...


@runtime_checkable
class Learns(Protocol):
    """A judge that may have a learner; None where nothing is to be shared."""

    def learner(self) -> Learner | None:
        """The learner of this process."""
        ...


@dataclass(frozen=True)
class Rounds:
    """What is drawn: ``points(k)`` are those of round k, (n, dimension)."""

    points: Callable[[int], NDArray[Any]]
    count: int
    points_each: float
    dimension: int = 1

    @property
    def most(self) -> int:
        """How many datasets may be shared."""
        return min(_MOST, _MOST_VALUES // self.dimension)

    def ahead(self, first: int, points: int) -> range:
        """Rounds with about so many points."""
        return range(first, min(self.count, first + math.ceil(points / self.points_each)))


@dataclass(frozen=True, eq=False)
class _Learns:
    judge: Learns
    datasets: Datasets

    def __call__(self, number: int) -> Any:
        learner = self.judge.learner()
        try:
            own = self.datasets[number * _SLICE : (number + 1) * _SLICE]
            return None if learner is None else learner.learn(own)
        except LiptestError:
            return None  # the judge meets it in its turn


@dataclass(frozen=True, eq=False)
class _Informed:
    """A chunk, judged by one who knows the lessons."""

    chunk: Callable[[int], Any]
    judge: Learns
    lessons: tuple[Any, ...]
    _told: set[str] = field(default_factory=set, init=False, repr=False)

    def __call__(self, number: int) -> Any:
        learner = None if self._told else self.judge.learner()
        if learner is not None:
            self._told.add("told")
            for lesson in self.lessons:
                learner.absorb(lesson)
        return self.chunk(number)


def map_informed(
    chunk: Callable[[int], T],
    rounds: Rounds,
    judge: Learns,
    executor: Executor,
    *,
    first: int,
    ends: Callable[[Any], bool],
) -> Generator[T, None, None]:
    """``map_in_order`` of the chunks, one a round, where workers share what they learn."""
    lessons: list[Any] = []
    seen: set[bytes] = set()
    size = _FIRST_WAVE
    shares = judge.learner() is not None and repeats_often(rounds, first)
    while first < rounds.count:
        wave = rounds.ahead(first, size)
        if shares:
            told = _learn(judge, _new_datasets(rounds, wave, seen), executor)
            shares = told is not None and len(seen) <= rounds.most
            lessons += told or []
        stop = wave.stop if shares else rounds.count
        task: Callable[[int], T] = _Informed(chunk, judge, tuple(lessons)) if lessons else chunk
        with closing(map_in_order(task, stop, executor, first=first, ends=ends)) as results:
            for result in results:
                yield result
                if ends(result):
                    return
        first, size = stop, size * _GROWTH


def repeats_often(rounds: Rounds, first: int) -> bool:
    """Whether many of the points of a run will be repeated, by those that are drawn first.

    Of m points c repeat an earlier one: as if they were drawn from m^2 / 2c alike. So many are
    expected to be different of all n.
    """
    if rounds.count - first < 2 or rounds.points_each * rounds.dimension > _ROUND_VALUES:
        return False
    wave = rounds.ahead(first, _SAMPLE)
    drawn = sum(len(rounds.points(k)) for k in wave)
    different = len(_new_datasets(rounds, wave, set()))
    repeated = drawn - different
    if not repeated:
        return False
    n, alike = (rounds.count - first) * rounds.points_each, drawn**2 / (2 * repeated)
    expected = max(different, alike * -math.expm1(-n / alike))
    return expected <= min(rounds.most, (1 - _WORTH) * n)


def _new_datasets(rounds: Rounds, wave: Iterable[int], seen: set[bytes]) -> list[NDArray[Any]]:
    """Datasets that come for the first time, in the order of draws; ``seen`` grows by them."""
    new = []
    for number in wave:
        for dataset in rounds.points(number):
            key = dataset.tobytes()
            if key not in seen:
                seen.add(key)
                new.append(dataset)
    return new


def _learn(judge: Learns, datasets: list[NDArray[Any]], executor: Executor) -> list[Any] | None:
    """The lessons of datasets, each learnt by one worker; None where they do not travel."""
    learner = judge.learner()
    if not datasets or learner is None:
        return []
    task = _Learns(judge, np.array(datasets))
    slices = math.ceil(len(datasets) / _SLICE)
    lessons = []
    try:
        with closing(map_in_order(task, slices, executor)) as results:
            for lesson in results:
                if lesson is None:
                    return None
                lessons.append(learner.absorb(lesson))
    except LiptestError:
        return None  # whatever it is, the judge meets it in its turn
    return lessons

"""One round: look at all pairs, race the suspicious ones, test one event on fresh samples.

Every stage chooses for the next; only the last makes a claim, about a pair and an event that were
fixed before its samples were drawn. So nothing is paid for the number of pairs and events tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.blackbox.events import Outputs, View, feature_names, fit_bins, fit_tree
from liptest.blackbox.learning import (
    Aim,
    Census,
    Event,
    Tally,
    best_cells,
    coarse_views,
    count_cells,
    frequent_values,
    join_batches,
    plan_sides,
)
from liptest.blackbox.samplers import Source
from liptest.data.distributions import Distribution, check_distribution
from liptest.data.domains import AllAnswers, Domain, IntArray
from liptest.errors import InputError, quote

# Which datasets are sampled, and which pairs of them are compared.


# Small domains are tried whole: as many datasets and pairs as this at most.
MAX_DATASETS = 4096
MAX_PAIRS = 20_000
# Draws on each dataset below which nothing can be learnt.
LEAST_DRAWS = 100
_NEIGHBOURS = 4


@dataclass(frozen=True, eq=False)
class Pairs:
    """V datasets and K pairs of positions among them.

    ``words`` says where they come from; ``is_declared`` when a user listed them, so that their
    being neighbours is the user's word; ``is_all`` when they are all neighbouring pairs.
    """

    datasets: tuple[IntArray, ...]
    pairs: tuple[tuple[int, int], ...]
    words: str
    relation: str
    is_declared: bool = False
    is_all: bool = False


def choose_pairs(data: Any, most_datasets: int, rng: np.random.Generator) -> Pairs:
    """The pairs to try: those listed, all of a small domain, or drawn ones and corners."""
    if isinstance(data, (list, tuple, np.ndarray)):
        return _find_declared(data)
    distribution = check_distribution(data, together=True)
    domain = distribution.domain
    limit = min(MAX_DATASETS, most_datasets)
    if domain.size <= limit and domain.neighbouring_pairs <= MAX_PAIRS:
        return _whole(domain)
    return _draw_pairs(distribution, limit, rng)


def _whole(domain: Domain) -> Pairs:
    points = domain.points(np.arange(domain.size))
    if isinstance(domain, AllAnswers):
        rows, other = domain.neighbourhoods(points)
    else:
        rows, coordinates, values = domain.neighbour_changes(points)
        other = points[rows].copy()
        other[np.arange(len(rows)), coordinates] = values
    ends = np.stack([rows, domain.index(other)], axis=1)
    ends = ends[ends[:, 0] < ends[:, 1]]
    many = f"all {len(ends):,} neighbouring pairs" if len(ends) > 1 else "the one neighbouring pair"
    words = f"{many} of {domain}"
    pairs = tuple((a, b) for a, b in ends.tolist())
    return Pairs(tuple(map(_frozen, points)), pairs, words, domain.relation, is_all=True)


def _draw_pairs(distribution: Distribution, limit: int, rng: np.random.Generator) -> Pairs:
    """Corners and drawn datasets, each with some of its neighbours, until ``limit`` datasets."""
    domain = distribution.domain
    most = np.asarray(domain.size_array - 1, dtype=domain.dtype)
    wanted = max(1, (limit - 2 * (1 + _NEIGHBOURS)) // (1 + _NEIGHBOURS))
    centres = np.concatenate([[np.zeros_like(most), most], distribution.sample(rng, wanted)])
    places: dict[bytes, int] = {}
    datasets: list[IntArray] = []
    pairs: dict[tuple[int, int], None] = {}

    def position(point: IntArray) -> int:
        place = places.setdefault(point.tobytes(), len(datasets))
        if place == len(datasets):
            datasets.append(_frozen(point))
        return place

    for centre in centres.astype(domain.dtype):
        for neighbour in _some_neighbours(domain, centre, rng):
            if len(datasets) + 2 <= max(limit, 2):
                a, b = position(centre), position(neighbour)
                pairs[min(a, b), max(a, b)] = None
    words = (
        f"{len(pairs):,} neighbouring pairs: the two extreme datasets and datasets drawn from "
        f"{distribution.source}, each with at most {_NEIGHBOURS} neighbours"
    )
    return Pairs(tuple(datasets), tuple(pairs), words, domain.relation)


def _some_neighbours(domain: Domain, centre: IntArray, rng: np.random.Generator) -> list[IntArray]:
    if isinstance(domain, AllAnswers):
        return _move(domain, centre, rng)
    free = np.flatnonzero(domain.size_array > 1)
    neighbours = []
    for r in rng.permutation(free)[:_NEIGHBOURS].tolist():
        neighbour = centre.copy()
        neighbour[r] = rng.choice(domain.other_values(r, int(centre[r])))
        neighbours.append(neighbour)
    return neighbours


def _move(domain: AllAnswers, centre: IntArray, rng: np.random.Generator) -> list[IntArray]:
    """All answers up, all down, and moves at random, as far as they stay inside."""
    drawn = rng.integers(-1, 2, size=(_NEIGHBOURS, domain.dimension))
    moves = np.concatenate([np.array([[1], [-1]]).repeat(domain.dimension, axis=1), drawn])
    inside = np.clip(centre.astype(np.int64) + moves, 0, domain.size_array - 1)
    apart = inside[(inside != centre).any(axis=1)].astype(domain.dtype)
    neighbours = {point.tobytes(): point for point in apart}
    return list(neighbours.values())[:_NEIGHBOURS]


def _find_declared(listed: Sequence[Any] | NDArray[Any]) -> Pairs:
    datasets: dict[tuple[int, ...], int] = {}
    pairs: dict[tuple[int, int], None] = {}
    for pair in listed:
        a, b = (datasets.setdefault(side, len(datasets)) for side in check_pair(pair))
        pairs[a, b] = None
    if not pairs:
        raise InputError("pairs=[] is empty; list (dataset, neighbour) pairs", name="pairs")
    points = tuple(_frozen(np.array(point, dtype=np.int64)) for point in datasets)
    words = f"{len(pairs):,} pair{'s' * (len(pairs) > 1)} listed by the caller"
    return Pairs(points, tuple(pairs), words, "declared by the caller", is_declared=True)


def check_pair(pair: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two different datasets of equal length as tuples; InputError for anything else."""
    if not isinstance(pair, (list, tuple, np.ndarray)) or len(pair) != 2:
        raise InputError(
            f"pair={quote(pair)} must be (dataset, neighbour), two arrays of whole numbers",
            name="pair",
        )
    left, right = (_whole_numbers(side) for side in pair)
    if left == right or len(left) != len(right):
        raise InputError(
            f"pair={quote(pair)}: the datasets must be of one length and differ", name="pair"
        )
    return left, right


def _whole_numbers(dataset: ArrayLike) -> tuple[int, ...]:
    array = np.asarray(dataset)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iub":
        raise InputError(
            f"dataset: shape={array.shape}, dtype={array.dtype}; give one dataset as a 1-d array "
            f"of whole numbers",
            name="dataset",
        )
    return tuple(int(value) for value in array)


def _frozen(point: IntArray) -> IntArray:
    fixed: IntArray = np.ascontiguousarray(point)
    fixed.flags.writeable = False
    return fixed


Counts = NDArray[np.int64]
_PILOT_DATASETS, _PILOT_DRAWS = 16, 1 << 11
# Pairs that go on to the second and to the third stage.
_SUSPECTS, _FINALISTS = 16, 4
# Shares of a round: all pairs, the suspects, the finalists, their best events; the rest is tested.
_FIRST, _SECOND, _THIRD, _FOURTH = 0.15, 0.05, 0.1, 0.1
# Draws of one side beyond which learning gains nothing.
_MOST_LEARNT = 1 << 19
# Events that are judged on fresh draws, and how many standard errors those are worsened by.
_CANDIDATES, _CAUTION = 24, 2.5
# Scores closer than this, divided by the root of the draws, count as equal.
_ALIKE = 2.0
# So few cells can be put in order and cut on the same samples: luck gains little.
_FEW_CELLS = 64
# Raw outputs that are kept to fit views on, per side.
_KEPT = 1 << 17
_PILOT, _LOOK, _RACE, _LEARN, _JUDGE, _TEST = range(6)


@dataclass(frozen=True, eq=False)
class Look:
    """The first stage: equal numbers of draws on every dataset, fixed in advance.

    ``tables`` are (V, cells) counts of each view; the first belongs to the census.
    """

    draws: int
    is_finite: bool
    views: tuple[View, ...]
    tables: tuple[Counts, ...]


@dataclass(frozen=True, eq=False)
class Candidate:
    """An event that may be tested; it is claimed to be likelier on the first of the pair."""

    score: float
    pair: tuple[int, int]
    event: Event


@dataclass(frozen=True, eq=False)
class Tested:
    """The last stage: the chosen event on fresh samples, likelier on the first of the pair.

    ``draws`` and ``hits`` are those of the two sides.
    """

    pair: tuple[int, int]
    event: Event
    tally: Tally
    draws: tuple[int, int]
    hits: tuple[int, int]


@dataclass(frozen=True, eq=False)
class Round:
    """What one round may spend, and how: ``number`` tells its random streams apart.

    ``low_bits``: whether numbers are also compared by their lowest bits.
    """

    source: Source
    pairs: Pairs
    samples: int
    aim: Aim
    number: int
    least_draws: int = 0
    low_bits: bool = False

    def run(self) -> tuple[Look, Tested | None]:
        """The first look, and the test, unless nothing was seen to test."""
        first = self.source.used
        look = self._look()
        # What is counted from here on must not reach the look: its numbers of draws are fixed.
        seen = replace(look, tables=tuple(table.copy() for table in look.tables))
        ranked = self._rank(self.pairs.pairs, seen)
        if len(ranked) > _FINALISTS:
            self._race(ranked[:_SUSPECTS], seen)
            ranked = self._rank(ranked[:_SUSPECTS], seen)
        event = self._learn(ranked[:_FINALISTS], seen)
        left = self.samples - (self.source.used - first)
        return look, None if event is None else self._test(event.pair, event.event, left)

    def _streams(self, stage: int) -> int:
        return 8 * self.number + stage

    def _look(self) -> Look:
        datasets = self.pairs.datasets
        pilot_draws = min(_PILOT_DRAWS, max(20, self.samples // (20 * len(datasets))))
        piloted = np.linspace(0, len(datasets) - 1, min(_PILOT_DATASETS, len(datasets)))
        pilot = join_batches(
            outputs
            for _, outputs in self.source.stream(
                [(datasets[k], pilot_draws) for k in piloted.astype(int)], self._streams(_PILOT)
            )
        )
        views = coarse_views(pilot, low_bits=self.low_bits)
        draws = max(self.least_draws, int(_FIRST * self.samples) // len(datasets))
        if len(datasets) == 2:
            draws = max(self.least_draws, min(draws, _MOST_LEARNT))
        census = Census(len(datasets))
        tables = [np.zeros((len(datasets), view.size), dtype=np.int64) for view in views]
        wanted = [(dataset, draws) for dataset in datasets]
        for row, outputs in self.source.stream(wanted, self._streams(_LOOK)):
            census.add(row, outputs)
            for view, table in zip(views, tables, strict=True):
                table[row] += count_cells(view, outputs)
        if not census.is_complete:
            return Look(draws, False, tuple(views), tuple(tables))
        return Look(draws, True, (census.view, *views), (census.counts, *tables))

    def _rank(self, pairs: Sequence[tuple[int, int]], seen: Look) -> list[tuple[int, int]]:
        """Pairs, the most suspicious first."""
        scores = [self._score([(t[a], t[b]) for t in seen.tables]) for a, b in pairs]
        return [pairs[k] for k in np.argsort(-np.array(scores), kind="stable").tolist()]

    def _score(self, counts: list[tuple[Counts, Counts]]) -> float:
        choices = [best_cells(both, both, self.aim) for both in counts]
        return max((choice.score for choice in choices if choice is not None), default=-math.inf)

    def _race(self, suspects: list[tuple[int, int]], seen: Look) -> None:
        """More draws for the suspects, added to what was seen of them."""
        ends = sorted({end for pair in suspects for end in pair})
        draws = min(_MOST_LEARNT, int(_SECOND * self.samples) // len(ends))
        wanted = [(self.pairs.datasets[end], draws) for end in ends]
        for place, outputs in self.source.stream(wanted, self._streams(_RACE)):
            for view, table in zip(seen.views, seen.tables, strict=True):
                table[ends[place]] += count_cells(view, outputs)

    def _learn(self, finalists: list[tuple[int, int]], seen: Look) -> Candidate | None:
        """The pair and event to test, the best of many on draws that chose none of them."""
        draws = min(_MOST_LEARNT, int(_THIRD * self.samples) // (2 * len(finalists)))
        candidates = [
            candidate
            for number, pair in enumerate(finalists)
            for candidate in self._candidates(pair, seen, draws, number)
        ]
        best = sorted(candidates, key=lambda candidate: -candidate.score)[:_CANDIDATES]
        # In the order found, so that the readable ones come first among equals.
        return self._judge([candidate for candidate in candidates if candidate in best])

    def _candidates(
        self, pair: tuple[int, int], seen: Look, draws: int, number: int
    ) -> list[Candidate]:
        """The best event of each view: fitted on one half of new draws, cut on the other."""
        half = max(1, draws // 2)
        wanted = [(self.pairs.datasets[end], half) for end in (*pair, *pair)]
        views: list[View] = []
        tables: list[list[Counts]] = []
        kept: list[list[Outputs]] = [[], []]
        for row, outputs in self.source.stream(wanted, 1000 * self._streams(_LEARN) + number):
            if row < 2:
                if sum(map(len, kept[row])) < _KEPT:
                    kept[row].append(outputs)
                continue
            if not views:
                views = self._views(seen, join_batches(kept[0]), join_batches(kept[1]))
                tables = [[np.zeros(view.size, dtype=np.int64)] * 2 for view in views]
            for table, view in zip(tables, views, strict=True):
                table[row - 2] = table[row - 2] + count_cells(view, outputs)
        sides = [join_batches(side) for side in kept]
        candidates = []
        for view, cut in zip(views, tables, strict=True):
            order = [count_cells(view, side) for side in sides]
            if view in seen.views:
                earlier = seen.tables[seen.views.index(view)]
                order = [earlier[end] + counts for end, counts in zip(pair, order, strict=True)]
                if view.size <= _FEW_CELLS:
                    cut = [a + b for a, b in zip(order, cut, strict=True)]
            choice = best_cells((order[0], order[1]), (cut[0], cut[1]), self.aim)
            if choice is not None:
                ends = pair if choice.forward else pair[::-1]
                candidates.append(Candidate(choice.score, ends, Event(view, choice.cells)))
        return candidates

    def _judge(self, candidates: list[Candidate]) -> Candidate | None:
        """The best candidate on fresh draws of each pair; a readable one among equals."""
        pairs = sorted({tuple(sorted(candidate.pair)) for candidate in candidates})
        if not pairs:
            return None
        ends = sorted({end for pair in pairs for end in pair})
        draws = min(_MOST_LEARNT, int(_FOURTH * self.samples) // len(ends))
        hits = np.zeros((len(candidates), 2), dtype=np.int64)
        wanted = [(self.pairs.datasets[end], draws) for end in ends]
        for place, outputs in self.source.stream(wanted, self._streams(_JUDGE)):
            for k, candidate in enumerate(candidates):
                if ends[place] in candidate.pair:
                    side = candidate.pair.index(ends[place])
                    hits[k, side] += candidate.event.hits(outputs)
        scores = self.aim.scores(hits[:, 0], hits[:, 1], (draws, draws), _CAUTION)
        fits = np.flatnonzero(scores >= scores.max() - _ALIKE * draws**-0.5)
        return candidates[int(fits[0])]

    def _views(self, look: Look, left: Outputs, right: Outputs) -> list[View]:
        """The views of the first look and views of this pair alone, the readable ones first."""
        if look.is_finite and len(look.views) == 1:
            return list(look.views)
        both = join_batches([left, right])
        names = feature_names(both, low_bits=self.low_bits)
        bins: list[View] = [fit_bins(both, name) for name in names]
        values = look.views if look.is_finite else (frequent_values(both), *look.views)
        views = [*bins, *values] if both.is_numeric else [*values, *bins]
        return [*views, fit_tree(left, right)]

    def _test(self, pair: tuple[int, int], event: Event, samples: int) -> Tested:
        rng = self.source.rng(self._streams(_TEST))
        first, second, tokens = plan_sides(max(LEAST_DRAWS, samples), self.aim.delta, rng)
        hits = [0, 0]
        wanted = [(self.pairs.datasets[pair[0]], first), (self.pairs.datasets[pair[1]], second)]
        for side, outputs in self.source.stream(wanted, self._streams(_TEST)):
            hits[side] += event.hits(outputs)
        tally = Tally(hits[0], hits[1], tokens)
        return Tested(pair, event, tally, (first, second), (hits[0], hits[1]))


#: Called with the samples used so far and those planned.
Progress = Callable[[int, int], None]

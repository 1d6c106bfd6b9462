"""One round: look at all pairs, race the suspicious ones, test one event on fresh samples.

Every stage chooses for the next; only the last makes a claim, about a pair and an event that were
fixed before its samples were drawn. So nothing is paid for the number of pairs and events tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from liptest.blackbox.counting import (
    Census,
    coarse_views,
    count_cells,
    frequent_values,
    joined,
)
from liptest.blackbox.features import feature_names
from liptest.blackbox.learning import Aim, Event, best_cells
from liptest.blackbox.outputs import Outputs
from liptest.blackbox.pairs import LEAST_DRAWS, Pairs
from liptest.blackbox.samplers import Source
from liptest.blackbox.tails import Tally, plan_sides
from liptest.blackbox.views import View, fit_bins, fit_tree

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
    """What one round may spend, and how: ``stage`` numbers its random streams apart."""

    source: Source
    pairs: Pairs
    samples: int
    aim: Aim
    number: int
    least_draws: int = 0

    def run(self) -> tuple[Look, Tested | None]:
        """The first look, and the test, unless nothing was seen to test."""
        first = self.source.used
        look = self._look()
        # What is counted from here on must not reach the look: its numbers of draws are fixed.
        seen = replace(look, tables=tuple(table.copy() for table in look.tables))
        ranked = self._ranked(self.pairs.pairs, seen)
        if len(ranked) > _FINALISTS:
            self._race(ranked[:_SUSPECTS], seen)
            ranked = self._ranked(ranked[:_SUSPECTS], seen)
        event = self._learn(ranked[:_FINALISTS], seen)
        left = self.samples - (self.source.used - first)
        return look, None if event is None else self._test(event.pair, event.event, left)

    def _streams(self, stage: int) -> int:
        return 8 * self.number + stage

    def _look(self) -> Look:
        datasets = self.pairs.datasets
        pilot_draws = min(_PILOT_DRAWS, max(20, self.samples // (20 * len(datasets))))
        piloted = np.linspace(0, len(datasets) - 1, min(_PILOT_DATASETS, len(datasets)))
        pilot = joined(
            outputs
            for _, outputs in self.source.stream(
                [(datasets[k], pilot_draws) for k in piloted.astype(int)], self._streams(_PILOT)
            )
        )
        views = coarse_views(pilot)
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

    def _ranked(self, pairs: Sequence[tuple[int, int]], seen: Look) -> list[tuple[int, int]]:
        """Pairs, the most suspicious first."""
        scores = [self._score([(t[a], t[b]) for t in seen.tables]) for a, b in pairs]
        return [pairs[k] for k in np.argsort(-np.array(scores), kind="stable").tolist()]

    def _score(self, counts: list[tuple[Counts, Counts]]) -> float:
        found = [best_cells(both, both, self.aim) for both in counts]
        return max((choice.score for choice in found if choice is not None), default=-math.inf)

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
        found = [
            candidate
            for number, pair in enumerate(finalists)
            for candidate in self._candidates(pair, seen, draws, number)
        ]
        best = sorted(found, key=lambda candidate: -candidate.score)[:_CANDIDATES]
        # In the order found, so that the readable ones come first among equals.
        return self._judged([candidate for candidate in found if candidate in best])

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
                views = self._views(seen, joined(kept[0]), joined(kept[1]))
                tables = [[np.zeros(view.size, dtype=np.int64)] * 2 for view in views]
            for table, view in zip(tables, views, strict=True):
                table[row - 2] = table[row - 2] + count_cells(view, outputs)
        sides = [joined(side) for side in kept]
        found = []
        for view, cut in zip(views, tables, strict=True):
            order = [count_cells(view, side) for side in sides]
            if view in seen.views:
                known = seen.tables[seen.views.index(view)]
                order = [known[end] + counts for end, counts in zip(pair, order, strict=True)]
                if view.size <= _FEW_CELLS:
                    cut = [a + b for a, b in zip(order, cut, strict=True)]
            choice = best_cells((order[0], order[1]), (cut[0], cut[1]), self.aim)
            if choice is not None:
                ends = pair if choice.forward else pair[::-1]
                found.append(Candidate(choice.score, ends, Event(view, choice.cells)))
        return found

    def _judged(self, candidates: list[Candidate]) -> Candidate | None:
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
        both = joined([left, right])
        bins: list[View] = [fit_bins(both, name) for name in feature_names(both)]
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

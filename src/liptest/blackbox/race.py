"""One round: look at all pairs, race the suspicious ones, test one event on fresh samples.

Every stage chooses for the next; only the last makes a claim, about a pair and an event that were
fixed before its samples were drawn. So nothing is paid for the number of pairs and events tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

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
from liptest.blackbox.learning import Aim, Choice, Event, best_cells
from liptest.blackbox.outputs import Outputs
from liptest.blackbox.pairs import LEAST_DRAWS, Pairs
from liptest.blackbox.samplers import Source
from liptest.blackbox.tails import Tally, plan_sides
from liptest.blackbox.views import View, fit_bins, fit_tree

Counts = NDArray[np.int64]

_PILOT_DATASETS, _PILOT_DRAWS = 16, 1 << 11
# Pairs that go on to the second and to the third stage.
_SUSPECTS, _FINALISTS = 16, 4
# Shares of a round: all pairs, the suspects, the finalists; the rest is tested.
_FIRST, _SECOND, _THIRD = 0.2, 0.1, 0.2
# Draws of one side beyond which learning gains nothing.
_MOST_LEARNT = 1 << 19
# Scores closer than this, divided by the root of the draws, count as equal.
_ALIKE = 2.0
# Raw outputs that are kept to fit views on, per side.
_KEPT = 1 << 17
_PILOT, _LOOK, _RACE, _LEARN, _TEST = range(5)


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
class Tested:
    """The last stage: the chosen event on fresh samples.

    ``forward``: the event is claimed to be more likely on the pair's first dataset. ``draws`` and
    ``hits`` are (first, second) of the side where the event is likely and the other.
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
        ranked = self._ranked(look)
        if len(ranked) > _FINALISTS:
            ranked = self._race(ranked[:_SUSPECTS], look)
        event = self._learn(ranked[:_FINALISTS], look)
        left = self.samples - (self.source.used - first)
        return look, None if event is None else self._test(*event, left)

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

    def _ranked(self, look: Look) -> list[tuple[int, int]]:
        """All pairs, the most suspicious first."""
        scores = [self._score([(t[a], t[b]) for t in look.tables]) for a, b in self.pairs.pairs]
        order = np.argsort(-np.array(scores), kind="stable")
        return [self.pairs.pairs[k] for k in order.tolist()]

    def _score(self, counts: list[tuple[Counts, Counts]]) -> float:
        found = [best_cells(both, both, self.aim) for both in counts]
        return max((choice.score for choice in found if choice is not None), default=-math.inf)

    def _race(self, suspects: list[tuple[int, int]], look: Look) -> list[tuple[int, int]]:
        """More draws for the suspects, on the views of the first look."""
        ends = sorted({end for pair in suspects for end in pair})
        place = {end: k for k, end in enumerate(ends)}
        draws = min(_MOST_LEARNT, int(_SECOND * self.samples) // len(ends))
        tables = [table[ends].copy() for table in look.tables]
        wanted = [(self.pairs.datasets[end], draws) for end in ends]
        for row, outputs in self.source.stream(wanted, self._streams(_RACE)):
            for view, table in zip(look.views, tables, strict=True):
                table[row] += count_cells(view, outputs)
        scores = [self._score([(t[place[a]], t[place[b]]) for t in tables]) for a, b in suspects]
        return [suspects[k] for k in np.argsort(-np.array(scores), kind="stable").tolist()]

    def _learn(
        self, finalists: list[tuple[int, int]], look: Look
    ) -> tuple[tuple[int, int], Event] | None:
        """The pair and event to test: views fitted on one half of new draws, judged on the other.

        A pair is turned round where the event is likelier on its second dataset.
        """
        draws = min(_MOST_LEARNT, int(_THIRD * self.samples) // (2 * len(finalists)))
        best: tuple[Choice, tuple[int, int], View] | None = None
        for number, pair in enumerate(finalists):
            learnt = self._learn_pair(pair, look, draws, number)
            if learnt is not None and (best is None or learnt[0].score > best[0].score):
                best = (learnt[0], pair, learnt[1])
        if best is None:
            return None
        choice, pair, view = best
        return pair if choice.forward else pair[::-1], Event(view, choice.cells)

    def _learn_pair(
        self, pair: tuple[int, int], look: Look, draws: int, number: int
    ) -> tuple[Choice, View] | None:
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
                views = self._views(look, joined(kept[0]), joined(kept[1]))
                tables = [[np.zeros(view.size, dtype=np.int64)] * 2 for view in views]
            for table, view in zip(tables, views, strict=True):
                table[row - 2] = table[row - 2] + count_cells(view, outputs)
        orders = [[count_cells(view, joined(side)) for side in kept] for view in views]
        for k, view in enumerate(views):
            if view in look.views:
                seen = look.tables[look.views.index(view)]
                orders[k] = [
                    seen[end] + counts for end, counts in zip(pair, orders[k], strict=True)
                ]
        found = [
            (choice, view)
            for view, order, judged in zip(views, orders, tables, strict=True)
            if (choice := best_cells((order[0], order[1]), (judged[0], judged[1]), self.aim))
        ]
        best = max((choice.score for choice, _ in found), default=-math.inf)
        # A difference within a few standard errors is no reason for the less readable event.
        return next((item for item in found if item[0].score >= best - _ALIKE * half**-0.5), None)

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

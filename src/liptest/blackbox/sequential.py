"""Sampling until enough is known: bets whose pair and sets are learnt on the way.

Every choice is made from earlier samples only, so the error bound holds wherever one stops
(docs/theory/sequential.md). How well the choices are made decides how many samples it takes, never
whether the answer is right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from liptest.blackbox.betting import estimate_growth, log_doubt
from liptest.blackbox.events import Outputs, View, feature_names, fit_bins, fit_tree
from liptest.blackbox.learning import (
    Aim,
    Counts,
    Event,
    Tally,
    best_cells,
    best_prefix,
    count_cells,
    frequent_values,
    join_batches,
    plan_sides,
)
from liptest.blackbox.race import Pairs, Progress
from liptest.blackbox.samplers import Source
from liptest.blackbox.verdicts import Bets, LossBound
from liptest.privacy.claims import Claim

# First draws on each dataset, which are only learnt from.
_FIRST_DRAWS = 64
# Pairs that are looked at after the first draws, and the share of samples for others than the best.
_SUSPECTS, _SHARE_OF_OTHERS = 16, 0.25
# A batch, in which nothing is learnt: this many samples, or a share of what was drawn before.
_LEAST_BATCH, _SHARE = 32, 0.1
# What is learnt again when a pair has so many times the samples; more samples are not kept.
_AGAIN, _KEPT = 1.2, 1 << 16
# Bets are made where earlier samples promise this growth of ln wealth, and no luck.
_PAYS = 0.5
_STREAM = 20_000


@dataclass(frozen=True, eq=False)
class Stake:
    """What is bet on: ``event`` names the first of the pair, ``back`` the second.

    ``growth`` is what these bets would have gained a sample, judged on samples that chose neither.
    """

    pair: tuple[int, int]
    event: Event
    back: Event | None
    growth: float

    @property
    def sides(self) -> int:
        """How many sets speak: each has its delta."""
        return 1 if self.back is None else 2


@dataclass(eq=False)
class Play:
    """The state of a sequential test; ``run`` draws until the claim is refuted or samples end.

    ``floats`` is "implemented" where the lowest bits of numbers are compared, too.
    """

    source: Source
    pairs: Pairs
    samples: int
    claim: Claim
    failure_probability: float
    floats: str
    wins: int = 0
    losses: int = 0
    tokens: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    draws: list[int] = field(default_factory=lambda: [0, 0])
    hits: list[int] = field(default_factory=lambda: [0, 0])
    last: Stake | None = None
    _batches: int = 0
    _known: list[list[Outputs]] = field(default_factory=list)
    _stakes: dict[tuple[int, int], tuple[int, Stake | None]] = field(default_factory=dict)

    def run(self, progress: Progress | None = None) -> LossBound | None:
        """The bound at the end; None when no bet was made."""
        datasets = self.pairs.datasets
        self._known = [[] for _ in datasets]
        first = max(8, min(_FIRST_DRAWS, self.samples // (4 * len(datasets))))
        self._learn_from([(place, first) for place in range(len(datasets))])
        suspects = self._suspects()
        while self.source.used + 2 <= self.samples and not self.is_refuted:
            left = self.samples - self.source.used
            size = min(left, max(_LEAST_BATCH, int(_SHARE * self.source.used)))
            self._batch(suspects, size)
            if progress is not None:
                progress(self.source.used, self.samples)
        return self.bound()

    @property
    def is_refuted(self) -> bool:
        """Whether the bets have won 1 / failure_probability against the claim and all below it."""
        threshold = self.claim.threshold
        trials = self.wins + self._tally.losses_at(threshold)
        if (
            not self.wins
            or not all(self.draws)
            # The mean over q is at most its largest: no need of the certified wealth.
            or estimate_growth(self.wins, trials - self.wins, threshold) < -self._log_level - 1e-6
            or log_doubt(self.wins, trials, threshold) > self._log_level
        ):
            return False
        # Tokens are random: what they leave of the wealth need not fall with epsilon.
        return not len(self.tokens) or self._largest_refuted() >= threshold

    def bound(self) -> LossBound | None:
        """What the bets say of the loss."""
        if self.last is None or not all(self.draws):
            return None
        tally = self._tally
        lower = self._largest_refuted()
        if self.is_refuted and not len(self.tokens):
            lower = max(lower, self.claim.threshold)  # the search ends a little below (B2)
        left, right = (self.pairs.datasets[end].tolist() for end in self.last.pair)
        return LossBound(
            dataset=tuple(left),
            neighbour=tuple(right),
            event=self.last.event,
            draws=(self.draws[0], self.draws[1]),
            hits=(self.hits[0], self.hits[1]),
            delta=self.claim.delta_threshold,
            tokens=tally.losses_at(max(lower, 0.0)) - tally.losses,
            lower_bound=lower,
            failure_probability=self.failure_probability,
            bets=Bets(self.wins, self.losses, self.last.back),
        )

    @property
    def _tally(self) -> Tally:
        return Tally(self.wins, self.losses, np.sort(self.tokens), log_doubt)

    def _largest_refuted(self) -> float:
        return self._tally.largest_refuted(self._log_level, self.claim.threshold)

    @property
    def _log_level(self) -> float:
        return math.log(self.failure_probability)

    @property
    def _aim(self) -> Aim:
        return Aim(self.claim.delta_threshold, self.claim.threshold, 0.0, 0.0)

    def _batch(self, suspects: list[tuple[int, int]], size: int) -> None:
        """Bet on the best pair, and learn of another one; what was learnt counts from the next."""
        stakes = [stake for pair in suspects if (stake := self._stake(pair)) is not None]
        best = max(stakes, key=lambda stake: stake.growth, default=None)
        self._batches += 1
        others = [pair for pair in suspects if best is None or set(pair) != set(best.pair)]
        aside = size if best is None else int(_SHARE_OF_OTHERS * size)
        if others and aside >= 2:
            pair = min(others, key=self._samples_of)
            self._learn_from([(end, max(1, aside // 2)) for end in pair])
        if best is not None:
            self._bet(best, size - (aside if others and aside >= 2 else 0))

    def _bet(self, stake: Stake, size: int) -> None:
        key = _STREAM + 2 * self._batches
        chance = stake.sides * self.claim.delta_threshold
        first, second, tokens = plan_sides(size, chance, self.source.rng(key))
        wanted = [(self.pairs.datasets[stake.pair[0]], first)]
        wanted.append((self.pairs.datasets[stake.pair[1]], second))
        for side, outputs in self.source.stream(wanted, key):
            named, other = stake.event.hits(outputs), 0
            if stake.back is not None:
                other = stake.back.hits(outputs)
            right, wrong = (named, other) if side == 0 else (other, named)
            self.wins, self.losses = self.wins + right, self.losses + wrong
            self.draws[side] += len(outputs)
            self.hits[side] += named
            self._keep(stake.pair[side], outputs)
        self.tokens = np.concatenate([self.tokens, tokens])
        self.last = stake

    def _learn_from(self, wanted: list[tuple[int, int]]) -> None:
        asked = [(self.pairs.datasets[place], count) for place, count in wanted]
        for position, outputs in self.source.stream(asked, _STREAM + 2 * self._batches + 1):
            self._keep(wanted[position][0], outputs)

    def _keep(self, place: int, outputs: Outputs) -> None:
        if self._count(place) < _KEPT:
            self._known[place].append(outputs)

    def _count(self, place: int) -> int:
        return sum(map(len, self._known[place]))

    def _samples_of(self, pair: tuple[int, int]) -> int:
        return min(map(self._count, pair))

    def _suspects(self) -> list[tuple[int, int]]:
        """Pairs that look worst after the first draws."""
        if len(self.pairs.pairs) <= 1:
            return list(self.pairs.pairs)
        sides = [join_batches(outputs) for outputs in self._known]
        views = self._views(join_batches(sides))
        tables = [[count_cells(view, side) for side in sides] for view in views]
        scores = []
        for a, b in self.pairs.pairs:
            both = [(table[a], table[b]) for table in tables]
            events = [best_cells(counts, counts, self._aim) for counts in both]
            scores.append(max((event.score for event in events if event), default=-math.inf))
        order = np.argsort(-np.array(scores), kind="stable")[:_SUSPECTS]
        return [self.pairs.pairs[k] for k in order.tolist()]

    def _views(self, outputs: Outputs) -> list[View]:
        names = feature_names(outputs, low_bits=self.floats == "implemented")
        bins: list[View] = [fit_bins(outputs, name) for name in names]
        values = [frequent_values(outputs)]
        views = [*bins, *values] if outputs.is_numeric else [*values, *bins]
        return [view for view in views if view.size > 1]

    def _stake(self, pair: tuple[int, int]) -> Stake | None:
        """The best bets on a pair, as far as it is known; learnt again when more is."""
        size = sum(map(self._count, pair))
        before, stake = self._stakes.get(pair, (0, None))
        if size >= min(_AGAIN * before, before + _KEPT):
            stake = self._learn(pair)
            self._stakes[pair] = size, stake
        return stake

    def _learn(self, pair: tuple[int, int]) -> Stake | None:
        left, right = (join_batches(self._known[end]) for end in pair)
        folds = [(_half(left, k), _half(right, k)) for k in (0, 1)]
        both = join_batches([left, right])
        judged = [self._judged(pair, view, folds, both=True) for view in self._views(both)]
        if both.numbers.shape[1] > 1:
            # A tree is fitted on one half and judged on the other.
            judged.append(self._judged(pair, fit_tree(*folds[0]), folds, both=False))
        stakes = [stake for stake in judged if stake is not None]
        return max(stakes, key=lambda stake: stake.growth, default=None)

    def _judged(
        self, pair: tuple[int, int], view: View, folds: list[tuple[Outputs, Outputs]], *, both: bool
    ) -> Stake | None:
        """Sets of cells of a view, chosen on all samples; their growth where others chose them."""
        halves = [tuple(count_cells(view, side) for side in fold) for fold in folds]
        growth = 0.0
        for chosen, judged in (halves, halves[::-1]) if both else (halves,):
            growth += self._growth(self._sets((chosen[0], chosen[1])), (judged[0], judged[1]))
        growth *= 1 if both else 2
        samples = sum(len(side) for fold in folds for side in fold)
        if growth < _PAYS:
            return None
        # What luck may have added is taken off.
        rate = (growth - min(growth / 2, math.sqrt(growth))) / samples
        named, back = self._sets((halves[0][0] + halves[1][0], halves[0][1] + halves[1][1]))
        if not named and not back:
            return None
        if not named:
            named, back, pair = back, (), pair[::-1]
        return Stake(pair, Event(view, named), Event(view, back) if back else None, rate)

    def _sets(self, counts: tuple[Counts, Counts]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Cells that speak for the left and for the right, beyond the claim."""
        prefixes = [best_prefix(both, both, self._aim) for both in (counts, counts[::-1])]
        left, right = (
            prefix[1] if prefix is not None and prefix[0] > 0 else () for prefix in prefixes
        )
        return left, tuple(cell for cell in right if cell not in set(left))

    def _growth(
        self, sets: tuple[tuple[int, ...], tuple[int, ...]], counts: tuple[Counts, Counts]
    ) -> float:
        (left, right), (first, second) = map(list, sets), counts
        wins = int(first[left].sum() + second[right].sum())
        losses = float(second[left].sum() + first[right].sum())
        steps = 0.5 * float(first.sum() + second.sum())
        sides = (len(left) > 0) + (len(right) > 0)
        losses += sides * self.claim.delta * math.exp(-min(self.claim.threshold, 700.0)) * steps
        return estimate_growth(wins, losses, self.claim.threshold)


def _half(outputs: Outputs, which: int) -> Outputs:
    return Outputs(outputs.array[which::2])

"""Which event to test, and the exact binomial test of it.

Outputs are counted in cells, the cells are put in order of their likelihood ratio and cut where
the test gains most.

Order and cut are estimates; they decide how strong the test is, never whether it is right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.balls import precision
from liptest.blackbox.betting import PRECISIONS, upward
from liptest.blackbox.events import Outputs, Values, View, feature_names, fit_bins, view_from_dict
from liptest.errors import InputError, quote
from liptest.mechanisms.laws import Output

# Certified binomial tails, and what they say about a ratio of two probabilities.
#
# The one test of the black box. Each step draws side A, side B or, for delta > 0, a token, with
# probabilities proportional to 1, 1 and delta e^-epsilon. A win is a draw of A in the event S, a
# loss a draw of B in S or a token. Given the number of wins and losses, the wins are binomial with
# chance P / (P + Q + delta e^-epsilon), P = Pr_A[S], Q = Pr_B[S], which is at most
# e^epsilon / (1 + e^epsilon) exactly when P <= e^epsilon Q + delta. So the test is exact: no
# normal approximation, no split of the failure probability over two bounds.


# The widest error of the logarithm of a tail.
_WIDEST = 2.0**-30
_STEP = 1e-4
# A bound is never quoted above this: e^50 exceeds every number of samples.
_LARGEST = 50.0


def log_tail(wins: int, trials: int, log_odds: float) -> float:
    """Certified upper bound of ln Pr[Bin(trials, p) >= wins], ln(p / (1 - p)) = ``log_odds``.

    The sum of its terms, none of which is negative: the first one times the hypergeometric
    polynomial 2F1(1, wins - trials; wins + 1; -p / (1 - p)). An order of magnitude faster than the
    incomplete beta function where the tail is small.
    """
    if wins <= 0:
        return 0.0
    losses = trials - wins
    for bits in PRECISIONS:
        with precision(bits):
            odds = arb(log_odds).exp()
            ways = arb(trials + 1).lgamma() - arb(wins + 1).lgamma() - arb(losses + 1).lgamma()
            first = ways - wins * (1 / odds).log1p() - losses * odds.log1p()
            tail = first + (-odds).hypgeom_2f1(1, -losses, wins + 1).log()
            if tail.rad() < _WIDEST:
                return min(0.0, upward(float(tail.upper())))
    return 0.0


@dataclass(frozen=True, eq=False)
class Tally:
    """What one test saw: ``wins`` of A, ``losses`` of B, and the tokens' thresholds.

    ``tokens`` are the epsilons, ascending, up to which each token counts as a loss: -ln u, u
    uniform, so that a token counts with probability e^-epsilon, for all epsilon at once. ``tail``
    (wins, trials, log odds) is the logarithm that is held against a level: that of a binomial tail,
    or of 1 / wealth of bets (``liptest.blackbox.betting``).
    """

    wins: int
    losses: int
    tokens: np.ndarray[tuple[int], np.dtype[np.float64]]
    tail: Callable[[int, int, float], float] = log_tail

    def losses_at(self, epsilon: float) -> int:
        """Losses of B and tokens that count at epsilon."""
        alive = len(self.tokens) - int(np.searchsorted(self.tokens, epsilon, side="left"))
        return self.losses + alive

    def _rejects(self, first: float, last: float, log_level: float) -> bool:
        """Whether every epsilon in [first, last] is rejected: tokens of one end, odds of the other.

        More losses and a larger chance of a win both make the tail larger.
        """
        trials = self.wins + self.losses_at(first)
        return self.wins > 0 and self.tail(self.wins, trials, last) <= log_level

    def largest_refuted(self, log_level: float, first_step: float = 1.0) -> float:
        """An epsilon such that it and all below are rejected; -inf when there is none at 0.

        The true value of ln((P - delta) / Q) is itself rejected with probability at most
        e^log_level, so this is a lower bound of it with that confidence, whatever else holds. The
        search tries ``first_step`` itself first.
        """
        if not self._rejects(0.0, 0.0, log_level):
            return -math.inf
        if not len(self.tokens):
            return self._largest_without_tokens(log_level)
        reached, step = 0.0, first_step
        while step > _STEP and reached < _LARGEST:
            if self._rejects(reached, reached + step, log_level):
                reached, step = reached + step, step * 2
            else:
                step /= 2
        return min(reached, _LARGEST)

    def _largest_without_tokens(self, log_level: float) -> float:
        """Where the tail, which grows with epsilon, reaches the level: bisection and secants."""
        trials = self.wins + self.losses

        def above(epsilon: float) -> float:
            return self.tail(self.wins, trials, epsilon) - log_level

        low, high, below, over = 0.0, 1.0, -1.0, above(1.0)
        while over <= 0 and high < _LARGEST:
            low, high, below = high, 2 * high, over
            over = above(high)
        takes_secant = False
        while high - low > _STEP:
            share = below / (below - over) if takes_secant else 0.5
            middle = low + min(max(share, 0.02), 0.98) * (high - low)
            takes_secant = not takes_secant
            value = above(middle)
            if value <= 0:
                low, below = middle, value
            else:
                high, over = middle, value
        return min(low, _LARGEST)


def plan_sides(
    steps: int, delta: float, rng: np.random.Generator
) -> tuple[int, int, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Draws of A, draws of B and token thresholds of ``steps`` steps of the test."""
    total = 2.0 + delta
    a, b, tokens = rng.multinomial(steps, [1 / total, 1 / total, delta / total]).tolist()
    return a, b, np.sort(rng.exponential(size=tokens))


Counts = NDArray[np.int64]
#: More distinct outputs than this, or counters than that, are not kept apart.
MAX_DISTINCT = 1 << 14
MAX_COUNTERS = 1 << 23
# Few outputs that are not vectors need no other view.
_FEW = 64


@dataclass(eq=False)
class Census:
    """Counts of every distinct output on each of ``rows`` datasets, until they are too many."""

    rows: int
    known: dict[Output, int] = field(default_factory=dict)
    is_complete: bool = True
    _table: Counts = field(init=False)

    def __post_init__(self) -> None:
        self._table = np.zeros((self.rows, 0), dtype=np.int64)

    def add(self, row: int, outputs: Outputs) -> None:
        """Count outputs of one dataset."""
        if not self.is_complete:
            return
        keys, places = outputs.distinct()
        new = [key for key in keys if key not in self.known]
        total = len(self.known) + len(new)
        if total > min(MAX_DISTINCT, max(64, MAX_COUNTERS // self.rows)):
            self.is_complete = False
            return
        for key in new:
            self.known[key] = len(self.known)
        self._grow(total)
        codes = np.array([self.known[key] for key in keys], dtype=np.int64)
        self._table[row, codes] += np.bincount(places, minlength=len(keys))

    def _grow(self, total: int) -> None:
        if total > self._table.shape[1]:
            wider = np.zeros((self.rows, max(2 * self._table.shape[1], total, 16)), dtype=np.int64)
            wider[:, : self._table.shape[1]] = self._table
            self._table = wider

    @property
    def view(self) -> Values:
        """One cell for each output seen."""
        return Values(tuple(self.known))

    @property
    def counts(self) -> Counts:
        """(rows, cells of the view)."""
        self._grow(len(self.known) + 1)
        return self._table[:, : len(self.known) + 1]


def coarse_views(pilot: Outputs, *, low_bits: bool = False) -> list[View]:
    """Views for a first look, besides the census; ``low_bits``: of floats as such, too."""
    keys, _ = pilot.distinct()
    is_scalar = pilot.is_numeric and pilot.numbers.shape[1] == 1
    if len(keys) <= _FEW and (is_scalar or not np.any(~np.isnan(pilot.numbers))):
        return []
    names = feature_names(pilot, low_bits=low_bits)
    views: list[View] = [fit_bins(pilot, name) for name in names]
    return [view for view in views if view.size > 2]


def frequent_values(outputs: Outputs, most: int = 256) -> Values:
    """The outputs that come back, most frequent first."""
    keys, places = outputs.distinct()
    counts = np.bincount(places, minlength=len(keys))
    order = np.argsort(-counts, kind="stable")[:most]
    return Values(tuple(keys[k] for k in order.tolist() if counts[k] > 1))


def count_cells(view: View, outputs: Outputs) -> Counts:
    """(cells,) how many outputs lie in each cell."""
    return np.bincount(view.codes(outputs), minlength=view.size)


def join_batches(parts: Iterable[Outputs]) -> Outputs:
    """Several batches as one."""
    listed = [part.array for part in parts]
    shapes = {(array.dtype.kind == "O", array.shape[1:]) for array in listed}
    if len(shapes) == 1:
        return Outputs(np.concatenate(listed))
    whole = np.empty(sum(map(len, listed)), dtype=object)
    place = 0
    for array in listed:
        for item in array.tolist() if array.ndim == 1 else map(tuple, array.tolist()):
            whole[place] = item
            place += 1
    return Outputs(whole)


def empirical_divergence(left: Counts, right: Counts, epsilon: float) -> float:
    """Divergence of two empirical laws, the larger direction."""
    p, q = left / max(1, int(left.sum())), right / max(1, int(right.sum()))
    factor = math.exp(min(epsilon, 700.0))
    forth, back = (np.maximum(a - factor * b, 0.0).sum() for a, b in ((p, q), (q, p)))
    return float(max(forth, back))


def radius(draws_left: int, draws_right: int, epsilon: float, log_level: float) -> float:
    """What to add to ``hockey_stick`` so that it bounds the true one, one direction.

    The empirical divergence is convex in the empirical laws, so its mean is at least the true
    one (Jensen); one draw more or less moves it by 1/n or e^epsilon/m, so it falls below its mean
    by t with probability at most exp(-2 t^2 / (1/n + e^(2 epsilon)/m)) (McDiarmid). No bound on
    the number of outputs is needed.
    """
    spread = 1.0 / draws_left + math.exp(min(2.0 * epsilon, 700.0)) / draws_right
    return math.sqrt(spread * -log_level / 2.0)


@dataclass(frozen=True)
class Aim:
    """What an event should be good for.

    Parameters
    ----------
    delta
        Of the claim.
    epsilon
        Refute this epsilon; None: bound epsilon from below as high as possible.
    draws
        Draws on each side that the test will make.
    deviations
        Normal quantile of the test's level.
    """

    delta: float
    epsilon: float | None
    draws: float
    deviations: float

    def scores(self, left: Counts, right: Counts, draws: tuple[int, int], caution: float) -> Any:
        """How good events with these counts look; any shape.

        For a bound: the bound that the test would give, less ``caution`` standard errors of these
        counts. For a claim: how fast evidence would grow, on one scale for all events.
        """
        p, q = (left + 0.5) / draws[0], (right + 0.5) / draws[1]
        if self.epsilon is not None:
            factor = math.exp(min(self.epsilon, 50.0))
            return (p - factor * q - self.delta) / np.sqrt(p + factor * factor * q)
        low, high = _at_least(left, caution) / draws[0], _at_most(right, caution) / draws[1]
        excess = np.maximum(low - self.delta, 1e-12)
        likely = np.maximum(p - self.delta, excess)
        # Not both probabilities are at their worst at once.
        worse = np.hypot(np.log(likely / excess), np.log(high / q))
        spread = np.sqrt((low / excess**2 + 1 / high) / self.draws)
        return np.log(likely / q) - worse - self.deviations * spread


def _at_least(counts: Counts, caution: float) -> Any:
    """Lower end of the score interval of a Poisson mean."""
    return np.maximum((np.sqrt(counts + caution**2 / 4) - caution / 2) ** 2, 1e-12)


def _at_most(counts: Counts, caution: float) -> Any:
    return np.maximum((np.sqrt(counts + caution**2 / 4) + caution / 2) ** 2, counts + 0.5)


def normal_quantile(level: float) -> float:
    """A little more than the standard normal quantile of 1 - level: from the tail's bound."""
    return math.sqrt(max(0.0, -2.0 * math.log(2.0 * min(level, 0.5))))


@dataclass(frozen=True)
class Event:
    """The output lies in one of these cells of a view."""

    view: View
    cells: tuple[int, ...]

    def hits(self, outputs: Outputs) -> int:
        """How many of the outputs lie in the event."""
        return int(np.isin(self.view.codes(outputs), self.cells).sum())

    def __str__(self) -> str:
        return self.view.words(self.cells)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {**self.view.to_dict(), "cells": list(self.cells)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Event:
        """Inverse of ``to_dict``; InputError for anything else."""
        cells = data.get("cells")
        if not isinstance(cells, list) or any(type(cell) is not int for cell in cells):
            raise InputError(f"event: {quote(data)} was not written by liptest")
        view = {key: value for key, value in data.items() if key != "cells"}
        return cls(view_from_dict(view), tuple(cells))


def event_form(core: Any, handler: Any) -> Any:
    """How an event looks in JSON."""
    return core.no_info_after_validator_function(
        Event.from_dict,
        core.dict_schema(core.str_schema(), core.any_schema()),
        serialization=core.plain_serializer_function_ser_schema(Event.to_dict),
    )


@dataclass(frozen=True)
class ScoredEvent:
    """An event with the score that it was chosen for; ``forward``: more likely on the left."""

    score: float
    cells: tuple[int, ...]
    forward: bool


def best_cells(
    order: tuple[Counts, Counts], judged: tuple[Counts, Counts], aim: Aim
) -> ScoredEvent | None:
    """The best event of both directions.

    ``order`` and ``judged`` are (cells,) counts of left and right: the first sorts the cells by
    ratio, the second (the same or other samples) says where to cut.
    """
    events = []
    for forward in (True, False):
        choice = best_prefix(*((order, judged) if forward else (order[::-1], judged[::-1])), aim)
        if choice is not None:
            events.append(ScoredEvent(*choice, forward))
    return max(events, key=lambda choice: choice.score, default=None)


def best_prefix(
    order: tuple[Counts, Counts], judged: tuple[Counts, Counts], aim: Aim
) -> tuple[float, tuple[int, ...]] | None:
    """The best event that is likelier on the first; None where nothing was seen."""
    """Score and cells of the best event that is likelier on the first; None where nothing came."""
    seen = np.flatnonzero(order[0] + order[1])
    draws = [max(1, int(counts.sum())) for counts in judged]
    if len(seen) < 1:
        return None
    ratio = log_ratios(order[0][seen], order[1][seen])
    ranked = seen[np.argsort(-ratio, kind="stable")]
    left, right = (np.cumsum(counts[ranked]) for counts in judged)
    # The luckiest of k events is about so many standard errors above what it deserves.
    caution = math.sqrt(2.0 * math.log(max(2, len(seen))))
    scores = aim.scores(left, right, (draws[0], draws[1]), caution)
    best = int(np.argmax(scores))
    return float(scores[best]), tuple(sorted(ranked[: best + 1].tolist()))


def log_ratios(left: Counts, right: Counts) -> NDArray[np.float64]:
    """Log ratios, drawn towards 0 where counts are small: no luck of few draws comes first."""
    p, q = (side / max(1, int(side.sum())) for side in (left, right))
    spread = 1.0 / np.sqrt(left + right + 1.0)
    raw = (np.sqrt(p) - np.sqrt(q)) / np.sqrt(p + q + 1e-300)
    return np.asarray(raw * np.maximum(0.0, 1.0 - spread) + 0.0)

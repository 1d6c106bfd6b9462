"""Whole numbers with noise of the code's own samplers, to refute claims about them.

A sampler whose law is nearly that of discrete Laplace noise draws that noise instead, and all
probabilities may be off by the distance of the two in total variation, once for each call
(docs/theory/loops.md, L7). So what is found beyond twice that holds for the code as it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

from flint import arb

from liptest.balls import CERTIFIED_BITS, precision
from liptest.data.domains import IntArray
from liptest.enumerate.folded.folding import SUMMED_UP, Rewritten
from liptest.enumerate.folded.folds import Folds
from liptest.enumerate.numbers.whole_numbers import (
    PROBE_WORK,
    WholeFunction,
    WholeLaw,
    distinguishing_numbers,
    noise_rates,
    stick_of_whole,
)
from liptest.enumerate.numbers.whole_outputs import MOST_LEAVES, number_output
from liptest.enumerate.samplers.sampler_noise import NoiseSamplers
from liptest.errors import LiptestError, UnsupportedForm
from liptest.mechanisms.laws import Output, exact_ball
from liptest.mechanisms.likelihood_cells import PairCells
from liptest.symbolic.work import limit_work

# Outputs that are looked at for the one that tells most.
_MOST_OUTPUTS = 64
_FEW_RUNS = 64
_NEARLY = (
    "functions of its own that draw nearly discrete Laplace noise are counted as that noise, and "
    "probabilities are rounded by what both differ by (theory L7)"
)
Balls = tuple[arb, arb]


def find_near_numbers(function: Any, dataset: IntArray) -> NearWholeFunction | None:
    """A Python function seen so; None where it has no such sampler, or is not followed."""
    conditions: set[str] = set()
    samplers = NoiseSamplers(function.name, conditions)
    alone: Any = {"samplers": samplers, "moves_returns": False}
    rewrite = Rewritten(function, Folds(lambda value: None, samplers.summarised, **alone))
    try:
        if function.draws_noise_again():
            return None
        with limit_work(PROBE_WORK):
            few = function.of_leaves(_FEW_RUNS, rewrite).fresh_law(dataset)
        # One number is listed value by value, and so are all its probabilities.
        if few.unexplored or not any(
            leaf.rounding and len(leaf.places) > 1 for leaf in few.outputs
        ):
            return None
    except LiptestError:
        return None
    function._known.conditions |= conditions | {SUMMED_UP, _NEARLY}
    return NearWholeFunction(function.of_leaves(MOST_LEAVES, rewrite), function)


def _find_rounding(law: WholeLaw) -> Fraction:
    return max(leaf.rounding for leaves in law.leaves.values() for leaf in leaves)


@dataclass(frozen=True, eq=False)
class NearWholeFunction(WholeFunction):
    """A function whose laws are near those of ``inner``: it can only refute.

    Its losses are those at one output, its divergences what is certain and no more.
    """

    def pair_loss(self, dataset: IntArray, neighbour: IntArray) -> arb:
        """The loss at the output that certainly tells most: a lower bound."""
        with precision(CERTIFIED_BITS):
            _, left, right = self._most_distinguishing(dataset, neighbour)
            return _loss(left, right)

    def pair_curve(self, dataset: IntArray, neighbour: IntArray) -> Callable[[arb], arb]:
        """The divergence, wider by what both laws may be off."""
        left, right = self.whole_law(dataset), self.whole_law(neighbour)
        off = _off_by(left, right)

        def stick(epsilon: arb) -> arb:
            with precision(CERTIFIED_BITS):
                known = stick_of_whole(left, right, epsilon)
                return known + arb(0, (off * (1 + epsilon.exp())).upper())

        return stick

    def pair_cells(self, dataset: IntArray, neighbour: IntArray) -> PairCells:
        """Of laws that are nearly known there are none."""
        raise UnsupportedForm(f"{self.name}: its own noise is known but for a tail")

    def pair_event(
        self, dataset: IntArray, neighbour: IntArray, epsilon: arb
    ) -> tuple[tuple[Output, ...], list[Balls]]:
        """The event of ``WholeFunction``, with wider probabilities."""
        outputs, told = super().pair_event(dataset, neighbour, epsilon)
        off = _off_by(self.whole_law(dataset), self.whole_law(neighbour))
        with precision(CERTIFIED_BITS):
            return outputs, [(_wider(p, off), _wider(q, off)) for p, q in told]

    def pair_witness(
        self, dataset: IntArray, neighbour: IntArray, epsilon: float
    ) -> tuple[Output, arb, arb]:
        """The output that certainly tells most."""
        with precision(CERTIFIED_BITS):
            return self._most_distinguishing(dataset, neighbour)

    def _most_distinguishing(
        self, dataset: IntArray, neighbour: IntArray
    ) -> tuple[Output, arb, arb]:
        left, right = self.whole_law(dataset), self.whole_law(neighbour)
        best: tuple[arb, tuple[Output, arb, arb]] | None = None
        for output, p, q in _probabilities(left, right):
            loss = _loss(p, q).lower()
            if best is None or loss > best[0]:
                best = loss, (output, p, q)
        if best is None:
            raise UnsupportedForm(f"{self.name}: no output is known that tells two datasets apart")
        return best[1]


def _probabilities(left: WholeLaw, right: WholeLaw) -> Iterator[tuple[Output, arb, arb]]:
    """Of outputs that tell two laws apart, as far as they are known."""
    off, rates = _off_by(left, right), noise_rates(left, right)
    for skeleton, numbers in islice(distinguishing_numbers(left, right), _MOST_OUTPUTS):
        p, q = (_wider(law.probability(rates, skeleton, numbers), off) for law in (left, right))
        yield number_output(skeleton, numbers), p, q


def _off_by(left: WholeLaw, right: WholeLaw) -> arb:
    return exact_ball(max(_find_rounding(left), _find_rounding(right)))


def _wider(probability: arb, off: arb) -> arb:
    return probability + arb(0, off.upper())


def _loss(left: arb, right: arb) -> arb:
    """Of one output; 0 where it is not known which side has more."""
    if not (left > 0 and right > 0):
        certain = max((left.lower() / right.upper(), right.lower() / left.upper()), key=float)
        return certain.log() if certain > 1 else arb(0)
    return abs((left / right).log())

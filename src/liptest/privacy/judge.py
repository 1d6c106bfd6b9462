"""The privacy judge: compares the output distributions of the pairs of a batch with the claim."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.balls import CERTIFIED_BITS, FLOAT_BITS, precision
from liptest.data.domains import Domain, IntArray
from liptest.data.points import Geodesic
from liptest.errors import BudgetError, InputError
from liptest.mechanisms.base import ClosedFormLosses, Mechanism
from liptest.mechanisms.laws import (
    ComparableLaws,
    LawTable,
    Output,
    laws_of_one_decision,
    laws_on_trial,
)
from liptest.privacy.claims import AnyClaim, Claim, NotionClaim
from liptest.privacy.comparison import (
    Answer,
    Screened,
    ask_laws,
    certify_comparison,
    exact_law,
    screen_batch,
    show_loss,
)
from liptest.privacy.searches.notion_witnesses import notion_witness, tell_by_laws
from liptest.privacy.witnesses import (
    PrivacyWitness,
    Trace,
    ball_bounds,
    ball_text,
    find_distinguishing_event,
)
from liptest.runs.driver import Finding, Judgement, QueryBatch

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Unexplored:
    """The largest probability that a partial law has left open; adds up to the larger one."""

    mass: float

    @classmethod
    def of(cls, laws: ComparableLaws) -> Unexplored | None:
        """Of a table of laws; None when all are whole."""
        masses = laws.unexplored
        mass = 0.0 if masses is None else float(np.max(masses, initial=0.0))
        return cls(mass) if mass > 0 else None

    def __add__(self, other: Unexplored) -> Unexplored:
        return max(self, other, key=lambda part: part.mass)


@dataclass(frozen=True, eq=False)
class LossJudge:
    """A pair at distance k is violated when its laws certainly differ by more than the claim.

    Parameters
    ----------
    mechanism, domain, claim
        What is tested.
    output
        Compare only this output (the paper's lambda_o); None compares all.
    """

    mechanism: Mechanism
    domain: Domain
    claim: AnyClaim
    output: tuple[Output] | None = None

    def judge(self, batch: QueryBatch) -> Judgement:
        return self.judge_piece(batch, 0, 1)

    def learner(self) -> Any:
        """Shares the laws of the mechanism with other processes, or None."""
        return self.mechanism.learner()

    def judge_piece(self, batch: QueryBatch, piece: int, pieces: int) -> Judgement:
        """Some of the draws, ``pieces`` times fewer; a batch with listed pairs is one piece."""
        total = Judgement()
        limit = self.mechanism.points_per_slice(self.domain)
        if batch.pairs is not None:
            whole = piece == 0
            return self._judge_part(batch, check=True) if whole else total
        n = len(batch.points.centres)
        first = piece * n // pieces
        own, before = batch.points.of_centres(first, (piece + 1) * n // pieces)
        counted = -1
        for row, at, part in own.parts(limit):
            distances = batch.distances
            if distances is not None:
                distances = distances[before + at : before + at + len(part.rows)]
            cut = QueryBatch(part, distances=distances)
            judgement = self._judge_part(cut, check=first + row == 0 and counted < 0)
            # A centre with many neighbours occurs in several parts but is one law to compute.
            again = int(row == counted)
            counted = row + len(part.centres) - 1
            total += replace(
                judgement, draws=judgement.draws - again, queries=judgement.queries - again
            )
            if judgement.violation is not None:
                break
        return total

    def _judge_part(self, batch: QueryBatch, *, check: bool) -> Judgement:
        laws = ask_laws(self.mechanism, batch.points, check=check)
        answered = laws.is_answered()
        laws = self._restrict(laws)
        screened = self._screen(laws, batch)
        violation, doubt, at = self._certify(batch, laws, screened.flagged)
        last, draws = len(screened.losses), batch.draws
        if violation is not None:
            last, draws = at + 1, batch.draw_of(int(batch.pair_positions()[1][at])) + 1
        ratios = screened.losses[:last] / batch.pair_distances()[:last]
        largest = show_loss(float(np.max(ratios, initial=0.0)))
        outcome = violation or doubt
        if outcome is not None and outcome.evidence is not None:
            # The loss of a partial law is not screened, but this much is certain.
            largest = max(largest, outcome.evidence.measured / outcome.distance)
        unexplored = Unexplored.of(laws)
        return Judgement(
            draws=draws,
            queries=len(batch.points),
            pairs=last,
            repeats=int(check),
            largest=largest,
            answered=answered,
            violation=violation,
            doubt=doubt,
            evidence=unexplored,
            spent=unexplored is not None and unexplored.mass == 1.0,
        )

    def _restrict(self, laws: ComparableLaws) -> ComparableLaws:
        if self.output is None:
            return laws
        if not isinstance(laws, LawTable):
            raise InputError(
                f"mechanism={self.mechanism.name}: a test output by output needs finite outputs"
            )
        return laws.only(self.output[0])

    def _screen(self, laws: ComparableLaws, batch: QueryBatch) -> Screened:
        return screen_batch(laws, batch, [self.claim])

    def _certify(
        self, batch: QueryBatch, laws: ComparableLaws, flagged: Indices
    ) -> tuple[Finding | None, Finding | None, int]:
        left, right = batch.pair_positions()
        distances = batch.pair_distances()
        doubt: Finding | None = None
        answers: dict[tuple[int, int, int], Answer] = {}
        for pair in flagged:
            rows = laws.distinct(np.array([left[pair], right[pair]]))
            key = (int(rows[0]), int(rows[1]), int(distances[pair]))
            if answers.get(key) in (Answer.CLEAR, Answer.DOUBT):
                continue
            x, y = (batch.points.point(int(side[pair])) for side in (left, right))
            answer, finding = self.certify(x, y, key[2], keep_doubt=doubt is None)
            if answer is Answer.VIOLATED:
                return finding, doubt, int(pair)
            answers[key] = answer
            doubt = doubt or finding
        return None, doubt, 0

    @laws_of_one_decision()
    def try_first(self, x: IntArray, y: IntArray) -> tuple[Answer, Finding | None]:
        """``certify`` where nothing is kept but a violation, by laws on trial first."""
        with laws_on_trial():
            answer = certify_comparison(self.mechanism, x, y, self.claim).answer
        if answer is not Answer.VIOLATED:
            return answer, None
        return self.certify(x, y, keep_doubt=False)

    @laws_of_one_decision()
    def certify(
        self, x: IntArray, y: IntArray, distance: int = 1, *, keep_doubt: bool = True
    ) -> tuple[Answer, Finding | None]:
        """Decide one pair; what is violated, or left open and to be kept, has a witness."""
        answer = certify_comparison(self.mechanism, x, y, self.claim, distance).answer
        # Only the first doubt is kept.
        if answer is Answer.CLEAR or (answer is Answer.DOUBT and not keep_doubt):
            return answer, None
        if answer is Answer.VIOLATED and distance > 1:
            x, y, distance = self._narrow(x, y, distance)
        witness = make_witness(self.mechanism, x, y, self.claim, distance)
        return answer, Finding(x, y, distance, witness)

    def _narrow(self, x: IntArray, y: IntArray, distance: int) -> tuple[IntArray, IntArray, int]:
        """Bisect to a violated pair of neighbours (theory 1.2): one half of a violated pair is."""
        path, low, high = Geodesic(self.domain, x, y), 0, distance
        if path.length != distance or not path.shows(low, high):
            return x, y, distance
        while high - low > 1:
            middle = (low + high) // 2
            if self._breaks(path.point(low), path.point(middle), middle - low):
                high = middle
            else:
                low = middle
        ends = path.point(low), path.point(high)
        # Errors of declared laws may leave every hop open although the whole is certain.
        is_narrower = path.shows(low, high) and self._breaks(*ends, 1)
        return (*ends, 1) if is_narrower else (x, y, distance)

    def _breaks(self, x: IntArray, y: IntArray, distance: int) -> bool:
        comparison = certify_comparison(self.mechanism, x, y, self.claim, distance)
        return comparison.answer is Answer.VIOLATED


@laws_of_one_decision()
def make_witness(
    mechanism: Mechanism,
    dataset: NDArray[np.signedinteger],
    neighbour: NDArray[np.signedinteger],
    claim: AnyClaim,
    distance: int = 1,
) -> PrivacyWitness:
    """The certified comparison of two datasets with both probabilities, as a witness."""
    comparison = certify_comparison(mechanism, dataset, neighbour, claim, distance)
    if isinstance(claim, NotionClaim):
        if not isinstance(comparison.part, Claim):
            return notion_witness(mechanism, dataset, neighbour, comparison)
        claim = comparison.part
    if isinstance(mechanism, ClosedFormLosses):
        event, balls = find_distinguishing_event(mechanism, dataset, neighbour, claim, distance)
        comparison = replace(comparison, event=event)
        with precision(FLOAT_BITS):
            sums = [sum(side, arb(0)) for side in zip(*balls, strict=True)]
            masses = [(float(ball.mid()), ball_text(ball)) for ball in sums]
        if math.isinf(comparison.lower) and all(total > 0 for total in sums):
            # The largest loss has no bound; this event has one.
            lower, upper = _loss_of_event(*sums)
            comparison = replace(comparison, lower=lower, upper=upper)
        told: dict[str, Any] = {
            "probability": masses[0][0],
            "neighbour_probability": masses[1][0],
            "exact": (masses[0][1], masses[1][1]),
            "bounds": ball_bounds(balls),
        }
    else:
        laws = [exact_law(mechanism, side) for side in (dataset, neighbour)]
        told = tell_by_laws(laws[0], laws[1], comparison.event)
    return PrivacyWitness(
        dataset=tuple(dataset.tolist()),
        neighbour=tuple(neighbour.tolist()),
        event=comparison.event,
        loss_lower=comparison.lower,
        loss_upper=comparison.upper,
        claim=claim,
        excess=comparison.excess,
        distance=distance,
        trace=_trace(mechanism, dataset, neighbour, comparison.event),
        **told,
    )


def _loss_of_event(p: arb, q: arb) -> tuple[float, float]:
    with precision(CERTIFIED_BITS):
        loss = abs((p / q).log())
        lower, upper = float(loss.lower()), float(loss.upper())
    return math.nextafter(lower, 0.0), math.nextafter(upper, math.inf)


def _trace(
    mechanism: Mechanism, dataset: IntArray, neighbour: IntArray, event: tuple[Output, ...]
) -> Trace | None:
    """The choices that lead to the event on both sides, where laws come from code."""
    if not mechanism.has_trace or not event:
        return None
    sides = {"dataset": dataset, "neighbour": neighbour}
    try:
        traces = {side: mechanism.trace(points, *event) or [] for side, points in sides.items()}
    except BudgetError:  # the probabilities are known without it
        return None
    if any(choice.is_long for choices in traces.values() for choice in choices):
        return None
    return {side: [choice.to_dict() for choice in choices] for side, choices in traces.items()}

"""Verdicts from samples alone; frozen, printable, JSON both ways.

A NO is a statistical refutation: it may be wrong, with a stated probability. It is therefore no
``PrivacyVerdict``, whose NO is certain.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Annotated, Any, ClassVar, NoReturn

import numpy as np

from liptest.blackbox.betting import log_doubt
from liptest.blackbox.learning import Event, Tally, event_form, log_tail, plan_sides
from liptest.blackbox.samplers import Sampler, Source, check_sampler
from liptest.errors import check_count, check_open_unit, check_seed
from liptest.privacy.claims import Claim, exact_text
from liptest.privacy.verdicts import NOT_COVERED, NOTEBOOK, coordinate_noun, in_words
from liptest.privacy.wording.explanation import check_level, one_line, write_sampled_lines
from liptest.privacy.wording.sentences import say_count
from liptest.verdicts import (
    BelowOne,
    Cost,
    Count,
    Decision,
    Flag,
    Guarantee,
    Json,
    Record,
    Size,
    Text,
    Whole,
    as_number,
    as_one_of,
    round_up,
)

_VERIFY = 9999
_COORDINATES = "  (x[k]: number k of the output, from 0; x[0] is an output that is one number.)"
Level = Annotated[float, as_number(gt=0, lt=1)]


@dataclass(frozen=True)
class Bets(Record):
    """How the bets went, all pairs and sets together, and the last set that named the neighbour.

    Parameters
    ----------
    wins, losses
        Samples of the side that was named, and of the other. Tokens are not counted in.
    back
        The last set of outputs that spoke for the neighbour; None when there was none.
    """

    optional: ClassVar[frozenset[str]] = frozenset({"back"})

    wins: Count
    losses: Count
    back: Annotated[Event, Json(event_form)] | None = None


@dataclass(frozen=True)
class LossBound(Record):
    """A lower bound of the loss of one pair on one event, from samples.

    With probability at least 1 - ``failure_probability``, and for delta = 0,
    ``Pr[event on dataset] >= e^lower_bound Pr[event on neighbour]``; for delta > 0 the left side
    is ``Pr[..] - delta``. Pair and event were fixed before the samples were drawn.

    Parameters
    ----------
    dataset, neighbour
        Whole-number tuples.
    event
        What was counted; ``event.to_dict()`` is its JSON form.
    draws, hits
        On the dataset and on the neighbour: samples drawn, and how many lay in the event.
    tokens
        For delta > 0: the extra losses that stand for delta at the bound (``tails``).
    lower_bound
        Natural log units; -inf when not even epsilon 0 is refuted.
    bets
        Of a sequential test, else None. Pair and event are then those of the last bets, draws and
        hits those of all bets, each on the pair and event that were chosen before it was drawn;
        the bound follows from the bets that were won and lost.
    """

    derived: ClassVar[Mapping[str, Any]] = {"event_words": Text}
    optional: ClassVar[frozenset[str]] = frozenset({"bets"})

    dataset: tuple[Whole, ...]
    neighbour: tuple[Whole, ...]
    event: Annotated[Event, Json(event_form)]
    draws: tuple[Count, Count]
    hits: tuple[Count, Count]
    delta: BelowOne
    tokens: Count
    lower_bound: Annotated[float, as_number("inf", "-inf")]
    failure_probability: Level
    bets: Bets | None = None

    @property
    def event_words(self) -> str:
        """The event for readers."""
        return str(self.event)

    @property
    def confidence(self) -> float:
        """1 - failure_probability."""
        return 1.0 - self.failure_probability

    @property
    def shares(self) -> tuple[float, float]:
        """Observed frequencies of the event."""
        return self.hits[0] / self.draws[0], self.hits[1] / self.draws[1]

    @property
    def changed(self) -> tuple[int, ...]:
        """Coordinates in which the datasets differ."""
        pairs = enumerate(zip(self.dataset, self.neighbour, strict=True))
        return tuple(i for i, (a, b) in pairs if a != b)

    def repeat(
        self,
        sampler: Sampler,
        *,
        samples: int,
        failure_probability: float,
        seed: int,
    ) -> LossBound:
        """The same pair and event on fresh samples: a bound of its own.

        ``seed`` must differ from the verdict's, or the samples are not fresh.
        """
        level = check_open_unit("failure_probability", failure_probability)
        source = Source(check_sampler(sampler), check_seed(seed) or 0)
        steps = check_count("samples", samples, least=2)
        first, second, tokens = plan_sides(steps, self.delta, source.rng(_VERIFY))
        sides = [np.array(side, dtype=np.int64) for side in (self.dataset, self.neighbour)]
        hits = [0, 0]
        for side, outputs in source.stream(list(zip(sides, (first, second), strict=True)), _VERIFY):
            hits[side] += self.event.hits(outputs)
        tally = Tally(hits[0], hits[1], tokens)
        return find_bound(
            self.dataset, self.neighbour, self.event, (first, second), tally, self.delta, level
        )

    def __str__(self) -> str:
        return "\n".join(bound_lines(self))


def find_bound(
    dataset: Sequence[int],
    neighbour: Sequence[int],
    event: Event,
    draws: tuple[int, int],
    tally: Tally,
    delta: float,
    level: float,
    first_step: float = 1.0,
) -> LossBound:
    """What a tally says at a level."""
    lower = tally.largest_refuted(math.log(level), first_step)
    return LossBound(
        dataset=tuple(int(v) for v in dataset),
        neighbour=tuple(int(v) for v in neighbour),
        event=event,
        draws=draws,
        hits=(tally.wins, tally.losses),
        delta=delta,
        tokens=tally.losses_at(max(lower, 0.0)) - tally.losses,
        lower_bound=lower,
        failure_probability=level,
    )


@dataclass(frozen=True)
class BlackBoxVerdict(Record):
    """The answer of ``check_samples``.

    NO is a statistical refutation, wrong with probability at most ``failure_probability``; YES
    holds at a resolution, for the pairs tried; INCONCLUSIVE promises nothing. There is no truth
    value: compare ``verdict.decision`` with ``Decision.YES``.

    Parameters
    ----------
    witness
        For a NO the pair and event that refute the claim, with their counts; else None.
    bounds
        One for each round, each at its own confidence; together they hold with probability at
        least 1 - failure_probability.
    resolution, resolution_reached
        eta as requested, and the one that the samples prove: the pairs tried are
        (epsilon, delta + eta)-private for the events compared. inf where nothing was compared.
    is_finite
        Whether all events were compared (few distinct outputs), or unions of cells only.
    sequential
        True where samples were drawn until enough was known; None for the test of fixed size.
    floats
        "implemented" where the lowest bits of numbers were compared, too; else None.
    """

    kind: ClassVar[str] = "black box"
    derived: ClassVar[Mapping[str, Any]] = {
        "kind": Annotated[str, as_one_of("black box")],
        "largest_loss": Size,
    }
    optional: ClassVar[frozenset[str]] = frozenset({"floats", "sequential"})

    decision: Annotated[Decision, as_one_of(Decision.YES, Decision.NO, Decision.INCONCLUSIVE)]
    mechanism: Text
    claim: Claim
    witness: LossBound | None
    bounds: tuple[LossBound, ...]
    resolution: Level
    resolution_reached: Annotated[float, as_number("inf", "-inf")]
    is_finite: Flag
    guarantee: Guarantee
    cost: Cost
    seed: Count
    relation: Text
    tried: Text
    samples: Count
    reason: Text = ""
    sequential: Annotated[bool, as_one_of(True)] | None = None
    floats: Annotated[str, as_one_of("implemented")] | None = None

    @property
    def largest_loss(self) -> float:
        """Largest certified lower bound of a loss, 0 when there is none."""
        return max([0.0, *(bound.lower_bound for bound in self.bounds)])

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "a verdict has no truth value (a NO would be true); compare verdict.decision == 'YES'"
        )

    @property
    def settings(self) -> dict[str, Any]:
        """What ``check_samples`` was given beside the sampler and the data."""
        return {
            "epsilon": self.claim.epsilon,
            "delta": self.claim.delta,
            "resolution": self.resolution,
            "failure_probability": float(self.guarantee.failure_probability or 0.0),
            "samples": self.samples,
            "tolerance": self.claim.tolerance,
            "seed": self.seed,
            "sequential": bool(self.sequential),
            "floats": self.floats or "ideal",
        }

    @property
    def note(self) -> str:
        """The few words that keep the decision from being misread."""
        notes = {
            Decision.NO: "by samples - a statistical refutation, not a certain one",
            Decision.YES: "by samples, at a resolution - not a proof",
            Decision.INCONCLUSIVE: self.reason,
        }
        return notes[self.decision]

    @property
    def tested(self) -> str:
        """What was sampled and compared."""
        drawn = say_count(self.cost.draws, "sample")
        until = ", drawn until enough was known" if self.sequential else ""
        return f"Black box: {drawn} of the output{until}; tried {self.tried}."

    @property
    def shown_bound(self) -> LossBound | None:
        """The bound to show: of a NO its witness, else the largest above 0."""
        told = [bound for bound in self.bounds if bound.lower_bound > 0]
        return self.witness or max(told, key=lambda bound: bound.lower_bound, default=None)

    def __str__(self) -> str:
        lines = [f"{self.mechanism}   claim: {self.claim}", f"{self.decision} {self.note}"]
        lines.append(self.tested)
        if self.shown_bound is not None:
            lines.extend(bound_lines(self.shown_bound, coordinate_noun(self.relation)))
        lines.append(f"Meaning: {self.guarantee.sentence}")
        lines.append(f"Seed: {self.seed}.")
        lines.append(NOT_COVERED)
        return "\n".join(lines)

    def explain(self, level: str = "text") -> str:
        """The verdict in one of three levels.

        "line": one line for those who decide; "text": what ``print`` shows; "theorems": the
        statements that it rests on, in order, with their numbers in docs/theory.
        """
        levels: dict[str, Callable[[BlackBoxVerdict], str]] = {
            "line": _line,
            "text": str,
            "theorems": _theorems,
        }
        return levels[check_level(level)](self)

    def _repr_html_(self) -> str:
        """For notebooks: the same words beside a bar, with the pictures of the report."""
        return str(resolve_name(NOTEBOOK)(self))


def _line(verdict: BlackBoxVerdict) -> str:
    return one_line(
        verdict.mechanism, str(verdict.claim), verdict.decision, verdict.guarantee, implemented=""
    )


def _theorems(verdict: BlackBoxVerdict) -> str:
    lines = write_sampled_lines(
        decision=verdict.decision,
        guarantee=verdict.guarantee,
        claim=str(verdict.claim),
        is_sequential=bool(verdict.sequential),
        with_low_bits=verdict.floats is not None,
        not_covered=[NOT_COVERED],
    )
    return "\n".join([f"{verdict.mechanism}   {verdict.decision} {verdict.note}", *lines])


def bound_lines(bound: LossBound, noun: str = "record") -> list[str]:
    """A bound in words: the pair, the event, both frequencies, the bound."""
    where = ", ".join(str(i) for i in bound.changed[:6])
    values = ", ".join(f"{bound.dataset[i]} / {bound.neighbour[i]}" for i in bound.changed[:6])
    more = ", .." if len(bound.changed) > 6 else ""
    plural = "" if len(bound.changed) == 1 else "s"
    excess = f" beyond delta {bound.delta:g}" if bound.delta else ""
    left, right = (f"{h:,} of {n:,}" for h, n in zip(bound.hits, bound.draws, strict=True))
    percent = f"{100 * bound.confidence:.8g} %"
    loss = max(0.0, math.floor(bound.lower_bound * 1e4) / 1e4) if bound.lower_bound > 0 else 0.0
    if bound.bets is not None:
        return [
            f"Two datasets differ only in {noun}{plural} {where}{more} ({values}{more}):",
            *_bet_lines(bound, bound.bets),
            f"  loss{excess} at least {loss:.4f}, with confidence {percent} wherever one stops.",
            *([_COORDINATES] if "x[" in f"{bound.event}{bound.bets.back}" else []),
        ]
    return [
        f"Two datasets differ only in {noun}{plural} {where}{more} ({values}{more}):",
        f"  {bound.event}: {left} draws ({bound.shares[0]:.4g}) against {right} "
        f"({bound.shares[1]:.4g})",
        f"  loss{excess} at least {loss:.4f}, with confidence {percent}.",
        *([_COORDINATES] if "x[" in str(bound.event) else []),
    ]


def _bet_lines(bound: LossBound, bets: Bets) -> list[str]:
    back = "" if bets.back is None else f"; {bets.back} for the second"
    tokens = f" and {bound.tokens:,} for delta" if bound.tokens else ""
    return [
        f"  {bound.event} speaks for the first{back} (the last bets).",
        f"  Of {sum(bound.draws):,} samples, each drawn on a side that a coin chose, the bets were "
        f"right {bets.wins:,} times, wrong {bets.losses:,} times{tokens}.",
    ]


_MOST = 10**12


def no_sentence(claim: Claim, failure: float, condition: str) -> str:
    """The meaning of a NO."""
    return (
        f"either the mechanism does not satisfy {claim}, or this test hit an event of probability "
        f"<= {in_words(failure)}; everything that was tried is counted in. It is not a certain "
        f"witness: two finite samples can differ by chance. It rests on a condition: {condition}."
    )


def yes_sentence(
    claim: Claim,
    reached: float,
    failure: float,
    condition: str,
    *,
    pairs: int,
    is_all: bool,
    is_finite: bool,
) -> str:
    """The meaning of a YES about so many pairs; ``is_all`` when there are no others."""
    events = "all events" if is_finite else "all unions of the cells that were counted"
    which = f"{pairs:,} pairs tried" if pairs > 1 else "one pair tried"
    rest = "" if is_all else " Other pairs of datasets were not looked at."
    total = round_up(claim.delta + reached)
    claimed, delta = exact_text(claim.epsilon), exact_text(claim.delta)
    return (
        f"for the {which} and {events}, the mechanism is ({claimed}, {total:.4g})-private, delta "
        f"{delta} plus the resolution, or this test hit an event of probability <= "
        f"{in_words(failure)}. Samples cannot prove pure differential privacy: whatever happens "
        f"with a probability below the resolution may escape them.{rest} It rests on a "
        f"condition: {condition}."
    )


def open_sentence() -> str:
    """The meaning of an INCONCLUSIVE."""
    return "no promise; the claim was neither refuted nor confirmed at the requested resolution."


def open_reason(reached: float, asked: float, needed: int) -> str:
    """Why a verdict is INCONCLUSIVE, and what to do."""
    words = f"resolution {reached:.3g}" if reached < 1 else "no resolution below 1"
    takes = f"about {needed:,} samples, or fewer pairs"
    if needed > _MOST:
        takes = "more samples than can be drawn"
    return f"the samples reach {words}, requested was {asked:g}; that takes {takes}"


def say_unrefuted(samples: int) -> str:
    """Why a sequential test is INCONCLUSIVE."""
    return (
        f"not refuted by {samples:,} samples; a test that stops when enough is known never says "
        f"YES: that takes the test of fixed size"
    )


# Of the logarithm of a tail, which is computed again.
_ROUNDING = 1e-9


def count_problems(verdict: BlackBoxVerdict) -> list[str]:
    """Where bounds do not follow from counts, or the decision not from the bounds."""
    wrong = [told for bound in verdict.bounds for told in _bound_problems(bound)]
    failure = verdict.guarantee.failure_probability or 0.0
    if sum(bound.failure_probability for bound in verdict.bounds) > failure * (1 + _ROUNDING):
        wrong.append("bounds: together they may fail more often than the verdict says")
    if any(bound.delta < verdict.claim.delta for bound in verdict.bounds):
        wrong.append("bounds: they are about another delta than the claim")
    witness = verdict.witness
    refuted = witness is not None and witness.lower_bound >= verdict.claim.threshold
    if (verdict.decision is Decision.NO) != refuted or (refuted and witness not in verdict.bounds):
        wrong.append(f"decision={verdict.decision}: the bounds do not give it")
    reached = verdict.resolution_reached <= verdict.resolution
    if verdict.decision is Decision.YES and not reached:
        wrong.append("decision=YES: the resolution was not reached")
    if sum(sum(bound.draws) for bound in verdict.bounds) > verdict.cost.draws:
        wrong.append("cost.draws: fewer than the bounds count")
    return wrong


def _bound_problems(bound: LossBound) -> list[str]:
    if any(hits > draws for hits, draws in zip(bound.hits, bound.draws, strict=True)):
        return [f"hits={bound.hits} are more than draws={bound.draws}"]
    if bound.bets is not None and sum(bound.draws) < bound.bets.wins + bound.bets.losses:
        return [f"bets={bound.bets} are more than draws={bound.draws}"]
    if bound.lower_bound == -math.inf:
        return []
    wins, losses = bound.hits
    log_chance = log_tail
    if bound.bets is not None:
        wins, losses, log_chance = bound.bets.wins, bound.bets.losses, log_doubt
    tail = log_chance(wins, wins + losses + bound.tokens, bound.lower_bound)
    if not wins or tail > math.log(bound.failure_probability) + _ROUNDING:
        return [f"lower_bound={bound.lower_bound:g} does not follow from {bound.hits}"]
    return []

"""What verdicts from samples promise, in sentences."""

from __future__ import annotations

from liptest.blackbox.pairs import Pairs
from liptest.privacy.claims import Claim, exact_text
from liptest.privacy.wording import in_words
from liptest.verdicts import rounded_up

_MOST = 10**12


def no_sentence(claim: Claim, failure: float, condition: str) -> str:
    """The meaning of a NO."""
    return (
        f"either the mechanism does not satisfy {claim}, or this test hit an event of probability "
        f"<= {in_words(failure)}; everything that was tried is counted in. It is no certain "
        f"witness: two finite samples can differ by chance. It rests on a condition: {condition}."
    )


def yes_sentence(
    claim: Claim, reached: float, failure: float, pairs: Pairs, is_finite: bool, condition: str
) -> str:
    """The meaning of a YES."""
    events = "all events" if is_finite else "all unions of the cells that were counted"
    which = f"{len(pairs.pairs):,} pairs tried" if len(pairs.pairs) > 1 else "one pair tried"
    rest = "" if pairs.is_all else " Other pairs of datasets were not looked at."
    total = rounded_up(claim.delta + reached)
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
    return "no promise; the claim was neither refuted nor confirmed at the resolution asked for."


def open_reason(reached: float, asked: float, needed: int) -> str:
    """Why a verdict is INCONCLUSIVE, and what to do."""
    known = f"resolution {reached:.3g}" if reached < 1 else "no resolution below 1"
    takes = f"about {needed:,} samples, or fewer pairs"
    if needed > _MOST:
        takes = "more samples than can be drawn"
    return f"the samples reach {known}, asked for was {asked:g}; that takes {takes}"

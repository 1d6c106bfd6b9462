"""A verdict in one line for those who decide, and as the chain of theorems that it rests on.

The numbers are those of docs/theory; a statement here is the one there in short.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from liptest.errors import InputError, quote
from liptest.verdicts import Decision, Guarantee

#: How much ``explain`` says.
LEVELS = ("line", "text", "theorems")


def check_level(level: str) -> str:
    """Return a level of ``explain``, or raise InputError."""
    if level not in LEVELS:
        raise InputError(
            f"level={quote(level)} must be one of {', '.join(LEVELS)}", name="level", value=level
        )
    return level


_WITNESS = (
    "3.1",
    "Differential privacy on a domain: no neighbouring pair of its datasets is told apart by more "
    "than the claim allows. So one such pair refutes it, whatever the distribution of the data.",
)
_COVER = (
    "3.1",
    "Exception mass: the claim holds for all neighbouring pairs outside a set of datasets that has "
    "this probability at most.",
)
_LIPSCHITZ = (
    "3.2",
    "The group form says that the log of every output probability, divided by epsilon, is a "
    "1-Lipschitz function of the dataset.",
)
_STEPS: dict[str, tuple[tuple[str, str], ...]] = {
    "exhaustive": (
        (
            "3.8",
            "Where a mechanism depends on a statistic alone, the pairs of values that neighbours "
            "can have are enough. For a statistic of your own they are the edges you declare.",
        ),
        ("3.7", "Where every such pair is compared, YES is a proof for the whole domain."),
    ),
    "alignment": (
        (
            "S1",
            "Suppose the noise of every path can be shifted so that a neighbour's data lead along "
            "the same path to the same output, at a price of epsilon at most. Then the program is "
            "epsilon-private for data of every size.",
        ),
        (
            "S2",
            "The price of a shift is the most by which it changes the log of the density. S6 "
            "compares normal noise exactly, and L4 whole noise that the code makes itself.",
        ),
        (
            "S3",
            "A solver proposes a shift; it is solved for and checked in exact fractions. An error "
            "of the solver makes a price too high, or finds none.",
        ),
    ),
    "per-record": (
        (
            "P1",
            "Where the output is a list with one place for each record, each made from that record "
            "and its own random numbers, the loss is that of one record.",
        ),
        ("P2", "What is calculated from such a list alone loses no more than the list."),
    ),
    "refutation": (_WITNESS,),
    "search": (
        ("3.10", "A search can turn YES into NO, since its witness is one; it adds no promise."),
    ),
    "neighbourhoods": (
        _COVER,
        (
            "3.6b",
            "Drawn datasets are compared with all their neighbours. If the claim failed outside "
            "every set of that probability, all draws would be clean only with the failure "
            "probability. The same holds for each record by itself.",
        ),
    ),
    "light-neighbourhoods": (
        _COVER,
        (
            "3.6",
            "Each pair is given to its less likely end, and drawn datasets are compared with the "
            "neighbours given to them. If the claim failed outside every set of that probability, "
            "all draws would be clean only with the failure probability.",
        ),
    ),
    "edges": (
        _COVER,
        (
            "3.5",
            "Pairs are drawn with the probability of their less likely end. If the claim failed "
            "outside every set of that probability, all draws would be clean only with the failure "
            "probability.",
        ),
    ),
    "group": (
        _LIPSCHITZ,
        ("3.4", "One sample serves all outputs: of each draw all outputs are looked at."),
    ),
    "filter": (
        ("3.13", "The local filter makes any query 1-Lipschitz, and leaves those that are alone."),
        ("3.12", "With noise for one step the released answer is epsilon-private."),
    ),
}
_TESTER = (
    _LIPSCHITZ,
    (
        "3.3",
        "The paper's A_test runs a tester for Lipschitz functions on every output: a NO shows a "
        "violating pair, and a mechanism that is far from the claim passes with the failure "
        "probability at most.",
    ),
)
_FIXED = (
    (
        "3.14",
        "Pair and event are chosen on other samples than those that judge them. The bound is that "
        "of a binomial count, without approximation, and all bounds share one chance of error.",
    ),
)
_BETS = (
    (
        "B1",
        "Each sample is a bet on which of two neighbouring datasets it came from. If the claim "
        "held, the winnings would stay below 1 / (chance of error) for ever, but for that chance. "
        "Pairs and sets of outputs may change with every bet.",
    ),
    (
        "B2",
        "The winnings fall as epsilon grows. So the largest epsilon that they refute is a lower "
        "bound of the loss.",
    ),
)
_LOW_BITS = (
    "B5",
    "The lowest bits of floats are among what is compared: sums of floats can be told by them.",
)
_RESOLUTION = (
    "3.14",
    "Samples cannot show what is rarer than their resolution, so it is added to delta, and no "
    "number of them proves pure privacy.",
)
_PAGES = {
    "B": "sequential",
    "S": "size",
    "P": "records",
    "L": "loops",
    "I": "floats",
    "6": "notions",
    "1": "foundations",
}
_KINDS = {
    "proof": "YES, proved",
    "sampling": "YES by sampling, not a proof",
    "refutation": "NO",
    "statistical comparison": "YES by samples, at a resolution, not a proof",
    "statistical refutation": "NO by samples, with a stated chance of error",
    "none": "No answer",
}


def one_line(
    mechanism: str, claim: str, decision: Decision, guarantee: Guarantee, implemented: str
) -> str:
    """A verdict for those who decide; what it leaves open is not left out."""
    kind = _KINDS[guarantee.kind]
    if decision is Decision.INCONCLUSIVE:
        kind = _KINDS["none"]
    said = _first_sentence(guarantee.sentence)
    parts = [f"{mechanism}, {claim}: {kind}. {said}"]
    if guarantee.condition:
        parts.append(f"On a condition: {guarantee.condition}.")
    if implemented:
        parts.append(implemented)
    return " ".join(parts)


def _first_sentence(text: str) -> str:
    """Up to the first full stop that ends a sentence, with a capital letter."""
    first = re.split(r"(?<=[.!])\s+(?=[A-Z])", text, maxsplit=1)[0]
    return f"{first[:1].upper()}{first[1:].rstrip('.')}."


def theorem_lines(
    *,
    method: str,
    decision: Decision,
    guarantee: Guarantee,
    claim: str,
    tolerance: float,
    is_pure: bool,
    law_source: str,
    implemented: str,
    not_covered: Sequence[str],
) -> list[str]:
    """The claim, where output distributions come from, the theorems in order, and what follows."""
    steps = list(_STEPS.get(method, _TESTER))
    if decision is Decision.NO and _WITNESS not in steps:
        steps.append(_WITNESS)
    if not is_pure:
        steps.insert(0, ("6.1", "Each order of each pair is compared by the measure of the claim."))
    if guarantee.kind in ("refutation", "proof"):
        steps.append(("1.5", f"Pairs are compared with the claim at the tolerance {tolerance:g}."))
    lines = [f"Claim: {claim}.", f"Output probabilities: {law_source}."]
    lines += _number(steps)
    lines.append(f"So, by {guarantee.source}: {guarantee.sentence}")
    if implemented:
        lines.append(f"{implemented} (theory I1 to I5, docs/theory/floats.md)")
    return [*lines, *not_covered]


def write_sampled_lines(
    *,
    decision: Decision,
    guarantee: Guarantee,
    claim: str,
    is_sequential: bool,
    with_low_bits: bool,
    not_covered: Sequence[str],
) -> list[str]:
    """The same of a verdict from samples alone."""
    steps = [_WITNESS, *(_BETS if is_sequential else _FIXED)]
    if with_low_bits:
        steps.append(_LOW_BITS)
    if decision is not Decision.NO:
        steps.append(_RESOLUTION)
    lines = [f"Claim: {claim}.", "Output probabilities: estimated from samples."]
    lines += _number(steps)
    lines.append(f"So, by {guarantee.source}: {guarantee.sentence}")
    return [*lines, *not_covered]


def _number(steps: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{n}. {words} ({_place(mark)})" for n, (mark, words) in enumerate(steps, start=1)]


def _place(mark: str) -> str:
    page = _PAGES.get(mark[0], "privacy")
    return f"theory {mark}, docs/theory/{page}.md"

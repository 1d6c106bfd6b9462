"""Sentences: what a verdict promises, and how it is printed."""

from __future__ import annotations

import math
from decimal import Decimal

from liptest.domains import Hypergrid
from liptest.privacy.claims import Claim, exact_text, text_above
from liptest.privacy.witnesses import PrivacyWitness

_IDEAL = (
    "its noise (Laplace, normal, geometric, ..) is taken as ideal and integrated with certified "
    "error bounds, so the rounding of floats in its sampling and in sums with it is not covered"
)
SOURCES = {
    "declared": "declared by the vendor as a formula; its code was not examined, and a release "
    "draws from the formula",
    "enumerated": "enumerated from the code, every random choice followed",
    "enumerated by type": "enumerated from the code, every random choice followed; outputs of "
    "different types, or dicts in another order, are different ones",
    "integrated": f"from the code, every random choice followed; {_IDEAL}",
    "integrated by type": f"from the code, every random choice followed; {_IDEAL}; outputs of "
    "different types, or dicts in another order, are different ones",
}
#: Where the laws of a query with noise come from.
NOISY_QUERY = "the answer of the query, plus exact discrete Laplace noise that liptest draws"
# What a loop without an end leaves of a law, or a tail of NumPy's draws, is less than this.
_TAIL = 2.0**-40
# Below this floats lose digits, then the number; how many digits of a probability are shown.
_SMALLEST, _DIGITS = 1e-300, (6, 9, 12, 17)
NOT_COVERED = "Not covered: timing, side effects, reuse."


def claim_in_words(claim: Claim, change: str, *, distance: str = "") -> str:
    """One clause: what (epsilon, delta)-DP means for one change."""
    factor = math.exp(min(float(claim.epsilon), 700.0))
    plus = f", plus {exact_text(claim.delta)}" if claim.delta else ""
    what = "set of outputs" if claim.delta else "output"
    return (
        f"{change} changes the probability of any {what} by a "
        f"factor of at most e^{exact_text(claim.epsilon)} = {factor:.4g}{plus}{distance}"
    )


def proof_sentence(claim: Claim, change: str, condition: str) -> str:
    """The meaning of a YES by proof."""
    given = f" This rests on a condition: {condition}." if condition else ""
    return (
        f"{claim_in_words(claim, change)}, whatever the data. No sampling, no assumed data "
        f"distribution.{given}"
    )


def sampling_sentence(mass: float, failure: float, *, group: bool, factor: float) -> str:
    """The meaning of a YES by sampling."""
    pairs = "all pairs of datasets, each change counted," if group else "all neighbouring datasets"
    scale = f"at {text_above(factor)} times epsilon " if factor != 1 else ""
    return (
        f"either the claim holds {scale}for {pairs} outside a set of untypical datasets of total "
        f"probability <= {text_above(mass)}, or this test hit an event of probability <= "
        f"{in_words(failure)}. Inside that set, or for data that follow another distribution: "
        f"no promise."
    )


def statistic_sentence(statistic: str, pairs: int) -> str:
    """Why the pairs of a statistic's values are enough; ``statistic`` is its quoted name."""
    return (
        f" The mechanism receives only the statistic {statistic}, so the {pairs:,} pairs of its "
        f"neighbouring values cover all neighbouring datasets."
    )


def seen_sentence(what: str, laws: int, pairs: int) -> str:
    """Why the pairs of the values that code was seen to read are enough."""
    return (
        f" On {laws:,} datasets, one for each value, the code was seen to read nothing but {what}, "
        f"so the {pairs:,} pairs of neighbouring values cover all neighbouring datasets."
    )


def excepted_sentence(mass: float, most: int) -> str:
    """Which datasets a filter excepts; nothing when it excepts none."""
    if not mass:
        return ""
    return (
        f" Excepted are datasets on which the filter needs more than {most:,} values of the "
        f"query, where a release fails; they have a total probability <= {mass:.3g}."
    )


def refuted_sentence(claim: Claim) -> str:
    """The meaning of a NO."""
    return (
        f"the mechanism is not private as claimed ({claim}); the witness proves it for any "
        f"distribution of the data."
    )


def open_law_sentence(mass: float) -> str:
    """What to do where up to ``mass`` of the probability of a law was not explored."""
    if mass > _TAIL:
        return "nothing is promised; raise max_leaves= or max_choices=."
    return (
        "nothing is promised. Noise without an end leaves a tail open at every budget, and a claim "
        "with delta=0 with it: bound the noise or clip the output, claim a delta, or hand the "
        "noise over as lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(scale))."
    )


def partial_sentence(sentence: str) -> str:
    """The meaning of the clean part of a run that ended early."""
    return f"less than was asked for, but this much is certified: {sentence}"


def in_words(probability: float) -> str:
    """1e-6 -> "1 in 1,000,000" where that is exact enough, else the number."""
    inverse = 1.0 / probability
    if inverse >= 2 and abs(inverse - round(inverse)) < 1e-6 * inverse:
        return f"1 in {round(inverse):,}"
    return text_above(probability)


def witness_text(witness: PrivacyWitness, relation: str = "") -> str:
    """The witness in the words of the design: which record, which output, both probabilities.

    Datasets whose ``relation`` is one of answers consist of answers.
    """
    lines = [
        f"Two test datasets differ only in {_changed_words(witness, relation)}:",
        f"  {_event_words(witness)}",
        f"  {_loss_words(witness)}",
        "Certain: certified arithmetic, not a statistical estimate.",
    ]
    return "\n".join(lines)


def open_pair_text(witness: PrivacyWitness, relation: str = "") -> str:
    """The pair that an INCONCLUSIVE could not decide: nothing about it is refuted."""
    where = _changed_words(witness, relation)
    lines = [f"Left open: two test datasets that differ only in {where}:"]
    if witness.event:
        lines.append(f"  {_event_words(witness)}")
    lines.append(f"  {open_loss_words(witness)}")
    return "\n".join(lines)


def open_loss_words(witness: PrivacyWitness) -> str:
    """What is known of the loss of an undecided pair, against what the claim allows."""
    claim = witness.claim
    if not witness.event:
        return "outputs that were not explored may tell them apart."
    if claim.delta > 0:
        return (
            f"over the outputs that tell, one law exceeds e^epsilon times the other by "
            f"{max(witness.excess, 0.0):.6g} or more; the claim allows {claim.delta:g}."
        )
    limit = claim.threshold * witness.distance
    if math.isinf(witness.loss_upper):
        return f"loss {witness.loss_lower:.9g} or more; the claim allows {limit:.9g}."
    return (
        f"loss between {witness.loss_lower:.9g} and {witness.loss_upper:.9g}; the claim allows "
        f"{limit:.9g}."
    )


def _changed_words(witness: PrivacyWitness, relation: str) -> str:
    where = ", ".join(str(i) for i in witness.changed[:6])
    values = ", ".join(
        f"{witness.dataset[i]} / {witness.neighbour[i]}" for i in witness.changed[:6]
    )
    noun = coordinate_noun(relation)
    plural = "" if len(witness.changed) == 1 else "s"
    return f"{noun}{plural} {where} ({values}){_ones(witness)}"


def _event_words(witness: PrivacyWitness) -> str:
    event = f"output {witness.output!r}"
    if len(witness.event) > 1:
        event = f"one of {len(witness.event)} outputs"
    left, right = _both_probabilities(witness)
    return f"{event}: probability {left} against {right}"


def _both_probabilities(witness: PrivacyWitness) -> tuple[str, str]:
    """In so many digits that they differ where they do; floats have no number below 1e-308."""
    numbers: list[float | Decimal] = [witness.probability, witness.neighbour_probability]
    for side, text in enumerate(witness.exact):
        middle = text[1:].split()[0].rstrip("]") if text.startswith("[") else ""
        # "[+/- radius]" has none: nothing is known but that it is small.
        if numbers[side] < _SMALLEST and middle not in ("", "+/-"):
            numbers[side] = Decimal(middle)
    for digits in _DIGITS:
        left, right = (f"{number:.{digits}g}" for number in numbers)
        if left != right:
            break
    return left, right


def _ones(witness: PrivacyWitness) -> str:
    # A long table of bits is best told by its sum.
    if len(witness.dataset) < 20 or max(witness.dataset + witness.neighbour) > 1:
        return ""
    return f", {sum(witness.dataset)} ones against {sum(witness.neighbour)}"


def _loss_words(witness: PrivacyWitness) -> str:
    claim = witness.claim
    if claim.delta > 0:
        return (
            f"over the outputs that tell, one law exceeds e^epsilon times the other by at least "
            f"{witness.excess:.6g}, claim {claim.delta:g}."
        )
    if math.isinf(witness.loss_lower):
        which = "second" if witness.neighbour_probability == 0 else "first"
        return f"Seeing it rules out the {which} dataset: loss infinite, claim {claim}."
    limit = claim.threshold * witness.distance
    if witness.loss_lower <= limit:
        return (
            f"loss {witness.loss_lower:.9g}, and without bound further out: more than "
            f"{limit:.9g} (claim {claim})."
        )
    return f"loss {witness.loss_lower:.9g}, more than {limit:.9g} (claim {claim})."


def coordinate_noun(relation: str) -> str:
    """What one coordinate of a dataset is, by the domain's relation: record, count or answer."""
    if "answer" in relation:
        return "answer"
    return "count" if relation == Hypergrid.relation else "record"


def counted(number: int, noun: str) -> str:
    """The number with its noun: 1 dataset, 2 datasets."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

"""What a certificate says in words and numbers that follow from its verdict and domain.

These parts are written for readers. Nobody has to believe them: they are made again from the rest
and compared.
"""

from __future__ import annotations

import re
from typing import Any

from liptest.answers import AllAnswers, OneAnswer
from liptest.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.errors import InputError, shown
from liptest.privacy.claims import text_above
from liptest.privacy.verdicts import BY_FILTER, PrivacyVerdict
from liptest.privacy.wording import (
    excepted_sentence,
    partial_sentence,
    proof_sentence,
    refuted_sentence,
    sampling_sentence,
    seen_sentence,
    statistic_sentence,
)
from liptest.verdicts import Decision, rounded_up

_KINDS: dict[str, type[Domain]] = {
    "cube": Hypercube,
    "grid": Hypergrid,
    "records": RecordGrid,
    "answers, all move": AllAnswers,
    "answers, one moves": OneAnswer,
}


def domain_to_json(domain: Domain) -> dict[str, Any]:
    """Kind, dimension, sizes (one number where all are equal) and the neighbours in words.

    InputError for a domain that is not of this package.
    """
    kind = next((key for key, known in _KINDS.items() if type(domain) is known), None)
    if kind is None:
        raise InputError(
            f"domain={domain} is not one of this package, so no certificate can say what its "
            f"neighbours are; the verdict can be written: verdict.to_json()",
            name="domain",
        )
    sizes: Any = domain.sizes[0] if len(set(domain.sizes)) == 1 else list(domain.sizes)
    return {
        "kind": kind,
        "dimension": domain.dimension,
        "sizes": sizes,
        "neighbours": domain.neighbour_words,
    }


def domain_from_json(data: dict[str, Any]) -> Domain:
    """Inverse of ``domain_to_json``; InputError when sizes and dimension contradict each other."""
    kind, dimension, sizes = data["kind"], data["dimension"], data["sizes"]
    if kind == "cube":
        return Hypercube(dimension)
    listed = [sizes] * dimension if isinstance(sizes, int) else sizes
    if len(listed) != dimension:
        raise InputError(f"sizes={shown(sizes)}: {len(listed)} sizes for {dimension} coordinates")
    made: Any = _KINDS[kind]
    domain: Domain = made(listed)
    return domain


def comparison_words(verdict: PrivacyVerdict) -> str:
    """How the outputs of two datasets were compared, in one sentence."""
    if verdict.method == BY_FILTER:
        return "nothing was compared: the noise is wide enough for every query that was filtered"
    if verdict.claim.delta > 0:
        how = "sets of outputs, by the probability of one law beyond e^epsilon times the other's"
    else:
        how = "each output on its own, by the ratio of its two probabilities"
    far = ", k times the loss for datasets k changes apart" if _is_group(verdict) else ""
    return (
        f"{how}{far}; floats screen, exact fractions or certified intervals decide; outputs that "
        f"compare equal are one output, exceptions are outputs by type"
    )


def _is_group(verdict: PrivacyVerdict) -> bool:
    return verdict.guarantee.form == "group"


def release_words(verdict: PrivacyVerdict, releases: int) -> str:
    """What a number of releases satisfy together (theory 3.11)."""
    if verdict.decision is not Decision.YES:
        return "nothing is released"
    guarantee = verdict.guarantee
    epsilon = releases * float(guarantee.epsilon or 0.0)
    delta = max(releases * verdict.claim.delta, guarantee.failure_probability or 0.0)
    mass = guarantee.exception_mass or 0.0
    where = f"off datasets of total probability {text_above(mass)}" if mass else "on every dataset"
    given = f", provided that {guarantee.condition}" if guarantee.condition else ""
    many = "s together" if releases > 1 else ""
    terms = f"({text_above(epsilon)}, {text_above(delta)})"
    return f"{releases} release{many}: {terms}-private {where}{given}"


def sentence_follows(verdict: PrivacyVerdict, domain: Domain) -> bool:
    """Whether the sentence of the guarantee is the one that its numbers give.

    A guarantee that promises nothing says why in its own words; those are not judged.
    """
    guarantee, claim = verdict.guarantee, verdict.claim
    sentence = guarantee.sentence
    mass, failure = guarantee.exception_mass or 0.0, guarantee.failure_probability or 0.0
    if guarantee.kind == "refutation":
        return sentence == refuted_sentence(claim)
    if guarantee.kind == "proof":
        start = proof_sentence(claim, domain.neighbour_words, guarantee.condition)
        return sentence.startswith(start) and _ends_well(verdict, sentence[len(start) :], mass)
    if guarantee.kind == "sampling":
        factor = guarantee.approximation_factor
        group = _is_group(verdict)
        return sentence == sampling_sentence(mass, failure, group=group, factor=factor)
    if guarantee.exception_mass is None:
        return not sentence.startswith(partial_sentence(""))
    certified = sampling_sentence(rounded_up(mass), failure, group=False, factor=1.0)
    return sentence == partial_sentence(certified)


def _ends_well(verdict: PrivacyVerdict, rest: str, mass: float) -> bool:
    if verdict.method == BY_FILTER:
        most = 0 if verdict.settings is None else verdict.settings.parameters.get("max_references")
        return isinstance(most, int) and rest == excepted_sentence(mass, most)
    cost = verdict.cost
    known = statistic_sentence("\n", cost.pairs), seen_sentence("\n", cost.laws, cost.pairs)
    return rest == "" or any(
        re.fullmatch(re.escape(one).replace(re.escape("\n"), ".+"), rest) for one in known
    )

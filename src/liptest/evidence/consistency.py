"""Whether a certificate contradicts itself: what can be checked of it without its mechanism.

Every function gives sentences, nothing when all is well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from liptest.data.domains import Domain
from liptest.errors import InputError, quote
from liptest.evidence import check_witness
from liptest.evidence.certificate import sentence_follows
from liptest.lipschitz.testers import named_tester
from liptest.lipschitz.testers.base import LipschitzTester
from liptest.privacy.claims import Claim
from liptest.privacy.notions import CurveClaim, find_claimed_number, is_part
from liptest.privacy.samples.intervals import certify_mass, clean_draws
from liptest.privacy.searches.notion_witnesses import notion_witness_problems
from liptest.privacy.settings import AT_ANY_SIZE, METHODS
from liptest.privacy.verdicts import BY_FILTER, PROVING, PrivacyVerdict
from liptest.privacy.witnesses import PrivacyWitness
from liptest.verdicts import Decision

# Methods that are not Lipschitz testers.
_NAMED = (*METHODS, *AT_ANY_SIZE, BY_FILTER)
_KINDS = {
    Decision.YES: ("proof", "sampling"),
    Decision.NO: ("refutation",),
    Decision.INCONCLUSIVE: ("none",),
}
#: Floats of a verdict are rounded, and another processor may round them otherwise.
CLOSE = 1e-9


def rebuild_tester(verdict: PrivacyVerdict) -> LipschitzTester | None:
    """The Lipschitz tester of a verdict with its parameters; None for any other method.

    Raises InputError when it takes no such parameters.
    """
    tester = None if verdict.method in _NAMED else named_tester(verdict.method)
    if tester is None:
        return None
    parameters = {} if verdict.settings is None else verdict.settings.parameters
    try:
        made: Any = type(tester)(**parameters)
    except TypeError:
        raise InputError(
            f"parameters={quote(parameters)}: {verdict.method} takes no such parameters"
        ) from None
    return made  # type: ignore[no-any-return]


def verdict_problems(verdict: PrivacyVerdict, domain: Domain) -> list[str]:
    """Where a verdict contradicts itself or its domain."""
    parts = (
        _check_decided,
        _numbers,
        _check_promised,
        _check_counted,
        _check_lost,
        _check_mended,
        _about_domain,
    )
    return [sentence for part in parts for sentence in part(verdict, domain)]


def _check_decided(verdict: PrivacyVerdict, domain: Domain) -> Iterator[str]:
    guarantee = verdict.guarantee
    if guarantee.kind not in _KINDS[verdict.decision]:
        yield f"guarantee: a {verdict.decision} cannot rest on kind={guarantee.kind!r}"
    if (guarantee.kind == "proof") != (
        verdict.decision is Decision.YES and verdict.method in PROVING
    ):
        yield f"guarantee: kind={guarantee.kind!r} does not go with method={verdict.method!r}"
    if verdict.decision is Decision.YES and verdict.witness is not None:
        yield "a YES with a witness against it"
    is_of_floats = verdict.is_decided_by_floats
    if verdict.decision is Decision.NO and verdict.witness is None and not is_of_floats:
        yield "a NO without a witness"
    if verdict.decision is not Decision.INCONCLUSIVE and verdict.reason:
        yield f"reason={quote(verdict.reason)}: only an INCONCLUSIVE has one"
    if verdict.exception_mass_found is not None and verdict.decision is not Decision.NO:
        yield f"exception_mass_found={verdict.exception_mass_found} without a NO"
    if verdict.plan.method != verdict.method:
        yield f"plan: method={verdict.plan.method!r} is not that of the verdict, {verdict.method!r}"
    if verdict.settings is None:
        yield "the settings are missing, so the test cannot be repeated"


def _numbers(verdict: PrivacyVerdict, domain: Domain) -> Iterator[str]:
    guarantee, claim, settings = verdict.guarantee, verdict.claim, verdict.settings
    try:
        tester = rebuild_tester(verdict)
    except InputError as error:
        yield str(error)
        return
    if guarantee.kind == "none" and guarantee.epsilon is None:
        return
    factor = 1.0 if tester is None else float(tester.approximation_factor)
    wanted: dict[str, Any] = {
        "approximation_factor": factor if guarantee.kind == "sampling" else 1.0,
        "tolerance": claim.tolerance,
    }
    if isinstance(claim, Claim):
        wanted["epsilon"] = float(claim.epsilon) * (factor if guarantee.kind == "sampling" else 1.0)
        wanted["delta"] = claim.delta
    else:
        wanted |= {"epsilon": None, "delta": None}
    if guarantee.kind == "sampling" and settings is not None:
        group = tester is not None or verdict.method == "group"
        wanted |= {
            "exception_mass": settings.exception_mass,
            "failure_probability": settings.failure_probability,
            "form": "group" if group else "neighbour",
            "per_record": verdict.method == "neighbourhoods",
        }
    if guarantee.kind == "none" and settings is not None:
        failure = settings.failure_probability
        wanted |= {
            "exception_mass": certify_mass(verdict.cost.draws, failure),
            "failure_probability": failure,
        }
    if guarantee.kind == "proof":
        mass = guarantee.exception_mass if verdict.method == BY_FILTER else 0.0
        wanted |= {"exception_mass": mass, "failure_probability": 0.0, "per_record": mass == 0}
    for name, value in wanted.items():
        stated = getattr(guarantee, name)
        if stated != value:
            yield f"guarantee: {name}={stated}, but what was asked and done gives {value}"


def _check_promised(verdict: PrivacyVerdict, domain: Domain) -> Iterator[str]:
    if not sentence_follows(verdict, domain):
        yield "guarantee: the sentence is not the one that the numbers give"


def _check_counted(verdict: PrivacyVerdict, domain: Domain) -> Iterator[str]:
    cost, plan, settings = verdict.cost, verdict.plan, verdict.settings
    if verdict.method in ("neighbourhoods", "light-neighbourhoods") and settings is not None:
        needed = clean_draws(settings.exception_mass, settings.failure_probability)
        if plan.draws != needed:
            yield f"plan: draws={plan.draws}, but these numbers need {needed}"
    if verdict.guarantee.kind == "sampling" and cost.draws != plan.draws:
        yield f"cost: draws={cost.draws} of {plan.draws} planned ones give no YES"


def _check_lost(verdict: PrivacyVerdict, domain: Domain) -> Iterator[str]:
    claim = verdict.claim
    if not isinstance(claim, Claim):
        yield from _check_measured(verdict)
        return
    limit = claim.threshold
    if verdict.decision is Decision.YES and claim.delta == 0:
        if verdict.largest_loss > limit * (1 + CLOSE):
            yield f"largest_loss={verdict.largest_loss} is more than the claim allows, {limit}"
    elif verdict.decision is Decision.NO and verdict.witness is not None:
        least = verdict.witness.loss_lower / verdict.witness.distance
        if verdict.largest_loss < least * (1 - CLOSE):
            yield f"largest_loss={verdict.largest_loss} is less than that of the witness, {least}"


def _check_mended(verdict: PrivacyVerdict, domain: Domain) -> Iterator[str]:
    remedy, claim = verdict.remedy, verdict.claim
    if remedy is None:
        return
    if verdict.decision is Decision.YES or not isinstance(claim, Claim):
        yield "a remedy that no such verdict has"
        return
    if remedy.epsilon is not None and remedy.epsilon < float(claim.epsilon):
        yield f"remedy: epsilon={remedy.epsilon} is less than what was claimed"
    least = 0.0 if verdict.witness is None else verdict.witness.least_delta
    if remedy.delta is not None and remedy.delta < max(claim.delta, least * (1 - CLOSE)):
        yield f"remedy: delta={remedy.delta} is less than what the witness needs"


def _check_measured(verdict: PrivacyVerdict) -> Iterator[str]:
    """The largest measure of a claim of another form."""
    claim, loss, witness = verdict.claim, verdict.largest_loss, verdict.witness
    limit = find_claimed_number(claim) * (1 + claim.tolerance) * (1 + CLOSE)
    if isinstance(claim, CurveClaim):
        limit = math.inf  # with delta a loss above epsilon may occur
    if verdict.decision is Decision.YES and loss > limit:
        yield f"largest_loss={loss} is more than the claim allows"
    if witness is not None and not is_part(witness.claim, claim):
        yield "witness: it is about another claim than the verdict"
    if verdict.decision is Decision.NO and witness and loss < witness.measured * (1 - CLOSE):
        yield f"largest_loss={loss} is less than the witness shows"


def _about_domain(verdict: PrivacyVerdict, domain: Domain) -> Iterator[str]:
    if verdict.relation != domain.relation:
        yield f"relation={verdict.relation!r} is not that of the domain, {domain.relation!r}"
    missing = verdict.guarantee.not_covered
    if list(missing) != sorted(set(missing)) or any(r >= domain.dimension for r in missing):
        yield f"guarantee: not_covered={quote(missing)} are not coordinates of the domain in order"
    if verdict.method not in _NAMED and named_tester(verdict.method) is None:
        yield (
            f"method={quote(verdict.method)}: liptest has no such method, and no installed package "
            f"offers one, so nothing is repeated"
        )


def witness_problems(document: dict[str, Any], witness: PrivacyWitness) -> tuple[list[str], bool]:
    """What is wrong with the witness of a NO, and whether its numbers alone decide."""
    if not isinstance(witness.claim, Claim) or "points" in document["verdict"]["claim"]:
        return notion_witness_problems(witness), False
    try:
        answer = check_witness.check_certificate(document)
        masses = check_witness.masses(document["verdict"]["witness"])
    except check_witness.Unreadable as error:
        return [f"witness: {error}"], False
    wrong = [*_check_stated(witness, masses), *_check_stated_loss(witness, masses)]
    if answer == check_witness.KEEPS:
        wrong.append("witness: its probabilities do not break the claim")
    return wrong, answer == check_witness.BREAKS


def _check_stated(witness: PrivacyWitness, masses: tuple[Any, Any]) -> Iterator[str]:
    stated = (witness.probability, witness.neighbour_probability)
    names = ("probability", "neighbour_probability")
    for name, number, text, (low, high) in zip(names, stated, witness.exact, masses, strict=True):
        slack = Fraction(CLOSE) * high + Fraction(1, 10**300)
        if not low - slack <= Fraction(number) <= high + slack:
            yield f"witness: {name}={number} lies outside of its own bounds"
        if low == high and text != str(low):
            yield f"witness: exact={text!r}, but the bounds say {low}"


def _check_stated_loss(witness: PrivacyWitness, masses: tuple[Any, Any]) -> Iterator[str]:
    lower, upper = witness.loss_lower, witness.loss_upper
    if not lower <= upper:
        yield f"witness: the loss cannot lie between {lower} and {upper}"
    elif upper <= check_witness.LARGEST_EXPONENT:
        factor = check_witness.exp_bounds(Fraction(upper), 128)[1]
        first, second = masses
        if any(p[0] > factor * q[1] for p, q in ((first, second), (second, first))):
            yield f"witness: its probabilities lose more than loss_upper={upper}"
    claim = witness.claim
    if not isinstance(claim, Claim):
        return
    if claim.delta == 0 and lower < claim.threshold * witness.distance * (1 - CLOSE):
        yield f"witness: loss_lower={lower} does not exceed the claim"
    if claim.delta > 0 and witness.excess < claim.delta_threshold * (1 - CLOSE):
        yield f"witness: excess={witness.excess} does not exceed delta"

"""Whether a certificate holds: by itself, against its mechanism, repeated from its seed.

So does what it says of floats, with the NumPy that is here, and what a certificate of a filter
rests on, as far as it can be looked at (theory 3.13). Documents are explained in
docs/certificates.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from liptest.blackbox.check import check_samples
from liptest.blackbox.samplers import Sampler, check_sampler
from liptest.blackbox.verdicts import BlackBoxVerdict, count_problems
from liptest.data.answers import Answers
from liptest.data.distributions import Distribution, DomainAlone, distribution_or_domain
from liptest.data.domains import Domain, IntArray
from liptest.data.product import ProductDistribution
from liptest.errors import InputError, LiptestError, quote, with_example
from liptest.evidence.certificate import (
    SEED_SOURCES,
    Certificate,
    document_problems,
    identify_data,
    load_certificate,
    read_document,
    versions_here,
)
from liptest.evidence.check_witness import read_rational
from liptest.evidence.consistency import CLOSE, rebuild_tester, verdict_problems, witness_problems
from liptest.floats.records import AsImplemented, ImpossibleOutput
from liptest.mechanisms.additive import DiscreteLaplace
from liptest.mechanisms.base import (
    Mechanism,
    check_mechanism,
    through_densities,
    to_refute,
)
from liptest.mechanisms.shift import ShiftMechanism
from liptest.privacy.check import check_privacy
from liptest.privacy.claims import Claim
from liptest.privacy.judge import make_witness
from liptest.privacy.notions import claim_arguments, find_claimed_number
from liptest.privacy.proofs.by_records import witness_at_place
from liptest.privacy.proofs.noisy_queries import FilteredQuery, epsilon_below, unaffordable_mass
from liptest.privacy.settings import AT_ANY_SIZE, BOTH
from liptest.privacy.verdicts import (
    BY_ALIGNMENT,
    BY_FILTER,
    NOISY_QUERY,
    SEALED_ELSEWHERE,
    PrivacyPlan,
    PrivacyVerdict,
)
from liptest.privacy.witnesses import PrivacyWitness
from liptest.privacy.wording.implemented import float_witness_problems
from liptest.runs.fingerprints import Fingerprint, code_hash, distribution_hash, fingerprint
from liptest.statistics.user_statistic import UserStatistic
from liptest.verdicts import Cost, Decision

# A certificate against its mechanism: hashes compared, witness computed again, test repeated.
#
# Every function gives sentences, nothing when all is well. Counts, decisions and fractions must be
# the same. Floats must agree to nine digits: the exponentials and logarithms of another processor
# may differ in the last one.


# What the clock decides, and what a gate says of its own in other words.
_NOT_COMPARED = ("mechanism", "distribution", "law_source", "witness", "implemented")


def code_problems(known: Fingerprint, now: Fingerprint) -> list[str]:
    """Whether the code is the code that was tested; what differs, where it does."""
    if known == now:
        return []
    parts: list[str] = []
    for what, before, after in (
        ("file", known.files, now.files),
        ("package", known.packages, now.packages),
    ):
        changed = sorted(k for k in {*before, *after} if before.get(k) != after.get(k))
        parts += [f"{what} {name}" for name in changed]
    if known.parameters != now.parameters:
        parts.append("parameters, byte code or closures")
    differ = f"{', '.join(parts[:6])} differ" if parts else "only the hash differs"
    return [f"the code is not the code that was tested (hash differs): {differ}"]


def law_source_problems(verdict: PrivacyVerdict, mechanism: Mechanism) -> list[str]:
    """Whether the laws come from where the certificate says."""
    noisy = isinstance(mechanism, ShiftMechanism) and verdict.law_source == NOISY_QUERY
    # Whether noise was integrated is known only once laws were computed.
    # So are conditions.
    source, _, _ = verdict.law_source.partition("; ")
    stated = re.sub("^(integrated|aligned)", "enumerated", source)
    if noisy or stated == mechanism.source:
        return []
    return [f"law_source={verdict.law_source!r}, but the mechanism's is {mechanism.source!r}"]


def _noise_problems(verdict: PrivacyVerdict, source: str) -> list[str]:
    """Whether laws that were computed again have noise of which the certificate is silent."""
    if not (verdict.law_source.startswith("enumerated") and source.startswith("integrated")):
        return []
    return [f"law_source={verdict.law_source!r}, but the code has noise, and laws are {source!r}"]


def silent_noise_problems(
    verdict: PrivacyVerdict, mechanism: Mechanism, domain: Domain
) -> list[str]:
    """Without a distribution nothing is repeated: at least the two corners show their noise.

    A proof has seen them; a test by sampling may not have drawn them.
    """
    corners = np.stack([np.zeros(domain.dimension), domain.size_array - 1]).astype(domain.dtype)
    asked = mechanism.afresh()  # noise on other datasets is not the test's
    try:
        through_densities(asked, lambda seen: [seen.law(corner) for corner in corners])
    except LiptestError:
        return []  # no answer there, which an interrupted or open test may have met as well
    return _noise_problems(verdict, asked.law_source)


def refutation_problems(verdict: PrivacyVerdict, mechanism: Mechanism, domain: Domain) -> list[str]:
    """Whether the mechanism, asked again, breaks the claim with the witness as it is stated."""
    witness = verdict.witness
    if witness is None:
        return ["a NO without a witness"]
    try:
        # No mechanism need answer outside of its domain.
        ends = domain.check_points([witness.dataset]), domain.check_points([witness.neighbour])
        apart = int(domain.distance(*ends)[0])
        if apart != witness.distance:
            return [f"the witness's datasets are at distance {apart}, not {witness.distance}"]
        if not witness.verify(mechanism):
            return ["the witness does not break the claim on this mechanism"]
        left, right = witness.arrays
        on_path = _find_on_path(mechanism, domain, witness)
        if on_path is not None:
            lines = _witness_differences(witness, on_path)
            return [f"witness: {line}" for line in lines]
        if witness.is_at_place:
            at_place = witness_at_place(mechanism, left, right, witness.claim)
            pair = witness.to_dict(), at_place.to_dict()
            return [f"witness: {line}" for line in _differences(*pair)]
        words = domain.pair_words(witness.dataset, witness.neighbour) or None
        told = to_refute(
            mechanism,
            left,
            lambda numbers: through_densities(
                numbers, lambda seen: _other_numbers(seen, left, right, witness, words)
            ),
            lambda lines: not lines,
        )
        if not told and (
            _is_by_totals(mechanism, left) or mechanism.near_all_numbers(left) is not None
        ):
            return []  # its laws are longer than is listed
        asked = mechanism.afresh()
        through_densities(asked, lambda seen: [seen.law(side) for side in (left, right)])
    except LiptestError as error:
        return [f"the mechanism does not answer for the witness: {error}"]
    return told + _noise_problems(verdict, asked.law_source)


def _find_on_path(
    mechanism: Mechanism, domain: Domain, witness: PrivacyWitness
) -> PrivacyWitness | None:
    """The witness as one path of the code has it, where its laws are longer than is listed."""
    if not isinstance(domain, Answers):
        return None
    from liptest.privacy.searches.dearest_pairs import find_again

    again = find_again(mechanism, domain, witness)
    words = domain.pair_words(witness.dataset, witness.neighbour) or None
    return None if again is None else replace(again, rows=words)


def _is_by_totals(mechanism: Mechanism, dataset: IntArray) -> bool:
    """Whether it is compared by totals of notes of its records."""
    return next(mechanism.by_totals(dataset), None) is not None


def _other_numbers(
    mechanism: Mechanism, left: IntArray, right: IntArray, witness: PrivacyWitness, words: Any
) -> list[str]:
    """What the witness says otherwise than the mechanism now."""
    again = make_witness(mechanism, left, right, witness.claim, witness.distance)
    again = replace(again, rows=words)
    return [f"witness: {line}" for line in _witness_differences(witness, again)]


def repeat_test(
    verdict: PrivacyVerdict, mechanism: Mechanism, distribution: Distribution, known_hash: str
) -> list[str]:
    """Run the test again from its seed; every number that comes out otherwise."""
    if distribution_hash(distribution) != known_hash:
        return ["the distribution is not the one that was tested with (hash differs)"]
    if verdict.method == BY_FILTER:
        return list(filter_problems(verdict, mechanism, distribution))
    return run_again(verdict, mechanism, distribution)


def run_again(
    verdict: PrivacyVerdict, mechanism: Mechanism, distribution: Distribution
) -> list[str]:
    """Every number of a test that comes out otherwise when it is run again from its seed."""
    settings = verdict.settings
    if settings is None:
        return ["the settings are missing, so the test cannot be repeated"]
    try:
        again = check_privacy(
            mechanism.afresh(),
            distribution,
            **claim_arguments(verdict.claim),
            exception_mass=settings.exception_mass,
            failure_probability=settings.failure_probability,
            method=rebuild_tester(verdict) or verdict.method,
            tolerance=verdict.claim.tolerance,
            budget=settings.budget,
            search_laws=settings.search_laws,
            floats=settings.floats or BOTH,
            seed=verdict.seed,
        )
    except LiptestError as error:
        return [f"the test cannot be repeated as it is described: {error}"]
    before, after = _compare(verdict), _compare(again)
    if SEALED_ELSEWHERE in verdict.law_source:
        # A table lists all outputs, also where the code declares none.
        for data in (before, after):
            data["plan"] = {k: v for k, v in data["plan"].items() if k != "paper_laws"}
    problems = [f"repeated from its seed: {line}" for line in _differences(before, after)]
    if verdict.witness is None:
        problems += _noise_problems(verdict, again.law_source)
    if verdict.witness is not None and again.witness is not None:
        lines = _witness_differences(verdict.witness, again.witness)
        problems += [f"repeated from its seed: witness: {line}" for line in lines]
    elif (verdict.witness is None) != (again.witness is None):
        problems.append("repeated from its seed: a witness on one side only")
    return problems


def _witness_differences(before: PrivacyWitness, after: PrivacyWitness) -> Iterator[str]:
    """Random choices are compared where they are told: a sealed table has none."""
    left, right = before.to_dict(), after.to_dict()
    if before.trace is None:
        right["trace"] = None
    return _differences(left, right)


def _compare(verdict: PrivacyVerdict) -> dict[str, Any]:
    data = {key: item for key, item in verdict.to_dict().items() if key not in _NOT_COMPARED}
    data["cost"] = {key: item for key, item in data["cost"].items() if key != "seconds"}
    return data


def _differences(before: Any, after: Any, where: str = "") -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            inner = f"{where}.{key}" if where else key
            yield from _differences(before.get(key), after.get(key), inner)
    elif not _same(before, after, where):
        yield f"{where}: {quote(before)} became {quote(after)}"


def _same(before: Any, after: Any, where: str) -> bool:
    if where == "bounds":
        return len(before) == len(after) and all(map(_close_ends, before, after))
    if where == "exact":
        # Balls depend on the last digit; their ends are among the bounds.
        return all(a == b or "/" not in a + b for a, b in zip(before, after, strict=True))
    floats = isinstance(before, float) and isinstance(after, float)
    if floats and not isinstance(before, bool):
        return math.isclose(before, after, rel_tol=CLOSE, abs_tol=1e-300)
    return type(before) is type(after) and bool(before == after)


def _close_ends(before: list[str], after: list[str]) -> bool:
    """Whether bounds are the same: fractions exactly, ends of intervals to nine digits."""
    for old, new in zip(before, after, strict=True):
        exact = "e" not in old or "e" not in new
        a, b = read_rational(old), read_rational(new)
        if a != b and (exact or abs(a - b) > Fraction(CLOSE) * max(a, b)):
            return False
    return True


#: A certificate, or its text.
AnyCertificate = Certificate[PrivacyVerdict] | Certificate[BlackBoxVerdict] | str


@dataclass
class Examination:
    """What came of looking at a certificate.

    ``problems`` is empty when it holds. ``unchecked`` says what could not be looked at, ``certain``
    whether nothing of that bears on the decision, ``readable`` whether it has the right form.
    """

    problems: list[str]
    checked: list[str]
    unchecked: list[str]
    certain: bool = False
    readable: bool = True


def examine(certificate: AnyCertificate, mechanism: Any = None, data: Any = None) -> Examination:
    """Check a certificate as far as what is given allows; without a mechanism, only itself.

    Parameters
    ----------
    mechanism
        What the certificate is about; for one of samples the sampler.
    data
        The distribution, or for samples the pairs that were listed: to repeat the test from its
        seed. Where a sampler draws from a source of its own it cannot be repeated; then the test is
        made anew, and must give the same answer.

    Raises
    ------
    InputError
        The text is not a certificate of this version, or the mechanism is none.
    """
    examination = Examination([], [], [])
    if isinstance(certificate, str):
        document = read_document(certificate)
        examination.problems += document_problems(document)
        examination.checked.append("schema, digest and everything that follows from the rest")
        try:
            given = load_certificate(document)
        except InputError:
            examination.unchecked.append("anything more: the document cannot be read")
            examination.readable = False
            return examination
    else:
        given, document = certificate, certificate.to_dict()
    _examine_itself(given, document, examination)
    if mechanism is None:
        examination.unchecked.append("whether code gives these answers: no mechanism was named")
    elif isinstance(given.verdict, BlackBoxVerdict):
        _examine_sampler(given, check_sampler(mechanism), data, examination)
    else:
        _examine_mechanism(given, mechanism, data, examination)
    return examination


def _examine_itself(given: Certificate[Any], document: dict[str, Any], found: Examination) -> None:
    code, verdict = given.code, given.verdict
    if code_hash(code.files, code.packages, code.parameters) != code.code:
        found.problems.append("code: the hash is not that of the files, packages and parameters")
    if given.seed_source not in SEED_SOURCES:
        found.problems.append(
            f"seed_source={quote(given.seed_source)} is not one that liptest writes"
        )
    if isinstance(verdict, BlackBoxVerdict):
        found.problems += count_problems(verdict)
        found.checked.append("the counts give the bounds, the bounds the decision")
        return
    if given.domain is not None:
        found.problems += verdict_problems(verdict, given.domain)
        found.problems += find_implemented_problems(verdict, given.domain)
    found.checked.append("guarantee, counts and losses against each other")
    if verdict.implemented is not None and verdict.implemented.witness is not None:
        if given.versions.get("numpy") == versions_here()["numpy"]:
            found.problems += replay_problems(verdict.implemented)
            found.checked.append("the impossible output of the floats, replayed by NumPy alone")
        else:
            found.unchecked.append("the impossible output of the floats: another NumPy is here")
    if verdict.decision is Decision.NO and verdict.witness is not None:
        wrong, decided = witness_problems(document, verdict.witness)
        found.problems += wrong
        if decided:
            found.checked.append("the witness's probabilities break the claim, by rationals alone")
        elif not wrong:
            found.unchecked.append("the witness from its intervals alone: they are too wide")


def _examine_sampler(
    given: Certificate[BlackBoxVerdict], sampler: Sampler, data: Any, found: Examination
) -> None:
    found.problems += code_problems(given.code, fingerprint(sampler))
    found.checked.append("the code is that which was sampled")
    if data is None:
        found.unchecked.append("the counts: no data was given to repeat the test on")
    elif identify_data(data)[0] != given.data_hash:
        found.problems.append(f"data: not what was tested ({given.data_source})")
    else:
        _repeat_sampling(given.verdict, sampler, data, found)


def _repeat_sampling(
    verdict: BlackBoxVerdict, sampler: Sampler, data: Any, found: Examination
) -> None:
    again = check_samples(sampler, data, **verdict.settings)
    found.certain = True
    if _timeless(again) == _timeless(verdict):
        found.checked.append("the test, repeated from its seed, gives the same counts")
    elif again.decision is verdict.decision:
        found.unchecked.append(
            "the counts themselves: the sampler draws from a source of its own; the test, made "
            "anew, gives the same answer"
        )
    else:
        found.problems.append(
            f"the test, made again, gives {again.decision} and not {verdict.decision}"
        )


def _timeless(verdict: BlackBoxVerdict) -> dict[str, Any]:
    cost = Cost(draws=verdict.cost.draws, pairs=verdict.cost.pairs)
    return replace(verdict, cost=cost, mechanism="").to_dict()


def _examine_mechanism(
    given: Certificate, mechanism: Any, distribution: Distribution | None, found: Examination
) -> None:
    verdict, domain = given.verdict, given.domain
    checked = check_mechanism(mechanism, domain)
    assert domain is not None, "a verdict on a mechanism is about a domain"
    distribution = cast(Distribution | None, distribution_or_domain(distribution))
    found.problems += code_problems(given.code, fingerprint(checked))
    found.problems += law_source_problems(verdict, checked)
    found.checked.append("the code is that which was tested")
    if given.versions != (here := versions_here()):
        found.unchecked.append(
            f"what other versions change: written by {given.versions}, not {here}"
        )
    if given.decision is Decision.NO and not verdict.is_decided_by_floats:
        found.problems += refutation_problems(verdict, checked, domain)
        found.checked.append("the mechanism, asked again, breaks the claim on the witness")
        found.certain = True
    if verdict.implemented is not None and verdict.implemented.witness is not None:
        told = float_witness_problems(checked, verdict.implemented.witness)
        found.problems += [f"implemented: {line}" for line in told]
        found.checked.append(
            "from its state an unmodified generator of NumPy gives the impossible output, and no "
            "grid point does on the neighbour"
        )
        found.certain |= verdict.is_decided_by_floats
    if given.decision is Decision.INCONCLUSIVE and verdict.was_cut_off:
        found.unchecked.append("where the run was interrupted: that cannot be repeated")
    elif distribution is None and verdict.method in AT_ANY_SIZE:
        found.problems += run_again(verdict, checked, DomainAlone(domain))
        found.checked.append("the proof or search, made again, gives the same numbers")
        found.certain = True
    elif distribution is None:
        _look_for_noise(given.verdict, domain, checked, found)
        found.unchecked.append("seed and counts: no distribution was given to repeat the test on")
    elif distribution.domain != domain:
        found.problems.append(f"the domain is {distribution.domain}, not {domain}")
    else:
        found.problems += repeat_test(verdict, checked, distribution, given.data_hash)
        _note_repetition(verdict, distribution, found)


def _look_for_noise(
    verdict: PrivacyVerdict, domain: Domain, mechanism: Mechanism, found: Examination
) -> None:
    # The witness of a NO was computed again; the source of an alignment says what is ideal.
    if verdict.decision is Decision.NO or verdict.method == BY_ALIGNMENT:
        return
    silent = silent_noise_problems(verdict, mechanism, domain)
    guarantee = verdict.guarantee
    if guarantee.kind == "proof" and not guarantee.condition:
        found.problems += silent
    else:  # the datasets that were tested may have none
        found.unchecked += silent


def _note_repetition(
    verdict: PrivacyVerdict, distribution: Distribution, found: Examination
) -> None:
    found.certain = True
    if verdict.method == BY_FILTER:
        found.checked.append("filter, noise and excepted mass are as wide as the promise needs")
        found.unchecked.append(f"its condition: {verdict.guarantee.condition}")
    else:
        found.checked.append("the test, repeated from its seed, gives the same numbers")
    if distribution.source != verdict.distribution:
        found.unchecked.append(f"where the distribution came from: {quote(verdict.distribution)}")


@with_example('lt.verify(Path("cert.json").read_text(), count)')
def verify(certificate: AnyCertificate, mechanism: Any, data: Any = None) -> bool:
    """Whether a certificate holds for a mechanism; ``problems`` says what is wrong."""
    return not problems(certificate, mechanism, data)


def problems(certificate: AnyCertificate, mechanism: Any, data: Any = None) -> list[str]:
    """What is wrong with a certificate, in sentences; nothing when it holds.

    The document must agree with itself and the hash of the code with the code; a NO's witness is
    recomputed; with ``data`` the test is replayed from its seed and every number compared.

    Raises
    ------
    InputError
        The certificate was not written by liptest.
    """
    return examine(certificate, mechanism, data).problems


#: Its name of old for a certificate of samples.
examine_samples = examine


def find_implemented_problems(verdict: PrivacyVerdict, domain: Domain) -> Iterator[str]:
    """Where the line about the floats contradicts itself or the domain."""
    outcome = verdict.implemented
    if outcome is None:
        return
    if outcome.decision is Decision.NO and outcome.witness is None and outcome.loss is None:
        yield "implemented: a NO without a witness"
    if outcome.decision is Decision.YES and (outcome.witness is not None or outcome.loss is None):
        yield "implemented: a YES without the losses that it rests on"
    if outcome.loss is not None and not outcome.loss[0] <= outcome.loss[1]:
        yield f"implemented: the loss cannot lie between {outcome.loss[0]} and {outcome.loss[1]}"
    if outcome.witness is not None:
        yield from _about_domain(outcome.witness, domain)


def _about_domain(witness: ImpossibleOutput, domain: Domain) -> Iterator[str]:
    try:
        ends = domain.check_points([witness.dataset]), domain.check_points([witness.neighbour])
    except LiptestError as error:
        yield f"implemented: the datasets of the witness: {error}"
        return
    if int(domain.distance(*ends)[0]) != 1:
        yield "implemented: the datasets of the witness are not neighbours"
    elif witness.rows not in (None, domain.pair_words(witness.dataset, witness.neighbour)):
        yield "implemented: the words on the rows of the witness are not those of its datasets"


def replay_problems(found: AsImplemented | None) -> list[str]:
    """What the NumPy that is here does otherwise than a witness says, without the code."""
    if found is None or found.witness is None:
        return []
    try:
        told = found.witness.problems()
    except (LiptestError, ArithmeticError, ValueError) as error:
        told = [f"it cannot be replayed: {error}"]
    return [f"implemented: {line}" for line in told]


_SOURCE = "theory 3.13"
# Floats of a verdict are rounded, and another processor may round them otherwise.
_CLOSE = 1e-9


def filter_problems(
    verdict: PrivacyVerdict, mechanism: Mechanism, distribution: Distribution
) -> Iterator[str]:
    """What a YES by a filter rests on (theory 3.13), as far as it can be looked at.

    The released law is k + noise: k of a query that liptest filters on this distribution, noise of
    scale at least K / epsilon for the K by which the filtered k changes between neighbours.
    """
    query = _filter(mechanism)
    if query is None or not isinstance(mechanism, ShiftMechanism):
        yield "method=filter: the mechanism is not a filtered query with discrete Laplace noise"
        return
    yield from _find_untested_problems(verdict)
    noise, claim = mechanism.noise, verdict.claim
    if not isinstance(claim, Claim):
        yield f"method=filter: no filter is made for claim={claim}"
        return
    assert isinstance(noise, DiscreteLaplace)
    if noise.scale * epsilon_below(claim.epsilon) < query.grid.steps:
        yield "method=filter: the noise is narrower than the claim needs"
    if distribution_hash(query.distribution) != distribution_hash(distribution):
        yield "method=filter: the filter is made for another distribution"
    settings = verdict.settings
    most = None if settings is None else settings.parameters.get("max_references")
    if most != query.max_references or not isinstance(distribution, ProductDistribution):
        yield f"method=filter: max_references={quote(most)}, but it is {query.max_references}"
        return
    excepted, stated = unaffordable_mass(distribution, most), verdict.guarantee.exception_mass
    if stated is None or not math.isclose(excepted, stated, rel_tol=_CLOSE):
        yield f"guarantee: exception_mass={stated}, but datasets of mass {excepted} are excepted"
    if settings is not None and excepted > settings.exception_mass:
        yield f"guarantee: exception_mass={excepted} is more than was allowed"


def _find_untested_problems(verdict: PrivacyVerdict) -> Iterator[str]:
    seconds = verdict.cost.seconds
    nothing = Cost(seconds=seconds), PrivacyPlan(BY_FILTER, 0, 0.0, 0.0, _SOURCE), 0
    if (verdict.cost, verdict.plan, verdict.seed) != nothing:
        yield "method=filter: nothing was drawn or counted, but the verdict has counts or a seed"
    if verdict.guarantee.source != _SOURCE:
        yield f"guarantee: source={verdict.guarantee.source!r}, but a filter's is another"
    if verdict.largest_loss != find_claimed_number(verdict.claim):
        yield f"largest_loss={verdict.largest_loss}, but the noise is made for the claim"


def _filter(mechanism: Mechanism) -> FilteredQuery | None:
    if type(mechanism) is not ShiftMechanism or type(mechanism.noise) is not DiscreteLaplace:
        return None
    statistic = mechanism.statistic
    query = statistic.compute if type(statistic) is UserStatistic else None
    return query if type(query) is FilteredQuery else None

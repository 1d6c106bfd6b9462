"""A certificate against its mechanism: hashes compared, witness asked for again, test repeated.

Every function gives sentences, nothing when all is well. Counts, decisions and fractions must be
the same. Floats must agree to nine digits: the exponentials and logarithms of another processor
may differ in the last one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.certificates.consistency import rebuilt_tester
from liptest.check_witness import rational
from liptest.distributions import Distribution, ProductDistribution
from liptest.domains import Domain
from liptest.errors import LiptestError, shown
from liptest.fingerprints import Fingerprint, distribution_hash
from liptest.mechanisms.base import Mechanism, through_densities
from liptest.mechanisms.noise import DiscreteLaplace
from liptest.mechanisms.shift import ShiftMechanism
from liptest.noisy_queries import FilteredQuery, epsilon_below, unaffordable_mass
from liptest.privacy.check import check_privacy
from liptest.privacy.judge import witness_of
from liptest.privacy.verdicts import BY_FILTER, PrivacyPlan, PrivacyVerdict
from liptest.privacy.wording import NOISY_QUERY
from liptest.statistics.user_statistic import UserStatistic
from liptest.verdicts import Cost

_CLOSE = 1e-9
_FILTER_SOURCE = "theory 3.13"
# What the clock decides, and what a gate says of its own in other words.
_NOT_COMPARED = ("mechanism", "distribution", "law_source", "witness")


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
    # Whether noise was integrated is known only once laws were asked for.
    stated = verdict.law_source.replace("integrated", "enumerated", 1)
    if noisy or stated == mechanism.source:
        return []
    return [f"law_source={verdict.law_source!r}, but the mechanism's is {mechanism.source!r}"]


def _noise_problems(verdict: PrivacyVerdict, source: str) -> list[str]:
    """Whether laws that were asked for again have noise of which the certificate is silent."""
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
    asked = _afresh(mechanism)
    try:
        through_densities(asked, lambda seen: [seen.law(corner) for corner in corners])
    except LiptestError:
        return []  # no answer there, which an interrupted or open test may have met as well
    return _noise_problems(verdict, getattr(asked, "law_source", asked.source))


def _afresh(mechanism: Any) -> Any:
    """The mechanism as if nothing had been asked: noise on other datasets is not the test's."""
    return mechanism.afresh() if hasattr(mechanism, "afresh") else mechanism


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
        kind = np.min_scalar_type(-1 - max(*witness.dataset, *witness.neighbour))
        left, right = (np.array(side, dtype=kind) for side in (witness.dataset, witness.neighbour))
        again = through_densities(
            mechanism,
            lambda seen: witness_of(seen, left, right, witness.claim, witness.distance),
        )
        asked = _afresh(mechanism)
        through_densities(asked, lambda seen: [seen.law(side) for side in (left, right)])
    except LiptestError as error:
        return [f"the mechanism does not answer for the witness: {error}"]
    told = [f"witness: {line}" for line in _differences(witness.to_dict(), again.to_dict())]
    return told + _noise_problems(verdict, getattr(asked, "law_source", asked.source))


def repeated(
    verdict: PrivacyVerdict, mechanism: Mechanism, distribution: Distribution, known_hash: str
) -> list[str]:
    """Run the test again from its seed; every number that comes out otherwise."""
    if distribution_hash(distribution) != known_hash:
        return ["the distribution is not the one that was tested with (hash differs)"]
    if verdict.method == BY_FILTER:
        return list(filter_problems(verdict, mechanism, distribution))
    settings = verdict.settings
    if settings is None:
        return ["the settings are missing, so the test cannot be repeated"]
    try:
        again = check_privacy(
            _afresh(mechanism),
            distribution,
            epsilon=verdict.claim.epsilon,
            delta=verdict.claim.delta,
            exception_mass=settings.exception_mass,
            failure_probability=settings.failure_probability,
            method=rebuilt_tester(verdict) or verdict.method,
            tolerance=verdict.claim.tolerance,
            budget=settings.budget,
            search_laws=settings.search_laws,
            seed=verdict.seed,
        )
    except LiptestError as error:
        return [f"the test cannot be repeated as it is described: {error}"]
    before, after = _compared(verdict), _compared(again)
    told = [f"repeated from its seed: {line}" for line in _differences(before, after)]
    if verdict.witness is None:
        told += _noise_problems(verdict, again.law_source)
    if verdict.witness is not None and again.witness is not None:
        lines = _differences(verdict.witness.to_dict(), again.witness.to_dict())
        told += [f"repeated from its seed: witness: {line}" for line in lines]
    elif (verdict.witness is None) != (again.witness is None):
        told.append("repeated from its seed: a witness on one side only")
    return told


def _compared(verdict: PrivacyVerdict) -> dict[str, Any]:
    data = {key: item for key, item in verdict.to_dict().items() if key not in _NOT_COMPARED}
    data["cost"] = {key: item for key, item in data["cost"].items() if key != "seconds"}
    return data


def filter_problems(
    verdict: PrivacyVerdict, mechanism: Mechanism, distribution: Distribution
) -> Iterator[str]:
    """What a YES by a filter rests on (theory 3.13), as far as it can be looked at.

    The released law is k + noise: k of a query that liptest filters on this distribution, noise of
    scale at least K / epsilon for the K by which the filtered k changes between neighbours.
    """
    query = _filtered(mechanism)
    if query is None or not isinstance(mechanism, ShiftMechanism):
        yield "method=filter: the mechanism is no filtered query with discrete Laplace noise"
        return
    yield from _untested_problems(verdict)
    noise = mechanism.noise
    assert isinstance(noise, DiscreteLaplace)
    if noise.scale * epsilon_below(verdict.claim.epsilon) < query.grid.steps:
        yield "method=filter: the noise is narrower than the claim needs"
    if distribution_hash(query.distribution) != distribution_hash(distribution):
        yield "method=filter: the filter is made for another distribution"
    settings = verdict.settings
    most = None if settings is None else settings.parameters.get("max_references")
    if most != query.max_references or not isinstance(distribution, ProductDistribution):
        yield f"method=filter: max_references={shown(most)}, but it is {query.max_references}"
        return
    excepted, known = unaffordable_mass(distribution, most), verdict.guarantee.exception_mass
    if known is None or not math.isclose(excepted, known, rel_tol=_CLOSE):
        yield f"guarantee: exception_mass={known}, but datasets of mass {excepted} are excepted"
    if settings is not None and excepted > settings.exception_mass:
        yield f"guarantee: exception_mass={excepted} is more than was allowed"


def _untested_problems(verdict: PrivacyVerdict) -> Iterator[str]:
    seconds = verdict.cost.seconds
    nothing = Cost(seconds=seconds), PrivacyPlan(BY_FILTER, 0, 0.0, 0.0, _FILTER_SOURCE), 0
    if (verdict.cost, verdict.plan, verdict.seed) != nothing:
        yield "method=filter: nothing was drawn or counted, but the verdict has counts or a seed"
    if verdict.guarantee.source != _FILTER_SOURCE:
        yield f"guarantee: source={verdict.guarantee.source!r}, but a filter's is another"
    if verdict.largest_loss != float(verdict.claim.epsilon):
        yield f"largest_loss={verdict.largest_loss}, but the noise is made for the claim"


def _filtered(mechanism: Mechanism) -> FilteredQuery | None:
    if type(mechanism) is not ShiftMechanism or type(mechanism.noise) is not DiscreteLaplace:
        return None
    statistic = mechanism.statistic
    query = statistic.compute if type(statistic) is UserStatistic else None
    return query if type(query) is FilteredQuery else None


def _differences(before: Any, after: Any, where: str = "") -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            inner = f"{where}.{key}" if where else key
            yield from _differences(before.get(key), after.get(key), inner)
    elif not _same(before, after, where):
        yield f"{where}: {shown(before)} became {shown(after)}"


def _same(before: Any, after: Any, where: str) -> bool:
    if where == "bounds":
        return len(before) == len(after) and all(map(_close_ends, before, after))
    if where == "exact":
        # Balls depend on the last digit; their ends are among the bounds.
        return all(a == b or "/" not in a + b for a, b in zip(before, after, strict=True))
    floats = isinstance(before, float) and isinstance(after, float)
    if floats and not isinstance(before, bool):
        return math.isclose(before, after, rel_tol=_CLOSE, abs_tol=1e-300)
    return type(before) is type(after) and bool(before == after)


def _close_ends(before: list[str], after: list[str]) -> bool:
    """Whether bounds are the same: fractions exactly, ends of intervals to nine digits."""
    for old, new in zip(before, after, strict=True):
        exact = "e" not in old or "e" not in new
        a, b = rational(old), rational(new)
        if a != b and (exact or abs(a - b) > Fraction(_CLOSE) * max(a, b)):
            return False
    return True

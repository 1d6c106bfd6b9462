"""Two further routes to a release: test the sensitivity of a query, or filter it.

Both release ``step * (k + noise)`` with k = floor(query / step + 1/2) a whole number and exact
discrete Laplace noise, so that no float noise weakens the promise (theory 3.12).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.certificates import certify
from liptest.distributions import Distribution, ProductDistribution, require_product
from liptest.domains import Domain, IntArray
from liptest.errors import check_count, check_positive
from liptest.fingerprints import fingerprint
from liptest.gate import Gate, PrivacyGate, Refused, Released
from liptest.local_filter import LocalFilter
from liptest.mechanisms.noise import DiscreteLaplace
from liptest.mechanisms.shift import ShiftMechanism
from liptest.mechanisms.user_statistic import UserStatistic
from liptest.oracles import as_oracle
from liptest.points import from_array
from liptest.privacy.claims import Claim
from liptest.privacy.verdicts import PrivacyPlan, PrivacyVerdict
from liptest.privacy.wording import proof_sentence
from liptest.verdicts import Cost, Decision, Guarantee


@dataclass(frozen=True, eq=False)
class RoundedQuery:
    """k = floor(query / step + 1/2), the whole number that is tested and released."""

    query: Callable[[IntArray], ArrayLike]
    domain: Domain
    step: float

    def __call__(self, datasets: IntArray) -> NDArray[np.int64]:
        values = as_oracle(self.query, self.domain).values(from_array(datasets))
        return np.asarray(np.floor(values / self.step + 0.5), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class FilteredQuery:
    """k of the filtered query, from its exact value; a fresh filter each time keeps no data."""

    query: Any
    distribution: ProductDistribution
    sensitivity: float
    step: float

    def __call__(self, datasets: IntArray) -> NDArray[np.int64]:
        local = LocalFilter(self.query, self.distribution, lipschitz_constant=self.sensitivity)
        step, half = Fraction(self.step), Fraction(1, 2)
        found = [math.floor(local.exact(dataset) / step + half) for dataset in datasets]
        return np.array(found, dtype=np.int64)


class SensitivityGate(PrivacyGate):
    """Tests that neighbouring datasets change a query by at most ``sensitivity``, then adds noise.

    The route of Jha and Raskhodnikova (JR11), theory 3.12: neighbourhoods of sampled datasets
    are visited (3.6b); after a YES the release is (epsilon, failure_probability)-private off
    datasets of mass at most exception_mass. What is tested is the rounded query k itself,
    |k(x) - k(y)| <= K = ceil(sensitivity / grid_step), which is what is released.

    Parameters
    ----------
    query
        (n, d) datasets -> (n,) floats, ``lt.scalar(f)``, or a table of shape ``domain.sizes``.
    distribution
        Of the data; its domain is the query's.
    sensitivity
        The claimed largest change between neighbours, above 0.
    epsilon
        Of the release; noise of scale K / epsilon in units of ``grid_step``.
    grid_step
        Resolution of the release; None means ``sensitivity``. No privacy budget is lost when
        sensitivity / grid_step is a whole number.
    others
        As for ``PrivacyGate``.
    """

    def __init__(
        self,
        query: Any,
        distribution: Distribution,
        *,
        sensitivity: float,
        epsilon: float,
        grid_step: float | None = None,
        **options: Any,
    ) -> None:
        self._step = _step(sensitivity, grid_step)
        rounded = RoundedQuery(query, distribution.domain, self._step)
        mechanism = _noisy(rounded, sensitivity, self._step, epsilon, "query with noise")
        options.setdefault("method", "neighbourhoods")
        super().__init__(mechanism, distribution, epsilon=epsilon, **options)

    def release(self, dataset: ArrayLike) -> Released | Refused:
        """As ``PrivacyGate.release``; the output is in the units of the query."""
        return _scaled(super().release(dataset), self._step)


class FilterGate(Gate):
    """Releases a query after a local filter has made it Lipschitz: no test, always private.

    Theory 3.13: the filtered query changes by at most ``sensitivity`` between any neighbours,
    for every query, so the release is epsilon-DP on the whole domain. Where the query is
    Lipschitz the filter changes nothing; elsewhere it changes the answer. The work is
    exponential in d in the worst case; a release that needs too much fails with GateError.

    Parameters
    ----------
    query, sensitivity, epsilon, grid_step
        As for ``SensitivityGate``.
    distribution
        A product law; it decides only how much work typical datasets are.
    releases
        How many outputs may be drawn in all.
    """

    def __init__(
        self,
        query: Any,
        distribution: Distribution,
        *,
        epsilon: float,
        sensitivity: float = 1.0,
        grid_step: float | None = None,
        releases: int = 1,
    ) -> None:
        product = require_product(distribution, "FilterGate")
        self._step = _step(sensitivity, grid_step)
        as_oracle(query, product.domain)
        filtered = FilteredQuery(query, product, sensitivity, self._step)
        mechanism = _noisy(filtered, sensitivity, self._step, epsilon, "filtered query with noise")
        code = fingerprint(mechanism)
        verdict = _by_construction(mechanism, product, Claim(epsilon))
        certificate = certify(
            verdict, code, product, own_seed=True, releases=check_count("releases", releases)
        )
        super().__init__(mechanism, product.domain, code, certificate)

    def release(self, dataset: ArrayLike) -> Released | Refused:
        """As ``PrivacyGate.release``; the output is in the units of the query."""
        return _scaled(super().release(dataset), self._step)


def _step(sensitivity: float, grid_step: float | None) -> float:
    bound = check_positive("sensitivity", sensitivity)
    return bound if grid_step is None else check_positive("grid_step", grid_step)


def _noisy(
    rounded: Callable[[IntArray], ArrayLike],
    sensitivity: float,
    step: float,
    epsilon: float,
    name: str,
) -> ShiftMechanism:
    most = math.ceil(Fraction(sensitivity) / Fraction(step))
    scale = Fraction(most) / Fraction(check_positive("epsilon", epsilon))
    return ShiftMechanism(UserStatistic(rounded, name=name), DiscreteLaplace(scale), name=name)


def _scaled(answer: Released | Refused, step: float) -> Released | Refused:
    if isinstance(answer, Refused):
        return answer
    output = answer.output
    assert isinstance(output, int)
    return Released(float(Fraction(step) * output), answer.certificate)


def _by_construction(
    mechanism: ShiftMechanism, distribution: ProductDistribution, claim: Claim
) -> PrivacyVerdict:
    change = distribution.domain.neighbour_words
    guarantee = Guarantee(
        proof_sentence(claim, change, ""),
        "proof",
        "theory 3.13",
        exception_mass=0.0,
        failure_probability=0.0,
        epsilon=float(claim.epsilon),
        delta=0.0,
        per_record=True,
    )
    return PrivacyVerdict(
        decision=Decision.YES,
        mechanism=mechanism.name,
        claim=claim,
        method="filter",
        witness=None,
        guarantee=guarantee,
        cost=Cost(),
        plan=PrivacyPlan("filter", 0, 0.0, 0.0, "theory 3.13"),
        seed=0,
        largest_loss=float(claim.epsilon),
        relation=distribution.domain.relation,
        distribution=distribution.source,
        law_source=mechanism.source,
    )

"""Two further routes to a release: test the sensitivity of a query, or filter it.

Both release ``step * (k + noise)`` with k = floor(query / step + 1/2) a whole number and exact
discrete Laplace noise, so that no float weakens the promise (theory 3.12).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.balls import float_below
from liptest.data.distributions import Distribution, check_distribution, require_product
from liptest.data.domains import Domain, IntArray
from liptest.data.product import ProductDistribution
from liptest.errors import InputError, check_count, check_open_unit
from liptest.evidence.certificate import certify
from liptest.evidence.domain_form import domain_to_dict
from liptest.evidence.ledger import LedgerLike, LedgerRecorder
from liptest.gate.gate import Gate, PrivacyGate, Refused, Released, quietly
from liptest.gate.plain import FAILED, write_text
from liptest.gate.sealed import DOMAINS, MOST_ROWS, RandomBelow, Sealed
from liptest.gate.sealing import Seal, find_words
from liptest.lipschitz.local_filter import MAX_REFERENCES
from liptest.lipschitz.oracles import as_oracle
from liptest.lipschitz.testers.base import LipschitzTester
from liptest.mechanisms.additive import DiscreteLaplace
from liptest.mechanisms.shift import ShiftMechanism
from liptest.privacy.claims import Claim, ExactLog, parse_epsilon
from liptest.privacy.proofs.noisy_queries import (
    FilteredQuery,
    Grid,
    Number,
    OneAtATime,
    RoundedQuery,
    epsilon_below,
    unaffordable_mass,
)
from liptest.privacy.verdicts import (
    BY_FILTER,
    NOISY_QUERY,
    PrivacyPlan,
    PrivacyVerdict,
    Settings,
    proof_sentence,
)
from liptest.privacy.wording.sentences import write_excepted_sentence
from liptest.runs.fingerprints import distribution_hash, fingerprint
from liptest.statistics.user_statistic import UserStatistic
from liptest.verdicts import Cost, Decision, Guarantee

_CONDITION = "the query gives one and the same finite number whenever it is asked about a dataset"


class _QueryGate(Gate):
    """Releases a query k with whole values, filtered or as it is, with noise."""

    _query: ShiftMechanism
    _step: Fraction

    @property
    def mechanism(self) -> ShiftMechanism:
        """What is released: k plus noise, in units of ``grid_step``."""
        return self._query

    def release(self, dataset: ArrayLike, *, key: str | None = None) -> Released | Refused:
        """As ``PrivacyGate.release``; the output is in the units of the query."""
        return _scale(super().release(dataset, key=key), self._step)


class SensitivityGate(_QueryGate, PrivacyGate):
    """Tests that neighbouring datasets change a query by at most ``sensitivity``, then adds noise.

    The route of Jha and Raskhodnikova (JR11), theory 3.12: neighbourhoods of sampled datasets
    are visited (3.6b); after a YES the release is (epsilon, failure_probability)-private off
    datasets of mass at most exception_mass. What is tested is the rounded query k itself,
    |k(x) - k(y)| <= K = ceil(sensitivity / grid_step), which is what is released. A query of
    that sensitivity is never refused.

    A query must give the same float for a dataset whatever batch it comes in, or a tie may be
    rounded otherwise in the release than in the test; whole numbers and ``lt.scalar(f)`` always
    do. The first dataset of every batch is asked twice.

    Parameters
    ----------
    query
        (n, d) datasets -> (n,) floats, ``lt.scalar(f)``, or a table of shape ``domain.sizes``.
    distribution
        Of the data; its domain is the query's.
    sensitivity
        The claimed largest change between neighbours, above 0.
    epsilon
        Of the release; the noise has scale K / epsilon in units of ``grid_step``.
    grid_step
        Resolution of the release; None means ``sensitivity``. Nothing is lost when
        sensitivity / grid_step is whole. Floats count as the binary fractions that they are:
        0.9 / 0.3 is a little more than 3 and K = 4; with ``Fraction(9, 10)`` and
        ``Fraction(3, 10)`` it is 3.
    method
        As for ``check_privacy``, by default "neighbourhoods". A Lipschitz tester is run on k;
        with approximation factor theta the noise is theta times as wide. Its YES is about all
        pairs of datasets, each change counted.
    options
        The others of ``PrivacyGate``: exception_mass, failure_probability, releases, seed,
        ledger, ..

    Raises
    ------
    InputError, FunctionError
        A wrong argument; the query gives NaN, infinity, a wrong shape or another answer.
    """

    def __init__(
        self,
        query: Any,
        distribution: Distribution,
        *,
        sensitivity: Number,
        epsilon: float | str | ExactLog,
        grid_step: Number | None = None,
        method: str | LipschitzTester = "neighbourhoods",
        **options: Any,
    ) -> None:
        domain = check_distribution(distribution).domain
        grid = Grid.of(sensitivity, grid_step)
        claimed = _find_tested_epsilon(parse_epsilon(epsilon), method)
        rounded = RoundedQuery(as_oracle(query, domain), grid.step)
        self._step = grid.step
        self._query = grid.noisy(rounded, claimed, f"{rounded.oracle.name} with noise")
        # The sensitivity is that of typical datasets: a search among others is not part of it.
        options.setdefault("search_laws", 0)
        super().__init__(self._query, distribution, epsilon=claimed, method=method, **options)

    def _word(self, verdict: PrivacyVerdict) -> PrivacyVerdict:
        return replace(verdict, law_source=NOISY_QUERY)


class FilterGate(_QueryGate):
    """Releases a query after a local filter has made it Lipschitz: nothing is tested.

    Theory 3.13: the filtered query changes by at most ``sensitivity`` between any neighbours,
    for every query, so the release is epsilon-DP. Where the query is Lipschitz the filter
    changes nothing; elsewhere it changes the answer.

    The work is exponential in d in the worst case. Where no dataset needs more than
    ``max_references`` values of the query, the promise holds on the whole domain. A release on
    a dataset that needs more fails, which can be seen; such datasets are excepted, and a bound
    of their mass is printed.

    Parameters
    ----------
    query, epsilon, grid_step
        As for ``SensitivityGate``.
    distribution
        A product law. It decides which datasets are cheap and what the excepted ones weigh.
    sensitivity
        The largest change of the filtered query.
    max_references
        Most values of the query that one release may need.
    exception_mass
        Most mass of datasets that may need more.
    releases
        How many outputs may be drawn in all.
    ledger, vendor, private_table
        As for ``PrivacyGate``; the attempt cannot fail and adds nothing.
    trust_code
        As for ``PrivacyGate``: up to 65,536 datasets the query is asked about all of them, and
        what it answered is sealed; of more it has to be asked about the private one.

    Raises
    ------
    InputError
        A wrong argument, no product law, or too many datasets may need more values.
    FunctionError
        At the dataset of zeros the query gives NaN, infinity, a wrong shape or another answer.
    """

    def __init__(
        self,
        query: Any,
        distribution: Distribution,
        *,
        epsilon: float | str | ExactLog,
        sensitivity: Number = 1.0,
        grid_step: Number | None = None,
        max_references: int = MAX_REFERENCES,
        exception_mass: float = 1e-3,
        releases: int = 1,
        ledger: LedgerLike = None,
        vendor: str | None = None,
        private_table: str | None = None,
        trust_code: bool = False,
    ) -> None:
        law = require_product(check_distribution(distribution), "FilterGate")
        grid = Grid.of(sensitivity, grid_step)
        claim = Claim(parse_epsilon(epsilon), tolerance=0.0)
        most, count = (
            check_count("max_references", max_references),
            check_count("releases", releases),
        )
        single = OneAtATime(as_oracle(query, law.domain))
        single(np.zeros((1, law.domain.dimension), dtype=law.domain.dtype))
        limit = check_open_unit("exception_mass", exception_mass)
        excepted = _affordable(law, most, limit)
        filtered = FilteredQuery(single, law, grid, most)
        self._step = grid.step
        _require_few(law, trust_code)
        self._query = grid.noisy(filtered, claim.epsilon, f"filtered {single.oracle.name}")
        code = fingerprint(self._query)
        verdict = _by_construction(self._query, law, claim, excepted, most, limit)
        recorder = LedgerRecorder.of_gate(ledger, vendor=vendor, private_table=private_table)
        recorder.begin(self._query, code, law, claim, 0.0)
        own_seal = _seal_query(single, filtered, self._query, Seal(trusts_code=trust_code))
        certificate = certify(
            verdict,
            code,
            law,
            own_seed=True,
            releases=count,
            release_source=own_seal.words,
        )
        super().__init__(self._query, law.domain, code, certificate, recorder, own_seal)
        self._law = law


@dataclass(frozen=True, eq=False)
class SealedFilter(Sealed):
    """A table of a query's answers on all datasets, filtered and made noisy by this package."""

    domain: Domain
    answers: NDArray[np.float64]
    filtered: FilteredQuery
    noise: DiscreteLaplace
    name: str

    @cached_property
    def mechanism(self) -> ShiftMechanism:
        table = as_oracle(self.answers.reshape(self.domain.sizes), self.domain)
        whole = replace(self.filtered, query=OneAtATime(table))
        return ShiftMechanism(UserStatistic(whole, name=self.name), self.noise, name=self.name)

    @property
    def words(self) -> str:
        return f"a table of {len(self.answers):,} answers of the query, filtered, + {self.noise!r}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "sealed": "filter",
            "domain": domain_to_dict(self.domain),
            "answers": [float(answer).hex() for answer in self.answers],
            "grid": [str(self.filtered.grid.sensitivity), str(self.filtered.grid.step)],
            "distribution": distribution_hash(self.filtered.distribution),
            "max_references": self.filtered.max_references,
            "scale": str(self.noise.scale),
        }

    def draw(self, dataset: IntArray, below: RandomBelow) -> str:
        failed, text = quietly(lambda: write_text(self.mechanism.draw(dataset, below)))
        return FAILED if failed else str(text)


def _seal_query(
    single: OneAtATime, filtered: FilteredQuery, mechanism: ShiftMechanism, found: Seal
) -> Seal:
    domain = filtered.distribution.domain
    if domain.size > MOST_ROWS:
        return replace(found, reason="too many datasets")
    try:
        answers = np.concatenate([single(block) for block in domain.all_points(1 << 10)])
    except Exception as error:
        reason = f"the query has no answer on some dataset: {find_words(error)}"
        return replace(found, reason=reason)
    noise = mechanism.noise
    assert isinstance(noise, DiscreteLaplace)
    name = f"filtered {single.oracle.name}"
    return replace(found, sealed=SealedFilter(domain, answers, filtered, noise, name))


def _require_few(distribution: ProductDistribution, trust_code: bool) -> None:
    domain = distribution.domain
    if trust_code is not True and (type(domain) not in DOMAINS or domain.size > MOST_ROWS):
        raise InputError(
            f"trust_code={trust_code}: {domain} has more than {MOST_ROWS:,} datasets, so that the "
            f"answers of the query cannot be sealed before private data are opened; group the "
            f"records into fewer counts, or, if you trust the query's author, trust_code=True",
            name="trust_code",
        )


def _find_tested_epsilon(
    epsilon: float | ExactLog, method: str | LipschitzTester
) -> float | ExactLog:
    """A tester of factor theta certifies theta times what it tests (theory 3.12)."""
    if isinstance(method, (str, type)) or not isinstance(method, LipschitzTester):
        return epsilon
    factor = Fraction(method.approximation_factor)
    return epsilon if factor == 1 else float_below(epsilon_below(epsilon) / factor)


def _affordable(distribution: ProductDistribution, most: int, limit: float) -> float:
    mass = unaffordable_mass(distribution, most)
    if mass > limit:
        raise InputError(
            f"max_references={most}: the filter may need more values of the query on datasets of "
            f"total probability up to {mass:.3g}, above exception_mass={limit:g}; group the "
            f"records into fewer counts, raise max_references, or use SensitivityGate",
            name="max_references",
            value=most,
        )
    return mass


def _scale(answer: Released | Refused, step: Fraction) -> Released | Refused:
    if isinstance(answer, Refused):
        return answer
    output = answer.output
    assert isinstance(output, int)
    return replace(answer, output=float(step * output))


def _by_construction(
    mechanism: ShiftMechanism,
    distribution: ProductDistribution,
    claim: Claim,
    excepted: float,
    most: int,
    limit: float,
) -> PrivacyVerdict:
    sentence = proof_sentence(claim, distribution.domain, _CONDITION)
    sentence += write_excepted_sentence(excepted, most)
    return PrivacyVerdict(
        decision=Decision.YES,
        mechanism=mechanism.name,
        claim=claim,
        method=BY_FILTER,
        witness=None,
        guarantee=Guarantee(
            sentence,
            "proof",
            "theory 3.13",
            exception_mass=excepted,
            failure_probability=0.0,
            epsilon=float(claim.epsilon),
            delta=0.0,
            per_record=excepted == 0,
            condition=_CONDITION,
        ),
        cost=Cost(),
        plan=PrivacyPlan(BY_FILTER, 0, 0.0, 0.0, "theory 3.13"),
        seed=0,
        largest_loss=float(claim.epsilon),
        relation=distribution.domain.relation,
        distribution=distribution.source,
        law_source=NOISY_QUERY,
        settings=Settings(limit, 0.0, parameters={"max_references": most}),
    )

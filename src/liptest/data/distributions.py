"""Distributions of the data: product laws with exact masses, and samplers of any other law."""

from __future__ import annotations

from typing import Any

import numpy as np

from liptest.data.domains import Domain, IntArray, require_one_at_a_time
from liptest.data.product import ProductDistribution
from liptest.data.sampled import SampledDistribution
from liptest.data.tables import AddedRows, RowsOfUsers
from liptest.errors import InputError, quote

Distribution = ProductDistribution | SampledDistribution


class DomainAlone(SampledDistribution):
    """A domain in the place of a distribution: enough for proofs and for refutations.

    What looks for a violation draws from it, anything on the domain as likely as anything else;
    nothing may be promised on such draws.
    """

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain, _UniformDraws(domain), source="no distribution")

    def __repr__(self) -> str:
        return f"no distribution on {self.domain}"

    def __reduce__(self) -> tuple[Any, ...]:
        return DomainAlone, (self.domain,)


class _UniformDraws:
    def __init__(self, domain: Domain) -> None:
        self._sizes = domain.size_array

    def __call__(self, n: int, rng: np.random.Generator) -> IntArray:
        return rng.integers(0, self._sizes, (n, len(self._sizes)))


def distribution_or_domain(given: object) -> object:
    """What stands for a domain in the place of a distribution; all else as it is."""
    return DomainAlone(given) if isinstance(given, Domain) else given


def require_draws(distribution: Distribution, who: str) -> None:
    """Raise InputError where ``who`` draws datasets and there is only a domain."""
    if isinstance(distribution, DomainAlone):
        raise InputError(
            f"{who} draws datasets, so it needs a distribution, not the domain "
            f"{distribution.domain} alone: give lt.ProductDistribution.fit(public_data, ..), or "
            f"lt.ProductDistribution.uniform({distribution.domain})",
            name="distribution",
            value=distribution.domain,
        )


def check_distribution(
    distribution: object, domain: Domain | None = None, *, together: bool = False
) -> Distribution:
    """Return a distribution, or raise InputError when it is none or lives on another domain.

    ``together``: the caller also knows domains whose neighbours differ in several coordinates.
    """
    if not isinstance(distribution, (ProductDistribution, SampledDistribution)):
        # Data themselves are not shown: they may be private.
        is_plain = isinstance(distribution, (str, int, float, type))
        what = quote(distribution) if is_plain else f"<{type(distribution).__name__}>"
        if callable(distribution) and not isinstance(distribution, type):
            raise InputError(
                f"distribution={what} can be called, as a mechanism is: the mechanism comes first, "
                f"then the data, as in lt.check_privacy(count, lt.Hypercube(5000), epsilon=1)",
                name="distribution",
            )
        raise InputError(
            f"distribution={what} must be a ProductDistribution or a SampledDistribution, or in a "
            f"check a domain alone, as lt.Hypercube(5000), lt.RecordGrid([8] * 5000) or "
            f"lt.Table(..); data themselves are not given",
            name="distribution",
        )
    if not together:
        require_one_at_a_time(distribution.domain, "this analysis")
    if domain is not None and distribution.domain != domain:
        raise InputError(
            f"distribution is on {distribution.domain}, not on {domain}; build it on the "
            f"domain of what is tested",
            name="distribution",
        )
    return distribution


def require_tables(distribution: Distribution) -> None:
    """Raise InputError for a product law of slots that rows may leave.

    Many vectors of slots stand for one table, so masses of vectors are not those of tables
    (docs/theory/tables.md, B2).
    """
    is_of_slots = isinstance(distribution.domain, (AddedRows, RowsOfUsers))
    if is_of_slots and isinstance(distribution, ProductDistribution):
        raise InputError(
            "distribution: a product law of slots is not one of tables whose rows come and go: "
            "give the lt.Table itself, or lt.SampledDistribution.of_rows(table, public_frame)",
            name="distribution",
        )


def require_product(distribution: Distribution, who: str) -> ProductDistribution:
    """Return the distribution if it is a product law, else raise InputError naming ``who``."""
    if not isinstance(distribution, ProductDistribution):
        raise InputError(
            f"{who} needs a ProductDistribution, got {distribution!r}; "
            f"for other laws use method='neighbourhoods'",
            name="distribution",
        )
    return distribution

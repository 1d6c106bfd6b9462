"""Distributions of the data: product laws with exact masses, and samplers of any other law."""

from __future__ import annotations

from liptest.data.domains import Domain, require_one_at_a_time
from liptest.data.product import ProductDistribution
from liptest.data.sampled import SampledDistribution
from liptest.errors import InputError, shown

Distribution = ProductDistribution | SampledDistribution


def check_distribution(
    distribution: object, domain: Domain | None = None, *, together: bool = False
) -> Distribution:
    """Return a distribution, or raise InputError when it is none or lives on another domain.

    ``together``: the caller also knows domains whose neighbours differ in several coordinates.
    """
    if not isinstance(distribution, (ProductDistribution, SampledDistribution)):
        raise InputError(
            f"distribution={shown(distribution)} must be a ProductDistribution or a "
            f"SampledDistribution, for example ProductDistribution.uniform(Hypercube(10))",
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


def require_product(distribution: Distribution, who: str) -> ProductDistribution:
    """Return the distribution if it is a product law, else raise InputError naming ``who``."""
    if not isinstance(distribution, ProductDistribution):
        raise InputError(
            f"{who} needs a ProductDistribution, got {distribution!r}; "
            f"for other laws use method='neighbourhoods'",
            name="distribution",
        )
    return distribution

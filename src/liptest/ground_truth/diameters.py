"""Image diameters: how far the values of a function lie apart (the paper's ImD, and r)."""

from __future__ import annotations

import secrets
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.distributions import Distribution, check_distribution
from liptest.domains import Domain
from liptest.errors import InputError, check_count, check_seed, shown
from liptest.ground_truth.tables import exact_values
from liptest.oracles import as_oracle
from liptest.points import from_array

# Coordinates drawn at a time.
_CHUNK = 1 << 22


def image_diameter(function: Any, domain: Domain) -> Fraction:
    """ImD(f): largest minus smallest value over all points, exactly.

    Parameters
    ----------
    function
        A callable (n, d) integers -> (n,) floats, ``lt.scalar(f)``, or a table of shape
        ``domain.sizes``; tables of integers or Fractions are taken exactly.
    domain
        At most 2**20 points; for more, ``sample_diameter``.

    Raises
    ------
    BudgetError
        The domain is larger than that.
    InputError, FunctionError
        No function or domain; NaN, infinity or a wrong shape.
    """
    if not isinstance(domain, Domain):
        raise InputError(f"domain={shown(domain)} must be a domain", name="domain", value=domain)
    values = exact_values(function, domain)
    return Fraction(max(values)) - Fraction(min(values))


def sample_diameter(
    function: Any, distribution: Distribution, *, draws: int, seed: int | None = None
) -> Fraction:
    """r: largest minus smallest value over ``draws`` points of a distribution, exactly.

    A lower bound on ``image_diameter``. With ``draws`` at least ln(1/w)/e, the points whose
    values lie above the sampled ones have mass at most e, but for a failure of probability w;
    the same holds for those below.

    Parameters
    ----------
    function
        As for ``image_diameter``; callables and lt.scalar on domains of any size.
    distribution
        Where the points are drawn from.
    draws
        Number of points, 1 or more.
    seed
        Same seed, same answer; None takes one from the operating system.

    Raises
    ------
    InputError, FunctionError
        A wrong argument; NaN, infinity or a wrong shape.
    """
    law = check_distribution(distribution)
    oracle = as_oracle(function, law.domain)
    rest = check_count("draws", draws)
    given = check_seed(seed)
    rng = np.random.Generator(np.random.SFC64(secrets.randbits(64) if given is None else given))
    lowest, highest = np.inf, -np.inf
    while rest:
        count = min(rest, max(1, _CHUNK // law.domain.dimension))
        values = oracle.values(from_array(law.sample(rng, count)))
        lowest, highest = min(lowest, values.min()), max(highest, values.max())
        rest -= count
    return Fraction(float(highest)) - Fraction(float(lowest))

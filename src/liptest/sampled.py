"""Distributions that can only be sampled: correlated records, bootstrap, simulation."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.domains import Domain, IntArray, check_domain
from liptest.errors import InputError, check_count, shown
from liptest.marginals import SUM_SLACK, check_floats


class SampledDistribution:
    """Any law that can be sampled: correlated records, bootstrap, simulation (theory 3.6b).

    Parameters
    ----------
    domain
        Where the points live.
    sampler
        ``sampler(n, rng) -> (n, d)`` whole numbers; must draw only from ``rng``.
    log_mass
        Optional ``(n, d) -> (n,)`` natural log masses; methods that need masses refuse without.
    source
        A sentence that says what is sampled; printed in verdicts.
    """

    is_exact = False

    def __init__(
        self,
        domain: Domain,
        sampler: Callable[..., ArrayLike],
        log_mass: Callable[[IntArray], ArrayLike] | None = None,
        *,
        source: str = "",
    ) -> None:
        if not callable(sampler):
            raise InputError(
                f"sampler={shown(sampler)} must be callable as sampler(n, rng)", name="sampler"
            )
        self.domain = check_domain(domain)
        self.sampler = sampler
        self._log_mass = log_mass
        self.source = source or f"the sampler {getattr(sampler, '__name__', 'given')}"
        self._rng_first = _first_parameter(sampler) in ("rng", "generator")

    def __repr__(self) -> str:
        return f"SampledDistribution({self.domain}, source={self.source!r})"

    @property
    def has_log_mass(self) -> bool:
        """Whether masses were given."""
        return self._log_mass is not None

    def sample(self, rng: np.random.Generator, count: int) -> IntArray:
        """``count`` points, shape (count, d); InputError when the sampler gives anything else."""
        check_count("count", count, least=0)
        drawn = self.sampler(rng, count) if self._rng_first else self.sampler(count, rng)
        points = self.domain.check_points(drawn)
        if len(points) != count:
            raise InputError(
                f"sampler: asked for {count} points, got {len(points)}; "
                f"it must return an ({count}, {self.domain.dimension}) array",
                name="sampler",
            )
        return points

    def log_mass(self, points: ArrayLike) -> NDArray[np.float64]:
        """Natural log masses, (n, d) -> (n,); InputError when none were given or they are none."""
        if self._log_mass is None:
            raise InputError(
                "log_mass=None: this SampledDistribution has no masses; give log_mass= or use "
                "method='neighbourhoods', which needs none",
                name="log_mass",
            )
        array = self.domain.check_points(points)
        logs = check_floats("log_mass", self._log_mass(array))
        if logs.shape != (len(array),) or not np.all(logs <= SUM_SLACK):
            raise InputError(
                f"log_mass: shape={logs.shape} for {len(array)} points, largest value "
                f"{np.max(logs, initial=-np.inf)}; give one natural log (0 or less) per row",
                name="log_mass",
            )
        return logs


def _first_parameter(sampler: Callable[..., ArrayLike]) -> str:
    try:
        return next(iter(inspect.signature(sampler).parameters), "")
    except ValueError:  # compiled code without a signature
        return ""

"""Distributions that can only be sampled: correlated records, bootstrap, simulation."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.bootstrap import bootstrap
from liptest.data.fit_laws import fit_chain, fit_mixture
from liptest.data.fitted import Fitted
from liptest.data.laws import markov_chain, mixture
from liptest.data.wanted import Wanted
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
    #: What it was fitted on; None where it was not.
    fitted: Fitted | None = None

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

    @classmethod
    def bootstrap(
        cls,
        table: Any,
        *,
        domain: Domain | None = None,
        columns: str | Sequence[str] | None = None,
        categories: Mapping[str, Sequence[Any]] | None = None,
        source: str = "",
    ) -> SampledDistribution:
        """Whole rows of a public table, drawn with replacement: correlations as they are.

        Each row is a dataset, each column a coordinate. Masses are known: the share of the rows.
        A YES is about this law of at most as many datasets as the table has rows. Where the n
        rows are independent draws from the true law, and mechanism and domain were chosen without
        knowing them, the exception mass of a YES by "neighbourhoods" grows by at most
        ``sqrt(ln(1/w) / (2 n))`` under the true law, off an event of probability w (Hoeffding 1963:
        the datasets with a bad neighbour are a set that does not depend on the rows).

        Parameters
        ----------
        table, domain, columns, categories
            As for ``ProductDistribution.fit``. Of SQL the different rows leave the database, with
            their counts.

        Raises
        ------
        InputError
            As ``ProductDistribution.fit``.
        """
        found = bootstrap(table, domain, columns, categories or {})
        return cls._fitted(found.domain, found.law, found.fitted, source or found.words)

    @classmethod
    def mixture(
        cls, components: Sequence[Any], *, weights: ArrayLike, source: str = ""
    ) -> SampledDistribution:
        """A component chosen by its weight, then a point of it: records with a common cause.

        ``components`` are laws of one domain with known masses, most often products, for example
        one for weekdays and one for Sundays; ``weights`` (len(components),) sum to 1. Masses are
        known. InputError when a component has none or lives elsewhere, or the weights are no law.
        """
        law = mixture(components, weights)
        words = source or f"a mixture of {len(law.components)} laws"
        return cls(law.components[0].domain, law, law.log_mass, source=words)

    @classmethod
    def markov_chain(
        cls, domain: Domain, *, initial: ArrayLike, transitions: Any, source: str = ""
    ) -> SampledDistribution:
        """Each coordinate depends on the one before it: records in the order of time.

        ``initial`` (sizes[0],) is the law of the first coordinate; ``transitions`` one
        (n, n) matrix for all steps or d - 1 of them, (sizes[r], sizes[r+1]), a law in each row.
        Masses are known. InputError when a row is no law or a shape does not fit.
        """
        law = markov_chain(check_domain(domain), initial, transitions)
        return cls(domain, law, law.log_mass, source=source or f"a Markov chain on {domain}")

    @classmethod
    def fit_mixture(
        cls,
        table: Any,
        *,
        by: str,
        columns: str | Sequence[str] | None = None,
        domain: Domain | None = None,
        categories: Mapping[str, Sequence[Any]] | None = None,
        shrinkage: float = 10.0,
        smoothing: float = 0.0,
        source: str = "",
    ) -> SampledDistribution:
        """A mixture of product laws, one for each value of the column ``by`` of a public table.

        Each row is a dataset of the other ``columns``; the weights are the shares of the rows.
        Within a value of ``by`` a column's law is shrunk towards that of all rows. The rest, and
        the errors, as in ``ProductDistribution.fit``.
        """
        rest = (None, None, categories or {}, shrinkage, smoothing)
        where, law, fitted, words = fit_mixture(
            table, by, Wanted(domain, columns, None, None, *rest)
        )
        return cls._fitted(where, law, fitted, source or words)

    @classmethod
    def fit_markov_chain(
        cls,
        table: Any,
        *,
        columns: str | Sequence[str] | None = None,
        domain: Domain | None = None,
        categories: Mapping[str, Sequence[Any]] | None = None,
        shrinkage: float = 10.0,
        smoothing: float = 0.0,
        source: str = "",
    ) -> SampledDistribution:
        """A Markov chain along the columns of a public table, in the order given.

        Each row is a dataset. The law of a column after a value of the one before it is shrunk
        towards that of the column in all rows. The rest, and the errors, as in
        ``ProductDistribution.fit``.
        """
        rest = (None, None, None, None, categories or {}, shrinkage, smoothing)
        where, law, fitted, words = fit_chain(table, Wanted(domain, columns, *rest))
        return cls._fitted(where, law, fitted, source or words)

    @classmethod
    def _fitted(cls, domain: Domain, law: Any, fitted: Fitted, words: str) -> SampledDistribution:
        made = cls(domain, law, law.log_mass, source=words)
        made.fitted = fitted
        return made

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

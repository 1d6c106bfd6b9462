"""Product laws of the data, with exact masses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.domains import Domain, Hypercube, IntArray, check_domain
from liptest.data.draws import BitSampler, ValueSampler, check_floats, check_marginals
from liptest.data.fit import fit
from liptest.data.fitted import FitRequest, Fitted
from liptest.errors import InputError, check_count

_CHUNK_BYTES = 1 << 22


class ProductDistribution:
    """Independent coordinates: D = D_1 x .. x D_d (paper section 4).

    Parameters
    ----------
    domain
        Where the points live.
    marginals
        For each coordinate the probabilities of its values, ``sizes[r]`` numbers; a (d, n)
        array or a sequence of sequences. Sums off 1 by at most 1e-9 are normalised.
    source
        A sentence that says where the numbers come from; printed in verdicts.

    Raises
    ------
    InputError
        Probabilities negative, NaN, above 1 or not summing to 1, or the wrong number of them.
    """

    #: What it was fitted on; None where it was not.
    fitted: Fitted | None = None
    #: Masses are always known.
    has_log_mass: bool = True

    def __init__(
        self, domain: Domain, marginals: Sequence[ArrayLike] | ArrayLike, *, source: str = ""
    ) -> None:
        self.domain = check_domain(domain)
        masses = check_marginals(marginals, domain)
        self.source = source or f"a product law given on {domain}"
        if isinstance(domain, Hypercube):
            self._keep_bits(np.array([mass[1] for mass in masses]))
        else:
            self._masses = masses

    @classmethod
    def _of_bits(cls, probabilities: NDArray[np.float64], source: str) -> ProductDistribution:
        # d may be 1,000,000: no Python object per coordinate.
        self = cls.__new__(cls)
        self.domain = Hypercube(len(probabilities))
        self.source = source or "independent bits with the given probabilities"
        self._keep_bits(probabilities)
        return self

    def _keep_bits(self, probabilities: NDArray[np.float64]) -> None:
        # A cube keeps the chances of a 1 and nothing else, however it was built.
        probabilities.flags.writeable = False
        self.__dict__["probabilities"] = probabilities

    @classmethod
    def bernoulli(cls, probabilities: ArrayLike, *, source: str = "") -> ProductDistribution:
        """Independent bits on Hypercube(d); ``probabilities[r]`` is the chance of a 1."""
        array = np.atleast_1d(check_floats("probabilities", probabilities))
        if array.ndim != 1 or len(array) == 0:
            raise InputError(
                f"probabilities: shape={array.shape}; give one number per coordinate",
                name="probabilities",
            )
        wrong = np.flatnonzero(~((array >= 0) & (array <= 1)))
        if len(wrong):
            raise InputError(
                f"probabilities[{wrong[0]}]={array[wrong[0]]} must lie between 0 and 1",
                name="probabilities",
                value=float(array[wrong[0]]),
            )
        return cls._of_bits(array, source)

    @classmethod
    def uniform(cls, domain: Domain) -> ProductDistribution:
        """The uniform law of a domain."""
        if isinstance(check_domain(domain), Hypercube):
            return cls._of_bits(np.full(domain.dimension, 0.5), f"the uniform law on {domain}")
        return cls(
            domain,
            [np.full(size, 1.0 / size) for size in domain.sizes],
            source=f"the uniform law on {domain}",
        )

    @classmethod
    def fit(
        cls,
        table: Any,
        *,
        domain: Domain | None = None,
        columns: str | Sequence[str] | None = None,
        groups: Sequence[Any] | ArrayLike | str | None = None,
        record_groups: Any = None,
        records: int | None = None,
        histogram_of: float | None = None,
        categories: Mapping[str, Sequence[Any]] | None = None,
        shrinkage: float = 10.0,
        smoothing: float = 0.0,
        max_values: int = 1000,
        source: str = "",
    ) -> ProductDistribution:
        """Fit a product law to public data, shrinking towards a common law.

        Each law is ``(count + shrinkage * overall) / (n + shrinkage)`` for each value, where
        ``overall`` is the law of all the data together (of columns with different values: the
        uniform law). Adding one to each count instead predicts far too much of a rare value.
        What a row of the table is decides what a dataset is, and what one person may change:

        - neither ``groups``, ``records`` nor ``histogram_of``: each *row is a dataset* and each
          column a coordinate. Neighbours differ in one column of one such row.
        - ``groups`` or ``records``: each *row is a record*, a dataset is a table of such records,
          neighbours differ in one record. Clicks: one bit per row, the rate by group.
        - ``histogram_of``: each row is a record, a dataset the *histogram* of a Poisson number of
          them, so that its counts are independent; neighbours differ by one record more or less.

        Parameters
        ----------
        table
            A frame (any that narwhals knows), the path of a CSV or Parquet file, a
            ``liptest.data.sources.SqlTable``; or an array: (n, d) datasets or, with ``groups``,
            (n,) records.
        domain
            Of the *modelled* dataset. Default for tables, none for arrays: a Hypercube where all
            values are 0 and 1, else a RecordGrid; for histograms a Hypergrid.
        columns
            Default: all. Several columns of a record are one value.
        groups
            One law per group: the name of a column, or for arrays (n,) labels.
        record_groups
            (d,) labels of the records to model, or a table with that column, the only one read; an
            unknown group gets the overall law. Default: those of the table (SQL: group by group).
        records
            Records of a dataset, where there are no groups.
        histogram_of
            Expected number of records of a histogram, above 0.
        categories
            All values of a column, in the order of their codes. By default 0 and 1, or
            ``0 .. size-1`` of a given domain, else the sorted values of the table: a dataset with
            another value is then outside the domain, and refused.
        shrinkage
            Weight of the overall law, in records; above 0.
        smoothing
            So many records, spread over all values, are added to the overall law. With 0 a value
            that never occurs has probability 0: a verdict by sampling says nothing about it.
        max_values
            More different values in a column are an error.

        Raises
        ------
        InputError
            Empty table, missing values, values outside the domain, wrong shapes, a missing package,
            a database that fails; nothing is fitted then.
        """
        rest = (records, histogram_of, categories or {}, shrinkage, smoothing, max_values)
        outcome = fit(table, FitRequest(domain, columns, groups, record_groups, *rest))
        words = outcome.words(source)
        if isinstance(outcome.domain, Hypercube):
            law = cls._of_bits(outcome.bits(), words)
        else:
            law = cls(outcome.domain, outcome.laws, source=words)
        law.fitted = outcome.fitted
        return law

    def __repr__(self) -> str:
        return f"ProductDistribution({self.domain}, source={self.source!r})"

    def __getstate__(self) -> dict[str, Any]:
        kept = ("domain", "source", "_masses", "probabilities", "fitted")
        return {key: self.__dict__[key] for key in kept if key in self.__dict__}

    @property
    def is_exact(self) -> bool:
        """Whether masses are known (here always)."""
        return True

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """(d,) chances of a 1, read-only; InputError where the domain is not a Hypercube."""
        raise InputError(
            f"probabilities: {self.domain} is not a Hypercube; use .marginal(r)",
            name="probabilities",
        )

    def marginal(self, coordinate: int) -> NDArray[np.float64]:
        """Probabilities of the values of one coordinate, shape (sizes[r],)."""
        if "probabilities" in self.__dict__:
            p = self.probabilities[coordinate]
            return np.array([1.0 - p, p])
        return self._masses[coordinate].copy()

    def marginals(self) -> list[NDArray[np.float64]]:
        """All d laws."""
        return [self.marginal(r) for r in range(self.domain.dimension)]

    def exact_marginal(self, coordinate: int) -> list[Fraction]:
        """Exact rational law of one coordinate: the given floats, normalised exactly."""
        if "probabilities" in self.__dict__:
            p = Fraction(float(self.probabilities[coordinate]))
            return [1 - p, p]
        values = [Fraction(float(mass)) for mass in self._masses[coordinate]]
        total = sum(values)
        return [value / total for value in values]

    def sample(self, rng: np.random.Generator, count: int) -> IntArray:
        """``count`` independent points, shape (count, d), exact to 53 bits per coordinate."""
        points: IntArray = self._sampler.draw(rng, check_count("count", count, least=0))
        return points

    def stream(
        self, rng: np.random.Generator, count: int, *, chunk_bytes: int = _CHUNK_BYTES
    ) -> Iterator[IntArray]:
        """``count`` points in arrays of about ``chunk_bytes`` each: d up to 1,000,000."""
        step = max(1, chunk_bytes // self.domain.dimension)
        for start in range(0, check_count("count", count, least=0), step):
            yield self.sample(rng, min(step, count - start))

    def log_mass(self, points: ArrayLike) -> NDArray[np.float64]:
        """Natural log of each point's mass, -inf for mass 0; (n, d) -> (n,)."""
        array = self.domain.check_points(points)
        if "probabilities" in self.__dict__:
            with np.errstate(divide="ignore"):
                zero, one = np.log1p(-self.probabilities), np.log(self.probabilities)
            return np.asarray(np.where(array == 1, one, zero).sum(axis=1))
        total = np.zeros(len(array))
        for r, mass in enumerate(self._masses):
            with np.errstate(divide="ignore"):
                total += np.log(mass)[array[:, r]]
        return total

    def mass(self, points: ArrayLike) -> NDArray[np.float64]:
        """Mass of each point; may underflow to 0 for large d, where log_mass does not."""
        return np.asarray(np.exp(self.log_mass(points)))

    def exact_mass(self, point: ArrayLike) -> Fraction:
        """Exact rational mass of one point."""
        values = self.domain.check_points(point)[0]
        mass = Fraction(1)
        for r, value in enumerate(values):
            mass *= self.exact_marginal(r)[int(value)]
        return mass

    @cached_property
    def _sampler(self) -> BitSampler | ValueSampler:
        if isinstance(self.domain, Hypercube):
            return BitSampler(self.probabilities)
        return ValueSampler(self._masses, self.domain.dtype)

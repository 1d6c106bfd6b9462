"""Distributions that are sampled: bootstrap, mixtures, Markov chains, simulation."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.coding import (
    Categories,
    Value,
    codes,
    empty,
    in_order,
    make_change_error,
    of_column,
    order_counts,
)
from liptest.data.domains import Domain, IntArray, RecordGrid, check_domain
from liptest.data.draws import (
    SUM_SLACK,
    IndexSampler,
    check_floats,
    check_marginals,
    cumulative_thresholds,
    uniform_integers,
)
from liptest.data.fitted import (
    DATASETS,
    FitRequest,
    Fitted,
    coordinates,
    counts_hash,
    overall_law,
    shrunk,
)
from liptest.data.product import ProductDistribution
from liptest.data.sources import TableSource, as_source, choose_columns, is_table, require_array
from liptest.data.tables import Table
from liptest.errors import InputError, check_count, quote


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
                f"sampler={quote(sampler)} must be callable as sampler(n, rng)", name="sampler"
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
        resampled = bootstrap(table, domain, columns, categories or {})
        return cls._fit(
            resampled.domain, resampled.law, resampled.fitted, source or resampled.words
        )

    @classmethod
    def mixture(
        cls, components: Sequence[Any], *, weights: ArrayLike, source: str = ""
    ) -> SampledDistribution:
        """A component chosen by its weight, then a point of it: records with a common cause.

        ``components`` are laws of one domain with known masses, most often products, for example
        one for weekdays and one for Sundays; ``weights`` (len(components),) sum to 1. Masses are
        known. InputError when a component has none or lives elsewhere, or for wrong weights.
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
        Masses are known. InputError when a row is not a law or a shape does not fit.
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
            table, by, FitRequest(domain, columns, None, None, *rest)
        )
        return cls._fit(where, law, fitted, source or words)

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
        where, law, fitted, words = fit_chain(table, FitRequest(domain, columns, *rest))
        return cls._fit(where, law, fitted, source or words)

    @classmethod
    def of_tables(
        cls,
        table: Table,
        draw: Callable[..., Any],
        *,
        modulus: Mapping[str, float] | None = None,
        source: str = "",
    ) -> SampledDistribution:
        """Tables as a function draws them: ``draw(rng)`` gives a frame, or a dict of columns.

        ``draw`` takes its random numbers from ``rng`` only. ``modulus`` is for code that is not
        followed: by real column how much the log of the probability of any output changes at most
        while the number of one row changes by 1 there. It is believed, and repeated in the verdict.
        InputError where ``table`` is not an ``lt.Table``; DatasetError at a draw that does not fit.
        """
        from liptest.data.table_samples import DrawnFrames

        if not isinstance(table, Table) or not callable(draw):
            raise InputError(
                f"table={quote(table)}, draw={quote(draw)}: give an lt.Table and a function "
                f"draw(rng) that gives a frame",
                name="table",
            )
        words = source or f"tables drawn by {getattr(draw, '__name__', 'a function')}"
        return cls(table, DrawnFrames(table, draw, modulus), source=words)

    @classmethod
    def of_rows(
        cls,
        table: Table,
        public: Any,
        *,
        rows: int | Sequence[int] | None = None,
        independent: bool = False,
        source: str = "",
    ) -> SampledDistribution:
        """Tables whose rows are drawn with replacement from a public frame.

        Parameters
        ----------
        table
            The ``lt.Table`` that the frame has the columns of. Where users are its unit, users are
            drawn with all their rows.
        public
            A frame, or a dict of columns, of other data than those that are to be protected.
        rows
            How many rows a drawn table has, or users where these are the unit; of a sequence, as
            ``range(900, 1101)``, one, each as likely as any other. None: as many as ``public``.
        independent
            Each column by itself, not whole rows.

        Raises
        ------
        InputError, DatasetError
            Where frame, columns and numbers of rows do not fit the table.
        """
        from liptest.data.table_samples import make_drawn_rows

        law = make_drawn_rows(table, public, rows, is_independent=independent)
        what = "users" if table.unit in table.columns else "rows"
        ways = "columns drawn one by one" if independent else f"{what} drawn with replacement"
        counts = sorted(set(law.counts))
        many = f"{counts[0]:,}" + (f" to {counts[-1]:,}" if len(counts) > 1 else "")
        words = source or f"tables of {many} {what}: {ways}, of {len(law.slots):,} public rows"
        return cls(table, law, source=words)

    @classmethod
    def _fit(cls, domain: Domain, law: Any, fitted: Fitted, words: str) -> SampledDistribution:
        distribution = cls(domain, law, law.log_mass, source=words)
        distribution.fitted = fitted
        return distribution

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
                f"sampler: {count} points were requested, got {len(points)}; "
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


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Draws rows of a table with replacement; exact.

    ``points`` are the (m, d) different rows, ``counts`` (m,) how often each occurs.
    """

    points: IntArray
    counts: NDArray[np.int64]

    def __call__(self, n: int, rng: np.random.Generator) -> IntArray:
        """(n, d) rows."""
        ends = np.cumsum(self.counts)
        chosen = np.searchsorted(ends, rng.integers(0, ends[-1], size=n), side="right")
        return self.points[chosen]

    def log_mass(self, points: IntArray) -> NDArray[np.float64]:
        """Log of the share of the rows that each point has; -inf for others."""
        shares = [self._counts.get(row.tobytes(), 0) for row in points]
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.array(shares) / self.counts.sum()))

    @cached_property
    def _counts(self) -> dict[bytes, int]:
        pairs = zip(self.points, self.counts.tolist(), strict=True)
        return {row.tobytes(): count for row, count in pairs}


@dataclass(frozen=True, eq=False)
class Mixture:
    """Draws a component first, by its weight, then a point from it."""

    components: tuple[Any, ...]
    weights: NDArray[np.float64]

    def __call__(self, n: int, rng: np.random.Generator) -> IntArray:
        """(n, d) points."""
        chosen = IndexSampler(self.weights).draw(rng, n)
        domain: Domain = self.components[0].domain
        points = np.empty((n, domain.dimension), dtype=domain.dtype)
        for i, component in enumerate(self.components):
            rows = np.flatnonzero(chosen == i)
            points[rows] = component.sample(rng, len(rows))
        return points

    def log_mass(self, points: IntArray) -> NDArray[np.float64]:
        """Log of the weighted mean of the components' masses."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights)[:, None] + [c.log_mass(points) for c in self.components]
        top = logs.max(axis=0)
        # Off every component the top is -inf, and -inf minus -inf is not a number.
        safe = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(safe + np.log(np.exp(logs - safe).sum(axis=0)))


@runtime_checkable
class HasMasses(Protocol):
    """A law whose masses may be known."""

    @property
    def domain(self) -> Domain:
        """The points that it may draw."""
        ...

    @property
    def has_log_mass(self) -> bool:
        """Whether ``log_mass`` is known."""
        ...

    def log_mass(self, points: ArrayLike) -> NDArray[np.float64]:
        """Natural log of each point's mass; (n, d) -> (n,)."""
        ...


def mixture(components: Sequence[Any], weights: ArrayLike) -> Mixture:
    """A mixture of at least one law of one domain; InputError where weights are not a law."""
    laws = tuple(components) if isinstance(components, Iterable) else ()
    if not all(isinstance(law, HasMasses) for law in laws):
        raise InputError(
            f"components={quote(laws)} must be distributions: products, chains or mixtures",
            name="components",
        )
    if not laws or len({law.domain for law in laws}) > 1:
        raise InputError(
            f"components: {len(laws)} laws on {len({law.domain for law in laws})} domains; give "
            f"at least one, all on the same domain",
            name="components",
        )
    if not all(law.has_log_mass for law in laws):
        raise InputError(
            "components: one of them has no masses; give products, chains or mixtures",
            name="components",
        )
    shares = _law("weights", weights, len(laws))
    return Mixture(laws, shares)


@dataclass(frozen=True, eq=False)
class MarkovChain:
    """Coordinate after coordinate, each by the row of its matrix that the one before chooses."""

    initial: NDArray[np.float64]
    transitions: tuple[NDArray[np.float64], ...]
    dtype: str

    def __call__(self, n: int, rng: np.random.Generator) -> IntArray:
        """(n, d) points, exact to 53 bits per coordinate."""
        uniform = uniform_integers(rng, (n, len(self.transitions) + 1))
        points = np.empty(uniform.shape, dtype=self.dtype)
        start = np.zeros(n, dtype=np.int64)
        for r, steps in enumerate(self._steps):
            before = start if r == 0 else points[:, r - 1]
            points[:, r] = (uniform[:, r, None] >= steps[before]).sum(axis=1)
        return points

    def log_mass(self, points: IntArray) -> NDArray[np.float64]:
        """Sum of the logs along each point."""
        with np.errstate(divide="ignore"):
            total = np.log(self.initial)[points[:, 0]]
            for r, matrix in enumerate(self.transitions):
                total = total + np.log(matrix)[points[:, r], points[:, r + 1]]
        return np.asarray(total)

    @cached_property
    def _steps(self) -> list[NDArray[np.int64]]:
        matrices = [self.initial[None, :], *self.transitions]
        return [np.array([cumulative_thresholds(row)[:-1] for row in m]) for m in matrices]


def markov_chain(domain: Domain, initial: ArrayLike, transitions: Any) -> MarkovChain:
    """A chain along the coordinates; InputError where a row is not a law of its coordinate.

    ``transitions``: one matrix for all steps, or d - 1 of them.
    """
    sizes, d = domain.sizes, domain.dimension
    first = _law("initial", initial, sizes[0])
    if not isinstance(transitions, Iterable):
        raise InputError(
            f"transitions={quote(transitions)} must be one matrix for all steps, or {d - 1}",
            name="transitions",
        )
    matrices = [transitions] * (d - 1) if _is_matrix(transitions) else list(transitions)
    if len(matrices) != d - 1:
        raise InputError(
            f"transitions: {len(matrices)} matrices for {d} coordinates; give one for all steps, "
            f"or {d - 1}",
            name="transitions",
        )
    cached: dict[int, NDArray[np.float64]] = {}
    checked = []
    for r, matrix in enumerate(matrices):
        if id(matrix) not in cached or cached[id(matrix)].shape != (sizes[r], sizes[r + 1]):
            cached[id(matrix)] = _matrix(r, matrix, sizes[r], sizes[r + 1])
        checked.append(cached[id(matrix)])
    return MarkovChain(first, tuple(checked), domain.dtype.str)


def _is_matrix(transitions: Any) -> bool:
    try:
        return np.asarray(transitions).ndim == 2
    except ValueError:
        return False


def _matrix(step: int, matrix: Any, rows: int, columns: int) -> NDArray[np.float64]:
    array = check_floats(f"transitions[{step}]", matrix)
    if array.shape != (rows, columns):
        raise InputError(
            f"transitions[{step}]: shape={array.shape}, but the coordinates take {rows} and "
            f"{columns} values; give a ({rows}, {columns}) matrix, one law per row",
            name="transitions",
        )
    return np.array(
        [_law(f"transitions[{step}][{i}]", row, columns) for i, row in enumerate(array)]
    )


def _law(name: str, values: ArrayLike, size: int) -> NDArray[np.float64]:
    try:
        return check_marginals([values], RecordGrid([size]))[0]
    except InputError as error:
        text = str(error).replace("marginals[0]", name)
        raise InputError(text, name=name.partition("[")[0]) from None


# Different rows that are worth keeping.
_MAX_ROWS = 4_000_000


@dataclass(frozen=True)
class Resampled:
    """The law, where it lives, what was read, and where from in words."""

    domain: Domain
    law: Bootstrap
    fitted: Fitted
    words: str


def bootstrap(
    table: Any,
    domain: Domain | None,
    columns: str | Sequence[str] | None,
    categories: Mapping[str, Sequence[Any]],
) -> Resampled:
    """The different rows of a table and their counts."""
    if not is_table(table):
        require_array(table)
        return _of_array(table, check_domain(domain))
    source = as_source(table)
    names = choose_columns(source, columns)
    cells = source.cells(names, _MAX_ROWS)
    if not cells:
        raise empty(source.words)
    marginals = [of_column(cells, i) for i in range(len(names))]
    where, listed = coordinates(names, marginals, categories, domain)
    keys = list(cells)
    parts = [codes(name, [key[i] for key in keys], listed[i]) for i, name in enumerate(names)]
    points = where.check_points(np.stack(parts, axis=1))
    counts = np.array(list(cells.values()), dtype=np.int64)
    order = np.lexsort(points.T[::-1])
    fitted = Fitted(int(counts.sum()), DATASETS, tuple(names), listed, counts_hash(cells))
    words = f"whole rows of {source.words}, drawn with replacement ({fitted.words})"
    return Resampled(where, Bootstrap(points[order], counts[order]), fitted, words)


def _of_array(table: Any, domain: Domain) -> Resampled:
    rows = domain.check_points(table)
    if len(rows) == 0:
        raise empty("an array")
    points, counts = np.unique(rows, axis=0, return_counts=True)
    cells = {tuple(row): n for row, n in zip(points.tolist(), counts.tolist(), strict=True)}
    fitted = Fitted(len(rows), DATASETS, counts_hash=counts_hash(cells))
    words = f"whole rows of an array, drawn with replacement ({fitted.words})"
    return Resampled(domain, Bootstrap(points, counts.astype(np.int64)), fitted, words)


_MAX_CLASSES = 100
Counts = NDArray[np.float64]


def fit_chain(table: Any, wanted: FitRequest) -> tuple[Domain, MarkovChain, Fitted, str]:
    """A chain along the columns: each step's matrix shrunk towards the law of its column."""
    wanted.check()
    source = as_source(table)
    names, marginals, rows = _count(source, wanted)
    domain, categories = coordinates(names, marginals, wanted.categories, wanted.domain)
    laws = [
        overall_law(order_counts(counts, values), wanted.smoothing)
        for counts, values in zip(marginals, categories, strict=True)
    ]
    steps = []
    for r, (before, after) in enumerate(pairwise(names)):
        joint = _joint(source, (before, after), (categories[r], categories[r + 1]), wanted)
        _same_rows(source, joint, rows)
        steps.append(shrunk(joint, laws[r + 1], wanted.shrinkage))
    fitted = _fit(names, marginals, categories, rows)
    words = f"a Markov chain fitted on the rows of {source.words} ({fitted.words})"
    return domain, MarkovChain(laws[0], tuple(steps), domain.dtype.str), fitted, words


def fit_mixture(table: Any, by: str, wanted: FitRequest) -> tuple[Domain, Mixture, Fitted, str]:
    """A product law for each value of the column ``by``, shrunk towards that of all rows."""
    wanted.check()
    source = as_source(table)
    if not isinstance(by, str):
        raise InputError(f"by={quote(by)} must be the name of a column", name="by")
    choose_columns(source, by)
    columns = [name for name in choose_columns(source, wanted.columns) if name != by]
    if not columns:
        raise InputError(
            f"columns: no column is left besides by={by!r}; name columns", name="columns"
        )
    names, marginals, rows = _count(source, wanted, columns)
    domain, categories = coordinates(names, marginals, wanted.categories, wanted.domain)
    (classes,) = source.marginals([by], _MAX_CLASSES)
    order = tuple(in_order(classes))
    laws = []
    for name, counts, values in zip(names, marginals, categories, strict=True):
        joint = _joint(source, (by, name), (order, values), wanted)
        _same_rows(source, joint, rows)
        prior = overall_law(order_counts(counts, values), wanted.smoothing)
        laws.append(shrunk(joint, prior, wanted.shrinkage))
    components = tuple(
        ProductDistribution(domain, [law[i] for law in laws]) for i in range(len(order))
    )
    weights = order_counts(classes, order) / rows
    fitted = _fit(names, marginals, categories, rows)
    words = (
        f"a mixture of {len(order)} product laws, one per {by}, fitted on the rows of "
        f"{source.words} ({fitted.words})"
    )
    return domain, Mixture(components, weights), fitted, words


def _count(
    source: TableSource, wanted: FitRequest, columns: Sequence[str] | None = None
) -> tuple[list[str], list[dict[Value, int]], int]:
    names = choose_columns(source, wanted.columns if columns is None else columns)
    marginals = source.marginals(names, wanted.max_values)
    rows = sum(marginals[0].values())
    if rows == 0:
        raise empty(source.words)
    return names, marginals, rows


def _joint(
    source: TableSource,
    names: tuple[str, str],
    known: tuple[Categories, Categories],
    wanted: FitRequest,
) -> Counts:
    cells = source.cells(names, wanted.max_values**2)
    left, right = (codes(n, [key[i] for key in cells], known[i]) for i, n in enumerate(names))
    table = np.zeros((len(known[0]), len(known[1])))
    np.add.at(table, (left, right), [float(count) for count in cells.values()])
    return table


def _same_rows(source: TableSource, joint: Counts, rows: int) -> None:
    if joint.sum() != rows:
        raise make_change_error(source.words)


def _fit(
    names: Sequence[str],
    found: Sequence[Mapping[Value, int]],
    known: tuple[Categories, ...],
    rows: int,
) -> Fitted:
    cells = {
        (name, v): n for name, counts in zip(names, found, strict=True) for v, n in counts.items()
    }
    zero = any(min(order_counts(counts, k)) == 0 for counts, k in zip(found, known, strict=True))
    notes = ("values without a row are drawn only if they were smoothed",) if zero else ()
    return Fitted(rows, DATASETS, tuple(names), known, counts_hash(cells), notes=notes)

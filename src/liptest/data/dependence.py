"""Are the columns of a public table independent, and what if they are not (theory 3.17)?

The shares of rows are compared with a product law, in numbers and in words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.coding import (
    BITS,
    Categories,
    Cells,
    Value,
    codes,
    empty,
    make_change_error,
    only_known,
)
from liptest.data.fitted import DATASETS, Fitted, coordinates, counts_hash
from liptest.data.product import ProductDistribution
from liptest.data.sources import TableSource, as_source, choose_columns
from liptest.errors import InputError, check_open_unit, quote

_STEPS = 60
# Far above what the floats below can lose.
_SLACK = 1e-12


def variation_radius(cells: int, rows: int, failure: float) -> float:
    """Total variation of empirical and true law is at most this, off probability ``failure``.

    The mean is at most ``sqrt((cells - 1) / rows) / 2`` (Cauchy and Schwarz), and one row moves
    it by at most 1 / rows (McDiarmid 1989). inf where nothing may fail.
    """
    if failure == 0:
        return math.inf
    mean = 0.5 * math.sqrt((cells - 1) / rows)
    return mean + math.sqrt(-math.log(failure) / (2 * rows)) + _SLACK


def shares_lower(shares: NDArray[np.float64], rows: int, failure: float) -> NDArray[np.float64]:
    """Lower bounds on probabilities from shares of rows, each wrong with at most ``failure``.

    Chernoff 1952: a share s occurs with probability at most exp(-rows * KL(s, p)) for p below s.
    All 0 where nothing may fail.
    """
    if failure == 0:
        return np.zeros_like(shares)
    limit = -math.log(failure) / rows + _SLACK
    low, high = np.zeros_like(shares), shares.copy()
    for _ in range(_STEPS):
        middle = (low + high) / 2
        far = _divergence(shares, middle) > limit
        low, high = np.where(far, middle, low), np.where(far, high, middle)
    return np.asarray(np.where(shares > 0, low, 0.0))


def _divergence(s: NDArray[np.float64], p: NDArray[np.float64]) -> NDArray[np.float64]:
    """KL of two coins, s log(s/p) + (1-s) log((1-s)/(1-p)); inf where p is 0 and s is not."""
    with np.errstate(divide="ignore", invalid="ignore"):
        hit = np.where(s > 0, s * np.log(s / p), 0.0)
        miss = np.where(s < 1, (1 - s) * np.log((1 - s) / (1 - p)), 0.0)
    return np.asarray(hit + miss)


@dataclass(frozen=True)
class Pair:
    """Two columns: how far their joint law is from the product law's.

    ``total_variation`` is that of the rows, an estimate; ``proved`` a lower bound on that of the
    true law; ``cramers_v`` 0 for independent columns and 1 for columns that tell each other.
    ``sentence`` shows the combination of values that is most above it.
    """

    first: str
    second: str
    total_variation: float
    proved: float
    cramers_v: float
    sentence: str


@dataclass(frozen=True)
class Dependence:
    """What a table says against a product law, in numbers and in words.

    Parameters
    ----------
    pairs
        All pairs of columns, the most dependent first.
    tau_lower, tau_upper
        Proved bounds on the total variation of the true law and the product law; the upper one is
        None where the table is too small for the number of its possible rows. About columns whose
        values were read off the table nothing is proved, except bits: name them in categories.
    kappa_estimate, kappa_lower
        The largest ratio of both laws on a combination of two values: as in the rows, and a
        proved lower bound. No table gives an upper bound.
    failure_probability
        Off an event of this probability all proved numbers hold together, if the rows are
        independent draws from the true law.
    """

    rows: int
    columns: tuple[str, ...]
    pairs: tuple[Pair, ...]
    tau_lower: float
    tau_upper: float | None
    kappa_estimate: float
    kappa_lower: float
    failure_probability: float

    @property
    def sentence(self) -> str:
        """What it means for a verdict that assumes the product law."""
        return f"{_lower_words(self)} {_upper_words(self)} {_KAPPA.format(self)}"

    def __str__(self) -> str:
        shown = [f"  {pair.sentence}" for pair in self.pairs[:5]]
        head = f"{len(self.columns)} columns, {self.rows:,} rows, most dependent pairs:"
        return "\n".join([head, *shown, self.sentence])

    def matrix(self) -> NDArray[np.float64]:
        """(d, d) total variation of each pair, 0 on the diagonal."""
        place = {name: i for i, name in enumerate(self.columns)}
        matrix = np.zeros((len(place), len(place)))
        for pair in self.pairs:
            i, j = place[pair.first], place[pair.second]
            matrix[i, j] = matrix[j, i] = pair.total_variation
        return matrix


_KAPPA = (
    "The ratio kappa of the two laws is about {0.kappa_estimate:.3g} on one combination of two "
    "values (an estimate; proved: at least {0.kappa_lower:.3g}); a table gives no upper bound."
)


def _lower_words(found: Dependence) -> str:
    if found.tau_lower > 0:
        return (
            f"The product law is not the true one: they are at least {found.tau_lower:.3g} apart "
            f"in total variation ({_sure(found)})."
        )
    return (
        "No pair of columns differs from the product law by more than that many independent rows "
        "may show by chance; a dependence of three columns or more would not be seen in pairs."
    )


def _upper_words(found: Dependence) -> str:
    if found.tau_upper is not None:
        return (
            f"An exception mass of beta under the product law is at most beta + "
            f"{found.tau_upper:.3g} under the true law ({_sure(found)}; theory 3.17)."
        )
    advice = (
        "; better draw from SampledDistribution.bootstrap, .mixture or .markov_chain"
        if found.tau_lower > 0
        else ""
    )
    return (
        f"An exception mass of beta under the product law may be one of beta + tau under the true "
        f"law, and this table gives no bound on tau below 1 (theory 3.17){advice}."
    )


def _sure(found: Dependence) -> str:
    return (
        f"proved outside an event of probability {found.failure_probability:g}, if the rows are "
        f"independent draws"
    )


Table = NDArray[np.float64]
_MAX_PAIRS = 5000
# Joint cells of all columns together that are counted, for an upper bound on tau.
_MAX_JOINT = 1_000_000


def column_dependence(
    table: Any,
    *,
    columns: str | Sequence[str] | None = None,
    categories: Mapping[str, Sequence[Any]] | None = None,
    distribution: ProductDistribution | None = None,
    failure_probability: float = 1e-6,
) -> Dependence:
    """Compare every pair of columns of a table with a product law.

    Each row is a dataset, as in ``ProductDistribution.fit`` without groups. Proved are, if the
    rows are independent draws from the true law: a lower bound on its total variation tau from the
    product law (each pair's empirical law is near its true one: Cauchy and Schwarz for the mean,
    McDiarmid 1989 for the deviation), an upper bound where the number of possible rows is small
    against the table, and a lower bound on kappa (Chernoff 1952). A verdict's exception mass beta
    under the product law is at most beta + tau, and at most kappa * beta, under the true one
    (theory 3.17). Pairs do not show a dependence of three columns that no two of them have.

    Parameters
    ----------
    table, columns, categories
        As for ``ProductDistribution.fit``.
    distribution
        The product law to compare with; by default the one that is fitted on the table.
    failure_probability
        Of all that is called proved, together.

    Raises
    ------
    InputError
        As ``ProductDistribution.fit``; fewer than 2 columns, more than 5,000 pairs, or a
        distribution on another domain.
    """
    source = as_source(table)
    failure = check_open_unit("failure_probability", failure_probability)
    names = _choose_compared(source, columns, distribution)
    declared = categories or {}
    only_known(names, declared)
    law = distribution or ProductDistribution.fit(source, columns=names, categories=declared)
    marginals = source.marginals(names, _MAX_JOINT)
    if not sum(marginals[0].values()):
        raise empty(source.words)
    _, listed = coordinates(
        names, marginals, {**_find_declared(law.fitted), **declared}, law.domain
    )
    # What was read off these rows was not fixed before them, so it proves nothing.
    same = _is_fitted_on(law, names, marginals)
    fixed = [not same or k == BITS or n in declared for n, k in zip(names, listed, strict=True)]
    # A third of the failure probability for tau below, for kappa, and for tau above.
    share, count = failure / 3, math.comb(len(names), 2)
    pairs = _compare(
        source, names, listed, law.marginals(), [share / count * is_fixed for is_fixed in fixed]
    )
    if {pair.rows for pair in pairs} != {sum(marginals[0].values())}:
        raise make_change_error(source.words)
    judged = [_pair(pair) for pair in pairs]
    ratios = [_ratios(pair) for pair in pairs]
    upper = _tau_upper(source, names, listed, law, share * all(fixed), pairs[0].rows)
    return Dependence(
        rows=pairs[0].rows,
        columns=tuple(names),
        pairs=tuple(sorted(judged, key=lambda pair: -pair.total_variation)),
        tau_lower=max(pair.proved for pair in judged),
        tau_upper=upper,
        kappa_estimate=max(estimate for estimate, _ in ratios),
        kappa_lower=max(1.0, *(lower for _, lower in ratios)),
        failure_probability=failure,
    )


def _choose_compared(
    source: TableSource,
    columns: str | Sequence[str] | None,
    distribution: ProductDistribution | None,
) -> list[str]:
    """The columns to compare: by default those on which the product law was fitted."""
    if not isinstance(distribution, ProductDistribution | None):
        raise InputError(
            f"distribution={quote(distribution)} must be a ProductDistribution: the columns are "
            f"compared with independent ones",
            name="distribution",
        )
    known_from = None if distribution is None else distribution.fitted
    if columns is None and known_from is not None and known_from.columns:
        columns = list(known_from.columns)
    names = choose_columns(source, columns)
    count = math.comb(len(names), 2)
    if not 1 <= count <= _MAX_PAIRS:
        raise InputError(
            f"columns: {len(names)} columns make {count:,} pairs; choose between 2 and 100 columns",
            name="columns",
        )
    return names


def _is_fitted_on(
    law: ProductDistribution, names: Sequence[str], marginals: Sequence[Mapping[Value, int]]
) -> bool:
    """Whether the law was fitted on rows with the same counts in each column."""
    cells = {
        (name, v): n
        for name, counts in zip(names, marginals, strict=True)
        for v, n in counts.items()
    }
    return law.fitted is not None and law.fitted.counts_hash == counts_hash(cells)


def _find_declared(fitted: Fitted | None) -> dict[str, Sequence[Value]]:
    if fitted is None or fitted.unit != DATASETS:
        return {}
    return dict(zip(fitted.columns, fitted.categories, strict=True))


@dataclass(frozen=True)
class _Compared:
    """Two columns: counts beside the product law, and what a proof may fail with (0: none)."""

    names: tuple[str, str]
    known: tuple[Categories, Categories]
    counts: Table
    product: Table
    failure: float

    @property
    def rows(self) -> int:
        return int(self.counts.sum())

    @property
    def cells(self) -> int:
        # Values that did not occur and were not named are one more value of each column.
        return (len(self.known[0]) + 1) * (len(self.known[1]) + 1)


def _compare(
    source: TableSource,
    names: list[str],
    known: tuple[Categories, ...],
    laws: list[NDArray[np.float64]],
    failures: list[float],
) -> list[_Compared]:
    compared = []
    for i, j in combinations(range(len(names)), 2):
        counts = _joint(source, (names[i], names[j]), (known[i], known[j]))
        failure = min(failures[i], failures[j])
        product = np.outer(laws[i], laws[j])
        compared.append(
            _Compared((names[i], names[j]), (known[i], known[j]), counts, product, failure)
        )
    return compared


def _joint(
    source: TableSource, names: tuple[str, str], known: tuple[Categories, Categories]
) -> Table:
    cells = source.cells(names, _MAX_JOINT)
    table = np.zeros((len(known[0]), len(known[1])))
    left, right = _encode(names, cells, known)
    np.add.at(table, (left, right), [float(n) for n in cells.values()])
    return table


def _encode(
    names: Sequence[str], cells: Cells, known: Sequence[Categories]
) -> list[NDArray[np.int64]]:
    return [codes(name, [key[r] for key in cells], known[r]) for r, name in enumerate(names)]


def _pair(found: _Compared) -> Pair:
    seen, product = found.counts / found.rows, found.product
    variation = float(np.abs(seen - product).sum() / 2)
    radius = variation_radius(found.cells, found.rows, found.failure)
    proved = max(0.0, variation - radius)
    i, j = np.unravel_index(np.argmax(seen - product), seen.shape)
    least = f", proved at least {proved:.3g}" if proved > 0 else ""
    (first, second), (values, others) = found.names, found.known
    sentence = (
        f"{first} and {second}: total variation {variation:.3g}{least}; {first} = {values[i]!r} "
        f"comes with {second} = {others[j]!r} in {seen[i, j]:.2%} of the rows, in "
        f"{product[i, j]:.2%} if they were independent"
    )
    return Pair(first, second, variation, proved, _cramers_v(found.counts), sentence)


def _cramers_v(counts: Table) -> float:
    table = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    least = min(table.shape) - 1
    if least == 0:
        return 0.0
    n = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    return math.sqrt(float(((table - expected) ** 2 / expected).sum()) / (n * least))


def _ratios(found: _Compared) -> tuple[float, float]:
    """kappa on combinations of two values: as seen, and a proved lower bound."""
    seen = found.counts / found.rows
    lower = shares_lower(seen, found.rows, found.failure / found.counts.size)
    # A combination that never occurs, and cannot, says nothing.
    with np.errstate(divide="ignore", invalid="ignore"):
        estimates = np.where(seen > 0, seen / found.product, 0.0)
        proved = np.where(lower > 0, lower / found.product, 0.0)
    return float(estimates.max()), float(proved.max())


def _tau_upper(
    source: TableSource,
    names: list[str],
    known: tuple[Categories, ...],
    law: ProductDistribution,
    failure: float,
    rows: int,
) -> float | None:
    if failure == 0 or law.domain.size > min(rows, _MAX_JOINT):
        return None
    cells = source.cells(names, _MAX_JOINT)
    points = np.stack(_encode(names, cells, known), axis=1)
    seen = np.array([float(n) for n in cells.values()]) / rows
    # Combinations that do not occur add nothing to the positive part. All rows off the domain
    # are one more cell, where the product law is 0.
    excess = float(np.maximum(seen - law.mass(points), 0.0).sum())
    bound = excess + variation_radius(law.domain.size + 1, rows, failure)
    return bound if bound < 1 else None

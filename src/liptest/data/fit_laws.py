"""Chains and mixtures fitted on public tables; see ``SampledDistribution``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.categories import Categories, coded, codes, coordinates
from liptest.data.fitted import DATASETS, Fitted, counts_hash
from liptest.data.laws import MarkovChain, Mixture
from liptest.data.sources import TableSource, as_source, chosen
from liptest.data.values import Value, changed, empty, in_order
from liptest.data.wanted import Wanted
from liptest.domains import Domain
from liptest.errors import InputError, shown
from liptest.fitting import overall_law, shrunk

_MAX_CLASSES = 100

Table = NDArray[np.float64]


def fit_chain(table: Any, wanted: Wanted) -> tuple[Domain, MarkovChain, Fitted, str]:
    """A chain along the columns: each step's matrix shrunk towards the law of its column."""
    wanted.check()
    source = as_source(table)
    names, found, rows = _counted(source, wanted)
    domain, known = coordinates(names, found, wanted.categories, wanted.domain)
    laws = [
        overall_law(coded(counts, values), wanted.smoothing)
        for counts, values in zip(found, known, strict=True)
    ]
    steps = []
    for r, (before, after) in enumerate(pairwise(names)):
        joint = _joint(source, (before, after), (known[r], known[r + 1]), wanted)
        _same_rows(source, joint, rows)
        steps.append(shrunk(joint, laws[r + 1], wanted.shrinkage))
    fitted = _fitted(names, found, known, rows)
    words = f"a Markov chain fitted on the rows of {source.words} ({fitted.words})"
    return domain, MarkovChain(laws[0], tuple(steps), domain.dtype.str), fitted, words


def fit_mixture(table: Any, by: str, wanted: Wanted) -> tuple[Domain, Mixture, Fitted, str]:
    """A product law for each value of the column ``by``, shrunk towards that of all rows."""
    from liptest.distributions import ProductDistribution

    wanted.check()
    source = as_source(table)
    if not isinstance(by, str):
        raise InputError(f"by={shown(by)} must be the name of a column", name="by")
    chosen(source, by)
    columns = [name for name in chosen(source, wanted.columns) if name != by]
    if not columns:
        raise InputError(f"columns: nothing is left beside by={by!r}; name columns", name="columns")
    names, found, rows = _counted(source, wanted, columns)
    domain, known = coordinates(names, found, wanted.categories, wanted.domain)
    (classes,) = source.marginals([by], _MAX_CLASSES)
    order = tuple(in_order(classes))
    laws = []
    for name, counts, values in zip(names, found, known, strict=True):
        joint = _joint(source, (by, name), (order, values), wanted)
        _same_rows(source, joint, rows)
        prior = overall_law(coded(counts, values), wanted.smoothing)
        laws.append(shrunk(joint, prior, wanted.shrinkage))
    components = tuple(
        ProductDistribution(domain, [law[i] for law in laws]) for i in range(len(order))
    )
    weights = coded(classes, order) / rows
    fitted = _fitted(names, found, known, rows)
    words = (
        f"a mixture of {len(order)} product laws, one per {by}, fitted on the rows of "
        f"{source.words} ({fitted.words})"
    )
    return domain, Mixture(components, weights), fitted, words


def _counted(
    source: TableSource, wanted: Wanted, columns: Sequence[str] | None = None
) -> tuple[list[str], list[dict[Value, int]], int]:
    names = chosen(source, wanted.columns if columns is None else columns)
    found = source.marginals(names, wanted.max_values)
    rows = sum(found[0].values())
    if rows == 0:
        raise empty(source.words)
    return names, found, rows


def _joint(
    source: TableSource,
    names: tuple[str, str],
    known: tuple[Categories, Categories],
    wanted: Wanted,
) -> Table:
    cells = source.cells(names, wanted.max_values**2)
    left, right = (codes(n, [key[i] for key in cells], known[i]) for i, n in enumerate(names))
    table = np.zeros((len(known[0]), len(known[1])))
    np.add.at(table, (left, right), [float(count) for count in cells.values()])
    return table


def _same_rows(source: TableSource, joint: Table, rows: int) -> None:
    if joint.sum() != rows:
        raise changed(source.words)


def _fitted(
    names: Sequence[str],
    found: Sequence[Mapping[Value, int]],
    known: tuple[Categories, ...],
    rows: int,
) -> Fitted:
    cells = {(name, v): n for name, one in zip(names, found, strict=True) for v, n in one.items()}
    zero = any(min(coded(one, k)) == 0 for one, k in zip(found, known, strict=True))
    notes = ("values without a row are drawn only if they were smoothed",) if zero else ()
    return Fitted(rows, DATASETS, tuple(names), known, counts_hash(cells), notes=notes)

"""The rows of a public table as a law; see ``SampledDistribution.bootstrap``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from liptest.data.categories import codes, coordinates, of_column
from liptest.data.fitted import DATASETS, Fitted, counts_hash
from liptest.data.laws import Bootstrap
from liptest.data.sources import as_source, chosen, is_table, require_array
from liptest.data.values import empty
from liptest.domains import Domain, check_domain

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
    names = chosen(source, columns)
    cells = source.cells(names, _MAX_ROWS)
    if not cells:
        raise empty(source.words)
    marginals = [of_column(cells, i) for i in range(len(names))]
    where, known = coordinates(names, marginals, categories, domain)
    keys = list(cells)
    parts = [codes(name, [key[i] for key in keys], known[i]) for i, name in enumerate(names)]
    points = where.check_points(np.stack(parts, axis=1))
    counts = np.array(list(cells.values()), dtype=np.int64)
    order = np.lexsort(points.T[::-1])
    fitted = Fitted(int(counts.sum()), DATASETS, tuple(names), known, counts_hash(cells))
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

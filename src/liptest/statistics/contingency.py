"""Contingency tables of records with several attributes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from liptest.data.domains import Domain, Hypergrid, RecordGrid
from liptest.errors import InputError, check_count, shown
from liptest.statistics.contributions import Contributions
from liptest.statistics.protocol import Values


class ContingencyTables(Contributions):
    """Counts of records by some of their attributes; several tables side by side.

    A record has attributes with ``attributes[j]`` values each. Its code is their index in C order:
    with attributes (2, 3) the record (a, b) has the code ``3 a + b``. A margin names attributes;
    its table counts the records by them. Values are (n, k), the tables of all margins one after
    the other, each in C order.

    ``given="records"``
        RecordGrid([cells] * n), cells the product of ``attributes``: n records, of which one is
        replaced.
    ``given="counts"``
        Hypergrid of dimension cells: the dataset is the full table and one record is added or
        removed.

    Edges. A record of code v adds the vector that has a one at its cell in each margin; given as
    counts, coordinate v adds ``x_v`` times that vector. So this is a sum of contributions, with the
    edges that ``Contributions`` proves. What tables with common attributes have in common need no
    rule of its own: only sums of such vectors are reached.

    Parameters
    ----------
    attributes
        Numbers of values, at least 1 each.
    margins
        Sequences of positions in ``attributes``; None means one table of all attributes.
    sizes
        Needed for ``given="counts"``: the sizes of the Hypergrid.

    Raises
    ------
    InputError
        A margin that is empty, repeats an attribute or names one that does not exist.
    """

    def __init__(
        self,
        attributes: Sequence[int],
        *,
        margins: Sequence[Sequence[int]] | None = None,
        sizes: Sequence[int] | None = None,
        given: str = "records",
    ) -> None:
        self.attributes = tuple(check_count("attributes", n) for n in _listed(attributes))
        if not self.attributes:
            raise InputError(
                f"attributes={shown(attributes)} must be the numbers of values of one attribute "
                f"or more, for example [2, 3]",
                name="attributes",
            )
        every = tuple(range(len(self.attributes)))
        self.margins = _checked_margins([every] if margins is None else margins, every)
        if given not in ("records", "counts") or (given == "counts") != (sizes is not None):
            raise InputError(
                f"given={shown(given)}, sizes={shown(sizes)}: use 'records' (RecordGrid, one is "
                f"replaced) without sizes, or 'counts' (Hypergrid, one is added or removed) with "
                f"the sizes of the grid",
                name="given",
            )
        self.given = given
        cells = self._indicators()
        if sizes is None:
            self._fill([cells], shared=True, name="contingency tables")
            return
        self._sizes = tuple(check_count("sizes", size) for size in sizes)
        if len(self._sizes) != len(cells):
            raise InputError(
                f"sizes={shown(sizes)}: {len(self._sizes)} sizes for {len(cells)} cells",
                name="sizes",
            )
        tables = [np.arange(n)[:, None] * row for n, row in zip(self._sizes, cells, strict=True)]
        self._fill(tables, shared=False, name="contingency tables")

    def __repr__(self) -> str:
        margins = shown([list(margin) for margin in self.margins])
        return (
            f"ContingencyTables({list(self.attributes)}, margins={margins}, given={self.given!r})"
        )

    def check(self, domain: Domain) -> None:
        cells = math.prod(self.attributes)
        kind = RecordGrid if self.given == "records" else Hypergrid
        if not isinstance(domain, kind):
            wanted = f"RecordGrid([{cells}] * n)" if kind is RecordGrid else "its Hypergrid"
            raise InputError(f"statistic={self!r} needs {wanted}, not {domain}", name="statistic")
        super().check(domain)

    def _indicators(self) -> Values:
        """(cells, k): what a record of each code adds."""
        codes = np.arange(math.prod(self.attributes))
        values = np.unravel_index(codes, self.attributes)
        tables = []
        for margin in self.margins:
            shape = [self.attributes[j] for j in margin]
            cell = np.ravel_multi_index([values[j] for j in margin], shape)
            tables.append(np.eye(math.prod(shape), dtype=np.int64)[cell])
        return np.concatenate(tables, axis=1)


def _listed(given: Any) -> list[Any]:
    """The entries of a sequence; nothing for what is none."""
    try:
        return list(given)
    except TypeError:
        return []


def _checked_margins(given: Any, every: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    margins = [_listed(margin) for margin in _listed(given)]
    for margin in margins or [[]]:
        whole = all(isinstance(j, (int, np.integer)) and j in every for j in margin)
        if not margin or not whole or len(set(margin)) != len(margin):
            raise InputError(
                f"margins={shown(given)}: each margin is a list of different attributes, named by "
                f"their positions 0 .. {len(every) - 1}, for example [[0], [0, 1]]",
                name="margins",
                value=given,
            )
    return tuple(tuple(int(j) for j in margin) for margin in margins)

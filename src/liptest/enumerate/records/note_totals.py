"""Totals of what records add: numbers of which each value is known, whatever the others are.

Of each record a server gets one of finitely many notes, and adds up a number for it. The total is a
function of a *count*: a whole number between two ends, with the same steps for all totals that go
with each other. Such a total is a ``FactorValue``, all values of which are calculated as the
program would (docs/theory/records.md, P7).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.values.array import CellStorage, SymbolicArray
from liptest.values.draws.factor_values import FactorValue, Variable
from liptest.values.rounding import is_negative_zero

#: What each note adds to one number: none, one or several numbers.
Added = Sequence[tuple[Any, ...]]
#: For each note how many steps it adds, from 0 on.
Steps = tuple[int, ...]
# Totals below are exact whatever their type.
_EXACT = 1 << 53
# Values of one count, and all counts of a program.
_MOST_VALUES, _MOST_COUNTS = 1 << 15, 1 << 10
_WHOLE, _FLOATS = (int, np.int64), (float, np.float64)


@dataclass(eq=False)
class NoteTotals:
    """What records add up to in one run.

    Parameters
    ----------
    tree
        Of the run, which ``refuse`` ends.
    count, notes
        How many records there are, and how many notes a record may have.
    at
        A value of the only count, where the run is about that value alone.
    """

    tree: ChoiceTree
    count: int
    notes: int
    at: int | None = None
    counts: dict[Steps, Variable] = field(default_factory=dict)

    def refuse(self, what: str) -> Any:
        """End the analysis of this program."""
        self.tree.forbid(f"{what}: totals over all records", "add up whole numbers")

    def number(self, start: Any, added: Added, *, in_order: bool = False) -> Any:
        """``start`` with what the notes of all records add to it; ``in_order``: one by one."""
        kind = self._find_kind(start, added)
        sizes = {step for steps in added for step in steps if step}
        if not sizes:
            return kind(start)
        if kind in _FLOATS and not all(float(size).is_integer() for size in {*sizes, start}):
            return self._rounded(start, added, kind, in_order=in_order)
        sums = [int(sum(map(int, steps))) for steps in added]
        most = self.count * max(sum(abs(int(one)) for one in steps) for steps in added)
        if most + abs(int(start)) >= _EXACT:
            self.refuse("numbers too large")
        low, step = min(sums), math.gcd(*(total - min(sums) for total in sums))
        if step == 0:
            return kind(int(start) + self.count * low)
        steps = tuple((total - low) // step for total in sums)
        first = int(start) + self.count * low
        return self._of_count(steps, lambda taken: kind(first + step * taken))

    def array(
        self, start: Any, added: dict[tuple[int, ...], Added], *, in_order: bool = False
    ) -> Any:
        """An array with what the notes of all records add to its entries, by their places."""
        kind = start.dtype.type
        if start.dtype not in (np.dtype(np.int64), np.dtype(np.float64)):
            self.refuse(f"an array of {start.dtype}")
        cells = np.empty(start.shape, dtype=object)
        for place in np.ndindex(start.shape):
            given = added.get(place)
            cells[place] = start[place]
            if given is not None:
                cells[place] = self._cast(start[place], given, kind, in_order=in_order)
        if self.at is not None:
            return np.array(cells.tolist(), dtype=start.dtype).reshape(start.shape)
        return SymbolicArray(CellStorage(self.tree, cells, start.dtype))

    def _cast(self, start: Any, added: Added, kind: Any, *, in_order: bool) -> Any:
        """A number of an array, to whose type what is added is cast."""
        if kind is np.int64 and not all(type(s) in _WHOLE for steps in added for s in steps):
            self.refuse("floats that are added to whole numbers")
        return self.number(start, [tuple(map(kind, steps)) for steps in added], in_order=in_order)

    def _find_kind(self, start: Any, added: Added) -> Any:
        """The type of the total, the same whatever the notes are."""
        every = [step for steps in added for step in steps]
        known = {type(start), *map(type, every)} <= {*_WHOLE, *_FLOATS}
        if not known or is_negative_zero(start) or not all(map(math.isfinite, (start, *every))):
            self.refuse("something else than numbers")
        kinds = {type(start + step) for step in every}
        if () in map(tuple, added) or not kinds:
            kinds.add(type(start))
        if len(kinds) != 1:
            self.refuse("numbers of several types")
        return kinds.pop()

    def _rounded(self, start: Any, added: Added, kind: Any, *, in_order: bool) -> Any:
        """Floats of one size, or 0, that are added one after the other: only how many counts."""
        plain = [tuple(step for step in steps if step) for steps in added]
        sizes = {step for steps in plain for step in steps}
        if not in_order or len(sizes) > 1 or max(map(len, plain)) > 1:
            self.refuse("floats whose total depends on their order")
        [size] = sizes
        totals = [kind(start)]
        for _ in range(self.count):
            totals.append(kind(totals[-1] + size))
        if min(map(len, plain)) == 1:
            return totals[-1]
        return self._of_count(tuple(map(len, plain)), totals.__getitem__)

    def _of_count(self, steps: Steps, make: Any) -> Any:
        """A function of the count of these steps."""
        most = max(steps)
        turned = tuple(most - step for step in steps)
        own, top = min(steps, turned), most * self.count
        if top >= _MOST_VALUES:
            self.refuse("totals of very many values")
        variable = self.counts.get(own)
        if variable is None:
            if len(self.counts) >= _MOST_COUNTS or (self.at is not None and self.counts):
                self.refuse("very many totals")
            variable = self.counts[own] = Variable(self.tree, (1,) * (top + 1))
        places = range(top + 1) if own is steps else range(top, -1, -1)
        if self.at is not None:
            return make(places[self.at])
        return FactorValue(variable, tuple(map(make, places)))

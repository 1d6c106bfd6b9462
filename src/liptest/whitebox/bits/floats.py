"""What is known of the random floats of one call: intervals of the grid, and variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.branching import Branching
from liptest.values.grid import Line
from liptest.whitebox.bits.tables import Entries
from liptest.whitebox.bits.variables import Bits
from liptest.whitebox.floats.uniforms import ArrayUniform

_UNKNOWN = -1


class Floats:
    """What is known of the floats of one call, by their places: an interval, and a variable.

    The variable of a place is 1 where the grid point is below its cut.
    """

    def __init__(self, tree: Branching, lines: tuple[Line, ...], count: int) -> None:
        self.tree = tree
        self._bits = Bits.of(tree)
        self.lines = lines
        self.low = np.zeros(count, dtype=np.int64)
        self.high = np.full(count, lines[0].stop, dtype=np.int64)
        self.variable = np.full(count, _UNKNOWN, dtype=np.int64)
        self.cut = np.zeros(count, dtype=np.int64)
        self.cells: dict[int, Any] = {}

    def line(self, place: int) -> Line:
        """The values of one float."""
        return self.lines[place if len(self.lines) > 1 else 0]

    def cell(self, place: int) -> Any:
        """One float as a number of its own."""
        self._bits.check_current()
        found = self.cells.get(place)
        if found is None:
            self.choose(place)
            found = self.cells[place] = ArrayUniform(self.tree, self.line(place))
            found._low, found._high = int(self.low[place]), int(self.high[place])
        return found

    def choose(self, place: int) -> None:
        """Choose the variable of a float, if it has one."""
        variable = int(self.variable[place])
        if variable >= 0:
            self._narrow(place, bool(self._bits.resolve(variable)))

    def _narrow(self, place: int, below: bool) -> None:
        (self.high if below else self.low)[place] = self.cut[place]
        self.variable[place] = _UNKNOWN

    def below(self, places: NDArray[np.int64], cuts: NDArray[np.int64]) -> Entries:
        """Whether grid points, at places in line, are below cuts: 1 or 0."""
        bits = self._bits
        bits.check_current()
        again = self.variable[places] >= 0
        if again.any():
            for place in places[again & (self.cut[places] != cuts)].tolist():
                self.choose(place)
        fresh = self.variable[places] < 0
        some, cut = places[fresh], cuts[fresh]
        zeros = np.clip(self.high[some] - cut, 0, None)
        ones = np.clip(cut - self.low[some], 0, None)
        common = np.gcd(zeros, ones)
        self.variable[some] = bits.new(zeros // common, ones // common)
        self.cut[some] = np.clip(cut, self.low[some], self.high[some])
        table = np.broadcast_to(np.array([False, True]), (len(places), 2))
        return bits.current(Entries(self.variable[places][:, None], table))

    def value(self, place: int, point_in: Callable[[int, int], int]) -> Any:
        """A float that is possible."""
        cell = self.cells.get(place)
        if cell is not None:
            return cell.concrete(point_in)
        return self.line(place).value(self._point(place, point_in))

    def _point(self, place: int, point_in: Callable[[int, int], int]) -> int:
        low, high = int(self.low[place]), int(self.high[place])
        variable = int(self.variable[place])
        if variable >= 0:
            below = bool(self._bits.sample(point_in)[variable])
            low, high = (low, int(self.cut[place])) if below else (int(self.cut[place]), high)
        return point_in(low, high)

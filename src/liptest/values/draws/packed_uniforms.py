"""The random floats of one call, packed: intervals of the grid, and a Bernoulli variable for each.

An array of random floats has no entries of its own at first. A comparison with numbers makes a
variable of each entry, and tells that its grid point is below a cut or not. An entry that is used
in any other way becomes a number of its own (``uniform``), after a choice of its variable.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.array import CellStorage, Move, Storage, SymbolicArray, fill_array
from liptest.values.binary.bernoulli import BernoulliVariables, find_distinct
from liptest.values.binary.bits import array_of_tables
from liptest.values.binary.truth_tables import TruthTables
from liptest.values.branching import Branching
from liptest.values.draws.grid import UNIT, Line
from liptest.values.draws.interval_points import IntervalPoints
from liptest.values.draws.uniform import UniformEntry
from liptest.values.protocol import Symbolic, concretise_all

# Which cut a comparison makes, and whether it holds below it.
_CUTS: dict[Any, tuple[str, bool]] = {
    np.less: ("at_least", True),
    np.greater_equal: ("at_least", False),
    np.less_equal: ("above", True),
    np.greater: ("above", False),
}
_MIRRORED = {
    np.less: np.greater,
    np.greater: np.less,
    np.less_equal: np.greater_equal,
    np.greater_equal: np.less_equal,
}
_UNKNOWN = -1
# Kept: while a program is analysed the names may stand for something else.
_NONZERO, _WHERE = np.nonzero, np.where


class _Floats:
    """What is known of the floats of one call, by their places: an interval, and a variable.

    The variable of a place is 1 where the grid point is below its cut.
    """

    def __init__(self, branching: Branching, lines: tuple[Line, ...], count: int) -> None:
        self.branching = branching
        self.variables = BernoulliVariables.of(branching)
        self.lines = lines
        self.low = np.zeros(count, dtype=np.int64)
        self.high = np.full(count, lines[0].stop, dtype=np.int64)
        self.variable = np.full(count, _UNKNOWN, dtype=np.int64)
        self.cut = np.zeros(count, dtype=np.int64)
        self.cells: dict[int, UniformEntry] = {}

    def line(self, place: int) -> Line:
        """The values of one float."""
        return self.lines[place if len(self.lines) > 1 else 0]

    def cell(self, place: int) -> UniformEntry:
        """One float as a number of its own, the same one each time."""
        self.variables.check_current()
        entry = self.cells.get(place)
        if entry is None:
            self.choose(place)
            entry = self.cells[place] = UniformEntry(self.branching, self.line(place))
            entry.low, entry.high = int(self.low[place]), int(self.high[place])
        return entry

    def choose(self, place: int) -> None:
        """Choose the variable of a float, if it has one."""
        variable = int(self.variable[place])
        if variable >= 0:
            below = bool(self.variables.resolve(variable))
            (self.high if below else self.low)[place] = self.cut[place]
            self.variable[place] = _UNKNOWN

    def below(self, places: NDArray[np.int64], cuts: NDArray[np.int64]) -> TruthTables:
        """Whether grid points, at places in line, are below cuts: 1 or 0."""
        variables = self.variables
        variables.check_current()
        again = self.variable[places] >= 0
        if again.any():
            for place in places[again & (self.cut[places] != cuts)].tolist():
                self.choose(place)
        fresh = self.variable[places] < 0
        some, cut = places[fresh], cuts[fresh]
        zeros = np.clip(self.high[some] - cut, 0, None)
        ones = np.clip(cut - self.low[some], 0, None)
        common = np.gcd(zeros, ones)
        self.variable[some] = variables.new(zeros // common, ones // common)
        self.cut[some] = np.clip(cut, self.low[some], self.high[some])
        table = np.broadcast_to(np.array([False, True]), (len(places), 2))
        return TruthTables(self.variable[places][:, None], table)

    def replay(self, place: int, point_in: Callable[[int, int], int]) -> Any:
        """A float that is possible."""
        cell = self.cells.get(place)
        if cell is not None:
            return cell.replay(point_in)
        low, high = int(self.low[place]), int(self.high[place])
        variable = int(self.variable[place])
        if variable >= 0:
            below = bool(self.variables.sample(point_in)[variable])
            low, high = (low, int(self.cut[place])) if below else (int(self.cut[place]), high)
        return self.line(place).value(point_in(low, high))

    @property
    def are_untouched(self) -> bool:
        """Whether all are of one line, and none is a number of its own."""
        return not self.cells and len(self.lines) == 1

    def replay_all(self, places: NDArray[np.int64], points: IntervalPoints) -> NDArray[Any]:
        """Floats that are possible, (n,), where all are untouched."""
        low, high, variable = self.low[places], self.high[places], self.variable[places]
        asked = _NONZERO(variable >= 0)[0]
        if len(asked):
            is_below = self.variables.sample(points)[variable[asked]] == 1
            cut = self.cut[places[asked]]
            low[asked] = _WHERE(is_below, low[asked], cut)
            high[asked] = _WHERE(is_below, cut, high[asked])
        return self.lines[0].values(points.many(low, high))


class _Shared:
    """What an array of floats and its views have in common: floats by place, until one is written.

    From then on they are cells.
    """

    __slots__ = ("cells", "floats", "places")

    def __init__(self, floats: _Floats, places: NDArray[np.int64]) -> None:
        self.floats = floats
        self.places = places
        self.cells: CellStorage | None = None

    def written(self) -> CellStorage:
        """The numbers themselves, to write into."""
        if self.cells is None:
            cells = map(self.floats.cell, self.places.tolist())
            line = np.fromiter(cells, object, len(self.places))
            self.cells = CellStorage(self.floats.branching, line, np.float64)
        return self.cells


class PackedUniforms(Storage):
    """Random floats of one call, or a view or a copy of some. See the module."""

    __slots__ = ("_at", "_shared")

    dtype = np.dtype(np.float64)

    def __init__(self, shared: _Shared, at: NDArray[np.int64]) -> None:
        self.branching = shared.floats.branching
        self._shared = shared
        self._at = at

    @property
    def shape(self) -> tuple[int, ...]:
        return self._at.shape

    def cells(self) -> NDArray[Any]:
        shared = self._shared
        if shared.cells is not None:
            made = shared.cells.cells()[self._at]
            # Not by np.asarray, which stands for another function during an analysis.
            return made if type(made) is np.ndarray else fill_array([made], (), object)
        cells = map(shared.floats.cell, shared.places[self._at].ravel().tolist())
        return np.fromiter(cells, object, self._at.size).reshape(self._at.shape)

    def moved(self, move: Move) -> Any:
        at, shared = move(self._at), self._shared
        if not isinstance(at, np.ndarray):
            if shared.cells is not None:
                return shared.cells.moved(lambda cells: cells[at])
            return shared.floats.cell(int(shared.places[at]))
        if np.may_share_memory(at, self._at):
            return PackedUniforms(shared, at)
        if shared.cells is not None:
            return CellStorage(self.branching, shared.cells.cells()[at], self.dtype)
        line = np.arange(at.size).reshape(at.shape)
        return PackedUniforms(_Shared(shared.floats, shared.places[at].ravel()), line)

    def write(self, index: Any, value: Any) -> None:
        place = concretise_all(index, "an index")
        self._shared.written().write(self._at[place], value)

    def shares_memory(self, other: Storage) -> bool:
        return type(other) is PackedUniforms and other._shared is self._shared

    def replay(self, point_in: Callable[[int, int], int]) -> NDArray[Any]:
        floats = self._shared.floats
        places = self._shared.places[self._at].ravel()
        if type(point_in) is IntervalPoints and floats.are_untouched:
            return floats.replay_all(places, point_in).reshape(self.shape)
        values = [floats.replay(place, point_in) for place in places.tolist()]
        return np.array(values, dtype=np.float64).reshape(self.shape)

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        if ufunc not in _CUTS:
            return NotImplemented
        array, bound = inputs
        if type(array) is not SymbolicArray or array.storage is not self:
            array, bound, ufunc = bound, array, _MIRRORED[ufunc]
        if type(array) is not SymbolicArray or array.storage is not self:
            return NotImplemented
        return self._compare(ufunc, bound)

    def _compare(self, ufunc: Any, bound: Any) -> Any:
        """A comparison with plain numbers as an array of variables."""
        shared = self._shared
        if shared.cells is not None or not _is_plain(bound):
            return NotImplemented
        shape = np.broadcast_shapes(self.shape, np.shape(bound))
        places = np.broadcast_to(shared.places[self._at], shape).ravel()
        floats = shared.floats
        if len(find_distinct(places)) < len(places) or not floats.cells.keys().isdisjoint(
            places.tolist()
        ):
            return NotImplemented
        name, holds = _CUTS[ufunc]
        bounds = np.asarray(bound, dtype=np.float64)
        below = floats.below(places, self._cuts(name, holds, places, bounds, shape))
        table = (below.table if holds else ~below.table).reshape(*shape, 1 << below.count)
        tables = TruthTables(below.variables.reshape(*shape, below.count), table)
        return array_of_tables(floats.variables, tables)

    def _cuts(
        self,
        name: str,
        holds: bool,
        places: NDArray[np.int64],
        bounds: NDArray[np.float64],
        shape: tuple[int, ...],
    ) -> NDArray[np.int64]:
        floats = self._shared.floats
        if len(floats.lines) == 1:
            cuts = _find_cuts(floats.lines[0], name, bounds.tobytes(), holds)
            return np.broadcast_to(cuts.reshape(bounds.shape), shape).ravel()
        pairs = zip(places.tolist(), np.broadcast_to(bounds, shape).ravel().tolist(), strict=True)
        return np.array([_cut(floats.line(place), name, bound, holds) for place, bound in pairs])


def _is_plain(bound: Any) -> bool:
    """Whether NumPy compares it as floats of 64 bits."""
    kind = type(bound)
    if issubclass(kind, Symbolic):
        return False
    if kind in (int, float, bool):
        return True
    if not isinstance(bound, (np.ndarray, np.generic)):
        return False
    return bound.dtype.kind in "biuf" and bound.dtype.itemsize <= 8


def _cut(line: Line, name: str, bound: float, holds: bool) -> int:
    """The first grid point that a bound leaves out; a comparison with NaN holds nowhere."""
    if bound != bound:
        return 0 if holds else line.stop
    cut: int = getattr(line, name)(bound)
    return cut


@lru_cache(maxsize=256)
def _find_cuts(line: Line, name: str, bounds: bytes, holds: bool) -> NDArray[np.int64]:
    return np.array([_cut(line, name, bound, holds) for bound in np.frombuffer(bounds).tolist()])


def draw_floats(branching: Branching, shape: tuple[int, ...], *lines: Line) -> Any:
    """Independent random floats in an array of the given shape, of one line or of one each."""
    array = _pack_floats(branching, shape, lines or (UNIT,))
    if branching.draw_log is None:
        return array
    laws = tuple(line.law for line in lines or (UNIT,))
    return branching.draw_log.hand_out(array, (shape, laws))


def draw_one_by_one(branching: Branching, count: int, line: Line) -> Any:
    """An array of independent random floats, which the program draws one after another."""
    array = _pack_floats(branching, (count,), (line,))
    if branching.draw_log is not None:
        branching.draw_log.hand_out(_OneByOne(array.as_drawn()), line.law)
    return array


class _OneByOne:
    """Draws of an array as a list of them, as they are replayed."""

    def __init__(self, drawn: Any) -> None:
        self._drawn = drawn

    def as_drawn(self) -> _OneByOne:
        return self

    def replay(self, point_in: Callable[[int, int], int]) -> list[float]:
        floats: list[float] = self._drawn.replay(point_in).tolist()
        return floats


def _pack_floats(
    branching: Branching, shape: tuple[int, ...], lines: tuple[Line, ...]
) -> SymbolicArray:
    count = math.prod(shape)
    places = np.arange(count)
    floats = _Floats(branching, lines, count)
    return SymbolicArray(PackedUniforms(_Shared(floats, places), places.reshape(shape)))

"""Arrays of independent draws that become 0/1 variables where they are compared, or from the start.

An array of random floats has no entries of its own at first. A comparison with numbers makes a
variable of each entry, and tells that its grid point is below a cut or not. An entry that is used
in any other way becomes a number of its own (``uniforms``), its variable being chosen before.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.whitebox.bit_arrays import array_of
from liptest.whitebox.bit_tables import Entries
from liptest.whitebox.bits import Bits
from liptest.whitebox.choices import ChoiceTree
from liptest.whitebox.ducks import COMPARISONS, Duck
from liptest.whitebox.grid import UNIT, Line
from liptest.whitebox.uniform_arrays import UniformArray
from liptest.whitebox.uniforms import ArrayUniform

_UNKNOWN = -1
# Which cut a comparison makes, and whether it holds below it.
_CUTS: dict[Any, tuple[str, bool]] = {
    np.less: ("at_least", True),
    np.greater_equal: ("at_least", False),
    np.less_equal: ("above", True),
    np.greater: ("above", False),
}


class Floats:
    """What is known of the floats of one call, by their places: an interval, and a variable.

    The variable of a place is 1 where the grid point is below its cut.
    """

    def __init__(self, tree: ChoiceTree, lines: tuple[Line, ...], count: int) -> None:
        self.tree = tree
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
            self._narrow(place, bool(Bits.of(self.tree).resolve(variable)))

    def _narrow(self, place: int, below: bool) -> None:
        (self.high if below else self.low)[place] = self.cut[place]
        self.variable[place] = _UNKNOWN

    def below(self, places: NDArray[np.int64], cuts: NDArray[np.int64]) -> Entries:
        """Whether grid points, at places in line, are below cuts: 1 or 0."""
        bits = Bits.of(self.tree)
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

    def point(self, place: int, point_in: Callable[[int, int], int]) -> int:
        """A grid point that is possible."""
        cell = self.cells.get(place)
        if cell is not None:
            return point_in(cell._low, cell._high)
        low, high = int(self.low[place]), int(self.high[place])
        variable = int(self.variable[place])
        if variable >= 0:
            below = bool(Bits.of(self.tree).sample(point_in)[variable])
            low, high = (low, int(self.cut[place])) if below else (int(self.cut[place]), high)
        return point_in(low, high)


class Frame:
    """What an array of floats and its views share: floats by place, until one is written."""

    __slots__ = ("cells", "floats", "places")

    def __init__(self, floats: Floats, places: NDArray[np.int64]) -> None:
        self.floats = floats
        self.places = places
        self.cells: NDArray[Any] | None = None

    def written(self) -> NDArray[Any]:
        """The numbers themselves, to write into."""
        if self.cells is None:
            cells = map(self.floats.cell, self.places.tolist())
            self.cells = np.fromiter(cells, object, len(self.places))
        return self.cells


class DrawnArray(UniformArray):
    """An array of random floats of one call, or a view or a copy of some. See the module."""

    __slots__ = ("_at", "_frame")

    __hash__ = Duck.__hash__

    def __init__(self, frame: Frame, at: NDArray[np.int64]) -> None:
        self._tree = frame.floats.tree
        self._frame = frame
        self._at = at

    @property
    def _cells(self) -> NDArray[Any]:  # type: ignore[override]
        """The numbers, to read."""
        frame = self._frame
        if frame.cells is not None:
            return np.asarray(frame.cells[self._at])
        cells = map(frame.floats.cell, frame.places[self._at].ravel().tolist())
        return np.fromiter(cells, object, self._at.size).reshape(self._at.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._at.shape

    @property
    def ndim(self) -> int:
        return self._at.ndim

    @property
    def size(self) -> int:
        return self._at.size

    def __len__(self) -> int:
        return len(self._at)

    @property
    def T(self) -> UniformArray:
        return self._moved(self._at.T)

    def reshape(self, *shape: Any) -> UniformArray:
        return self._moved(self._at.reshape(*shape))

    def ravel(self) -> UniformArray:
        return self._moved(self._at.ravel())

    def flatten(self) -> UniformArray:
        return self._moved(self._at.flatten())

    def copy(self) -> UniformArray:
        return self._moved(self._at.copy())

    def _moved(self, at: NDArray[np.int64]) -> UniformArray:
        """A view or a copy, as NumPy made one of the places."""
        if np.may_share_memory(at, self._at):
            return DrawnArray(self._frame, at)
        if self._frame.cells is not None:
            return UniformArray(self._tree, self._frame.cells[at])
        line = np.arange(at.size).reshape(at.shape)
        return DrawnArray(Frame(self._frame.floats, self._frame.places[at].ravel()), line)

    def as_born(self) -> UniformArray:
        return self.copy()

    def real(self, point_in: Callable[[int, int], int]) -> NDArray[np.float64]:
        floats = self._frame.floats
        places = self._frame.places[self._at].ravel().tolist()
        values = [floats.line(place).value(floats.point(place, point_in)) for place in places]
        return np.array(values, dtype=np.float64).reshape(self.shape)

    def __getitem__(self, index: Any) -> Any:
        at = self._at[index]
        if isinstance(at, np.ndarray):
            return self._moved(at)
        frame = self._frame
        if frame.cells is not None:
            return frame.cells[at]
        return frame.floats.cell(int(frame.places[at]))

    def __setitem__(self, index: Any, value: Any) -> None:
        cells = self._frame.written()
        line = UniformArray(self._tree, cells)
        line[self._at[index]] = value

    def compared(self, ufunc: Any, bound: Any) -> Any:
        """A comparison with plain numbers as an array of variables; None for any other."""
        frame = self._frame
        if frame.cells is not None or ufunc not in _CUTS or not _is_plain(bound):
            return None
        shape = np.broadcast_shapes(self.shape, np.shape(bound))
        places = np.broadcast_to(frame.places[self._at], shape).ravel()
        if len(np.unique(places)) < len(places) or not frame.floats.cells.keys().isdisjoint(
            places.tolist()
        ):
            return None
        name, holds = _CUTS[ufunc]
        bounds = np.asarray(bound, dtype=np.float64)
        below = frame.floats.below(places, self._cuts(name, holds, places, bounds, shape))
        table = (below.table if holds else ~below.table).reshape(*shape, -1)
        entries = Entries(below.variables.reshape(*shape, -1), table)
        return array_of(Bits.of(self._tree), entries)

    def _cuts(
        self,
        name: str,
        holds: bool,
        places: NDArray[np.int64],
        bounds: NDArray[np.float64],
        shape: tuple[int, ...],
    ) -> NDArray[np.int64]:
        floats = self._frame.floats
        if len(floats.lines) == 1:
            found = _cuts(floats.lines[0], name, bounds.tobytes(), holds)
            return np.broadcast_to(found.reshape(bounds.shape), shape).ravel()
        pairs = zip(places.tolist(), np.broadcast_to(bounds, shape).ravel().tolist(), strict=True)
        return np.array([_cut(floats.line(place), name, one, holds) for place, one in pairs])

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if ufunc in COMPARISONS and method == "__call__" and not options:
            array, bound = inputs
            if type(array) is DrawnArray:
                found = array.compared(ufunc, bound)
            else:
                found = bound.compared(_MIRRORED.get(ufunc), array)
            if found is not None:
                return found
        return UniformArray.__array_ufunc__(self, ufunc, method, *inputs, **options)


_MIRRORED = {
    np.less: np.greater,
    np.greater: np.less,
    np.less_equal: np.greater_equal,
    np.greater_equal: np.less_equal,
}


def _comparison(ufunc: Any) -> Callable[[DrawnArray, Any], Any]:
    def compare(self: DrawnArray, bound: Any) -> Any:
        return self.__array_ufunc__(ufunc, "__call__", self, bound)

    return compare


for _ufunc, _operation in COMPARISONS.items():
    setattr(DrawnArray, f"__{_operation.__name__}__", _comparison(_ufunc))


def _is_plain(bound: Any) -> bool:
    """Whether NumPy compares it as floats of 64 bits."""
    kind = type(bound)
    if issubclass(kind, Duck):
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
    found: int = getattr(line, name)(bound)
    return found


@lru_cache(maxsize=256)
def _cuts(line: Line, name: str, bounds: bytes, holds: bool) -> NDArray[np.int64]:
    return np.array([_cut(line, name, one, holds) for one in np.frombuffer(bounds).tolist()])


def drawn_floats(tree: ChoiceTree, shape: tuple[int, ...], *lines: Line) -> Any:
    """Independent random floats in an array of the given shape, of one line or of one each."""
    count = math.prod(shape)
    floats = Floats(tree, lines or (UNIT,), count)
    places = np.arange(count)
    array = DrawnArray(Frame(floats, places), places.reshape(shape))
    return array if tree.births is None else tree.births.of(array)


def drawn_bits(
    tree: ChoiceTree, shape: tuple[int, ...], weights: tuple[int, int], values: NDArray[Any]
) -> Any:
    """Independent draws of one of two values, with whole-number weights below 2**62."""
    count = math.prod(shape)
    bits = Bits.of(tree)
    common = math.gcd(*weights)
    zeros, ones = (np.full(count, weight // common, dtype=np.int64) for weight in weights)
    variables = bits.new(zeros, ones).reshape(*shape, 1)
    table = np.broadcast_to(values, (*shape, 2))
    array = array_of(bits, bits.current(Entries(variables, table).used()))
    return array if tree.births is None else tree.births.of(array)

"""Arrays of independent draws that become 0/1 variables where they are compared, or from the start.

An array of random floats has no entries of its own at first. A comparison with numbers makes a
variable of each entry, and tells that its grid point is below a cut or not. An entry that is used
in any other way becomes a number of its own (``floats.uniforms``), after a choice of its variable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.values.branching import Branching
from liptest.values.faults import raises_as_numpy
from liptest.values.grid import UNIT, Line
from liptest.whitebox.bits.arrays import array_of
from liptest.whitebox.bits.floats import Floats
from liptest.whitebox.bits.numbers import MOST
from liptest.whitebox.bits.tables import Entries
from liptest.whitebox.bits.variables import Bits
from liptest.whitebox.ducks import COMPARISONS, Duck
from liptest.whitebox.floats.uniform_arrays import UniformArray

# Which cut a comparison makes, and whether it holds below it.
_CUTS: dict[Any, tuple[str, bool]] = {
    np.less: ("at_least", True),
    np.greater_equal: ("at_least", False),
    np.less_equal: ("above", True),
    np.greater: ("above", False),
}


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

    @raises_as_numpy
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

    def concrete(self, point_in: Callable[[int, int], int]) -> NDArray[np.float64]:
        floats = self._frame.floats
        places = self._frame.places[self._at].ravel().tolist()
        values = [floats.value(place, point_in) for place in places]
        return np.array(values, dtype=np.float64).reshape(self.shape)

    @raises_as_numpy
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
        table = (below.table if holds else ~below.table).reshape(*shape, 1 << below.count)
        entries = Entries(below.variables.reshape(*shape, below.count), table)
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


def drawn_floats(tree: Branching, shape: tuple[int, ...], *lines: Line) -> Any:
    """Independent random floats in an array of the given shape, of one line or of one each."""
    count = math.prod(shape)
    floats = Floats(tree, lines or (UNIT,), count)
    places = np.arange(count)
    array = DrawnArray(Frame(floats, places), places.reshape(shape))
    return array if tree.draw_log is None else tree.draw_log.hand_out(array)


def drawn_bits(tree: Branching, weights: Sequence[Sequence[int]], values: NDArray[Any]) -> Any:
    """Independent draws of one of two values each, ``values`` being (shape, 2).

    ``weights`` are whole numbers for all of them, or for each in line. None where these have too
    many digits, or NumPy's array would have no dimensions or hold objects.
    """
    shape = values.shape[:-1]
    if not shape or values.dtype.hasobject or max(map(sum, weights)) >= MOST:
        return None
    pairs = np.broadcast_to(np.array(weights, dtype=np.int64), (math.prod(shape), 2))
    lowest = pairs // np.gcd(pairs[:, 0], pairs[:, 1])[:, None]
    bits = Bits.of(tree)
    variables = bits.new(lowest[:, 0], lowest[:, 1]).reshape(*shape, 1)
    array = array_of(bits, bits.current(Entries(variables, values)).used())
    fixed = tree.draw_log is None or type(array) is np.ndarray
    return array if fixed else tree.draw_log.hand_out(array)  # type: ignore[union-attr]

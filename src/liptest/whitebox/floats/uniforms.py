"""Uniform random numbers as intervals of NumPy's grid of 2**53 floats.

``rng.random()`` returns j * 2**-53 with j uniform on 0 .. 2**53 - 1. Here j is known to lie in an
interval, at first all of the grid, and each comparison with a number splits it in two: exactly
the probabilities of the code as it runs, floats included. What is calculated from it and
constants is a monotone function of j, compared alike (``images``); what rounds it branches over
its values. Every other use aborts the analysis: any answer would be one value out of many.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from liptest.values.branching import Branching
from liptest.values.grid import GRID, UNIT, Line, split_weights, whole_line
from liptest.values.images import UNCERTAIN, Image, regions
from liptest.values.transforms import AS_ENTRY, AS_FLOAT
from liptest.whitebox.ducks import COMPARISONS, EXACT, Duck, with_noise
from liptest.whitebox.floats.monotone import Number, cells_of

# In place of a choice that was made before.
_NOTHING: tuple[Any, int] = (None, 0)


class Uniform(Number):
    """A random float, known to lie in an interval of grid points (stands for a Python float)."""

    __slots__ = ("_high", "_line", "_low")

    __hash__ = Duck.__hash__
    _line: Any

    def __init__(self, tree: Branching, line: Line = UNIT) -> None:
        self._tree = tree
        self._line = line
        self._low = 0
        self._high = line.stop

    def __lt__(self, bound: Any) -> Any:
        if type(bound) is not float or self._high != GRID or self._low != 0:
            return self._narrowed_below(bound)
        # The first comparison of a number, mostly the only one: all short cuts are taken.
        line = self._line
        cut, weights = line.known_halves.get(bound) or line.halves(bound)
        if weights is None:
            return bool(cut)
        tree = self._tree
        path, depth = tree.path, tree.depth
        known, upper = path[depth] if depth < len(path) else _NOTHING
        if known is weights:
            tree.depth = depth + 1
        else:
            upper = tree.choose(weights)
        if upper:
            self._low = cut
            return False
        self._high = cut
        return True

    def _narrowed_below(self, bound: Any) -> Any:
        if type(bound) not in EXACT:
            return self._compare(np.less, bound)
        # A NaN is above no value, so the cut is where nothing is below.
        return self._below(self._line.at_least(bound))

    def __ge__(self, bound: Any) -> Any:
        if type(bound) not in EXACT:
            return self._compare(np.greater_equal, bound)
        return bound == bound and not self._below(self._line.at_least(bound))

    def __le__(self, bound: Any) -> Any:
        if type(bound) not in EXACT:
            return self._compare(np.less_equal, bound)
        return bound == bound and self._below(self._line.above(bound))

    def __gt__(self, bound: Any) -> Any:
        if type(bound) not in EXACT:
            return self._compare(np.greater, bound)
        return bound == bound and not self._below(self._line.above(bound))

    def __eq__(self, bound: Any) -> Any:
        if type(bound) not in EXACT:
            return self._compare(np.equal, bound)
        if bound != bound:
            return False
        first, after = self._line.at_least(bound), self._line.above(bound)
        return first != after and not self._below(first) and self._below(after)

    def __ne__(self, bound: Any) -> Any:
        if type(bound) not in EXACT:
            return self._compare(np.not_equal, bound)
        return not self.__eq__(bound)

    def as_born(self) -> Uniform:
        """What stays of it whatever is done to it."""
        return self

    def concrete(self, point_in: Callable[[int, int], int]) -> Any:
        """A float that it may be: of the grid point that ``point_in(start, stop)`` chooses."""
        return self._line.value(point_in(self._low, self._high))

    def _derived(self, image: Image) -> Any:
        return _DERIVED[image.kind](self, image)

    def _source_below(self, cut: int) -> bool:
        """Whether the grid point is below ``cut``: known, or chosen by weight."""
        low, high = self._low, self._high
        if cut <= low:
            return False
        if cut >= high:
            return True
        if self._tree.choose(split_weights(cut - low, high - cut)):
            self._low = cut
            return False
        self._high = cut
        return True

    _below = _source_below

    def _compare(self, ufunc: Any, bound: Any) -> Any:
        kind, comparison = type(bound), COMPARISONS[ufunc]
        if with_noise((bound,)):
            return NotImplemented
        if issubclass(kind, Duck):
            return comparison(*self._one_settled(bound, "a comparison with another random number"))
        if isinstance(bound, np.ndarray):
            return ufunc(*cells_of((self, bound)))
        if isinstance(bound, (np.float64, np.integer, np.bool_)):
            return np.bool_(comparison(self, bound.item()))
        if isinstance(bound, (np.number, complex)):
            self.escape(f"a comparison with a {kind.__name__}")
        if isinstance(bound, (int, float)):
            plain = int(bound) if isinstance(bound, int) else float(bound)
            return comparison(self, plain)
        return NotImplemented


class ArrayUniform(Uniform):
    """An entry of an array of random floats: stands for a numpy.float64, answers numpy.bool_."""

    __slots__ = ()

    _looks_like = np.float64
    __hash__ = Duck.__hash__
    #: As of a numpy.float64.
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1
    dtype = np.dtype(np.float64)

    def item(self) -> Any:
        """The same number as a Python float."""
        return self.after(AS_FLOAT)

    def __lt__(self, bound: Any) -> Any:
        return _as_numpy(Uniform.__lt__(self, bound))

    def __ge__(self, bound: Any) -> Any:
        return _as_numpy(Uniform.__ge__(self, bound))

    def __le__(self, bound: Any) -> Any:
        return _as_numpy(Uniform.__le__(self, bound))

    def __gt__(self, bound: Any) -> Any:
        return _as_numpy(Uniform.__gt__(self, bound))

    def __eq__(self, bound: Any) -> Any:
        return _as_numpy(Uniform.__eq__(self, bound))

    def __ne__(self, bound: Any) -> Any:
        return _as_numpy(Uniform.__ne__(self, bound))

    def _line_seen(self) -> Any:
        return regions(self._line, AS_ENTRY)[0].image


class Derived(Uniform):
    """A monotone function of a random float, a Python float itself; known together with it."""

    __slots__ = ("_of",)

    __hash__ = Duck.__hash__

    def __init__(self, source: Uniform, image: Image) -> None:
        self._tree = source._tree
        self._of = source
        self._line = image
        # No interval of its own: it is known as far as its source is.
        self._low = self._high = -1

    def _source(self) -> Uniform:
        return self._of

    def _below(self, cut: int) -> bool:
        """Whether the value is on the lower side of a cut of the grid."""
        if cut == UNCERTAIN:
            self.escape("a comparison, where it is not monotone in its last digits")
        below: bool = self._of._source_below(cut) == self._line.rising
        return below


class DerivedEntry(ArrayUniform):
    """The same as a numpy.float64."""

    __slots__ = ("_of",)

    __hash__ = Duck.__hash__
    __init__ = Derived.__init__
    _source = Derived._source
    _below = Derived._below
    _line_seen = Uniform._line_seen


class Whole(Uniform):
    """A random whole number of very many, all of them equally likely (stands for an int)."""

    __slots__ = ()

    _looks_like = int
    __hash__ = Duck.__hash__

    def __init__(self, tree: Branching, count: int) -> None:
        super().__init__(tree, whole_line(count))


class DerivedWhole(Derived):
    """A monotone function of a random number that is an int."""

    __slots__ = ()

    _looks_like = int
    __hash__ = Duck.__hash__


_DERIVED: dict[type, Any] = {float: Derived, np.float64: DerivedEntry, int: DerivedWhole}


def uniform_below(tree: Branching, count: int) -> Any:
    """A uniform whole number below ``count``: chosen, or where there are too many, compared."""
    if count <= tree.max_leaves:
        return tree.choose(count)
    number = Whole(tree, count)
    return number if tree.draw_log is None else tree.draw_log.hand_out(number)


def _as_numpy(answer: Any) -> Any:
    return np.bool_(answer) if type(answer) is bool else answer

"""Numbers that are sums of symbolic noise and data: calculating and comparing.

A ``Real`` has continuous noise in it, a ``Whole`` (``noise.wholes``) is a rounded one or has
discrete noise only. What is calculated from them, other such numbers and constants is such a
number again; the rounding of floats is not followed. Comparisons choose a way. What is neither
is refused with its line.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from liptest.symbolic.forms import Form, Rational, lean
from liptest.values.lines import line_in_words, place_of
from liptest.values.noise import ADVICE
from liptest.values.noise_run import NoiseRun, NoisyValue
from liptest.whitebox.ducks import Duck

#: Types that a number with noise may stand for.
KINDS: frozenset[type] = frozenset({float, int, np.float64, np.int64})


_NO_FLOAT = (
    "leave float() away, the number itself may be compared, rounded and answered; collect such "
    "numbers in a list, not in an array of floats"
)


_NUMBERS = (int, float, np.integer, np.floating, np.bool_, Fraction)


class Noisy(Duck):
    """Base of what stands for one number with noise: a Python number, or an entry of an array."""

    __slots__ = ("_looks_like", "_run")

    __hash__ = Duck.__hash__
    _is_noise = True
    _looks_like: Any
    _run: NoiseRun
    #: As of a number of NumPy.
    shape: tuple[int, ...] = ()
    ndim = 0
    size = 1

    @property
    def dtype(self) -> Any:
        """As of an entry of an array."""
        return np.dtype(self._looks_like)

    @property
    def __array__(self) -> NoReturn:
        """None: an array of such numbers is an array of objects."""
        raise AttributeError("__array__")

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number for certain."""
        return False

    @property
    def is_precise(self) -> bool:
        """Whether no float is rounded on its way, or that has probability 0 to matter."""
        return True

    def linear(self) -> Form | None:
        """What it is as a sum of noise; None where it is rounded."""
        raise NotImplementedError

    def compared(self, comparison: Callable[[Any, Any], Any], bound: Any) -> bool:
        """With a finite number."""
        raise NotImplementedError

    def with_constant(
        self, operation: Callable[[Any, Any], Any], constant: Any, kind: Any, *, swapped: bool
    ) -> Any:
        """Arithmetic with a finite number, which gives a number of a type."""
        raise NotImplementedError

    def typed(self, kind: Any) -> Any:
        """The same number, standing for another type."""
        raise NotImplementedError

    def rounded(self, how: str, kind: Any) -> Any:
        """ "floor", "ceil" or "rint" of it, as a number of a type."""
        raise NotImplementedError

    def concrete(self, point_in: Callable[[int, int], int]) -> Any:
        """A number that it may be."""
        raise NotImplementedError

    def as_born(self) -> Noisy:
        """What stays of it whatever is done to it."""
        return self

    def escape(self, use: str) -> NoReturn:
        where = line_in_words(*place_of(sys._getframe(1)))
        said = f" ({where})" if where else ""
        advice = f"{_NO_FLOAT}; else {ADVICE}" if use == "float()" else ADVICE
        self._tree.unsupported(f"a number with continuous noise used in {use}{said}", advice)

    def entry(self) -> Any:
        """The same as an entry of an array."""
        return self.typed(np.float64 if self._looks_like is float else self._looks_like)

    def item(self) -> Any:
        """The same as a Python number."""
        return self.typed(int if issubclass(self._looks_like, (int, np.integer)) else float)

    def tolist(self) -> Any:
        """The same as a Python number."""
        return self.item()

    def copy(self) -> Any:
        """Itself: numbers do not change."""
        return self

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __bool__(self) -> bool:
        return bool(operator.ne(self, 0))

    def __neg__(self) -> Any:
        return self.with_constant(operator.mul, -1, self._looks_like, swapped=False)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self if self.compared(operator.ge, 0) else -self

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        # Arrays need numbers; numbers need arrays only here.
        from liptest.whitebox.noise.ufuncs import of_ufunc

        return of_ufunc(self._run, ufunc, method, inputs, options)

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: dict[str, Any]
    ) -> Any:
        from liptest.whitebox.noise.functions import answered

        return answered(self._run, function, arguments, options)


class Real(Noisy):
    """A sum of noise, some of it continuous, and a number."""

    __slots__ = ("_form",)

    __hash__ = Duck.__hash__

    def __init__(self, run: NoiseRun, form: Form, looks_like: Any = float) -> None:
        self._tree = run.tree
        self._run = run
        self._form = form
        self._looks_like = looks_like

    def linear(self) -> Form | None:
        return self._form

    def compared(self, comparison: Callable[[Any, Any], Any], bound: Any) -> bool:
        return self._run.holds(comparison, self._form - rational(bound))

    def typed(self, kind: Any) -> Any:
        if kind is self._looks_like:
            return self
        if not issubclass(kind, float):
            return kind(self.settled(f"{kind.__name__}()"))
        return Real(self._run, self._form, kind)

    def rounded(self, how: str, kind: Any) -> Any:
        from liptest.whitebox.noise.wholes import Whole

        return Whole(self._run, self._form, how, kind)

    def with_constant(
        self, operation: Callable[[Any, Any], Any], constant: Any, kind: Any, *, swapped: bool
    ) -> Any:
        form, number = self._form, rational(constant)
        if operation is operator.add:
            return Real(self._run, form + number, kind)
        if operation is operator.sub:
            return Real(self._run, -form + number if swapped else form - number, kind)
        if operation is operator.mul:
            return number_of(self._run, form * number, kind)
        if not swapped and operation is operator.truediv:
            return Real(self._run, form * (1 / Fraction(number)), kind)
        if not swapped and operation is operator.floordiv:
            return Real(self._run, form * (1 / Fraction(number)), kind).rounded("floor", kind)
        if not swapped and operation is operator.pow and constant == 1:
            return self
        return self.escape(f"{operation.__name__} with a number")

    def concrete(self, point_in: Callable[[int, int], int]) -> Any:
        return self._looks_like(float(self._run.value(self._form, point_in)))

    def settled(self, use: str) -> Any:
        if use != "the output":
            self.escape(use)
        self._run.check_current()
        self._run.symbolic = True
        return NoisyValue(self._run.current(self._form))

    def is_integer(self) -> bool:
        """As of a float: of probability 0."""
        return False


@lru_cache(maxsize=4096)
def rational(value: Any) -> Rational:
    """A finite number exactly, of Python's whole numbers."""
    whole = isinstance(value, (int, np.integer, np.bool_))
    return int(value) if whole else lean(Fraction(value))


def is_noisy(value: Any) -> bool:
    """Whether it stands for one number with noise."""
    return issubclass(type(value), Noisy)


def is_nan(value: Any) -> bool:
    """Whether it is a plain number that is none."""
    return not is_noisy(value) and bool(value != value)


def number_of(run: NoiseRun, form: Form, kind: Any) -> Any:
    """A sum as what stands for it: a plain number where no noise is left in it."""
    if not form.terms:
        return kind(form.constant) if issubclass(kind, float) else kind(int(form.constant))
    if run.is_discrete(form):
        from liptest.whitebox.noise.wholes import discrete

        return discrete(run, form, kind)
    return Real(run, form, kind)

"""Objects that stand for numbers: what is not followed either gives a plain number or aborts."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from liptest.values.branching import Branching
from liptest.values.faults import raises_as_numpy

ADVICE = (
    "compare it with a number (rng.random() < p), calculate with it and constants only, round it "
    "(int(), numpy.floor), or draw with rng.integers, rng.choice, rng.binomial or rng.permutation"
)


COMPARISONS: dict[Any, Callable[[Any, Any], Any]] = {
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
}


# Python compares floats with these exactly.
EXACT = frozenset({float, int, bool, Fraction, Decimal})


_USES = (
    *("bool", "int", "float", "complex", "index", "str", "repr", "format", "bytes", "hash"),
    *("neg", "pos", "abs", "invert", "round", "trunc", "floor", "ceil"),
    *("contains", "array", "reduce", "reduce_ex", "copy", "deepcopy"),
)


_ARITHMETIC = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul"),
    *("lshift", "rshift", "and", "xor", "or"),
)


#: They write into an argument, where a plain copy of it would be lost.
WRITING = frozenset({"copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis"})


#: Functions that only move entries of an array; some give views of it.
MOVES = frozenset(
    {np.reshape, np.ravel, np.transpose, np.squeeze, np.swapaxes, np.moveaxis, np.expand_dims}
    | {np.flip, np.fliplr, np.flipud, np.roll, np.tile, np.repeat, np.take, np.atleast_1d}
    | {np.atleast_2d, np.copy, np.rot90, np.delete, np.array_split, np.diagonal}
)


# What these ask for in other ways, of a number without the method.
_FALLING_BACK: dict[str, Callable[[Any], Any]] = {
    **{"complex": complex, "bytes": bytes},
    **{"floor": math.floor, "ceil": math.ceil},
}


_ITSELF = frozenset({"__copy__", "__deepcopy__"})


class Duck:
    """Base of the objects that stand for random numbers, or arrays of them.

    Subclasses answer what they can. Every other use is answered with the plain number that
    ``settled`` gives, which has branched over all that it can be, or aborts.
    """

    __slots__ = ("_tree",)

    #: What isinstance() says, as the code under analysis may ask.
    _looks_like: type = float
    _tree: Branching
    #: Whether it stands for noise that stays symbolic, whose way other stand-ins leave things to.
    _is_noise = False

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self._looks_like

    def settled(self, use: str) -> Any:
        """A plain number after branching over all values, or ``escape``."""
        self.escape(use)

    def escape(self, use: str) -> NoReturn:
        """Abort: any answer would be one concrete value out of many."""
        self._tree.unsupported(f"a number from rng.random() used in {use}", ADVICE)

    @raises_as_numpy
    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: dict[str, Any]
    ) -> Any:
        use = f"numpy.{function.__name__}"
        if function.__name__ in WRITING:
            self.escape(use)
        plain = settled_in(arguments, use)
        return function(*plain, **{name: settled_in(one, use) for name, one in options.items()})

    @raises_as_numpy
    def __getattr__(self, name: str) -> Any:
        # NumPy looks for optional protocols before it calls __array__.
        if name.startswith("__") or not hasattr(self._looks_like, name):
            raise AttributeError(f"{self._looks_like.__name__!r} object has no attribute {name!r}")
        return getattr(self.settled(f".{name}"), name)


def with_noise(values: Any) -> bool:
    """Whether some of them are noise that stays symbolic, or arrays with it."""
    return any(getattr(type(one), "_is_noise", False) for one in values)


def settled_in(value: Any, use: str) -> Any:
    """The value with plain numbers in place of all that stand for one, in lists and tuples too."""
    if issubclass(type(value), Duck):
        return value.settled(use)
    if type(value) in (list, tuple):
        return type(value)(settled_in(one, use) for one in value)
    return value


def _with_plain_number(name: str) -> Callable[..., Any]:
    method = f"__{name}__"

    @raises_as_numpy
    def answer(self: Duck, *arguments: Any, **options: Any) -> Any:
        plain = self.settled(f"{name}()")
        if method in _ITSELF:
            return plain
        found = getattr(type(plain), method, None)
        if found is None and name in _FALLING_BACK:
            return _FALLING_BACK[name](plain)
        if found is None:
            raise TypeError(f"{self._looks_like.__name__!r} object has no {method}")
        return found(plain, *settled_in(arguments, f"{name}()"), **options)

    return answer


_OPERATORS = [f"{prefix}{name}" for name in _ARITHMETIC for prefix in ("", "r")]


for _name in (*_USES, *_OPERATORS):
    setattr(Duck, f"__{_name}__", _with_plain_number(_name))

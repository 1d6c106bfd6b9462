"""What every symbolic value can be asked: calculate, compare, round, concretise, replay.

A ``SymbolicValue`` stands for one random number, of the type ``kind``. Its class says how it
calculates with plain numbers and with values of its own ``family``; values of different families
meet in ``promotion``. Arrays (``array``) hold any values. NumPy's functions come to one table
(``ufuncs``, ``numpy_functions``), which registers itself in ``NUMPY``.

To add a kind: one subclass of ``SymbolicValue`` with the methods of the section "for kinds"; that
is all. If it can become noise, it registers that with ``promotion.as_noise``. If many of them can
be kept in a smaller way than one by one, a ``array.Storage`` of its own.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from operator import attrgetter
from typing import Any, NoReturn

import numpy as np

from liptest.values.branching import Branching
from liptest.values.faults import STANDING_FOR_NUMBERS, raises_as_numpy
from liptest.values.lines import find_asking_line
from liptest.values.promotion import meet

Operation = Callable[[Any, Any], Any]
#: NumPy's functions and operators of Python that do the same, entry by entry.
COMPARISONS: dict[Any, Operation] = {
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
}
ARITHMETIC: dict[Any, Operation] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.power: operator.pow,
    np.bitwise_and: operator.and_,
    np.bitwise_or: operator.or_,
    np.bitwise_xor: operator.xor,
    np.left_shift: operator.lshift,
    np.right_shift: operator.rshift,
    np.matmul: operator.matmul,
}
UFUNC_OF: dict[Operation, Any] = {
    operation: ufunc for ufunc, operation in (ARITHMETIC | COMPARISONS).items()
}
_DIVISIONS = (operator.truediv, operator.floordiv)
REFLECTED: dict[Operation, Operation] = {
    operator.lt: operator.gt,
    operator.le: operator.ge,
    operator.gt: operator.lt,
    operator.ge: operator.le,
    operator.eq: operator.eq,
    operator.ne: operator.ne,
}
#: Numbers that values calculate with.
NUMBERS = (int, float, np.integer, np.floating, np.bool_, Fraction)
# Of a number of NumPy.
_OF_NUMPY = frozenset({"shape", "ndim", "size", "dtype", "itemsize", "nbytes"})
# What NumPy asks of the entries of an array of objects.
_ASKED_OF_OBJECTS = frozenset(
    {"sqrt", "cbrt", "square", "reciprocal", "fabs", "rint", "floor", "ceil", "trunc", "sign"}
    | {"exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logical_not", "isnan", "isinf"}
    | {"sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh"}
    | {"arccosh", "arctanh", "degrees", "radians", "deg2rad", "rad2deg", "hypot", "arctan2"}
    | {"isfinite", "logical_and", "logical_or", "logical_xor"}
)
_OTHER_NUMBERS = (complex, np.generic, Decimal, str, bytes, list, tuple, dict, set, type(None))


class NumpyTable:
    """How NumPy's functions are answered; ``ufuncs`` and ``numpy_functions`` fill it in."""

    #: ``(ufunc, method, inputs, options)``.
    ufunc: Callable[..., Any]
    #: ``(function, arguments, options)``.
    function: Callable[..., Any]
    #: ``(operation, left, right)`` of a number and a series of pandas; NotImplemented of others.
    of_series: Callable[..., Any]


NUMPY = NumpyTable()


def find_branching(part: str) -> Any:
    """The attribute ``branching`` of what belongs to the analysis of one of its attributes."""
    return property(attrgetter(f"{part}.branching"))


class Symbolic:
    """What stands for a random number, or for an array of them.

    Every use that a subclass does not follow is answered with the plain number, or array, that
    ``concretise`` gives, which has branched over all that it can be, or is refused.
    """

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        STANDING_FOR_NUMBERS.add(cls.__name__)

    #: Operators of pandas with it are left to it.
    __pandas_priority__ = 10_000

    branching: Branching
    #: What isinstance() says, as the code under analysis may ask.
    kind: Any = float
    #: Whether it is a number that seeds a generator.
    is_seed = False
    #: In refusals.
    described = "a random number"
    described_in_arrays = "an array of random numbers"
    advice = "draw with rng.integers, rng.choice, rng.binomial or rng.permutation"

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.kind  # type: ignore[no-any-return]

    def __dir__(self) -> list[str]:
        return dir(self.kind)

    def concretise(self, use: str) -> Any:
        """A plain number after branching over all values, or ``refuse``."""
        self.refuse(use)

    def replay(self, point_in: Callable[[int, int], int]) -> Any:
        """A plain number that it may be; ``point_in(start, stop)`` chooses."""
        raise NotImplementedError

    def as_drawn(self) -> Any:
        """What stays of it whatever the program does to it."""
        return self

    def answer_ufunc(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        """A function of NumPy in a way of its own, entry by entry; NotImplemented for none."""
        return NotImplemented

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        """Any other function of NumPy in a way of its own; NotImplemented for none."""
        return NotImplemented

    def write_into(self, cells: Any, value: Any) -> bool:
        """Write to the places that it stands for, in a way of its own; whether it has one."""
        return False

    def refuse(self, use: str) -> NoReturn:
        """End the analysis: any answer would be one plain value out of many."""
        where = find_asking_line(sys._getframe(1))
        said = f" ({where})" if where else ""
        self.branching.forbid(f"{self.described} used in {use}{said}", self.advice_for(use))

    def advice_for(self, use: str) -> str:
        """What to write instead of a use."""
        return self.advice

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return NUMPY.ufunc(ufunc, method, inputs, options)

    def __array_function__(
        self, function: Any, types: Any, arguments: Any, options: dict[str, Any]
    ) -> Any:
        return NUMPY.function(function, arguments, options)

    @raises_as_numpy
    def __getattr__(self, name: str) -> Any:
        if name in _ASKED_OF_OBJECTS:
            return lambda *more: getattr(np, name)(self, *more)
        # NumPy looks for optional protocols before it calls __array__.
        if name.startswith("__") or not hasattr(self.kind, name):
            raise AttributeError(f"{self.kind.__name__!r} object has no attribute {name!r}")
        return getattr(self.concretise(f".{name}"), name)


class SymbolicValue(Symbolic):
    """One random number. Values do not change; what they are made of may become known."""

    __slots__ = ()

    # ---- for kinds

    #: Which kinds belong together.
    family = ""
    #: Whether ``binary`` and ``compare`` take values of the same family.
    calculates_with_its_own = False
    #: Whether ``float()`` of it is to be symbolic, too.
    stays_symbolic = False

    @property
    def is_finite(self) -> bool:
        """Whether it is known to be neither infinite nor NaN."""
        return False

    @property
    def is_discrete(self) -> bool:
        """Whether ``concretise`` branches over values, and does not refuse."""
        return False

    def current(self) -> Any:
        """What it is by now: itself, or what its base was promoted to."""
        return self

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        """``operation(self, other)``; ``other`` is a plain number or of the same family."""
        plain = self.concretise(operation.__name__)
        return operation(other, plain) if swapped else operation(plain, other)

    def joined(self, operation: Operation, other: Any) -> Any:
        """``operation`` of it and another random number in a way of its own, the same in both
        orders; NotImplemented for none."""
        return NotImplemented

    def compare(self, comparison: Operation, other: Any) -> Any:
        """``comparison(self, other)``; ``other`` is a plain number or of the same family."""
        return comparison(self.concretise("a comparison"), other)

    def locates(self, value: Any) -> bool:
        """Let another number be known by where it lies among such; whether it does so."""
        return False

    def apply(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        """A function of NumPy of numbers, this one among them; NotImplemented for no own way."""
        return NotImplemented

    def apply_math(self, function: Any) -> Any:
        """A function of the module math; NotImplemented for no own way."""
        return NotImplemented

    def released(self, use: str) -> Any:
        """The same number, known from now on; only what has its price can be."""
        self.refuse(use)

    def check_divisor(self, plain: Any) -> None:
        """Refuse a division by the plain number that it is, where that is not all known."""

    def typed(self, kind: Any) -> Any:
        """The same number, standing for another type."""
        return kind(self.concretise(f"{kind.__name__}()"))

    def rounded(self, how: str, kind: Any) -> Any:
        """ "floor", "ceil", "rint" or "trunc" of it, as a number of a type."""
        return kind(getattr(np, how)(self.concretise(how)))

    def rounded_to(self, decimals: int, kind: Any, own: Any) -> Any:
        """Rounded to decimals; ``own`` is round or numpy.round, whichever was called."""
        return kind(own(self.concretise("round()"), decimals))

    # ---- the same for all

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.concretise("numpy.array()"), dtype=dtype)

    @raises_as_numpy
    def __getattr__(self, name: str) -> Any:
        if name in _OF_NUMPY and issubclass(self.kind, np.generic):
            return getattr(self.kind(1), name)
        return super().__getattr__(name)

    def entry(self) -> Any:
        """The same as an entry of an array."""
        return current(self).typed(np.dtype(self.kind).type)

    def item(self) -> Any:
        """The same as a Python number."""
        return current(self).typed(type(np.dtype(self.kind).type(1).item()))

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

    def round(self, decimals: Any = 0) -> Any:
        """Round to so many decimals, as ``numpy.round`` does."""
        return round_to(self, decimals, self.kind, np.round)

    def clip(self, *bounds: Any, **options: Any) -> Any:
        """Move what is outside of bounds to them, as ``numpy.clip`` does."""
        return np.clip(self, *bounds, **options)

    def is_integer(self) -> bool:
        """Whether it is a whole number, as of a float."""
        return bool(self.concretise("is_integer").is_integer())

    def __bool__(self) -> bool:
        return bool(compare(operator.ne, self, 0))

    def __pos__(self) -> Any:
        return calculate(operator.add, self, 0) if self.kind is bool else self

    def __neg__(self) -> Any:
        return calculate(operator.mul, self, -1)

    def __abs__(self) -> Any:
        return self if compare(operator.ge, self, 0) else -self

    def __round__(self, digits: Any = None) -> Any:
        if digits is None:
            return current(self).rounded("rint", int)
        return round_to(self, digits, self.kind, round)

    def __floor__(self) -> Any:
        return current(self).rounded("floor", int)

    def __ceil__(self) -> Any:
        return current(self).rounded("ceil", int)

    def __trunc__(self) -> Any:
        return current(self).rounded("trunc", int)

    def __int__(self) -> int:
        number = current(self).rounded("trunc", int)
        return int(number.concretise("int()") if is_symbolic(number) else number)


def is_symbolic(value: Any) -> bool:
    """Whether it stands for one random number."""
    return issubclass(type(value), SymbolicValue)


def symbolic_in(values: Any) -> Iterator[Any]:
    """What is symbolic among some arguments, and in their lists."""
    for value in values:
        if issubclass(type(value), Symbolic):
            yield value
        elif type(value) in (list, tuple):
            yield from symbolic_in(value)


def first_symbolic(values: Any) -> Any:
    """The first of these; None where there are none."""
    return next(symbolic_in(values), None)


def current(value: Any) -> Any:
    """A value as what it is by now; anything else as it is."""
    return value.current() if issubclass(type(value), SymbolicValue) else value


def is_nan(value: Any) -> bool:
    """Whether it is a plain number that is none."""
    return not is_symbolic(value) and bool(value != value)


def concretise_all(value: Any, use: str) -> Any:
    """The value with plain numbers in place of symbolic ones, in lists, tuples and dicts too."""
    kind = type(value)
    if issubclass(kind, Symbolic):
        return value.concretise(use)
    if kind is list or kind is tuple:
        return kind(concretise_all(entry, use) for entry in value)
    if kind is dict:
        return {name: concretise_all(entry, use) for name, entry in value.items()}
    return value


def calculate(operation: Operation, left: Any, right: Any) -> Any:
    """Arithmetic of two numbers, at least one symbolic; NotImplemented for what is not a number."""
    left, right = current(left), current(right)
    swapped = not is_symbolic(left)
    value, other = (right, left) if swapped else (left, right)
    if is_symbolic(other):
        divisor = right
        joint = left.joined(operation, right)
        if joint is not NotImplemented:
            return joint
        use = f"{operation.__name__} with another random number"
        left, right = map(current, meet(left, right, use))
        if operation in _DIVISIONS and not is_symbolic(right):
            divisor.check_divisor(right)
        if is_symbolic(left) and is_symbolic(right):
            return left.binary(operation, right, swapped=False)
        return operation(left, right)
    is_numpys = issubclass(value.kind, np.generic)
    if type(other) is list and is_numpys and operation is not operator.mul:
        # With a number of NumPy a list is an array, but for *, which would repeat it.
        made = np.asarray(other)
        left, right = (made, right) if swapped else (left, made)
        return UFUNC_OF[operation](left, right)
    if _is_array(other):
        return UFUNC_OF[operation](left, right)
    if not isinstance(other, NUMBERS):
        return _with_other(operation, value, other, swapped)
    return value.binary(operation, other, swapped=swapped)


@raises_as_numpy
def _with_other(operation: Operation, value: Any, other: Any, swapped: bool) -> Any:
    if isinstance(other, _OTHER_NUMBERS):
        # Where a number fails, so does this; what a number can do is not followed.
        model = value.kind(1)
        operation(*((other, model) if swapped else (model, other)))
        plain = value.concretise(f"arithmetic with a {type(other).__name__}")
        return operation(*((other, plain) if swapped else (plain, other)))
    return NUMPY.of_series(operation, *((other, value) if swapped else (value, other)))


def compare(comparison: Operation, left: Any, right: Any) -> Any:
    """A comparison of two numbers, symbolic or not; NotImplemented for what is not a number."""
    left, right = current(left), current(right)
    if not is_symbolic(left):
        if not is_symbolic(right):
            return comparison(left, right)
        left, right, comparison = right, left, REFLECTED[comparison]
    kind = left.kind
    if is_symbolic(right):
        as_numpy = issubclass(kind, np.generic) or issubclass(right.kind, np.generic)
        left, right = map(current, meet(left, right, "a comparison with another random number"))
        if not is_symbolic(left):
            left, right, comparison = right, left, REFLECTED[comparison]
        truth = left.compare(comparison, right) if is_symbolic(left) else comparison(left, right)
    elif _is_array(right):
        return UFUNC_OF[comparison](left, right)
    elif isinstance(right, (*NUMBERS, Decimal)):
        as_numpy = issubclass(kind, np.generic) or isinstance(right, np.generic)
        if type(right) is int and abs(right) > sys.float_info.max and issubclass(kind, float):
            left.refuse("a comparison with a whole number beyond all floats; name a smaller one")
        truth = left.compare(comparison, right)
    elif isinstance(right, (complex, np.generic)):
        return comparison(left.concretise(f"a comparison with a {type(right).__name__}"), right)
    else:
        return NUMPY.of_series(comparison, left, right)
    return np.bool_(truth) if as_numpy and type(truth) is bool else truth


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)  # symbolic ones say so, too


def round_to(value: Any, decimals: Any, kind: Any, own: Any) -> Any:
    """A symbolic value rounded to decimals; ``own`` is what the program called."""
    return current(value).rounded_to(operator.index(decimals), kind, own)


def truncate(value: Any, kind: Any) -> Any:
    """Cut off towards 0, a symbolic value or a plain number."""
    return current(value).rounded("trunc", kind) if is_symbolic(value) else kind(math.trunc(value))


def _operator(operation: Operation, *, swapped: bool) -> Any:
    def method(self: SymbolicValue, other: Any) -> Any:
        return calculate(operation, *((other, self) if swapped else (self, other)))

    return method


def _comparison(comparison: Operation) -> Any:
    return lambda self, other: compare(comparison, self, other)


def _with_plain_number(name: str) -> Callable[..., Any]:
    method = f"__{name}__"

    @raises_as_numpy
    def answer(self: Symbolic, *arguments: Any, **options: Any) -> Any:
        plain = self.concretise(f"{name}()")
        function = getattr(type(plain), method, None)
        if function is None and name in _FALLING_BACK:
            return _FALLING_BACK[name](plain)
        if function is None:
            raise TypeError(f"{self.kind.__name__!r} object has no {method}")
        given = concretise_all(arguments, f"{name}()")
        return function(plain, *given, **concretise_all(options, f"{name}()"))

    return answer


# What these ask for in other ways, of a number without the method.
_FALLING_BACK: dict[str, Callable[[Any], Any]] = {"complex": complex, "bytes": bytes}


for _name in (
    *("bool", "int", "float", "complex", "index", "str", "repr", "format", "bytes", "hash"),
    *("invert", "contains", "reduce", "reduce_ex", "divmod", "rdivmod"),
):
    if f"__{_name}__" not in vars(Symbolic):
        setattr(Symbolic, f"__{_name}__", _with_plain_number(_name))
    if f"__{_name}__" not in vars(SymbolicValue):
        setattr(SymbolicValue, f"__{_name}__", _with_plain_number(_name))


for _operation in ARITHMETIC.values():
    _name = _operation.__name__.rstrip("_")
    setattr(SymbolicValue, f"__{_name}__", _operator(_operation, swapped=False))
    setattr(SymbolicValue, f"__r{_name}__", _operator(_operation, swapped=True))


for _compared in COMPARISONS.values():
    setattr(SymbolicValue, f"__{_compared.__name__}__", _comparison(_compared))

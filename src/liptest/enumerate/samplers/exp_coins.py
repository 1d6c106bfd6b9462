"""Functions that throw a coin of chance exp(-x): recognised by running them on intervals.

``f(x, rng)`` is run as it is written for each interval (k, k + 1) of x and each whole number, its
draws of ``random()`` being branches whose chances are polynomials in x. What it comes to is
compared with the series of exp(-x), for all x at once (docs/theory/loops.md, L11).
"""

from __future__ import annotations

import builtins
import dis
import math
import random
from collections.abc import Callable
from fractions import Fraction
from types import FunctionType, NoneType
from typing import Any

import numpy as np

from liptest.balls import CERTIFIED_BITS, precision
from liptest.enumerate.syntax.pure_code import find_original
from liptest.mechanisms.laws import as_fraction, exact_ball
from liptest.runs.surroundings import without_hooks

#: How far a recognised coin may be from exp(-x), without the rounding of floats.
FARTHEST = Fraction(1, 1 << 52)
# Intervals end here: exp(-45) is below 2**-64. A path lighter than that is not followed.
_LAST, _BITS = 45, 128
_UNIT, _LIGHT = 1 << _BITS, 1 << (_BITS - 62)
_DEGREE, _MOST_RUNS, _MOST_DRAWS = 30, 400, 400
#: What a coin may name, beside functions that are checked alike, and of objects: all else might ask
#: what kind of number it was given.
_KNOWN = (math, np, math.floor, np.floor, int, bool, range, ValueError)
_OF_OBJECTS = frozenset({"random", "floor"})
#: Functions of libraries that make a generator of what they are given, and get no number.
_MAKING_GENERATORS = ("diffprivlib", "sklearn")
_STEPS_THAT_LOOK = (
    *("MATCH", "CONTAINS_OP", "IS_OP", "BINARY_SUBSCR", "BINARY_SLICE", "BUILD_", "MAKE"),
    *("STORE_ATTR", "STORE_GLOBAL", "STORE_SUBSCR", "DELETE", "IMPORT", "LOAD_NAME", "YIELD"),
)
#: Coefficients in units of 2**-128; rounding them is far below FARTHEST in all runs together.
Polynomial = tuple[int, ...]
_ONE: Polynomial = (_UNIT,)


class _UndecidedError(Exception):
    """What a function asks is not the same on the whole interval, or is not followed."""


class _CutError(BaseException):
    """A run is too light to be followed."""


class _Walk:
    """The runs of a function on one interval, one after another; each branch is taken once."""

    def __init__(self) -> None:
        self._path: list[tuple[int, list[Polynomial]]] = []
        self._depth = 0
        self.weight = _ONE

    def begin(self) -> None:
        self._depth, self.weight = 0, _ONE

    def choose(self, chances: list[Polynomial]) -> int:
        """One of some ways with these chances."""
        if self._depth == len(self._path):
            self._path.append((0, chances))
        taken = self._path[self._depth][0]
        self._depth += 1
        self.weight = _times(self.weight, chances[taken])
        if _size(self.weight) < _LIGHT or self._depth > _MOST_DRAWS:
            raise _CutError
        return taken

    def advance(self) -> bool:
        """Take the next way; False after the last."""
        del self._path[self._depth :]
        while self._path:
            taken, chances = self._path.pop()
            if taken + 1 < len(chances):
                self._path.append((taken + 1, chances))
                return True
        return False


class _Hidden:
    """What has no text: code that asks for it would look at what kind of number it was given."""

    def __format__(self, how: str) -> str:
        raise _UndecidedError

    def __repr__(self) -> str:
        raise _UndecidedError


class _Number(_Hidden):
    """``t + base`` over a divisor, for all t between 0 and 1, or for all t > 0."""

    def __init__(self, base: int, *, is_open: bool, divisor: int = 1) -> None:
        self._base, self._is_open, self._divisor = base, is_open, divisor

    def chance(self) -> Polynomial | bool:
        """As the chance that ``random()`` is below it; or whether it is for certain."""
        if self._base >= self._divisor:
            return True
        if self._is_open or self._base < 0:
            raise _UndecidedError
        return self._base * _UNIT // self._divisor, _UNIT // self._divisor

    def _above(self, other: Any) -> bool:
        if type(other) not in (int, float) or self._divisor != 1:
            raise _UndecidedError
        if other <= self._base:
            return True
        if self._is_open or other < self._base + 1:
            raise _UndecidedError
        return False

    def __gt__(self, other: Any) -> bool:
        if isinstance(other, _Unit):
            return other.is_below(self)
        return self._above(other)

    def __ge__(self, other: Any) -> bool:
        return bool(self > other)

    def __lt__(self, other: Any) -> bool:
        if isinstance(other, _Unit):
            return not other.is_below(self)
        return not self._above(other)

    def __le__(self, other: Any) -> bool:
        return bool(self < other)

    def __sub__(self, other: Any) -> _Number:
        if type(other) not in (int, float) or other != int(other) or self._divisor != 1:
            raise _UndecidedError
        if not 0 <= other <= self._base:
            raise _UndecidedError
        return _Number(self._base - int(other), is_open=self._is_open)

    def __truediv__(self, other: Any) -> _Number:
        if type(other) not in (int, float) or other != int(other) or other < 1:
            raise _UndecidedError
        return _Number(self._base, is_open=self._is_open, divisor=self._divisor * int(other))

    def __floor__(self) -> int:
        if self._is_open or self._divisor != 1:
            raise _UndecidedError
        return self._base

    __int__ = __trunc__ = __floor__
    floor = __floor__

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        self._above(other)
        return False

    __hash__ = None  # type: ignore[assignment]


class _Unit(_Hidden):
    """A number of ``random()``, which may be compared once."""

    def __init__(self, walk: _Walk) -> None:
        self._walk: _Walk | None = walk

    def is_below(self, other: Any) -> bool:
        """Whether it is below a number: chosen."""
        walk, self._walk = self._walk, None
        if walk is None:
            raise _UndecidedError
        if type(other) in (int, float):
            below = Fraction(min(max(other, 0), 1))
            chance: Polynomial | bool = bool(below) if below in (0, 1) else (int(below * _UNIT),)
        elif type(other) is _Number:
            chance = other.chance()
        else:
            raise _UndecidedError
        if isinstance(chance, bool):
            return chance
        rest = (_UNIT - chance[0], *(-by for by in chance[1:]))
        return walk.choose([chance, rest]) == 0

    def __lt__(self, other: Any) -> bool:
        return self.is_below(other)

    def __le__(self, other: Any) -> bool:
        return self.is_below(other)

    def __gt__(self, other: Any) -> bool:
        return not self.is_below(other)

    def __ge__(self, other: Any) -> bool:
        return not self.is_below(other)

    def __eq__(self, other: object) -> bool:
        raise _UndecidedError

    __hash__ = None  # type: ignore[assignment]


class _Units(random.SystemRandom):
    """Draws such numbers, and nothing else."""

    walk: _Walk

    def random(self) -> Any:
        return _Unit(self.walk)

    def getrandbits(self, k: int) -> int:
        raise _UndecidedError


class _Noted(random.SystemRandom):
    """Draws real numbers, which are noted."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._real, self.noted = rng, []

    noted: list[float]

    def random(self) -> float:
        self.noted.append(self._real.random())
        return self.noted[-1]


class ExpCoin:
    """A function that throws a coin of chance exp(-x), with the place of the generator."""

    def __init__(self, function: FunctionType, generator: int) -> None:
        self._function = function
        self._generator = generator
        #: It and those that it calls, by name, and their laws for plain numbers.
        self._functions: dict[str, FunctionType] = {}
        self._laws: dict[Any, list[Polynomial]] = {}

    def _arguments(self, x: Any, rng: Any) -> tuple[Any, Any]:
        return (rng, x) if self._generator == 0 else (x, rng)

    def draws(self, chance: float, *, falls: bool, rng: np.random.Generator) -> list[float]:
        """Numbers of ``random()`` with which a coin of this chance falls so."""
        x = max(-math.log(chance), 0.0) if chance else 800.0
        while True:
            noted = _Noted(rng)
            if bool(self._function(*self._arguments(x, noted))) is falls:
                return noted.noted

    def is_one(self) -> bool:
        """Whether it is, for all x that are not below 0."""
        try:
            return self._check()
        except Exception:  # of the function on numbers that are not plain, or what is not followed
            return False

    def _check(self) -> bool:
        if not _calculates_alone(self._function, self._functions):
            return False
        for k in range(_LAST + 1):
            starts: list[tuple[Any, bool]] = [
                (float(k), True),
                (_Number(k, is_open=k == _LAST), False),
            ]
            for x, is_point in starts:
                law = self._law(self._function.__name__, self._arguments(x, _Units()))
                if not _is_exp(k, law, is_point=is_point, is_open=k == _LAST):
                    return False
        return True

    def _law(self, name: str, arguments: tuple[Any, ...]) -> list[Polynomial]:
        """The chances of 0 and 1 of one of its functions, as far as they were followed."""
        walk, units = _Walk(), _Units()
        masses: list[Polynomial] = [(0,), (0,)]
        units.walk = walk
        called = self._with_laws(name, walk, units)
        drawing = [units if type(argument) is _Units else argument for argument in arguments]
        for _ in range(_MOST_RUNS):
            walk.begin()
            try:
                outcome = called(*drawing)
            except _CutError:
                pass
            else:
                if type(outcome) not in (int, bool) or outcome not in (0, 1):
                    raise _UndecidedError
                masses[outcome] = _plus(masses[outcome], walk.weight)
            if not walk.advance():
                return masses
        raise _UndecidedError

    def _with_laws(self, named: str, walk: _Walk, units: _Units) -> Callable[..., Any]:
        """The function; it and those that it calls are thrown by their laws for plain numbers."""
        space = dict(self._function.__globals__)
        laws: dict[str, Callable[..., Any]] = {}
        for name, function in self._functions.items():
            code, defaults = function.__code__, function.__defaults__
            laws[name] = FunctionType(code, space, name, defaults, function.__closure__)
        for name, function in self._functions.items():
            space[name] = self._by_law(function, laws[name], walk, units)
        return laws[named]

    def _by_law(
        self, function: FunctionType, made: Callable[..., Any], walk: _Walk, units: _Units
    ) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            if any(type(argument) is _Number for argument in arguments):
                return made(*arguments)
            draws = sum(argument is units for argument in arguments)
            if draws != 1 or not {int, float, bool, _Units}.issuperset(map(type, arguments)):
                raise _UndecidedError
            plain = tuple(
                None if argument is units else (type(argument), argument) for argument in arguments
            )
            key = function.__name__, plain
            if key not in self._laws:
                self._laws[key] = []
                self._laws[key] = self._law(function.__name__, arguments)
            masses = self._laws[key]
            if not masses:  # it calls itself with the same numbers
                raise _UndecidedError
            return walk.choose(masses)

        return call


def _calculates_alone(function: FunctionType, seen: dict[str, FunctionType]) -> bool:
    """Whether a function, and each that it calls, can only calculate, compare and draw.

    ``seen`` gathers them by their names, which are those of one module.
    """
    code, names = function.__code__, function.__globals__
    if seen.setdefault(function.__name__, function) is not function:
        return False
    if (
        function.__closure__
        or code.co_cellvars
        or code.co_exceptiontable
        or function.__kwdefaults__
    ):
        return False
    if not {NoneType, int, float, bool}.issuperset(map(type, function.__defaults__ or ())):
        return False
    for step in dis.get_instructions(code):
        if step.opname.startswith(_STEPS_THAT_LOOK) and step.opname != "BUILD_STRING":
            return False
        if step.opname.startswith(("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER")):
            if step.argval not in _OF_OBJECTS:
                return False
        elif step.opname == "LOAD_GLOBAL":
            called = names.get(step.argval, getattr(builtins, step.argval, None))
            if not any(called is one for one in _KNOWN) and not _is_alike(called, names, seen):
                return False
    return True


def _is_alike(called: object, names: dict[str, Any], seen: dict[str, FunctionType]) -> bool:
    if not isinstance(called, FunctionType):
        return False
    if called.__name__ == "check_random_state":
        return called.__module__.partition(".")[0] in _MAKING_GENERATORS
    is_own = called.__globals__ is names and names.get(called.__name__) == called
    return is_own and (seen.get(called.__name__) == called or _calculates_alone(called, seen))


class ExpCoins:
    """Which functions throw such coins, each looked at once for what it reads of outside."""

    def __init__(self, samplers: Any, tree_of: Callable[[tuple[Any, ...]], Any]) -> None:
        self._samplers = samplers
        self.tree_of = tree_of
        self._known: dict[Any, ExpCoin | None] = {}

    def coin_of(self, function: Any, rng: Any, generator: int) -> ExpCoin | None:
        """The coin that a function throws; None where it does not, or does more than that."""
        written = find_original(function)
        if type(written) is not FunctionType or not self._samplers.is_sampler(written):
            return None
        some = (rng, 0.5) if generator == 0 else (0.5, rng)
        now = self._samplers.read_now(written, some)
        if now is None:
            return None
        key = written, generator, now
        if key not in self._known:
            coin = ExpCoin(written, generator)
            with without_hooks():
                self._known[key] = coin if coin.is_one() else None
        return self._known[key]


def _is_exp(k: int, masses: list[Polynomial], *, is_point: bool, is_open: bool) -> bool:
    """Whether chances are those of exp(-k), or of exp(-(k + t)) for all t between 0 and 1."""
    with precision(CERTIFIED_BITS):
        first = int(as_fraction(exact_ball(Fraction(-k)).exp().mid()) * _UNIT)
    if is_open:
        heads: Polynomial = (0,)  # exp(-x) is between 0 and FARTHEST there
    elif is_point:
        heads = (first,)
    else:
        heads = tuple(first * (-1) ** j // math.factorial(j) for j in range(_DEGREE))
    tails = _plus(_ONE, tuple(-by for by in heads))
    pairs = ((masses[1], heads), (masses[0], tails))
    return all(
        _size(_plus(one, tuple(-by for by in other))) < FARTHEST * _UNIT / 2 for one, other in pairs
    )


def _plus(one: Polynomial, other: Polynomial) -> Polynomial:
    length = max(len(one), len(other))
    left, right = (part + (0,) * (length - len(part)) for part in (one, other))
    return tuple(a + b for a, b in zip(left, right, strict=True))


def _times(one: Polynomial, other: Polynomial) -> Polynomial:
    made = [0] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            made[i + j] += a * b
    return tuple(by >> _BITS for by in made)


def _size(polynomial: Polynomial) -> int:
    """At least the largest value of it between 0 and 1."""
    return sum(map(abs, polynomial))

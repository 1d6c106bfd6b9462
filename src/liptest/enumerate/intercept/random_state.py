"""A stand-in for numpy.random.RandomState, and thereby for the functions of numpy.random."""

from __future__ import annotations

import inspect
from collections.abc import Callable, MutableSequence
from typing import Any, NoReturn

import numpy as np

from liptest.enumerate.intercept.finite_draws import draw_ranged
from liptest.enumerate.intercept.generator import UNUSED_BITS, ChoiceGenerator, present_as
from liptest.foreign import holds_bits
from liptest.values.branching import Branching
from liptest.values.draws.whole_draws import SEED_ADVICE, uniform_below
from liptest.values.faults import RaisesAsNumPy, raises_as_numpy
from liptest.values.protocol import is_symbolic

#: NumPy itself: checks arguments and gives types and shapes, never values.
LEGACY: Any = RaisesAsNumPy(np.random.RandomState(0))
_WHOLE = (int, np.integer)
_ADVICE = (
    "draw from finitely many values (numpy.random.rand() < p, randint, choice, binomial, "
    "permutation)"
)


class ChoiceRandomState(np.random.RandomState):
    """Hands out finite choices in place of random numbers, with the laws of NumPy's code.

    ``seed`` with a number makes it a real RandomState until ``forget_seed``; ``note_seed`` is
    called before. Types, shapes and errors are those of a RandomState.
    """

    def __init__(self, tree: Branching, note_seed: Callable[[], None] = lambda: None) -> None:
        super().__init__(UNUSED_BITS)
        self._rng = ChoiceGenerator(tree)
        self._rng.origin = "RandomState"
        self._note_seed = note_seed
        self._real: np.random.RandomState | None = None

    @property
    def _tree(self) -> Branching:
        return self._rng._tree

    @_tree.setter
    def _tree(self, tree: Branching) -> None:
        self._rng._tree = tree

    def forget_seed(self) -> None:
        """Draw freely again."""
        self._real = None

    def seed_anew(self, seed: Any) -> None:
        """Be a RandomState of a seed that was given before the analysis."""
        self._real = make_seeded_state(seed)

    def where(self) -> Any:
        """The state of the RandomState that is followed, None while it draws freely."""
        return None if self._real is None else self._real.get_state(legacy=False)

    def follow_seed(self, seed: Any = None) -> None:
        """Be a RandomState of this seed; None draws freely again."""
        check_few_seeds(self._tree, seed)
        if seed is not None:
            self._note_seed()
        self._real = None if seed is None else make_seeded_state(seed)

    @raises_as_numpy
    def follow_state(self, state: Any) -> None:
        """Be a RandomState in this state."""
        self._note_seed()
        self._real = make_seeded_state(0)
        self._real.set_state(state)

    def random_sample(self, size: Any = None) -> Any:
        return self._rng.random(size)

    def random(self, size: Any = None) -> Any:
        return self._rng.random(size)

    def rand(self, *shape: Any) -> Any:
        return self._rng.random(shape or None)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        return self._rng.uniform(low, high, size)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        self._rng.require_whole("randint", low, 0 if high is None else high)
        if size is not None:
            self._rng.shape_of(size)
        model = LEGACY.randint(low, high, size, dtype)
        lows, highs = (0, low) if high is None else (low, high)
        return draw_ranged(self._tree, model, lows, highs, endpoint=False)

    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Any:
        if size is not None:
            self._rng.shape_of(size)
        model = LEGACY.random_integers(low, high, size)
        lows, highs = (1, low) if high is None else (low, high)
        return draw_ranged(self._tree, model, int(lows), int(highs), endpoint=True)

    def tomaxint(self, size: Any = None) -> Any:
        if size is not None:
            self._tree.forbid("RandomState.tomaxint(size=)", _ADVICE)
        return uniform_below(self._tree, np.iinfo(np.int_).max + 1)

    def choice(self, a: Any, size: Any = None, replace: Any = True, p: Any = None) -> Any:
        if np.ndim(a) > 1:
            LEGACY.choice(a)
        return self._rng.choice(a, size, replace, p)

    def shuffle(self, x: Any) -> None:
        if not isinstance(x, (np.ndarray, MutableSequence)):
            LEGACY.shuffle(x)
        self._rng.shuffle(x)

    def permutation(self, x: Any) -> Any:
        if not isinstance(x, _WHOLE) and np.ndim(x) == 0:
            return LEGACY.permutation(x)
        return self._rng.permutation(x)

    def bytes(self, length: int) -> bytes:
        return self._rng.bytes(length)

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        return self._rng.binomial(n, p, size)

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        if np.ndim(n) or np.ndim(pvals) > 1:
            LEGACY.multinomial(n, pvals, size)
        return self._rng.multinomial(n, pvals, size)

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Any:
        return self._rng.hypergeometric(ngood, nbad, nsample, size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        return self._rng.geometric(p, size)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._rng.laplace(loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._rng.normal(loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._rng.gumbel(loc, scale, size)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._rng.logistic(loc, scale, size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        return self._rng.exponential(scale, size)

    def standard_exponential(self, size: Any = None) -> Any:
        return self._rng.exponential(1.0, size)

    def standard_normal(self, size: Any = None) -> Any:
        return self._rng.normal(0.0, 1.0, size)

    def randn(self, *shape: Any) -> Any:
        return self._rng.normal(0.0, 1.0, shape or None)

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        return self._rng.poisson(lam, size)

    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        return self._rng.negative_binomial(n, p, size)

    def logseries(self, p: Any, size: Any = None) -> Any:
        return self._rng.logseries(p, size)

    def zipf(self, a: Any, size: Any = None) -> Any:
        return self._rng.zipf(a, size)


# Kept: while a program is analysed the names stand for something else.
_REAL, _BITS = np.random.RandomState, np.random.MT19937
_DRAWING = frozenset(
    name for name in vars(ChoiceRandomState) if hasattr(_REAL, name) and name[0] != "_"
)


def check_few_seeds(tree: Branching, seed: Any) -> None:
    """Abort where the seed of a RandomState is random: there are 2**32 of them, soon tried."""
    if is_symbolic(seed):
        tree.forbid("a random seed of RandomState, which has 2**32 of them only", SEED_ADVICE)


@raises_as_numpy
def make_seeded_state(seed: Any) -> np.random.RandomState:
    """``RandomState(seed)``, without the entropy that NumPy asks for and then throws away."""
    if holds_bits(seed):
        return _REAL(seed)
    bits: Any = _BITS(0)
    bits._legacy_seeding(seed)
    return _REAL(bits)


def _follow(name: str, draw: Callable[..., Any]) -> Callable[..., Any]:
    """The method, or that of the real RandomState once it is seeded."""

    @raises_as_numpy
    def method(self: ChoiceRandomState, *arguments: Any, **options: Any) -> Any:
        if self._real is not None:
            return getattr(self._real, name)(*arguments, **options)
        return draw(self, *arguments, **options)

    method.__signature__ = inspect.signature(draw)  # type: ignore[attr-defined]
    return method


def _make_unsupported(name: str) -> Callable[..., NoReturn]:
    def abort(self: ChoiceRandomState, *arguments: Any, **options: Any) -> NoReturn:
        self._tree.forbid(f"numpy.random.{name}", _ADVICE)

    return abort


present_as(ChoiceRandomState, np.random.RandomState)
_ATTRIBUTES = ("_bit_generator",)
_PROTOCOLS = ("__reduce__", "__getstate__", "__setstate__", "__copy__", "__deepcopy__")


for _name in (*dir(_REAL), *_PROTOCOLS):
    if _name in _DRAWING:
        setattr(ChoiceRandomState, _name, _follow(_name, vars(ChoiceRandomState)[_name]))
    elif _name in _ATTRIBUTES:
        setattr(ChoiceRandomState, _name, property(_make_unsupported(_name)))
    elif _name in _PROTOCOLS or _name[0] != "_":
        setattr(ChoiceRandomState, _name, _follow(_name, _make_unsupported(_name)))


# Not followed themselves: a seeded one is seeded anew.
setattr(ChoiceRandomState, "seed", ChoiceRandomState.follow_seed)  # noqa: B010


setattr(ChoiceRandomState, "set_state", ChoiceRandomState.follow_state)  # noqa: B010

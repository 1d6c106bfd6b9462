"""Stand-ins for the modules random and secrets, and for what numpy.random offers beside ``rng``.

Of random and secrets the methods that draw bits are replaced in the classes, so that every object
there is, wherever it is held, asks the analysis. All others are CPython's own code on top of them
(randrange, choice, choices, sample, shuffle, uniform, ...), so their laws are those of CPython's
algorithms, given uniform bits.

Of numpy.random these are its functions, the RandomState under them, and RandomState, Generator,
default_rng and the bit generators, which are fresh randomness when made without a seed.
"""

from __future__ import annotations

import _random
import math
import operator
import random
import secrets
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from liptest.enumerate.intercept.analysis_session import (
    FreshBits,
    Session,
    active,
    class_for,
    follower,
    kept_follower,
)
from liptest.enumerate.intercept.draw_logs import CHOICE
from liptest.enumerate.intercept.random_state import check_few_seeds, make_seeded_state
from liptest.values.answers.weights import are_running_totals, place_by_any_weights
from liptest.values.array import SymbolicArray
from liptest.values.draws.whole_draws import SEED_ADVICE, WholeDraw, uniform_below
from liptest.values.faults import raises_as_numpy
from liptest.values.protocol import first_symbolic, is_symbolic
from liptest.values.records.record_list import RecordList

#: (class, name, stand-in)
Method = tuple[type, str, Callable[..., Any]]
#: (original, stand-in)
Named = tuple[Any, Any]
_NO_LAW = ("lognormvariate", "betavariate", "gammavariate", "vonmisesvariate")
_ADVICE = "draw from finitely many values (random() < p, randrange, choice, shuffle)"
_INSTANCE: random.Random = random._inst


def _random_float(session: Session, generator: random.Random) -> Any:
    real = session.seeded.get(id(generator))
    return session.rng.random() if real is None else _random.Random.random(real)


@raises_as_numpy
def _bits(session: Session, generator: random.Random, k: int) -> Any:
    real = session.seeded.get(id(generator))
    if real is not None:
        return _random.Random.getrandbits(real, k)
    if (number := operator.index(k)) < 0:
        raise ValueError("number of bits must be non-negative")
    return uniform_below(session.tree, 1 << number)


def _below(session: Session, generator: random.Random, n: int) -> Any:
    """A uniform number below n: CPython's rejection of too large numbers of uniform bits."""
    real = session.seeded.get(id(generator))
    if real is not None:
        return real._randbelow_with_getrandbits(n)  # type: ignore[attr-defined]
    if n <= 0:
        session.tree.forbid("a random number below 0", "CPython would draw for ever")
    return uniform_below(session.tree, n)


@raises_as_numpy
def _bytes(session: Session, generator: random.Random, n: int) -> Any:
    real = session.seeded.get(id(generator))
    if real is not None:
        return _bits(session, generator, n * 8).to_bytes(n, "little")
    return session.rng.bytes(n)


def _seed(session: Session, generator: random.Random, a: Any = None, version: int = 2) -> None:
    session.seeded.pop(id(generator), None)
    if isinstance(generator, random.SystemRandom) or _is_fresh(session, a):
        return
    session.note_seed()
    _follow_seed(session, generator, raises_as_numpy(lambda real: _ORIGINAL_SEED(real, a, version)))


def seed_anew(session: Session, generator: random.Random, seed: Any) -> None:
    """Follow a generator that was seeded before the analysis."""
    _follow_seed(session, generator, lambda real: _ORIGINAL_SEED(real, seed))


def where(session: Session, generator: random.Random) -> Any:
    """The state of a generator that is followed as it was seeded."""
    return _ORIGINAL_GET_STATE(session.seeded[id(generator)])


@raises_as_numpy
def _get_state(session: Session, generator: random.Random) -> Any:
    real = session.seeded.get(id(generator))
    if isinstance(generator, random.SystemRandom):
        return generator._notimplemented()  # type: ignore[attr-defined]
    if real is None:
        session.tree.forbid("the state of a random generator (getstate)", "do not look at it")
    return _ORIGINAL_GET_STATE(real)


def _set_state(session: Session, generator: random.Random, state: Any) -> None:
    if isinstance(generator, random.SystemRandom):
        generator._notimplemented()  # type: ignore[attr-defined]
    session.note_seed()
    _follow_seed(session, generator, raises_as_numpy(lambda real: _ORIGINAL_SET_STATE(real, state)))


def _normal(name: str) -> Callable[..., Any]:
    original = getattr(random.Random, name)

    def answer(session: Session, generator: random.Random, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
        real = session.seeded.get(id(generator))
        return session.rng.normal(mu, sigma) if real is None else original(real, mu, sigma)

    return answer


def _exponential(session: Session, generator: random.Random, *rate: Any, **named: Any) -> Any:
    """Noise where data are symbolic; elsewhere what CPython calculates from a uniform float."""
    real = session.seeded.get(id(generator))
    lambd = rate[0] if len(rate) == 1 and not named else named.get("lambd", 1.0)
    is_plain = type(lambd) in (int, float) and math.isfinite(lambd) and lambd > 0
    if real is None and session.tree.follows_data and is_plain:
        return session.rng.exponential(1.0 / lambd)
    return _ORIGINAL_EXPOVARIATE(generator if real is None else real, *rate, **named)


class _WithoutRepeats:
    """Runs CPython's ``sample``, whose redrawing of what was drawn before needs no choices."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._last = 0
        self._drawn: list[int] = []

    def _randbelow(self, n: int) -> Any:
        if n != self._last:
            self._drawn.clear()
        self._last = n
        # It is used as an index at once, so its value is chosen.
        left = self._session.tree.choose(n - len(self._drawn))
        for before in sorted(self._drawn):
            left += before <= left
        self._drawn.append(left)
        return left

    def sample(self, population: Any, k: int) -> Any:
        """Draw as CPython's ``sample``, which calls itself for ``counts``."""
        return _ORIGINAL_SAMPLE(self, population, k)


@raises_as_numpy
def _sample(session: Session, generator: random.Random, *arguments: Any, **options: Any) -> Any:
    real = session.seeded.get(id(generator))
    if real is not None:
        return _ORIGINAL_SAMPLE(real, *arguments, **options)
    if len(arguments) == 2 and not options:
        population, k = arguments
        records = population.column() if type(population) is RecordList else population
        is_list = type(population) in (list, range, RecordList) and type(k) is int
        sampled = session.rng.random_order(records, k) if is_list else None
        if sampled is not None:
            return sampled.tolist()
    return _ORIGINAL_SAMPLE(_WithoutRepeats(session), *arguments, **options)


@raises_as_numpy
def _choices(
    session: Session,
    generator: random.Random,
    population: Any,
    weights: Any = None,
    *,
    cum_weights: Any = None,
    k: Any = 1,
) -> Any:
    """CPython's ``choices``, except for weights that are not known: they are drawn by place."""
    real = session.seeded.get(id(generator))
    given = {"cum_weights": cum_weights, "k": k}
    if real is None and weights is None and (totals := _find_totals(cum_weights)):
        return _look_up(session, generator, population, totals, k)
    if real is not None or weights is None or cum_weights is not None or type(k) is not int:
        owner = generator if real is None else real
        return _ORIGINAL_CHOICES(owner, population, weights, **given)
    tree, chosen = session.tree, []
    log = tree.draw_log
    for _ in range(k):
        if log is not None and log.next_order(CHOICE, 0) is not None:
            chosen.append(population[tree.choose(_grid_weights(weights))])
            continue
        place = place_by_any_weights(weights, len(population))
        if place is None:
            return _ORIGINAL_CHOICES(generator, population, weights, **given)
        if log is not None:
            log.note_order(CHOICE, np.empty(0))
        chosen.append(population[place])
    return chosen


def _find_totals(cum_weights: Any) -> list[Any]:
    """Totals of weights that are not known; none of plain ones."""
    listed = cum_weights.tolist() if type(cum_weights) is SymbolicArray else cum_weights
    return listed if type(listed) is list and listed and are_running_totals(listed) else []


def _look_up(
    session: Session, generator: random.Random, population: Any, totals: list[Any], k: int
) -> list[Any]:
    """What CPython finds by numbers among such totals."""
    count = len(population)
    if len(totals) != count or not is_symbolic(totals[-1]):
        first_symbolic(totals).refuse(f"a choice of {count}")
    drawn = (_random_float(session, generator) * totals[-1] for _ in range(k))
    return [population[bisect_right(totals, one, 0, count - 1)] for one in drawn]


def _grid_weights(weights: Any) -> tuple[int, ...]:
    """About as many points of a grid as have each place."""
    total = math.fsum(map(float, weights))
    return tuple(int(float(weight) / total * 2**60) for weight in weights)


@raises_as_numpy
def _follow_seed(
    session: Session, generator: random.Random, put: Callable[[random.Random], None]
) -> None:
    real = random.Random.__new__(random.Random)
    real.gauss_next = None  # type: ignore[attr-defined]
    put(real)
    # The methods of CPython that run on it find it seeded too; the object outlives the run.
    session.seeded[id(generator)] = session.seeded[id(real)] = real


def _make_unsupported(name: str) -> Callable[..., Any]:
    original = getattr(random.Random, name)

    def answer(session: Session, generator: random.Random, *arguments: Any, **options: Any) -> Any:
        real = session.seeded.get(id(generator))
        if real is None:
            session.tree.forbid(f"random.{name}", _ADVICE)
        return original(real, *arguments, **options)

    return answer


_ORIGINAL_SEED = random.Random.seed
_ORIGINAL_SAMPLE: Any = random.Random.sample
_ORIGINAL_CHOICES: Any = random.Random.choices
_ORIGINAL_EXPOVARIATE: Any = random.Random.expovariate
_ORIGINAL_GET_STATE = random.Random.getstate
_ORIGINAL_SET_STATE = random.Random.setstate
_ANSWERS: dict[str, Callable[..., Any]] = {
    "random": _random_float,
    "getrandbits": _bits,
    "_randbelow": _below,
    "randbytes": _bytes,
    "seed": _seed,
    "getstate": _get_state,
    "setstate": _set_state,
    "sample": _sample,
    "choices": _choices,
    **{name: _normal(name) for name in ("gauss", "normalvariate")},
    "expovariate": _exponential,
    **{name: _make_unsupported(name) for name in _NO_LAW},
}


def replace_methods() -> Iterator[Method]:
    """What to put into random.Random, and into SystemRandom where that has its own."""
    for owner in (random.Random, random.SystemRandom):
        for name, answer in _ANSWERS.items():
            if owner is random.Random or name in vars(owner):
                yield owner, name, kept_follower(getattr(owner, name), answer)


def python_replacements() -> Iterator[Named]:
    """Functions of the modules that are bound to what ``replace_methods`` replaces."""
    for name, answer in _ANSWERS.items():
        original = vars(random).get(name)
        if original is not None:
            yield original, _kept_bound(original, answer, _INSTANCE)
    yield secrets.randbits, _kept_bound(secrets.randbits, _bits, _SYSTEM)


def bound_method(method: Any) -> Any | None:
    """The stand-in for a bound method of a random.Random that is held somewhere, or None."""
    answer = _ANSWERS.get(method.__name__)
    return None if answer is None else _bound(method, answer, method.__self__)


def _bound(original: Any, answer: Callable[..., Any], generator: random.Random) -> Any:
    return follower(
        original,
        lambda session, *arguments, **options: answer(session, generator, *arguments, **options),
    )


# Made once; generators that programs hold are not kept.
_kept_bound = lru_cache(_bound)
_SYSTEM = random.SystemRandom()


_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_SWITCHES = ("get_bit_generator", "set_bit_generator")


class HeldEntropy:
    """Stands in for a SeedSequence of the operating system's bits that was made before."""

    def __getattr__(self, name: str) -> Any:
        session = active()
        if session is None:
            raise AttributeError(name)
        session.tree.forbid(
            "a numpy.random.SeedSequence that was made elsewhere",
            "make the generator from it there: RNG = numpy.random.default_rng(sequence)",
        )


class FreshEntropy(np.random.SeedSequence):
    """A SeedSequence made inside without a seed: for one generator, or to spawn others."""

    def __init__(self, session: Session) -> None:
        super().__init__(0)
        self._session = session
        self._is_used = False

    def use(self) -> None:
        """Seed a generator; a second one would draw the same numbers."""
        if self._is_used:
            self._session.tree.forbid(
                "two generators of one numpy.random.SeedSequence", "use its spawn(2)"
            )
        self._is_used = True

    def spawn(self, n_children: int) -> Any:
        return [FreshEntropy(self._session) for _ in range(n_children)]

    @property
    def entropy(self) -> Any:  # type: ignore[override]
        """Random bits, to seed one generator."""
        self.use()
        return uniform_below(self._session.tree, 1 << 128)

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NoReturn:
        self._session.drew_from("the operating system (numpy.random.SeedSequence())")


def _show(self: FreshEntropy, *arguments: Any) -> NoReturn:
    self.generate_state(1)


for _name in ("state", "pool"):
    setattr(FreshEntropy, _name, property(_show))
for _name in ("__repr__", "__reduce__", "__getstate__"):
    setattr(FreshEntropy, _name, _show)


def _is_fresh(session: Session, *seeds: Any) -> bool:
    """Whether what seeds a generator is fresh randomness: nothing, random bits, or their sequence.

    A seed of 128 random bits is what NumPy takes from the operating system without one.
    """
    fresh = [_is_fresh_seed(session, seed) for seed in seeds]
    return all(fresh)


def _is_fresh_seed(session: Session, seed: Any) -> bool:
    if type(seed) is HeldEntropy:
        seed.entropy  # noqa: B018
    if type(seed) is FreshEntropy:
        seed.use()
    elif is_symbolic(seed):
        _use_as_seed(session, seed)
    else:
        return seed is None or _is_replayed_seed(session, seed)
    return True


def _use_as_seed(session: Session, seed: Any) -> None:
    if type(seed) is not WholeDraw:
        session.tree.forbid("a seed that is calculated from data or random numbers", SEED_ADVICE)
    seed.become_seed()


def _is_replayed_seed(session: Session, seed: Any) -> bool:
    """Whether a real number stands for a random seed, where a run is repeated with real ones."""
    log = session.tree.draw_log
    return log is not None and log.is_seed(seed)


def _new_bits(session: Session, *arguments: Any, **options: Any) -> Any:
    if _is_fresh(session, *arguments, *options.values()):
        return FreshBits(session)
    session.note_seed()
    return None


def _state(session: Session, seed: Any = None) -> Any:
    check_few_seeds(session.tree, seed)
    if isinstance(seed, FreshBits) or _is_fresh(session, seed):
        return session.fresh_state()
    session.note_seed()
    return make_seeded_state(seed)


def _generator(session: Session, bit_generator: Any) -> Any:
    return session.new_generator() if isinstance(bit_generator, FreshBits) else None


def _seed_sequence(session: Session, entropy: Any = None, **options: Any) -> Any:
    if not options and _is_fresh(session, entropy):
        return FreshEntropy(session)
    if entropy is None:
        session.drew_from("the operating system (numpy.random.SeedSequence())")
    session.note_seed()
    return None


@raises_as_numpy
def _default_rng(session: Session, seed: Any = None) -> Any:
    if isinstance(seed, FreshBits) or _is_fresh(session, seed):
        return session.new_generator()
    if not isinstance(seed, np.random.Generator):
        session.note_seed()
    return _DEFAULT_RNG(seed)


_DEFAULT_RNG = np.random.default_rng


def _seed_global(session: Session, seed: Any = None) -> None:
    session.state_for(_GLOBAL).seed(seed)


@lru_cache
def _drawing(name: str) -> Callable[..., Any]:
    name = {"ranf": "random_sample", "sample": "random_sample"}.get(name, name)

    def answer(session: Session, *arguments: Any, **options: Any) -> Any:
        return getattr(session.state_for(_GLOBAL), name)(*arguments, **options)

    return answer


@lru_cache
def _switching(name: str) -> Callable[..., Any]:
    def answer(session: Session, *arguments: Any) -> Any:
        session.tree.forbid(f"numpy.random.{name}", "leave the bit generator as it is")

    return answer


def numpy_replacements(session: Session) -> Iterator[Named]:
    """Functions and classes of numpy.random with their stand-ins, and its RandomState."""
    yield from _CLASSES
    yield np.random.default_rng, kept_follower(np.random.default_rng, _default_rng)
    yield np.random.seed, kept_follower(np.random.seed, _seed_global)
    for name, original in vars(np.random.mtrand).items():
        if name in _SWITCHES:
            yield original, kept_follower(original, _switching(name))
        elif name in ("ranf", "sample") or getattr(original, "__self__", None) is _GLOBAL:
            yield original, kept_follower(original, _drawing(name))
    yield _GLOBAL, session.state_for(_GLOBAL)


_GLOBAL: np.random.RandomState = np.random.mtrand._rand
_CLASSES: tuple[Named, ...] = (
    (np.random.RandomState, class_for(np.random.RandomState, _state)),
    (np.random.Generator, class_for(np.random.Generator, _generator)),
    (np.random.SeedSequence, class_for(np.random.SeedSequence, _seed_sequence)),
    *(
        (kind, class_for(kind, _new_bits))
        for kind in (getattr(np.random, name) for name in _BIT_GENERATORS)
    ),
)

"""Stand-ins for the modules random and secrets.

The methods that draw bits are replaced in the classes, so that every object there is, wherever
it is held, asks the analysis; all others are CPython's own code on top of them (randrange,
choice, choices, sample, shuffle, uniform, ...). Hence their laws are those of CPython's
algorithms, given uniform bits.
"""

from __future__ import annotations

import _random
import math
import operator
import random
import secrets
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from liptest.enumerate.analysis_session import Session, follower, kept_follower
from liptest.enumerate.draw_logs import CHOICE
from liptest.values.faults import raises_as_numpy
from liptest.values.record_list import RecordList
from liptest.values.weights import place_by_any_weights
from liptest.values.whole_draws import uniform_below

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
        session.tree.unsupported("a random number below 0", "CPython would draw for ever")
    return uniform_below(session.tree, n)


@raises_as_numpy
def _bytes(session: Session, generator: random.Random, n: int) -> Any:
    real = session.seeded.get(id(generator))
    if real is not None:
        return _bits(session, generator, n * 8).to_bytes(n, "little")
    return session.rng.bytes(n)


def _seed(session: Session, generator: random.Random, a: Any = None, version: int = 2) -> None:
    session.seeded.pop(id(generator), None)
    if a is None or isinstance(generator, random.SystemRandom):
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
        session.tree.unsupported("the state of a random generator (getstate)", "do not look at it")
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

    def __init__(self, session: Session, generator: random.Random) -> None:
        self._session = session
        self._generator = generator
        self._last = 0
        self._drawn: list[int] = []

    def _randbelow(self, n: int) -> Any:
        if n != self._last:
            self._drawn.clear()
        self._last = n
        left = _below(self._session, self._generator, n - len(self._drawn))
        for before in sorted(self._drawn):
            left += before <= left
        self._drawn.append(left)
        return left

    def sample(self, population: Any, k: int) -> Any:
        """As CPython, which calls it for ``counts``."""
        return _ORIGINAL_SAMPLE(self, population, k)


@raises_as_numpy
def _sample(session: Session, generator: random.Random, *arguments: Any, **options: Any) -> Any:
    real = session.seeded.get(id(generator))
    if real is not None:
        return _ORIGINAL_SAMPLE(real, *arguments, **options)
    if len(arguments) == 2 and not options:
        population, k = arguments
        records = population.column() if type(population) is RecordList else population
        is_list = type(population) in (list, RecordList) and type(k) is int
        sampled = session.rng.random_order(records, k) if is_list else None
        if sampled is not None:
            return sampled.tolist()
    return _ORIGINAL_SAMPLE(_WithoutRepeats(session, generator), *arguments, **options)


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


def _unsupported(name: str) -> Callable[..., Any]:
    original = getattr(random.Random, name)

    def answer(session: Session, generator: random.Random, *arguments: Any, **options: Any) -> Any:
        real = session.seeded.get(id(generator))
        if real is None:
            session.tree.unsupported(f"random.{name}", _ADVICE)
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
    **{name: _unsupported(name) for name in _NO_LAW},
}


def replaced_methods() -> Iterator[Method]:
    """What to put into random.Random, and into SystemRandom where that has its own."""
    for owner in (random.Random, random.SystemRandom):
        for name, answer in _ANSWERS.items():
            if owner is random.Random or name in vars(owner):
                yield owner, name, kept_follower(getattr(owner, name), answer)


def python_replacements() -> Iterator[Named]:
    """Functions of the modules that are bound to what ``replaced_methods`` replaces."""
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

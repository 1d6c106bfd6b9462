"""Stand-ins for what numpy.random offers beside an rng argument.

The functions of numpy.random and the RandomState under them; RandomState, Generator,
default_rng and the bit generators, which are fresh randomness when made without a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from liptest.enumerate.analysis_session import (
    FreshBits,
    Session,
    active,
    class_for,
    kept_follower,
)
from liptest.enumerate.random_state import seeded_state
from liptest.values.faults import raises_as_numpy

#: (original, stand-in)
Named = tuple[Any, Any]
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_SWITCHES = ("get_bit_generator", "set_bit_generator")


class HeldEntropy:
    """Stands in for a SeedSequence of the operating system's bits that was made before."""

    def __getattr__(self, name: str) -> Any:
        session = active()
        if session is None:
            raise AttributeError(name)
        session.tree.unsupported(
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
            self._session.tree.unsupported(
                "two generators of one numpy.random.SeedSequence", "use its spawn(2)"
            )
        self._is_used = True

    def spawn(self, n_children: int) -> Any:
        return [FreshEntropy(self._session) for _ in range(n_children)]

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NoReturn:
        self._session.drew_from("the operating system (numpy.random.SeedSequence())")


def _shown(self: FreshEntropy, *arguments: Any) -> NoReturn:
    self.generate_state(1)


for _name in ("entropy", "state", "pool"):
    setattr(FreshEntropy, _name, property(_shown))
for _name in ("__repr__", "__reduce__", "__getstate__"):
    setattr(FreshEntropy, _name, _shown)


def _is_fresh(*seeds: Any) -> bool:
    """Whether what seeds a generator is fresh randomness: nothing, or a fresh SeedSequence."""
    fresh = [seed for seed in seeds if type(seed) is FreshEntropy]
    for seed in seeds:
        if type(seed) is HeldEntropy:
            seed.entropy  # noqa: B018
    for seed in fresh:
        seed.use()
    return len(fresh) + sum(seed is None for seed in seeds) == len(seeds)


def _bits(session: Session, *arguments: Any, **options: Any) -> Any:
    if _is_fresh(*arguments, *options.values()):
        return FreshBits(session)
    session.note_seed()
    return None


def _state(session: Session, seed: Any = None) -> Any:
    if isinstance(seed, FreshBits) or _is_fresh(seed):
        return session.fresh_state()
    session.note_seed()
    return seeded_state(seed)


def _generator(session: Session, bit_generator: Any) -> Any:
    return session.new_generator() if isinstance(bit_generator, FreshBits) else None


def _seed_sequence(session: Session, entropy: Any = None, **options: Any) -> Any:
    if entropy is None and not options:
        return FreshEntropy(session)
    if entropy is None:
        session.drew_from("the operating system (numpy.random.SeedSequence())")
    session.note_seed()
    return None


@raises_as_numpy
def _default_rng(session: Session, seed: Any = None) -> Any:
    if isinstance(seed, FreshBits) or _is_fresh(seed):
        return session.new_generator()
    if not isinstance(seed, np.random.Generator):
        session.note_seed()
    return _DEFAULT_RNG(seed)


_DEFAULT_RNG = np.random.default_rng


def _seed(session: Session, seed: Any = None) -> None:
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
        session.tree.unsupported(f"numpy.random.{name}", "leave the bit generator as it is")

    return answer


def numpy_replacements(session: Session) -> Iterator[Named]:
    """Functions and classes of numpy.random with their stand-ins, and its RandomState."""
    yield from _CLASSES
    yield np.random.default_rng, kept_follower(np.random.default_rng, _default_rng)
    yield np.random.seed, kept_follower(np.random.seed, _seed)
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
        (kind, class_for(kind, _bits))
        for kind in (getattr(np.random, name) for name in _BIT_GENERATORS)
    ),
)

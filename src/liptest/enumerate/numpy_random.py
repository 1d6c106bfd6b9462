"""Stand-ins for what numpy.random offers beside an rng argument.

The functions of numpy.random and the RandomState under them; RandomState, Generator,
default_rng and the bit generators, which are fresh randomness when made without a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from liptest.enumerate.analysis_session import FreshBits, Session, class_for, kept_follower
from liptest.enumerate.random_state import seeded_state
from liptest.values.faults import raises_as_numpy

#: (original, stand-in)
Named = tuple[Any, Any]
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_SWITCHES = ("get_bit_generator", "set_bit_generator")


def _bits(session: Session, *arguments: Any, **options: Any) -> Any:
    if all(argument is None for argument in (*arguments, *options.values())):
        return FreshBits(session)
    session.note_seed()
    return None


def _state(session: Session, seed: Any = None) -> Any:
    if seed is None or isinstance(seed, FreshBits):
        return session.fresh_state()
    session.note_seed()
    return seeded_state(seed)


def _generator(session: Session, bit_generator: Any) -> Any:
    return session.new_generator() if isinstance(bit_generator, FreshBits) else None


def _seed_sequence(session: Session, entropy: Any = None, **options: Any) -> Any:
    if entropy is None:
        session.drew_from("the operating system (numpy.random.SeedSequence())")
    session.note_seed()


@raises_as_numpy
def _default_rng(session: Session, seed: Any = None) -> Any:
    if seed is None or isinstance(seed, FreshBits):
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

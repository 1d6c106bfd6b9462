"""Random numbers in all the places where programs hold them."""

from __future__ import annotations

import functools
import random
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from random import randint as imported_randint
from random import random as imported_random
from typing import Any

import numpy as np
from numpy.random import default_rng as imported_default_rng
from numpy.random import rand as imported_rand

GENERATOR = np.random.default_rng()
STATE = np.random.RandomState()
PYTHON = random.Random()
BOUND = np.random.default_rng().integers
IN_A_LIST = [np.random.RandomState()]
IN_A_DICT = {"rng": np.random.default_rng()}


@dataclass
class Library:
    """As libraries do: a generator in an attribute, drawn from in a method."""

    rng: Any
    inner: dict[str, Any] = field(default_factory=dict)

    def answer(self, data: Any) -> int:
        return int(self.rng.integers(2))

    def __call__(self, data: Any) -> int:
        return self.answer(data)


class Slotted:
    __slots__ = ("rng",)

    def __init__(self, rng: Any) -> None:
        self.rng = rng

    def answer(self, data: Any) -> int:
        return int(self.rng.integers(2))


class OfItsClass:
    rng = np.random.RandomState()

    def answer(self, data: Any) -> int:
        return int(self.rng.randint(2))


def by_default(data: Any, *, generator: Any = np.random.default_rng()) -> int:  # noqa: B008
    return int(generator.integers(2))


def by_position(data: Any, rng: Any, generator: Any = np.random.RandomState()) -> int:  # noqa: B008
    return int(generator.randint(2))


def closing_over(generator: Any) -> Callable[[Any], int]:
    def inner(data: Any) -> int:
        return int(generator.integers(2))

    return inner


def keeps_the_metadata(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(data: Any) -> Any:
        return function(data)

    return wrapper


def through_another(data: Any) -> int:
    return _named_in_another()


def _named_in_another() -> int:
    return int(GENERATOR.integers(2))


OBJECT = Library(np.random.default_rng())
NESTED = Library(None, {"deep": [Library(np.random.default_rng())]})

#: Each tosses one fair coin, 0 or 1.
COINS: dict[str, Callable[..., Any]] = {
    "random.random": lambda data: int(random.random() < 0.5),
    "random.randint": lambda data: random.randint(0, 1),
    "random.choice": lambda data: random.choice([0, 1]),
    "random.getrandbits": lambda data: random.getrandbits(1),
    "from random import random": lambda data: int(imported_random() < 0.5),
    "from random import randint": lambda data: imported_randint(0, 1),
    "random.Random": lambda data: PYTHON.randrange(2),
    "random.Random()": lambda data: random.Random().randrange(2),
    "random.SystemRandom()": lambda data: random.SystemRandom().randrange(2),
    "secrets.randbelow": lambda data: secrets.randbelow(2),
    "secrets.randbits": lambda data: secrets.randbits(1),
    "secrets.choice": lambda data: secrets.choice((0, 1)),
    "numpy.random.rand": lambda data: int(np.random.rand() < 0.5),
    "numpy.random.randint": lambda data: np.random.randint(2),
    "numpy.random.ranf": lambda data: int(np.random.ranf() < 0.5),
    "from numpy.random import rand": lambda data: int(imported_rand() < 0.5),
    "numpy.random.mtrand._rand": lambda data: np.random.mtrand._rand.randint(2),
    "default_rng()": lambda data: int(np.random.default_rng().integers(2)),
    "from numpy.random import default_rng": lambda data: int(imported_default_rng().integers(2)),
    "RandomState()": lambda data: np.random.RandomState().randint(2),
    "Generator(PCG64())": lambda data: int(np.random.Generator(np.random.PCG64()).integers(2)),
    "RandomState(MT19937())": lambda data: np.random.RandomState(np.random.MT19937()).randint(2),
    "a global Generator": lambda data: int(GENERATOR.integers(2)),
    "a global RandomState": lambda data: STATE.randint(2),
    "a global bound method": lambda data: int(BOUND(2)),
    "in a list": lambda data: IN_A_LIST[0].randint(2),
    "in a dict": lambda data: int(IN_A_DICT["rng"].integers(2)),
    "an object": OBJECT,
    "a method": OBJECT.answer,
    "an object held by another": lambda data: NESTED.inner["deep"][0].answer(data),
    "slots": Slotted(np.random.default_rng()).answer,
    "a class attribute": OfItsClass().answer,
    "a keyword default": by_default,
    "a default": by_position,
    "a closure": closing_over(np.random.default_rng()),
    "a wrapped function": keeps_the_metadata(lambda data: int(GENERATOR.integers(2))),
    "a partial": functools.partial(lambda rng, data: int(rng.integers(2)), GENERATOR),
    "another function": through_another,
}


def all_states() -> dict[str, Any]:
    """What must be as before after an analysis: names, methods, held objects."""
    modules = {"random": random, "secrets": secrets, "numpy.random": np.random}
    modules |= {"mtrand": np.random.mtrand, "here": None}
    found: dict[str, Any] = {}
    for name, module in modules.items():
        space = globals() if module is None else vars(module)
        found |= {f"{name}.{key}": id(value) for key, value in space.items()}
    for kind in (random.Random, random.SystemRandom):
        found |= {f"{kind.__name__}.{key}": id(value) for key, value in vars(kind).items()}
    found["list"] = id(IN_A_LIST[0])
    found["dict"] = id(IN_A_DICT["rng"])
    found["object"] = id(OBJECT.rng)
    found["class"] = id(OfItsClass.rng)
    found["default"] = id((by_position.__defaults__ or (None,))[0])
    found["keyword"] = id((by_default.__kwdefaults__ or {})["generator"])
    found["python"] = hash(random.getstate())
    found["numpy"] = np.random.get_state()[1].tobytes()  # type: ignore[index, union-attr]
    return found

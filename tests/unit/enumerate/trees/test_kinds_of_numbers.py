"""What code asks of the kind of a random number is answered as for plain ones, however it asks.

No leaf is repeated here: a rare one would not be.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import json
import random
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.trees import enumeration

DATA = np.array([1, 0, 1])
KIND, KINDS, BY_NAME, HELD = type, [type], {"kind": type}, SimpleNamespace(kind=type)
ASK = getattr


def alias(v: Any, kind: Any = type) -> Any:
    return kind(v).__name__


@dataclasses.dataclass
class Holder:
    kind: Any = type

    def __call__(self, v: Any) -> Any:
        return self.kind(v).__name__


HOLDER, PARTIAL = Holder(), functools.partial(alias, kind=type)


def shown_attributes(v: Any) -> Any:
    names = ["item", "tolist", "is_integer", "dtype", "shape", "__len__", "__index__", "__dict__"]
    names += ["__array_ufunc__", "__array__", "ndim", "real", "bit_count", "__hash__", "_tree"]
    return [name for name in names if hasattr(v, name)]


def by_default(v: Any) -> Any:
    return getattr(v, "item", None) is None, callable(getattr(v, "__index__", None))


def without_default(v: Any) -> Any:
    try:
        return getattr(v, "tolist") is None  # noqa: B009
    except AttributeError as error:
        return str(error)


QUESTIONS = {
    "map": lambda v: [kind.__name__ for kind in map(type, [v, v])],
    "a local name": lambda v: (lambda kind: kind(v).__name__)(type),
    "a global": lambda v: KIND(v).__name__,
    "a list": lambda v: KINDS[0](v).__name__,
    "a dict": lambda v: BY_NAME["kind"](v).__name__,
    "an attribute": lambda v: HELD.kind(v).__name__,
    "an object": HOLDER,
    "a default": alias,
    "a partial": PARTIAL,
    "a key": lambda v: {float: 1, int: 2}.get(type(v), 3),
    "a class of classes": lambda v: type(type(v)) is type,
    "is a class": lambda v: isinstance(type(v), type),
    "a new class": lambda v: type("Own", (type,), {}).__name__ + type(v).__name__,
    "a type of types": lambda v: str(type[int]) + type(v).__name__,
    "hasattr": shown_attributes,
    "getattr": by_default,
    "getattr alone": without_default,
    "getattr under another name": lambda v: ASK(v, "item", None) is None,
    "dir": lambda v: [name for name in dir(v) if name in ("item", "hex", "bit_length", "T")],
    "hashable": lambda v: isinstance(v, collections.abc.Hashable),
}
DRAWS = {
    "uniform": lambda rng: rng.random(),
    "uniform of Python": lambda rng: random.random(),
    "shifted": lambda rng: 2 * rng.random() - 1,
    "entry": lambda rng: rng.random(2)[0],
    "uniforms": lambda rng: rng.random(3),
    "noise": lambda rng: rng.laplace(),
    "noise and data": lambda rng: DATA[0] + rng.laplace(),
    "noises": lambda rng: rng.laplace(size=3),
    "geometric": lambda rng: rng.geometric(0.5),
    "rounded": lambda rng: round(rng.laplace()),
    "rounded by NumPy": lambda rng: np.round(rng.normal(size=2))[0],
    "bits": lambda rng: rng.random(3) < 0.5,
    "a bit": lambda rng: (rng.random(3) < 0.5)[0],
    "a count": lambda rng: (rng.random(3) < 0.5).sum(),
    "comparisons": lambda rng: rng.laplace(size=2) > 0,
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_as_of_plain_numbers(question: str) -> None:
    ask = QUESTIONS[question]

    def program(data: Any, rng: Any) -> Any:
        return json.dumps({name: ask(draw(rng)) for name, draw in DRAWS.items()})

    expected = program(DATA, np.random.default_rng(1))
    with mock.patch.object(enumeration, "repeat", return_value=0):
        law = lt.mechanism(program).law(DATA)
    assert dict(law) == pytest.approx({expected: 1.0})
    assert (KIND, KINDS[0], HELD.kind, HOLDER.kind, ASK) == (type, type, type, type, getattr)
    assert {"type", "hasattr", "getattr"}.isdisjoint(globals())

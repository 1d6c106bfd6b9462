"""A program that catches what only a stand-in cannot do is not followed."""

from __future__ import annotations

import contextlib
import sys
import weakref
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import LiptestError, UnsupportedRandomnessError
from tests.unit.written_programs import program

DATA = np.array([0, 1])


def mechanism(text: str) -> Any:
    return lt.mechanism(program(text, contextlib=contextlib))


# Each is 5 with a stand-in, and a number with chance 1/2 below what is compared with.
USES = (
    "x = rng.random(2)[0]\ntry: c = x[()]\nexcept TypeError: c = 5\nreturn bool(c > 0.5)",
    "x = rng.random(2)[0]\ntry: c = x[()]\nexcept Exception: c = 5\nreturn bool(c > 0.5)",
    "x = rng.random(2)[0]\ntry: c = x[()]\nexcept: c = 5\nreturn bool(c > 0.5)",
    "x = rng.laplace(size=2)[0]\nc = 5\ntry: c = x[()]\nfinally: return bool(c > 0)",
    "x = rng.random(2)[0]\nc = 5\nwith contextlib.suppress(TypeError): c = x[()]\n"
    "return bool(c > 0.5)",
    "def f(x):\n    try: return x[()]\n    except TypeError: return 5\n"
    "return bool(f(rng.random(2)[0]) > 0.5)",
)


@pytest.mark.parametrize("text", USES)
def test_a_caught_fault_ends_the_analysis(text: str) -> None:
    with pytest.raises(LiptestError, match=r"TypeError|subscript"):
        lt.output_law(mechanism(text), DATA)
    assert sys.gettrace() is None


@pytest.mark.parametrize("text", ["memoryview(x)", "x[0][()]"])
def test_what_takes_known_numbers_only_is_not_called_a_fault_of_liptest(text: str) -> None:
    with pytest.raises(LiptestError) as caught:
        lt.output_law(mechanism(f"x = rng.random(2)\nreturn {text}"), DATA)
    assert "liptest itself" not in str(caught.value)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("text", "law"),
    [
        (
            "x = int(rng.integers(0, 2))\ntry: return 1 // x\nexcept ZeroDivisionError: return 9",
            {1: 0.5, 9: 0.5},
        ),
        ("x = rng.random()\ntry: return x.nonsense\nexcept AttributeError: return 9", {9: 1.0}),
        ("x = rng.random() < 0.5\ntry: return {True: 3}[x]\nexcept KeyError: return 9",
         {3: 0.5, 9: 0.5}),
        ("x = rng.random(2) < 0.5\ntry: return x[5]\nexcept IndexError: return 9", {9: 1.0}),
        ("x = rng.random()\ntry: return x + 'a'\nexcept TypeError: return 9", {9: 1.0}),
        ("x = iter([rng.integers(0, 2)])\nnext(x)\ntry: next(x)\nexcept StopIteration: return 9",
         {9: 1.0}),
    ],
)  # fmt: skip
def test_what_the_program_raises_itself_is_caught_by_it(text: str, law: dict[Any, float]) -> None:
    assert dict(lt.output_law(mechanism(text), DATA)) == law


FINALIZERS = (
    "out = []\nclass A:\n    def __del__(self): out.append(hash(rng.laplace()))\n"
    "a = A(); del a\nreturn int(data[0]) if out else 0",
    "out = []\nclass A: pass\na = A()\n"
    "weakref.finalize(a, lambda: out.append(rng.standard_cauchy()))\n"
    "del a\nreturn int(data[0]) if out else 0",
)


@pytest.mark.parametrize("text", FINALIZERS)
def test_a_finalizer_is_refused_and_nothing_is_printed(text: str, capsys: Any) -> None:
    """Python prints what a finalizer raises, and goes on: the run is refused at its end."""
    printed = capsys.readouterr
    hook = sys.unraisablehook
    with pytest.raises(UnsupportedRandomnessError):
        lt.output_law(lt.mechanism(program(text, weakref=weakref)), DATA)
    assert printed().err == ""
    assert sys.unraisablehook is hook

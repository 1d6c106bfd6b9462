"""What was derived from a random float stays bound to it when the float becomes noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import UnsupportedRandomnessError


def law(program: Callable[[Any], Any]) -> Any:
    return lt.output_law(lt.mechanism(lambda data, rng: program(rng)), np.array([0]))


DERIVED: dict[str, Callable[[Any], Any]] = {
    "a difference": lambda u: 1 - u,
    "a quotient": lambda u: u / 2,
    "a multiple": lambda u: u * 2 + 1,
    "the other sign": lambda u: -u,
    "a size": lambda u: abs(u - 0.5),
    "NumPy's": lambda u: np.subtract(1, u),
    "an entry": lambda u: np.array([1.0, 2.0]) * u,
}


@pytest.mark.parametrize("derive", DERIVED.values(), ids=DERIVED)
@pytest.mark.parametrize("draw", [lambda g: g.random(), lambda g: g.random(2)[0]])
def test_what_was_derived_before_and_after_is_one_thing(derive: Any, draw: Any) -> None:
    """Whatever is derived before its base meets noise equals what is derived after that."""

    def program(rng: Any) -> Any:
        u = draw(rng)
        before = derive(u)
        met = bool(u + rng.laplace() > 0.5)
        return met, bool(np.all(before == derive(u))), bool(np.any(abs(before - derive(u)) > 1e-9))

    found = law(program)
    assert {answers[1:] for answers in found.outputs} <= {(True, False), (False, False)}


def test_a_mirror_image_never_agrees_with_its_origin() -> None:
    def program(rng: Any) -> Any:
        u = rng.random()
        mirrored = 1 - u
        bool(rng.laplace() < u)
        return bool(u > 0.3 or mirrored > 0.3)

    assert dict(law(program)) == {True: pytest.approx(1.0)}


def test_entries_share_their_base_with_their_array() -> None:
    def program(rng: Any) -> Any:
        x = rng.random(2)
        doubled = x[0] * 2
        first = bool(x[0] > rng.random())
        return first, bool(doubled > 1.0) == bool(x[0] > 0.5)

    assert {agree for _, agree in law(program).outputs} == {True}


def test_what_is_known_of_it_is_kept() -> None:
    def program(rng: Any) -> Any:
        u = rng.random()
        low = bool(u < 0.25)
        return low, bool(u > 0.25 * rng.random() + 0.25)

    found = dict(law(program))
    assert (True, True) not in found
    assert found[True, False] == pytest.approx(0.25)


def test_what_is_not_linear_in_it_is_refused_after_that() -> None:
    def program(rng: Any) -> Any:
        u = rng.random()
        surprise = -np.log(u)
        bool(u > rng.laplace())
        return bool(surprise > 1)  # here

    with pytest.raises(UnsupportedRandomnessError, match=r"linear.*# here"):
        law(program)


def test_a_multiple_by_zero_is_followed() -> None:
    def program(rng: Any) -> Any:
        x = np.array([0, 1]) * rng.random(2) + rng.laplace()
        return int(np.argmax(x))

    assert dict(law(program)) == {1: pytest.approx(1.0)}


@pytest.mark.parametrize("function", [np.round, lambda number: np.add(number, 1)])
def test_a_number_that_numpy_calculates_is_numpys(function) -> None:
    def program(data, rng):
        return isinstance(function(rng.laplace()), np.float64)

    assert dict(lt.output_law(lt.mechanism(program), np.array([0]))) == {True: 1.0}

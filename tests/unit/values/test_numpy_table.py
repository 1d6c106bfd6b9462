"""Every function of NumPy is in exactly one set of the table; what is in none is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import UnsupportedRandomnessError
from liptest.values import numpy_functions, ufuncs
from tests.unit.enumerate.bits import law_of


def public(kind: type) -> dict[str, Any]:
    """Public functions, or ufuncs, of NumPy by name, each under the name that it has itself."""
    found = {name: getattr(np, name) for name in dir(np) if not name.startswith("_")}
    return {one.__name__: one for one in found.values() if isinstance(one, kind)}


def dispatched() -> set[str]:
    overrides = pytest.importorskip("numpy.testing.overrides")
    functions = overrides.get_overridable_numpy_array_functions()
    return {one.__name__ for one in functions if one.__module__ == "numpy"}


def test_every_function_of_numpy_is_in_exactly_one_set() -> None:
    followed = numpy_functions.FOLLOWED.keys() | numpy_functions.MOVES | numpy_functions.SHAPES
    sets = {
        "followed": {one.__name__ for one in followed},
        "concretised": set(numpy_functions.CONCRETISED),
        "refused": set(numpy_functions.REFUSED),
    }
    wrong = {
        name: [where for where, names in sets.items() if name in names]
        for name in dispatched()
        if sum(name in names for names in sets.values()) != 1
    }
    assert wrong == {}


def test_every_ufunc_of_numpy_is_in_exactly_one_set() -> None:
    sets = [set(ufuncs.FOLLOWED), set(ufuncs.CONCRETISED), set(ufuncs.REFUSED)]
    wrong = [
        name for name, one in public(np.ufunc).items() if sum(one in some for some in sets) != 1
    ]
    assert wrong == []


def law(program: Callable[[Any, Any], Any], *data: int) -> Any:
    return lt.output_law(lt.mechanism(program), np.array(data or (0, 1)))


REFUSED: dict[str, Callable[[Any], Any]] = {
    "a view of another type": lambda x: x.view(np.int8),
    "a method that writes": lambda x: x.partition(1),
    "a function that writes": lambda x: np.place(x, [True, False], 1),
    "a buffer": lambda x: x.data,
    "flags": lambda x: x.setflags(write=False),
    "out of a function": lambda x: np.cumprod(x, out=x),
    "at": lambda x: np.add.at(x, 0, 1),
    "a product by another name": lambda x: np.vecdot(x, x),
}
ARRAYS: dict[str, Callable[[Any], Any]] = {
    "noise": lambda rng: rng.laplace(size=2),
    "whole numbers": lambda rng: rng.geometric(0.5, size=2),
    "floats": lambda rng: rng.random(2) * 2,
    "comparisons": lambda rng: rng.laplace(size=2) > 0,
    "bits": lambda rng: rng.random(2) < 0.5,
}


@pytest.mark.parametrize("draw", ARRAYS.values(), ids=ARRAYS)
@pytest.mark.parametrize("use", REFUSED.values(), ids=REFUSED)
def test_what_is_not_in_the_table_is_refused_with_its_line(use: Any, draw: Any) -> None:
    with pytest.raises(UnsupportedRandomnessError, match=r"test_numpy_table\.py:\d+.*; "):
        law(lambda data, rng: use(draw(rng)))


CONTINUOUS: dict[str, Callable[[Any], Any]] = {
    "out of a plain array": lambda x: np.add(x, 1, out=np.linspace(0, 1, 2)),
    "a reduction in other ways": lambda x: np.subtract.reduce(x),
    "what has to be a plain array": lambda x: np.require(x, requirements="W"),
    "a function that needs values": lambda x: np.median(x),
}


@pytest.mark.parametrize("draw", [ARRAYS["noise"], ARRAYS["floats"]], ids=["noise", "floats"])
@pytest.mark.parametrize("use", CONTINUOUS.values(), ids=CONTINUOUS)
def test_what_needs_plain_values_is_refused_with_its_line(use: Any, draw: Any) -> None:
    with pytest.raises(UnsupportedRandomnessError, match=r"test_numpy_table\.py:\d+.*; "):
        law(lambda data, rng: use(draw(rng)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["whole numbers", "comparisons", "bits"])
def test_a_plain_array_without_a_copy_cannot_be_written(name: str) -> None:
    found = law_of(lambda rng: np.asarray(ARRAYS[name](rng)).flags.writeable)
    assert set(found) == {False}
    found = law_of(lambda rng: np.array(ARRAYS[name](rng)).flags.writeable)
    assert set(found) == {True}

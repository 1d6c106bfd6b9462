"""``numbers += noise``: followed where the array has one name, refused or an error elsewhere."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.mechanisms.laws import OutputLaw


def law(program: Any) -> OutputLaw:
    return lt.output_law(lt.mechanism(program), np.array([0, 2, 1]))


def with_numbers(d: Any, g: Any) -> Any:
    return [int(k) for k in np.argsort(d + g.laplace(size=3))]


class Holder:
    """Its array is changed in place, and what is assigned is dropped."""

    def __init__(self) -> None:
        self._numbers = np.zeros(3)

    @property
    def numbers(self) -> Any:
        return self._numbers

    @numbers.setter
    def numbers(self, value: Any) -> None:
        pass


NUMBERS: Any = None


def global_name(d: Any, g: Any) -> Any:
    global NUMBERS
    NUMBERS = d.astype(float)
    NUMBERS += g.laplace(size=3)
    return [int(k) for k in np.argsort(NUMBERS)]


def local(d: Any, g: Any) -> Any:
    numbers = d.astype(float)
    numbers += g.laplace(size=3)
    return [int(k) for k in np.argsort(numbers)]


def attribute(d: Any, g: Any) -> Any:
    holder = Holder()
    holder.numbers += d
    holder.numbers += g.laplace(size=3)
    return [int(k) for k in np.argsort(holder.numbers)]


def entry(d: Any, g: Any) -> Any:
    several = {"a": d * 1.0}
    several["a"] += g.laplace(size=3)
    return [int(k) for k in np.argsort(several["a"])]


def in_a_loop(d: Any, g: Any) -> Any:
    numbers = np.array(d, dtype=float)
    for _ in range(2):
        numbers *= 2
        numbers += 2 * g.laplace(size=3) if _ == 0 else 0.0
        numbers /= 2
    return [int(k) for k in np.argsort(numbers)]


def closure(d: Any, g: Any) -> Any:
    numbers = d / 1.0

    def add() -> None:
        nonlocal numbers
        numbers += g.laplace(size=3)

    add()
    return [int(k) for k in np.argsort(numbers)]


@pytest.mark.parametrize("program", [local, in_a_loop, closure, global_name, attribute])
def test_the_law_is_that_of_a_sum(program: Any) -> None:
    found, expected = law(program), law(with_numbers)
    assert dict(found) == pytest.approx(dict(expected), rel=1e-12)


def test_one_number_for_all_entries() -> None:
    def program(d: Any, g: Any) -> Any:
        numbers = d.astype(float)
        numbers += g.laplace()
        return bool(np.max(numbers) > 2)

    assert law(program)[True] == pytest.approx(0.5)


def by_two_names(d: Any, g: Any) -> Any:
    numbers = d.astype(float)
    same = numbers
    numbers += g.laplace(size=3)
    return int(np.argmax(same))


def in_a_list(d: Any, g: Any) -> Any:
    numbers = d.astype(float)
    kept = [numbers]
    numbers += g.laplace(size=3)
    return int(np.argmax(kept[0]))


def seen_through_a_view(d: Any, g: Any) -> Any:
    numbers = d.astype(float)
    view = numbers[::-1]
    numbers += g.laplace(size=3)
    return int(np.argmax(view))


def of_a_view(d: Any, g: Any) -> Any:
    numbers = d.astype(float)
    view = numbers[:]
    view += g.laplace(size=3)
    return int(np.argmax(numbers))


def of_a_slice(d: Any, g: Any) -> Any:
    numbers = d.astype(float)
    numbers[1:] += g.laplace(size=2)
    return int(np.argmax(numbers))


def in_the_caller(d: Any, g: Any) -> Any:
    def noisy(numbers: Any) -> None:
        numbers += g.laplace(size=3)

    numbers = d.astype(float)
    noisy(numbers)
    return int(np.argmax(numbers))


def in_the_caller_of_a_caller(d: Any, g: Any) -> Any:
    def noisy(numbers: Any) -> None:
        numbers += g.laplace(size=3)

    def handing_on(numbers: Any) -> None:
        noisy(numbers)

    numbers = np.arange(3) / 2
    handing_on(numbers)
    return int(np.argmax(numbers))


def by_function(d: Any, g: Any) -> Any:
    numbers = d.astype(float)
    np.add(numbers, g.laplace(size=3), out=numbers)
    return int(np.argmax(numbers))


def by_another_input(d: Any, g: Any) -> Any:
    numbers = d.astype(float)
    np.add(d.astype(float), g.laplace(size=3), out=numbers)
    return int(np.argmax(numbers))


def by_operator(d: Any, g: Any) -> Any:
    numbers = d.astype(float)
    operator.iadd(numbers, g.laplace(size=3))
    return int(np.argmax(numbers))


def by_method(d: Any, g: Any) -> Any:
    numbers = d.astype(float)
    numbers.__iadd__(g.laplace(size=3))
    return int(np.argmax(numbers))


def of_other_floats(d: Any, g: Any) -> Any:
    numbers = d.astype(np.float32)
    numbers += g.laplace(size=3)
    return int(np.argmax(numbers))


@pytest.mark.parametrize(
    "program",
    [
        *(by_two_names, in_a_list, seen_through_a_view, of_a_view, of_a_slice, in_the_caller),
        in_the_caller_of_a_caller,
        *(entry, by_function, by_another_input, by_operator, by_method, of_other_floats),
    ],
)
def test_what_another_name_would_miss_is_refused(program: Any) -> None:
    with pytest.raises(
        lt.errors.UnsupportedRandomnessError, match=r"into an array of|array with contin"
    ):
        law(program)


def test_errors_of_numpy_are_outputs() -> None:
    def whole(d: Any, g: Any) -> Any:
        numbers = np.arange(3)
        numbers += g.laplace(size=3)
        return 1

    def long(d: Any, g: Any) -> Any:
        numbers = np.zeros(3)
        numbers += g.laplace(size=4)
        return 1

    def read_only(d: Any, g: Any) -> Any:
        numbers = np.zeros(3)
        numbers.flags.writeable = False
        numbers += g.laplace(size=3)
        return 1

    for program, name in ((whole, "UFunc"), (long, "ValueError"), (read_only, "ValueError")):
        (output,) = law(program)
        assert name in str(output)

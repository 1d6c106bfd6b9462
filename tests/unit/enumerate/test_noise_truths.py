"""Comparisons of arrays with noise are decided when they are looked at: as few leaves as that."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.mechanisms.laws import OutputLaw
from tests.shares import mostly_slow


def law(program: Any, *data: int, **options: Any) -> OutputLaw:
    return lt.output_law(lt.mechanism(**options)(program), np.array(data))


def above(x: float, scale: float = 1.0) -> float:
    tail = math.exp(-abs(x) / scale) / 2
    return tail if x > 0 else 1 - tail


#: What programs do with an array of comparisons; the second one looks at all of them first.
USES: dict[str, Callable[[Any], Any]] = {
    "any": np.any,
    "all": np.all,
    "method": lambda b: b.any(),
    "built-in": any,
    "not all": lambda b: not all(b),
    "argmax": np.argmax,
    "argmin": lambda b: b.argmin(),
    "first entry": lambda b: b[0],
    "last entries": lambda b: b[1:].any(),
    "with another": lambda b: np.any(b & ~b[::-1]),
    "or a mask": lambda b: (b | (np.arange(len(b)) == 1)).all(),
    "and nothing": lambda b: np.any(b & False),
    "exclusive": lambda b: (b ^ True).any(),
    "a loop that stops": lambda b: next((k for k, one in enumerate(b) if one), None),
    "count": np.count_nonzero,
    "sum": np.sum,
    "mean": lambda b: b.mean(),
    "times": lambda b: np.sum(b * np.arange(len(b))),
    "where": lambda b: np.where(b, 1, 0),
    "places": lambda b: np.flatnonzero(b),
    "mask": lambda b: np.arange(len(b))[b],
    "cumulative": lambda b: np.cumsum(b),
    "as numbers": lambda b: b.astype(int),
    "list": lambda b: b.tolist(),
    "itself": lambda b: b,
    "along an axis": lambda b: b.reshape(1, -1).any(axis=0),
    "two rows": lambda b: [bool(row.all()) for row in np.stack([b, ~b])],
    "not a number": lambda b: np.logical_not(b).any(),
    "equal": lambda b: (b == np.array([True] * len(b))).all(),
    "written": lambda b: b.__setitem__(0, True) or b.all(),
    "seen through another": lambda b: (lambda c: c.__setitem__(0, False) or b.any())(b[1:]),
    "seen through its transpose": lambda b: (lambda c: c.__setitem__(0, False) or b.any())(b.T),
    "copied": lambda b: (lambda c: c.__setitem__(0, False) or b.any())(b.copy()),
    "type": lambda b: (b.dtype == bool, b.shape, b.ndim, b.size, len(b), isinstance(b, np.ndarray)),
}


@pytest.mark.parametrize("name", mostly_slow(USES, 4))
def test_the_law_is_the_one_of_all_outcomes(name: str) -> None:
    use = USES[name]

    def later(d: Any, g: Any) -> Any:
        return use(d + g.laplace(size=3) > g.laplace())

    def at_once(d: Any, g: Any) -> Any:
        return use(np.array([bool(one) for one in d + g.laplace(size=3) > g.laplace()]))

    found, expected = law(later, 0, 1, 2), law(at_once, 0, 1, 2)
    assert set(found) == set(expected)
    for output in expected:
        assert found[output] == pytest.approx(expected[output], rel=1e-12)


INTO: dict[str, Any] = {
    "or": lambda b, c: b.__ior__(c),
    "and": lambda b, c: b.__iand__(c),
    "exclusive or": lambda b, c: b.__ixor__(True),
    "add": lambda b, c: b.__iadd__(c),
}


@pytest.mark.parametrize("into", INTO.values(), ids=INTO)
def test_what_is_written_in_place_is_seen_by_another_name(into: Any) -> None:
    def program(d: Any, g: Any) -> Any:
        first = d + g.laplace(size=2) > 1
        same, mask = first, d + g.laplace(size=2) > 0
        into(first, mask)
        return same.tolist()

    def plainly(d: Any, g: Any) -> Any:
        first = np.array((d + g.laplace(size=2) > 1).tolist())
        same, mask = first, np.array((d + g.laplace(size=2) > 0).tolist())
        into(first, mask)
        return same.tolist()

    found, expected = law(program, 0, 2), law(plainly, 0, 2)
    assert dict(found) == pytest.approx(dict(expected), rel=1e-12)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=7), st.integers(-2, 2))
def test_first_above_against_a_product(answers: list[int], threshold: int) -> None:
    found = law(lambda d, g: np.argmax(d + g.laplace(0, 2.0, len(d)) >= threshold), *answers)
    left, expected = 1.0, dict.fromkeys(range(len(answers)), 0.0)
    for place, answer in enumerate(answers):
        expected[place] += left * above(threshold - answer, 2.0)
        left *= 1 - above(threshold - answer, 2.0)
    expected[0] += left
    assert dict(found) == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [
        lambda d, g: bool(np.any(d + g.laplace(size=60) > 9)),
        lambda d, g: bool((d + g.laplace(size=60) < 9).all()),
        lambda d, g: int(np.argmax(d + g.laplace(size=60) > 9)) > 60,
        lambda d, g: any(d + g.geometric(0.5, size=60) > 30),
    ],
)
def test_sixty_comparisons_have_sixty_one_leaves(program: Any) -> None:
    found = law(program, *([0] * 60), max_leaves=61)
    assert found.unexplored == 0
    assert math.fsum(found.values()) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.slow
def test_many_answers_against_one_noisy_threshold() -> None:
    """P(no answer reaches it), by quadrature over the threshold."""
    found = law(lambda d, g: np.any(d + g.laplace(0, 4.0, len(d)) >= g.laplace(0, 2.0)), *[0] * 40)
    grid = np.arange(-400, 400) / 4 + 1 / 8
    nodes, weights = np.polynomial.legendre.leggauss(12)
    t = (grid[:, None] + nodes / 8).ravel()
    below = np.where(t < 0, np.exp(t / 4) / 2, 1 - np.exp(-t / 4) / 2)
    none = np.sum(below**40 * np.exp(-np.abs(t) / 2) / 4 * np.tile(weights / 8, len(grid)))
    assert found[False] == pytest.approx(float(none), rel=1e-9)


def flat(b: Any) -> None:
    b.flat[0] = True


def negated(b: Any) -> None:
    np.logical_not(b, out=b)


WRITING = {
    "fill": (lambda b: b.fill(True), [True, True]),
    "a flat iterator": (flat, [True, False]),
    "put": (lambda b: np.put(b, 0, True), [True, False]),
    "out": (negated, [True, True]),
}


@pytest.mark.parametrize(("write", "expected"), WRITING.values(), ids=WRITING)
def test_what_is_written_is_seen_by_all(write: Any, expected: list[bool]) -> None:
    def program(d: Any, g: Any) -> Any:
        compared = np.minimum(d + g.geometric(0.5, size=2), 5) > 9
        view = compared[:]
        write(compared)
        return view.tolist()

    assert law(program, 0, 1) == {tuple(expected): 1}


def test_writing_in_other_ways_is_refused_with_its_name() -> None:
    with pytest.raises(
        lt.errors.UnsupportedRandomnessError, match=r"comparisons of .* used in \.view"
    ):
        law(lambda d, g: (d + g.laplace(size=2) > 0).view(np.int8), 0, 1)


def test_a_written_copy_is_not_lost_silently() -> None:
    def program(d: Any, g: Any) -> Any:
        compared = d + g.laplace(size=2) > 0
        np.asarray(compared)[0] = True
        return compared.all()

    with pytest.raises((lt.errors.LiptestError, ValueError)):
        lt.exact_epsilon(lt.mechanism(program), lt.Hypercube(2))

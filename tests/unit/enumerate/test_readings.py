"""Laws that are shared because the same is read, and proofs that rest on it."""

from __future__ import annotations

from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.data.points import from_array
from liptest.enumerate.narrowing import NarrowedFunction, narrow_function
from liptest.enumerate.trees import enumeration
from liptest.enumerate.watch import first_calls
from liptest.mechanisms.base import ReadsMore

CUBE = lt.Hypercube(6)


def counted(data: Any, rng: Any) -> int:
    return int(np.clip(data.sum() + rng.integers(-2, 3), 0, len(data)))


def two_records(data: Any, rng: Any) -> int:
    return int(data[1]) if rng.integers(4) else int(data[1] ^ data[4])


def depends(data: Any, rng: Any) -> int:
    """Reads the third record only where the first is 1."""
    return int(data[2]) if data[0] else 0


def of_all(data: Any, rng: Any) -> int:
    return int(data[0] if data.sum() > 3 else rng.integers(2))


def constant(data: Any, rng: Any) -> int:
    return int(rng.integers(2))


def laws_on_all(mechanism: Any, domain: Any) -> list[dict[Any, Fraction]]:
    points = next(domain.all_points(1 << 12))
    return [dict(zip(law.outputs, law.fractions, strict=True)) for law in
            (mechanism.law(point) for point in points)]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "statistic"),
    [
        (counted, "count"),
        (constant, "count"),
        (two_records, "coordinates 1, 4"),
        (depends, "coordinates 0, 2"),
        (lambda data, rng: int(data @ np.arange(6)), None),
        (lambda data, rng: tuple(int(b) ^ int(rng.integers(2)) for b in data), None),
    ],
)
def test_narrowed_laws_are_those_of_the_function(function: Any, statistic: str | None) -> None:
    mechanism = lt.mechanism(function)
    seen = narrow_function(mechanism, CUBE)
    assert (None if seen is None else seen.statistic.name) == statistic
    if seen is None:
        return
    # A budget of time switches the noting of reads off.
    plain = lt.mechanism(max_seconds=1e6)(function)
    points = next(CUBE.all_points(64))
    table = seen.laws(from_array(points))
    rows = table.distinct(np.arange(64))
    for row, law in zip(rows, laws_on_all(plain, CUBE), strict=True):
        found = {o: v for o, v in zip(table.outputs, table.logs[row], strict=True) if v > -1e9}
        assert found.keys() == law.keys()
        assert all(np.isclose(np.exp(found[o]), float(p)) for o, p in law.items())
    assert len(table.logs) <= 7


@pytest.mark.slow
@pytest.mark.parametrize("function", [counted, two_records, depends, of_all, constant])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_verdicts_are_those_without_readings(function: Any, epsilon: float) -> None:
    law = lt.ProductDistribution.uniform(CUBE)
    verdicts = [
        lt.check_privacy(lt.mechanism(**options)(function), law, epsilon=epsilon, seed=1)
        for options in ({}, {"max_seconds": 1e6})
    ]
    assert verdicts[0].decision == verdicts[1].decision
    assert verdicts[0].largest_loss == pytest.approx(verdicts[1].largest_loss)
    exact = [
        lt.exact_epsilon(lt.mechanism(**o)(function), CUBE) for o in ({}, {"max_seconds": 1e6})
    ]
    assert exact[0].value == pytest.approx(exact[1].value)


@pytest.mark.slow
def test_a_proof_for_a_thousand_records_from_plain_code() -> None:
    law = lt.ProductDistribution.bernoulli(np.full(1000, 0.004))

    def clicks(data: Any, rng: Any) -> int:
        return len(str(np.sum(data == 1))) + rng.integers(0, 2)

    verdict = lt.check_privacy(lt.mechanism(clicks), law, epsilon=1, delta=0.5)
    assert (verdict.decision, verdict.method) == ("YES", "exhaustive")
    assert "nothing but its count of ones" in verdict.guarantee.sentence
    assert verdict.cost.laws == 1001


@pytest.mark.slow
def test_other_domains() -> None:
    grid = lt.RecordGrid([3, 2, 4, 3])
    mechanism = lt.mechanism(lambda data, rng: int(data[2] * (1 + data[0])))
    seen = narrow_function(mechanism, grid)
    assert seen is not None
    assert seen.statistic.name == "coordinates 0, 2"
    assert lt.exact_epsilon(mechanism, grid).value == np.inf
    uniform = lt.ProductDistribution.uniform(grid)
    verdict = lt.check_privacy(mechanism, uniform, epsilon=1)
    assert verdict.witness.verify(mechanism)
    # Pairs of the twelve values, not of the 72 datasets.
    assert verdict.cost.laws <= 13


@pytest.mark.slow
def test_more_that_is_read_on_one_dataset_alone_is_noticed() -> None:
    def needle(data: Any, rng: Any) -> int:
        return int(data[0]) if data.sum() == 3 else 0

    mechanism = lt.mechanism(needle)
    seen = narrow_function(mechanism, CUBE)
    assert isinstance(seen, NarrowedFunction)
    with pytest.raises(ReadsMore):
        seen.laws_of(np.arange(7))
    uniform = lt.ProductDistribution.uniform(CUBE)
    assert lt.check_privacy(mechanism, uniform, epsilon=1, seed=1).decision == "NO"
    assert lt.exact_epsilon(mechanism, CUBE).value == np.inf


@pytest.mark.slow
def test_what_is_read_behind_the_back_is_noticed() -> None:
    def behind(data: Any, rng: Any) -> int:
        return int(data.sum()) * 0 + int(getattr(data, "_values", data)[0])

    seen = narrow_function(lt.mechanism(behind), CUBE)
    assert seen is not None
    with pytest.raises(lt.errors.NonDeterministicError, match="not seen to read"):
        seen.laws_of(np.arange(7))


def test_reading_something_else_after_the_same_answers_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(enumeration, "is_looked_at", lambda laws: False)
    monkeypatch.setattr(first_calls, "_describe_held", lambda session, left_out=(): [])
    turns = iter(range(100))

    def fickle(data: Any, rng: Any) -> int:
        return int(data[next(turns) // 2])

    mechanism = lt.mechanism(fickle)
    mechanism.laws(from_array(np.zeros((1, 6), dtype=np.int8)))
    with pytest.raises(lt.errors.NonDeterministicError, match="read something else"):
        mechanism.laws(from_array(np.ones((1, 6), dtype=np.int8)))


def test_code_that_wants_a_real_array_gets_one() -> None:
    def through_a_buffer(data: Any, rng: Any) -> int:
        return memoryview(data)[0] if rng.integers(2) else 5

    def by_type(data: Any, rng: Any) -> bool:
        return type(data) is np.ndarray

    data = np.array([7, 1])
    assert dict(lt.output_law(lt.mechanism(through_a_buffer), data)) == {7: 0.5, 5: 0.5}
    assert dict(lt.output_law(lt.mechanism(by_type), data)) == {True: 1.0}


@pytest.mark.parametrize("honest", [1, 8, 9, 12])
def test_state_is_not_taken_for_the_want_of_a_real_array(honest: int) -> None:
    calls = count()

    def turns(data: Any, rng: Any) -> int:
        answer = int(data[0]) + sum(rng.integers(2, size=3).tolist())
        return answer if next(calls) < honest else 7

    with pytest.raises(lt.errors.NonDeterministicError, match="keep no state between calls"):
        lt.mechanism(turns).law(np.array([0, 1, 0]))


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_state_is_not_taken_for_an_exception_of_compiled_code(failing: int) -> None:
    calls = count()

    def raises(data: Any, rng: Any) -> int:
        if next(calls) < failing:
            raise ValueError
        return int(data[0])

    with pytest.raises(lt.errors.NonDeterministicError, match="keep no state between calls"):
        lt.mechanism(raises).law(np.array([0, 1, 0]))


def test_a_number_of_an_earlier_run_is_no_reason_for_a_real_array() -> None:
    kept: list[Any] = []

    def keeps(data: Any, rng: Any) -> bool | None:
        before = bool(kept[0] < 0.5) if kept else None
        kept.append(rng.random())
        return before

    with pytest.raises(lt.errors.NonDeterministicError):
        lt.mechanism(keeps).law(np.array([0, 1]))


PROGRAMS = [
    lambda a: int(a.sum()),
    lambda a: int(a[0]),
    lambda a: int(a[-1]) * 2,
    lambda a: int((a == 1).sum()),
    lambda a: int(a[1:3].max()),
    lambda a: int(a @ np.arange(len(a))),
    lambda a: int(a.tolist()[2]),
    lambda a: len(a),
    lambda a: int(np.where(a == 1, 3, 0).sum()),
]


@pytest.mark.slow
@settings(max_examples=20)
@given(
    first=st.integers(0, len(PROGRAMS) - 1),
    second=st.integers(0, len(PROGRAMS) - 1),
    third=st.integers(0, len(PROGRAMS) - 1),
    cut=st.integers(-1, 6),
)
def test_programs_that_read_here_and_there(first: int, second: int, third: int, cut: int) -> None:
    def program(data: Any, rng: Any) -> Any:
        seen = PROGRAMS[first](data)
        if rng.integers(3) == 0:
            return seen
        return PROGRAMS[second](data) if seen > cut else (PROGRAMS[third](data), seen)

    points = next(lt.Hypercube(4).all_points(16))[::2]
    noting, plain = lt.mechanism(program), lt.mechanism(max_seconds=1e6)(program)
    table = noting.laws(from_array(points))
    for row, point in zip(table.distinct(np.arange(8)), points, strict=True):
        found = {o: v for o, v in zip(table.outputs, table.logs[row], strict=True) if v > -1e9}
        assert {o: round(np.exp(v), 12) for o, v in found.items()} == {
            o: round(p, 12) for o, p in plain.law(point).items()
        }


@pytest.mark.slow
def test_laws_that_differ_in_the_order_of_outputs_only_are_equal() -> None:
    # The first branch depends on the data, the law does not.
    def either(data: Any, rng: Any) -> int:
        return int(data[1]) if rng.random() < 0.5 + 0.1 * int(data[0]) else 1 - int(data[1])

    law = lt.ProductDistribution.uniform(CUBE)
    assert lt.check_privacy(lt.mechanism(either), law, epsilon=0.5).decision == "YES"
    assert lt.check_privacy(lt.mechanism(either), law, epsilon=0.3).decision == "NO"

"""Loops over records in methods: the same sums, and nothing that a method does beside."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from tests.unit.enumerate.fake_columns import Refusal, column_of, fold

VALUES = range(-2, 5)
NAMED = {0: 5, 1: 1, 3: 9}


class Base:
    def __init__(self, top: int) -> None:
        self._top = top

    def query(self, d: Any) -> Any:
        raise NotImplementedError

    def release(self, d: Any, noise: float) -> Any:
        return self.query(d) + noise

    def __call__(self, d: Any) -> Any:
        return self.query(d) * 2


class CountOver(Base):
    least: ClassVar[int] = 1

    def __init__(self, top: int) -> None:
        super().__init__(top)
        self.bottom = -1

    def query(self, d: Any) -> Any:
        n = 0
        for v in d:
            if v >= self._top:
                n += 1
        return n

    @staticmethod
    def threes(d: Any) -> Any:
        return sum(1 for v in d if v == 3)

    @classmethod
    def above(cls, d: Any) -> Any:
        return sum(v > cls.least for v in d)


class Doubled(CountOver):
    def release(self, d: Any, noise: float) -> Any:
        return super().release(d, noise) * 2 + self.bottom


@dataclass(frozen=True)
class Clip:
    lower: int = 0
    upper: int = 3
    extra: tuple[int, ...] = field(default=(1, 2))

    def clip(self, v: Any) -> Any:
        return max(self.lower, min(v, self.upper))

    def clipped_twice(self, v: Any) -> Any:
        one = self.clip(v)
        return one + self.clip(one - 1)

    def total(self, d: Any) -> Any:
        total = 0
        for v in d:
            total += self.clipped_twice(v)
        return total


class Held:
    def __init__(self, d: Any) -> None:
        self.total = sum(d)
        self.data = d

    def count(self, k: int) -> Any:
        return sum(1 for v in self.data if v == k)


CLIP = Clip(1, 2)
QUERIES = {"threes": CountOver.threes}


def of_instances(data: Any) -> Any:
    mechanism, query = Doubled(2), CountOver(1).query
    return mechanism.release(data, 0.5), CountOver(1).release(data, 1), query(data), Base.query


def of_classes(data: Any) -> Any:
    return CountOver.threes(data), CountOver(1).threes(data), Doubled.above(data), Doubled(0)(data)


def of_constants(data: Any) -> Any:
    clip = Clip()
    return (
        *(clip.total(data), sum(clip.clip(v) for v in data), sum(CLIP.clip(v) for v in data)),
        *(sum(min(v, CLIP.upper) for v in data), sum(NAMED.get(int(v), -1) for v in data)),
    )


def of_holders(data: Any) -> Any:
    held = Held(data)
    return held.total, held.count(1), [held.count(k) for k in range(3)]


def of_others(data: Any) -> Any:
    bound = functools.partial(CountOver(3).query)

    class Local:
        def run(self, d: Any) -> Any:
            return sum(v * v for v in d)

    return bound(data), Local().run(data), QUERIES["threes"](data)


FOLLOWED = (of_instances, of_classes, of_constants, of_holders, of_others)


@pytest.mark.parametrize("function", FOLLOWED)
@given(records=st.lists(st.sampled_from(VALUES), max_size=12))
@settings(max_examples=10)
def test_methods_give_what_they_give(function: Any, records: list[int]) -> None:
    assert fold(function)(column_of(records, VALUES)) == function(np.array(records, dtype=int))


class Counting:
    seen = 0

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.factor = 2

    def noted(self, v: Any) -> Any:
        self.calls.append(v)
        return v

    def counted(self, v: Any) -> Any:
        Counting.seen = Counting.seen + 1
        return v

    def itself(self, v: Any) -> Any:
        return v if self else 0

    @property
    def changing(self) -> Any:
        self.calls.append(1)
        return len(self.calls)

    def with_property(self, v: Any) -> Any:
        return v * self.changing

    def __len__(self) -> int:
        return 0


class Reading:
    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, name)

    def same(self, v: Any) -> Any:
        return v


def sum_of(method: str) -> Any:
    """A sum of what a method that is not followed gives."""

    def noted(data: Any) -> Any:
        one = Counting()
        return sum(one.noted(v) for v in data)

    def counted(data: Any) -> Any:
        one = Counting()
        return sum(one.counted(v) for v in data)

    def itself(data: Any) -> Any:
        one = Counting()
        return sum(one.itself(v) for v in data)

    def with_property(data: Any) -> Any:
        one = Counting()
        return sum(one.with_property(v) for v in data)

    def held(data: Any) -> Any:
        one = Counting()
        one.noted = lambda v: one.calls.append(v)  # type: ignore[method-assign]
        return sum(one.noted(v) for v in data)

    def reading(data: Any) -> Any:
        one = Reading()
        return sum(one.same(v) for v in data)

    def of_list(data: Any) -> Any:
        one = [1, 2, 3, 4, 5, 6, 7]
        return sum(one.pop(0) for v in data)

    return locals()[method]


@pytest.mark.parametrize(
    "method", ["noted", "counted", "itself", "with_property", "held", "reading", "of_list"]
)
def test_methods_that_do_more_are_refused(method: str) -> None:
    with pytest.raises(Refusal):
        fold(sum_of(method))(column_of([0, 1, 1], VALUES))


class Mech:
    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon

    def clip(self, v: Any) -> Any:
        return min(v, 2)

    def total(self, d: Any) -> Any:
        return sum(self.clip(v) for v in d)

    def release(self, d: Any, rng: Any) -> float:
        return float(self.total(d) + rng.laplace(0, 2 / self.epsilon))


def right(data: Any, rng: Any) -> float:
    return Mech(1.0).release(data, rng)


def half(data: Any, rng: Any) -> float:
    return Mech(2.0).release(data, rng)


@pytest.mark.slow
def test_a_mechanism_class_at_500_records() -> None:
    domain = lt.RecordGrid([9] * 500)
    verdict = lt.check_privacy(right, domain, epsilon=1.0, method="alignment")
    assert (verdict.decision, verdict.guarantee.kind) == ("YES", "proof")
    too_little = lt.check_privacy(half, domain, epsilon=1.0, method="alignment")
    assert too_little.decision == "INCONCLUSIVE"


@pytest.mark.slow
def test_a_mechanism_class_with_half_of_the_noise_is_refuted() -> None:
    verdict = lt.check_privacy(half, lt.RecordGrid([9] * 20), epsilon=1.0, seed=1)
    assert verdict.decision == "NO"

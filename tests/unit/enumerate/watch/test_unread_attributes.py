"""What an object counts and never reads is not state; what may be read, is."""

from __future__ import annotations

import copy
import gc
import math
import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.intercept import replaceable_names
from liptest.enumerate.watch.unread_attributes import unread_attributes
from liptest.errors import NonDeterministicError

DATA = np.array([1, 0])
LATER = 10**9


def flipped(data: Any, rng: Any) -> int:
    return int(rng.random() < 0.25) ^ int(data[0])


class Counting:
    calls: Any = 0

    def __init__(self) -> None:
        self.calls = 0
        self.seen: list[int] = []

    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        self.seen.append(int(data[0]))
        return flipped(data, rng)


class InWords(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls = self.calls + 1
        return self.answer(data, rng)

    def answer(self, data: Any, rng: Any) -> Any:
        return flipped(data, rng)


@pytest.mark.parametrize("make", [Counting, InWords, lambda: Counting().__call__])
def test_a_count_that_nobody_reads_is_let_pass(make: Any) -> None:
    """It was refused: "each call changes calls"."""
    assert dict(lt.mechanism(make()).law(DATA)) == {0: 0.25, 1: 0.75}


class Read(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        return int(data[0]) if self.calls > LATER else flipped(data, rng)


class ReadByAnother(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        return self.answer(data, rng)

    def answer(self, data: Any, rng: Any) -> Any:
        return int(data[0]) if self.calls > LATER else flipped(data, rng)


class ReadOutside(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        return int(data[0]) if HELD.calls > LATER else flipped(data, rng)


HELD = ReadOutside()


class ByName(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        return int(data[0]) if getattr(self, "ca" + "lls") > LATER else flipped(data, rng)


class ByDict(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        return int(data[0]) if self.__dict__["calls"] > LATER else flipped(data, rng)


class ByFormat(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        return int(data[0]) if len(f"{self.calls}") > 9 else flipped(data, rng)


class ByCopy(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        return int(data[0]) if len(pickle.dumps(self)) > LATER else flipped(data, rng)


class ByDeepCopy(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        return int(data[0]) if copy.copy(self) is None else flipped(data, rng)


class ByMatch(Counting):
    __match_args__ = ("calls",)

    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        match self:
            case ByMatch(calls=many) if many > LATER:
                return int(data[0])
        return flipped(data, rng)


class ByHandingOn(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        return flipped(data, rng) if OTHERS.add(self) is None else 0


OTHERS: set[Any] = set()


@dataclass(eq=True)
class ByEquality:
    calls: int = 0

    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        return int(data[0]) if self == ByEquality(LATER) else flipped(data, rng)


class ByLength(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        self.seen.append(1)
        return int(data[0]) if len(self.seen) > LATER else flipped(data, rng)


class BySetting(Counting):
    def __setattr__(self, name: str, value: Any) -> None:
        if name == "calls" and value == LATER:
            raise ValueError
        object.__setattr__(self, name, value)


READING: list[Any] = [
    *(Read(), ReadByAnother(), HELD, ByName(), ByDict(), ByFormat(), ByCopy(), ByDeepCopy()),
    *(ByMatch(), ByHandingOn(), ByEquality(), ByLength(), BySetting()),
]


@pytest.mark.parametrize("place", range(len(READING)))
def test_a_count_that_may_be_read_is_refused(place: int) -> None:
    with pytest.raises(NonDeterministicError, match="each call changes"):
        lt.mechanism(READING[place]).law(DATA)


def test_the_names_that_are_shown_to_be_unread() -> None:
    assert unread_attributes(Counting()) == {"calls", "seen"}
    assert unread_attributes(Read()) == {"seen"}
    assert unread_attributes(ByName()) == frozenset()


class OwnCount:
    def __init__(self) -> None:
        self.n = 0

    def __iadd__(self, more: int) -> OwnCount:
        self.n += more
        if self.n > LATER:
            FLAGS.append(1)
        return self

    def append(self, value: int) -> int:
        self.n += 1
        return self.n


class Key:
    """Is asked by each other member of a set whether they are equal."""

    def __init__(self) -> None:
        self.n = 0

    def __hash__(self) -> int:
        return 1

    def __eq__(self, other: object) -> bool:
        self.n += 1
        return False


FLAGS: list[int] = []
WORDS = "{0.calls}"
BOX: list[Any] = []


class ByReducing(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        kept: Any = self.__reduce_ex__(2)[2]
        return int(data[0]) if len(str(kept)) > LATER else flipped(data, rng)


class ByAddition(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        return int(data[0]) if len(FLAGS) > 0 else flipped(data, rng)


class ByAppending(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        return int(data[0]) if self.calls.append(1) > LATER else flipped(data, rng)


class ByKeys(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        key = Key()
        self.calls.add(key)
        return int(data[0]) if key.n > LATER else flipped(data, rng)


class ByPower(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls -= 1
        try:
            self.calls **= -1
        except ZeroDivisionError:
            return int(data[0])
        self.calls **= -1
        self.calls += 0.5
        self.calls //= 1
        return flipped(data, rng)


class ByAnotherReference(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        return int(data[0]) if len(WORDS.strip().format(BOX[0])) > 9 else flipped(data, rng)


class ByMatchingAnother(Counting):
    __match_args__ = ("calls",)

    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        match BOX[0]:
            case ByMatchingAnother(many) if many > LATER:
                return int(data[0])
        return flipped(data, rng)


class ByMethod(Counting):
    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        match self.answer.__self__:  # type: ignore[attr-defined]
            case ByMethod(calls=many) if many > LATER:
                return int(data[0])
        return flipped(data, rng)

    def answer(self) -> None: ...


def in_global(data: Any, rng: Any) -> Any:
    return int(data[0]) if LOG.append(1) > LATER else flipped(data, rng)


def in_global_set(data: Any, rng: Any) -> Any:
    key = Key()
    KEYS.add(key)
    return int(data[0]) if key.n > LATER else flipped(data, rng)


LOG, KEYS = OwnCount(), set[Any]()


def holding(kind: Any, value: Any = 0) -> Any:
    made = kind()
    made.calls = value
    BOX[:] = [made]
    return made


@pytest.mark.parametrize(
    "make",
    [
        lambda: holding(ByReducing),
        lambda: holding(ByAddition, OwnCount()),
        lambda: holding(ByAppending, OwnCount()),
        lambda: holding(ByKeys, set()),
        lambda: holding(ByPower, LATER),
        lambda: holding(ByAnotherReference),
        lambda: holding(ByMatchingAnother),
        lambda: holding(ByMethod),
        lambda: in_global,
        lambda: in_global_set,
    ],
)
def test_a_count_that_is_told_without_its_name_is_refused(make: Any) -> None:
    """Each had a law: classes of its own tell what is added to them, other references show it."""
    with pytest.raises(NonDeterministicError, match="each call changes"):
        lt.mechanism(make()).law(DATA)


# State that is kept in modules of others, and generators that are frozen.


def of_numpy(data: Any, rng: Any) -> int:
    np.counted = getattr(np, "counted", 0) + 1  # type: ignore[attr-defined]
    return int(data[0]) if np.counted > LATER else flipped(data, rng)  # type: ignore[attr-defined]


def of_math(data: Any, rng: Any) -> int:
    try:
        math.counted += 1  # type: ignore[attr-defined]
    except AttributeError:
        math.counted = 1  # type: ignore[attr-defined]
    return int(data[0]) if math.counted > LATER else flipped(data, rng)  # type: ignore[attr-defined]


def of_a_package(data: Any, rng: Any) -> int:
    import math as mathematics

    mathematics.counted = vars(mathematics).get("counted", 0) + 1  # type: ignore[attr-defined]
    return int(data[0]) if mathematics.counted > LATER else flipped(data, rng)  # type: ignore[attr-defined]


def of_a_function(data: Any, rng: Any) -> int:
    np.linalg.norm.__dict__["counted"] = np.linalg.norm.__dict__.get("counted", 0) + 1
    many = np.linalg.norm.__dict__["counted"]
    return int(data[0]) if many > LATER else flipped(data, rng)


@pytest.mark.parametrize("function", [of_numpy, of_math, of_a_package, of_a_function])
def test_a_count_in_a_module_of_others_is_refused(function: Any) -> None:
    """Each was "YES by proof"."""
    try:
        with pytest.raises(NonDeterministicError, match="each call changes"):
            lt.mechanism(function).law(DATA)
    finally:
        for place in (np, math):
            vars(place).pop("counted", None)
        vars(np.linalg.norm).pop("counted", None)


@pytest.mark.slow
def test_a_generator_behind_many_objects_that_are_frozen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """``gc.get_objects`` does not list what ``gc.freeze`` has put aside."""
    monkeypatch.setattr(replaceable_names, "MOST", 50)
    bits = np.random.PCG64(1)
    held: list[Any] = [[object()] for _ in range(100)]
    held.insert(0, [bits])

    def asks(data: Any, rng: Any) -> int:
        return len(held)

    def found() -> list[Any]:
        wanted = lambda value: value is bits  # noqa: E731
        return [one.value for one in replaceable_names.reachable(asks, wanted)]

    assert found() == [bits]
    gc.freeze()
    try:
        assert found() == [bits]
    finally:
        gc.unfreeze()

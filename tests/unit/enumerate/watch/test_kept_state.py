"""What a function leaves behind from call to call is noticed, though no answer shows it yet."""

from __future__ import annotations

import array
import contextlib
import contextvars
import ctypes
import decimal
import functools
import io
import itertools
import logging
import queue
import sys
import threading
import types
import weakref
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt
from liptest.enumerate.trees import enumeration
from liptest.enumerate.watch.kept_state import is_looked_at
from liptest.errors import NonDeterministicError

#: More calls than any analysis here makes.
LATER = 10**9


def _numbers() -> Iterator[int]:
    yield from range(10 * LATER)


class OfCalls:
    count = 0
    _hidden = 0


class Dying:
    def __del__(self) -> None:
        DEAD.append(1)


class Counting:
    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, data: Any, rng: Any) -> Any:
        self.calls += 1
        return _answer(data, rng, self.calls)


def _answer(data: Any, rng: Any, calls: int) -> int:
    return int(data[0]) if calls > LATER else int(data[0]) ^ int(rng.random() < 0.25)


COUNT, CYCLE, RANGE = itertools.count(), itertools.cycle([0] * 5_000 + [1]), iter(range(10 * LATER))
NUMBERS, LIST, BYTES, ARRAY = _numbers(), [0], bytearray(8), np.zeros(1)
DEAD: list[int] = []
QUEUE: deque[int] = deque()
SIMPLE: queue.SimpleQueue[int] = queue.SimpleQueue()
COUNTER: Counter[str] = Counter()
TEXT, OF_C = io.StringIO(), ctypes.c_int(0)
VARIABLE: contextvars.ContextVar[int] = contextvars.ContextVar("VARIABLE", default=0)
LOCAL = threading.local()
SPACE = types.SimpleNamespace(calls=0)
WEAK: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
GLOBAL = 0


def of_a_global(data: Any, rng: Any) -> int:
    global GLOBAL
    GLOBAL += 1
    return _answer(data, rng, GLOBAL)


def of_a_list(data: Any, rng: Any) -> int:
    LIST.append(1)
    return _answer(data, rng, len(LIST))


def of_a_default(data: Any, rng: Any, seen: list[int] = []) -> int:  # noqa: B006
    seen.append(1)
    return _answer(data, rng, len(seen))


def of_a_class(data: Any, rng: Any) -> int:
    OfCalls.count += 1
    return _answer(data, rng, OfCalls.count)


def of_a_private_attribute(data: Any, rng: Any) -> int:
    OfCalls._hidden += 1
    return _answer(data, rng, OfCalls._hidden)


def of_a_function(data: Any, rng: Any) -> int:
    of_a_class.calls = getattr(of_a_class, "calls", 0) + 1  # type: ignore[attr-defined]
    return _answer(data, rng, of_a_class.calls)  # type: ignore[attr-defined]


def of_bytes(data: Any, rng: Any) -> int:
    BYTES[:] = (int.from_bytes(BYTES, "little") + 1).to_bytes(8, "little")
    return _answer(data, rng, int.from_bytes(BYTES, "little"))


def of_an_array(data: Any, rng: Any) -> int:
    ARRAY[0] += 1
    return _answer(data, rng, ARRAY[0])


def of_the_dead(data: Any, rng: Any) -> int:
    Dying()
    return _answer(data, rng, len(DEAD))


def of_a_variable(data: Any, rng: Any) -> int:
    VARIABLE.set(VARIABLE.get() + 1)
    return _answer(data, rng, VARIABLE.get())


def of_a_thread(data: Any, rng: Any) -> int:
    LOCAL.calls = getattr(LOCAL, "calls", 0) + 1
    return _answer(data, rng, LOCAL.calls)


def of_a_space(data: Any, rng: Any) -> int:
    SPACE.calls += 1
    return _answer(data, rng, SPACE.calls)


def of_c(data: Any, rng: Any) -> int:
    OF_C.value += 1
    return _answer(data, rng, OF_C.value)


def of_words(data: Any, rng: Any) -> int:
    COUNTER["calls"] += 1
    return _answer(data, rng, COUNTER["calls"])


def of_decimals(data: Any, rng: Any) -> int:
    decimal.getcontext().prec = len(str(decimal.Decimal(1) / 3))
    return _answer(data, rng, len(str(decimal.Decimal(1) / 3)))


def of_a_closure() -> Callable[..., int]:
    calls = 0

    def count(data: Any, rng: Any) -> int:
        nonlocal calls
        calls += 1
        return _answer(data, rng, calls)

    return count


def put_aside(data: Any, rng: Any) -> int:
    SIMPLE.put(1)
    return _answer(data, rng, SIMPLE.qsize())


COUNTED: list[tuple[Any, str]] = [
    (lambda data, rng: _answer(data, rng, next(COUNT)), "COUNT"),
    (lambda data, rng: _answer(data, rng, LATER * 2 * next(CYCLE)), "CYCLE"),
    (lambda data, rng: _answer(data, rng, next(RANGE)), "RANGE"),
    (lambda data, rng: _answer(data, rng, next(NUMBERS)), "NUMBERS"),
    (lambda data, rng: _answer(data, rng, TEXT.write("x") and TEXT.tell()), "TEXT"),
    (lambda data, rng: _answer(data, rng, QUEUE.append(1) or len(QUEUE)), "QUEUE"),
    (lambda data, rng: _answer(data, rng, COUNTER.update("x") or COUNTER["x"]), "COUNTER"),
    (functools.partial(of_a_list), "LIST"),
    (of_a_closure(), "calls"),
    (Counting(), "calls"),
    (of_a_global, "GLOBAL"),
    (of_a_list, "LIST"),
    (of_a_default, "what it holds"),
    (of_a_class, "OfCalls"),
    (of_a_private_attribute, "OfCalls"),
    (of_a_function, "calls"),
    (of_bytes, "BYTES"),
    (of_an_array, "ARRAY"),
    (of_the_dead, "DEAD"),
    (of_a_variable, "VARIABLE"),
    (of_a_thread, "calls"),
    (of_a_space, "calls"),
    (of_c, "OF_C"),
    (of_words, "COUNTER"),
    (of_decimals, "the decimal context"),
    (put_aside, "SIMPLE"),
]


@pytest.mark.parametrize("place", range(len(COUNTED)))
def test_a_count_of_calls_is_refused_wherever_it_is_kept(place: int) -> None:
    """Each was "YES by proof": no call of the analysis was the millionth."""
    function, where = COUNTED[place]
    with pytest.raises(
        NonDeterministicError, match=rf"(each|its first) call changes {where}\b.*begin anew"
    ):
        lt.check_privacy(lt.mechanism(function), lt.Hypercube(2), epsilon=1.2)


def test_the_line_is_named() -> None:
    with pytest.raises(NonDeterministicError, match=r"test_kept_state\.py:\d+: LIST\.append\(1\)"):
        lt.check_privacy(lt.mechanism(of_a_list), lt.Hypercube(2), epsilon=1.2)


class OfRecords:
    """The same where data are symbols, for one record, for a statistic, and with noise."""

    calls = 0

    def count(self) -> int:
        self.calls += 1
        return self.calls

    def total(self, data: Any, rng: Any) -> float:
        scale = 1.0 if self.count() < LATER else 1e-9
        return float(np.sum(data) + rng.laplace(0.0, scale))

    def one(self, value: Any, rng: Any) -> int:
        return int(value) ^ int(rng.random() < 0.25) if self.count() < LATER else int(value)

    def each(self, data: Any, rng: Any) -> Any:
        return [self.one(value, rng) for value in data]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "records"),
    [
        (lambda held: lt.mechanism(held.total), 1_000),
        (lambda held: lt.mechanism(held.each), 200),
        (lambda held: lt.mechanism(per_record=True)(held.one), 200),
        (lambda held: lt.mechanism(statistic=lt.Count())(held.total), 5),
    ],
)
def test_it_is_refused_by_every_proof(make: Any, records: int) -> None:
    with pytest.raises(NonDeterministicError, match="each call changes calls"):
        lt.check_privacy(make(OfRecords()), lt.Hypercube(records), epsilon=1.2)


TABLE: dict[int, float] = {}
NOTES: list[Any] = []
LAST: dict[str, Any] = {}
CALLS = {"calls": 0}
LOG = logging.getLogger(__name__)


def filled_when_needed(data: Any, rng: Any) -> int:
    total = int(data.sum())
    if total not in TABLE:
        TABLE[total] = 1 / (1 + total)
    return int(rng.random() < TABLE[total])


def written_only(data: Any, rng: Any) -> int:
    found = int(rng.integers(2))
    NOTES.append(found)
    CALLS["calls"] += 1
    LOG.warning("answers %s", found)
    return found


def kept_last(data: Any, rng: Any) -> bool:
    noisy = data.sum() + rng.laplace()
    LAST["noisy"] = noisy
    return bool(LAST["noisy"] > 1)


@functools.cache
def weight(total: int) -> float:
    return 1 / (1 + total)


class Lazy:
    table: Any = None

    def __call__(self, data: Any, rng: Any) -> int:
        if self.table is None:
            self.table = [0.5, 0.25, 0.125]
        return int(rng.random() < self.table[int(data.sum())])


@pytest.mark.parametrize(
    "function",
    [
        filled_when_needed,
        written_only,
        kept_last,
        lambda data, rng: int(rng.random() < weight(int(data.sum()))),
        Lazy(),
    ],
)
def test_what_no_later_call_can_meet_is_let_pass(function: Any) -> None:
    assert len(lt.mechanism(function).law(np.array([1, 0]))) == 2


class OfFirstCalls:
    """What the first call does in another way, or keeps: each was YES by proof."""

    total: Any = None
    is_warm = False
    coin: Any = None

    def kept_count(self, data: Any, rng: Any) -> float:
        if self.total is None:
            self.total = int(data.sum())
        return float(self.total + rng.laplace(scale=0.1))

    def first_is_bare(self, data: Any, rng: Any) -> int:
        flips = rng.random() < 0.25
        if not self.is_warm:
            self.is_warm = True
            return int(data[0])
        return int(data[0]) ^ int(flips)

    def kept_coin(self, data: Any, rng: Any) -> int:
        if self.coin is None:
            self.coin = int(rng.random() < 0.25)
        return int(data[0]) ^ int(self.coin)


FIRST_TOTAL: int | None = None


def kept_in_a_global(data: Any, rng: Any) -> int:
    global FIRST_TOTAL
    if FIRST_TOTAL is None:
        FIRST_TOTAL = int(data[0])
    return FIRST_TOTAL ^ int(rng.random() < 0.1)


def ends_once() -> Callable[..., int]:
    def ends() -> Iterator[int]:
        yield 1
        while True:
            yield 0

    numbers = ends()
    return lambda data, rng: int(data[0]) ^ int(not next(numbers) and rng.random() < 0.25)


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: OfFirstCalls().kept_count, lambda: kept_in_a_global])
def test_a_table_is_filled_with_each_dataset_anew(make: Any) -> None:
    """All runs met what the first dataset had left behind: "largest loss 0"."""
    verdict = lt.check_privacy(lt.mechanism(make()), lt.Hypercube(2), epsilon=1.2)
    assert verdict.decision == "NO"
    assert FIRST_TOTAL is None


class WithSlots:
    __slots__ = ("total",)

    def __init__(self) -> None:
        self.total: Any = None

    def __call__(self, data: Any, rng: Any) -> float:
        if self.total is None:
            self.total = int(data.sum())
        return float(self.total + rng.laplace(scale=0.1))


def keeping(held: Any, read: Callable[[Any], Any], write: Callable[[Any, int], Any]) -> Any:
    """The total of the first dataset is kept in ``held``; ``read`` says None before."""

    def answer(data: Any, rng: Any) -> float:
        if read(held) is None:
            write(held, int(data.sum()) + 1)
        return float(read(held) + rng.laplace(scale=0.1))

    return answer


def _filled(item: Any) -> Any:
    return item or None


def _in_space(space: Any, total: int) -> None:
    space.total = total


def _in_first(held: Any, total: int) -> None:
    held[0] = total


HOLDERS: dict[str, Callable[[], Any]] = {
    "namespace": lambda: keeping(
        types.SimpleNamespace(total=None), lambda held: held.total, _in_space
    ),
    "ordered": lambda: keeping(
        OrderedDict(), lambda held: held.get("t"), lambda held, t: held.update(t=t)
    ),
    "counter": lambda: keeping(
        Counter(), lambda held: _filled(held["t"]), lambda held, t: held.update(t=t)
    ),
    "array": lambda: keeping(
        array.array("i"),
        lambda held: held[0] if len(held) else None,
        lambda held, total: held.append(total),
    ),
    "large array": lambda: keeping(
        np.zeros(20_000), lambda held: _filled(float(held[0])), _in_first
    ),
    "array of objects": lambda: keeping(np.full(1, None), lambda held: held[0], _in_first),
    "bytes": lambda: keeping(
        io.BytesIO(),
        lambda held: held.getvalue()[0] if held.getvalue() else None,
        lambda held, total: held.write(bytes([total])),
    ),
    "queue": lambda: keeping(
        queue.Queue(),
        lambda held: None if held.empty() else held.queue[0],
        lambda held, total: held.put(total),
    ),
    "frame": lambda: keeping(
        pd.DataFrame({"total": [0.0]}),
        lambda held: _filled(float(held["total"][0])),
        lambda held, total: held.__setitem__("total", [float(total)]),
    ),
    "slots": WithSlots,
}


def _is_first_of_event(event: threading.Event) -> bool:
    is_first = not event.is_set()
    event.set()
    return is_first


BITS: dict[str, tuple[Any, Callable[[Any], bool]]] = {
    "event": (threading.Event(), _is_first_of_event),
    "semaphore": (threading.Semaphore(), lambda held: held.acquire(blocking=False)),
    "lock": (threading.Lock(), lambda held: held.acquire(blocking=False)),
}


@pytest.mark.parametrize("held", BITS)
def test_a_first_call_that_tells_the_data_is_refused(held: str) -> None:
    """Of all calls but the first the claim holds: it was YES by proof."""
    switch, is_first = BITS[held]

    def first_is_bare(data: Any, rng: Any) -> int:
        flips = rng.random() < 0.25
        return int(data[0]) if is_first(switch) else int(data[0]) ^ int(flips)

    with pytest.raises(NonDeterministicError, match="its first call changes"):
        lt.check_privacy(lt.mechanism(first_is_bare), lt.Hypercube(2), epsilon=1.2)


class RaisesFirst:
    total: Any = None

    def __call__(self, data: Any, rng: Any) -> float:
        if self.total is None:
            self.total = int(data.sum())
            raise ValueError("first")
        return float(self.total + rng.laplace(scale=0.1))


class HonestFirst:
    is_warm = False

    def __call__(self, data: Any, rng: Any) -> float:
        noise = rng.laplace(scale=1.0)
        if self.is_warm:
            return float(data.sum() + 0.01 * noise)
        self.is_warm = True
        return float(data.sum() + noise)


@pytest.mark.slow
@pytest.mark.parametrize("records", [2, 100])
@pytest.mark.parametrize("make", [RaisesFirst, HonestFirst])
def test_a_later_call_that_answers_otherwise_is_refused(make: Any, records: int) -> None:
    """At any size, too: it was YES of the first call alone."""
    with pytest.raises(NonDeterministicError, match="a different output"):
        lt.check_privacy(lt.mechanism(make()), lt.Hypercube(records), epsilon=1.0)


class KeptNoise:
    """Noise of the first call that later calls tell again: each was YES by proof at any size."""

    noise: Any = None

    def laplace(self, data: Any, rng: Any) -> float:
        if self.noise is None:
            self.noise = rng.laplace(0, 1.0)
        return float(data.sum() + self.noise)

    def rounded(self, data: Any, rng: Any) -> int:
        """All answers are the same, whatever is drawn."""
        if self.noise is None:
            self.noise = rng.laplace(0, 1.0)
        return int(np.clip(round(data.sum() + self.noise), 0, 1))

    def geometric(self, data: Any, rng: Any) -> int:
        if self.noise is None:
            self.noise = rng.geometric(0.5) - rng.geometric(0.5)
        return int(data.sum() + self.noise)

    def one_of_two(self, data: Any, rng: Any) -> tuple[float, float]:
        fresh = rng.laplace(0, 2.0)
        if self.noise is None:
            self.noise = rng.laplace(0, 2.0)
        return float(data.sum() + fresh), float(data[0] + self.noise)

    def other_draws(self, data: Any, rng: Any) -> float:
        """As many as in the first call."""
        drawn = rng.laplace(0, 1.0)
        if self.noise is None:
            self.noise = drawn
        return float(data.sum() + self.noise)


@functools.cache
def cached_noise(number: int) -> float:
    return float(np.random.default_rng().laplace(0, 1.0))


@pytest.mark.slow
@pytest.mark.parametrize("records", [2, 200])
@pytest.mark.parametrize(
    "make",
    [
        lambda: KeptNoise().laplace,
        lambda: KeptNoise().rounded,
        lambda: KeptNoise().geometric,
        lambda: KeptNoise().one_of_two,
        lambda: KeptNoise().other_draws,
        lambda: lambda data, rng: float(data.sum() + cached_noise(3)),
    ],
)
def test_noise_of_a_first_call_is_not_kept(make: Any, records: int) -> None:
    with pytest.raises(NonDeterministicError):
        lt.check_privacy(lt.mechanism(make()), lt.Hypercube(records), epsilon=1.2)


@pytest.mark.slow
@pytest.mark.parametrize("make", HOLDERS.values(), ids=HOLDERS)
def test_a_first_total_is_kept_nowhere(make: Callable[[], Any]) -> None:
    """Put back, or refused: where it was neither, all runs told the total of one dataset."""
    with contextlib.suppress(NonDeterministicError):
        assert lt.check_privacy(lt.mechanism(make()), lt.Hypercube(2), epsilon=1.0).decision == "NO"


@pytest.mark.parametrize(
    "make",
    [lambda: OfFirstCalls().first_is_bare, lambda: OfFirstCalls().kept_coin, ends_once],
)
def test_a_first_call_unlike_later_ones_is_refused(make: Any) -> None:
    with pytest.raises(NonDeterministicError):
        lt.check_privacy(lt.mechanism(make()), lt.Hypercube(2), epsilon=1.2)


def test_what_cannot_be_put_back_is_told_of_for_ever() -> None:
    """An iterator has gone on: what a later analysis meets is not what the first call did."""
    numbers = itertools.count()
    mechanism = lt.mechanism(lambda data, rng: min(next(numbers), 1) * int(data[0]))
    for _ in range(2):
        with pytest.raises(NonDeterministicError, match="non-deterministic"):
            mechanism.law(np.array([1, 0]))


def test_an_analysis_leaves_what_it_found() -> None:
    lazy = Lazy()
    lt.mechanism(lazy).law(np.array([1, 0]))
    assert lazy.table is None
    filled_when_needed(np.array([1]), np.random.default_rng(0))
    assert TABLE == {1: 0.5}
    lt.mechanism(filled_when_needed).law(np.array([0, 0]))
    assert TABLE == {1: 0.5}


def test_laws_that_are_looked_at_grow_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [laws for laws in range(1, 200) if is_looked_at(laws)] == [*range(1, 17), 32, 64, 128]
    monkeypatch.setattr(enumeration, "is_looked_at", lambda laws: False)
    assert lt.mechanism(of_a_list).law(np.array([1, 0]))[1] == 0.75


@pytest.mark.slow
def test_a_module_that_is_imported_meanwhile_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it held before the first call is not known."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "keeps_total.py").write_text(
        "TOTAL = None\n"
        "def total(data):\n"
        "    global TOTAL\n"
        "    TOTAL = int(data.sum()) if TOTAL is None else TOTAL\n"
        "    return TOTAL\n"
    )
    (tmp_path / "keeps_nothing.py").write_text(
        "WEIGHTS = [1, 2]\ndef total(data):\n    return int(data.sum()) * WEIGHTS[0]\n"
    )

    def careless(data: Any, rng: Any) -> float:
        import keeps_total

        return float(keeps_total.total(data) + rng.laplace(scale=0.1))

    def careful(data: Any, rng: Any) -> float:
        import keeps_nothing

        return float(keeps_nothing.total(data) + rng.laplace(scale=1.0))

    with pytest.raises(NonDeterministicError, match="Import keeps_total at the top of the file"):
        lt.check_privacy(lt.mechanism(careless), lt.Hypercube(2), epsilon=1.0)
    assert lt.check_privacy(lt.mechanism(careful), lt.Hypercube(2), epsilon=1.0).decision == "YES"
    for name in ("keeps_total", "keeps_nothing"):
        sys.modules.pop(name, None)

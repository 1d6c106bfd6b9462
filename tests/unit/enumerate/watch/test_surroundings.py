"""The clock, addresses and hashes: refused with the line, unless nothing can depend on them."""

from __future__ import annotations

import cProfile
import datetime
import importlib
import logging
import math
import random
import sys
import time
import uuid
from abc import ABC
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.intercept.replaceable_names import find_imported
from liptest.enumerate.watch import set_orders, surroundings
from liptest.errors import NonDeterministicError, UnsupportedRandomnessError
from liptest.mechanisms.laws import Raised

DATA = np.array([1, 0])


@pytest.fixture(autouse=True)
def _hashes_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (surroundings, set_orders):
        monkeypatch.setattr(module, "hashes_differ", lambda: True)


def law(function: Any) -> dict[Any, float]:
    return dict(lt.mechanism(function).law(DATA))


def started_late(data: Any, rng: Any) -> int:
    return int(time.monotonic() < 5.0) if rng.random() < 1e-9 else 0


def raising(data: Any) -> float:
    return time.time() + float(data[5])


def swallowing(data: Any) -> int:
    try:
        return int(time.time()) % 2
    except BaseException:
        return 0


CLOCKS: list[Any] = [
    (lambda data: datetime.datetime.now().year > 1, r"datetime\.now"),
    (lambda data: datetime.date.today().year > 1, r"date\.today"),
    (lambda data: time.time() > 1.0, r"time\.time"),
    (lambda data: time.time_ns() % 2, r"time\.time_ns"),
    (lambda data: time.perf_counter(), r"time\.perf_counter"),
    (lambda data: f"{time.time()}", r"time\.time"),
    (lambda data: [time.process_time()], r"time\.process_time"),
    (lambda data: np.array([time.time()]).sum() > 3, r"time\.time"),
    (lambda data: np.float64(3) < time.time(), r"time\.time"),
    (lambda data: round(time.time()) & 1, r"time\.time"),
    (lambda data: 1 / (time.time() - time.time() + 1.0) > 2, r"time\.time"),
    (lambda data: time.strftime("%Y") > "1", r"time\.strftime"),
    (lambda data: time.localtime().tm_year > 1, r"time\.localtime"),
    (lambda data: uuid.uuid1().version, "uuid|_uuid|time"),
    (lambda data: str(np.datetime64("now")) > "1", r"numpy\.datetime64"),
    (lambda data: random.seed(time.time()), r"time\.time"),
    (lambda data: max(map(float, [time.time()])), r"time\.time"),
    (started_late, r"time\.monotonic"),
    (raising, r"time\.time"),
    (swallowing, r"time\.time"),
]


@pytest.mark.parametrize("place", range(len(CLOCKS)))
def test_an_answer_that_may_depend_on_the_clock_is_refused(place: int) -> None:
    function, words = CLOCKS[place]
    with pytest.raises(NonDeterministicError, match=rf"({words}).*cannot be followed"):
        law(function)


def test_the_line_is_named_and_what_to_write() -> None:
    with pytest.raises(NonDeterministicError, match=r"surroundings\.py:\d+: .*time\.time.*logging"):
        law(swallowing)


def test_time_may_be_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    def timed(data: Any, rng: Any) -> int:
        started = time.perf_counter()
        answer = int(rng.integers(2))
        elapsed = round(1000 * (time.perf_counter() - started) / 2, 3)
        logging.getLogger(__name__).info("took %s, %.2f ms", elapsed, elapsed)
        logging.getLogger(__name__).info("%d", time.time_ns() - 7)
        return answer

    def kept(data: Any) -> int:
        stamps = [time.time(), time.monotonic_ns()]
        return len(stamps)

    assert law(timed) == {0: 0.5, 1: 0.5}
    assert law(kept) == {2: 1.0}
    assert "took 0.0, 0.00 ms" in caplog.text
    assert time.time() > 1.0


NOON = datetime.datetime(2020, 1, 1, 12)
ZONES: list[Any] = [
    (lambda data: time.timezone, r"time\.timezone"),
    (lambda data: time.tzname[0], r"time\.tzname"),
    (lambda data: int(data[0]) if time.daylight else 0, r"time\.daylight"),
    (lambda data: time.localtime(0).tm_hour, r"time\.localtime"),
    (lambda data: time.ctime(0), r"time\.ctime"),
    (lambda data: time.mktime((2000, 1, 1, 0, 0, 0, 0, 0, 0)), r"time\.mktime"),
    (lambda data: datetime.datetime.fromtimestamp(0).hour, r"datetime\.fromtimestamp"),
    (lambda data: datetime.date.fromtimestamp(0).day, r"datetime\.fromtimestamp"),
    (lambda data: NOON.astimezone().hour, r"datetime\.astimezone"),
    (lambda data: NOON.astimezone(datetime.UTC).hour, r"datetime\.astimezone"),
    (lambda data: NOON.timestamp(), r"datetime\.timestamp"),
]


@pytest.mark.parametrize("place", range(len(ZONES)))
def test_the_time_zone_of_the_machine_is_refused(place: int) -> None:
    """Each was followed as if the answer were the same everywhere."""
    function, what = ZONES[place]
    with pytest.raises(NonDeterministicError, match=rf"time zone.*{what}.*test_surr.*utc"):
        law(function)


def test_a_zone_that_is_given_is_none_of_the_machine() -> None:
    utc = datetime.UTC
    aware = NOON.replace(tzinfo=utc)
    assert law(lambda data: datetime.datetime.fromtimestamp(0, utc).hour) == {0: 1.0}
    assert law(lambda data: datetime.datetime.fromtimestamp(0, tz=utc).hour) == {0: 1.0}
    assert law(lambda data: aware.astimezone(utc).hour) == {12: 1.0}
    assert law(lambda data: int(aware.timestamp()) % 86_400) == {43_200: 1.0}


def test_a_time_that_is_given_is_no_clock() -> None:
    assert law(lambda data: time.gmtime(0).tm_year) == {1970: 1.0}
    assert law(lambda data: time.strftime("%Y", time.gmtime(0))) == {"1970": 1.0}
    assert law(lambda data: datetime.datetime(2020, 1, 1).isoformat()) == {
        "2020-01-01T00:00:00": 1.0
    }


WORDS = {"a", "b", "c"}


class Holder:
    def __init__(self) -> None:
        self.words = {"x", "y"}

    def __call__(self, data: Any) -> str:
        return next(iter(self.words))


def walked(data: Any) -> int:
    return 0 * sum(len(word) for word in {"a", "bb", "ccc"})


def held(data: Any) -> str:
    words = {str(int(data[0])), "other"}
    return "".join(words)


def made(data: Any) -> list[str]:
    words = frozenset(["a", "b"])
    return list(words)


def rarely(data: Any, rng: Any) -> Any:
    if rng.random() < 1e-9:
        words = {str(one) for one in data}
        return list(words)
    return 0


def helper(data: Any) -> set[str]:
    return {str(one) for one in data}


def looped(data: Any) -> Any:
    for word in {"a", str(data[0])}:
        return word
    return 0


def unpacked(data: Any) -> Any:
    first, *_ = {"a", str(data[0])}
    return first


def counted(data: Any) -> int:
    return sum(place * (word == "a") for place, word in enumerate({"a", str(data[0])}))


def rebound(data: Any) -> str:
    words: Any = {"a", str(data[0])}
    text = "".join(words)
    words = None
    return text


def removed(data: Any) -> str:
    words = {str(one) for one in data}
    text = "".join(words)
    del words
    return text


FIRST, SECOND = {"a": 1, "b": 2}, {"c": 3, "d": 4}


def taken(data: Any) -> str:
    words = {"a", "b"}
    return words.pop()


def viewed(data: Any) -> list[str]:
    keys = FIRST.keys()
    return list(keys | {"z"})


SETS: list[Any] = [
    *(walked, held, made, rarely, Holder()),
    lambda data: [word for word in WORDS],  # noqa: C416
    lambda data: list(helper(data)),
    lambda data: [one is len for one in {len, str(data)}],
    lambda data: list({"a", str(data[0])}),
    lambda data: list({str(one) for one in data}),
    lambda data: next(iter(set(map(str, data)))),
    lambda data: {"a", str(data[0])}.pop(),
    lambda data: "".join({"a", str(data[0])} | {"b"}),
    lambda data: dict.fromkeys({"a", str(data[0])}),
    lambda data: list(FIRST.keys() | SECOND.keys()),
    lambda data: "".join(FIRST.keys() - {"z"}),
    lambda data: tuple(FIRST.keys() ^ SECOND.keys()),
    lambda data: next(iter(FIRST.items() | SECOND.items())),
    lambda data: [word for word in FIRST.keys() & SECOND.keys() | {"a", "e"}],  # noqa: C416
    lambda data: list(set(FIRST) | set(SECOND)),
    lambda data: "%s" % {"a", str(data[0])},
    lambda data: "%s %s" % ({"a", str(data[0])}, 1),  # noqa: UP031
    lambda data: f"{FIRST.keys() | SECOND.keys()}",
    *(taken, viewed),
    *(looped, unpacked, counted, rebound, removed),
]


@pytest.mark.parametrize("place", range(len(SETS)))
def test_a_set_of_strings_that_is_walked_is_refused(place: int) -> None:
    with pytest.raises(NonDeterministicError, match=r"walks a set .*cannot be followed: .*sort it"):
        law(SETS[place])


NUMBERS: list[Any] = [
    (lambda data: hash(("a", int(data[0]))) % 2, r"calls hash\(\)"),
    (lambda data: max(["a", "b"], key=hash), "hands on hash"),
    (lambda data: id(data) % 2, r"calls id\(\)"),
    (lambda data: sorted([[], [1]], key=id), "hands on id"),
    (lambda data: repr(object()), "address"),
    (lambda data: [str(lambda: 0)], "address"),
]


@pytest.mark.parametrize("place", range(len(NUMBERS)))
def test_hashes_and_addresses_are_refused(place: int) -> None:
    function, words = NUMBERS[place]
    with pytest.raises(NonDeterministicError, match=rf"{words}.*cannot be followed"):
        law(function)


def shown_by_another(data: Any, rng: Any) -> int:
    def shown() -> str:
        return str(object())

    return int(data[0]) if shown()[-5:] == "0000>" else 0


def kept(data: Any, rng: Any) -> int:
    text = f"{object()}"
    return int(data[0]) if text[-5:] == "0000>" else 0


SHOWN: list[Any] = [
    lambda data: int(data[0]) if repr(object()).endswith("0000>") else 0,
    lambda data: int(data[0]) if str(lambda: 0).find("00>") > 0 else 0,
    lambda data: int(data[0]) if f"{object()}".endswith("0000>") else 0,
    lambda data: int(data[0]) if ("%s" % object()).endswith("0000>") else 0,  # noqa: UP031
    lambda data: int(data[0]) if "{}".format(object()).endswith("0000>") else 0,  # noqa: UP032
    *(shown_by_another, kept),
]


@pytest.mark.parametrize("place", range(len(SHOWN)))
def test_code_that_looks_at_an_address_in_a_text_is_refused(place: int) -> None:
    with pytest.raises(NonDeterministicError, match=r"an address in memory: ' at 0x.*cannot be"):
        law(SHOWN[place])


def test_texts_of_numbers_tell_no_address() -> None:
    assert law(lambda data: f"{int(data[0])} at 0x1".endswith("1")) == {True: 1.0}
    assert law(lambda data: repr([1, 2.5]).startswith("[")) == {True: 1.0}


@pytest.mark.slow
def test_code_that_is_made_anew_in_each_call_is_looked_at() -> None:
    def made_anew(data: Any, rng: Any) -> Any:
        answer = 0
        for place in range(40):  # each is given back, and another one may take its place in memory
            last = "list(held)" if place == 39 and answer < 8 else "0"
            lines = f"def f(u):\n    held = {{'a{place}', str(u)}}\n    return {last}"
            space: dict[str, Any] = {"__name__": "made_anew"}
            exec(lines, space)
            answer = space["f"](place)
        return answer

    with pytest.raises(NonDeterministicError, match="walks a set of strings"):
        law(made_anew)


def test_code_of_a_library_that_runs_in_the_program_is_looked_at() -> None:
    """Whose code it is says the module that it runs in, also where it ran in a library before."""
    lines = compile("def f(v):\n    return id(v) % 2", "shared.py", "exec").co_consts[0]
    there = FunctionType(lines, {"__name__": "dbm.shared", "__builtins__": {"id": id}})
    here = FunctionType(lines, {"__name__": "program", "__builtins__": {"id": id}})

    def mixed(data: Any, rng: Any) -> int:
        there(data)
        return int(here(data))

    def called(data: Any, rng: Any) -> int:
        there(data)
        return 1

    with pytest.raises(NonDeterministicError, match=r"calls id\(\)"):
        law(mixed)
    with pytest.raises(NonDeterministicError, match=r"calls id\(\)"):
        law(lambda data: int(here(data)))
    assert law(called) == {1: 1.0}


def test_a_profiler_that_would_hide_them_is_named() -> None:
    sys.setprofile(lambda frame, event, argument: None)
    try:
        with pytest.raises(UnsupportedRandomnessError, match="without the profiler"):
            law(held)
        assert len(law(lambda data, rng: int(rng.integers(2)))) == 2
    finally:
        sys.setprofile(None)


def test_fixed_hashes_are_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (surroundings, set_orders):
        monkeypatch.setattr(module, "hashes_differ", lambda: False)
    for function in (walked, held, made, NUMBERS[0][0]):
        assert len(law(function)) == 1


@dataclass(frozen=True)
class Cell:
    row: int


class HandsOn(Cell):
    def __hash__(self) -> int:
        return sum(map(hash, str(self.row)))


def judgements(monkeypatch: pytest.MonkeyPatch, program: Any) -> list[bool]:
    """Whether what ran was found harmless, law by law; what was not is run again with the hook."""
    judged: list[bool] = []
    judge = surroundings.Surroundings.is_harmless
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(
            surroundings.Surroundings,
            "is_harmless",
            lambda self, executed: judged.append(judge(self, executed)) or judged[-1],
        )
        law(program)
    return judged


def test_a_hash_of_a_dataclass_needs_no_look_at_all_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    def looked_up(data: Any, rng: Any, cells: tuple[Cell, Cell] = (Cell(0), Cell(1))) -> int:
        return {cells[0]: 3, cells[1]: 4}[cells[int(data[0])]] + int(rng.integers(2))

    assert judgements(monkeypatch, looked_up) == [True]
    others = HandsOn(0), HandsOn(1)
    with pytest.raises(NonDeterministicError, match="hands on hash"):
        law(lambda data, rng: looked_up(data, rng, others))


HELD = HandsOn(0)


def waiting(data: Any, rng: Any, cell: Any = HELD) -> int:
    waits = 0
    while rng.random() < 0.5:
        waits += 1
    return cell.row + waits


def noisy_place(data: Any, rng: Any, cell: Any = HELD) -> int:
    noisy = data + rng.laplace(0, 1.0, len(data))
    return cell.row + int(np.argmax(noisy))


@pytest.mark.parametrize("program", [waiting, noisy_place])
def test_what_liptest_writes_itself_needs_no_look_at_all_calls(
    monkeypatch: pytest.MonkeyPatch, program: Any
) -> None:
    """Loops summed up are code of liptest's own, as are named tuples of noise."""
    judged = judgements(monkeypatch, program)
    assert judged
    assert all(judged)
    with pytest.raises(NonDeterministicError, match="hands on hash"):
        law(lambda data, rng: program(data, rng) + sum(map(hash, "ab")) % 2)


def test_the_name_of_a_class_of_arrays_needs_no_look_at_calls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def listed(data: Any, rng: Any) -> Any:
        answer = data + (rng.random(len(data)) < 0.5)
        return answer.tolist() if isinstance(answer, np.ndarray) else answer

    def unfilled(data: Any, rng: Any) -> Any:
        return [*listed(data, rng), len(np.ndarray(3))]

    assert judgements(monkeypatch, listed) == []
    with pytest.raises(NonDeterministicError, match="nobody has filled"):
        law(unfilled)


def quiet(data: Any) -> int:
    values = set(data.tolist())
    words = {str(one) for one in data}
    words.add("7")
    others = {"8", "9"}
    both = words | others
    assert Cell(1) in {Cell(int(data[0])): 5, Cell(1): 6}
    logging.getLogger(__name__).warning("one run")
    known = sum(str(one) in words for one in data)
    ordered = sorted(words)
    return len(values) + ("b" in {"a", "b"}) + len({3, 4}) + known + len(ordered) + len(both)


def sorted_later(data: Any) -> str:
    words: Any = {"a", str(data[0])}
    words = sorted(words)
    others: Any = {str(one) for one in data}
    others = sorted(others)
    return "".join(word for word in words) + "".join(others)


COUNTS = {1: 2, 3: 4}


def test_sets_of_numbers_words_looked_up_and_logs_are_quiet() -> None:
    assert law(quiet) == {2 + 1 + 2 + 2 + 3 + 5: 1.0}
    assert law(lambda data: {"a", str(data[0])}) == {frozenset({"a", "1"}): 1.0}
    assert law(lambda data: [one for one in {1, 2, int(data[0])}]) == {(1, 2): 1.0}  # noqa: C416
    assert law(sorted_later) == {"1a01": 1.0}
    assert law(lambda data: list({3, int(data[0]) % 2, len(data)}))
    assert law(lambda data: sum(set(data.tolist()))) == {1: 1.0}
    assert law(lambda data: [one for one in {int(one) % 2 for one in data}]) == {(0, 1): 1.0}  # noqa: C416
    assert law(lambda data: sorted({"b", str(data[0])})) == {("1", "b"): 1.0}
    assert law(lambda data: sorted(FIRST.keys() | SECOND.keys())) == {("a", "b", "c", "d"): 1.0}
    assert law(lambda data: sorted((set(FIRST) | set(SECOND)) - {"a"})) == {("b", "c", "d"): 1.0}
    assert law(lambda data: "a" in FIRST.keys() | SECOND.keys()) == {True: 1.0}
    assert law(lambda data: len(FIRST.keys() & SECOND.keys())) == {0: 1.0}
    assert law(lambda data: [key for key in COUNTS.keys() | {7}]) == {(1, 3, 7): 1.0}  # noqa: C416
    assert law(lambda data: sum(v for _, v in COUNTS.items() - {(1, 2)})) == {4: 1.0}
    assert law(lambda data: "%s" % int(data[0])) == {"1": 1.0}  # noqa: UP031
    assert law(lambda data: data[7]) == {Raised("IndexError"): 1.0}


class Shown(ABC):  # noqa: B024
    """Its way to be shown tells an address, and no run uses it."""

    def __call__(self, data: Any, rng: Any) -> int:
        return int(rng.random() < 0.25) + 2 * int(rng.random() < 0.5)

    def __repr__(self) -> str:
        return str(id(self))


class ShownRarely(Shown):
    def __call__(self, data: Any, rng: Any) -> int:
        return len(repr(self)) if rng.random() < 1e-9 else 0


def test_code_that_may_tell_and_does_not_run_costs_no_watching(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    isinstance(Shown(), Shown)
    seen: list[str] = []
    look = surroundings.Surroundings.look

    def counted(self: Any, frame: Any, event: str, argument: Any) -> None:
        seen.append(frame.f_code.co_qualname)
        look(self, frame, event, argument)

    monkeypatch.setattr(surroundings.Surroundings, "look", counted)
    assert law(Shown()) == {0: 0.375, 1: 0.125, 2: 0.375, 3: 0.125}
    assert seen.count("Shown.__call__") <= 8  # the leaf that is repeated
    with pytest.raises(NonDeterministicError, match=r"calls id\(\)"):
        law(ShownRarely())


def test_a_profiler_that_is_on_is_no_error_of_liptest() -> None:
    with cProfile.Profile():
        if sys.version_info < (3, 12):  # it takes the place of the hook
            with pytest.raises(UnsupportedRandomnessError, match="profiler that is on"):
                law(Shown())
        else:
            assert law(Shown()) == {0: 0.375, 1: 0.125, 2: 0.375, 3: 0.125}
            with pytest.raises(NonDeterministicError, match=r"calls id\(\)"):
                law(ShownRarely())


def test_what_code_imports_when_it_runs_is_looked_through() -> None:
    importlib.import_module("tests.unit.enumerate.another_thread")  # loaded before, by whomever

    def lazily(data: Any, rng: Any) -> int:
        from tests.unit.enumerate import another_thread

        return int(another_thread.Callable is not None)

    assert law(lazily) == {1: 1.0}
    modules = find_imported(lazily.__code__, globals())
    assert [one and one.__name__ for one in modules][:2] == ["tests", "tests.unit"]

    def not_yet(data: Any, rng: Any) -> None:
        import a_module_that_nobody_has  # noqa: F401

    assert find_imported(not_yet.__code__, globals()) == [None]


def clipped_by_hand(data: Any, rng: Any) -> Any:
    total = 0.0
    for value in data:
        total += min(max(float(value), 0.0), math.sqrt(4.0))
    return total > 3 + rng.integers(2)


def test_calls_that_only_calculate_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    look: Any = surroundings.Surroundings.look

    def noted(*given: Any) -> Any:
        looked.append(1)
        return look(*given)

    monkeypatch.setattr(surroundings.Surroundings, "look", noted)
    law = lt.mechanism(clipped_by_hand).law(np.arange(2_000) % 3)
    assert law.outputs == (True,)
    # Each run calls min, max and sqrt 2,000 times.
    assert 0 < len(looked) < 1_000

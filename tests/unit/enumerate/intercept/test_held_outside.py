"""What was opened, mapped or seeded before the analysis, and the arguments of the process."""

from __future__ import annotations

import argparse
import ctypes
import locale
import os
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from sys import argv as arguments
from types import FunctionType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import liptest as lt
from liptest.enumerate.intercept.replaceable_names import reachable
from liptest.enumerate.python_function import PythonFunction
from liptest.enumerate.watch.asked_of_machine import LiveArguments
from liptest.errors import LiptestError, NonDeterministicError, UnsupportedRandomnessError

LAW = lt.ProductDistribution.uniform(lt.Hypercube(1))
FRESH, CONSTANT = np.random.SeedSequence(), np.random.SeedSequence(5)
IN_A_TUPLE = (np.random.SeedSequence(),)


def flipped(bit: Any, rng: Any) -> int:
    return int(rng.random() < 0.25) ^ int(bit)


def check(function: Callable[..., Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lt.check_privacy(lt.mechanism(function), LAW, epsilon=1.1)


@pytest.mark.parametrize(
    "asks",
    [
        lambda: len(sys.argv) > 100,
        lambda: bool(arguments[1:2]),
        lambda: "--sign" in arguments,
        lambda: list(sys.argv) == [],
        lambda: [*sys.orig_argv] == [],
        lambda: sys.argv == ["sign"],
        lambda: "sign" in " ".join(sys.argv),
        lambda: argparse.ArgumentParser(prog="x").parse_known_args()[0] == 1,
    ],
)
def test_the_arguments_of_the_command_line_are_refused(asks: Callable[[], bool]) -> None:
    says = r"(arguments of the command line: sys\.argv|environment) \(test_held_outside\.py:\d+"
    with pytest.raises(NonDeterministicError, match=says):
        check(lambda data, rng: flipped(data[0], rng) if not asks() else int(data[0]))
    assert not isinstance(sys.argv, LiveArguments)
    assert arguments is sys.argv


def test_what_else_the_interpreter_says_of_itself_is_let_pass() -> None:
    def plain(data: Any, rng: Any) -> int:
        return flipped(data[0], rng) + (sys.maxsize < 0) + (sys.platform == "")

    assert check(plain).decision == "YES"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "held.txt"
    file.write_bytes(np.array([49, 48], np.uint8).tobytes())
    return file


@pytest.mark.slow
def test_a_held_file_must_stay_as_it_is(path: Path) -> None:
    with open(path) as held, open(path, "rb", 0) as raw:

        def rewound(data: Any, rng: Any) -> int:
            held.seek(0)
            return flipped(data[0], rng) if held.read(1) == "1" else int(data[0])

        def put_back(data: Any, rng: Any) -> int:
            place = raw.tell()
            first = raw.read(1)
            raw.seek(place)
            return flipped(data[0], rng) if first == b"1" else int(data[0])

        def by_number(data: Any, rng: Any) -> int:
            first = os.pread(number, 1, 0)
            return flipped(data[0], rng) if first == b"1" else int(data[0])

        number = raw.fileno()
        for function in (rewound, put_back, by_number):
            verdict = check(function)
            assert verdict.decision == "YES"
            assert re.search(r"given that the file .*held\.txt.* stays as it is", str(verdict))
        with pytest.warns(UserWarning, match="had opened the file .* to read"):
            lt.mechanism(rewound).law(np.array([1]))


@pytest.mark.slow
def test_held_memory_of_a_file_must_stay_as_it_is(path: Path) -> None:
    mapped = np.memmap(path, dtype=np.uint8, mode="r")
    for array in (mapped, mapped[:1], np.asarray(mapped)[:1], mapped.view(np.int8)):
        verdict = check(lambda data, rng, array=array: flipped(data[0], rng) + (array[0] == 0))
        assert verdict.decision == "YES"
        assert re.search(r"given that the file .*held\.txt.* stays as it is", str(verdict))
    own = np.array(mapped)
    verdict = check(lambda data, rng: flipped(data[0], rng) + (own[0] == 0))
    assert "given that" not in str(verdict)


MADE_INSIDE: dict[str, Callable[[], Any]] = {
    "default_rng": lambda: np.random.default_rng(np.random.SeedSequence()),
    "bits": lambda: np.random.Generator(np.random.Philox(np.random.SeedSequence())),
    "spawned": lambda: np.random.default_rng(np.random.SeedSequence().spawn(3)[2]),
}


@pytest.mark.parametrize("name", MADE_INSIDE)
def test_a_fresh_seed_sequence_is_as_good_as_none(name: str) -> None:
    assert check(lambda data: flipped(data[0], MADE_INSIDE[name]())).decision == "YES"


def test_spawned_sequences_are_independent() -> None:
    def two(data: Any) -> tuple[int, int]:
        one, other = map(np.random.default_rng, np.random.SeedSequence().spawn(2))
        return flipped(data[0], one), flipped(data[0], other)

    law = lt.mechanism(two).law(np.array([0]))
    assert dict(law) == {(0, 0): 9 / 16, (0, 1): 3 / 16, (1, 0): 3 / 16, (1, 1): 1 / 16}


@pytest.mark.slow
@pytest.mark.parametrize("size", [4, 5000])
def test_generators_that_another_one_spawns_are_independent(size: int) -> None:
    """NumPy's documentation of ``Generator.spawn`` promises it."""

    def noisy_twice(data: Any, rng: Any) -> tuple[float, float, float]:
        first, second = rng.spawn(2)
        total = np.sum(data)
        return (
            total + first.laplace(0, 3.0),
            total + second.laplace(0, 3.0),
            total + rng.laplace(0, 3.0),
        )

    domain = lt.Hypercube(size)
    assert lt.check_privacy(noisy_twice, domain, epsilon=1.0).decision == "YES"
    assert lt.check_privacy(noisy_twice, domain, epsilon=0.9).decision == "NO"


def test_spawned_generators_draw_what_their_own_law_says() -> None:
    def two(data: Any, rng: Any) -> tuple[int, int]:
        one, other = rng.spawn(2)
        return flipped(data[0], one), flipped(data[0], other)

    law = lt.mechanism(two).law(np.array([0]))
    assert dict(law) == {(0, 0): 9 / 16, (0, 1): 3 / 16, (1, 0): 3 / 16, (1, 1): 1 / 16}


@pytest.mark.parametrize("count", [0, 1.5, np.int64(2), True, "a", None])
def test_as_many_are_spawned_as_numpy_spawns(count: Any) -> None:
    def spawned(generator: Any) -> Any:
        try:
            return len(generator.spawn(count))
        except TypeError as error:
            return type(error).__name__

    law = lt.mechanism(lambda data, rng: spawned(rng)).law(np.array([0]))
    assert dict(law) == {spawned(np.random.default_rng(0)): 1.0}


def test_less_than_no_generator_is_refused() -> None:
    with pytest.raises(UnsupportedRandomnessError, match=r"spawn of less than 0.*spawn 0 or more"):
        lt.mechanism(lambda data, rng: len(rng.spawn(-1))).law(np.array([0]))


def _twice(data: Any) -> int:
    sequence = np.random.SeedSequence()
    first, second = np.random.default_rng(sequence), np.random.default_rng(sequence)
    return flipped(0, first) ^ flipped(0, second) ^ int(data[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "says"),
    [
        (_twice, r"two generators of one .*SeedSequence.*spawn"),
        (lambda data: int(np.random.SeedSequence().generate_state(1)[0]) % 2, "operating system"),
        (lambda data: len(repr(np.random.SeedSequence())), "operating system"),
        pytest.param(
            lambda data: flipped(data[0], np.random.default_rng(FRESH)),
            "made elsewhere.*RNG =",
            marks=pytest.mark.slow,
        ),
        (lambda data: int(FRESH.generate_state(1)[0]) % 2, "made elsewhere"),
        pytest.param(
            lambda data: flipped(data[0], np.random.default_rng(IN_A_TUPLE[0])),
            "that it holds",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_what_a_seed_sequence_says_is_refused(function: Callable[[Any], int], says: str) -> None:
    with pytest.raises((NonDeterministicError, UnsupportedRandomnessError), match=says):
        check(function)
    assert type(FRESH) is np.random.SeedSequence


@pytest.mark.slow
def test_a_constant_seed_sequence_determines_the_answer() -> None:
    for made in (lambda: CONSTANT, lambda: np.random.SeedSequence(5)):
        verdict = check(lambda data, made=made: flipped(data[0], np.random.default_rng(made())))
        assert verdict.decision == "NO"
    with pytest.raises(LiptestError):  # the second child is another one
        check(lambda data: flipped(data[0], np.random.default_rng(CONSTANT.spawn(1)[0])))


@pytest.mark.parametrize(
    "reads",
    [
        lambda: int(np.empty(64, dtype=np.int8).sum()) & 1,
        lambda: float(np.empty((4, 4), order="F")[1, 2]),
        lambda: bool(np.empty(64, dtype=bool).sum() % 2),
        lambda: int(np.empty_like(np.zeros(64))[3] != 0) + np.empty_like(np.arange(9))[4] % 2,
    ],
)
def test_memory_as_it_was_is_no_answer(reads: Callable[[], Any]) -> None:
    with pytest.raises(NonDeterministicError):
        check(lambda data, rng: reads())


def test_arrays_that_are_filled_afterwards_are_let_pass() -> None:
    def filled(data: Any, rng: Any) -> int:
        places = np.empty(3, dtype=int)
        for place in range(2):
            places[place] = data[0]
        flags = np.empty_like(places, dtype=bool)
        flags[:] = flipped(data[0], rng)
        return int(flags.all()) + 0 * int(places[:2].sum())

    assert check(filled).decision == "YES"


@pytest.mark.slow
@pytest.mark.parametrize(
    "asks",
    [
        lambda: ctypes.addressof(ctypes.c_int(0)),
        lambda: np.zeros(3).ctypes.data,
        lambda: np.zeros(3).__array_interface__["data"][0],
        lambda: locale.setlocale(locale.LC_ALL),
    ],
)
def test_addresses_and_the_locale_are_refused(asks: Callable[[], Any]) -> None:
    with pytest.raises(NonDeterministicError, match=r"address in memory|locale\.setlocale"):
        check(lambda data, rng: flipped(data[0], rng) + 0 * len(str(asks())))


def _frames_with_a_generator() -> dict[str, Any]:
    entries = np.array([np.random.default_rng(), 1], dtype=object)
    attributed = pd.DataFrame({"age": [1]})
    attributed.attrs["rng"] = [np.random.default_rng()]
    return {
        "a column": pd.DataFrame({"rng": entries}),
        "a series": pd.Series(entries),
        "an index": pd.Series([1, 2], index=pd.Index(entries)),
        "attributes": attributed,
    }


@pytest.mark.parametrize(("name", "frame"), _frames_with_a_generator().items())
def test_generators_in_frames_are_found(name: str, frame: Any) -> None:
    sites = reachable(lambda data: frame, lambda one: isinstance(one, np.random.Generator))
    assert len(sites) == 1, name


def test_frames_of_texts_hold_no_code() -> None:
    """Not even where another package keeps the texts."""
    held = pd.DataFrame({"region": ["north", "south"], "weight": [1.0, 2.0]})
    assert not reachable(held, lambda one: isinstance(one, FunctionType))


@lt.mechanism
def poisson(data: Any, rng: Any) -> int:
    return int(data[0]) + int(rng.poisson(5.0))


@pytest.mark.slow
def test_what_is_known_of_a_mechanism_is_no_part_of_programs_that_name_it() -> None:
    """Its own name is that of a method of rng. Each analysis took longer, and was watched whole."""
    assert isinstance(poisson, PythonFunction)
    seen: list[list[type]] = []
    for epsilon in (0.5, 0.6):
        kinds: list[type] = []
        reachable(poisson.function, lambda value, kinds=kinds: kinds.append(type(value)))
        seen.append(kinds)
        assert lt.check_privacy(poisson, lt.Hypercube(1), epsilon=epsilon).decision == "NO"
    assert seen[0] == seen[1]
    assert type(poisson) in seen[0]

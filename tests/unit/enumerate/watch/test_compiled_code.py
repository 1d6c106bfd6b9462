"""Compiled code that is not known ends an analysis, or is named in the verdict."""

from __future__ import annotations

import collections
import ctypes
import datetime
import decimal
import enum
import functools
import gc
import json
import math
import re
import statistics
import sys
import weakref
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.watch.compiled_code import find_compiled_package
from liptest.errors import InputError, UnsupportedRandomnessError
from liptest.evidence.certificate import certify
from liptest.runs.fingerprints import fingerprint

CUBE = lt.ProductDistribution.uniform(lt.Hypercube(2))
DATA = np.array([1, 0])
CALLED = "compiled code was called: "
WITH_LINE = rf"{CALLED}\w+.*code\.py:\d+.*nothing, say"
rpds = pytest.importorskip("rpds")
LIBRARY = ctypes.CDLL(None) if sys.platform != "win32" else None


class Level(enum.IntEnum):
    LOW = 1


Pair = collections.namedtuple("Pair", "left right")


@pytest.mark.parametrize(
    "value",
    [
        *(len, [].append, math.sin, np.add, np.arange(3), np.random.default_rng, dict.fromkeys),
        *(Level, Level.LOW, Pair, Pair(1, 2), decimal.Decimal(1), re.compile("a"), iter([])),
        *(datetime.datetime.now, functools.partial(len), np.int64(3).item, object(), type),
        *(np.random.default_rng(), int.from_bytes, {}.keys(), find_compiled_package, collections),
    ],
    ids=lambda value: str(type(value).__name__),
)
def test_the_standard_library_and_numpy_are_known(value: Any) -> None:
    assert find_compiled_package(value) is None


@pytest.mark.parametrize("place", range(3))
def test_what_others_compiled_is_not(place: int) -> None:
    value = [rpds.HashTrieMap, rpds.HashTrieMap(), rpds.List([1]).push_front][place]
    assert str(find_compiled_package(value)).startswith("rpds")


TABLE = rpds.HashTrieMap({1: 2})


def constructs(data: Any) -> int:
    return len(rpds.List([1, 2]))


def looks_up(data: Any) -> int:
    return int(TABLE[1])


def by_an_attribute(data: Any, holder: Any = collections.namedtuple("H", "table")(TABLE)) -> int:  # noqa: B008
    return int(holder.table.get(1))


def maps(data: Any) -> int:
    return sum(map(len, map(rpds.List, [[1], [2]])))


def rarely(data: Any, rng: Any) -> int:
    return len(rpds.List([1])) if rng.random() < 1e-9 else 0


def imports(data: Any) -> int:
    import rpds as other

    return len(other.List([1]))


def imports_rarely(data: Any, rng: Any) -> int:
    if rng.random() < 1e-9:
        import rpds as other

        return len(other.List([1]))
    return 0


def in_a_shared_library(data: Any) -> int:
    assert LIBRARY is not None
    return int(LIBRARY.abs(-3))


def opened_meanwhile(data: Any) -> int:
    return int(ctypes.CDLL(None).abs(-3))


class Method:
    def __init__(self) -> None:
        self.values = rpds.List([1])

    def __call__(self, data: Any) -> int:
        return 1 if self.values else 0


@pytest.mark.parametrize(
    "function",
    [
        *(constructs, looks_up, by_an_attribute, maps, rarely, imports, imports_rarely),
        *(in_a_shared_library, opened_meanwhile, Method()),
    ],
)
def test_code_that_calls_it_is_refused_with_the_line(function: Any) -> None:
    with pytest.raises(UnsupportedRandomnessError, match=WITH_LINE):
        lt.mechanism(function).law(DATA)


def test_a_compiled_mechanism_is_refused() -> None:
    for function in (rpds.List, functools.partial(rpds.List, [1])):
        with pytest.raises((UnsupportedRandomnessError, InputError), match=f"{CALLED}|function"):
            lt.mechanism(function, name="compiled").law(DATA)


@pytest.mark.slow
def test_what_the_caller_says_is_in_the_verdict() -> None:
    tested = lt.mechanism(deterministic=["rpds"])(constructs)
    verdict = lt.check_privacy(tested, CUBE, epsilon=1.0)
    assert verdict.decision == "YES"
    assert "given that compiled code of rpds draws no random numbers" in str(verdict)
    certificate = certify(verdict, fingerprint(tested), CUBE, own_seed=True)
    assert "given that" in certificate.to_json()
    assert lt.verify(certificate.to_json(), tested, CUBE)
    plain = lt.check_privacy(lt.mechanism(lambda data: 0, name="p"), CUBE, epsilon=1.0)
    assert "given that" not in str(plain)
    with pytest.raises(UnsupportedRandomnessError, match=f"{CALLED}rpds"):
        lt.mechanism(deterministic=["other"])(constructs).law(DATA)
    with pytest.raises(InputError, match="deterministic='rpds' must be a list"):
        lt.mechanism(deterministic="rpds")(constructs)


def test_ctypes_is_as_before_afterwards() -> None:
    before = dict(vars(type(ctypes.pythonapi.PyObject_Str)))
    lt.mechanism(lambda data: 0).law(DATA)
    assert dict(vars(type(ctypes.pythonapi.PyObject_Str))) == before


def known_code(data: Any, rng: Any) -> Any:
    text = json.dumps({"sum": int(data.sum())}, sort_keys=True)
    middle = statistics.median(data.tolist())
    pairs = sorted(zip(data.tolist(), "ab", strict=True))
    return zlib.crc32(text.encode()) % 7, middle, pairs, bool(rng.random() < 0.5)


def test_innocent_code_is_not_accused(tmp_path: Path) -> None:
    assert len(lt.mechanism(known_code).law(DATA)) == 2


@pytest.mark.slow
def test_garbage_that_others_left_is_not_the_programs() -> None:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    left: list[Any] = [dp.m.make_randomized_response_bool(0.75)]
    left.append(left)
    freed = weakref.ref(left[0])

    def collects(data: Any, rng: Any) -> int:
        gc.collect()
        return int(rng.random() < 0.25)

    gc.disable()
    try:
        del left
        assert freed() is not None
        # Tests fail of what is raised in a finalizer.
        assert dict(lt.mechanism(collects).law(DATA)) == {0: 0.75, 1: 0.25}
        assert freed() is None
    finally:
        gc.enable()


@pytest.mark.slow
def test_randomness_of_opendp_is_not_taken_for_determinism() -> None:
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    response = dp.m.make_randomized_response_bool(0.999)
    functions = [
        lambda data: bool(response(bool(data[0]))),
        lambda data: 0 if response(True) else int(data.sum()),
    ]
    for function in functions:
        with pytest.raises(UnsupportedRandomnessError, match=f"{CALLED}opendp"):
            lt.check_privacy(lt.mechanism(function, name="m"), CUBE, epsilon=7.0)
    assert lt.adapters.opendp(response, draws=1000) is not None

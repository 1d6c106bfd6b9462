"""The price of noise on what is calculated from records is its sensitivity, by brute force."""

from __future__ import annotations

import itertools
import math
import sys
import warnings
from collections.abc import Callable
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.symbolic.alignment import price_paths
from tests.property.column_programs import PROGRAMS

# As many records as values, and rows of the table: what mixes them up shows.
_RECORDS = _VALUES = 4
_HEAD = """import numpy as np
F = np.array([[0.5, -2.0], [3.0, 0.5], [0.0, 0.0], [-1.0, 4.0]])
"""
Calculation = Callable[[Any], Any]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A module with ``plain_k(data)`` and ``noisy_k(data, rng)``; folding reads its source."""
    path: Path = tmp_path_factory.mktemp("programs") / "written_programs.py"
    parts = [_HEAD]
    for number, program in enumerate(PROGRAMS):
        *lines, last = program.split("\n")
        body = "".join(f"    {line}\n" for line in lines)
        parts.append(f"def plain_{number}(data):\n{body}    return {last}\n")
        noise = f"rng.laplace(0, 1.0, size=SHAPES[{number}])"
        body += f"    found = {last}\n    return found + {noise}\n"
        parts.append(f"def noisy_{number}(data, rng):\n{body}")
    path.write_text("\n".join(parts))
    spec = util.spec_from_file_location("written_programs", path)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules["written_programs"] = module
    spec.loader.exec_module(module)
    module.SHAPES = {}
    yield module
    del sys.modules["written_programs"]


def result(calculation: Calculation, dataset: tuple[int, ...]) -> Any:
    """What it makes of a dataset: numbers, or the name of an exception."""
    data = np.array(dataset, dtype=np.int64)
    data.setflags(write=False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(calculation(data), dtype=float)
    except Exception as error:
        return type(error).__name__


def distance(one: Any, other: Any) -> float:
    """Sum of the differences; infinite where they are of different kinds."""
    if isinstance(one, str) or isinstance(other, str):
        return 0.0 if isinstance(one, str) and isinstance(other, str) and one == other else math.inf
    if one.shape != other.shape:
        return math.inf
    if not (np.isfinite(one).all() and np.isfinite(other).all()):
        return 0.0 if np.array_equal(one, other, equal_nan=True) else math.inf
    return float(np.abs(one - other).sum())


def sensitivity(results: dict[tuple[int, ...], Any]) -> float:
    """The largest distance between the results of neighbours."""
    largest = 0.0
    for dataset, own in results.items():
        for place, value in itertools.product(range(_RECORDS), range(_VALUES)):
            other = (*dataset[:place], value, *dataset[place + 1 :])
            largest = max(largest, distance(own, results[other]))
    return largest


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_no_price_is_below_the_sensitivity(programs: Any, number: int) -> None:
    plain: Calculation = vars(programs)[f"plain_{number}"]
    results = {
        dataset: result(plain, dataset)
        for dataset in itertools.product(range(_VALUES), repeat=_RECORDS)
    }
    first = results[(0,) * _RECORDS]
    programs.SHAPES[number] = None if isinstance(first, str) else first.shape or None
    mechanism = lt.mechanism(vars(programs)[f"noisy_{number}"])
    for way in ("released", "branches"):
        found = mechanism.align_paths(lt.RecordGrid([_VALUES] * _RECORDS), way=way)
        if isinstance(found, NoPaths):
            continue
        price = price_paths(found.paths, found.differences).epsilon
        assert price is None or float(price) >= sensitivity(results) * (1 - 1e-9)

"""Random sums in small types over many records: no price is below what plain runs show.

A sum of int8 wraps, and one of truths stops, where many records add the same. So datasets of two
blocks of equal records are compared, with one record of them changed.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from tests.property.random_programs import function_of
from tests.proved_prices import compare_with_change

RECORDS = 130
DOMAIN = lt.RecordGrid([4] * RECORDS)
TYPES = ["int8", "uint8", "int16", "bool", "float16", "int64", "float64", "int64"]
PARTS = ["data == 2", "data > 1", "data", "data * 60", "1 - data", "data % 2", "data // 2"]
# {p} and {q} are numbers of each record, {d} is a type.
SUMS = """
return ({p}).astype('{d}').sum() + rng.laplace()
return ({p}).sum(dtype='{d}') + rng.laplace()
return np.sum({p}, dtype='{d}') - ({q}).sum() + rng.laplace()
return np.dot(({p}).astype('{d}'), np.ones(len(data), '{d}')) + rng.laplace()
return ({p}).astype('{d}') @ ({q}).astype('{d}') + rng.laplace()
return np.mean(({p}).astype('{d}')) + rng.laplace()
return np.stack([{p}, {q}], axis=1).sum(axis=0, dtype='{d}')[0] + rng.laplace()
t = np.{d}(0) @@ for x in ({p}).astype('{d}'): t += x @@ return t + rng.laplace()
t = False @@ for x in ({p}): t += x @@ return t - ({q}).sum() + rng.laplace()
h = np.ones((2, 2), '{d}') @@ for x in data: h[x // 2, x % 2] += 1 @@ return h[1, 0] + rng.laplace()
h = np.zeros(4, '{d}') @@ for x in data: h[x] += 1 @@ return h[2] + rng.laplace()
h = np.zeros((2, 2), '{d}') @@ for x in data: h[0, x == 2] -= 1 @@ return h[0, 1] + rng.laplace()
return sum(({p}).astype('{d}').tolist()) + rng.laplace()
return functools.reduce(operator.add, ({p}).astype('{d}')) - ({q}).sum() + rng.laplace()
return statistics.mean(({p}).astype('{d}')) + rng.laplace()
""".strip().splitlines()


class Silent:
    """A generator whose noise is 0."""

    def laplace(self) -> float:
        return 0.0


def random_sum(seed: int) -> str:
    """The text of a program ``mech(data, rng)``."""
    rng = random.Random(seed)
    kind, parts = rng.choice(TYPES), rng.sample(PARTS, 2)
    lines = rng.choice(SUMS).format(p=parts[0], q=parts[1], d=kind).split(" @@ ")
    lines = ["import functools, operator, statistics", "def mech(data, rng):"] + [
        f"    {line}" for line in lines
    ]
    return "\n".join(lines).replace("np.bool(", "np.bool_(") + "\n"


def answer(function: Any, dataset: Any) -> float | None:
    try:
        with np.errstate(all="ignore"):
            return float(function(dataset, Silent()))
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None


def largest_change(function: Any) -> float:
    """By plain runs; infinite where only one of two answers."""
    largest = 0.0
    blocks = product(range(4), range(3), (1, 2, 5, 64, 127, 128, RECORDS))
    for value, rest, count in blocks:
        one = np.full(RECORDS, rest)
        one[:count] = value
        other = one.copy()
        other[count - 1] = rest
        before, after = answer(function, one), answer(function, other)
        if before is None or after is None:
            largest = largest if before is after else math.inf
        elif math.isfinite(before) and math.isfinite(after):
            largest = max(largest, abs(before - after))
    return largest


def compared(seed: int) -> str:
    """ "equal", "above" or "refused"; fails where the price is below the change."""
    text = random_sum(seed)
    function = function_of(text, f"sum {seed}")
    found = align(lt.mechanism(function).on_domain(DOMAIN), DOMAIN)
    return compare_with_change(found, lambda: largest_change(function), text)


def counted(seeds: Iterable[int]) -> dict[str, int]:
    found = [compared(seed) for seed in seeds]
    return {kind: found.count(kind) for kind in ("equal", "above", "refused")}


def test_prices_are_changes() -> None:
    # The last three had a proof before small types were refused.
    assert counted((0, 1, 2, 113, 127, 1034))["equal"] >= 1


@pytest.mark.slow
def test_prices_are_changes_of_many_sums() -> None:
    assert counted(range(100, 140))["equal"] >= 10

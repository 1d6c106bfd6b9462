"""Loops over random places that only read arrays: they cost what the records at these places do."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from tests.shares import mostly_slow
from tests.unit.written_programs import program

ROWS, DRAWN = 200, 20
#: Of a sum to which a record adds between 0 and 1, with Laplace noise of scale 1.
LOSS = math.log1p(DRAWN / ROWS * math.expm1(1))
TABLE: Any = lt.Table({"x": lt.Real(), "z": lt.Real()}, rows=ROWS)
X = "x = data['x'].to_numpy()\n"
BOTH = f"{X}z = data['z'].to_numpy()\n"
PLACES = "places = rng.choice(len(data), 20, replace=False)\n"
TOLD = "\nreturn total + rng.laplace(0, 1)"
LOOP = f"total = 0.0\nfor i in places:\n    total += min(max(x[i], 0), 1){TOLD}"

PLACED = {
    "a choice": f"{X}{PLACES}{LOOP}",
    "a choice of a range": f"{X}places = rng.choice(range(len(x)), 20, replace=False)\n{LOOP}",
    "a choice of places": f"{X}places = rng.choice(np.arange(200), 20, replace=False)\n{LOOP}",
    "an order": f"{X}places = rng.permutation(len(x))[:20]\n{LOOP}",
    "an order of places": f"{X}places = rng.permutation(np.arange(len(x)))[180:]\n{LOOP}",
    "a sample of Python": f"{X}places = random.sample(range(len(x)), 20)\n{LOOP}",
    "a sample of a list": f"{X}places = random.sample(list(range(200)), 20)\n{LOOP}",
    "of a list": f"x = data['x'].tolist()\n{PLACES}{LOOP}",
    "coins": f"{X}places = np.flatnonzero(rng.random(len(x)) < 0.1)\n{LOOP}",
    "a name for the record": (
        f"{BOTH}{PLACES}total = 0.0\nfor i in places:\n    one, other = x[i], z[i]\n"
        f"    if other > 0:\n        total += min(max(one, 0), 1){TOLD}"
    ),
    "a list": (
        f"{X}{PLACES}made = []\nfor i in places:\n    made.append(min(max(x[i], 0), 1))\n"
        f"total = sum(made){TOLD}"
    ),
    "a comprehension": (
        f"{BOTH}{PLACES}total = sum([min(max(x[i], 0), 1) for i in places if z[i] > 1]){TOLD}"
    ),
    "a generator": f"{X}{PLACES}total = sum(min(max(x[i], 0), 1) for i in places){TOLD}",
    "rows": (
        f"rows = data[['x', 'z']].to_numpy()\n{PLACES}total = 0.0\nfor i in places:\n"
        f"    total += min(max(rows[i][1], 0), 1){TOLD}"
    ),
    "entries of rows": (
        f"rows = data[['x', 'z']].to_numpy()\n{PLACES}total = 0.0\nfor i in places:\n"
        f"    total += min(max(rows[i, 0], 0), 1){TOLD}"
    ),
}
REFUSED = {
    "a place itself": f"{X}{PLACES}total = 0.0\nfor i in places:\n    total += x[i] * i{TOLD}",
    "the last place": f"{X}{PLACES}{LOOP.replace('return', 'total += i' + chr(10) + 'return')}",
    "the next place": (
        f"{X}{PLACES}total = 0.0\nfor i in places:\n    total += min(max(x[i - 1], 0), 1){TOLD}"
    ),
    "constants": f"{X}{PLACES}w = np.arange(200.0)\n{LOOP.replace('x[i]', 'x[i] * w[i]')}",
    "others": f"x = data['x'].to_numpy()[:100]\n{PLACES}{LOOP}",
}


def priced(text: str) -> Any:
    made = program(text, random=random)
    return align(lt.mechanism(made).on_domain(TABLE), TABLE)


@pytest.mark.parametrize("name", mostly_slow(PLACED, 4))
def test_places_of_a_sample_cost_what_the_sample_does(name: str) -> None:
    found = priced(PLACED[name])
    assert found.price is not None, found.reason
    assert found.epsilon == pytest.approx(LOSS, rel=1e-9)
    assert found.epsilon >= LOSS


@pytest.mark.parametrize("name", REFUSED)
def test_other_uses_of_a_random_place_are_refused(name: str) -> None:
    assert priced(REFUSED[name]).price is None


def test_all_records_in_a_random_order_cost_what_all_records_do() -> None:
    whole = f"{X}places = rng.permutation(len(x))\n{LOOP}"
    assert priced(whole).epsilon == pytest.approx(1.0, rel=1e-9)


LAWS = {
    "a choice": (
        "total = 0\nfor i in rng.choice(len(data), 2, replace=False):\n    total += data[i]"
    ),
    "a list": "total = sum([data[i] for i in rng.permutation(len(data))[:2]])",
    "a sample": "total = 0\nfor i in random.sample(range(len(data)), 2):\n    total += data[i]",
    "a sample of few": (
        "data = data.tolist()\ntotal = sum(data[i] for i in random.sample(range(len(data)), 2))"
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_laws_of_small_samples_are_those_of_all_pairs(name: str) -> None:
    made = program(f"{LAWS[name]}\nreturn int(total)", random=random)
    data = np.array([0, 1, 1, 0])
    law = lt.output_law(lt.mechanism(made), data)
    found = dict(zip(law.outputs, law.fractions or (), strict=True))
    pairs = Counter(int(data[list(pair)].sum()) for pair in combinations(range(4), 2))
    assert found == {total: Fraction(count, 6) for total, count in pairs.items()}

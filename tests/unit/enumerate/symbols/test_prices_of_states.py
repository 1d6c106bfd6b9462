"""Prices of programs that keep a state between records, against brute force.

As in ``test_prices_without_plain_data``, nothing is compared with plain data.
"""

from __future__ import annotations

import itertools

import pytest

import liptest as lt
from liptest.enumerate.symbols import symbolic_data
from liptest.errors import LiptestError
from liptest.privacy.proofs.prices import align
from tests.unit.enumerate.symbols.test_prices_without_plain_data import SMALL, largest_change
from tests.unit.written_programs import program

PROGRAMS = (
    "def f(v, seen=[]):\n    seen.append(v)\n    return v * len(seen)\nt = sum(f(v) for v in data)",
    "it = iter(data)\nt = 0\nfor v, u in zip(it, it):\n    t += v * u",
    "it = iter(data)\nfirst = next(it)\nt = 0\nfor v in it:\n    t += v * first",
    "t = sum(v * u for v, u in itertools.pairwise(data))",
    "t = sum(1 for k, g in itertools.groupby(data.tolist()))",
    "k = 0\nt = sum((k := k + v) for v in data)",
    "t = 0\nfor v in data:\n    if v == 1:\n        t += 1\n        break\nelse:\n    t = 5",
    "t = 0\nfor v in data:\n    try:\n        t += 2 // int(v)\n    except ZeroDivisionError:\n"
    "        t += 3",
    "x = data.copy()\nx[1:] += x[:-1]\nt = x.sum()",
    "x = data\nx[0] = 2\nt = data.sum()",
)


@pytest.mark.slow
@pytest.mark.parametrize("text", PROGRAMS)
def test_no_price_is_below_the_change(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbolic_data, "check_points", lambda *given: ())
    function = program(f"{text}\nreturn t + rng.laplace(0, 1.0)", itertools=itertools)
    change = largest_change(program(f"{text}\nreturn t + rng.laplace(0, 1.0)", itertools=itertools))
    assert change is not None
    try:
        alignment = align(lt.mechanism(function), SMALL)
    except LiptestError:
        return
    assert alignment.epsilon >= change - 1e-9

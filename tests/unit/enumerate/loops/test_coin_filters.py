"""Loops that take each record by a coin: proved as a random sample, and only where they are one."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.loops.coin_filters import with_coins_first
from liptest.verdicts import Decision
from tests.unit.written_programs import program

Q = 0.1
#: What a sampled record loses with Laplace noise of scale 1, by the theorem and by hand.
LOSS = math.log(1 + Q * (math.e - 1))

SAMPLED = {
    "a list": "total = sum([x for x in data if rng.random() < Q])",
    "a generator": "total = sum(x for x in data if rng.random() < Q)",
    "the other side": "total = sum(x for x in data if Q > rng.random())",
    "a number of Python": "total = sum(x for x in data if random.random() <= Q)",
    "a line": "total = sum(x for x in data if rng.uniform(0, 10) < 10 * Q)",
    "a loop": "total = 0\nfor x in data:\n    if rng.random() < Q:\n        total += x",
    "a loop that goes on": (
        "total = 0\nfor x in data:\n    if rng.random() >= Q:\n        continue\n    total += x"
    ),
    "a loop with not": (
        "total = 0\nfor x in data:\n    if not rng.random() < Q:\n        continue\n    total += x"
    ),
    "and a test": (
        "total = 0\nfor x in data:\n    if rng.random() < Q and x == 1:\n        total += 1"
    ),
    "a list of the records": "d = list(data)\ntotal = sum([x for x in d if rng.random() < Q])",
    "numbers of Python": "total = sum(x for x in data.tolist() if rng.random() < Q)",
    "an index": (
        "total = 0\nfor i, x in enumerate(data):\n    if rng.random() < Q:\n        total += x"
    ),
    "a local bound": "q = Q / 2\ntotal = sum(x for x in data if rng.random() < 2 * q)",
}
END = "return total + rng.laplace(0, 1)"


def sampling(text: str, end: str = END) -> Any:
    return program(f"{text}\n{end}", Q=Q, random=random, np=np)


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLED)
def test_the_loss_of_a_sample_is_proved(name: str) -> None:
    sampled = sampling(SAMPLED[name])
    claim: Any = {"epsilon": LOSS * (1 + 1e-9), "floats": "ideal"}
    verdict = lt.check_privacy(sampled, lt.Hypercube(500), **claim)
    assert (verdict.decision, verdict.guarantee.kind) == (Decision.YES, "proof")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a list", "a loop"])
def test_no_less_is_proved(name: str) -> None:
    """With one record the law is known exactly: the loss is that of the theorem."""
    sampled = sampling(SAMPLED[name])
    assert lt.exact_epsilon(sampled, lt.Hypercube(1)).value == pytest.approx(LOSS, rel=1e-9)
    claim: Any = {"epsilon": LOSS * 0.999, "floats": "ideal"}
    assert lt.check_privacy(sampled, lt.Hypercube(1), **claim).decision is Decision.NO


#: Programs whose records are not such a sample, or are one in another way.
OTHERS = {
    "the record of the last pass": (
        "total = 0\nfor x in data:\n    if rng.random() < Q:\n        total += x\ntotal += x"
    ),
    "a bound that grows": (
        "total, q = 0, Q\nfor x in data:\n    if rng.random() < q:\n"
        "        total += x\n        q += 0.4"
    ),
    "a bound of an object": (
        "class Held:\n    q = Q\nheld = Held()\nfor x in data:\n"
        "    if rng.random() < held.q:\n        held.q += 0.4 * x\ntotal = held.q"
    ),
    "a bound by another name": (
        "a = np.array(Q)\nb = a\nfor x in data:\n    if rng.random() < a:\n"
        "        b += 0.4 * x\ntotal = float(b)"
    ),
    "a bound that is changed before the walk": (
        "q = Q\nfound = (x for x in data if rng.random() < q)\nq = 0.9\ntotal = sum(found)"
    ),
    "a coin that reads the record": "total = sum(x for x in data if rng.random() < Q + 0.5 * x)",
    "a walk that is left": (
        "total = 0\nfor x in data:\n    if rng.random() < Q:\n        total += x\n        break"
    ),
    "a function that reads the record later": (
        "found = []\nfor x in data:\n    if rng.random() < Q:\n        found.append(lambda: x)\n"
        "total = sum(one() for one in found)"
    ),
    "functions that read the last record": (
        "total = sum([one() for one in [(lambda: x) for x in data if rng.random() < Q]])"
    ),
    "a text that is evaluated": (
        "total = 0\nfor x in data:\n    if rng.random() < Q:\n        total += x\n"
        "total += eval('x')"
    ),
    "a record that others share": (
        "def last():\n    return x\nx = 0\ndef walk():\n    nonlocal x\n    found = 0\n"
        "    for x in data:\n        if rng.random() < Q:\n            found += x\n"
        "    return found\ntotal = walk() + last()"
    ),
    "a record that is deleted": (
        "total = 0\nfor x in data:\n    if rng.random() < Q:\n        total += x\ndel x"
    ),
    "a bound that is not a number": (
        "total = 0\nfor x in data:\n    if rng.random() >= float('nan'):\n        continue\n"
        "    total += x"
    ),
    "a held bound that is not a number": (
        "q = float('nan')\ntotal = 0\nfor x in data:\n    if rng.random() >= q:\n"
        "        continue\n    total += x"
    ),
    "a record that an object keeps": (
        "class Held:\n    x = 0\nheld, total = Held(), 0\nfor held.x in data:\n"
        "    if rng.random() < Q:\n        total += held.x\ntotal += held.x"
    ),
    "a record that a list keeps": (
        "kept, total = [0], 0\nfor kept[0] in data:\n    if rng.random() < Q:\n"
        "        total += kept[0]\ntotal += kept[0]"
    ),
    "one number for all": (
        "u = rng.random()\nclass Held:\n    def random(self):\n        return u\nheld = Held()\n"
        "total = 5 * sum(x for x in data if held.random() < Q)"
    ),
    "another function": (
        "def sum(values):\n    nonlocal q\n    q = 0.9\n    return len(list(values))\n"
        "q = Q\ntotal = sum(x for x in data if rng.random() < q)"
    ),
}


class Scripted:
    """A generator of ten numbers, which it takes from a list."""

    def __init__(self, digits: tuple[int, ...]) -> None:
        self._digits = iter(digits)

    def random(self) -> float:
        return (next(self._digits) + 0.5) / 10


def law_by_brute_force(function: Any, data: list[int]) -> dict[Any, Fraction]:
    """Of all numbers that are drawn: bounds are multiples of a tenth."""
    law: dict[Any, Fraction] = {}
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        digits = waiting.pop()
        try:
            output = function(np.array(data), Scripted(digits))
        except (StopIteration, RuntimeError):  # within a generator
            waiting += [(*digits, digit) for digit in range(10)]
        else:
            law[output] = law.get(output, Fraction(0)) + Fraction(1, 10 ** len(digits))
    return law


@pytest.mark.parametrize("name", OTHERS)
def test_other_walks_are_as_they_are_written(name: str) -> None:
    """Their laws on all bits are those of the program without the rewriting."""
    other = sampling(OTHERS[name], "return float(total)")
    alike = with_coins_first(other)
    for data in ([0], [1], [0, 1], [1, 0], [1, 1]):
        assert law_by_brute_force(other, data) == law_by_brute_force(alike, data)


@pytest.mark.parametrize("name", ["a list", "a loop", "a loop that goes on", "and a test"])
def test_samples_of_plain_records_are_as_they_are_written(name: str) -> None:
    sampled = sampling(SAMPLED[name], "return float(total)")
    alike = with_coins_first(sampled)
    assert alike is not sampled
    for data in ([0], [1], [0, 1], [1, 1, 0]):
        assert law_by_brute_force(sampled, data) == law_by_brute_force(alike, data)


def test_a_walk_of_plain_records_keeps_its_law() -> None:
    for name in ("a list", "a loop", "and a test"):
        sampled = sampling(SAMPLED[name], "return int(total)")
        law = lt.output_law(sampled, np.array([1, 1, 0]))
        expected = {0: (1 - Q) ** 2, 1: 2 * Q * (1 - Q), 2: Q * Q}
        assert {output: float(mass) for output, mass in law.items()} == pytest.approx(expected)


#: Those whose records cost more than sampled ones.
COSTLY = (
    "the record of the last pass",
    "a bound that is changed before the walk",
    "a bound that grows",
    "one number for all",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", COSTLY)
def test_other_walks_are_not_proved_as_samples(name: str) -> None:
    claim: Any = {"epsilon": LOSS * (1 + 1e-9), "floats": "ideal"}
    verdict = lt.check_privacy(sampling(OTHERS[name]), lt.Hypercube(4), **claim)
    assert verdict.decision is Decision.NO

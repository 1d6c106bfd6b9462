"""Random loops over records: no price is below the largest change that plain runs show.

A price below the largest change would be a false proof. How often both are equal is counted, so
that the test would notice prices that are only safe because they are large.
"""

from __future__ import annotations

import collections
import math
import random
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.privacy.proofs.prices import align
from tests.property.random_programs import function_of
from tests.proved_prices import compare_with_change

DOMAIN = lt.RecordGrid([4] * 3)
POINTS = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
# {x} is a number of one record, {c} and {d} are constants, {t} is a truth of one record.
NUMBERS = """
x
x
int(x)
x + {c}
2 * x
{c} - x
min(x, {c})
max(x, {c})
abs(x - {c})
x // 2
x % 2
x * x
x ** 2
(x > {c}) + 1
{c} if x > {d} else x
{c}
min(max(x - 1, 0), {c})
float(x) / 2
""".strip().splitlines()
TRUTHS = """
x > {c}
x >= {c}
x == {c}
x != {c}
x in ({c}, 3)
not x < {c}
x > {c} and x < 3
x == {c} or x == {d}
{c} <= x <= 2
x % 2 == 0
x
""".strip().splitlines()
# What stands in a loop over x in data; t and s are totals.
STEPS = """
t += {x}
t = t + {x}
t -= {x}
if {t}: t += {x}
if {t}: t += {x} @@ else: t -= {x}
if {t}: t += {x} @@ elif {u}: s += {x}
if {t}: continue @@ t += {x}
if {t}: t, s = t + 1, s + {x}
k = {x} @@ t += k
k = {x} @@ if k > {c}: k = {d} @@ t += k
s += {t} @@ t += {x}
t += 1 if {t} else 0
t += ({t}) * {x}
h[int(x)] = h.get(int(x), 0) + 1 @@ t += 1
t = max(t, {x})
t = max(t + {x}, 0)
t = {x}
if t < {c}: t += {x}
s += t @@ t += 1
t += s
if {t}: break @@ t += {x}
t = t + {x} if {t} else t
for j in range(2): t += {x}
for j in range({c}): t += j * {x}
l.append({x}) @@ t += 1
if {t}: l.append({x})
t ^= 1
t *= 2
if len(l) < 2: l.append({x})
""".strip().splitlines()
HEADS = """
for x in data:
for x in data.tolist():
for i, x in enumerate(data):
for i in range(len(data)): @@     x = data[i]
for x in sorted(data):
for x, y in zip(data, data):
for x in list(data):
for x in data[::-1]:
for x in data[1:]:
g = ({x} for x in data if {t}) @@ for x in g:
g = map(lambda x: {x}, filter(lambda x: {t}, data)) @@ for x in g:
g = ({x} for x in data if x != t) @@ for x in g:
g = iter(data) @@ f = ({x} for x in g) @@ for x in f:
for x in each(data, {c}):
f = each(data, {c}) @@ for x in (x for x in f if {t}):
""".strip().splitlines()
ANSWERS = """
t
t
t + s
t - s
2 * t
abs(t)
min(t, 2)
max(t, s)
t / 2
t // 2
sum(l)
len(l)
t + len(l)
h.get(1, 0)
h.get(0, 0) - h.get(3, 0)
sum(h.values())
len(h)
max(h.values(), default=0)
t if t > 1 else s
""".strip().splitlines()
YIELDS = """
for x in data: @@     yield {x}
for x in data: @@     if {t}: yield {x}
for x in data: @@     if x >= low: yield x
for x in data: @@     if {t}: @@         yield x @@     else: @@         yield low
for x in data: @@     if {t}: continue @@     yield x
n = 0 @@ for x in data: @@     n += 1 @@     if n < 3: yield x
for x in data: @@     if {t}: return @@     yield x
for x in data: @@     yield x @@     if {t}: yield low
yield low @@ for x in data: @@     yield x
yield from data
""".strip().splitlines()
LINES = """
t = sum({x} for x in data)
t = sum([{x} for x in data if {t}])
t = len([x for x in data if {t}])
t = sum(map(lambda x: {x}, data))
t = sum(1 for x in data if {t})
l = [{x} for x in data]
t = collections.Counter(data.tolist())[{c}]
t = sum(sorted({x} for x in data)[:1])
t = any({t} for x in data)
t = max({x} for x in data)
t = sum(x > y for x, y in zip(data, data[1:]))
g = ({x} for x in data if {t}) @@ t = sum(g) @@ s = sum(g)
g = ({x} for x in data if {t}) @@ l = list(g)
g = map(lambda x: {x}, data) @@ f = filter(lambda x: {t}, g) @@ t = sum(f)
c = {c} @@ g = (min(x, c) for x in data) @@ c = {d} @@ t = sum(g)
g = filter(None, data) @@ h = collections.Counter(g)
t = sum(each(data, {c}))
g = each(data, {c}) @@ l = list(map(lambda x: {x}, g))
l = sorted(each(data.tolist(), {c})) @@ t = len(l)
""".strip().splitlines()


def random_loop(seed: int) -> str:
    """The text of a program ``mech(data, rng)`` that answers one number with noise."""
    rng = random.Random(seed)

    def filled(line: str) -> list[str]:
        def constants(text: str) -> str:
            return text.format(c=rng.randint(0, 3), d=rng.randint(0, 3))

        return line.format(
            x="(" + constants(rng.choice(NUMBERS)) + ")",
            t="(" + constants(rng.choice(TRUTHS)) + ")",
            u="(" + constants(rng.choice(TRUTHS)) + ")",
            c=rng.randint(0, 3),
            d=rng.randint(0, 3),
        ).split(" @@ ")

    lines = ["t, s, h, l = 0, 0, {}, []"]
    if rng.random() < 0.7:
        lines += filled(rng.choice(HEADS))
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            lines += [f"    {one}" for one in filled(rng.choice(STEPS))]
    else:
        lines += filled(rng.choice(LINES))
    lines.append(f"return {rng.choice(ANSWERS)} + rng.laplace()")
    each = "def each(data, low):\n" + "".join(f"    {one}\n" for one in filled(rng.choice(YIELDS)))
    text = "".join(f"    {one}\n" for one in lines)
    return f"import collections\n{each}def mech(data, rng):\n{text}"


class Silent:
    """A generator whose noise is 0."""

    def laplace(self) -> float:
        return 0.0


def largest_change(function: Any) -> float:
    """By plain runs on all neighbouring datasets; infinite where only one of two answers."""

    def answer(point: Any) -> float | None:
        try:
            return float(
                function(np.frombuffer(point.astype(np.int64).tobytes(), np.int64), Silent())
            )
        except (ArithmeticError, LookupError, ValueError):
            return None

    found = {
        tuple(point): answer(point) for point in POINTS.tolist() for point in [np.array(point)]
    }
    largest = 0.0
    for point, value in found.items():
        for place in range(3):
            for other in range(4):
                near = found[(*point[:place], other, *point[place + 1 :])]
                if value is None or near is None:
                    largest = largest if value is near else math.inf
                else:
                    largest = max(largest, abs(value - near))
    return largest


def compared(seed: int) -> str:
    """ "equal", "above" or "refused"; fails where the price is below the change."""
    text = random_loop(seed)
    try:
        function = function_of(text, f"loop {seed}")
    except SyntaxError:
        return "refused"
    found = align(lt.mechanism(function).on_domain(DOMAIN), DOMAIN)
    return compare_with_change(found, lambda: largest_change(function), text)


@pytest.mark.slow
def test_prices_are_changes() -> None:
    found = collections.Counter(map(compared, range(70)))
    assert found["equal"] >= 12, found

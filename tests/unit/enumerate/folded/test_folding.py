"""Loops over records, folded: the same sums, and nothing that is not a sum."""

from __future__ import annotations

import bisect
import collections
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.enumerate.folded import folding
from tests.shares import mostly_slow
from tests.unit.enumerate.fake_columns import Refusal, column_of, fold, made

VALUES = range(-2, 5)
WEIGHTS = np.array([0.5, 1.0, -2.0, 4.0, 0.25])
NAMED = {-2: 1, -1: 0, 0: 5, 1: 1, 2: 1, 3: 9, 4: 2}
CALLS: list[int] = []


def clipped(value: Any, low: int = 0, high: int = 3) -> Any:
    """A function of the program."""
    if value < low:
        return low
    top = high
    return top if value > top else value


def impure(value: Any) -> Any:
    CALLS.append(value)
    return value


def for_loop(data: Any) -> Any:
    total = 0
    for v in data:
        total += v
    return total


def several(data: Any) -> Any:
    total, squares, large = 0, 0.0, 0
    for v in data:
        if v < 0:
            continue
        x = int(v) * 2
        if x > 4:
            large = large + 1
            y = 1
        else:
            y = x
        y += 1
        squares += math.sqrt(y) + WEIGHTS[v]
        total = x + total
        total -= 3
    return total, squares, large


def after_another(data: Any) -> Any:
    total = 0
    for v in data:
        total += v
    mean = total / len(data)
    spread = 0
    for v in data:
        spread += abs(v)
    return mean, spread, sum(v for v in [mean, spread])


def by_place(data: Any) -> Any:
    total = 0
    for i in range(len(data)):
        total += data[i] * data[i]
    return total


def by_number(data: Any) -> Any:
    n = len(data)
    total = 0
    for i in range(n):
        v = data[i]
        total += clipped(v)
    return total / n


def numbered(data: Any) -> Any:
    total = 1
    for _, v in enumerate(data):
        total += v in (1, 2)
    return total


def while_loop(data: Any) -> Any:
    i, total = 0, 0
    while i < len(data):
        total += NAMED[int(data[i])]
        i += 1
    return total, i


def shares(data: Any) -> Any:
    share = 0
    for v in data:
        share += v / len(data)
    return round(share, 9)


def cells(data: Any) -> Any:
    counts = [0] * 7
    for v in data:
        counts[v + 2] += 1
    return counts


def cells_of_array(data: Any) -> Any:
    counts = np.zeros(7)
    for v in data:
        counts[v] += 2
    return counts.tolist()


def cells_of_table(data: Any) -> Any:
    counts, whole = np.zeros((3, 3)), np.ones((3, 3), dtype=int)
    for v in data:
        counts[(v + 2) // 3, (v + 2) % 3] += 1
    for v in data:
        i, j = divmod(int(v) + 2, 3)
        whole[i, j] -= 2
    return counts.tolist(), whole.tolist()


def bins(data: Any) -> Any:
    edges, counts = [-1, 0, 3], [0] * 4
    for v in data:
        counts[bisect.bisect_right(edges, v)] += 1
    return counts, sum(1 for v in data if bisect.bisect(edges, v) == 2)


def loops_over_maps(data: Any) -> Any:
    total = large = 0
    for v in map(int, data):
        total += v
    for v in filter(lambda a: a > 1, data):
        large += v
    return total, large


def cells_of_dict(data: Any) -> Any:
    counts = dict.fromkeys(range(-2, 5), 0)
    for v in data:
        counts[int(v)] += 1
    return counts


def inner_loop(data: Any) -> Any:
    above = [0, 0, 0]
    for v in data:
        for k in range(3):
            if v > k:
                above[k] += 1
    return above


def by_cell(data: Any) -> Any:
    found = []
    for c in range(3):
        number = 0
        for v in data:
            if v == c:
                number += 1
        found.append(number)
    return found, {c: sum(1 for v in data if v == c) for c in range(3)}


def comprehensions(data: Any) -> Any:
    ages = [clipped(v) for v in data]
    return (
        *(sum(ages), len(ages), sum([v * v for v in data if v]), len([v for v in data if v == 1])),
        *(sum(int(v) for v in data), sum((1 for v in data if any(v == c for c in (1, 2))), 5)),
        *(len([v for v in data if v > 1]), sum(list(data)), sum(data), sum(data, 2.5)),
    )


def counter(data: Any) -> Any:
    counts = collections.Counter(data)
    named = Counter(v % 2 for v in data)
    return counts[1], counts.get(3, 0), counts[17], [named[k] for k in range(2)]


def appending(data: Any) -> Any:
    large = []
    doubled: Any = []
    for v in data:
        if v > 1:
            large.append(int(v))
        doubled.append(min(v * 2, 5))
    return sum(large), len(large), sum(doubled), len(doubled)


def dicts(data: Any) -> Any:
    counts = {}
    named = collections.defaultdict(int)
    signs = collections.Counter()
    for v in data:
        counts[v] = counts.get(v, 0) + 1
    for v in data:
        named[v % 2] += 2
    for v in data:
        signs[v > 0] += 1
    return counts.get(1, 0), counts.get(9, 0), named[0], named[1], named["x"], signs[True]


def mapping(data: Any) -> Any:
    top = 3
    return (
        *(sum(map(int, data)), sum(map(lambda v: min(v, top), data)), sum(map(clipped, data))),  # noqa: C417
        *(len(list(filter(lambda v: v > 1, data))), sum(filter(lambda v: v % 2, data), 1)),
    )


def total_of(records: Any) -> Any:
    """Called by the next."""
    total = 0
    for v in records:
        total += v
    return total


def helper(data: Any) -> Any:
    return total_of(data) + total_of([1, 2])


one_line = lambda data: sum(1 for v in data if v) + 0.5  # noqa: E731

FOLDED = [
    *(for_loop, several, after_another, by_place, by_number, numbered, while_loop, shares, cells),
    *(cells_of_array, cells_of_dict, inner_loop, by_cell, comprehensions, counter, helper),
    *(appending, dicts, mapping, cells_of_table, bins, loops_over_maps),
    one_line,
]


def numbers(value: Any) -> list[float]:
    """All numbers of an output."""
    if isinstance(value, dict):
        return numbers(list(value.items()))
    return (
        [one for part in value for one in numbers(part)]
        if isinstance(value, (list, tuple))
        else [value]
    )


@pytest.mark.parametrize("function", FOLDED)
def test_a_folded_loop_gives_the_same_sums(function: Any) -> None:
    again = fold(function)
    assert again is not function
    rng = np.random.default_rng(3)
    for _ in range(4):
        records = rng.choice(VALUES, 20)
        column = column_of(records.tolist(), VALUES)
        assert numbers(again(column)) == pytest.approx(numbers(function(records)), abs=1e-12)


@pytest.mark.parametrize("function", mostly_slow(FOLDED, 4))
def test_what_is_no_column_is_walked_as_it_is_written(function: Any) -> None:
    records = np.array([3, 1, 1, 0, -2, 4])
    assert repr(fold(function)(records)) == repr(function(records))
    for wrong in (None, 5, [1, "a"], ["x"], [[1], [2]], {1: 2}, iter([1, 2]), [np.array([1, 2])]):
        found = []
        for one in (function, fold(function)):
            given_ = iter([1, 2]) if hasattr(wrong, "__next__") else wrong
            try:
                found.append(repr(one(given_)))
            except Exception as error:
                found.append(f"{type(error)} {error}")
        assert found[0] == found[1]


# One condition after the other is broken: these must not be answered for a column.
HEAD = "def f(data, rng=None, base=[0]):\n    total = 0; other = 0; x = 0; out = []\n"
BODIES = {
    "break": "for v in data:\n    if v > 1:\n        break\n    total += v\nreturn total",
    "return": "for v in data:\n    if v > 1:\n        return 7\n    total += v\nreturn total",
    "else": "for v in data:\n    total += v\nelse:\n    total = 1\nreturn total",
    "try": "for v in data:\n    try:\n        total += v\n    finally:\n        pass\nreturn total",
    "accumulator in a test": "for v in data:\n    if total < 3:\n        total += v\nreturn total",
    "accumulator in another": "for v in data:\n    total += v\n    other += total\nreturn other",
    "accumulator in its own": "for v in data:\n    total += v * (total + 1)\nreturn total",
    "product": "total = 1\nfor v in data:\n    total *= v\nreturn total",
    "overwritten": "for v in data:\n    total = v\nreturn total",
    "reset": "for v in data:\n    total += v\n    if v == 0:\n        total = 0\nreturn total",
    "carried": "for v in data:\n    total += x\n    x = v\nreturn total",
    "carried on one path": (
        "for v in data:\n    if v > 0:\n        x = v\n    total += x\nreturn total"
    ),
    "record read later": "for v in data:\n    total += 1\nreturn v",
    "local read later": "for v in data:\n    w = v\n    total += 1\nreturn w",
    "read later in a loop": (
        "w = 0\nfor k in range(3):\n    total += w\n    for v in data:\n        w = v\n"
        "        other += v\nreturn total"
    ),
    "record kept by a function": (
        "tell = lambda: v\nfor v in data:\n    total += 1\nreturn tell()"
    ),
    "record kept by a generator": (
        "tell = (v for _ in range(1))\nfor v in data:\n    total += 1\nreturn next(tell)"
    ),
    "index": "for i in range(len(data)):\n    total += data[i] * i\nreturn total",
    "next record": "for i in range(len(data) - 1):\n    total += data[i + 1]\nreturn total",
    "fewer records": "for i in range(len(data) - 1):\n    total += data[i]\nreturn total",
    "number of the record": "for i, v in enumerate(data):\n    total += i * v\nreturn total",
    "starts later": "i = 1\nwhile i < len(data):\n    total += data[i]\n    i += 1\nreturn total",
    "two at once": "i = 0\nwhile i < len(data):\n    total += data[i]\n    i += 2\nreturn total",
    "grows first": (
        "i = 0\nwhile i < len(data) - 1:\n    i += 1\n    total += data[i]\nreturn total"
    ),
    "continue in while": (
        "i = 0\nwhile i < len(data):\n    if data[i] > 9:\n        continue\n"
        "    total += data[i]\n    i += 1\nreturn total"
    ),
    "guarded while": (
        "i = 0\nwhile i < len(data) and total < 5:\n    total += data[i]\n    i += 1\nreturn total"
    ),
    "draw": "for v in data:\n    total += v * rng.random()\nreturn total",
    "call": "for v in data:\n    total += impure(v)\nreturn total",
    "mutated default": (
        "for v in data:\n    x = base\n    x += [v]\n    total += 1\nreturn len(base)"
    ),
    "stored": "for v in data:\n    base[0] = v\n    total += 1\nreturn base[0]",
    "attribute": "for v in data:\n    impure.last = v\n    total += 1\nreturn impure.last",
    "iterator": "it = iter(data)\nfor v in it:\n    total += v + next(it)\nreturn total",
    "walrus": "for v in data:\n    total += (w := v)\nreturn w",
    "shared list": (
        "counts = [0] * 9\nalias = counts\nfor v in data:\n    counts[v] += 1 + alias[0]\n"
        "return counts"
    ),
    "entry read": "counts = [0] * 9\nfor v in data:\n    counts[v] += counts[0]\nreturn counts",
    "argument filled": "for v in data:\n    base[0] += v\nreturn base[0]",
    "keys that come from records": (
        "counts = {}\nfor v in data:\n    counts.setdefault(v, 1)\n    counts[v] += 1\n"
        "return counts"
    ),
    "keys of a Counter": (
        "counts = Counter()\nfor v in data:\n    counts[v] += 1\nreturn dict(counts)"
    ),
    "keys of a dict": (
        "counts = {}\nfor v in data:\n    counts[v] = counts.get(v, 0) + 1\nreturn len(counts)"
    ),
    "an entry of a dict that may be missing": (
        "counts = {}\nfor v in data:\n    counts[v] = counts.get(v, 0) + 1\nreturn counts[3]"
    ),
    "keys that are missing": (
        "counts = {}\nfor v in data:\n    counts[v] += 1\nreturn counts.get(3, 0)"
    ),
    "another entry": (
        "counts = {}\nfor v in data:\n    counts[v] = counts.get(v + 1, 0) + 1\n"
        "return counts.get(3, 0)"
    ),
    "another default": (
        "counts = {}\nfor v in data:\n    counts[v] = counts.get(v, 1) + 1\nreturn counts.get(3, 0)"
    ),
    "mapped by what is not pure": "return sum(map(impure, data))",
    "mapped with a draw": "return sum(map(lambda v: v + impure(1), data))",
    "two appended": ("for v in data:\n    out.append(v)\n    out.append(v)\nreturn sum(out)"),
    "appended to a shared list": (
        "kept = [out]\nfor v in data:\n    out.append(v)\nreturn len(kept[0])"
    ),
    "appended to what is not empty": "o = [7]\nfor v in data:\n    o.append(v)\nreturn sum(o)",
    "appended and told": "o = []\nfor v in data:\n    o.append(v)\nreturn o[0]",
    "appended and read": "o = []\nfor v in data:\n    o.append(len(o))\nreturn sum(o)",
    "Counter asked for more": "return Counter(data).most_common(1)",
    "Counter's length": "return len(Counter(data))",
    "Counter's default": "return Counter(data).get(3, -1)",
    "raises for some": "for v in data:\n    total += 1 // (v - 1)\nreturn total",
    "not a number": "total = ''\nfor v in data:\n    total += str(v)\nreturn total",
    "list of lists": "total = []\nfor v in data:\n    total += [v]\nreturn total",
    "filter by the sum": "return [v for v in data if v > 0][0]",
    "maximum": "return max(v for v in data)",
    "two iterables": "return sum(v * w for v in data for w in data)",
    "all pairs": ("for v in data:\n    for w in data:\n        total += v * w\nreturn total"),
    "infinite": "for v in data:\n    total += math.inf * (v > 0 or 1)\nreturn total",
    "locals": "for v in data:\n    total += v\nreturn locals()['v']",
    "nonlocal": (
        "def bump():\n    nonlocal total\n    total += 1\nfor v in data:\n    bump()\nreturn total"
    ),
    "global": "global G\nG = 0\nfor v in data:\n    G += v\nreturn G",
    "shadowed sum": "sum = max\nreturn sum(data)",
    "deleted": "for v in data:\n    total += v\n    del v\nreturn total",
}


@pytest.mark.parametrize("body", BODIES)
def test_what_is_more_than_a_sum_is_not_answered(body: str) -> None:
    """A column is then walked, which it refuses, or refused by the rule itself."""
    text = HEAD + "".join(f"    {line}\n" for line in BODIES[body].splitlines())
    function = made(text, impure=impure, Counter=Counter, math=math)
    records = [3, 1, 1, 0, 4]
    with pytest.raises(Refusal):
        fold(function)(column_of(records, VALUES))
    # As it is written it runs on the records.
    for one in (function, fold(function)):
        if body not in ("raises for some", "draw", "iterator", "keys that are missing"):
            one(np.array(records))


EXPRESSIONS = st.recursive(
    st.sampled_from(["v", "1", "2.5", "K", "a", "WEIGHTS[abs(v)]", "int(v)", "math.exp(-abs(v))"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(" ".join).map("({})".format),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} > {t[2]} else 1)"),
        inner.map("abs({})".format),
        inner.map("clipped({})".format),
        st.tuples(inner, inner).map(lambda t: f"max({t[0]}, {t[1]})"),
    ),
    max_leaves=4,
)


@st.composite
def bodies(draw: st.DrawFn, depth: int = 2) -> list[str]:
    """Statements of a pass: a and b are its own, s and t are added to."""
    lines = ["a = " + draw(EXPRESSIONS.filter(lambda text: "a" not in text.replace("abs", "")))]
    for _ in range(draw(st.integers(1, 4))):
        value = draw(EXPRESSIONS)
        kinds = ["s += {}", "t -= {}", "s = s + {}", "t = {} + t", "a = {}", "a *= {}", "continue"]
        kind = draw(st.sampled_from([*kinds, "if"] if depth else kinds))
        if kind == "continue":
            lines += [f"if {value} > 1:", "    continue"]
        elif kind == "if":
            lines += [f"if {value} > 0:"]
            lines += [f"    {line}" for line in draw(bodies(depth=depth - 1))]
            if draw(st.booleans()):
                lines += ["else:"]
                lines += [f"    {line}" for line in draw(bodies(depth=depth - 1))]
        else:
            lines.append(kind.format(value))
    return lines


@pytest.mark.slow
@settings(max_examples=150)
@given(bodies(), st.lists(st.sampled_from(VALUES), max_size=12), st.integers(0, 3))
def test_generated_bodies(body: list[str], records: list[int], spelling: int) -> None:
    loops = [
        ["for v in data:", *(f"    {line}" for line in body)],
        ["for i in range(len(data)):", "    v = data[i]", *(f"    {line}" for line in body)],
        ["for _, v in enumerate(data):", *(f"    {line}" for line in body)],
        ["n = len(data)", "for j in range(n):", "    v = data[j]", *(f"    {one}" for one in body)],
    ]
    lines = ["def f(data):", "    s = t = 0", *(f"    {one}" for one in loops[spelling])]
    text = "\n".join([*lines, "    return s, t", ""])
    space = {"K": 3, "WEIGHTS": WEIGHTS, "math": math, "clipped": clipped}
    function = made(text, **space)
    again = fold(function)
    assert again is not function
    expected = function(np.array(records, dtype=np.int64))
    try:
        found = again(column_of(records, VALUES))
    except Refusal as refused:
        said = str(refused)
        found = expected if "raises" in said or "hold" in said else said
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_plain_loops_over_constants_are_left() -> None:
    def f(data: Any) -> Any:
        out = {}
        for cell in range(8):
            out[cell] = (data == cell).sum()
        return out

    again = fold(f)
    data = np.array([1, 1, 7])
    assert again(data) == f(data)


def test_lines_and_cells_stay() -> None:
    factor = 2

    def f(data: Any) -> Any:
        total = 0
        for v in data:
            total += v * factor
        raise ValueError(total)

    again = fold(f)
    lines = []
    for one in (f, again):
        with pytest.raises(ValueError, match="6") as caught:
            one([1, 2])
        assert caught.tb is not None
        assert caught.tb.tb_next is not None
        lines.append(caught.tb.tb_next.tb_lineno)
    assert again is not f
    assert lines[0] == lines[1]
    with pytest.raises(ValueError, match="6"):
        again(column_of([1, 2], VALUES))


def test_stand_ins_of_numpy_are_not_rewritten(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    compiled = folding._Rewriter._with_folds

    def noted(self: Any, source: Any) -> Any:
        seen.append(source.function.__globals__["__name__"])
        return compiled(self, source)

    monkeypatch.setattr(folding._Rewriter, "_with_folds", noted)

    @lt.mechanism
    def largest(data: Any, rng: Any) -> Any:
        return int(np.argmax(np.array(data) + rng.laplace(0, 1, len(data))))

    lt.output_law(largest, [0, 1, 2])
    assert set(seen) == {__name__}

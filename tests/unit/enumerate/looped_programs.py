"""Random programs with a loop over answers, in which runs may meet, or must not."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.unit.written_programs import program

_WALKS = ("for a in data:", "for i, a in enumerate(data):", "for i in range(len(data)):")
_TESTS = (
    *("a + rng.laplace(0, 4.0) > t", "a + rng.laplace(0, 4.0) >= 3", "y > t", "y > 1", "t < y - 2"),
    *("noisy[i] > t", "t > 1", "data[0] + rng.laplace(0, 2.0) > t", "y - a > 2", "low > high"),
    *("rng.random() < 0.5", "hits == 1", "last", "2 * a - y + t > 0", "a + shared > t"),
    *("noisy[0] + rng.laplace(0, 1.0) > t", "other + rng.laplace(scale=2.0) > t"),
)
_STEPS = (
    *("told.append(True)", "told.append(hits)", "hits += 1", "last = not last", "last = hits > 1"),
    *("if hits >= 2:\n            break", "t = rng.laplace(0, 2.0)", "told.append(i)"),
    *("if hits == 2:\n            return told, i", "continue", "break", "low = i", "high = hits"),
    *("kept[i] = hits", "told.append(y)", "hits += told.count(True)", "shared = y", "pass"),
    *("told.append(round(y))", "hits += int(y > 5)", "other = a"),
)
_ENDS = (
    *("return told", "return tuple(told), hits", "return len(told)", "return hits, last"),
    *("return told if t > 0 else hits", "return float(noisy[0] - t), told", "return low, high"),
    *("return {'told': told, 'kept': kept}", "return told, bool(noisy[1] > 2)", "return kept"),
    *("return told, bool(data[1] + rng.laplace(0, 1.0) > t)", "return (told, told[:1])"),
    *("return hits if y > 3 else told", "return [hits, rng.laplace(0, 1.0) > t]"),
)


def source_of_loop(seed: int) -> str:
    """The text of a program."""
    rng = random.Random(seed)
    walk = rng.choice(_WALKS)
    usual = rng.random() < 0.7
    tests, steps, ends = (_TESTS[:4], _STEPS[:6], _ENDS[:4]) if usual else (_TESTS, _STEPS, _ENDS)
    lines = [
        "t, hits, last = rng.laplace(0, 2.0), 0, False",
        "low, high, y, shared, other = 0, 1, 0.0, 0.0, data[0]",
        "noisy = data + rng.laplace(0, 4.0, size=len(data))",
        "kept = [None] * len(data)",
        "told = []",
        walk,
    ]
    if "i" not in walk.split(" in ")[0].split()[1:][0]:
        lines.append("    i = hits")
    if "range" in walk:
        lines.append("    a = data[i]")
    lines.append("    y = a + rng.laplace(0, 4.0)" if rng.random() < 0.5 else "    y = noisy[0]")
    for _ in range(rng.randint(1, 2)):
        lines.append(f"    if {rng.choice(tests)}:")
        lines += [f"        {step}" for step in _chosen(rng, steps)]
        if rng.random() < 0.6:
            lines.append("    else:")
            lines += [f"        {step}" for step in _chosen(rng, steps)]
    if rng.random() < 0.3:
        lines.append(f"    {rng.choice(steps)}".replace("\n            ", "\n        "))
    lines.append(rng.choice(ends))
    return "\n".join(lines)


def _chosen(rng: random.Random, steps: tuple[str, ...]) -> list[str]:
    return [rng.choice(steps) for _ in range(rng.randint(1, 2))]


def looped_program(seed: int) -> Callable[..., Any]:
    """A program by its number."""
    return program(source_of_loop(seed))

"""How fast the output law of an ordinary Python function is enumerated: runs ("leaves") a second.

The baseline is a bare call of the same function with a real generator, in turns with the
enumeration. Runs are counted by the function itself, apart from the timing: one for each way the
choices can fall out, and those of the leaves that are repeated, as they were and, where random
floats are drawn, with real ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from figures import SECONDS, Figure, Row, cpu_seconds, medians, report

import liptest as lt

COINS, REPETITIONS = 10, 15
LEAVES_A_SECOND, MOST_BARE_CALLS = 100_000, 3.0


def noisy_count(data: Any, rng: Any) -> int:
    """Randomised response of each bit, of which only the sum is answered."""
    total = 0
    for bit in data:
        total += bit if rng.random() < 0.75 else 1 - bit
    return int(total)


def noisy_bits(data: Any, rng: Any) -> tuple[int, ...]:
    """Randomised response, every bit answered: as many outputs as leaves."""
    return tuple(int(bit) if rng.random() < 0.75 else 1 - int(bit) for bit in data)


def sampled_count(data: Any, rng: Any) -> int:
    """Coins drawn as whole numbers."""
    return sum(int(bit) for bit in data if rng.integers(2))


def calls_of(function: Callable[[Any, Any], Any], data: Any) -> int:
    """How often the function is called for one law."""
    calls = []

    def counting(data: Any, rng: Any) -> Any:
        calls.append(1)
        return function(data, rng)

    lt.output_law(lt.mechanism(counting), data)
    return len(calls)


def row(function: Callable[[Any, Any], Any], coins: int, repetitions: int) -> Row:
    data = np.arange(coins) % 2
    leaves, mechanism, rng = 2**coins, lt.mechanism(function), np.random.default_rng(1)

    def bare() -> None:
        for _ in range(leaves):
            function(data, rng)

    cost = medians(
        repetitions,
        lambda: {
            "law": cpu_seconds(lambda: mechanism.fresh_law(data)),
            "bare": cpu_seconds(bare),
        },
    )
    repeated = 4 + max(0, coins - 2)  # the first four leaves, and those numbered 8, 16, ..
    planned = leaves + repeated * (1 if function is sampled_count else 2)
    return Row(
        f"{function.__name__}, {coins} coins",
        {"calls": calls_of(function, data)},
        {"calls": planned},
        {
            SECONDS: Figure(cost["law"]),
            "leaves / CPU s": Figure(leaves / cost["law"], at_least=LEAVES_A_SECOND),
            "leaf / bare call": Figure(cost["law"] / cost["bare"], at_most=MOST_BARE_CALLS),
        },
    )


def measure(quick: bool) -> list[Row]:
    coins, repetitions = (6, 1) if quick else (COINS, REPETITIONS)
    functions = (noisy_count, noisy_bits, sampled_count)
    return [row(function, coins, repetitions) for function in functions]


if __name__ == "__main__":
    report("Enumeration of Python functions by replay", measure)

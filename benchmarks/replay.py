"""How fast the output distribution of an ordinary Python function is enumerated by replay.

Functions of coins are compared with a bare call of the same function with a real generator, in
turns with the enumeration. Runs are counted by the function itself, apart from the timing: one for
each way the choices can fall out, and those of the leaves that are repeated, as they were and,
where random floats are drawn, with real ones.

Functions of symbolic values are the hot paths of the analysis: a comparison of a uniform number,
packed 0/1 variables and their sums, comparisons of noise. ``--baseline=SRC`` names the ``src``
folder of another checkout; each is then measured in fresh processes in turns, and "speed of the
baseline" is CPU seconds there by CPU seconds here.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from figures import SECONDS, Figure, Row, cpu_seconds, medians, report

import liptest as lt

COINS, REPETITIONS = 10, 15
LEAVES_A_SECOND, MOST_BARE_CALLS = 100_000, 3.0
#: Fresh processes for each checkout, and laws of each function in one of them.
TURNS, LAWS_A_TURN = 3, 3
AT_LEAST_OF_BASELINE = 0.8
RATIO = "speed of the baseline"


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


def uniform_comparisons(data: Any, rng: Any) -> int:
    """One comparison of a uniform number for each record."""
    return sum(rng.random() < 0.3 for _ in range(len(data)))


@dataclass(frozen=True)
class Setting:
    """A class whose methods may look at their surroundings, though none of them runs."""

    share: float


SETTING = Setting(0.3)


def held_setting(data: Any, rng: Any) -> int:
    """The same, with a number that an object of a class holds."""
    return sum(rng.random() < SETTING.share for _ in range(len(data)))


def packed_bits(data: Any, rng: Any) -> tuple[int, ...]:
    """Bits that are flipped at once, all of them answered."""
    flips = rng.random(len(data)) < 0.25
    return tuple((data ^ flips).tolist())


def bit_sum(data: Any, rng: Any) -> int:
    """A sum of bits that are flipped at once."""
    return int((data ^ (rng.random(len(data)) < 0.25)).sum())


def bit_sum_compared(data: Any, rng: Any) -> bool:
    """Whether a sum of bits that are flipped at once is large."""
    return bool((data ^ (rng.random(len(data)) < 0.25)).sum() > len(data) // 2)


def sparse_vector(data: Any, rng: Any) -> int:
    """The first record that is, with noise, above a threshold with noise."""
    threshold = 0.5 + rng.laplace(0, 2.0)
    for place, record in enumerate(data):
        if record + rng.laplace(0, 4.0) >= threshold:
            return place
    return len(data)


def noise_array(data: Any, rng: Any) -> tuple[bool, ...]:
    """Which records of an array are, with noise, above a number."""
    return tuple((data + rng.laplace(0, 2.0, len(data)) > 0.5).tolist())


def uniforms_meet_noise(data: Any, rng: Any) -> tuple[bool, ...]:
    """An array of uniform numbers, each compared with noise of its own."""
    return tuple((rng.random(len(data)) > rng.laplace(0, 2.0, len(data))).tolist())


@dataclass(frozen=True)
class Case:
    """A function of symbolic values, with the leaves that its law must have."""

    function: Callable[[Any, Any], Any]
    records: int
    leaves: int

    @property
    def name(self) -> str:
        return f"{self.function.__name__}, {self.records:,} records"

    def new_law(self) -> Any:
        data = np.arange(self.records) % 2
        return lt.mechanism(self.function).fresh_law(data)


def symbolic_cases(quick: bool) -> list[Case]:
    if quick:
        return [
            Case(uniform_comparisons, 6, 64),
            Case(held_setting, 6, 64),
            Case(packed_bits, 6, 64),
            Case(bit_sum, 10, 11),
            Case(bit_sum_compared, 100, 2),
            Case(sparse_vector, 3, 4),
            Case(noise_array, 3, 8),
            Case(uniforms_meet_noise, 2, 4),
        ]
    return [
        Case(uniform_comparisons, 11, 2048),
        Case(held_setting, 11, 2048),
        Case(packed_bits, 10, 1024),
        Case(bit_sum, 10, 11),
        Case(bit_sum, 1000, 1001),
        Case(bit_sum_compared, 1000, 2),
        Case(bit_sum_compared, 20_000, 2),
        Case(sparse_vector, 6, 7),
        Case(noise_array, 5, 32),
        Case(uniforms_meet_noise, 5, 32),
    ]


def seconds_of_laws(quick: bool) -> dict[str, float | None]:
    """CPU seconds of one law of each function, after a first one; None where it is refused."""
    return {case.name: _seconds_of_law(case, quick) for case in symbolic_cases(quick)}


def _seconds_of_law(case: Case, quick: bool) -> float | None:
    try:
        case.new_law()
    except lt.errors.LiptestError:
        return None
    return statistics.median(cpu_seconds(case.new_law) for _ in range(1 if quick else LAWS_A_TURN))


def seconds_in_fresh_process(source: str, quick: bool) -> dict[str, float | None]:
    """The same in a process that imports liptest from a folder."""
    command = [sys.executable, __file__, "--laws-only", *(["--quick"] if quick else [])]
    environment = {**os.environ, "PYTHONPATH": source}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return dict(json.loads(done.stdout))


def measure_symbolic(quick: bool, baseline: str | None) -> list[Row]:
    here = str(Path(lt.__file__).parents[1])
    turns: dict[str, list[dict[str, float | None]]] = {here: [], baseline or here: []}
    for _ in range(1 if quick else TURNS):
        for source, measured in turns.items():
            measured.append(seconds_in_fresh_process(source, quick))
    rows = []
    for case in symbolic_cases(quick):
        seconds = median_of(turns[here], case.name)
        if seconds is None:
            raise SystemExit(f"{case.name} is refused")
        figures = {SECONDS: Figure(seconds), "leaves / CPU s": Figure(case.leaves / seconds)}
        before = None if baseline is None else median_of(turns[baseline], case.name)
        if before is not None:
            figures[RATIO] = Figure(before / seconds, at_least=AT_LEAST_OF_BASELINE)
        leaves = case.new_law().leaves
        rows.append(Row(case.name, {"leaves": leaves}, {"leaves": case.leaves}, figures))
    return rows


def median_of(turns: list[dict[str, float | None]], name: str) -> float | None:
    """Of the seconds of one function; None where it is refused."""
    seconds = [turn[name] for turn in turns]
    known = [one for one in seconds if one is not None]
    return statistics.median(known) if len(known) == len(seconds) else None


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
    repeated = min(leaves, 16 + leaves // 1_000)  # enumerate.trees.repeated_leaves
    planned = leaves + repeated * (1 if function is sampled_count else 2)
    planned += 2  # two leaves of a first law are looked at for state
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
    rows = [row(function, coins, repetitions) for function in functions]
    named = [text for text in sys.argv if text.startswith("--baseline=")]
    baseline = named[-1].removeprefix("--baseline=") if named else None
    return rows + measure_symbolic(quick, baseline)


if __name__ == "__main__":
    if "--laws-only" in sys.argv:
        print(json.dumps(seconds_of_laws("--quick" in sys.argv)))
    else:
        report("Enumeration of Python functions by replay", measure)

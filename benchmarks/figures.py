"""What every benchmark prints: counts first, CPU seconds second, ratios of the same run.

A script has ``measure(quick) -> list[Row]`` and ends with ``report(title, measure)``, which ends
with exit code 1 when a count is not the planned one, or a figure misses its limit by more than a
factor of 3. Only the standard library is imported here: a script that measures the memory of fresh
processes must be small itself, because a process starts with the peak of the one that started it.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

SECONDS = "CPU s"
# Machines differ and are shared: a limit missed by less does not fail a run.
LOOSE = 3.0
Key = TypeVar("Key")


@dataclass(frozen=True)
class Figure:
    """One measured number, with the figure to reach where there is one."""

    value: float
    at_least: float | None = None
    at_most: float | None = None

    @property
    def reached(self) -> bool:
        return self.within(1.0)

    def within(self, factor: float) -> bool:
        """Whether no limit is missed by more than the factor."""
        low, high = self.at_least, self.at_most
        enough = low is None or self.value * factor >= low
        return enough and (high is None or self.value <= high * factor)

    def __str__(self) -> str:
        text = f"{self.value:.3g}" if not 1e3 <= self.value < 1e10 else f"{self.value:,.0f}"
        if self.at_least is None and self.at_most is None:
            return text
        limit = f">= {self.at_least:g}" if self.at_most is None else f"<= {self.at_most:g}"
        return f"{text} ({limit}: {'reached' if self.reached else 'NOT reached'})"


@dataclass(frozen=True)
class Place:
    """Where a row belongs in a drawing: the point ``at`` of a line, along an axis."""

    axis: str
    at: float
    line: str


@dataclass(frozen=True)
class Row:
    """One case: what was done, what should have been done, and what it cost.

    Parameters
    ----------
    case
        In words.
    counts, planned
        The same keys: numbers counted in this run, and those that theory or plan foretell.
    figures
        Named measurements.
    place
        For drawings; rows without one are only in the table.
    """

    case: str
    counts: Mapping[str, float]
    planned: Mapping[str, float]
    figures: Mapping[str, Figure]
    place: Place | None = None


def cpu_seconds(task: Callable[[], object]) -> float:
    """CPU seconds of this process for one call."""
    started = time.process_time()
    task()
    return time.process_time() - started


def medians(repetitions: int, one_round: Callable[[], Mapping[Key, float]]) -> dict[Key, float]:
    """Medians over rounds. A round measures everything once, so that all see the same machine."""
    rounds = [one_round() for _ in range(repetitions)]
    return {key: statistics.median(found[key] for found in rounds) for key in rounds[0]}


def peak_megabytes() -> float:
    """Largest memory this process ever held, 2**20 bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def fresh_process(*arguments: str) -> dict[str, Any]:
    """Run Python on the arguments in a process of its own; the JSON object that it prints."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def report(title: str, measure: Callable[[bool], list[Row]]) -> None:
    """Measure and print: a table, or with ``--json`` a list; ``--rows=FILE`` writes the list too.

    ``--quick`` makes the work tiny: the counts remain, and no figure is compared with a limit.
    """
    quick = "--quick" in sys.argv
    rows = measure(quick)
    if quick:
        rows = [replace(row, figures=without_limits(row.figures)) for row in rows]
    found = json.dumps([asdict(row) for row in rows])
    for argument in sys.argv[1:]:
        if argument.startswith("--rows="):
            Path(argument.removeprefix("--rows=")).write_text(found, encoding="utf-8")
    if "--json" in sys.argv:
        print(found)
    else:
        print(f"\n{title}{' (quick: tiny sizes)' if quick else ''}")
        print(*table(rows), sep="\n")
    wrong = [line for row in rows for line in faults(row)]
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    sys.exit(bool(wrong))


def faults(row: Row) -> list[str]:
    """What is wrong with a row, a line each; limits are judged loosely."""
    wrong = [
        f"{row.case}: {key} is {number(row.counts[key])}, planned {number(row.planned[key])}"
        for key in row.counts
        if row.counts[key] != row.planned[key]
    ]
    late = [name for name, figure in row.figures.items() if not figure.within(LOOSE)]
    return wrong + [f"{row.case}: {name} is {row.figures[name]}" for name in late]


def without_limits(figures: Mapping[str, Figure]) -> dict[str, Figure]:
    return {name: Figure(figure.value) for name, figure in figures.items()}


def table(rows: list[Row]) -> list[str]:
    """Lines of a table: case, counts (with the plan where it differs), figures."""
    counts = list(dict.fromkeys(key for row in rows for key in row.counts))
    figures = list(dict.fromkeys(key for row in rows for key in row.figures))
    lines = [["case", *counts, *figures]]
    for row in rows:
        cells = [row.case]
        cells += [count_text(row, key) for key in counts]
        cells += [str(row.figures[key]) if key in row.figures else "" for key in figures]
        lines.append(cells)
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def count_text(row: Row, key: str) -> str:
    """A count; where it is not the planned one, both."""
    if key not in row.counts:
        return ""
    counted, planned = row.counts[key], row.planned[key]
    text = number(counted)
    return text if counted == planned else f"{text} (planned {number(planned)})"


def number(value: float) -> str:
    """13,809 or 1.6e+22."""
    if value == int(value) and abs(value) < 1e10:
        return f"{int(value):,}"
    return f"{value:.3g}" if abs(value) >= 1e10 else f"{value:,.1f}"

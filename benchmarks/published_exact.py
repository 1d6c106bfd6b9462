"""The published suite exactly, from code or formula, beside samplers; and exact laws timed.

The samplers' bounds at epsilon 1 and their seconds are quoted: each run once on one core of the
machine that docs/comparison.md describes. ``epsilon`` is the largest loss over the listed pairs,
or over all neighbours of the domain; "from code" rows trace examples/catalogue as it is. "Any real
answers" rows need no search of a domain: the price of an alignment is proved for all answers
(docs/theory/size.md), and the loss of one output of one pair, far out in the dearest direction, is
found; or an output that is possible on one side only, where epsilon is infinite. A row is measured
in a process that has loaded its modules: it has run the same rows at their quick sizes.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from figures import SECONDS, Figure, Row, cpu_seconds, report
from published_mechanisms import patterns

import liptest as lt
from liptest.data.answers import Answers
from liptest.symbolic.probability import forget

sys.path.append(str(Path(__file__).parents[1] / "examples"))
catalogue: Any = __import__("catalogue")

ROUNDS = 5


@dataclass(frozen=True)
class Quoted:
    """A sampler's lower bound of epsilon, and seconds; ``wrong`` is a verdict at claim 1."""

    bound: float
    seconds: float
    wrong: bool = False


# dp-sniper, statdp, the histogram tester of dp_auditorium.
SAMPLERS = ("dp-sniper", "statdp", "dp_auditorium")
QUOTED: dict[str, tuple[float, Sequence[Quoted]]] = {
    "randomised response, d=5": (1.0, (Quoted(0.994, 59), Quoted(0.950, 103), Quoted(0.900, 4))),
    "randomised response, d=10": (1.0, (Quoted(0.994, 96), Quoted(0.950, 62), Quoted(0.703, 9))),
    "truncated geometric count, d=20": (
        1.0,
        (Quoted(0.994, 71), Quoted(0.975, 25), Quoted(0.925, 3)),
    ),
    "noisy max (place), 5 queries": (
        0.9803972919585624,
        (Quoted(0.974, 199), Quoted(0.969, 160), Quoted(0.719, 69)),
    ),
    "noisy max (value, whole numbers), 5 queries": (
        2.5,
        (Quoted(2.205, 224), Quoted(1.906, 318), Quoted(1.125, 41)),
    ),
    "SVT1, 10 queries": (
        0.991422497929759,
        (Quoted(0.883, 211), Quoted(0.812, 115), Quoted(0.250, 113)),
    ),
    "SVT4, 10 queries": (
        1.749753783170557,
        (Quoted(1.592, 251), Quoted(1.0, 114), Quoted(0.75, 108, wrong=True)),
    ),
    "SVT5, 10 queries": (
        math.inf,
        (Quoted(3.683, 104), Quoted(4.0, 113), Quoted(3.47, 43)),
    ),
    "SVT6, 10 queries": (
        4.486180187422129,
        (Quoted(2.261, 130), Quoted(1.0, 107), Quoted(0.625, 104, wrong=True)),
    ),
    "leak 1e-3": (
        math.inf,
        (Quoted(1.027, 37), Quoted(0.969, 50, wrong=True), Quoted(0.938, 5, wrong=True)),
    ),
    "leak 1e-4": (
        math.inf,
        (
            Quoted(0.995, 33, wrong=True),
            Quoted(0.969, 58, wrong=True),
            Quoted(0.906, 5, wrong=True),
        ),
    ),
    "needle, one of 1024": (
        math.inf,
        (
            Quoted(0.996, 22, wrong=True),
            Quoted(0.969, 48, wrong=True),
            Quoted(0.906, 7, wrong=True),
        ),
    ),
}


# Rows for any real answers, and the pairs that the samplers tried.
ENCLOSED = {"noisy max (place)": "noisy max (place), 5 queries"} | {
    f"SVT{number}": f"SVT{number}, 10 queries" for number in (1, 4, 5, 6)
}
FASTER = "as fast as the closest sampler"


def entry(name: str, **parameters: Any) -> Any:
    """A mechanism of examples/catalogue through the tracing."""
    found = next(one for one in catalogue.entries() if one.name == name)
    return lt.mechanism(partial(found.build(), **parameters), name=name)


def whole(mechanism: Any, domain: Any) -> Callable[[], Any]:
    """Exact epsilon over all neighbours of a domain."""
    return lambda: lt.exact_epsilon(mechanism, domain)


def listed(mechanism: Any, pairs: Sequence[Any]) -> Callable[[], Any]:
    """Exact over listed pairs of answers, which are checked to be neighbours."""
    grid = lt.AnswerGrid([3] * len(pairs[0][0]), relation="all")
    return lambda: lt.exact_loss(mechanism, pairs, domain=grid)


def suite(quick: bool) -> list[tuple[str, str, Callable[[], Any], tuple[int, int]]]:
    """Name, where laws come from, the task, and the (laws, pairs) that it asks for."""
    ten, five = (3, 3) if quick else (10, 5)
    # Of the value only the pairs in which all move one way: its outputs are hundreds of numbers.
    long, short = patterns(ten), patterns(five)[:2]
    points = len({tuple(side) for pair in long for side in pair})
    moves = 7**five - 3**five
    hidden = tuple(int(i % 3 == 0) for i in range(10))
    value = entry("noisy max 3, geometric noise")
    ends = len({tuple(side) for pair in short for side in pair})
    rows: list[tuple[str, str, Callable[[], Any], tuple[int, int]]] = [
        (
            f"randomised response, d={d}",
            "formula",
            whole(lt.catalogue.randomised_response(d, 1.0), lt.Hypercube(d)),
            (2**d, d * 2 ** (d - 1)),
        )
        for d in (5, 10)
    ]
    rows += [
        (
            "truncated geometric count, d=20",
            "formula",
            whole(lt.catalogue.truncated_geometric_count(20, 1.0), lt.Hypercube(20)),
            (21, 20),
        ),
        (
            "noisy max (place), 5 queries",
            "code",
            whole(entry("noisy max 1"), lt.AnswerGrid([3] * five, relation="all")),
            (3**five, moves // 2),
        ),
        (
            "noisy max (value, whole numbers), 5 queries",
            "code",
            listed(value, short),
            (ends, len(short)),
        ),
    ]
    rows += [
        (
            f"SVT{number}, 10 queries",
            "code",
            listed(entry(f"svt{number}", threshold=1), long),
            (points, len(long)),
        )
        for number in (1, 4, 5, 6)
    ]
    rows += [
        (
            f"leak {text}",
            "formula",
            whole(lt.catalogue.leak(1, float(text)), lt.Hypercube(1)),
            (2, 1),
        )
        for text in ("1e-3", "1e-4")
    ]
    needle = lt.catalogue.needle(10, np.array(hidden), 1.0)
    rows.append(("needle, one of 1024", "formula", whole(needle, lt.Hypercube(10)), (1024, 5120)))
    return rows


def exact_row(
    name: str, source: str, task: Callable[[], Any], planned: tuple[int, int], quick: bool
) -> Row:
    forget()
    found: list[Any] = []
    seconds = cpu_seconds(lambda: found.append(task()))
    true, quoted = QUOTED[name]
    close = quick or math.isinf(true)
    exact = Figure(found[0].value) if close else _near(found[0].value, true)
    # Of listed pairs of these; an enclosure for any real answers is a row of its own.
    is_enclosed = name in ENCLOSED.values()
    figures = {"epsilon": exact, SECONDS: Figure(seconds)}
    figures[FASTER] = faster(name, seconds, at_least=None if is_enclosed else 1000)
    figures["true"] = Figure(true)
    for sampler, seen in zip(SAMPLERS, quoted, strict=True):
        figures[f"{sampler}{' (wrong)' if seen.wrong else ''}"] = Figure(seen.bound)
        figures[f"{sampler}, s"] = Figure(seen.seconds)
    counts = {"laws": found[0].laws, "pairs": found[0].pairs}
    return Row(
        f"{name}, from {source}", counts, dict(zip(counts, planned, strict=True)), _joined(figures)
    )


def _near(value: float, true: float) -> Figure:
    return Figure(value, at_least=true * (1 - 1e-9) - 1e-9)


def _joined(figures: dict[str, Figure]) -> dict[str, Figure]:
    """Wrong verdicts as a column of 0 and 1, so that each sampler keeps one column."""
    wrong = sum(name.endswith("(wrong)") for name in figures)
    plain = {name.removesuffix(" (wrong)"): figure for name, figure in figures.items()}
    return plain | {"samplers wrong at 1": Figure(wrong)}


def faster(quoted: str, seconds: float, at_least: float | None) -> Figure:
    """How many times as fast as the sampler whose bound is the closest one."""
    best = max(QUOTED[quoted][1], key=lambda one: one.bound)
    return Figure(best.seconds / seconds, at_least=at_least)


def enclosed(name: str, mechanism: Any, queries: int) -> Row:
    """Epsilon for real answers that all move by at most 1: what is found, and what is proved."""
    forget()
    found: list[Any] = []
    seconds = cpu_seconds(lambda: found.append(lt.exact_epsilon(mechanism, Answers(queries))))
    ends = found[0]
    figures = {
        "epsilon": Figure(ends.lower, at_least=ends.upper * (1 - 1e-9)),
        "proved": Figure(ends.upper),
        SECONDS: Figure(seconds),
        FASTER: faster(ENCLOSED[name], seconds, at_least=1000),
    }
    return Row(f"{name}, any real answers", {"pairs": ends.pairs}, {"pairs": 1}, figures)


def one_law(name: str, mechanism: Any, points: Any, most: float) -> Row:
    """Milliseconds of a law that nothing is known of yet, the median over datasets."""

    def timed(point: Any) -> float:
        forget()
        return cpu_seconds(lambda: lt.output_law(mechanism, point)) * 1e3

    timed(points[0])
    found = statistics.median(timed(point) for point in points[1:])
    counts = {"laws": len(points)}
    return Row(f"one law: {name}", counts, counts, {"ms": Figure(found, at_most=most)})


def all_pairs(name: str, queries: int, relation: str) -> Row:
    grid = lt.AnswerGrid([3] * queries, relation=relation)
    forget()
    found: list[Any] = []
    seconds = cpu_seconds(lambda: found.append(lt.exact_epsilon(entry(name), grid)))
    counts = {"laws": found[0].laws, "pairs": found[0].pairs}
    both = {"all": (7**queries - 3**queries) // 2, "one": queries * 2 * 3 ** (queries - 1)}
    planned = {"laws": 3**queries, "pairs": both[relation]}
    figures = {"epsilon": Figure(found[0].value), SECONDS: Figure(seconds, at_most=6)}
    return Row(f"all of {{0,1,2}}^{queries}, {relation}: {name}", counts, planned, figures)


def worst_pairs(queries: int) -> list[Any]:
    """The middle against k up and the rest down, and the other way round."""
    middle = [1] * queries
    others = [[2] * k + [0] * (queries - k) for k in range(queries + 1)]
    others += [[0] * k + [2] * (queries - k) for k in range(1, queries)]
    return [(middle, other) for other in others]


def along_worst_pairs(name: str, queries: int) -> Row:
    pairs = worst_pairs(queries)
    forget()
    found: list[Any] = []
    seconds = cpu_seconds(lambda: found.append(listed(entry(name, threshold=1), pairs)()))
    counts = {"laws": found[0].laws, "pairs": found[0].pairs}
    planned = {"laws": 2 * queries + 1, "pairs": 2 * queries}
    figures = {"epsilon": Figure(found[0].value), SECONDS: Figure(seconds, at_most=10)}
    return Row(f"{queries} queries, worst pairs: {name}", counts, planned, figures)


def measure(quick: bool) -> list[Row]:
    if not quick:
        list_rows(quick=True)
    return list_rows(quick)


def list_rows(quick: bool) -> list[Row]:
    queries, few = (3, 2) if quick else (10, 5)
    rng = np.random.default_rng(0)
    answers = rng.integers(0, 3, (1 + ROUNDS, queries))
    counts = rng.integers(0, 101, (1 + ROUNDS, queries))
    rows = [exact_row(*case, quick) for case in suite(quick)]
    few_queries, many = (3, 3) if quick else (5, 10)
    rows.append(enclosed("noisy max (place)", entry("noisy max 1"), few_queries))
    rows += [
        enclosed(f"SVT{number}", entry(f"svt{number}", threshold=1), many)
        for number in (1, 4, 5, 6)
    ]
    rows.append(one_law("SVT1", entry("svt1", threshold=1), answers, 15))
    rows.append(one_law("argmax of counts to 100", entry("noisy max 1"), counts, 20))
    names = ("svt1", "svt4", "svt6", "noisy max 1")
    rows += [all_pairs(name, few, relation) for name in names for relation in ("all", "one")]
    rows += [along_worst_pairs(name, queries) for name in names[:3]]
    return rows


if __name__ == "__main__":
    report("The published suite, exactly", measure)

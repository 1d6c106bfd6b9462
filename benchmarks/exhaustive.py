"""Proofs by visiting every neighbouring pair: CPU seconds and peak memory of fresh processes.

The baseline is what one would write without the package: all laws in one array, then, for each
direction, the differences of the two halves.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from figures import SECONDS, Figure, Row, fresh_process, medians, peak_megabytes, report

CUBE, RECORDS, REPETITIONS = 20, 1_000_000, 5
# The statistic's pairs come in chunks of so many; two chunks share a count, whose law is asked
# for twice.
CHUNK = 1 << 16

Result = dict[str, Any]


def imports_only(d: int) -> Result:
    """The import of all that a check needs."""
    import liptest as lt

    lt.check_privacy, lt.exact_epsilon, lt.ClosedForm, lt.Hypercube, lt.catalogue  # noqa: B018
    return timed(lambda: (0, 0))


def plain_numpy(d: int) -> Result:
    """The comparison of ``formula`` in a few lines of NumPy."""
    import numpy as np
    from workloads import NoisyWindow

    window = NoisyWindow(0)
    numbers, places = np.arange(2**d), np.arange(d)

    def loop() -> tuple[int, int]:
        logs = window.formula((numbers[:, None] >> places & 1).astype(np.int8))
        pairs, worst = 0, 0.0
        for r in range(d):
            halves = logs.reshape(-1, 2, 2**r, logs.shape[1])
            gaps = np.abs(halves[:, 0] - halves[:, 1])
            pairs, worst = pairs + gaps.size // gaps.shape[-1], max(worst, float(gaps.max()))
        assert math.isclose(worst, 1.0)
        return pairs, len(logs)

    return timed(loop)


def formula(d: int) -> Result:
    """A mechanism that sees all bits and computes its law by formula."""
    return _check(d, "formula")


def lookup(d: int) -> Result:
    """The same mechanism, which looks its law up in a table."""
    return _check(d, "lookup")


def _check(d: int, variant: str) -> Result:
    from workloads import EPSILON, NoisyWindow

    import liptest as lt

    window, check = NoisyWindow(0), lt.check_privacy
    mechanism = lt.ClosedForm(window.outputs, getattr(window, variant))
    distribution = lt.ProductDistribution.uniform(lt.Hypercube(d))

    def proof() -> tuple[int, int]:
        verdict = check(mechanism, distribution, epsilon=EPSILON, method="exhaustive")
        assert verdict.decision == "YES"
        return verdict.cost.pairs, verdict.cost.laws

    return timed(proof)


def count_window(d: int) -> Result:
    """A mechanism that sees the count of d records."""
    from workloads import NoisyWindow

    import liptest as lt

    window = NoisyWindow(d // 2)
    return _exact(lt.StatisticMechanism(lt.Count(), window.outputs, window.of_counts), d)


def count_catalogue(d: int) -> Result:
    """The catalogue's noisy count, cut to 0 .. 20: log probabilities down to -d."""
    import liptest as lt

    return _exact(lt.catalogue.truncated_geometric_count(d, 1.0, outputs=21), d)


def _exact(mechanism: Any, d: int) -> Result:
    import liptest as lt

    exact, domain = lt.exact_epsilon, lt.Hypercube(d)

    def proof() -> tuple[int, int]:
        found = exact(mechanism, domain)
        assert found.lower <= 1.0 <= found.upper
        return found.pairs, found.laws

    return timed(proof)


def timed(task: Callable[[], tuple[int, int]]) -> Result:
    """Counts, CPU seconds and memory of one call; the modules are loaded before."""
    before, started = peak_megabytes(), time.process_time()
    pairs, laws = task()
    seconds = time.process_time() - started
    peak = peak_megabytes()
    return {"pairs": pairs, "laws": laws, "seconds": seconds, "before": before, "peak": peak}


@dataclass(frozen=True)
class Case:
    """One measurement, its planned counts and the figures to reach."""

    words: str
    task: Callable[[int], Result]
    d: int
    pairs: int
    laws: int
    seconds: float | None = None
    megabytes: float | None = None


def cube_case(words: str, task: Callable[[int], Result], d: int, *limits: float) -> Case:
    return Case(f"{words}, d = {d}", task, d, d * 2 ** (d - 1), 2**d, *limits)


def count_case(words: str, task: Callable[[int], Result], d: int) -> Case:
    return Case(f"{words}, d = {d:,}", task, d, d, d + math.ceil(d / CHUNK), 1.0)


def run(case: Case) -> Result:
    """The case in a process of its own."""
    return fresh_process(__file__, "--one", case.task.__name__, str(case.d))


def measure(quick: bool) -> list[Row]:
    d, records = (8, 70_000) if quick else (CUBE, RECORDS)
    cases = [
        Case("imports only", imports_only, d, 0, 0),
        cube_case("plain NumPy", plain_numpy, d),
        cube_case("check_privacy exhaustive, formula", formula, d, 1.2, 100.0),
        cube_case("check_privacy exhaustive, lookup", lookup, d, 1.2, 100.0),
        count_case("exact_epsilon of a count, window", count_window, records),
        count_case("exact_epsilon of a count, catalogue", count_catalogue, records),
    ]
    found = medians(
        1 if quick else REPETITIONS,
        lambda: {(case.words, key): value for case in cases for key, value in run(case).items()},
    )
    return [row(case, found, cases[1].words) for case in cases]


def row(case: Case, found: dict[tuple[str, str], float], baseline: str) -> Row:
    seconds = found[case.words, "seconds"]
    figures = {
        SECONDS: Figure(seconds, at_most=case.seconds),
        "peak MB": Figure(found[case.words, "peak"], at_most=case.megabytes),
        "MB before": Figure(found[case.words, "before"]),
    }
    if case.megabytes is not None:
        figures["plain / ours"] = Figure(found[baseline, "seconds"] / seconds)
    return Row(
        case.words,
        counts={key: found[case.words, key] for key in ("pairs", "laws")},
        planned={"pairs": case.pairs, "laws": case.laws},
        figures=figures,
    )


if __name__ == "__main__":
    if "--one" in sys.argv:
        name, size = sys.argv[2:4]
        print(json.dumps(globals()[name](int(size))))
    else:
        report("Exhaustive: 21 outputs, every neighbouring pair", measure)

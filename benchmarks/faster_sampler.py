"""Would a faster sampler of bits make whole verdicts twice as fast? The most it could gain.

Each check is run whole, and its draws are made again alone: the same rounds, the same seeds. If
drawing took no time at all, the whole would be as many times as fast as ``gain at most`` says. A
compiled sampler can be worth its dependency only where that is above 2. What it would do faster,
comparing random bytes with thresholds, is measured too where numba is installed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from figures import SECONDS, Figure, Row, cpu_seconds, medians, report
from numpy.typing import NDArray
from workloads import EPSILON, NoisyWindow

import liptest as lt
from liptest.lipschitz.oracles import packed
from liptest.runs.driver import Sampling

REPETITIONS, BITS, WORTH = 3, 20_000_000, 2.0


@dataclass(frozen=True)
class Whole:
    """A check, and what its draws take of it."""

    words: str
    check: Callable[[], Any]

    def one_round(self) -> dict[str, float]:
        drawing: list[float] = []
        before = Sampling._drawn

        def noted(self: Sampling, turn: int) -> Any:
            started = time.process_time()
            batch = before(self, turn)
            drawing.append(time.process_time() - started)
            return batch

        Sampling._drawn = noted  # type: ignore[method-assign]
        try:
            whole = cpu_seconds(self.check)
        finally:
            Sampling._drawn = before  # type: ignore[method-assign]
        return {"whole": whole, "drawing": sum(drawing)}


def privacy(d: int, method: str, mass: float, log_pmf: Any = None) -> Whole:
    window = NoisyWindow(d // 2 - 10)
    mechanism = lt.ClosedForm(window.outputs, log_pmf or window.formula)
    law = lt.ProductDistribution.uniform(lt.Hypercube(d))

    def check() -> Any:
        options: dict[str, Any] = {"exception_mass": mass, "seed": 1, "search_laws": 0}
        return lt.check_privacy(mechanism, law, epsilon=EPSILON, method=method, **options)

    return Whole(f"check_privacy {method}, formula, d = {d}", check)


def lipschitz(d: int, proximity: float, function: Any, words: str) -> Whole:
    law = lt.ProductDistribution.uniform(lt.Hypercube(d))

    def check() -> Any:
        options: dict[str, Any] = {"proximity": proximity, "failure_probability": 1e-6, "seed": 1}
        return lt.check_lipschitz(function, law, **options)

    return Whole(f"check_lipschitz, {words}, d = {d}", check)


def total(points: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(points.sum(axis=1))


def in_bits(words: NDArray[np.uint64]) -> NDArray[Any]:
    return np.asarray(np.bitwise_count(words).sum(axis=1))


def cases(quick: bool) -> list[Whole]:
    few = (20, 0.5) if quick else (1000, 1e-2)
    many = (20, 0.5) if quick else (200, 1e-2)
    return [
        privacy(few[0], "neighbourhoods", few[1]),
        privacy(many[0], "edges", many[1]),
        privacy(20, "group", 0.5 if quick else 0.1),
        lipschitz(few[0], 0.5 if quick else 0.1, total, "a sum"),
        lipschitz(few[0], 0.5 if quick else 0.1, packed(in_bits), "a sum of packed bits"),
    ]


def row(case: Whole, repetitions: int) -> Row:
    verdict, cost = case.check(), medians(repetitions, case.one_round)
    return Row(
        case.words,
        counts={"draws": verdict.cost.draws},
        planned={"draws": verdict.plan.draws},
        figures={
            SECONDS: Figure(cost["whole"]),
            "drawing": Figure(cost["drawing"]),
            "gain at most": Figure(
                cost["whole"] / (cost["whole"] - cost["drawing"]), at_most=WORTH
            ),
        },
    )


def compiled_row(quick: bool) -> Row:
    """The comparison of random bytes with thresholds as one compiled loop."""
    case = "first bytes against thresholds, compiled by numba"
    if find_spec("numba") is None:
        return Row(f"{case}: numba is not installed", {}, {}, {})
    import numba

    d = 1000
    data = np.random.default_rng(1).integers(0, 256, BITS // (100 if quick else 1), dtype=np.uint8)
    tile = np.random.default_rng(2).integers(0, 256, d, dtype=np.uint8)
    rows = data.reshape(-1, d)
    fill = numba.njit(_compare)
    fill(rows[:2], tile)
    assert np.array_equal(fill(rows, tile), rows < tile)
    cost = medians(
        1 if quick else 5,
        lambda: {
            "numba": cpu_seconds(lambda: fill(rows, tile)),
            "numpy": cpu_seconds(lambda: rows < tile),
        },
    )
    return Row(
        case,
        counts={"bits": data.size},
        planned={"bits": data.size},
        figures={
            SECONDS: Figure(cost["numba"]),
            "NumPy / numba": Figure(cost["numpy"] / cost["numba"]),
        },
    )


def _compare(rows: Any, tile: Any) -> Any:
    out = np.empty(rows.shape, np.bool_)
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            out[i, j] = rows[i, j] < tile[j]
    return out


def measure(quick: bool) -> list[Row]:
    repetitions = 1 if quick else REPETITIONS
    return [*(row(case, repetitions) for case in cases(quick)), compiled_row(quick)]


if __name__ == "__main__":
    report(
        f"A faster sampler: worth a dependency where whole verdicts gain {WORTH:g} times", measure
    )

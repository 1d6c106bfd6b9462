"""PyDP (Google's C++), PipelineDP, Tumult Core, DataSynthesizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.world.rows import Environment, Report, Row, Samples

ENVIRONMENTS = (
    Environment("python-dp", "1.1.4", ("numpy==1.26.4",)),
    Environment("python-dp", "1.1.5", ("numpy==1.26.4",)),
    Environment("pipeline-dp", "0.3.1", ("numpy==1.26.4",)),
    Environment("tmlt.core", "0.20.0", ("numpy==1.26.4",)),
    Environment("DataSynthesizer", "0.1.4", ("pandas==1.5.3", "numpy==1.26.4")),
    Environment("DataSynthesizer", "0.1.13", ("pandas==2.1.4", "numpy==1.26.4")),
)
_NUMBERS = [((0,), (1,))]


def each(function: Callable[[int], Any]) -> Callable[..., list[Any]]:
    def draw(dataset: Any, count: int, rng: Any) -> list[Any]:
        return [function(int(dataset[0])) for _ in range(count)]

    return draw


def _google(version: str) -> Samples:
    from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

    made = LaplaceMechanism(epsilon=1.0, sensitivity=1.0)
    draw = each(lambda value: float(made.add_noise(float(value))))
    return Samples(draw, _NUMBERS, samples=100_000, floats="implemented")


def _google_count(version: str) -> Samples:
    from pydp.algorithms.laplacian import Count

    def count(value: int) -> float:
        return float(Count(epsilon=1.0, dtype="int").quick_result([1] * (5 + value)))

    return Samples(each(count), _NUMBERS, samples=50_000)


def _pipeline(version: str) -> Samples:
    from pipeline_dp import dp_computations

    def noisy(value: int) -> float:
        return float(dp_computations.apply_laplace_mechanism(float(value), 1.0, 1.0))

    return Samples(each(noisy), _NUMBERS, samples=100_000, floats="implemented")


def _tumult(version: str) -> Samples:
    from tmlt.core.measurements.noise_mechanisms import AddGeometricNoise

    made = AddGeometricNoise(1)
    return Samples(each(lambda value: int(made(np.int64(value)))), _NUMBERS, samples=50_000)


def _tumult_laplace(version: str) -> Samples:
    from tmlt.core.domains.numpy_domains import NumpyFloatDomain
    from tmlt.core.measurements.noise_mechanisms import AddLaplaceNoise

    made = AddLaplaceNoise(input_domain=NumpyFloatDomain(), scale=1)
    draw = each(lambda value: float(made(np.float64(value))))
    return Samples(draw, _NUMBERS, samples=20_000, floats="implemented")


def _bayes(version: str) -> Samples:
    """Noisy conditional distributions of 19 or 20 rows of two attributes, in a given network."""
    import pandas as pd
    from DataSynthesizer.lib.PrivBayes import construct_noisy_conditional_distributions

    def release(value: int) -> tuple[float, ...]:
        rows = [(0, 0)] * 9 + [(0, 1)] * 5 + [(1, 1)] * 5 + [(0, 0)] * value
        frame = pd.DataFrame(rows, columns=["a", "b"])
        found = construct_noisy_conditional_distributions([("b", ["a"])], frame, epsilon=1.0)
        return tuple(float(p) for key in sorted(found["b"]) for p in found["b"][key])

    return Samples(each(release), _NUMBERS, samples=6_000)


def _row(
    library: str, versions: Any, name: str, words: str, relation: str, make: Any, **more: Any
) -> Row:
    return Row(
        f"{library}-{name}",
        library,
        words,
        relation,
        {"epsilon": 1.0},
        tuple(versions),
        make,
        **more,
    )


_APART = "numbers 1 apart"
ROWS = (
    _row(
        "python-dp",
        ("1.1.4", "1.1.5"),
        "laplace",
        "LaplaceMechanism: the lowest bits of its floats",
        _APART,
        _google,
    ),
    _row("python-dp", ("1.1.5",), "count", "laplacian.Count", "one record more", _google_count),
    _row(
        "pipeline-dp",
        ("0.3.1",),
        "laplace",
        "apply_laplace_mechanism: the lowest bits of its floats",
        _APART,
        _pipeline,
    ),
    _row("tmlt.core", ("0.20.0",), "geometric", "AddGeometricNoise, alpha 1", _APART, _tumult),
    _row(
        "tmlt.core",
        ("0.20.0",),
        "laplace",
        "AddLaplaceNoise: the lowest bits of its floats",
        _APART,
        _tumult_laplace,
    ),
    _row(
        "DataSynthesizer",
        ("0.1.4", "0.1.13"),
        "privbayes",
        "conditional distributions of PrivBayes, 2 attributes, 19 rows",
        "one row more",
        _bayes,
        report=Report(
            "DataSynthesizer issue 34",
            "https://github.com/DataResponsibly/DataSynthesizer/issues/34",
        ),
        broken=("0.1.4",),
    ),
)

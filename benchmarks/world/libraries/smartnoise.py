"""SmartNoise: a quantile of its SQL part, a covariance of its synthesizers."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import liptest as lt
from benchmarks.world.rows import Environment, Laws, Report, Row, Samples

_SQL = ("pandas==2.1.4", "numpy==1.26.4")
ENVIRONMENTS = (
    *(Environment("smartnoise-sql", version, _SQL) for version in ("1.0.1", "1.0.2", "1.0.10")),
    *(
        Environment("smartnoise-synth", version, ("scikit-learn==1.6.1",))
        for version in ("1.0.4", "1.0.8")
    ),
)
_ISSUES = "https://github.com/opendp/smartnoise-sdk/issues/"


def _quantile(version: str) -> Laws:
    """Whether a number is given, by how many of 1,493 bits are set."""
    from snsql.sql._mechanisms.approx_bounds import quantile

    def answers(data: Any) -> bool:
        ones = int(data[0])
        return bool(quantile([1] * ones + [0] * (1493 - ones), 0.5, 1, 0, 1) >= 0)

    return Laws(lt.mechanism(answers), lt.Hypergrid([4]))


def _count(version: str) -> Samples:
    from snsql.sql._mechanisms.laplace import Laplace

    made = Laplace(1.0, sensitivity=1)

    def draw(dataset: Any, count: int, rng: Any) -> list[Any]:
        return list(made.release([int(dataset[0])] * count))

    return Samples(draw, [((0,), (1,))], samples=100_000)


def _covariance(version: str) -> Samples:
    """Two columns of three rows, of which one number is far outside the stated range of 0 to 1.

    The file is loaded by itself: the package around it needs a scikit-learn that is too old.
    """
    release = _released_covariance()

    def draw(dataset: Any, count: int, rng: Any) -> list[Any]:
        return [release([float(k) for k in dataset]) for _ in range(count)]

    return Samples(draw, [((0, 0, 0), (0, 0, 100))], samples=4_000)


def _nan_covariance(version: str) -> Samples:
    """The same where a 2 stands for NaN: whether a number of the answer is one."""
    release = _released_covariance()

    def kind(data: Any) -> str:
        numbers = release([math.nan if k == 2 else float(k) for k in data])
        return "nan" if any(map(math.isnan, numbers)) else "numbers"

    def draw(dataset: Any, count: int, rng: Any) -> list[Any]:
        return [kind(dataset) for _ in range(count)]

    return Samples(draw, [((0, 1, 0), (0, 1, 2))], samples=2_000)


def _released_covariance() -> Callable[[list[float]], tuple[float, ...]]:
    """Numbers of the first column in [0, 1] -> the noisy covariance matrix."""
    import pandas as pd

    made = _file_of("snsynth.models.dp_covariance").DPcovariance
    limits = pd.DataFrame([[0.0, 0.0], [1.0, 1.0]])

    def release(numbers: list[float]) -> tuple[float, ...]:
        rows = pd.DataFrame([[number, 0.0] for number in numbers])
        return tuple(float(number) for number in made(3, [0, 1], limits, 1.0).release(rows))

    return release


def _file_of(name: str) -> Any:
    """A module of an installed package, without the packages around it."""
    package, *folders, last = name.split(".")
    found = find_spec(package)
    assert found is not None
    assert found.submodule_search_locations
    file = Path(found.submodule_search_locations[0], *folders, f"{last}.py")
    spec = spec_from_file_location(last, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ROWS = (
    Row(
        "smartnoise-sql-quantile",
        "smartnoise-sql",
        "quantile of 1,493 bits, at most 3 of them set",
        "one bit more",
        {"epsilon": 1.0},
        ("1.0.1", "1.0.2"),
        _quantile,
        Report("smartnoise-sdk issue 572, removed in 1.0.2", _ISSUES + "572"),
        ("1.0.1",),
    ),
    Row(
        "smartnoise-sql-laplace",
        "smartnoise-sql",
        "Laplace on whole numbers, sensitivity 1",
        "numbers 1 apart",
        {"epsilon": 1.0},
        ("1.0.10",),
        _count,
    ),
    Row(
        "smartnoise-synth-covariance",
        "smartnoise-synth",
        "DPcovariance, two columns, three rows",
        "one row changes, also to a number out of range",
        {"epsilon": 1.0},
        ("1.0.4", "1.0.8"),
        _covariance,
        Report("smartnoise-sdk issue 622", _ISSUES + "622"),
        ("1.0.4",),
    ),
    Row(
        "smartnoise-synth-nan",
        "smartnoise-synth",
        "DPcovariance of numbers, one of them perhaps NaN",
        "one row changes",
        {"epsilon": 1.0},
        ("1.0.4", "1.0.8"),
        _nan_covariance,
        Report(
            "arXiv 2602.17454, artifact: NaN survives clipping",
            "https://github.com/ObliviousAI/dp-recorder",
        ),
        ("1.0.4",),
    ),
)

"""diffprivlib: mechanisms of plain Python; sums of four uniform numbers are sampled."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import liptest as lt
from benchmarks.world.rows import Environment, Laws, Report, Row, Samples

VERSIONS = ("0.4.1", "0.6.0", "0.6.2", "0.6.4", "0.6.6")
_PINS = {
    "0.6.6": ("scikit-learn==1.6.1", "numpy==2.2.6"),
    **dict.fromkeys(VERSIONS[:-1], ("scikit-learn==1.2.2", "numpy==1.26.4")),
}
ENVIRONMENTS = tuple(Environment("diffprivlib", version, _PINS[version]) for version in VERSIONS)
RUN = VERSIONS[1:]
_ISSUES = "https://github.com/IBM/differential-privacy-library/issues/"


def each(function: Callable[[Any], Any]) -> Callable[..., list[Any]]:
    """A sampler that calls the function once an output; its random numbers are the library's."""

    def draw(dataset: Any, count: int, rng: Any) -> list[Any]:
        return [function(dataset) for _ in range(count)]

    return draw


def _adapted(make: Callable[[Any], Any], **options: Any) -> Callable[[str], Laws]:
    def made(version: str) -> Laws:
        from diffprivlib import mechanisms

        adapted = lt.adapters.diffprivlib(make(mechanisms), **options)
        return Laws(adapted, adapted.domain)

    return made


def _exponential(version: str) -> Laws:
    from diffprivlib import mechanisms

    adapted = lt.adapters.diffprivlib(
        mechanisms.Exponential(epsilon=1.0, sensitivity=1.0, utility=[0.0, 1.0, 2.0]),
        domain=lt.AnswerGrid([3, 3, 3], relation="all"),
        utility=lambda data: [float(score) for score in data],
    )
    return Laws(adapted, adapted.domain)


def _histogram(version: str) -> Laws:
    from diffprivlib.tools import histogram

    def counts(data: Any) -> Any:
        return histogram([int(k) for k in data], epsilon=1.0, bins=2, range=(0, 1))[0]

    return Laws(lt.mechanism(counts), lt.Hypercube(1), {"method": "exhaustive"})


def _quantile(version: str) -> Samples:
    from diffprivlib.tools import quantile

    def answers(data: Any) -> str:
        ones = int(data[0])
        records = np.array([0.0] * (2990 - ones) + [1.0] * ones)
        try:
            quantile(records, 0.5, epsilon=1.0, bounds=(0, 1))
        except RuntimeError:
            return "RuntimeError"
        return "a number"

    return Samples(each(answers), [((ones,), (ones + 1,)) for ones in range(11)], samples=10_000)


def _laplace(version: str) -> Samples:
    from diffprivlib.mechanisms import Laplace

    made = Laplace(epsilon=1.0, sensitivity=1.0)
    draw = each(lambda data: made.randomise(float(data[0])))
    return Samples(draw, [((0,), (1,))], floats="implemented")


def _sum(version: str) -> Samples:
    from diffprivlib.tools import sum as noisy_sum

    low = 2.0**53

    def total(data: Any) -> float:
        records = np.array([low + 2 * int(bit) for bit in data])
        return float(noisy_sum(records, epsilon=1.0, bounds=(low, low + 2)) - 2 * low)

    return Samples(each(total), [((0, 1), (1, 1))])


def _classes(version: str) -> Samples:
    """How many classes a fitted model has, where two are meant and one record has a third."""
    from diffprivlib.models import GaussianNB

    inputs = np.array([[0.1], [0.4], [0.9], [0.3]])

    def number(data: Any) -> int:
        model = GaussianNB(epsilon=1.0, bounds=(0.0, 1.0))
        model.fit(inputs, np.array([int(k) for k in data]))
        return len(model.classes_)

    return Samples(each(number), [((0, 1, 0, 1), (0, 1, 0, 2))], samples=2_000)


def _nan_sum(version: str) -> Samples:
    from diffprivlib.tools import sum as noisy_sum

    def total(data: Any) -> str:
        records = np.array([np.nan if k == 2 else float(k) for k in data])
        found = float(noisy_sum(records, epsilon=1.0, bounds=(0.0, 1.0)))
        return "nan" if np.isnan(found) else "a number"

    return Samples(each(total), [((0, 1), (0, 2))], samples=2_000)


def _regression(version: str) -> Samples:
    from diffprivlib.models import LinearRegression

    options = {"epsilon": 1.0, "bounds_X": (0.0, 1.0), "bounds_y": (0.0, 1.0)}

    def slope(data: Any) -> float:
        inputs, answers = np.array([[float(k)] for k in data]), np.zeros(len(data))
        model = LinearRegression(fit_intercept=False, **options)
        return float(np.ravel(model.fit(inputs, answers).coef_)[0])

    return Samples(each(slope), [((1, 0), (1, 1))], samples=20_000)


def _row(
    name: str, words: str, relation: str, make: Any, versions: Iterable[str], **more: Any
) -> Row:
    options = {"claim": {"epsilon": 1.0}, **more}
    return Row(
        f"diffprivlib-{name}",
        "diffprivlib",
        words,
        relation,
        versions=tuple(versions),
        make=make,
        **options,
    )


_NEWEST = ("0.6.6",)
ROWS = (
    _row(
        "binary",
        "Binary",
        "the other value",
        _adapted(lambda m: m.Binary(epsilon=1.0, value0="0", value1="1")),
        _NEWEST,
    ),
    _row(
        "geometric",
        "GeometricTruncated, 0 to 5",
        "numbers 1 apart",
        _adapted(lambda m: m.GeometricTruncated(epsilon=1.0, lower=0, upper=5)),
        _NEWEST,
    ),
    _row(
        "folded",
        "GeometricFolded, 0 to 5",
        "numbers 1 apart",
        _adapted(lambda m: m.GeometricFolded(epsilon=1.0, lower=0, upper=5)),
        _NEWEST,
        claim={"epsilon": 1.0, "delta": 1e-12},
    ),
    _row(
        "categorical",
        "ExponentialCategorical, 3 values",
        "any two values",
        _adapted(
            lambda m: m.ExponentialCategorical(
                epsilon=1.0, utility_list=[("a", "b", 1.0), ("a", "c", 2.0), ("b", "c", 1.0)]
            )
        ),
        _NEWEST,
    ),
    _row(
        "exponential",
        "Exponential, 3 scores of 0 to 2",
        "each score moves by 1",
        _exponential,
        _NEWEST,
    ),
    _row(
        "histogram",
        "tools.histogram, 2 bins, 1 record",
        "the record changes, as tools.mean has it",
        _histogram,
        RUN,
        claim={"epsilon": 1.0, "delta": 1e-12},
        report=Report(
            "T. Desfontaines, Don't use diffprivlib", "https://desfontain.es/blog/diffprivlib.html"
        ),
        broken=RUN,
    ),
    _row(
        "quantile",
        "tools.quantile of 2,990 bits, at most 11 of them set",
        "one bit more",
        _quantile,
        RUN,
        report=Report("diffprivlib issue 107, reported as a crash", _ISSUES + "107"),
        broken=RUN,
    ),
    _row(
        "laplace",
        "Laplace: the lowest bits of its floats",
        "numbers 1 apart",
        _laplace,
        VERSIONS,
        report=Report(
            "Haney et al., arXiv 2207.13793, names diffprivlib; diffprivlib issues 19 and 94",
            _ISSUES + "94",
        ),
        broken=VERSIONS,
    ),
    _row(
        "sum",
        "tools.sum of two floats in [2^53, 2^53 + 2]",
        "one record changes",
        _sum,
        RUN,
        report=Report("Casacuberta et al., arXiv 2207.10635", "https://arxiv.org/abs/2207.10635"),
        broken=RUN,
    ),
    _row(
        "regression",
        "LinearRegression, one feature in [0, 1]",
        "one record changes",
        _regression,
        _NEWEST,
        report=Report("diffprivlib issue 105", _ISSUES + "105"),
        broken=_NEWEST,
    ),
    _row(
        "classes",
        "GaussianNB: the number of its classes",
        "one label changes",
        _classes,
        _NEWEST,
        report=Report(
            "arXiv 2602.17454, artifact: classes inferred from the data",
            "https://github.com/ObliviousAI/dp-recorder",
        ),
        broken=_NEWEST,
    ),
    _row(
        "nan",
        "tools.sum of two numbers in [0, 1], one of them perhaps NaN",
        "one record changes",
        _nan_sum,
        _NEWEST,
        report=Report(
            "arXiv 2602.17454, artifact: NaN survives clipping (of the library, no function named)",
            "https://github.com/ObliviousAI/dp-recorder",
        ),
        broken=_NEWEST,
    ),
)

"""How long ``liptest check`` would take, told before it is started."""

from __future__ import annotations

import time

import numpy as np

from liptest.data.distributions import ProductDistribution
from liptest.errors import LiptestError
from liptest.mechanisms.base import Mechanism, through_reads
from liptest.privacy.choice import choose_method
from liptest.privacy.exhaustive import exhaustive_size
from liptest.privacy.methods import light, neighbourhoods
from liptest.privacy.request import Task
from liptest.privacy.settings import CheckSettings

# What is faster needs no warning.
_PATIENCE = 60.0


_ADVICE = (
    "If the function needs only the number of ones, let it say so: "
    "@lt.mechanism(statistic=lt.Count()) above def {name}(count, rng); each count is then asked "
    "for once. A law given as a formula (lt.ClosedForm, lt.StatisticMechanism) is faster still."
)


def warning(mechanism: Mechanism, law: ProductDistribution) -> str:
    """Advice where method "auto" takes more than a minute on one worker, or what went wrong.

    Only for laws that are enumerated from code that sees the whole dataset: those of formulas
    and statistics are either quick or shared by most datasets. Runs the mechanism once.
    """
    try:
        return through_reads(mechanism, law.domain, lambda seen: _warning(seen, law))
    except LiptestError as error:
        return f"The first dataset that was tried: {' '.join(str(error).split())}"


def _warning(mechanism: Mechanism, law: ProductDistribution) -> str:
    if not mechanism.source.startswith("enumerated") or mechanism.statistic is not None:
        return ""
    seconds = _seconds_of_one(mechanism, law)
    method, laws = _planned(mechanism, law)
    if seconds * laws <= _PATIENCE:
        return ""
    return (
        f"Slow: method {method} asks for about {laws:,.0f} output laws, and one took "
        f"{seconds:.2g} s here, so a YES takes about {_in_words(seconds * laws)}. "
        f"{_ADVICE.format(name=mechanism.name)}"
    )


def _seconds_of_one(mechanism: Mechanism, law: ProductDistribution) -> float:
    [dataset] = law.sample(np.random.default_rng(0), 1)
    start = time.perf_counter()
    mechanism.law(dataset)
    return time.perf_counter() - start


def _planned(mechanism: Mechanism, law: ProductDistribution) -> tuple[str, float]:
    # The claim plays no part in the choice of a method.
    settings = CheckSettings(epsilon=1.0)
    method = choose_method(Task(mechanism, law, settings, seed=0))
    if method == "exhaustive":
        return method, float(exhaustive_size(mechanism, law.domain).laws)
    build = {"neighbourhoods": neighbourhoods, "light-neighbourhoods": light}[method]
    return method, build(law, settings.exception_mass, settings.failure_probability).plan.laws


def _in_words(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("hours", 3600.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds / 60:.0f} minutes"

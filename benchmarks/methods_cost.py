"""Output distributions that each method computes, beside the paper's algorithm (theory 5).

Methods that fit are run, on a mechanism that sees only the count, and their laws are counted;
of the others, and of the paper's, the plan is shown. ``light-neighbourhoods`` asks for a random
number of laws: it must equal what a plain recount of the same draws gives, and its mean the
plan's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from figures import SECONDS, Figure, Row, cpu_seconds, report

import liptest as lt
from liptest.cli.demo import public_distribution
from liptest.privacy.methods import SamplingMethod, edges, group, light, neighbourhoods, paper_laws
from liptest.privacy.proofs.exhaustive import exhaustive_size
from liptest.runs.driver import Judgement, QueryBatch, Sampling, run

FAILURE = 1e-6
# A method is run when it samples at most so many coordinates and asks for so many laws.
MOST_COORDINATES, MOST_LAWS = 5 * 10**8, 2 * 10**8


@dataclass(frozen=True)
class Setting:
    """A distribution of the data, an exception mass, and the noisy count that is tested."""

    words: str
    distribution: lt.ProductDistribution
    exception_mass: float

    @property
    def d(self) -> int:
        return int(self.distribution.domain.dimension)

    @property
    def mechanism(self) -> lt.StatisticMechanism:
        return lt.catalogue.truncated_geometric_count(self.d, 1.0)

    @property
    def paper(self) -> float:
        return paper_laws(self.distribution, self.d + 1, self.exception_mass, FAILURE)

    def methods(self) -> list[SamplingMethod]:
        numbers = self.distribution, self.exception_mass, FAILURE
        return [
            group(self.mechanism, *numbers),
            edges(*numbers),
            light(*numbers),
            neighbourhoods(*numbers),
        ]

    def check(self, method: str) -> lt.PrivacyVerdict:
        return lt.check_privacy(
            self.mechanism,
            self.distribution,
            epsilon=1.0,
            exception_mass=self.exception_mass,
            failure_probability=FAILURE,
            method=method,
            search_laws=0,
            seed=1,
        )


@dataclass(frozen=True)
class Recount:
    """A judge that counts the laws of light neighbourhoods from the drawn datasets alone."""

    probabilities: Any

    def judge(self, batch: QueryBatch) -> Judgement:
        datasets = batch.points.centres
        rare = np.where(self.probabilities <= 0.5, 1, 0)
        return Judgement(queries=len(datasets) + int((datasets == rare).sum()))


def recounted(setting: Setting, method: SamplingMethod) -> int:
    sampling = Sampling(
        draw=method.draw,
        judge=Recount(setting.distribution.probabilities),
        draws=method.plan.draws,
        points_per_draw=method.plan.laws_per_draw,
        dimension=setting.d,
        seed=1,
    )
    return run(sampling).total.queries


def method_row(setting: Setting, method: SamplingMethod, quick: bool) -> Row:
    plan = method.plan
    figures = {
        "planned laws": Figure(plan.laws),
        "paper laws": Figure(setting.paper),
        "paper / plan": Figure(setting.paper / plan.laws),
    }
    scale = 1000 if quick else 1
    fits = plan.draws * setting.d * scale <= MOST_COORDINATES and plan.laws * scale <= MOST_LAWS
    if not fits:
        return Row(f"{setting.words}: {plan.method}", {}, {}, figures)
    verdict, figures[SECONDS] = timed_check(setting, plan.method)
    planned = round(plan.laws)
    if plan.method.startswith("light"):
        planned = recounted(setting, method)
        figures["sd off the mean"] = Figure(abs(planned - plan.laws) / spread(setting, plan.draws))
    return Row(
        f"{setting.words}: {plan.method}",
        {"draws": verdict.cost.draws, "laws": verdict.cost.laws},
        {"draws": plan.draws, "laws": planned},
        figures,
    )


def exhaustive_row(setting: Setting) -> Row:
    size = exhaustive_size(setting.mechanism, setting.distribution.domain)
    verdict, seconds = timed_check(setting, "exhaustive")
    return Row(
        f"{setting.words}: exhaustive (a proof)",
        {"draws": verdict.cost.draws, "laws": verdict.cost.laws},
        {"draws": 0, "laws": size.laws},
        {
            "planned laws": Figure(size.laws),
            "paper laws": Figure(setting.paper),
            "paper / plan": Figure(setting.paper / size.laws),
            SECONDS: seconds,
        },
    )


def timed_check(setting: Setting, method: str) -> tuple[lt.PrivacyVerdict, Figure]:
    verdicts: list[lt.PrivacyVerdict] = []
    seconds = cpu_seconds(lambda: verdicts.append(setting.check(method)))
    return verdicts[0], Figure(seconds)


def spread(setting: Setting, draws: int) -> float:
    """Standard deviation of the laws of light neighbourhoods: a rare value at r is a coin."""
    p = setting.distribution.probabilities
    return math.sqrt(draws * float((p * (1 - p)).sum()))


def settings(quick: bool) -> list[Setting]:
    uniform = [
        Setting(f"uniform, d = {d}", lt.ProductDistribution.uniform(lt.Hypercube(d)), mass)
        for d, mass in ((20, 1e-2), (100, 1e-3), (1000, 1e-4))
    ]
    clicks = Setting("clicks, d = 5000", public_distribution(), 1e-3)
    return uniform if quick else [*uniform, clicks]


def measure(quick: bool) -> list[Row]:
    rows = []
    for setting in settings(quick):
        rows += [method_row(setting, method, quick) for method in setting.methods()]
        rows.append(exhaustive_row(setting))
    return rows


if __name__ == "__main__":
    title = f"Output distributions per method, noisy count with d + 1 outputs, failure {FAILURE:g}"
    report(title, measure)

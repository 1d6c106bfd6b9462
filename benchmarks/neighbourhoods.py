"""What a check with ``method="neighbourhoods"`` costs beside the mechanism itself.

Numerator: the whole ``check_privacy``: sampling, neighbours, laws, normalisation, comparison.
Denominator: the mechanism's ``log_pmf`` alone, on the very same arrays, slice by slice, each
prepared outside the timer. Both run in turns; the CPU seconds are medians.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from figures import SECONDS, Figure, Row, cpu_seconds, medians, report
from workloads import EPSILON, NoisyWindow

import liptest as lt
from liptest.privacy.methods import full_neighbourhoods, neighbourhoods
from liptest.privacy.verdicts import PrivacyPlan
from liptest.runs.driver import Judgement, QueryBatch, Sampling, run

RECORDS, EXCEPTION_MASS, FAILURE, REPETITIONS, TARGET = 1000, 1e-3, 1e-6, 3, 2.0


@dataclass
class Alone:
    """Stands in for the judge: asks ``log_pmf`` for the laws of each slice, and does no more."""

    mechanism: lt.ClosedForm
    domain: lt.Hypercube
    laws: int = 0
    arrays: float = 0.0
    seconds: float = 0.0

    def judge(self, batch: QueryBatch) -> Judgement:
        for _, _, part in batch.points.parts(self.mechanism.points_per_slice(self.domain)):
            begun = time.process_time()
            datasets = part.array()
            started = time.process_time()
            self.mechanism.log_pmf(datasets)
            self.seconds += time.process_time() - started
            self.arrays += started - begun
            self.laws += len(datasets)
        return Judgement()


@dataclass(frozen=True)
class Task:
    """One mechanism under one plan."""

    mechanism: Any
    distribution: lt.ProductDistribution
    exception_mass: float

    @property
    def plan(self) -> PrivacyPlan:
        return neighbourhoods(self.distribution, self.exception_mass, FAILURE).plan

    def check(self) -> lt.PrivacyVerdict:
        return lt.check_privacy(
            self.mechanism,
            self.distribution,
            epsilon=EPSILON,
            exception_mass=self.exception_mass,
            failure_probability=FAILURE,
            method="neighbourhoods",
            search_laws=0,
            seed=1,
        )

    def alone(self) -> Alone:
        """The draws of the check, with ``Alone`` in the place of the judge."""
        domain = self.distribution.domain
        judge = Alone(self.mechanism, domain)
        sampling = Sampling(
            draw=partial(full_neighbourhoods, self.distribution),
            judge=judge,
            draws=self.plan.draws,
            points_per_draw=self.plan.laws_per_draw,
            dimension=domain.dimension,
            seed=1,
        )
        run(sampling)
        return judge

    def one_round(self) -> dict[str, float]:
        whole = cpu_seconds(self.check)
        judge = self.alone()
        return {"whole": whole, "alone": judge.seconds, "arrays": judge.arrays}


def row(case: str, task: Task, repetitions: int) -> Row:
    verdict, laws = task.check(), round(task.plan.laws)
    cost = medians(repetitions, task.one_round)
    return Row(
        case,
        counts={
            "draws": verdict.cost.draws,
            "laws": verdict.cost.laws,
            "laws alone": task.alone().laws,
        },
        planned={"draws": task.plan.draws, "laws": laws, "laws alone": laws},
        figures={
            SECONDS: Figure(cost["whole"]),
            "mechanism alone": Figure(cost["alone"]),
            "building arrays": Figure(cost["arrays"]),
            "whole / alone": Figure(cost["whole"] / cost["alone"], at_most=TARGET),
        },
    )


def statistic_row(task: Task, repetitions: int) -> Row:
    """For comparison: the same mechanism, declared on the count, never builds a neighbour."""
    verdict = task.check()
    cost = medians(repetitions, lambda: {"whole": cpu_seconds(task.check)})
    return Row(
        "declared on the count",
        counts={"draws": verdict.cost.draws, "laws": verdict.cost.laws},
        planned={"draws": task.plan.draws, "laws": round(task.plan.laws)},
        figures={SECONDS: Figure(cost["whole"])},
    )


def measure(quick: bool) -> list[Row]:
    d, mass = (50, 0.5) if quick else (RECORDS, EXCEPTION_MASS)
    repetitions = 1 if quick else REPETITIONS
    window = NoisyWindow(d // 2 - 10)
    distribution = lt.ProductDistribution.uniform(lt.Hypercube(d))

    def task(log_pmf: Callable[[Any], Any]) -> Task:
        return Task(lt.ClosedForm(window.outputs, log_pmf), distribution, mass)

    counted = lt.StatisticMechanism(lt.Count(), window.outputs, window.of_counts)
    return [
        row("formula", task(window.formula), repetitions),
        row("table lookup", task(window.lookup), repetitions),
        statistic_row(Task(counted, distribution, mass), repetitions),
    ]


if __name__ == "__main__":
    report(
        f"neighbourhoods: 21 outputs, d = {RECORDS}, exception mass {EXCEPTION_MASS:g}; "
        f"whole check against the mechanism alone",
        measure,
    )

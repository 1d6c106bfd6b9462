"""Five ways to release a number about the click data, on a Lipschitz query and on another one.

Errors are mean absolute errors at epsilon = 1 on the private table: exact where a law is released,
else means over seeds. click_log.py has the queries, docs/routes.md explains the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
from click_log import Effort, Log, Task, bursts, clicks
from figures import SECONDS, Figure, Row, cpu_seconds, report
from sample_aggregate import FloatArray, IntArray, SampleAggregate

import liptest as lt
from liptest.cli.demo import public_distribution
from liptest.gate.routes import FilterGate, SensitivityGate
from liptest.lipschitz.local_filter import LocalFilter
from liptest.privacy.methods import light, neighbourhoods
from liptest.privacy.proofs.noisy_queries import unaffordable_mass
from liptest.verdicts import Decision

EPSILON, FAILURE = 1.0, 1e-6
BLOCKS = {0.0: (2, 4, 8, 16, 32, 64), FAILURE: (3, 5, 9, 17, 33, 65, 129)}


def timed(task: Callable[[], object]) -> Figure:
    return Figure(cpu_seconds(task))


def noise_error(task: Task, mechanism: lt.ShiftMechanism, centre: int) -> float:
    """E|centre + noise - truth|, from the law of the noise."""
    reach = np.arange(-60 * task.typical, 60 * task.typical + 1)
    masses = np.exp(mechanism.noise.log_pmf(reach))
    return float(masses @ np.abs(centre + reach - task.truth))


def gate_row(task: Task) -> Row:
    """The vendor's truncated geometric count, one per part where the parts matter.

    A click lies in one part, so the counts together are epsilon-DP, as each of them.
    """
    sizes = [5000] if task.power == 1 else [len(rates) for rates in task.log.rates]
    mechanisms = [lt.catalogue.truncated_geometric_count(size, EPSILON) for size in sizes]
    gates: list[lt.PrivacyGate] = []

    def test() -> None:
        for size, mechanism in zip(sizes, mechanisms, strict=True):
            law = lt.ProductDistribution.uniform(lt.Hypercube(size))
            # Of this package, and too many probabilities to be sealed.
            gate = lt.PrivacyGate(mechanism, law, epsilon=EPSILON, seed=1, trust_code=True)
            gates.append(gate)

    seconds = timed(test)
    assert all(gate.certificate.verdict.guarantee.kind == "proof" for gate in gates)
    error = count_error(task, mechanisms[0]) if task.power == 1 else post_error(task, mechanisms)
    laws = sum(gate.certificate.verdict.cost.laws for gate in gates)
    return Row(
        f"{task.words}: gate, vendor's counts",
        {"laws": laws},
        {"laws": sum(sizes) + len(sizes)},
        {"mean error": Figure(error), SECONDS: seconds},
    )


def count_error(task: Task, mechanism: lt.StatisticMechanism) -> float:
    masses = np.exp(mechanism.laws_of(np.array([int(task.truth)])).logs[0])
    return float(masses @ np.abs(np.arange(len(masses)) - task.truth))


def post_error(task: Task, mechanisms: list[lt.StatisticMechanism]) -> float:
    """Query of the noisy counts, less its mean excess on tables of the fitted law; over seeds."""
    rng = np.random.default_rng(2)
    tables = [task.log.table(clicked) for clicked in task.samples]
    share = -(-task.effort.draws // len(tables))
    noisy = np.concatenate([released(mechanisms, table, share, rng) for table in tables])
    excess = float(task.query(noisy).mean() - task.query(np.array(tables)).mean())
    private = task.log.table(task.log.private)
    found = task.query(released(mechanisms, private, task.effort.draws, rng)) - excess
    return float(np.abs(found - task.truth).mean())


def released(
    mechanisms: list[lt.StatisticMechanism],
    table: IntArray,
    count: int,
    rng: np.random.Generator,
) -> IntArray:
    """(count, parts) draws of the noisy counts of one table."""
    laws = [m.laws_of(np.array([n])).logs[0] for m, n in zip(mechanisms, table, strict=True)]
    drawn = [rng.choice(len(logs), count, p=np.exp(logs) / np.exp(logs).sum()) for logs in laws]
    return np.stack(drawn, axis=1)


def sensitivity_row(task: Task) -> Row:
    gates: list[SensitivityGate] = []

    def test() -> None:
        gate = SensitivityGate(
            task.query,
            task.log.law,
            sensitivity=task.typical,
            grid_step=1,
            epsilon=EPSILON,
            exception_mass=task.effort.exception_mass,
            failure_probability=FAILURE,
            seed=1,
            trust_code=True,  # the query of this file: 5,000 rows are too many to be tabulated
        )
        gates.append(gate)

    seconds = timed(test)
    verdict = gates[0].certificate.verdict
    assert verdict.decision is Decision.YES
    rows = public_distribution()
    numbers = task.effort.exception_mass, FAILURE
    return Row(
        f"{task.words}: sensitivity, c = {task.typical}",
        {"draws": verdict.cost.draws},
        {"draws": neighbourhoods(task.log.law, *numbers).plan.draws},
        {
            "mean error": Figure(noise_error(task, gates[0].mechanism, int(task.truth))),
            "queries asked": Figure(verdict.cost.laws),
            "planned on rows": Figure(neighbourhoods(rows, *numbers).plan.laws),
            "light, on rows": Figure(light(rows, *numbers).plan.laws),
            SECONDS: seconds,
        },
    )


def filter_row(task: Task) -> Row:
    private = task.log.table(task.log.private)
    law, c = task.log.law, float(task.typical)
    local = LocalFilter(task.query, law, lipschitz_constant=c, max_references=2**24)
    figures = {"excepted": Figure(unaffordable_mass(law, 2**16))}
    needed = local.references(private)
    words = f"{task.words}: filter, c = {task.typical}"
    try:
        gate = FilterGate(
            task.query, law, epsilon=EPSILON, sensitivity=c, grid_step=1, trust_code=True
        )
    except lt.errors.InputError:
        figures["queries asked"] = Figure(needed)
        return Row(f"{words}, refused", {}, {}, figures)
    figures[SECONDS] = timed(lambda: local.exact(private))
    [k] = gate.mechanism.statistic.values(private[None])
    figures["mean error"] = Figure(noise_error(task, gate.mechanism, int(k)))
    return Row(words, {"queries": local.queries}, {"queries": needed}, figures)


def aggregate_row(task: Task, delta: float) -> Row:
    made = best_aggregate(task, delta)
    rng = np.random.default_rng(3)
    answers: list[FloatArray] = []
    seconds = timed(lambda: answers.append(task.answers(made.blocks, task.log.private, rng)))
    errors = [
        made.release(task.answers(made.blocks, task.log.private, rng)).mean_error(task.truth)
        for _ in range(task.effort.partitions)
    ]
    kind = "median" if delta else "mean"
    return Row(
        f"{task.words}: sample-and-aggregate, {kind} of {made.blocks}, cap {made.cap:g}",
        {"queries": len(answers[0])},
        {"queries": made.blocks},
        {"mean error": Figure(float(np.mean(errors))), SECONDS: seconds},
    )


def best_aggregate(task: Task, delta: float) -> SampleAggregate:
    """Blocks and cap of the smallest mean error on tables of the fitted law."""
    rng, tables = np.random.default_rng(4), task.samples[:40]
    truths = [float(task.query(task.log.table(one)[None])[0]) for one in tables]
    choices: list[tuple[float, SampleAggregate]] = []
    for blocks, level in product(BLOCKS[delta], (0.5, 0.9, 0.99)):
        answers = [task.answers(blocks, clicked, rng) for clicked in tables]
        cap = max(1.0, math.ceil(float(np.quantile(np.concatenate(answers), level))))
        made = SampleAggregate(blocks, cap, task.power, EPSILON, delta)
        pairs = zip(answers, truths, strict=True)
        errors = [made.release(found).mean_error(truth) for found, truth in pairs]
        choices.append((float(np.mean(errors)), made))
    return min(choices, key=lambda choice: choice[0])[1]


def laplace_row(task: Task) -> Row:
    error = task.worst / EPSILON
    words = f"{task.words}: Laplace for the worst case, c = {task.worst}"
    return Row(words, {"queries": 1}, {"queries": 1}, {"mean error": Figure(error)})


def public_row(task: Task) -> Row:
    tables = np.array([task.log.table(clicked) for clicked in task.samples])
    error = abs(float(task.query(tables).mean()) - task.truth)
    words = f"{task.words}: no private data, the mean under the fitted law"
    return Row(words, {"queries": 0}, {"queries": 0}, {"mean error": Figure(error)})


def untypical_row(task: Task) -> Row:
    """A table outside all that was tested: 20 clicks in each of three parts, 2 in the others."""
    table = np.where(np.arange(task.log.parts) < 3, 20, 2)[None]
    local = LocalFilter(task.query, task.log.law, lipschitz_constant=float(task.typical))
    answers = {"true": task.query(table), "filtered": local(table)}
    return Row(
        f"{task.words}: an untypical table",
        {"queries": local.queries},
        {"queries": local.references(table[0])},
        {name: Figure(float(found[0])) for name, found in answers.items()},
    )


def measure(quick: bool) -> list[Row]:
    effort = Effort(0.1, 200, 20, 5) if quick else Effort()
    tasks = [
        Task("clicks", clicks, 1, Log(8), effort),
        Task("bursts", bursts, 2, Log(8), effort),
        Task("bursts", bursts, 2, Log(40), effort),
    ]
    rows = []
    for task in tasks:
        rows += [gate_row(task), sensitivity_row(task), filter_row(task)]
        rows += [aggregate_row(task, delta) for delta in (0.0, FAILURE)]
        rows += [laplace_row(task), public_row(task)]
    return [*rows, untypical_row(tasks[1])]


if __name__ == "__main__":
    report(f"Routes to a release: 5,000 impressions, 19 clicks, epsilon = {EPSILON:g}", measure)

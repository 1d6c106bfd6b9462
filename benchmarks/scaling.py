"""Laws and seconds against dimension, exception mass and outputs: our methods, the paper's, others.

One mechanism (a noisy count on a window, declared as a formula of all records), claim epsilon = 1,
failure 1e-6, uniform law on the cube. What fits is run, and its laws are counted; of the rest the
formula is shown, and the case says "(formula)". The paper's algorithm is run as its A_test with
its own tester; as printed it asks for a few points more, which the last column counts.

``of the mechanism alone`` divides the seconds by those of the mechanism alone on ready arrays, for
as many laws; ``of plain NumPy`` by those of an exhaustive pass as one would write it without the
package. dp-accounting compares one pair at a time; it is measured where it is installed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
from figures import SECONDS, Figure, Place, Row, cpu_seconds, medians, report
from methods_cost import recounted
from workloads import EPSILON, NoisyWindow

import liptest as lt
from liptest.privacy.methods import SamplingMethod, edges, group, light, neighbourhoods, paper_laws

FAILURE, REPETITIONS = 1e-6, 3
# What is run: laws, coordinates of the drawn datasets, datasets of an exhaustive pass.
MOST_LAWS, MOST_COORDINATES, MOST_DATASETS = 3 * 10**7, 3 * 10**8, 2**20
QUICK_LAWS = 10**5
# No formula is drawn beyond.
MOST_FORMULA = 1e30
BLOCK = 1 << 12


@dataclass(frozen=True)
class Setting:
    """A point of one of the axes, and whether it is to be quick."""

    axis: str
    d: int
    outputs: int
    mass: float
    quick: bool

    @property
    def at(self) -> float:
        return {"d": self.d, "outputs": self.outputs}.get(self.axis, self.mass)

    @cached_property
    def window(self) -> NoisyWindow:
        return NoisyWindow(self.d // 2 - self.outputs // 2, self.outputs)

    @cached_property
    def mechanism(self) -> lt.ClosedForm:
        return lt.ClosedForm(self.window.outputs, self.window.formula)

    @cached_property
    def distribution(self) -> lt.ProductDistribution:
        return lt.ProductDistribution.uniform(lt.Hypercube(self.d))

    @cached_property
    def tester(self) -> lt.testers.DJT12:
        step = lt.testers.DJT12.best_step(self.distribution, self.mass / self.outputs)
        return lt.testers.DJT12(range_step=step)

    @property
    def printed(self) -> float:
        return paper_laws(self.distribution, self.outputs, self.mass, FAILURE)

    def methods(self) -> list[SamplingMethod]:
        numbers = self.distribution, self.mass, FAILURE
        drawn = [edges(*numbers), light(*numbers), neighbourhoods(*numbers)]
        return [*drawn, group(self.mechanism, *numbers)]

    def check(self, mechanism: Any, method: Any) -> lt.PrivacyVerdict:
        found = lt.check_privacy(
            mechanism,
            self.distribution,
            epsilon=EPSILON,
            exception_mass=self.mass,
            failure_probability=FAILURE,
            method=method,
            search_laws=0,
            seed=1,
        )
        assert found.decision == "YES", found
        return found

    def fits(self, laws: float, coordinates: float) -> bool:
        most = QUICK_LAWS if self.quick else MOST_LAWS
        return laws <= most and coordinates <= MOST_COORDINATES

    @cached_property
    def alone(self) -> float:
        """CPU seconds of the mechanism for one law, on a ready array."""
        datasets = np.asarray(self.distribution.sample(np.random.default_rng(1), BLOCK))
        return self.median(lambda: self.window.formula(datasets)) / BLOCK

    def median(self, task: Callable[[], object]) -> float:
        task()
        rounds = 1 if self.quick else REPETITIONS
        return medians(rounds, lambda: {SECONDS: cpu_seconds(task)})[SECONDS]

    def row(
        self, line: str, counts: dict[str, float], planned: dict[str, float], **figures: float
    ) -> Row:
        """A row; what was not counted is a formula."""
        case = f"{self.axis} = {self.at:g}: {line}{'' if counts else ' (formula)'}"
        named = {name.replace("_", " "): Figure(value) for name, value in figures.items()}
        named = {SECONDS if name == "seconds" else name: value for name, value in named.items()}
        return Row(case, counts, planned, named, Place(self.axis, self.at, line))


def plain(datasets: int, d: int, formula: Callable[[Any], Any]) -> tuple[int, float]:
    """Every pair of the cube in a few lines of NumPy: their number and the largest loss."""
    logs = formula((np.arange(datasets)[:, None] >> np.arange(d) & 1).astype(np.int8))
    pairs, worst = 0, 0.0
    for r in range(d):
        halves = logs.reshape(-1, 2, 2**r, logs.shape[1])
        gaps = np.abs(halves[:, 0] - halves[:, 1])
        pairs, worst = pairs + gaps.size // gaps.shape[-1], max(worst, float(gaps.max()))
    return pairs, worst


def exhaustive_rows(at: Setting) -> list[Row]:
    """By hand, by the package, and by the package when it is told that only the count matters."""
    names = "plain NumPy loop", "exhaustive"
    size, pairs = float(2**at.d), float(at.d * 2 ** (at.d - 1))
    rows = [statistic_row(at)]
    if size > (2**8 if at.quick else MOST_DATASETS):
        formula = [at.row(name, {}, {}, planned_laws=size) for name in names]
        return [*(formula if size <= MOST_FORMULA else []), *rows]
    found, worst = plain(2**at.d, at.d, at.window.formula)
    assert worst <= EPSILON * (1 + 1e-9)
    ours = at.check(at.mechanism, "exhaustive").cost
    cost = at.median(lambda: plain(2**at.d, at.d, at.window.formula))
    seconds = at.median(lambda: at.check(at.mechanism, "exhaustive"))
    planned, counts = {"pairs": pairs, "laws": size}, {"pairs": ours.pairs, "laws": ours.laws}
    figures = {"of_plain_NumPy": seconds / cost}
    return [
        at.row(names[0], {"pairs": found, "laws": 2**at.d}, planned, seconds=cost),
        at.row(names[1], counts, planned, **against(at, seconds, size), **figures),
        *rows,
    ]


def statistic_row(at: Setting) -> Row:
    window = at.window
    mechanism = lt.StatisticMechanism(lt.Count(), window.outputs, window.of_counts)
    cost = at.check(mechanism, "exhaustive").cost
    seconds = at.median(lambda: at.check(mechanism, "exhaustive"))
    counts = {"pairs": cost.pairs, "laws": cost.laws}
    planned = {"pairs": at.d, "laws": at.d + 1}
    return at.row("proof for the count", counts, planned, seconds=seconds)


def against(at: Setting, seconds: float, laws: float) -> dict[str, float]:
    return {"seconds": seconds, "of_the_mechanism_alone": seconds / (laws * at.alone)}


def drawn_row(at: Setting, method: SamplingMethod) -> Row:
    plan = method.plan
    if not at.fits(plan.laws, plan.draws * at.d):
        return at.row(plan.method, {}, {}, planned_laws=plan.laws)
    verdicts: list[lt.PrivacyVerdict] = []
    seconds = at.median(lambda: verdicts.append(at.check(at.mechanism, plan.method)))
    cost, is_light = verdicts[0].cost, plan.method.startswith("light")
    laws = recounted(at, method) if is_light else round(plan.laws)
    counts, planned = {"laws": cost.laws}, {"laws": laws}
    return at.row(plan.method, counts, planned, **against(at, seconds, laws))


def paper_row(at: Setting) -> Row:
    """A_test with Algorithm 3: run where it fits."""
    line, printed = "paper's A_test", at.printed
    budgets = {"proximity": at.mass / at.outputs, "failure_probability": FAILURE / at.outputs}
    draws = at.tester.plan(at.distribution, **budgets).draws * at.outputs
    if not at.fits(printed, draws * at.d):
        return at.row(line, {}, {}, planned_laws=printed)
    verdicts: list[lt.PrivacyVerdict] = []
    seconds = cpu_seconds(lambda: verdicts.append(at.check(at.mechanism, at.tester)))
    laws = verdicts[0].cost.laws
    figures = {**against(at, seconds, laws), "planned_laws": printed}
    return at.row(line, {"laws": laws}, {"laws": 2 * draws}, **figures)


def accounting_row(at: Setting) -> Row:
    """The pairs (k, k + 1) of the count, each handed to dp-accounting."""
    line = "dp-accounting, pairs of the count"
    if find_spec("dp_accounting") is None:
        row = at.row(line, {}, {})
        return replace(row, case=f"{line}: dp-accounting is not installed", place=None)
    logs = at.window.of_counts(np.arange(at.d + 1))
    pairs = list(pairwise(logs))
    one_pair(*pairs[0])  # what it imports
    seconds = cpu_seconds(lambda: [one_pair(*pair) for pair in pairs])
    return at.row(
        line,
        {"pairs": len(pairs), "laws": len(logs)},
        {"pairs": at.d, "laws": at.d + 1},
        seconds=seconds,
        us_a_pair=1e6 * seconds / len(pairs),
    )


def one_pair(low: Any, high: Any) -> float:
    """Delta at the claim, on dp-accounting's pessimistic grid."""
    from dp_accounting.pld.privacy_loss_distribution import from_two_probability_mass_functions

    both = (dict(enumerate(logs.tolist())) for logs in (low, high))
    loss = from_two_probability_mass_functions(*both)
    return float(loss.get_delta_for_epsilon(EPSILON))


def axes(quick: bool) -> Iterator[Setting]:
    sizes = (2, 4, 8, 50) if quick else (2, 4, 8, 12, 16, 20, 100, 1000)
    for d in sizes:
        yield Setting("d", d, 2, 0.5 if quick else 0.1, quick)
    for mass in (0.5, 0.1) if quick else (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3, 1e-4):
        yield Setting("exception mass", 4, 2, mass, quick)
    for outputs in (2, 3) if quick else (2, 3, 5, 11, 21, 101):
        yield Setting("outputs", 4, outputs, 0.5, quick)


def setting_rows(at: Setting) -> list[Row]:
    rows = [*exhaustive_rows(at), *(drawn_row(at, method) for method in at.methods())]
    rows.append(paper_row(at))
    return rows if at.axis == "exception mass" else [*rows, accounting_row(at)]


def measure(quick: bool) -> list[Row]:
    rows = [row for at in axes(quick) for row in setting_rows(at)]
    return list({row.case: row for row in rows}.values())


def ratios(rounds: int = 5) -> dict[str, float]:
    """Two ratios of CPU seconds, medians of turns: small, and yet more than what starts a check.

    "exhaustive": of plain NumPy, 2^14 datasets. "neighbourhoods": of the mechanism alone on ready
    arrays, 132 draws of 201 datasets.
    """
    cube, drawn = (Setting("d", d, 21, 0.1, True) for d in (14, 200))
    laws = math.ceil(math.log(FAILURE) / math.log1p(-drawn.mass)) * (drawn.d + 1)
    datasets = np.asarray(drawn.distribution.sample(np.random.default_rng(1), laws))

    def one_round() -> dict[str, float]:
        return {
            "plain": cpu_seconds(lambda: plain(2**cube.d, cube.d, cube.window.formula)),
            "exhaustive": cpu_seconds(lambda: cube.check(cube.mechanism, "exhaustive")),
            "alone": cpu_seconds(lambda: drawn.window.formula(datasets)),
            "drawn": cpu_seconds(lambda: drawn.check(drawn.mechanism, "neighbourhoods")),
        }

    one_round()
    cost = medians(rounds, one_round)
    return {
        "exhaustive": cost["exhaustive"] / cost["plain"],
        "neighbourhoods": cost["drawn"] / cost["alone"],
    }


if __name__ == "__main__":
    report(f"Scaling: noisy count on the uniform cube, epsilon 1, failure {FAILURE:g}", measure)

"""What testing a claim would cost by every method: the table of theory section 5."""

from __future__ import annotations

from dataclasses import dataclass

from liptest.distributions import Distribution, ProductDistribution, check_distribution
from liptest.errors import check_count, check_open_unit
from liptest.privacy.methods import edges, light, neighbourhoods
from liptest.testers import cheapest_tester
from liptest.testers.base import no_product, printed_draws
from liptest.testers.table import PlanRow, plan_table
from liptest.verdicts import Record


@dataclass(frozen=True)
class CostRow(Record):
    """One way to test a claim with delta = 0.

    Parameters
    ----------
    method
        As for ``check_privacy``; a tester's name is the paper's A_test with that tester.
    laws
        Output laws at most (on average for the two neighbourhood methods); None where it does
        not apply.
    form
        "group" or "neighbour": what a YES certifies (theory 3.2).
    approximation_factor
        theta: a YES certifies theta times epsilon.
    """

    method: str
    laws: float | None
    form: str
    approximation_factor: float
    source: str
    not_applicable: str = ""


def cost_table(
    distribution: Distribution,
    outputs: int,
    *,
    exception_mass: float,
    failure_probability: float,
) -> tuple[CostRow, ...]:
    """A_test with each tester, then theory 3.4, 3.5, 3.6 and 3.6b.

    Parameters
    ----------
    outputs
        Size of the mechanism's range; the budgets of A_test are shared among them (theory 3.3).
        DJT12, with its step of fewest queries, is the paper's A_test as printed.

    Raises
    ------
    InputError
        A number is out of range.
    """
    law = check_distribution(distribution)
    count = check_count("outputs", outputs)
    mass = check_open_unit("exception_mass", exception_mass)
    failure = check_open_unit("failure_probability", failure_probability)
    single = plan_table(law, proximity=mass / count, failure_probability=failure / count)
    return (*(_atest(row, count) for row in single), *_sampling(law, count, mass, failure))


def _atest(row: PlanRow, outputs: int) -> CostRow:
    source = f"theory 3.3, {row.tester}"
    if row.plan is None:
        return CostRow(row.tester, None, "group", 1.0, source, row.not_applicable)
    laws = float(row.plan.queries * outputs)
    return CostRow(row.tester, laws, "group", row.plan.approximation_factor, source)


def _sampling(
    distribution: Distribution, outputs: int, mass: float, failure: float
) -> tuple[CostRow, ...]:
    full = neighbourhoods(distribution, mass, failure).plan
    last = CostRow(full.method, full.laws, "neighbour", 1.0, full.source)
    if not isinstance(distribution, ProductDistribution):
        reason = no_product(distribution)
        group = CostRow("group", None, "group", 1.0, "theory 3.4", reason)
        others = [
            CostRow("edges", None, "neighbour", 1.0, "theory 3.5", reason),
            CostRow("light-neighbourhoods", None, "neighbour", 1.0, "theory 3.6", reason),
        ]
        return group, *others, last
    tester = cheapest_tester(distribution)
    draws = printed_draws(tester.detection_constant(distribution) * outputs, mass, failure)
    laws = float(draws * tester.points_per_draw(distribution))
    group = CostRow("group", laws, "group", 1.0, f"theory 3.4, {tester.name}")
    plans = [method(distribution, mass, failure).plan for method in (edges, light)]
    others = [CostRow(plan.method, plan.laws, "neighbour", 1.0, plan.source) for plan in plans]
    return group, *others, last

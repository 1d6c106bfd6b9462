"""What all releases from a private table cost together, at a delta that the operator names.

Sums of epsilons say too much once there are many releases. Each release is (epsilon, delta)-private
as its certificate says; what they are together is composed on a grid, from above (theory 6.12).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction

from liptest.errors import check_open_unit
from liptest.evidence.ledger_entries import Attempt, Totals, write_sum
from liptest.privacy.claims import text_above
from liptest.privacy.compositions.release_costs import (
    ReleasePart,
    ReleaseTerms,
    divergences,
    epsilon_of_orders,
    losses_together,
)


@dataclass(frozen=True)
class TableCost:
    """All releases from one private table together.

    They are (epsilon, delta)-private except on datasets of probability ``exception_mass``, if the
    ``conditions`` of their proofs hold; tolerances of the tests aside, as in the sums of a ledger.

    Parameters
    ----------
    private_table
        Its name in the ledger.
    releases
        How many were recorded.
    epsilon, delta
        ``delta`` as it was named; it has room for the failure probabilities of the tests.
        ``epsilon`` is inf where it has not.
    sum_of_epsilons
        What epsilons add up to.
    exception_mass, conditions
        As in the summary of the ledger.
    other_releases
        How many of them are under claims of other forms, which ``sum_of_epsilons`` leaves out.
    is_sum
        Whether ``sum_of_epsilons`` holds for all of them at ``delta``.
    title
        What it is printed under, where it is about several tables.
    """

    private_table: str
    releases: int
    epsilon: float
    delta: float
    sum_of_epsilons: Fraction
    exception_mass: Fraction
    conditions: tuple[str, ...] = ()
    other_releases: int = 0
    is_sum: bool = False
    title: str = ""

    def is_within(self, epsilon: float) -> bool:
        """Whether the cost does not exceed a cap, as it is written; exactly where epsilons add."""
        exact = Fraction(repr(float(epsilon)))
        return self.epsilon <= epsilon or (self.is_sum and self.sum_of_epsilons <= exact)

    def __str__(self) -> str:
        title = self.title or f"private table {self.private_table}"
        lines = [f"{title}, {self.releases} releases together"]
        if math.isinf(self.epsilon):
            lines.append(
                f"  no epsilon at delta {self.delta:g}: the releases' own deltas and the failure "
                f"probabilities of the tests are larger; name a larger delta"
            )
        else:
            sums = f"; epsilons add up to {write_sum(self.sum_of_epsilons)}"
            told = "" if self.other_releases else sums
            lines.append(f"  epsilon {text_above(self.epsilon)} at delta {self.delta:g}{told}")
        if self.exception_mass:
            mass = write_sum(self.exception_mass)
            lines.append(f"  outside a set of datasets of total probability {mass}")
        return "\n".join(
            [*lines, *(f"  provided that {condition}" for condition in self.conditions)]
        )


def cost_of_table(attempts: Iterable[Attempt], private_table: str, delta: float) -> TableCost:
    """The cost of the releases that attempts on a private table were followed by.

    Raises InputError unless delta lies between 0 and 1.
    """
    return cost_of_tables(attempts, private_table, (private_table,), delta)


def cost_of_tables(
    attempts: Iterable[Attempt], name: str, tables: Collection[str], delta: float, title: str = ""
) -> TableCost:
    """The same for several tables about the same people (theory 6.20), by a name and a title."""
    named = check_open_unit("delta", delta)
    aimed = [attempt for attempt in attempts if attempt.private_table in tables]
    used = [attempt for attempt in aimed if attempt.used]
    totals = Totals.of(aimed)
    # Any of the tests may have ended in a wrong YES, also those that nothing followed.
    # As it is written, which is how the ledger keeps its deltas.
    spare = Fraction(repr(named)) - totals.failure_probability
    times: Counter[ReleaseTerms] = Counter()
    for attempt in used:
        times[attempt.known_terms] += attempt.used
    epsilon = _epsilon_together(times, spare) if used else 0.0
    # Where all deltas fit, the sum of epsilons is one of the bounds.
    plain = not any(attempt.terms for attempt in used)
    is_sum = plain and sum(attempt.used * attempt.delta for attempt in used) <= spare and bool(used)
    if is_sum:
        epsilon = min(epsilon, math.nextafter(float(totals.epsilon), math.inf))
    return TableCost(
        name,
        totals.releases,
        epsilon,
        named,
        totals.epsilon,
        totals.exception_mass,
        totals.conditions,
        totals.other_releases,
        is_sum,
        title,
    )


def _epsilon_together(times: Counter[ReleaseTerms], spare: Fraction) -> float:
    target = float(spare)
    while target > 0 and Fraction(target) > spare:
        target = math.nextafter(target, 0.0)
    if target <= 0:
        return math.inf
    parts, counts = [ReleasePart.of_terms(terms, "") for terms in times], list(times.values())
    epsilons = [loss.epsilon_at(target) for loss in losses_together(parts, counts)]
    return min([*epsilons, epsilon_of_orders(divergences(parts, counts), target)])

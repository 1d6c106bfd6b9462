"""What all releases from a private table cost together, at a delta that the operator names.

Sums of epsilons say too much once there are many releases. Each release is (epsilon, delta)-private
as its certificate says; what they are together is composed on a grid, from above (theory 6.12).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from liptest.errors import check_open_unit
from liptest.evidence.ledger_entries import Attempt, Totals, printed
from liptest.privacy.composition import epsilon_of_claims


@dataclass(frozen=True)
class TableCost:
    """All releases from one private table together.

    They are (epsilon, delta)-private off datasets of probability ``exception_mass``, if the
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
    """

    private_table: str
    releases: int
    epsilon: float
    delta: float
    sum_of_epsilons: Fraction
    exception_mass: Fraction
    conditions: tuple[str, ...] = ()

    def is_within(self, epsilon: float) -> bool:
        """Whether the cost does not exceed a cap."""
        return self.epsilon <= epsilon

    def __str__(self) -> str:
        lines = [f"private table {self.private_table}, {self.releases} releases together"]
        if math.isinf(self.epsilon):
            lines.append(
                f"  no epsilon at delta {self.delta:g}: the releases' own deltas and the failure "
                f"probabilities of the tests are larger; name a larger delta"
            )
        else:
            lines.append(
                f"  epsilon {self.epsilon:.6g} at delta {self.delta:g}; epsilons add up to "
                f"{printed(self.sum_of_epsilons)}"
            )
        if self.exception_mass:
            lines.append(f"  off datasets of total probability {printed(self.exception_mass)}")
        return "\n".join([*lines, *(f"  provided that {one}" for one in self.conditions)])


def cost_of_table(attempts: Iterable[Attempt], private_table: str, delta: float) -> TableCost:
    """The cost of the releases that attempts on a private table were followed by.

    Raises InputError unless delta lies between 0 and 1.
    """
    named = check_open_unit("delta", delta)
    aimed = [one for one in attempts if one.private_table == private_table]
    used = [one for one in aimed if one.used]
    totals = Totals.of(aimed)
    # Any of the tests may have ended in a wrong YES, also those that nothing followed.
    # As it is written, which is how the ledger keeps its deltas.
    spare = Fraction(repr(named)) - totals.failure_probability
    times: Counter[tuple[Fraction, Fraction]] = Counter()
    for one in used:
        times[one.epsilon, one.delta] += one.used
    claims = [(epsilon, own, count) for (epsilon, own), count in times.items()]
    epsilon = math.inf if spare <= 0 and used else epsilon_of_claims(claims, spare)
    if sum(count * own for _, own, count in claims) <= spare and used:
        # Where all deltas fit, the sum of epsilons is one of the bounds.
        epsilon = min(epsilon, math.nextafter(float(totals.epsilon), math.inf))
    return TableCost(
        private_table,
        totals.releases,
        epsilon,
        named,
        totals.epsilon,
        totals.exception_mass,
        totals.conditions,
    )

"""Lipschitz testers, one file each, and the choice of the cheapest for a distribution."""

from __future__ import annotations

from liptest.distributions import Distribution
from liptest.errors import InputError, shown
from liptest.testers.base import LipschitzTester, PairTester
from liptest.testers.variance_edges import VarianceEdges

#: Every tester shipped, with default parameters.
ALL_TESTERS: tuple[PairTester, ...] = (VarianceEdges(),)

# Only the order of the candidates' costs matters, and it is the same for all small values.
_REFERENCE = {"proximity": 0.01, "failure_probability": 1e-6}


def cheapest_tester(distribution: Distribution) -> PairTester:
    """The applicable tester with the fewest queries and approximation factor 1.

    Raises InputError listing why each does not apply.
    """
    reasons = {tester.name: tester.not_applicable(distribution) for tester in ALL_TESTERS}
    usable = [
        tester
        for tester in ALL_TESTERS
        if not reasons[tester.name] and tester.approximation_factor == 1
    ]
    if not usable:
        listed = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        raise InputError(f"tester='auto': no tester applies ({listed})", name="tester")
    return min(usable, key=lambda tester: tester.plan(distribution, **_REFERENCE).queries)


def resolve_tester(tester: LipschitzTester | str, distribution: Distribution) -> LipschitzTester:
    """Turn ``"auto"`` into the cheapest tester; InputError when it is no tester."""
    if tester == "auto":
        return cheapest_tester(distribution)
    if isinstance(tester, str) or not isinstance(tester, LipschitzTester):
        names = ", ".join(f"lt.{known.name}()" for known in ALL_TESTERS)
        raise InputError(
            f"tester={shown(tester)} is no tester; give 'auto' or one of {names}", name="tester"
        )
    return tester


__all__ = ["ALL_TESTERS", "LipschitzTester", "PairTester", "VarianceEdges", "cheapest_tester"]

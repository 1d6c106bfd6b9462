"""Lipschitz testers, one file each, and the choice of the cheapest for a distribution."""

from __future__ import annotations

from liptest.data.distributions import Distribution
from liptest.errors import InputError, shown
from liptest.lipschitz.testers.ajmr12 import AJMR12
from liptest.lipschitz.testers.base import LipschitzTester, PairTester
from liptest.lipschitz.testers.cdjs15 import CDJS15
from liptest.lipschitz.testers.cs12 import CS12
from liptest.lipschitz.testers.djt12 import DJT12
from liptest.lipschitz.testers.hamming_lines import HammingLines
from liptest.lipschitz.testers.jr11 import JR11
from liptest.lipschitz.testers.variance_edges import VarianceEdges

#: Every tester shipped, with default parameters, in the order of theory section 2.
ALL_TESTERS: tuple[LipschitzTester, ...] = (
    JR11(),
    AJMR12(),
    CS12(),
    DJT12(),
    CDJS15(),
    VarianceEdges(),
    HammingLines(),
)
# Only the order of the candidates' costs matters, and it is the same for all small values.
_REFERENCE = {"proximity": 0.01, "failure_probability": 1e-6}


def cheapest_tester(distribution: Distribution) -> PairTester:
    """The applicable tester with the fewest queries and approximation factor 1.

    Raises InputError listing why each does not apply.
    """
    exact = [
        tester
        for tester in ALL_TESTERS
        if isinstance(tester, PairTester) and tester.approximation_factor == 1
    ]
    reasons = {tester.name: tester.not_applicable(distribution) for tester in exact}
    usable = [tester for tester in exact if not reasons[tester.name]]
    if not usable:
        listed = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        raise InputError(f"tester='auto': no tester applies ({listed})", name="tester")
    return min(usable, key=lambda tester: tester.plan(distribution, **_REFERENCE).queries)


def resolve_tester(tester: LipschitzTester | str, distribution: Distribution) -> LipschitzTester:
    """Turn ``"auto"`` into the cheapest tester; InputError when it is not a tester."""
    if tester == "auto":
        return cheapest_tester(distribution)
    if isinstance(tester, (str, type)) or not isinstance(tester, LipschitzTester):
        names = ", ".join(f"lt.testers.{known.name}()" for known in ALL_TESTERS)
        raise InputError(
            f"tester={shown(tester)} is not a tester; give 'auto' or one of {names}", name="tester"
        )
    return tester

"""Lipschitz testers, one file each, and the choice of the cheapest for a distribution."""

from __future__ import annotations

from contextlib import suppress

from liptest.data.distributions import Distribution
from liptest.errors import InputError, quote
from liptest.lipschitz.testers.ajmr12 import AJMR12
from liptest.lipschitz.testers.base import LipschitzTester, PairTester
from liptest.lipschitz.testers.cdjs15 import CDJS15
from liptest.lipschitz.testers.cs12 import CS12
from liptest.lipschitz.testers.djt12 import DJT12
from liptest.lipschitz.testers.hamming_lines import HammingLines
from liptest.lipschitz.testers.jr11 import JR11
from liptest.lipschitz.testers.variance_edges import VarianceEdges
from liptest.runs.extensions import TESTERS, find_offered, load_offered

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
    """Turn a name into its tester, ``"auto"`` into the cheapest; InputError when it is none."""
    if tester == "auto":
        return cheapest_tester(distribution)
    chosen = named_tester(tester) if isinstance(tester, str) else tester
    if isinstance(chosen, type) or not isinstance(chosen, LipschitzTester):
        names = ", ".join(f"lt.testers.{own.name}()" for own in ALL_TESTERS)
        raise InputError(
            f"tester={quote(tester)} is not a tester; give 'auto' or one of {names}", name="tester"
        )
    return chosen


def known_testers() -> list[str]:
    """The testers shipped, then those that other packages offer."""
    own = [tester.name for tester in ALL_TESTERS]
    return own + sorted(find_offered(TESTERS).keys() - set(own))


def named_tester(name: str) -> LipschitzTester | None:
    """The tester of this name, shipped or offered by another package; None where there is none.

    What a package offers under the entry point ``liptest.testers`` is a tester, or a class or
    function that makes one without arguments; its ``name`` is that of the entry point. InputError
    where it is anything else.
    """
    own = next((tester for tester in ALL_TESTERS if tester.name == name), None)
    if own is not None:
        return own
    loaded = load_offered(TESTERS, name)
    if loaded is None:
        return None
    if isinstance(loaded, type) or not isinstance(loaded, LipschitzTester):
        with suppress(TypeError):  # said below
            loaded = loaded()
    if isinstance(loaded, type) or not isinstance(loaded, LipschitzTester) or loaded.name != name:
        raise InputError(
            f"tester={quote(name)}: its package offers {quote(loaded)}, which is not a tester of "
            f"that name",
            name="tester",
        )
    return loaded

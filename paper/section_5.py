"""The table of the paper's section 5, with the constants that its O() leaves out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from liptest.data.domains import Hypercube, Hypergrid
from liptest.data.product import ProductDistribution
from liptest.lipschitz.testers.ajmr12 import AJMR12
from liptest.lipschitz.testers.base import DiameterTester, LipschitzTester
from liptest.lipschitz.testers.cs12 import CS12
from liptest.lipschitz.testers.djt12 import DJT12
from liptest.lipschitz.testers.jr11 import JR11
from liptest.lipschitz.testers.search_trees import search_tree
from liptest.privacy.plans import privacy_plan_table
from paper.rows import ClaimRow

_DIMENSIONS = (2, 5, 20, 100)
_PROXIMITIES = (0.3, 0.01, 1e-4)
_FAILURE = 1e-6


@dataclass(frozen=True)
class _Entry:
    """A tester at one domain and proximity, with the printed running time at ImD = diameter."""

    tester: LipschitzTester
    law: ProductDistribution
    proximity: float
    printed: float

    @property
    def ratio(self) -> float:
        """Queries over (printed running time times ln(2 / failure))."""
        plan = self.tester.plan(self.law, proximity=self.proximity, failure_probability=_FAILURE)
        return plan.queries / (self.printed * math.log(2.0 / _FAILURE))


def section_5(share: float = 1.0) -> list[ClaimRow]:
    """Four rows of the table, and what A_test costs as printed; ``share`` drops dimensions."""
    dimensions = _DIMENSIONS[: max(2, round(len(_DIMENSIONS) * share))]
    return [
        _row("JR11: O(d ImD / (proximity step)), theta = 1 + step", _jr11, dimensions, 1.0, 4.2),
        _row(
            "AJMR12: ~O(d min(ImD, n d) / (step proximity)), theta = 1 + step",
            _ajmr12,
            dimensions,
            1.0,
            8.2,
        ),
        _row("CS12: O(d / proximity), theta = 1", _cs12, dimensions, 1.0, 2.2),
        _row(
            "DJT12: O(d ImD / ((proximity - d^2 step) step)), theta = 1 + step",
            _djt12,
            dimensions,
            1.0,
            2.2,
        ),
        _atest(),
    ]


def _row(
    claim: str,
    entry: Callable[[int, float], _Entry],
    dimensions: tuple[int, ...],
    least: float,
    most: float,
) -> ClaimRow:
    entries = [entry(d, proximity) for d in dimensions for proximity in _PROXIMITIES]
    ratios = [one.ratio for one in entries]
    thetas = {
        one.tester.approximation_factor
        - (one.tester.range_step if isinstance(one.tester, DiameterTester) else 0.0)
        for one in entries
    }
    sizes = ", ".join(map(str, dimensions))
    return ClaimRow(
        f"Section 5, {claim}",
        f"the plans of d = {sizes}, proximity 0.3, 0.01, 1e-4, failure 1e-6, ImD at its largest",
        f"queries = {min(ratios):.3g} to {max(ratios):.3g} times the printed formula times "
        f"ln(2/failure)",
        least <= min(ratios) and max(ratios) <= most and all(abs(t - 1) < 1e-12 for t in thetas),
    )


def _jr11(d: int, proximity: float) -> _Entry:
    tester = JR11()
    law = ProductDistribution.uniform(Hypercube(d))
    return _Entry(tester, law, proximity, d * d / (proximity * tester.range_step))


def _ajmr12(d: int, proximity: float) -> _Entry:
    n, tester = 8, AJMR12()
    law = ProductDistribution.uniform(Hypergrid([n] * d))
    # The soft O hides a logarithm: the depth of the search tree.
    depth = search_tree(law.marginal(0)).find_expected_depth(law.marginal(0))
    return _Entry(tester, law, proximity, depth * d * (n - 1) * d / (proximity * tester.range_step))


def _cs12(d: int, proximity: float) -> _Entry:
    return _Entry(CS12(), ProductDistribution.uniform(Hypercube(d)), proximity, d / proximity)


def _djt12(d: int, proximity: float) -> _Entry:
    law = ProductDistribution.bernoulli([0.01 + 0.9 * r / d for r in range(d)])
    step = DJT12.best_step(law, proximity)
    printed = d * d / ((proximity - d * d * step) * step)
    return _Entry(DJT12(range_step=step), law, proximity, printed)


def _atest() -> ClaimRow:
    rows = privacy_plan_table(
        ProductDistribution.uniform(Hypercube(20)),
        21,
        epsilon=1.0,
        exception_mass=1e-2,
        failure_probability=1e-6,
    )
    laws = {row.method: row.laws for row in rows}
    printed, best = laws["A_test, DJT12, as printed"], laws["light-neighbourhoods"]
    return ClaimRow(
        "Section 5, what A_test asks for, with Algorithm 3 as printed",
        "d = 20 uniform bits, 21 outputs, exception mass 0.01, failure 1e-6",
        f"{printed:.1e} output distributions; the same A_test with CS12 "
        f"{laws['A_test, CS12']:.1e}; light-neighbourhoods (theory 3.6) {best:.1e}",
        f"{printed:.1e}" == "2.1e+15" and best < printed,
    )

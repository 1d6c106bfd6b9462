"""Testers reject functions of exactly known distance as often as they promise."""

import math
from dataclasses import asdict, dataclass

import numpy as np
import pytest

import liptest as lt
from liptest.lipschitz.distance import distance_to_lipschitz
from liptest.lipschitz.testers import ALL_TESTERS
from liptest.lipschitz.testers.ajmr12 import AJMR12
from liptest.lipschitz.testers.cdjs15 import CDJS15
from liptest.lipschitz.testers.cs12 import CS12
from liptest.lipschitz.testers.djt12 import DJT12
from liptest.lipschitz.testers.hamming_lines import HammingLines
from liptest.lipschitz.testers.jr11 import JR11
from liptest.lipschitz.testers.variance_edges import VarianceEdges
from liptest.testing.contract import lipschitz_on_ties
from tests.statistical.binomial import SEEDS, STARVED, is_plausible

pytestmark = pytest.mark.slow

FAILURE = 0.1
TIES = 10_000  # runs on Lipschitz functions

CUBE = lt.ProductDistribution.uniform(lt.Hypercube(4))
SQUARE = lt.ProductDistribution.uniform(lt.Hypercube(2))
SKEWED = lt.ProductDistribution.bernoulli([0.3, 0.6, 0.9, 0.5, 0.0])
SKEWED_SQUARE = lt.ProductDistribution.bernoulli([0.45, 0.4])
GRID = lt.ProductDistribution.uniform(lt.Hypergrid([4, 4]))
THREES = lt.ProductDistribution.uniform(lt.Hypergrid([3, 3, 3]))
UNEVEN = lt.ProductDistribution(
    lt.Hypergrid([3, 1, 5]), [[0.5, 0.2, 0.3], [1.0], [0.1, 0.3, 0.0, 0.4, 0.2]]
)
RECORDS = lt.ProductDistribution.uniform(lt.RecordGrid([3, 3]))
SKEWED_RECORDS = lt.ProductDistribution(
    lt.RecordGrid([3, 2, 4]), [[0.6, 0.3, 0.1], [0.7, 0.3], [0.4, 0.3, 0.2, 0.1]]
)


def ridge(law, slope):
    """Steep along one coordinate where another one is 0, else just below the limit."""
    free = np.argsort([-(1 - law.marginal(r).max()) for r in range(law.domain.dimension)])
    steep, switch = int(free[0]), int(free[1])

    def function(points):
        slopes = np.where(points[:, switch] == 0, slope, max(slope - 1.0, 0.5))
        return slopes * (points[:, steep] == 0)

    return function


def rough(law, slope):
    """A fixed random table whose steps are a little too high."""
    rng = np.random.default_rng(law.domain.size)
    return slope * rng.integers(0, 2, law.domain.sizes).astype(float)


CASES = [
    (JR11(range_step=1.0), CUBE, ridge),
    (JR11(range_step=1.0), CUBE, rough),
    (JR11(range_step=0.5), SQUARE, ridge),
    (AJMR12(range_step=1.0), GRID, ridge),
    (AJMR12(range_step=1.0), THREES, ridge),
    (AJMR12(range_step=0.5), CUBE, ridge),
    (CS12(), CUBE, ridge),
    (CS12(), CUBE, rough),
    (CS12(), SQUARE, ridge),
    (DJT12(range_step=1 / 40), SQUARE, ridge),
    (DJT12(range_step=1 / 40), SKEWED_SQUARE, ridge),
    (CDJS15(), GRID, ridge),
    (CDJS15(), GRID, rough),
    (CDJS15(), UNEVEN, ridge),
    (CDJS15(), UNEVEN, rough),
    (CDJS15(), SKEWED, ridge),
    (VarianceEdges(), CUBE, ridge),
    (VarianceEdges(), SKEWED, ridge),
    (VarianceEdges(), SKEWED, rough),
    (HammingLines(), RECORDS, ridge),
    (HammingLines(), SKEWED_RECORDS, ridge),
]


def rejections(tester, law, function, proximity, seeds):
    return sum(
        lt.check_lipschitz(
            function,
            law,
            proximity=proximity,
            failure_probability=FAILURE,
            tester=tester,
            seed=seed,
        ).decision
        == "REJECT"
        for seed in seeds
    )


def starve(tester):
    """The same tester with its pairs divided, and by what it oversamples: r / range_step."""

    @dataclass(frozen=True)
    class Starved(type(tester)):
        def draws_needed(self, *numbers):
            return -(-super().draws_needed(*numbers) // STARVED)

        def pairs_needed(self, law, diameter, *numbers):
            pairs = super().pairs_needed(law, diameter, *numbers)
            return math.ceil(pairs / (STARVED * max(1, diameter * self.steps_per_unit)))

    return Starved(**asdict(tester))


@pytest.mark.parametrize(
    ("tester", "law", "shape"),
    CASES,
    ids=[f"{t.name}-{law.domain.sizes}-{shape.__name__}" for t, law, shape in CASES],
)
def test_far_functions_are_rejected(tester, law, shape):
    theta = tester.approximation_factor
    function = shape(law, 1.25 * theta)
    distance = distance_to_lipschitz(function, law, lipschitz_constant=theta).value
    proximity = 0.999 * float(distance)
    assert 0.04 < proximity < 0.6
    count = SEEDS // sum(other.name == tester.name for other, *_ in CASES)
    planned, starved = (
        rejections(one, law, function, proximity, range(count)) for one in (tester, starve(tester))
    )
    assert is_plausible(planned, count, at_least=1 - FAILURE)
    assert not is_plausible(starved, count, at_least=1 - FAILURE)


# Coarse steps, so that the runs stay short.
COARSE = [DJT12(range_step=1 / 40), JR11(range_step=0.5), AJMR12(range_step=0.5)]


@pytest.mark.parametrize(
    "tester",
    [*COARSE, CS12(), CDJS15(), VarianceEdges(), HammingLines()],
    ids=lambda tester: tester.name,
)
def test_no_lipschitz_function_is_ever_rejected(tester):
    laws = dict.fromkeys(law for other, law, _ in CASES if other.name == tester.name)
    runs = math.ceil(TIES / (len(ALL_TESTERS) * len(laws)))
    constants = np.random.default_rng(8).choice([1.0, 0.1, 0.3, 1 / 3, 0.7, 1e-3, 2.7], runs)
    for law in laws:
        for seed, constant in enumerate(constants):
            verdict = lt.check_lipschitz(
                lipschitz_on_ties(law, constant, seed),
                law,
                proximity=0.3,
                failure_probability=FAILURE,
                tester=tester,
                lipschitz_constant=constant,
                seed=seed,
            )
            assert verdict.decision == "ACCEPT"

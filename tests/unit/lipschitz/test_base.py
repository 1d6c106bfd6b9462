import numpy as np
import pytest

import liptest as lt
from liptest.errors import InputError
from liptest.lipschitz.testers import ALL_TESTERS, cheapest_tester, resolve_tester
from liptest.lipschitz.testers.ajmr12 import AJMR12
from liptest.lipschitz.testers.base import count_printed_draws
from liptest.lipschitz.testers.cdjs15 import CDJS15
from liptest.lipschitz.testers.cs12 import CS12
from liptest.lipschitz.testers.djt12 import DJT12
from liptest.lipschitz.testers.hamming_lines import HammingLines
from liptest.lipschitz.testers.jr11 import JR11
from liptest.lipschitz.testers.variance_edges import VarianceEdges

SKEWED = lt.ProductDistribution.bernoulli([0.5, 0.3, 0.5])
GRID = lt.ProductDistribution.uniform(lt.Hypergrid([3, 3]))
RECORDS = lt.ProductDistribution.uniform(lt.RecordGrid([3, 3]))
SAMPLED = lt.SampledDistribution(lt.Hypercube(2), lambda n, rng: rng.integers(0, 2, (n, 2)))


@pytest.mark.parametrize("tester", [JR11(), AJMR12(), CS12()], ids=lambda t: t.name)
def test_uniform_testers_say_which_coordinate_is_not_uniform(tester):
    reason = tester.not_applicable(SKEWED)
    assert "uniform law" in reason
    assert "coordinate 1 has probabilities [0.7, 0.3]" in reason
    with pytest.raises(InputError, match=f"tester={tester.name}: not applicable: needs the unif"):
        tester.plan(SKEWED, proximity=0.1, failure_probability=0.1)


def test_uniform_grids_may_be_given_by_their_masses():
    law = lt.ProductDistribution(lt.Hypergrid([3, 3]), [[1 / 3, 1 / 3, 1 - 2 / 3]] * 2)
    assert AJMR12().not_applicable(law) == ""
    law = lt.ProductDistribution(lt.Hypergrid([3, 3]), [[1 / 3] * 3, [0.3, 0.3, 0.4]])
    assert "coordinate 1" in AJMR12().not_applicable(law)


@pytest.mark.parametrize("tester", ALL_TESTERS, ids=lambda t: t.name)
def test_product_laws_are_needed(tester):
    assert "needs a ProductDistribution" in tester.not_applicable(SAMPLED)


@pytest.mark.parametrize(
    ("tester", "distribution", "words"),
    [
        (JR11(), GRID, "needs a Hypercube, not Hypergrid"),
        (CS12(), RECORDS, "needs a Hypercube, not RecordGrid"),
        (DJT12(), GRID, "needs a Hypercube"),
        (VarianceEdges(), RECORDS, "needs a Hypercube"),
        (AJMR12(), RECORDS, "needs a Hypergrid or a Hypercube"),
        (CDJS15(), RECORDS, "needs a Hypergrid or a Hypercube"),
        (HammingLines(), GRID, "needs a RecordGrid"),
        (HammingLines(), SKEWED, "needs a RecordGrid"),
        (AJMR12(), lt.ProductDistribution.uniform(lt.Hypergrid([2, 3])), "equal sides"),
    ],
)
def test_domains(tester, distribution, words):
    assert words in tester.not_applicable(distribution)


def test_a_cube_is_a_grid_of_side_two():
    cube = lt.ProductDistribution.uniform(lt.Hypercube(4))
    numbers = {"proximity": 0.2, "failure_probability": 0.1}
    assert AJMR12().plan(cube, **numbers).draws == JR11().plan(cube, **numbers).draws
    assert CDJS15().not_applicable(SKEWED) == ""


def test_auto_lists_why_no_tester_applies():
    with pytest.raises(InputError, match=r"no tester applies \(CS12: needs a Product.*HammingL"):
        cheapest_tester(SAMPLED)


@pytest.mark.parametrize("tester", ["CS99", CS12, 3, None])
def test_what_is_no_tester_is_refused(tester):
    with pytest.raises(
        InputError, match=r"is not a tester; give 'auto' or one of lt.testers.JR11\(\)"
    ):
        resolve_tester(tester, GRID)


def test_a_tester_resolves_to_itself():
    tester = CDJS15()
    assert resolve_tester(tester, GRID) is tester
    assert resolve_tester("auto", GRID) == CDJS15()


def test_printed_draws():
    assert count_printed_draws(0.0, 0.1, 0.1) == 0
    assert count_printed_draws(4.0, 0.5, np.exp(-1)) in (8, 9)


@pytest.mark.parametrize("tester", ALL_TESTERS, ids=lambda t: t.name)
def test_fields_cannot_be_set(tester):
    with pytest.raises(AttributeError):
        tester.range_step = 0.5
    assert repr(tester).startswith(tester.name)

"""Ten thousand random epsilons: the line itself, a hair beyond it, a hair inside.

A hair is what the certified comparison of two laws must see, so that is asked for all of them; what
a check does around it depends on no digit of epsilon, and is run for a tenth.
"""

import math
from fractions import Fraction as F
from functools import partial

import numpy as np
import pytest

import liptest as lt
from liptest.data.points import from_array
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import Answer, certify_comparison, screen_pairs
from liptest.verdicts import Decision
from tests.unit.privacy.cases import claimed, exp_of

pytestmark = pytest.mark.slow

ONE = lt.ProductDistribution.uniform(lt.Hypercube(1))
EPSILONS = 10.0 ** np.random.default_rng(2012).uniform(-6, 1.4, 10_000)
HAIR = F(1, 10**12)
NO_CLICK, CLICK = np.array([0]), np.array([1])


def check(mechanism, epsilon, **options):
    return lt.check_privacy(
        mechanism, ONE, epsilon=epsilon, method="exhaustive", seed=0, **options
    ).decision


def tight(epsilon):
    """Randomised response with float probabilities."""
    p, q = 1 / (1 + math.exp(-epsilon)), 1 / (1 + math.exp(epsilon))
    logs = np.log([[p, q], [q, p]])
    return lt.ClosedForm([0, 1], lambda datasets: logs[datasets[:, 0]])


def beyond(epsilon, hair):
    """Randomised response of rational probabilities, of loss epsilon' (1 + hair)."""
    odds = exp_of(claimed(epsilon, 1e-9) * (1 + hair))
    # Off by less than 1e-30, so the loss stays where it should be.
    odds = odds.limit_denominator(10**40)
    return lt.catalogue.exact_randomised_response(1, odds / (1 + odds))


def answers(make, epsilons=EPSILONS, **options):
    """For all epsilons, what is said of the two datasets."""
    return {
        certify_comparison(make(epsilon), NO_CLICK, CLICK, Claim(epsilon, **options)).answer
        for epsilon in epsilons
    }


def test_tight_mechanisms_are_never_refused():
    assert answers(tight) == {Answer.CLEAR}
    assert {check(tight(epsilon), epsilon) for epsilon in EPSILONS[::25]} == {Decision.YES}


def test_tight_mechanisms_are_left_open_or_accepted_without_tolerance():
    assert answers(tight, EPSILONS[:2000], tolerance=0.0) == {Answer.DOUBT}
    decisions = {check(tight(epsilon), epsilon, tolerance=0.0) for epsilon in EPSILONS[:200]}
    assert decisions == {Decision.INCONCLUSIVE}


def test_a_hair_beyond_is_refused():
    assert answers(partial(beyond, hair=HAIR)) == {Answer.VIOLATED}
    assert {check(beyond(epsilon, HAIR), epsilon) for epsilon in EPSILONS[::25]} == {Decision.NO}


def test_a_hair_inside_is_accepted():
    assert answers(partial(beyond, hair=-HAIR)) == {Answer.CLEAR}
    assert {check(beyond(epsilon, -HAIR), epsilon) for epsilon in EPSILONS[::25]} == {Decision.YES}


def test_floats_alone_would_refuse_some_of_them():
    """Half of these mechanisms are over the line in exact arithmetic, by a digit."""
    over = 0
    for epsilon in EPSILONS[:1000]:
        law = lt.output_law(tight(epsilon), [0])
        loss = F(float(law.log_probabilities[0])) - F(float(law.log_probabilities[1]))
        over += loss > F(epsilon)
    assert 200 < over < 800


def test_screening_alone_would_flag_them_without_refusing():
    mechanism = tight(1.0)
    points = next(ONE.domain.all_points())
    laws = mechanism.laws(from_array(points))
    left, right = np.array([0]), np.array([1])
    assert len(screen_pairs(laws, left, right, [Claim(1.0, 0.0, 0.0)]).flagged) == 1
    assert len(screen_pairs(laws, left, right, [Claim(1.0, 0.0, 0.0)]).certain) == 0
    assert len(screen_pairs(laws, left, right, [Claim(1.0)]).flagged) == 0

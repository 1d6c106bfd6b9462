"""Our enclosures of compositions beside Google's dp_accounting, where it is installed.

``nox -s accounting`` installs it; it is not a dependency, as it fixes older versions of others.
"""

from __future__ import annotations

import math
from importlib.util import find_spec

import pytest

import liptest as lt
from liptest.privacy.composition import compose

pytestmark = pytest.mark.skipif(
    find_spec("dp_accounting") is None, reason="dp_accounting is not installed: nox -s accounting"
)
STEP = 2.0**-14
# Of its sums of floats, and of what it cuts off.
NEAR = 1e-9


def theirs(name, size, *, is_upper=True, step=STEP):
    from dp_accounting.pld import privacy_loss_distribution as pld

    options = {"value_discretization_interval": step, "pessimistic_estimate": is_upper}
    if name == "gauss":
        dots = {"use_connect_dots": is_upper}
        return pld.from_discrete_gaussian_mechanism(size, **dots, **options)
    if not is_upper:
        return pld.from_randomized_response(2 / (1 + math.exp(size)), 2, **options)
    low, high = (-math.log1p(math.exp(one)) for one in (size, -size))
    return pld.from_two_probability_mass_functions({0: low, 1: high}, {0: high, 1: low}, **options)


def ours(name, size):
    if name == "gauss":
        return lt.ShiftMechanism(lt.Count(), lt.DiscreteGaussian(size))
    return lt.catalogue.randomised_response(1, size)


ON_A_LATTICE = [
    [("gauss", 10, 100)],
    [("response", 0.1, 1000)],
    [("gauss", 10, 50), ("response", 0.1, 50)],
]


def composed(parts):
    return compose(
        [ours(name, size) for name, size, _ in parts],
        releases=[k for _, _, k in parts],
        domain=lt.Hypercube(1),
    )


@pytest.mark.parametrize("parts", ON_A_LATTICE)
def test_both_are_alike_where_their_grid_holds_every_loss(parts):
    """All losses are multiples of 1 / 200, so that rounding them up changes nothing."""
    found, power = composed(parts), None
    # As floats have it: a quotient that is not whole would be rounded up to the next multiple.
    low, high = (-math.log1p(math.exp(one)) for one in (0.1, -0.1))
    step = (high - low) / 20
    for name, size, k in parts:
        one = theirs(name, size, step=step).self_compose(k)
        power = one if power is None else power.compose(one)
    for epsilon in (1.0, 2.0, 4.0):
        at = found.delta_at(epsilon)
        near = power.get_delta_for_epsilon(epsilon)
        assert at.lower * (1 - 1e-6) <= near <= at.upper * (1 + 1e-6)


@pytest.mark.parametrize(
    "parts",
    [*ON_A_LATTICE, [("gauss", 10, 30), ("response", math.pi / 30, 20), ("gauss", 25, 40)]],
)
def test_our_enclosure_lies_within_theirs(parts):
    found = composed(parts)
    ends = []
    for is_upper in (False, True):
        one = None
        for name, size, k in parts:
            power = theirs(name, size, is_upper=is_upper).self_compose(k)
            one = power if one is None else one.compose(power)
        ends.append(one)
    for epsilon in (1.0, 4.0, 10.0):
        at = found.delta_at(epsilon)
        below, above = (one.get_delta_for_epsilon(epsilon) for one in ends)
        if above < 1e-9:
            continue
        assert below * (1 - 1e-6) - NEAR <= at.lower
        assert at.upper <= above * (1 + 1e-6) + NEAR
        assert at.upper <= at.lower * (1 + 1e-6)

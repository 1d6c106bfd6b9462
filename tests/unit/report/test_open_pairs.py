"""An INCONCLUSIVE may show the pair it could not decide; it must never call that certain."""

from __future__ import annotations

import numpy as np
import pytest

import liptest as lt
from liptest.report.text import finding_lines

CUBE = lt.ProductDistribution.uniform(lt.Hypercube(3))
KEEP = np.log([np.e / (1 + np.e), 1 / (1 + np.e)])


def close_to_the_line(points):
    """Loss 1 with an error that is larger than the tolerance of the claim."""
    return KEEP[np.stack([1 - points[:, 0], points[:, 0]], axis=1).astype(int)]


@lt.mechanism(max_choices=20)
def late(data, rng):
    count = 0
    while rng.random() < 0.5:
        count = count + 1  # so that the loop is run as it is written
    return 1 if data[0] and count == 0 else 0


@lt.mechanism(max_choices=20)
def alike(data, rng):
    passes = 0
    while rng.random() < 0.5:
        passes = passes + 1
    return 0 * int(data.sum())


def undecided(mechanism, **claim):
    verdict = lt.check_privacy(mechanism, CUBE, method="exhaustive", seed=1, **claim)
    assert verdict.decision == "INCONCLUSIVE"
    assert verdict.witness is not None
    return verdict


@pytest.mark.parametrize(
    ("mechanism", "claim", "says"),
    [
        (
            lt.ClosedForm([0, 1], close_to_the_line, error=1e-6),
            {"epsilon": 1.0},
            "loss between 0.999998 and 1.000002; the claim allows 1",
        ),
        (
            lt.ClosedForm([0, 1], close_to_the_line, error=1e-6),
            {"epsilon": 0.5, "delta": float(np.tanh(0.5) - (np.exp(0.5) - 1) / (1 + np.e))},
            "or more; the claim allows 0.287649",
        ),
        (late, {"epsilon": 13.5}, "loss 13.1697964 or more; the claim allows 13.5"),
        (alike, {"epsilon": 13.5}, "outputs that were not explored may tell them apart"),
    ],
)
def test_an_open_pair_is_not_called_certain(mechanism, claim, says):
    verdict = undecided(mechanism, **claim)
    for text in (str(verdict), "\n".join(finding_lines(verdict)), verdict._repr_html_()):
        assert says in text
        assert "left open" in text.lower()
        assert "Certain" not in text
        assert "more than" not in text


def test_a_refutation_still_is():
    verdict = lt.check_privacy(late, CUBE, epsilon=1.0, method="neighbourhoods", seed=1)
    assert verdict.decision == "NO"
    assert "Certain: certified arithmetic" in str(verdict)
    assert "Certain: certified arithmetic" in "\n".join(finding_lines(verdict))


@lt.mechanism(max_choices=16)
def both_ways(data, rng):
    # Unbounded, and on the line of its claim: no budget is enough for numbers that are looked at.
    up, down = rng.geometric(0.5), rng.geometric(0.5)
    return int(str(int(data[0]) + int(up) - int(down)))


@pytest.mark.slow
def test_the_largest_loss_is_at_least_that_of_the_open_pair():
    verdict = undecided(both_ways, epsilon=float(np.log(2)))
    assert verdict.largest_loss >= verdict.witness.loss_lower > 0.5
    assert "Largest loss 0.000000" not in str(verdict)

"""Two remarks of the paper's section 2 about generalised differential privacy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from liptest.data.domains import Hypercube
from liptest.data.product import ProductDistribution
from liptest.lipschitz.covers import minimum_cover_of_pairs
from liptest.mechanisms.declared import ExactForm
from liptest.privacy.exact import exact_epsilon
from paper.rows import ClaimRow


def section_2(share: float = 1.0) -> list[ClaimRow]:
    """Two remarks after Definition 2.2 that do not hold; exact, so ``share`` changes nothing."""
    return [_noiseless(), _zero_mass()]


def _noiseless() -> ClaimRow:
    d, epsilon = 12, 1.0
    law = ProductDistribution.uniform(Hypercube(d))
    points = law.domain.points(np.arange(law.domain.size))
    rows, coordinates, values = law.domain.neighbour_changes(points)
    strides = law.domain.strides[coordinates]
    others = rows + (values - points[rows, coordinates]) * strides
    mass = minimum_cover_of_pairs(law, np.stack([rows, others], axis=1)).value
    rest = np.array([math.comb(d - 1, k) for k in range(d)]) / 2.0 ** (d - 1)
    zero, one = np.append(rest, 0.0), np.insert(rest, 0, 0.0)
    delta = float(np.maximum(zero - math.exp(epsilon) * one, 0.0).sum())
    return ClaimRow(
        "Section 2: GDP generalises noiseless privacy",
        f"the count without noise, d = {d} uniform bits: every neighbouring pair is bad for every "
        f"epsilon",
        f"noiselessly ({epsilon:g}, {delta:.3f})-private, but its GDP exception mass is exactly "
        f"{mass} for every epsilon",
        mass is not None and mass <= Fraction(1, 100),
        expected=False,
    )


def _zero_mass() -> ClaimRow:
    law = ProductDistribution.bernoulli([0.0, 0.5])
    # Shows bit 0, which is never 1 under D.
    mechanism = ExactForm((0, 1), lambda x: [Fraction(int(1 - x[0])), Fraction(int(x[0]))])
    bad = [(0, 2), (1, 3)]
    mass = minimum_cover_of_pairs(law, bad).value
    true = exact_epsilon(mechanism, law.domain).value
    return ClaimRow(
        "Section 2: GDP with exception mass 0 is DP",
        "a mechanism that shows a bit which is never 1 under the distribution, d = 2",
        f"exception mass {mass} for every epsilon, exact epsilon {true:g}; it holds where every "
        f"dataset has positive mass",
        math.isfinite(true),
        expected=False,
    )

"""Draws of the noise samplers against their laws: the right law passes, a wrong one fails.

Each event {|j| <= c} and {j > 0} has a known probability p. By Chernoff's bound a share s of N
draws has N KL(s, p) > t with probability at most 2 exp(-t), so with m events a correct sampler
fails with probability below 1e-12.
"""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from liptest.mechanisms.additive import AdditiveNoise, DiscreteGaussian, DiscreteLaplace

DRAWS = 60_000
RADII = range(12)
LIMIT = math.log(2 * (len(RADII) + 1) / 1e-12)


def kl(share: float, p: float) -> float:
    parts = [(share, p), (1 - share, 1 - p)]
    return sum(s * math.log(s / q) for s, q in parts if s > 0)


def looks_right(draws: np.ndarray, noise: AdditiveNoise) -> bool:
    centre = np.exp(noise.log_pmf(np.arange(-max(RADII), max(RADII) + 1)))
    middle = len(centre) // 2
    positive = (1.0 - float(np.exp(noise.log_pmf(0)))) / 2
    distances = [kl(float(np.mean(draws > 0)), positive)]
    for radius in RADII:
        p = float(centre[middle - radius : middle + radius + 1].sum())
        distances.append(kl(float(np.mean(np.abs(draws) <= radius)), p))
    return len(draws) * max(distances) <= LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian])
def test_draws_have_the_law(kind: type) -> None:
    rng = random.Random(20240601)
    noise, wrong = kind(3.0), kind(3.3)
    draws = np.array([noise.draw(rng.randrange) for _ in range(DRAWS)])
    assert looks_right(draws, noise)
    assert not looks_right(draws, wrong)
    drawn_wrong = np.array([wrong.draw(rng.randrange) for _ in range(DRAWS)])
    assert looks_right(drawn_wrong, wrong)
    assert not looks_right(drawn_wrong, noise)


@pytest.mark.slow
def test_a_lopsided_sampler_is_told() -> None:
    rng = random.Random(7)
    noise = DiscreteLaplace(3.0)
    draws = np.array([noise.draw(rng.randrange) for _ in range(DRAWS)])
    turned = np.where((draws < 0) & (np.arange(DRAWS) % 10 == 0), -draws, draws)
    assert not looks_right(turned, noise)

"""The port of OpenDP's integer noise draws from its biased law, not from the right one."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from tests.golden.catalogue_cases import catalogue
from tests.statistical.binomial import fits

DRAWS = 30_000
CELLS = 12


def shares(weight: object, cells: int = CELLS) -> list[float]:
    """Chances of 0, +-1, .., and of all larger ones together."""
    sizes = [weight(k) * (1 if k == 0 else 2) for k in range(400)]  # type: ignore[operator]
    whole = sum(sizes)
    return [*(s / whole for s in sizes[:cells]), sum(sizes[cells:]) / whole]


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1, 3])
def test_the_sampler_draws_from_its_law(scale: int) -> None:
    port = importlib.import_module(f"{catalogue().__name__}.opendp_laplace")
    rng = np.random.default_rng(11)
    drawn = [abs(port.opendp_laplace([0], rng, scale=scale)) for _ in range(DRAWS)]
    counts = np.bincount(np.minimum(drawn, CELLS), minlength=CELLS + 1).tolist()
    assert fits(counts, shares(port.sizes_law(scale)))
    # For scale 1 nothing is divided wrongly; for scale 3 the bias is far beyond chance.
    assert fits(counts, shares(port.sizes_law(scale, port.right_quotient))) == (scale == 1)

"""Settings that another file imports: two seeds, one that no source tells, and a maker."""

from __future__ import annotations

import random

import numpy as np

IMPORTED = 161
OTHER = 170
ASKED = random.SystemRandom().getrandbits(40)


def make(seed: int) -> np.random.Generator:
    """A generator whose seed another file tells."""
    return np.random.default_rng(seed)

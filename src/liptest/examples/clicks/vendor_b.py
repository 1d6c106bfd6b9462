"""Vendor B: a noisy click count as plain Python on the whole table. Claim: epsilon = 1.

The noise has the right size, but its author forgot the sign.
"""

import liptest as lt

KEEP_GOING = 0.36787944117144233  # e^-1
MOST = 40


@lt.mechanism
def count(data, rng):
    """Number of clicks plus geometric noise."""
    noise = 0
    while noise < MOST and rng.random() < KEEP_GOING:
        noise += 1
    return int(data.sum()) + noise

"""Vendor C: a noisy click count as plain Python that is handed the count only. Claim: epsilon = 1.

Right on every table anybody is likely to see. Above HIGHEST clicks the noise table of an older
version would have overflowed, and the count is returned as it is.
"""

import liptest as lt

HIGHEST = 50
NO_NOISE = 0.46211715726000973  # (1 - e^-1) / (1 + e^-1)
KEEP_GOING = 0.36787944117144233  # e^-1


@lt.mechanism(statistic=lt.Count())
def count(clicks, rng):
    """Clicks plus two-sided geometric noise, stopped at 0 and at HIGHEST."""
    if clicks > HIGHEST:
        return clicks
    if rng.random() < NO_NOISE:
        return clicks
    step = 1 if rng.random() < 0.5 else -1
    noisy = clicks + step
    while 0 < noisy < HIGHEST and rng.random() < KEEP_GOING:
        noisy += step
    return min(max(noisy, 0), HIGHEST)

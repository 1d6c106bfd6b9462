"""Claims of each notion: a mechanism just beyond its claim is caught as often as is promised.

What makes a pair bad is asked by the notion, how many draws meet a bad pair is not (theory 6.8):
the hard cases of epsilon are those of rho, Renyi divergences, mu and curves, with each claim put
between what the good pairs and what the bad ones have.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.golden.notion_oracle import divergence, largest_mu, largest_rho
from tests.statistical.binomial import is_plausible
from tests.statistical.test_privacy_power import CASES, FAILURE, caught
from tests.unit.privacy.cases import neighbouring

pytestmark = pytest.mark.slow

# The methods are those of epsilon, so that each notion needs one of them.
METHODS = {
    "rho": "edges",
    "renyi": "light-neighbourhoods",
    "mu": "edges",
    "curve": "neighbourhoods",
}
ORDER, AT = 4.0, 0.8
# Of 150 seeds a starved method misses the promise by far more than chance does.
SEEDS = 150


def _rows(case):
    logs = case.mechanism.log_pmf(next(case.distribution.domain.all_points()))
    return np.exp(logs)


def measures(case, notion):
    """The measure of each neighbouring pair, by plain sums: (index, index, value)."""
    rows, found = _rows(case), []
    for i, j in neighbouring(case.distribution.domain):
        p, q = (np.stack([rows[a], rows[b]]) for a, b in ((i, j), (j, i)))
        if notion == "rho":
            value = largest_rho(p, q)
        elif notion == "renyi":
            value = float(divergence(p, q, ORDER).max())
        elif notion == "mu":
            value = largest_mu(p, q)
        else:
            value = float(np.maximum(p - np.exp(AT) * q, 0).sum(axis=1).max())
        found.append((i, j, value))
    return found


def bad_pairs(case):
    """The pairs that break epsilon 1."""
    logs = np.log(_rows(case))
    pairs = neighbouring(case.distribution.domain)
    return {(i, j) for i, j in pairs if np.abs(logs[i] - logs[j]).max() > 1.0}


def claim_between(case, notion):
    """A claim that just the bad pairs break."""
    bad = bad_pairs(case)
    found = measures(case, notion)
    worst = max(value for i, j, value in found if (i, j) not in bad)
    least = min(value for i, j, value in found if (i, j) in bad)
    assert worst < least * 0.999
    limit = (worst + least) / 2
    if notion == "renyi":
        return {"renyi": (ORDER, limit)}
    return {"curve": {AT: limit, 3.0: 0.5}} if notion == "curve" else {notion: limit}


@pytest.mark.parametrize(("notion", "method"), METHODS.items())
def test_a_mechanism_just_beyond_its_claim_is_caught(notion, method):
    case = CASES[method]
    hits = caught(method, case, seeds=SEEDS, claim=claim_between(case, notion))
    assert is_plausible(hits, SEEDS, at_least=1 - FAILURE)


@pytest.mark.parametrize(("notion", "method"), METHODS.items())
def test_a_tenth_of_the_draws_would_not_do(notion, method):
    """The number of draws is proportional to ln(1/failure)."""
    case = CASES[method]
    hits = caught(
        method, case, failure=FAILURE**0.1, seeds=SEEDS, claim=claim_between(case, notion)
    )
    assert not is_plausible(hits, SEEDS, at_least=1 - FAILURE)

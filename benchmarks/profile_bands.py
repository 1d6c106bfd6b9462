"""Privacy profiles: time on the click data, how often bands hold, and how wide bounds are.

Widths compare, for a share seen in 20,000 draws, what the bands use (Clopper and Pearson with
Bonferroni over 40 epsilons; for means the Chernoff bound) with the band of Dvoretzky, Kiefer and
Wolfowitz, which needs no Bonferroni.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from figures import SECONDS, Figure, Row, cpu_seconds, report

import liptest as lt
from liptest.cli.demo import public_distribution
from liptest.examples.clicks import vendor_a, vendor_b, vendor_c
from liptest.privacy.samples.intervals import binomial_upper, mean_upper

FAILURE, GRID, DRAWS = 1e-6, 40, 20_000
CLICK_GRID = [0.25, 0.5, 1.0, 2.0]


def click_row(words: str, mechanism: Any, **options: Any) -> Row:
    law, found = public_distribution(), []
    seconds = cpu_seconds(
        lambda: found.append(lt.privacy_profile(mechanism, law, epsilons=CLICK_GRID, **options))
    )
    [profile] = found
    at_one = profile.at(1.0)
    return Row(
        f"clicks, d = 5000: {words}, {profile.method}",
        {"draws": profile.draws, "laws": profile.laws},
        {"draws": profile.draws, "laws": profile.laws},
        {
            SECONDS: Figure(seconds, at_most=30.0),
            "lower at 1": Figure(at_one.lower),
            "upper at 1": Figure(at_one.upper),
        },
    )


def noisy_count(datasets: Any) -> Any:
    """Vendor A's law, of a function that is handed the table: nothing can be exact."""
    return vendor_a.log_probabilities(datasets.sum(axis=1, dtype=np.int64))


def coverage_row(words: str, mechanism: Any, law: Any, method: str, runs: int) -> Row:
    grid = [0.3, 0.7, 1.2, 2.0]
    exact = lt.privacy_profile(mechanism, law, epsilons=grid, method="exact")
    covered = strictly = 0
    for seed in range(runs):
        band = lt.privacy_profile(
            mechanism,
            law,
            epsilons=grid,
            method=method,
            draws=300,
            failure_probability=0.2,
            exception_mass=0.05,
            seed=seed,
        )
        pairs = list(zip(band.points, exact.points, strict=True))
        covered += all(b.lower <= e.lower and e.upper <= b.upper for b, e in pairs)
        strictly += all(b.lower < e.lower and e.upper < b.upper for b, e in pairs if e.lower)
    return Row(
        f"coverage, failure 0.2: {words}, {method}",
        {"runs": runs},
        {"runs": runs},
        {
            "share covered": Figure(covered / runs, at_least=0.8),
            "strictly": Figure(strictly / runs),
        },
    )


def random_mechanism(domain: Any) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    table = np.log(rng.dirichlet(np.ones(2), domain.size))
    law = lt.ProductDistribution(domain, [rng.dirichlet(np.full(n, 2.0)) for n in domain.sizes])
    return lt.ClosedForm(range(2), lambda x: table[domain.index(x)]), law


def width_row(share: float) -> Row:
    hits = round(share * DRAWS)
    each = FAILURE / (3 * GRID)
    dkw = math.sqrt(math.log(2 / (FAILURE / 3)) / (2 * DRAWS))
    return Row(
        f"excess of the upper bound at a share of {share:g}",
        {"draws": DRAWS},
        {"draws": DRAWS},
        {
            "counts": Figure(binomial_upper(hits, DRAWS, each) - share),
            "means": Figure(mean_upper(share, DRAWS, each) - share),
            "DKW": Figure(dkw),
        },
    )


def measure(quick: bool) -> list[Row]:
    table = lt.ClosedForm(range(61), noisy_count, name="count of the table")
    few = {"draws": 20} if quick else {}
    rows = [
        click_row("vendor A (a count)", vendor_a.count),
        click_row("vendor C (a count)", vendor_c.count),
        click_row("vendor A as a table", table, seed=1, **few),
        click_row("vendor B (a table)", vendor_b.count, seed=1, budget=400 if quick else 60_000),
    ]
    runs = 5 if quick else 1000
    needle = lt.catalogue.needle(3, [1, 1, 1], 0.5)
    law = lt.ProductDistribution.bernoulli([0.5, 0.6, 0.4])
    for method in ("neighbourhoods", "light-neighbourhoods"):
        rows.append(coverage_row("a needle", needle, law, method, runs))
        rows += [
            coverage_row(str(domain), *random_mechanism(domain), method, runs)
            for domain in (lt.Hypercube(4), lt.Hypergrid([4, 3]), lt.RecordGrid([3, 3]))
        ]
    return rows + [width_row(share) for share in (0.0, 0.001, 0.01, 0.1, 0.5)]


if __name__ == "__main__":
    report("Privacy profiles", measure)

"""The sampling methods of theory section 3: how each draws, plans and what it guarantees."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from liptest.data.distributions import Distribution, require_product
from liptest.data.domains import AllAnswers, Hypercube, Hypergrid
from liptest.data.edges import min_mass_edges
from liptest.data.points import PointBatch
from liptest.data.product import ProductDistribution
from liptest.errors import InputError
from liptest.lipschitz.testers import cheapest_tester
from liptest.lipschitz.testers.base import PairTester
from liptest.mechanisms.base import Mechanism
from liptest.privacy.samples.intervals import clean_draws
from liptest.privacy.verdicts import PrivacyPlan
from liptest.runs.driver import QueryBatch

Masses = NDArray[np.float64]
Values = NDArray[np.signedinteger]
Draw = Callable[[np.random.Generator, int], QueryBatch]

# Laws that take some ten seconds: a law costs about a microsecond from a formula, a
# millisecond from enumerated code, and next to nothing when it is one of a statistic's few.
_AFFORDABLE = {"statistic": 10**10, "declared": 2 * 10**7, "enumerated": 10**5}


@dataclass(frozen=True)
class SamplingMethod:
    """A planned method: its law of batches, its plan, and the form of its guarantee."""

    draw: Draw
    plan: PrivacyPlan
    group_form: bool = False
    per_record: bool = False
    not_covered: tuple[int, ...] = ()
    vacuous: str = ""
    pairs_per_draw: float = 1.0


def full_neighbourhoods(
    distribution: Distribution, rng: np.random.Generator, count: int
) -> QueryBatch:
    """x ~ D against all its neighbours (theory 3.6b); any distribution, any relation."""
    centres, domain = distribution.sample(rng, count), distribution.domain
    if isinstance(domain, AllAnswers):
        return QueryBatch.of_neighbourhoods(centres, *domain.neighbourhoods(centres))
    return QueryBatch(PointBatch(centres, *distribution.domain.neighbour_changes(centres)))


def light_neighbourhoods(
    distribution: ProductDistribution, rng: np.random.Generator, count: int
) -> QueryBatch:
    """x ~ D against the neighbours of which it is the lighter end (theory 3.6)."""
    centres = distribution.sample(rng, count)
    if isinstance(distribution.domain, Hypercube):
        # The end with the larger coordinate takes ties.
        light = (distribution.probabilities <= 0.5).astype(centres.dtype)
        rows, coordinates = np.nonzero(centres == light)
        values = 1 - light[coordinates].astype(np.int64)
        return QueryBatch(PointBatch(centres, rows, coordinates, values))
    rows, coordinates, values = distribution.domain.neighbour_changes(centres)
    here = centres[rows, coordinates]
    mass = pad_marginals(distribution)
    mine = is_lighter_end(mass[coordinates, here], mass[coordinates, values], here, values)
    return QueryBatch(PointBatch(centres, rows[mine], coordinates[mine], values[mine]))


def is_lighter_end(own: Masses, other: Masses, here: Values, there: Values) -> NDArray[np.bool_]:
    """Whether values with these masses are the lighter ends of changes; larger ones take ties."""
    return np.asarray((own < other) | ((own == other) & (here > there)))


def pad_marginals(distribution: ProductDistribution) -> Masses:
    """(d, values) probability of each value of each record."""
    if isinstance(distribution.domain, Hypercube):
        return np.stack([1.0 - distribution.probabilities, distribution.probabilities], axis=1)
    masses = distribution.marginals()
    padded = np.zeros((len(masses), max(distribution.domain.sizes)))
    for r, mass in enumerate(masses):
        padded[r, : len(mass)] = mass
    return padded


def edge_pairs(
    distribution: ProductDistribution, rng: np.random.Generator, count: int
) -> QueryBatch:
    """Neighbouring pairs with probability min(p_x, p_y)/S (theory 3.5)."""
    return QueryBatch(min_mass_edges(distribution).draw(rng, count))


def neighbourhoods(distribution: Distribution, mass: float, failure: float) -> SamplingMethod:
    """Theory 3.6b: n draws, all neighbours."""
    if isinstance(distribution.domain, AllAnswers):
        distribution.domain.check_neighbourhoods()
    n = clean_draws(mass, failure)
    per_draw = 1.0 + mean_neighbours(distribution)
    return SamplingMethod(
        partial(full_neighbourhoods, distribution),
        PrivacyPlan("neighbourhoods", n, n * per_draw, per_draw, "theory 3.6b"),
        per_record=True,
    )


def light(distribution: Distribution, mass: float, failure: float) -> SamplingMethod:
    """Theory 3.6: n draws, 1 + S laws each on average."""
    product = require_product(distribution, "method='light-neighbourhoods'")
    n, total = clean_draws(mass, failure), min_mass_edges(product).total
    return SamplingMethod(
        partial(light_neighbourhoods, product),
        PrivacyPlan("light-neighbourhoods", n, n * (1 + total), 1 + total, "theory 3.6"),
        not_covered=find_uncovered_records(product, mass),
        vacuous=_vacuous(total, mass),
    )


def edges(distribution: Distribution, mass: float, failure: float) -> SamplingMethod:
    """Theory 3.5: ceil((S / exception_mass) ln(1 / failure)) pairs."""
    product = require_product(distribution, "method='edges'")
    total = min_mass_edges(product).total
    n = math.ceil(total / mass * math.log(1.0 / failure))
    return SamplingMethod(
        partial(edge_pairs, product),
        PrivacyPlan("edges", n, 2.0 * n, 2.0, "theory 3.5"),
        not_covered=find_uncovered_records(product, mass),
        vacuous=_vacuous(total, mass),
    )


def group(
    mechanism: Mechanism, distribution: Distribution, mass: float, failure: float
) -> SamplingMethod:
    """Theory 3.4: one sample for all outputs, certifying the group (metric) form."""
    return group_form(distribution, finite_outputs(mechanism, "method='group'"), mass, failure)


def group_form(
    distribution: Distribution, outputs: int, mass: float, failure: float
) -> SamplingMethod:
    """``group`` for a number of outputs."""
    tester: PairTester = cheapest_tester(distribution)
    constant = tester.detection_constant(distribution)
    n = math.ceil(constant * outputs / mass * math.log(1.0 / failure))
    per_draw = tester.points_per_draw(distribution)
    nothing = (
        ""
        if constant * outputs > mass
        else (
            f"every mechanism passes this method here: {constant:g} * {outputs} outputs <= "
            f"exception_mass={mass:g}"
        )
    )
    return SamplingMethod(
        partial(tester.draw, distribution),
        PrivacyPlan("group", n, float(n * per_draw), per_draw, f"theory 3.4, {tester.name}"),
        group_form=True,
        not_covered=find_uncovered_records(distribution, mass),
        vacuous=nothing,
        pairs_per_draw=tester.pairs_per_draw(distribution),
    )


def finite_outputs(mechanism: Mechanism, who: str) -> int:
    """Number of declared outputs; InputError when the range is not declared."""
    if mechanism.outputs is None:
        raise InputError(
            f"{who} needs the finite range of {mechanism.name}; declare it with "
            f"@lt.mechanism(outputs=[...]), or use method='neighbourhoods'",
            name="outputs",
        )
    return len(mechanism.outputs)


def affordable_laws(mechanism: Mechanism, use: str) -> int:
    """Laws that take some ten seconds; ``use`` is "sampling" or "plain"."""
    if use == "sampling" and mechanism.statistic is not None:
        return _AFFORDABLE["statistic"]
    return _AFFORDABLE.get(mechanism.source, _AFFORDABLE["enumerated"])


def mean_neighbours(distribution: Distribution) -> float:
    """Expected number of neighbours of a draw (exact for cubes, records and product laws)."""
    domain = distribution.domain
    if isinstance(domain, AllAnswers):
        return _count_mean_neighbours(distribution, domain)
    if not isinstance(domain, Hypergrid):
        return float((domain.size_array - 1).sum())
    if isinstance(distribution, ProductDistribution):
        ends = sum(
            float(mass[0] + mass[-1]) if len(mass) > 1 else 2.0 for mass in distribution.marginals()
        )
        return 2.0 * domain.dimension - ends
    return 2.0 * domain.dimension


def _count_mean_neighbours(distribution: Distribution, domain: AllAnswers) -> float:
    # Known for independent answers, a bound otherwise.
    if not isinstance(distribution, ProductDistribution):
        return float(domain.most_neighbours)
    near = [3.0 - float(mass[0] + mass[-1]) for mass in distribution.marginals() if len(mass) > 1]
    return math.prod(near) - 1.0


def find_uncovered_records(distribution: Distribution, mass: float) -> tuple[int, ...]:
    """Coordinates whose bad pairs could all hide in a set of mass <= ``mass`` (theory 3.6b).

    Product laws; for others the masses are not known, and nothing is listed.
    """
    if not isinstance(distribution, ProductDistribution):
        return ()
    if isinstance(distribution.domain, Hypercube):
        p = distribution.probabilities
        covers = np.minimum(p, 1.0 - p)
    else:
        hide = _path_cover if isinstance(distribution.domain, Hypergrid) else _all_but_one
        covers = np.array([hide(mass) for mass in distribution.marginals()])
    return tuple(np.flatnonzero(covers <= mass).tolist())


def paper_laws(
    distribution: Distribution, outputs: int | None, mass: float, failure: float
) -> float:
    """Laws that the paper's A_test with Algorithm 3 asks for, as printed (theory 5).

    Per output: proximity mass/|outputs|, failure/|outputs|, the best step e/(2 d^2), r = d.
    inf where it does not apply.
    """
    if outputs is None or not isinstance(distribution, ProductDistribution):
        return math.inf
    if not isinstance(distribution.domain, Hypercube):
        return math.inf
    d, proximity = distribution.domain.dimension, mass / outputs
    step, rest = proximity / (2 * d * d), proximity / 2
    factor = math.log(2 * outputs / failure)
    return outputs * (2 / rest * factor + 2 * d * d / (step * rest) * factor)


def _vacuous(total: float, mass: float) -> str:
    if total > mass:
        return ""
    return (
        f"this method says nothing here: the lighter ends of all neighbouring pairs weigh "
        f"{total:g} <= exception_mass={mass:g} together; use method='neighbourhoods' or a "
        f"smaller exception_mass"
    )


def _all_but_one(mass: NDArray[np.float64]) -> float:
    return float(mass.sum() - mass.max())


def _path_cover(mass: NDArray[np.float64]) -> float:
    # Lightest set of values that meets every pair (i, i + 1).
    without, with_last = 0.0, 0.0
    for value in mass:
        without, with_last = with_last, min(without, with_last) + float(value)
    return min(without, with_last)

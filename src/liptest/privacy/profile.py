"""Privacy profiles: exception mass against epsilon, exactly or in bands (theory 3.9, 3.16)."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

from liptest.data.distributions import (
    Distribution,
    ProductDistribution,
    check_distribution,
    require_product,
)
from liptest.data.domains import require_one_at_a_time
from liptest.errors import BudgetError, InputError, check_count, shown
from liptest.mechanisms.base import ClosedFormLosses, Mechanism, check_mechanism
from liptest.privacy.band_levels import EpsilonGrid, Geometry, even_grid
from liptest.privacy.bands import PILOT_DRAWS, Bands, BandTask, pilot_grid, sampled_bands
from liptest.privacy.choice import affordable_laws
from liptest.privacy.claims import Claim, parse_epsilon
from liptest.privacy.comparison import shown_loss
from liptest.privacy.exception_mass import has_count_mass, mass_source
from liptest.privacy.exhaustive import exhaustive_size
from liptest.privacy.intervals import clean_draws
from liptest.privacy.methods import mean_neighbours
from liptest.privacy.profile_result import ExceptionMass, PrivacyProfile
from liptest.privacy.settings import CheckSettings
from liptest.runs.driver import Progress
from liptest.statistics.protocol import check_statistic

METHODS = ["auto", "exact", "neighbourhoods", "light-neighbourhoods"]


_GRID = 40


# Beyond, "auto" samples: one maximum flow per epsilon would take seconds each.
_EASY_PAIRS = 250_000


def privacy_profile(
    mechanism: Any,
    distribution: Distribution,
    *,
    epsilons: Sequence[float] | None = None,
    delta: float = 0.0,
    tolerance: float = 1e-9,
    method: str = "auto",
    exception_mass: float = 1e-3,
    failure_probability: float = 1e-6,
    draws: int | None = None,
    budget: int | None = None,
    seed: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> PrivacyProfile:
    """Exception mass for each epsilon of a grid, from one run (theory 3.9, 3.16).

    Exact on small domains and for mechanisms that see only a count; otherwise bands that hold
    at all epsilons at once with probability 1 - failure_probability (docs/profile.md).

    Parameters
    ----------
    mechanism, distribution, delta, tolerance, seed, executor, progress
        As in ``check_privacy``.
    epsilons
        The grid, above 0. Default: 40 values up to the largest finite loss; for bands, to the
        largest of a pilot of 200 datasets that is drawn apart and thrown away.
    method
        "auto", "exact", "neighbourhoods" (each dataset against all its neighbours), or
        "light-neighbourhoods" (product laws: only the neighbours of which it is the lighter end).
    exception_mass
        The mass that bands are to resolve: where no bad pair is seen, they end below it.
        ``certified_epsilon`` is the smallest epsilon for it.
    failure_probability
        Chance that anything in the profile is wrong.
    draws
        Datasets to draw; default: enough for ``exception_mass``.
    budget
        Most output laws to ask for, on average: lowers the draws before anything is looked at.

    Raises
    ------
    InputError
        A wrong argument, or "exact" for a distribution without masses.
    MechanismError
        The mechanism is broken.
    BudgetError
        "exact" on more than ``MAX_PAIRS`` neighbouring pairs, or a budget below one draw.
    """
    checked, law = check_mechanism(mechanism), check_distribution(distribution, together=True)
    check_statistic(checked, law.domain)
    if method not in METHODS:
        raise InputError(
            f"method={shown(method)} is unknown; use one of {', '.join(METHODS)}", name="method"
        )
    settings = CheckSettings(
        epsilon=1.0,  # the grid stands for it
        delta=delta,
        tolerance=tolerance,
        exception_mass=exception_mass,
        failure_probability=failure_probability,
        budget=budget,
        seed=seed,
        executor=executor,
        progress=progress,
    )
    grid = None if epsilons is None else _grid(epsilons, settings.claim)
    if method == "exact" or (method == "auto" and _is_affordable(checked, law)):
        return _exact(checked, law, grid, settings.claim)
    require_one_at_a_time(law.domain, "a profile from draws")
    task = BandTask(
        mechanism=checked,
        distribution=law,
        light=_is_light(checked, law, method, settings),
        seed=secrets.randbits(128) if settings.seed is None else settings.seed,
        failure_probability=settings.failure_probability,
        executor=executor,
        progress=progress,
    )
    size = _GRID if grid is None else len(grid)
    mass = settings.exception_mass
    planned = task.draws_for(mass, size) if draws is None else check_count("draws", draws)
    planned = _within(settings.budget, planned, task, pilot=grid is None)
    if grid is None:
        grid = pilot_grid(task, _GRID, settings.claim)
    bands = sampled_bands(task, grid, planned, mass)
    return _sampled(task, grid, bands, mass)


def _grid(epsilons: Sequence[float], claim: Claim) -> EpsilonGrid:
    """The grid, ascending; InputError when it is empty or holds what is no epsilon."""
    try:
        listed = [epsilons] if isinstance(epsilons, str) else list(epsilons)
        numbers = [float(parse_epsilon(epsilon)) for epsilon in listed]
    except TypeError:
        raise InputError(
            f"epsilons={shown(epsilons)} must be a list of numbers above 0, such as [0.5, 1, 2]",
            name="epsilons",
            value=epsilons,
        ) from None
    values = sorted({float(replace(claim, epsilon=number).epsilon) for number in numbers})
    if not values:
        raise InputError("epsilons=() is empty; give at least one epsilon", name="epsilons")
    return EpsilonGrid(tuple(values), claim.delta, claim.tolerance)


def _exact(
    mechanism: Mechanism,
    distribution: Distribution,
    grid: EpsilonGrid | None,
    claim: Claim,
) -> PrivacyProfile:
    started = time.perf_counter()
    source = mass_source(mechanism, distribution)
    losses = source.losses
    if grid is None:
        finite = losses[losses < 1e6]
        top = float(finite.max(initial=0.0)) or 1.0
        grid = even_grid(top, _GRID, claim.delta, claim.tolerance)
    points = source.at_each(grid.claims)
    return PrivacyProfile(
        points,
        shown_loss(float(losses.max(initial=0.0))),
        tolerance=claim.tolerance,
        mechanism=mechanism.name,
        distribution=distribution.source,
        seconds=time.perf_counter() - started,
    )


def _sampled(task: BandTask, grid: EpsilonGrid, bands: Bands, mass: float) -> PrivacyProfile:
    points = zip(grid.epsilons, bands.lower.tolist(), bands.upper.tolist(), strict=True)
    return PrivacyProfile(
        tuple(ExceptionMass(e, grid.delta, lower, upper) for e, lower, upper in points),
        bands.total.largest,
        method="light-neighbourhoods" if task.light else "neighbourhoods",
        failure_probability=task.failure_probability,
        exception_mass=mass,
        certified_epsilon=bands.certified,
        tolerance=grid.tolerance,
        mechanism=task.mechanism.name,
        distribution=task.distribution.source,
        draws=bands.total.draws,
        laws=bands.total.queries,
        seed=task.seed,
        seconds=bands.seconds,
    )


def _is_affordable(mechanism: Mechanism, distribution: Distribution) -> bool:
    """Whether "auto" computes the profile exactly."""
    if has_count_mass(mechanism, distribution):
        return True
    if isinstance(mechanism, ClosedFormLosses) or not Geometry(distribution).has_masses:
        return False
    domain = distribution.domain
    possible = exhaustive_size(mechanism, domain).possible
    few = domain.neighbouring_pairs <= _EASY_PAIRS
    return possible and few and domain.size <= affordable_laws(mechanism, "plain")


def _is_light(
    mechanism: Mechanism, distribution: Distribution, method: str, settings: CheckSettings
) -> bool:
    if method == "light-neighbourhoods":
        require_product(distribution, "method='light-neighbourhoods'")
        return True
    if method == "neighbourhoods" or not isinstance(distribution, ProductDistribution):
        return False
    laws = clean_draws(settings.exception_mass, settings.failure_probability) * (
        1.0 + mean_neighbours(distribution)
    )
    return laws > affordable_laws(mechanism, "sampling")


def _within(budget: int | None, draws: int, task: BandTask, *, pilot: bool) -> int:
    if budget is None:
        return draws
    most = int(budget / task.laws_per_draw) - pilot * PILOT_DRAWS
    if most < 1:
        raise BudgetError(
            f"budget={budget:,} output laws do not pay for one draw of "
            f"{task.laws_per_draw:,.0f} laws"
            + (f" and a pilot of {PILOT_DRAWS}; give epsilons=" if pilot else ""),
            budget=budget,
        )
    return min(draws, most)

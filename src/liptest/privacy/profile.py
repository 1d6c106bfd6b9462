"""Privacy profiles: exception mass against epsilon, exactly or in bands (theory 3.9, 3.16).

With them, or of a domain alone, the curves of what all neighbours tell (theory 6.22).
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

from liptest.data.distributions import (
    Distribution,
    DomainAlone,
    check_distribution,
    require_product,
    require_tables,
)
from liptest.data.domains import Domain, require_one_at_a_time
from liptest.data.product import ProductDistribution
from liptest.errors import BudgetError, InputError, check_count, quote
from liptest.mechanisms.base import ClosedFormLosses, Mechanism, check_mechanism
from liptest.privacy.claims import Claim, parse_epsilon, require_epsilon
from liptest.privacy.comparison import show_loss
from liptest.privacy.divergences.curves import privacy_curves
from liptest.privacy.exception_mass import ExceptionMass, has_count_mass, mass_source
from liptest.privacy.methods import affordable_laws, neighbourhoods
from liptest.privacy.proofs.exhaustive import exhaustive_size
from liptest.privacy.request import Task
from liptest.privacy.samples.bands import (
    PILOT_DRAWS,
    Bands,
    Grid,
    Profiling,
    claims_at,
    even_grid,
    pilot_grid,
    sample_bands,
)
from liptest.privacy.samples.pair_roles import Geometry
from liptest.privacy.settings import CheckSettings
from liptest.privacy.wording.profile_result import PrivacyCurves, PrivacyProfile
from liptest.runs.driver import Progress
from liptest.runs.progress import check_progress
from liptest.statistics.protocol import check_seen_statistic

METHODS = ["auto", "exact", "neighbourhoods", "light-neighbourhoods"]
_GRID = 40
# Beyond, "auto" samples: one maximum flow per epsilon would take seconds each.
_EASY_PAIRS = 250_000


def privacy_profile(
    mechanism: Any,
    distribution: Distribution | Domain,
    *,
    epsilons: Sequence[float] | None = None,
    delta: float = 0.0,
    tolerance: float = 1e-9,
    method: str = "auto",
    curves: bool = False,
    exception_mass: float = 1e-3,
    failure_probability: float = 1e-6,
    draws: int | None = None,
    budget: int | None = None,
    seed: int | None = None,
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
) -> PrivacyProfile:
    """Exception mass for each epsilon of a grid, from one run (theory 3.9, 3.16).

    Exact on small domains and for mechanisms that see only a count; otherwise bands that hold
    at all epsilons at once with probability 1 - failure_probability (docs/profile.md).

    Parameters
    ----------
    mechanism, distribution, delta, tolerance, seed, executor, progress
        As in ``check_privacy``. Of a domain alone the profile has curves, and no points.
    epsilons
        The grid, above 0. Default: 40 values up to the largest finite loss; for bands, to the
        largest of a pilot of 200 datasets that is drawn apart and thrown away.
    method
        "auto", "exact", "neighbourhoods" (each dataset against all its neighbours), or
        "light-neighbourhoods" (product laws: only the neighbours of which it is the lighter end).
    curves
        Whether to add the epsilon-delta, Renyi and trade-off curves of all neighbours of the
        domain, from the same laws (theory 6.22): ``profile.curves``.
    exception_mass
        The mass that bands are to resolve: where no bad pair is seen, they end below it.
        ``certified_epsilon`` is the smallest epsilon for it.
    failure_probability
        Chance that anything in the profile is wrong.
    draws
        Datasets to draw; default: enough for ``exception_mass``.
    budget
        Most output distributions to compute, on average: lowers the draws before anything is
        looked at.

    Raises
    ------
    InputError
        A wrong argument, or "exact" for a distribution without masses.
    MechanismError
        The mechanism is broken.
    BudgetError
        "exact" on more than ``MAX_PAIRS`` neighbouring pairs, or a budget below one draw.
    """
    if isinstance(distribution, (Domain, DomainAlone)):
        return _of_domain(mechanism, distribution, epsilons, method, executor)
    law = check_distribution(distribution, together=True)
    require_tables(law)
    checked = check_mechanism(mechanism, law.domain)
    check_seen_statistic(checked, law.domain)
    if method not in METHODS:
        raise InputError(
            f"method={quote(method)} is unknown; use one of {', '.join(METHODS)}", name="method"
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
        progress=check_progress(progress),
    )
    claim = require_epsilon("a privacy profile", settings.claim)
    grid = None if epsilons is None else _grid(epsilons, claim)

    def curves_on(chosen: Grid | None) -> PrivacyCurves | None:
        if not curves:
            return None
        return privacy_curves(checked, law.domain, epsilons=_values(chosen), executor=executor)

    if method == "exact" or (method == "auto" and _is_affordable(checked, law)):
        profile = replace(_exact(checked, law, grid, claim), curves=curves_on(grid))
    else:
        require_one_at_a_time(law.domain, "a profile from draws")
        profiling, grid, planned = _plan_draws(checked, law, settings, method, grid, draws)
        drawn = curves_on(grid)  # before anything is drawn: they may be refused
        profile = _sample_profile(profiling, grid, sample_bands(profiling, grid, planned))
        profile = replace(profile, curves=drawn)
    checked.check_not_determined()
    return profile


def _plan_draws(
    mechanism: Mechanism,
    law: Distribution,
    settings: CheckSettings,
    method: str,
    grid: Grid | None,
    draws: int | None,
) -> tuple[Profiling, Grid, int]:
    """What draws datasets, the grid, of a pilot where none was given, and how many to draw."""
    # A budget lowers the draws beforehand: bands of a run that it ends would not hold.
    task = Task(
        mechanism=mechanism,
        distribution=law,
        settings=replace(settings, budget=None),
        seed=secrets.randbits(128) if settings.seed is None else settings.seed,
    )
    profiling = Profiling(task, _is_light(task, method))
    size = _GRID if grid is None else len(grid)
    planned = profiling.draws_for(size) if draws is None else check_count("draws", draws)
    planned = _within(settings.budget, planned, profiling, pilot=grid is None)
    return profiling, pilot_grid(profiling, _GRID) if grid is None else grid, planned


def _of_domain(
    mechanism: Any,
    given: Domain | Distribution,
    epsilons: Sequence[float] | None,
    method: str,
    executor: Executor | None,
) -> PrivacyProfile:
    """Curves alone: there is no distribution that excepted datasets could have a mass under."""
    if method != "auto":
        raise InputError(
            f"method={quote(method)}: of a domain alone there are curves only; leave method= out, "
            f"or give a distribution of datasets",
            name="method",
        )
    started = time.perf_counter()
    domain = given if isinstance(given, Domain) else given.domain
    checked = check_mechanism(mechanism, domain)
    check_seen_statistic(checked, domain)
    grid = None if epsilons is None else _grid(epsilons, Claim(1.0, 0.0))
    curves = privacy_curves(checked, domain, epsilons=_values(grid), executor=executor)
    checked.check_not_determined()
    seconds = time.perf_counter() - started
    return PrivacyProfile((), math.inf, mechanism=checked.name, seconds=seconds, curves=curves)


def _values(grid: Grid | None) -> list[float] | None:
    return None if grid is None else [float(claim.epsilon) for claim in grid]


def _grid(epsilons: Sequence[float], claim: Claim) -> Grid:
    """The grid, ascending; InputError when it is empty or holds what is not an epsilon."""
    try:
        listed = [epsilons] if isinstance(epsilons, str) else list(epsilons)
        numbers = [float(parse_epsilon(epsilon)) for epsilon in listed]
    except TypeError:
        raise InputError(
            f"epsilons={quote(epsilons)} must be a list of numbers above 0, such as [0.5, 1, 2]",
            name="epsilons",
            value=epsilons,
        ) from None
    values = sorted({float(replace(claim, epsilon=number).epsilon) for number in numbers})
    if not values:
        raise InputError("epsilons=() is empty; give at least one epsilon", name="epsilons")
    return claims_at(values, claim.delta, claim.tolerance)


def _exact(
    mechanism: Mechanism,
    distribution: Distribution,
    grid: Grid | None,
    claim: Claim,
) -> PrivacyProfile:
    started = time.perf_counter()
    source = mass_source(mechanism, distribution)
    losses = source.losses
    if grid is None:
        finite = losses[losses < 1e6]
        top = float(finite.max(initial=0.0)) or 1.0
        grid = even_grid(top, _GRID, claim)
    points = source.at_each(grid)
    return PrivacyProfile(
        points,
        show_loss(float(losses.max(initial=0.0))),
        tolerance=claim.tolerance,
        mechanism=mechanism.name,
        distribution=distribution.source,
        seconds=time.perf_counter() - started,
    )


def _sample_profile(profiling: Profiling, grid: Grid, bands: Bands) -> PrivacyProfile:
    task = profiling.task
    bounds = zip(grid, bands.lower.tolist(), bands.upper.tolist(), strict=True)
    return PrivacyProfile(
        tuple(ExceptionMass(float(c.epsilon), c.delta, low, high) for c, low, high in bounds),
        bands.total.largest,
        method=profiling.method.plan.method,
        failure_probability=task.settings.failure_probability,
        exception_mass=task.settings.exception_mass,
        certified_epsilon=bands.certified,
        tolerance=task.claim.tolerance,
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


def _is_light(task: Task, method: str) -> bool:
    distribution, settings = task.distribution, task.settings
    if method == "light-neighbourhoods":
        require_product(distribution, "method='light-neighbourhoods'")
        return True
    if method == "neighbourhoods" or not isinstance(distribution, ProductDistribution):
        return False
    full = neighbourhoods(distribution, settings.exception_mass, settings.failure_probability)
    return full.plan.laws > affordable_laws(task.mechanism, "sampling")


def _within(budget: int | None, draws: int, profiling: Profiling, *, pilot: bool) -> int:
    if budget is None:
        return draws
    laws_per_draw = profiling.method.plan.laws_per_draw
    most = int(budget / laws_per_draw) - pilot * PILOT_DRAWS
    if most < 1:
        raise BudgetError(
            f"budget={budget:,} output distributions do not pay for one draw of "
            f"{laws_per_draw:,.0f} laws"
            + (f" and a pilot of {PILOT_DRAWS}; give epsilons=" if pilot else ""),
            budget=budget,
        )
    return min(draws, most)

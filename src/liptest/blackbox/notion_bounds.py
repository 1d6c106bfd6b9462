"""Lower bounds of rho (zCDP) and mu (Gaussian DP) from samples alone: sequential, B6."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from liptest.blackbox.check import list_pairs, make_sample_task
from liptest.blackbox.learning import Aim, Event, log_tail
from liptest.blackbox.race import Round
from liptest.blackbox.samplers import Sampler
from liptest.data.distributions import Distribution
from liptest.errors import check_open_unit
from liptest.privacy.divergences.likelihoods import LikelihoodPair
from liptest.privacy.divergences.renyi import PairOrders, enclose_rho
from liptest.privacy.divergences.tradeoff import enclose_mu

# Log odds beyond which no probability is told from 0 or 1, and where bisection ends.
_FAR, _STEP = 60.0, 1e-9


@dataclass(frozen=True)
class NotionBound:
    """With probability at least 1 - ``failure_probability``, ``notion`` is not below this.

    Parameters
    ----------
    notion
        "rho" or "mu".
    dataset, neighbour, event
        The pair and the set of outputs, fixed before these samples were drawn.
    draws, hits
        On the dataset and on the neighbour: samples, and how many lay in the event.
    lower_bound
        0 when nothing is known.
    """

    notion: str
    dataset: tuple[int, ...]
    neighbour: tuple[int, ...]
    event: Event
    draws: tuple[int, int]
    hits: tuple[int, int]
    lower_bound: float
    failure_probability: float

    def __str__(self) -> str:
        shown = math.floor(self.lower_bound * 1e4) / 1e4
        percent = f"{100 * (1 - self.failure_probability):.8g} %"
        left, right = (f"{h:,} of {n:,}" for h, n in zip(self.hits, self.draws, strict=True))
        return (
            f"{self.notion} at least {shown:.4f}, with confidence {percent}: {self.event} in "
            f"{left} samples on one dataset and {right} on its neighbour"
        )


def rho_lower_bound(
    sampler: Sampler,
    data: Distribution | list[Any] | tuple[Any, ...],
    *,
    failure_probability: float = 0.05,
    samples: int = 1_000_000,
    seed: int | None = None,
    executor: Executor | None = None,
) -> NotionBound:
    """A lower bound of the rho for which a mechanism is rho-zCDP; as ``epsilon_lower_bound``.

    It is what one set of outputs shows: the true rho may be well above it.
    """
    options = (failure_probability, samples, seed, executor)
    return _bound("rho", _smallest_rho, sampler, data, *options)


def mu_lower_bound(
    sampler: Sampler,
    data: Distribution | list[Any] | tuple[Any, ...],
    *,
    failure_probability: float = 0.05,
    samples: int = 1_000_000,
    seed: int | None = None,
    executor: Executor | None = None,
) -> NotionBound:
    """A lower bound of the mu of Gaussian DP; as ``rho_lower_bound``."""
    options = (failure_probability, samples, seed, executor)
    return _bound("mu", _smallest_mu, sampler, data, *options)


def _bound(
    notion: str,
    measure: Callable[[LikelihoodPair], float],
    sampler: Sampler,
    data: Any,
    failure_probability: float,
    samples: int,
    seed: int | None,
    executor: Executor | None,
) -> NotionBound:
    failure = check_open_unit("failure_probability", failure_probability)
    task = make_sample_task(sampler, list_pairs(data), samples, seed, executor)
    # Sets that tell most apart at a loss of 0, not those of the largest loss.
    aim = Aim(0.0, 0.0, 0.3 * task.samples, 0.0)
    _, tested = Round(task.source, task.pairs, task.samples, aim, 0).run()
    assert tested is not None
    low = least_probability(tested.hits[0], tested.draws[0], failure / 2)
    high = 1 - least_probability(tested.draws[1] - tested.hits[1], tested.draws[1], failure / 2)
    bound = measure(LikelihoodPair.of_masses([(low, high), (1 - low, 1 - high)]))
    left, right = (task.pairs.datasets[end].tolist() for end in tested.pair)
    return NotionBound(
        notion,
        tuple(left),
        tuple(right),
        tested.event,
        tested.draws,
        tested.hits,
        max(0.0, bound * (1 - 1e-12)) if low > high else 0.0,
        failure,
    )


def least_probability(hits: int, draws: int, level: float) -> Fraction:
    """A lower bound of a probability: above the truth with chance ``level`` at most.

    Clopper and Pearson's, rounded down: the binomial tail at it is certified to be below level.
    """
    low, high = -_FAR, _FAR
    if hits == 0 or log_tail(hits, draws, low) > math.log(level):
        return Fraction(0)
    while high - low > _STEP:
        middle = (low + high) / 2
        if log_tail(hits, draws, middle) <= math.log(level):
            low = middle
        else:
            high = middle
    # Floats of the last steps are off by a few units of 1e-16.
    return Fraction(1.0 / (1.0 + math.exp(-low)) * (1.0 - 1e-12))


def _smallest_rho(pair: LikelihoodPair) -> float:
    return float(enclose_rho(PairOrders(pair)).lower)


def _smallest_mu(pair: LikelihoodPair) -> float:
    return float(enclose_mu(pair).lower)

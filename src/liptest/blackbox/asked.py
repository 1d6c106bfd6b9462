"""What a test by samples is asked for, checked before anything is drawn."""

from __future__ import annotations

import secrets
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from liptest.blackbox.pairs import LEAST_DRAWS, Pairs, choose_pairs
from liptest.blackbox.samplers import Sampler, Source, check_sampler
from liptest.errors import InputError, check_count, check_open_unit, check_seed
from liptest.privacy.claims import Claim, ExactLog, parse_epsilon

#: Fewer samples than this are refused.
LEAST_SAMPLES = 2_000
_PAIRING = 9998


@dataclass(frozen=True, eq=False)
class Task:
    """A sampler with its seed, the pairs to try, and the samples to draw at most."""

    source: Source
    pairs: Pairs
    samples: int


def task_of(
    sampler: Sampler, data: Any, samples: int, seed: int | None, executor: Executor | None
) -> Task:
    """The pairs are chosen, the seed is drawn where none is given; raises InputError."""
    budget = check_count("samples", samples, least=LEAST_SAMPLES)
    given = check_seed(seed)
    known = secrets.randbits(128) if given is None else given
    source = Source(check_sampler(sampler), known, executor)
    pairs = choose_pairs(data, budget // (5 * LEAST_DRAWS), source.rng(_PAIRING))
    if not pairs.pairs:
        raise InputError(
            "data: the domain has no neighbouring pairs; every coordinate has one value",
            name="data",
        )
    if budget < 5 * LEAST_DRAWS * len(pairs.datasets):
        raise InputError(
            f"samples={budget:,} are too few for {len(pairs.datasets):,} datasets; give at least "
            f"{5 * LEAST_DRAWS * len(pairs.datasets):,} or fewer pairs",
            name="samples",
            value=samples,
        )
    return Task(source, pairs, budget)


@dataclass(frozen=True)
class Asked:
    """What ``check_samples`` is asked for, checked."""

    claim: Claim
    resolution: float
    failure_probability: float


def asked_for(
    sampler: Sampler,
    data: Any,
    *,
    epsilon: float | str | ExactLog,
    delta: float = 0.0,
    resolution: float = 0.05,
    failure_probability: float = 1e-6,
    samples: int = 1_000_000,
    tolerance: float = 1e-9,
    seed: int | None = None,
) -> Asked:
    """What is asked for; nothing is drawn from the sampler.

    Who counts attempts asks for it first: what it refuses is none. Raises InputError.
    """
    # Which pairs are chosen depends on the seed, whether they can be had does not.
    task_of(sampler, data, samples, 0 if seed is None else seed, None)
    return Asked(
        claim=Claim(parse_epsilon(epsilon), delta, tolerance),
        resolution=check_open_unit("resolution", resolution),
        failure_probability=check_open_unit("failure_probability", failure_probability),
    )

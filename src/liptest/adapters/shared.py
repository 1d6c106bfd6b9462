"""What a library says of a mechanism, and whether it draws from the law that it is said to have."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

from liptest.data.domains import Domain
from liptest.errors import InputError, LawError, quote
from liptest.mechanisms.base import Mechanism


@dataclass(frozen=True)
class Terms:
    """The claim of a library's mechanism, in the words of this program.

    Parameters
    ----------
    domain
        Datasets and neighbours that the claim is about.
    epsilon, delta
        The claim; epsilon is ``inf`` or 0 where the library says so.
    notes
        Sentences: where the law comes from, and what was compared with what.
    rho
        The claim where it is one of zCDP; epsilon is ``inf`` then.
    """

    domain: Domain
    epsilon: float
    delta: float = 0.0
    notes: tuple[str, ...] = ()
    rho: float | None = None

    @property
    def claim(self) -> dict[str, float]:
        """The claim as keyword arguments of ``check_privacy``."""
        if self.rho is not None:
            return {"rho": self.rho}
        return {"epsilon": self.epsilon, "delta": self.delta}


class AdaptedMechanism(Mechanism):
    """A mechanism with the terms of the library that it comes from: see ``attach``."""

    #: Datasets and neighbours that the claim is about.
    domain: Domain
    #: The claim, natural log units; epsilon is ``inf`` where it is one of ``rho``.
    epsilon: float
    delta: float
    rho: float | None
    #: The claim as keyword arguments of ``check_privacy`` and of gates.
    claim: dict[str, float]
    #: Where the law comes from, and what was compared with what.
    notes: tuple[str, ...]


def attach(mechanism: Mechanism, terms: Terms) -> AdaptedMechanism:
    """The mechanism, with the terms as attributes; gates draw from its class, not from others."""
    for key in ("domain", "epsilon", "delta", "rho", "claim", "notes"):
        object.__setattr__(mechanism, key, getattr(terms, key))
    return cast(AdaptedMechanism, mechanism)


def library(extra: str, module: str) -> Any:
    """A module of the library that an adapter is for; InputError says which extra holds it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(
            f"lt.adapters.{extra} needs the package {error.name}; install liptest with its extra: "
            f"pip install 'liptest[{extra}]'",
            name=extra,
        ) from None


#: Probability, at most, that draws from the right law are taken for draws from another one.
RADIUS_FAILURE = 1e-12
# Rounding of sums of floats.
_ROUNDING = 1e-9
# Outputs that are looked at one by one.
_MOST_CELLS = 15


def check_draws(
    mechanism: Mechanism,
    datasets: list[Any],
    answer: Callable[[Any], Any],
    draws: int,
    *,
    seen: Callable[[Any], Any] = lambda output: output,
) -> float:
    """Compare draws on each dataset with the exact law; the radius within which they agree.

    Two tests, which a right law fails with probability at most RADIUS_FAILURE together, whatever
    it is. By the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart all cumulative frequencies
    of n independent draws lie within sqrt(ln(2/w) / (2n)) of the cumulative probabilities, but for
    probability w. And the relative entropy H of the frequencies of k cells to their probabilities
    has n H >= t > k-1 with probability at most exp(-t) (e t / (k-1))^(k-1) (R. Agrawal,
    "Finite-sample concentration of the multinomial in relative entropy", 2020); the cells are the
    likeliest outputs and the rest. Outputs that are vectors are compared number by number.
    ``seen`` is what the library makes of an output, or of a number of it, at last.

    Raises
    ------
    LawError
        They do not: the law is not that of the library's mechanism.
    """
    comparisons = 2 * len(datasets) * max(map(len, (_parts(mechanism, d) for d in datasets)))
    radius = math.sqrt(math.log(2 * comparisons / RADIUS_FAILURE) / (2 * draws))
    for dataset in datasets:
        law = mechanism.law(dataset)
        answers = [answer(dataset) for _ in range(draws)]
        for part in _parts(mechanism, dataset):
            masses = _marginal(law, part, seen)
            counts = Counter(_part(drawn, part) for drawn in answers)
            off = _distance(masses, counts, draws)
            surprise = _surprise(masses, counts, draws)
            if (
                off > radius + float(law.unexplored) + _ROUNDING
                or surprise > math.log(comparisons / RADIUS_FAILURE) + _ROUNDING * draws
            ):
                raise LawError(
                    f"{mechanism.name}: {draws:,} draws on dataset={quote(list(dataset))} are not "
                    f"of its law; chance explains them with probability below "
                    f"{RADIUS_FAILURE:g} (cumulative probabilities off by {off:.3f}, log "
                    f"probability below -{surprise:.0f}). The object does not do what its record "
                    f"says, or the library draws wrongly"
                )
    return radius


def _parts(mechanism: Mechanism, dataset: Any) -> list[int | None]:
    first = next(iter(mechanism.law(dataset)))
    return list(range(len(first))) if isinstance(first, tuple) else [None]


def _surprise(law: Mapping[Any, float], found: Counter[Any], draws: int) -> float:
    """Minus the log of a bound on the probability of frequencies so far from the law."""
    likeliest = sorted(law, key=lambda output: -law[output])[:_MOST_CELLS]
    cells = [(found[output], law[output]) for output in likeliest]
    rest = max(0.0, 1.0 - math.fsum(mass for _, mass in cells))
    other = draws - sum(count for count, _ in cells)
    cells = [*cells, (other, max(rest, _ROUNDING))] if other or rest > _ROUNDING else cells
    entropy = math.fsum(c * math.log(c / (draws * mass)) if c else 0.0 for c, mass in cells)
    free = len(cells) - 1
    if free == 0 or entropy <= free:
        return 0.0
    return entropy - free * (1.0 + math.log(entropy / free))


def _part(output: Any, part: int | None) -> Any:
    return output if part is None else output[part]


def _marginal(
    law: Mapping[Any, float], part: int | None, seen: Callable[[Any], Any]
) -> dict[Any, float]:
    marginal: dict[Any, float] = {}
    for output, mass in law.items():
        key = seen(_part(output, part))
        marginal[key] = marginal.get(key, 0.0) + mass
    return marginal


def _distance(law: Mapping[Any, float], found: Counter[Any], draws: int) -> float:
    """Largest difference of cumulative sums, in the order of the outputs; strange outputs count."""
    worst = total = 0.0
    for output in _order({*law, *found}):
        total += found[output] / draws - law.get(output, 0.0)
        worst = max(worst, abs(total))
    strange = sum(count for output, count in found.items() if output not in law)
    return max(worst, strange / draws)


def _order(outputs: set[Any]) -> list[Any]:
    try:
        return sorted(outputs)
    except TypeError:
        return sorted(outputs, key=repr)

"""Mechanisms of diffprivlib, analysed as they are implemented.

The library's own ``randomise`` is run once for each way its random numbers can fall out, floats and
all; nothing is taken from its documentation but the claim.
"""

from __future__ import annotations

import inspect
import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from liptest.adapters.shared import AdaptedMechanism, Terms, attach, library
from liptest.data.domains import Domain, Hypercube, Hypergrid, RecordGrid
from liptest.enumerate.python_function import PythonFunction
from liptest.errors import InputError, quote
from liptest.foreign import find_range, find_sensitivity
from liptest.values.protocol import is_symbolic

#: Mechanisms whose samplers loop without end: each law would need infinitely many runs.
_ENDLESS = {
    "GaussianDiscrete": "it rejects candidates in a loop without an end",
    "LaplaceBoundedDomain": "it rejects candidates in a loop without an end",
}
#: Mechanisms that draw one random number, or a few, and answer one of countably many outputs.
_KNOWN = {"Binary", "Geometric", "Exponential", "ExponentialCategorical", "PermuteAndFlip"}


class Implemented(PythonFunction):
    """A library's mechanism with its laws enumerated from its code, and its terms."""

    def __reduce__(self) -> tuple[Any, ...]:
        terms = Terms(*(getattr(self, key) for key in ("domain", "epsilon", "delta", "notes")))
        return _implement, (self.function, self.name, terms)


def _implement(function: Any, name: str, terms: Terms) -> AdaptedMechanism:
    return attach(Implemented(function, name=name), terms)


@dataclass(frozen=True)
class _Randomise:
    """``(data, rng) -> output`` of a mechanism, with its random numbers from ``rng``.

    ``utility`` gives the scores that a selection is made with; the mechanism is then built anew
    for each dataset, as the library asks for.
    """

    mechanism: Any
    value: Callable[[Any], Any] | None
    utility: Callable[[Any], Sequence[float]] | None
    #: What builds the mechanism anew, and with what beside the scores.
    kind: Any
    arguments: dict[str, Any]

    def __getstate__(self) -> dict[str, Any]:
        # The system's random numbers have no state, and are the same everywhere.
        plain = self.mechanism.copy()
        secure = isinstance(plain._rng, secrets.SystemRandom)
        plain._rng = None if secure else plain._rng
        return {**self.__dict__, "mechanism": plain}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self.mechanism._rng is None:
            self.mechanism._rng = secrets.SystemRandom()

    def __call__(self, data: Any, rng: Any) -> Any:
        if self.utility is None:
            mechanism = self.mechanism.copy()
        else:
            mechanism = self.kind(utility=_as_scores(self.utility(data)), **self.arguments)
        # The system's random numbers are stood in for as they are; seeded ones are not.
        if not isinstance(mechanism._rng, secrets.SystemRandom):
            mechanism._rng = rng
        return (
            mechanism.randomise() if self.value is None else mechanism.randomise(self.value(data))
        )


def diffprivlib(
    mechanism: Any,
    *,
    domain: Domain | None = None,
    value: Callable[[Any], Any] | None = None,
    utility: Callable[[Any], Sequence[float]] | None = None,
) -> AdaptedMechanism:
    """A diffprivlib mechanism, with ``.domain``, ``.epsilon``, ``.delta`` and ``.notes``.

    Works for mechanisms with countably many outputs: ``Binary``, ``Geometric``,
    ``GeometricTruncated``, ``GeometricFolded``, ``Exponential``, ``PermuteAndFlip``,
    ``ExponentialCategorical`` and ``ExponentialHierarchical``. Every float that the code computes
    is the one that is computed here, so rounding, overflow and exceptions are part of the law.
    Where two datasets have an output of 1e-16 that the other has not, a claim needs a delta above
    it.

    Parameters
    ----------
    mechanism
        An instance; its ``epsilon`` and ``delta`` are the claim.
    domain
        Which datasets. Default: the two values of ``Binary``, the values of a categorical
        mechanism, the whole numbers between the bounds of a bounded one, in steps of its
        sensitivity.
    value
        dataset -> what ``randomise`` is given. Default: the value, category or number that the
        dataset's one coordinate counts, numbers in steps of the sensitivity: neighbouring datasets
        are as far apart as the claim allows.
    utility
        dataset -> scores of the candidates; for ``Exponential`` and ``PermuteAndFlip``,
        which are given them when they are built.

    Raises
    ------
    InputError
        No mechanism, a mechanism without an exact law (with the reason), or a missing argument.
    """
    package = library("diffprivlib", "diffprivlib.mechanisms")
    if isinstance(mechanism, type) or not isinstance(mechanism, package.base.DPMechanism):
        raise InputError(
            f"mechanism={quote(mechanism)} is not a diffprivlib mechanism; give an instance, such "
            f"as Binary(epsilon=1.0, value0='0', value1='1')",
            name="mechanism",
        )
    _refuse_lawless(mechanism)
    selection = isinstance(mechanism, package.Exponential)
    if selection is not (utility is not None):
        raise InputError(
            f"utility={quote(utility)}: Exponential and PermuteAndFlip are built with the "
            f"scores of the data, so give utility=, dataset -> scores; other mechanisms take none",
            name="utility",
        )
    chosen, read = (domain, value) if selection else _inputs(package, mechanism, domain, value)
    if chosen is None:
        raise InputError(
            f"domain=None: {type(mechanism).__name__} takes values without bounds; give domain=, "
            f"lt.Hypergrid([10]), on the command line --domain hypergrid --sizes 10",
            name="domain",
        )
    terms = Terms(
        chosen,
        float(mechanism.epsilon),
        float(mechanism.delta),
        notes=(
            f"Claim: epsilon={mechanism.epsilon:g}, delta={mechanism.delta:g}, as the mechanism "
            f"states it for a sensitivity of {find_sensitivity(mechanism)}.",
            "Law: enumerated from the library's code, with its floats.",
        ),
    )
    function = _Randomise(mechanism, read, utility, type(mechanism), _find_arguments(mechanism))
    name = f"diffprivlib {type(mechanism).__name__}"
    return _implement(function, name, terms)


def _refuse_lawless(mechanism: Any) -> None:
    kinds = [kind.__name__ for kind in type(mechanism).__mro__]
    endless = [_ENDLESS[kind] for kind in kinds if kind in _ENDLESS]
    if endless or _KNOWN.isdisjoint(kinds):
        why = endless[0] if endless else "it has continuous outputs, or it is not known"
        raise InputError(
            f"mechanism={kinds[0]} has no law that could be enumerated: {why}; write draw(data, "
            f"rng) that returns mechanism.randomise(float(data.sum())), and test its samples with "
            f"lt.check_samples",
            name="mechanism",
        )


def _inputs(
    known: Any, mechanism: Any, domain: Domain | None, value: Callable[[Any], Any] | None
) -> tuple[Domain | None, Callable[[Any], Any]]:
    """The datasets, and what each stands for."""
    if isinstance(mechanism, known.Binary):
        pair = _Listed((mechanism.value0, mechanism.value1))
        return domain or Hypercube(1), value or pair
    if isinstance(mechanism, known.ExponentialCategorical):
        listed = mechanism._domain_values
        return domain or RecordGrid([len(listed)]), value or _Listed(tuple(listed))
    low, high = find_range(mechanism)
    step = find_sensitivity(mechanism)
    if value is None and not step >= 1:
        raise InputError(
            f"mechanism: it claims something for values that are at most {step} apart, which are "
            f"equal; give a sensitivity of at least 1, or value=",
            name="mechanism",
        )
    if math.isfinite(low) and math.isfinite(high):
        first, last = math.ceil(low), math.floor(high)
        return domain or Hypergrid([(last - first) // step + 1]), value or _Counted(first, step)
    return domain, value or _Counted(0, step)


@dataclass(frozen=True)
class _Listed:
    values: tuple[Any, ...]

    def __call__(self, data: Any) -> Any:
        return self.values[int(data[0])]


@dataclass(frozen=True)
class _Counted:
    first: int
    step: int

    def __call__(self, data: Any) -> int:
        return self.first + self.step * int(data[0])


def _as_scores(scores: Sequence[Any]) -> list[Any]:
    """Floats; what stands for a number of symbolic data stays as it is."""
    return [score if is_symbolic(score) else float(score) for score in scores]


def _find_arguments(mechanism: Any) -> dict[str, Any]:
    """What a mechanism was built with, except for the scores."""
    names = inspect.getfullargspec(type(mechanism)).kwonlyargs
    return {name: getattr(mechanism, name) for name in names if name != "utility"}

"""Correlated laws with known masses: bootstrap, mixtures of products, Markov chains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.domains import Domain, IntArray, RecordGrid
from liptest.errors import InputError, shown
from liptest.marginals import check_floats, check_marginals
from liptest.sampling import IndexSampler, cumulative_thresholds, uniform_integers


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Draws rows of a table with replacement; exact.

    ``points`` are the (m, d) different rows, ``counts`` (m,) how often each occurs.
    """

    points: IntArray
    counts: NDArray[np.int64]

    def __call__(self, n: int, rng: np.random.Generator) -> IntArray:
        """(n, d) rows."""
        ends = np.cumsum(self.counts)
        chosen = np.searchsorted(ends, rng.integers(0, ends[-1], size=n), side="right")
        return self.points[chosen]

    def log_mass(self, points: IntArray) -> NDArray[np.float64]:
        """Log of the share of the rows that each point has; -inf for others."""
        shares = [self._counts.get(row.tobytes(), 0) for row in points]
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.array(shares) / self.counts.sum()))

    @cached_property
    def _counts(self) -> dict[bytes, int]:
        pairs = zip(self.points, self.counts.tolist(), strict=True)
        return {row.tobytes(): count for row, count in pairs}


@dataclass(frozen=True, eq=False)
class Mixture:
    """Draws a component first, by its weight, then a point from it."""

    components: tuple[Any, ...]
    weights: NDArray[np.float64]

    def __call__(self, n: int, rng: np.random.Generator) -> IntArray:
        """(n, d) points."""
        chosen = IndexSampler(self.weights).draw(rng, n)
        domain: Domain = self.components[0].domain
        points = np.empty((n, domain.dimension), dtype=domain.dtype)
        for i, component in enumerate(self.components):
            rows = np.flatnonzero(chosen == i)
            points[rows] = component.sample(rng, len(rows))
        return points

    def log_mass(self, points: IntArray) -> NDArray[np.float64]:
        """Log of the weighted mean of the components' masses."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights)[:, None] + [c.log_mass(points) for c in self.components]
        top = logs.max(axis=0)
        # Off every component the top is -inf, and -inf minus -inf is no number.
        safe = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(safe + np.log(np.exp(logs - safe).sum(axis=0)))


def mixture(components: Sequence[Any], weights: ArrayLike) -> Mixture:
    """A mixture of at least one law of one domain; InputError where weights are no law."""
    laws = tuple(components) if isinstance(components, Iterable) else ()
    if not all(hasattr(law, "domain") and hasattr(law, "log_mass") for law in laws):
        raise InputError(
            f"components={shown(laws)} must be distributions: products, chains or mixtures",
            name="components",
        )
    if not laws or len({law.domain for law in laws}) > 1:
        raise InputError(
            f"components: {len(laws)} laws on {len({law.domain for law in laws})} domains; give "
            f"at least one, all on the same domain",
            name="components",
        )
    known = all(getattr(law, "has_log_mass", True) for law in laws)
    if not known:
        raise InputError(
            "components: one of them has no masses; give products, chains or mixtures",
            name="components",
        )
    shares = _law("weights", weights, len(laws))
    return Mixture(laws, shares)


@dataclass(frozen=True, eq=False)
class MarkovChain:
    """Coordinate after coordinate, each by the row of its matrix that the one before chooses."""

    initial: NDArray[np.float64]
    transitions: tuple[NDArray[np.float64], ...]
    dtype: str

    def __call__(self, n: int, rng: np.random.Generator) -> IntArray:
        """(n, d) points, exact to 53 bits per coordinate."""
        uniform = uniform_integers(rng, (n, len(self.transitions) + 1))
        points = np.empty(uniform.shape, dtype=self.dtype)
        start = np.zeros(n, dtype=np.int64)
        for r, steps in enumerate(self._steps):
            before = start if r == 0 else points[:, r - 1]
            points[:, r] = (uniform[:, r, None] >= steps[before]).sum(axis=1)
        return points

    def log_mass(self, points: IntArray) -> NDArray[np.float64]:
        """Sum of the logs along each point."""
        with np.errstate(divide="ignore"):
            total = np.log(self.initial)[points[:, 0]]
            for r, matrix in enumerate(self.transitions):
                total = total + np.log(matrix)[points[:, r], points[:, r + 1]]
        return np.asarray(total)

    @cached_property
    def _steps(self) -> list[NDArray[np.int64]]:
        matrices = [self.initial[None, :], *self.transitions]
        return [np.array([cumulative_thresholds(row)[:-1] for row in m]) for m in matrices]


def markov_chain(domain: Domain, initial: ArrayLike, transitions: Any) -> MarkovChain:
    """A chain along the coordinates; InputError where a row is no law of its coordinate.

    ``transitions``: one matrix for all steps, or d - 1 of them.
    """
    sizes, d = domain.sizes, domain.dimension
    first = _law("initial", initial, sizes[0])
    if not isinstance(transitions, Iterable):
        raise InputError(
            f"transitions={shown(transitions)} must be one matrix for all steps, or {d - 1}",
            name="transitions",
        )
    matrices = [transitions] * (d - 1) if _is_matrix(transitions) else list(transitions)
    if len(matrices) != d - 1:
        raise InputError(
            f"transitions: {len(matrices)} matrices for {d} coordinates; give one for all steps, "
            f"or {d - 1}",
            name="transitions",
        )
    known: dict[int, NDArray[np.float64]] = {}
    checked = []
    for r, matrix in enumerate(matrices):
        if id(matrix) not in known or known[id(matrix)].shape != (sizes[r], sizes[r + 1]):
            known[id(matrix)] = _matrix(r, matrix, sizes[r], sizes[r + 1])
        checked.append(known[id(matrix)])
    return MarkovChain(first, tuple(checked), domain.dtype.str)


def _is_matrix(transitions: Any) -> bool:
    try:
        return np.asarray(transitions).ndim == 2
    except ValueError:
        return False


def _matrix(step: int, matrix: Any, rows: int, columns: int) -> NDArray[np.float64]:
    array = check_floats(f"transitions[{step}]", matrix)
    if array.shape != (rows, columns):
        raise InputError(
            f"transitions[{step}]: shape={array.shape}, but the coordinates take {rows} and "
            f"{columns} values; give a ({rows}, {columns}) matrix, one law per row",
            name="transitions",
        )
    return np.array(
        [_law(f"transitions[{step}][{i}]", row, columns) for i, row in enumerate(array)]
    )


def _law(name: str, values: ArrayLike, size: int) -> NDArray[np.float64]:
    try:
        return check_marginals([values], RecordGrid([size]))[0]
    except InputError as error:
        text = str(error).replace("marginals[0]", name)
        raise InputError(text, name=name.partition("[")[0]) from None

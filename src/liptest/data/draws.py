"""Laws of single coordinates, checked, and vectorised draws from them, exact to 53 bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.domains import Domain
from liptest.errors import InputError, quote

#: A law given in decimals may be off by rounding; more than this is a mistake.
SUM_SLACK = 1e-9


def check_marginals(
    marginals: Sequence[ArrayLike] | ArrayLike, domain: Domain
) -> list[NDArray[np.float64]]:
    """One normalised law per coordinate of the domain, or InputError."""
    rows = _rows(marginals)
    if len(rows) != domain.dimension:
        raise InputError(
            f"marginals: {len(rows)} laws for the {domain.dimension} coordinates of {domain}; "
            f"give one law per coordinate",
            name="marginals",
        )
    return [_law(row, r, domain.sizes[r]) for r, row in enumerate(rows)]


def check_floats(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Numbers as a fresh array; InputError for text, complex numbers and ragged rows."""
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biufO":
            return array.astype(np.float64)
    except (TypeError, ValueError):
        pass
    raise InputError(f"{name}={quote(values)} must be numbers, in rows of equal lengths", name=name)


def _rows(marginals: Sequence[ArrayLike] | ArrayLike) -> list[ArrayLike]:
    try:
        return list(marginals)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(
            f"marginals={quote(marginals)} must hold one law per coordinate, for example "
            f"[[0.5, 0.5], [0.9, 0.1]]",
            name="marginals",
            value=marginals,
        ) from None


def _law(row: ArrayLike, coordinate: int, size: int) -> NDArray[np.float64]:
    mass = check_floats(f"marginals[{coordinate}]", row)
    if mass.shape != (size,):
        raise InputError(
            f"marginals[{coordinate}]: shape={mass.shape}, but the coordinate takes {size} "
            f"values; give {size} probabilities",
            name="marginals",
        )
    if not np.all((mass >= 0) & (mass <= 1 + SUM_SLACK)):
        raise InputError(
            f"marginals[{coordinate}]={quote(mass.tolist())} must lie between 0 and 1",
            name="marginals",
            value=mass,
        )
    total = float(mass.sum())
    if abs(total - 1.0) > SUM_SLACK:
        raise InputError(
            f"marginals[{coordinate}] sums to {total!r}, not 1; divide by the sum if these "
            f"are counts",
            name="marginals",
            value=total,
        )
    return mass / total


# Vectorised draws whose probabilities are exact to 53 bits.
#
# A value is 0 with probability ``ceil(p * 2**53) / 2**53`` and so on: a uniform integer below
# 2**53 is compared with integer thresholds, never a rounded float with a rounded float.


GRID_BITS = 53
GRID = 1 << GRID_BITS
_LOW_BITS = GRID_BITS - 8
_LOW_MASK = (1 << _LOW_BITS) - 1
# Threshold rows are tiled to about this many columns: NumPy is slow on short inner loops.
_TILE = 4096
# Random bytes are drawn and compared in pieces of this size, which stay in the cache.
_BLOCK = 1 << 18
_NOWHERE = np.zeros(0, dtype=np.int64)


def grid_thresholds(probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
    """``ceil(p * 2**53)`` for p in [0, 1]; exact, because scaling by 2**53 is."""
    return np.ceil(np.ldexp(probabilities, GRID_BITS)).astype(np.int64)


def uniform_integers(rng: np.random.Generator, shape: int | tuple[int, ...]) -> NDArray[np.int64]:
    """Uniform whole numbers in [0, 2**53)."""
    words = rng.integers(0, 2**64, size=shape, dtype=np.uint64)
    return (words >> np.uint64(64 - GRID_BITS)).astype(np.int64)


class BitSampler:
    """Draws rows of independent bits, bit r being 1 with probability ``probabilities[r]``.

    The first byte of each uniform number decides all but one draw in 256; only those ties
    look at the other 45 bits.
    """

    def __init__(self, probabilities: NDArray[np.float64]) -> None:
        threshold = grid_thresholds(probabilities)
        self._certain = np.flatnonzero(threshold == GRID)
        threshold = np.where(threshold == GRID, 0, threshold)
        self._high = (threshold >> _LOW_BITS).astype(np.uint8)
        self._low = threshold & _LOW_MASK
        self._d = len(probabilities)
        repeats = max(1, _TILE // self._d)
        self._tile = np.tile(self._high, repeats)
        # A threshold that ends with its first byte is never above an equal first byte.
        self._can_tie = bool(self._low.any())

    def draw(self, rng: np.random.Generator, count: int) -> NDArray[np.int8]:
        """(count, d) int8 zeros and ones."""
        total, width = count * self._d, len(self._tile)
        bits = np.empty((-(-total // width), width), dtype=bool)
        step = max(1, _BLOCK // width)
        starts = range(0, len(bits), step)
        ties = [self._fill(rng, bits[row : row + step]) + row * width for row in starts]
        flat = bits.reshape(-1)[:total]
        self._settle(rng, flat, np.concatenate([*ties, _NOWHERE]))
        points = flat.view(np.int8).reshape(count, self._d)
        if len(self._certain):
            points[:, self._certain] = 1
        return points

    def _fill(self, rng: np.random.Generator, bits: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Decide (rows, width) bits by their first bytes; positions of the ties."""
        words = rng.integers(0, 2**64, size=-(-bits.size // 8), dtype=np.uint64)
        data = words.view(np.uint8)[: bits.size].reshape(bits.shape)
        np.less(data, self._tile, out=bits)
        return np.flatnonzero(data == self._tile) if self._can_tie else _NOWHERE

    def _settle(
        self, rng: np.random.Generator, bits: NDArray[np.bool_], ties: NDArray[np.int64]
    ) -> None:
        """Decide ties by the bits that follow the first byte."""
        ties = ties[: np.searchsorted(ties, len(bits))]
        rest = uniform_integers(rng, len(ties)) >> (GRID_BITS - _LOW_BITS)
        bits[ties] = rest < self._low[ties % self._d]


class ValueSampler:
    """Draws rows of independent values from per-coordinate laws on 0 .. n-1."""

    def __init__(self, masses: list[NDArray[np.float64]], dtype: np.dtype[Any]) -> None:
        self._dtype = dtype
        most = max(len(mass) for mass in masses)
        cumulative = np.full((len(masses), most), GRID, dtype=np.int64)
        cached: dict[bytes, NDArray[np.int64]] = {}
        for r, mass in enumerate(masses):
            steps = cached.get(key := mass.tobytes())
            if steps is None:
                steps = cached[key] = cumulative_thresholds(mass)
            cumulative[r, : len(mass)] = steps
        self._steps = cumulative[:, :-1]

    def draw(self, rng: np.random.Generator, count: int) -> NDArray[Any]:
        """(count, d) values."""
        uniform = uniform_integers(rng, (count, len(self._steps)))
        values = np.zeros(uniform.shape, dtype=self._dtype)
        if self._steps.shape[1] <= 16:
            for step in self._steps.T:
                values += uniform >= step
        else:
            for r, steps in enumerate(self._steps):
                values[:, r] = np.searchsorted(steps, uniform[:, r], side="right")
        return values


def cumulative_thresholds(mass: NDArray[np.float64]) -> NDArray[np.int64]:
    """(n,) whole numbers up to 2**53: below the i-th one, value i or an earlier one is drawn."""
    scaled = np.ldexp(mass, GRID_BITS)
    whole = np.floor(scaled)
    # Whole parts add up exactly and the rests stay small: a sum of the masses would lose bits.
    rest = np.ceil(np.cumsum(scaled - whole)).astype(np.int64)
    steps = np.asarray(np.minimum(np.cumsum(whole.astype(np.int64)) + rest, GRID))
    # The last value of positive mass takes what rounding left over.
    steps[np.flatnonzero(mass)[-1] :] = GRID
    return steps


class IndexSampler:
    """Draws indices with probabilities proportional to non-negative weights."""

    def __init__(self, weights: NDArray[np.float64]) -> None:
        total = float(weights.sum())
        self._values = ValueSampler([weights / total], np.dtype(np.int64)) if total > 0 else None

    def draw(self, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
        """(count,) indices; InputError when all weights are 0."""
        if self._values is None:
            raise InputError(
                "weights: all of them are 0, so there is nothing to draw; every coordinate of the "
                "distribution is degenerate",
                name="weights",
            )
        return np.asarray(self._values.draw(rng, count)[:, 0], dtype=np.int64)


Floats = NDArray[np.float64]
# Up to so many bits nothing is left out, at a cost of d^2 additions.
_FEW_BITS = 20_000
_LEAF = 64
# Masses below this are left out of the law of a part.
_SMALL = 1e-45


def hamming_weight_masses(probabilities: Floats) -> tuple[Floats, float]:
    """Probability of each number of ones, (d,) -> (d + 1,), and how much is left out at most.

    Sums of positive terms only, so that each mass is right up to a relative error of about
    d * 2**-52, however small it is, and up to what is left out: it is at most that much larger.
    Nothing is up to 20,000 bits. Beyond, laws of parts are added two by two, and levels so far from
    the middle that their mass is below 1e-45 are dropped on the way.
    """
    d = len(probabilities)
    if d <= _FEW_BITS:
        return _by_bits(probabilities[None, :])[0], 0.0
    padded = np.zeros(-(-d // _LEAF) * _LEAF)
    padded[:d] = probabilities
    parts = [_trim(0, masses) for masses in _by_bits(padded.reshape(-1, _LEAF))]
    while len(parts) > 1:
        rest = parts[len(parts) // 2 * 2 :]
        parts = [_sum(*pair) for pair in zip(parts[::2], parts[1::2], strict=False)] + rest
    first, middle, left_out = parts[0]
    masses = np.zeros(d + 1)
    masses[first : first + len(middle)] = middle
    return masses, left_out


def _by_bits(probabilities: Floats) -> Floats:
    """The laws of m sums of n bits each, one bit after the other; (m, n) -> (m, n + 1)."""
    count, n = probabilities.shape
    masses = np.zeros((count, n + 1))
    masses[:, 0] = 1.0
    for k, p in enumerate(probabilities.T[:, :, None], start=1):
        moved = masses[:, :k] * p
        masses[:, :k] *= 1.0 - p
        masses[:, 1 : k + 1] += moved
    return masses


Part = tuple[int, Floats, float]


def _sum(left: Part, right: Part) -> Part:
    first, masses, dropped = _trim(left[0] + right[0], np.convolve(left[1], right[1]))
    return first, masses, dropped + left[2] + right[2]


def _trim(first: int, masses: Floats) -> Part:
    """Without the levels at both ends that hardly weigh anything, and what these weigh."""
    kept = np.flatnonzero(masses >= _SMALL)
    low, high = int(kept[0]), int(kept[-1]) + 1
    # Twice the sum covers its rounding, and underflow below the smallest float.
    dropped = 2.0 * float(masses[:low].sum() + masses[high:].sum()) + len(masses) * 2.0**-1000
    return first + low, masses[low:high], dropped if low or high < len(masses) else 0.0

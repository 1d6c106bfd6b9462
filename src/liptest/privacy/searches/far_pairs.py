"""Neighbours of many answers, of which a few are near each other and the others far from all.

What code makes of the far ones is next to certain, so that laws without what is next to never
(``Mechanism.without_light``) have few paths, however many answers there are (theory 3.10).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from liptest.data.answers import Answers
from liptest.data.domains import Domain
from liptest.privacy.searches.plain_pairs import Pair

#: Fewer answers are compared as they are.
_FEW = 8
# Answers that are near each other: those that are alike, those in the tails of their noise.
_ALIKE, _TAILS, _MANY = 4, 6, 10
# Between far answers, and how far tails are.
_FAR, _TAIL = 1 << 20, 32


def far_pairs(domain: Domain) -> Iterator[Pair]:
    """Such pairs, those most likely to tell first; none of other domains, or of few answers."""
    if not isinstance(domain, Answers) or domain.dimension <= _FEW or domain.sensitivity < 1:
        return
    if domain.kind not in ("all", "one"):
        return
    step, many = int(domain.sensitivity), min(_MANY, domain.dimension)
    one_moves = domain.kind == "one"
    for sign in (-1, 1):
        far = sign * _FAR * step * np.arange(1, domain.dimension + 1)
        alone = np.where(np.arange(_ALIKE) == 0, -1, 0 if one_moves else 1)
        yield _pair(far, np.full(_ALIKE, step), step * alone)
        yield _pair(far, np.full(_ALIKE, step), -step * alone)
        if one_moves:
            continue
        # Those above go up and those below go down: no threshold that moves makes up for both.
        apart = np.where(np.arange(_TAILS) % 2 == 0, -1, 1)
        yield _pair(far, step * _TAIL * apart, step * apart)
        # The last of some that are alike is told, and all before it move the other way.
        yield _pair(far, np.full(many, step), step * np.where(np.arange(many) < many - 1, 1, -1))


def _pair(far: np.ndarray, near: np.ndarray, moves: np.ndarray) -> Pair:
    left = far.astype(np.int64)
    left[: len(near)] = near
    right = left.copy()
    right[: len(near)] += moves
    return left, right

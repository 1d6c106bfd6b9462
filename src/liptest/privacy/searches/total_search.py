"""A search for a refutation among servers that add up notes of their records (theory 3.10).

Of the notes of one record the law is known; where outputs are known that notes of one kind lead to,
or all of a count, neighbours are compared by them at any size (docs/theory/records.md, P7). The
pairs of values of which a note tells most come first, among records that are all alike.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from liptest.data.domains import Domain, Hypercube, RecordGrid
from liptest.errors import LiptestError
from liptest.mechanisms.base import MOST_NOTE_PARTS, Mechanism
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import Answer
from liptest.privacy.judge import LossJudge
from liptest.privacy.request import Task
from liptest.privacy.searches.plain_pairs import Pair
from liptest.privacy.searches.refutation import Refutation

# Values of a record, pairs of values, and views of one that are looked at.
_MOST_VALUES, _PAIRS, _VIEWS = 128, 12, 2


def search_totals(task: Task) -> Refutation:
    """Look for a violation where all records but one are alike."""
    started, found = time.perf_counter(), Refutation()
    domain = task.distribution.domain
    if not isinstance(domain, (Hypercube, RecordGrid)) or not domain.are_alike:
        return found
    values = int(domain.size_array[0])
    if values > _MOST_VALUES:
        return found
    for part in islice(task.mechanism.note_parts(domain.zeros), MOST_NOTE_PARTS):
        with suppress(LiptestError):
            if _breaks(task, part, values, found):
                break
    found.law_source = task.mechanism.law_source
    found.seconds = time.perf_counter() - started
    return found


def _breaks(task: Task, part: Any, values: int, found: Refutation) -> bool:
    domain, claim = task.distribution.domain, task.claim
    for ratio, low, high in islice(part.pairs(values), _PAIRS):
        if isinstance(claim, Claim) and claim.delta == 0 and _is_small(ratio, claim):
            return False  # no output tells more than all notes
        for pair in _pairs(domain, low, high):
            views = list(islice(part.views(pair[0]), _VIEWS))
            if not views:
                return False
            for view in views:
                found.pairs += 1
                found.laws += 2
                if _is_violated(view, task, pair, found):
                    return True
    return False


def _is_small(ratio: Fraction | None, claim: Claim) -> bool:
    return ratio is not None and math.log(ratio) < claim.threshold


def _pairs(domain: Domain, low: int, high: int) -> Iterator[Pair]:
    """Records that are all alike, or half of them, with one changed; both values in the first."""
    kind, n = domain.dtype, domain.dimension
    for others in (np.full(n, low), np.where(np.arange(n) < n // 2, low, high), np.full(n, high)):
        left, right = others.astype(kind), others.astype(kind)
        left[0], right[0] = high, low
        first, second = (left, right) if len(set(left.tolist())) > 1 else (right, left)
        if len(set(first.tolist())) > 1:
            yield first, second


def _is_violated(view: Mechanism, task: Task, pair: Pair, found: Refutation) -> bool:
    judge = LossJudge(view, task.distribution.domain, task.claim)
    left, right = pair
    with suppress(LiptestError):
        answer, finding = judge.certify(left, right, keep_doubt=False)
        if answer is Answer.VIOLATED:
            found.finding = finding
            return True
    return False

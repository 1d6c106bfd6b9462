"""Records whose outputs have independent parts: many random bits for each of them.

Of two values of a record the parts that both treat alike drop out, so most pairs of values are of
one kind: so many bits go from 0 to 1, so many from 1 to 0. One pair of each kind is compared
(docs/theory/records.md, P5).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from liptest.errors import LiptestError
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.product_laws import FEW, ProductLaw, differences, make_pair
from liptest.privacy.verdicts import PrivacyVerdict, Remedy
from liptest.verdicts import Decision

#: Kinds of pairs of values that are compared.
MOST_KINDS = 500


def check_products(
    mechanism: Mechanism, values: int, check: Callable[[Mechanism], PrivacyVerdict]
) -> PrivacyVerdict | None:
    """All pairs of values of one record; None where the parts of its output do not come apart.

    ``check`` is of a mechanism of one record that is 0 or 1.
    """
    try:
        if mechanism.product_law(0).size <= FEW:
            return None
        laws = [mechanism.product_law(value) for value in range(values)]
        pairs = list(_pairs_of_kinds(laws))
    except LiptestError:
        return None
    if len(pairs) > MOST_KINDS:
        return None
    problems: list[PrivacyVerdict] = []
    for pair in pairs:
        try:
            problems.append(_of_values(check(make_pair(mechanism, pair, (0, 1))), pair))
        except LiptestError:
            return None
    if not problems:
        return None
    worst = max(problems, key=lambda verdict: (_ORDER[verdict.decision], verdict.largest_loss))
    cost = replace(worst.cost, laws=values, pairs=values * (values - 1) // 2)
    largest = max(verdict.largest_loss for verdict in problems)
    return replace(worst, cost=cost, largest_loss=largest, remedy=_remedy_of_all(problems))


def _remedy_of_all(found: list[PrivacyVerdict]) -> Remedy | None:
    """What is enough for all kinds; where the claim holds, more than it does so, too."""
    if len(found) == 1:
        return found[0].remedy
    remedies = [
        verdict.remedy or Remedy() for verdict in found if verdict.decision is not Decision.YES
    ]
    epsilons = [remedy.epsilon for remedy in remedies if remedy.epsilon is not None]
    deltas = [remedy.delta for remedy in remedies if remedy.delta is not None]
    enough = Remedy(
        max(epsilons) if remedies and len(epsilons) == len(remedies) else None,
        max(deltas) if remedies and len(deltas) == len(remedies) else None,
    )
    return None if enough == Remedy() else enough


def _pairs_of_kinds(laws: list[ProductLaw]) -> Iterator[tuple[int, int]]:
    """One pair of values of each kind, of which all pairs have the same losses."""
    numbers: dict[Any, int] = {}
    first = laws[0]
    alike = all(
        law.skeleton == first.skeleton
        and [factor.places for factor in law.factors] == [f.places for f in first.factors]
        for law in laws
    )
    met: set[Hashable] = set()
    if not alike:
        for left in range(len(laws)):
            for right in range(left + 1, len(laws)):
                parts = differences(laws[left], laws[right])
                kind = _in_any_order([(p.law, q.law) for p, q in parts])
                if kind not in met:
                    met.add(kind)
                    yield left, right
        return
    table = np.array(
        [[numbers.setdefault(factor.law, len(numbers)) for factor in law.factors] for law in laws]
    )
    for left in range(len(laws) - 1):
        one, others = table[left], table[left + 1 :]
        changes = np.where(others == one, -1, one * len(numbers) + others)
        kinds, places = np.unique(np.sort(changes, axis=1), axis=0, return_index=True)
        for kind, place in zip(kinds, places, strict=True):
            key = kind.tobytes()
            if key not in met:
                met.add(key)
                yield left, left + 1 + int(place)


def _in_any_order(parts: list[Any]) -> Hashable:
    """Equal for the same parts in any order."""
    return frozenset((part, parts.count(part)) for part in parts)


_ORDER = {Decision.YES: 0, Decision.INCONCLUSIVE: 1, Decision.NO: 2}


def _of_values(found: PrivacyVerdict, pair: tuple[int, int]) -> PrivacyVerdict:
    """A verdict on records 0 and 1 as one on two values."""
    witness = found.witness
    if witness is None:
        return found
    left, right = ((pair[side[0]],) for side in (witness.dataset, witness.neighbour))
    return replace(found, witness=replace(witness, dataset=left, neighbour=right))

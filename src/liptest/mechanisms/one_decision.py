"""Laws that are computed anew for a decision, once for each dataset.

No memo may hide a mechanism that changes its answers, so laws that decide are computed anew. But
all that is said of one pair rests on the same two laws: the check of a law that is known, a
comparison, its witness, each point of a curve and what would hold instead of a claim.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from liptest.data.domains import IntArray

T = TypeVar("T")
# Laws of both datasets, and of a pair between them; what was found of pairs of laws.
_KEPT, _MOST_FOUND = 4, 64


@dataclass(eq=False)
class _Decision:
    """What is known in the decision that is under way."""

    #: Laws, with the mechanism, whose id would be used again.
    laws: dict[Hashable, tuple[Any, Any]] = field(default_factory=dict)
    #: What was found of laws, by all that it depends on.
    found: dict[Hashable, Any] = field(default_factory=dict)


_decision: ContextVar[_Decision | None] = ContextVar("_decision", default=None)


@contextmanager
def laws_of_one_decision() -> Iterator[None]:
    """Within, a law is computed anew once."""
    if _decision.get() is not None:
        yield
        return
    token = _decision.set(_Decision())
    try:
        yield
    finally:
        _decision.reset(token)


def of_one_decision(
    mechanism: object, dataset: IntArray, make: Callable[[], T], *, anew: bool = False
) -> T:
    """The law that ``make`` computes anew, or that of the same decision; ``anew`` makes another."""
    decision = _decision.get()
    if decision is None:
        return make()
    known = decision.laws
    key = id(mechanism), dataset.dtype.str, dataset.tobytes()
    if key in known and not anew:
        return cast(T, known[key][1])
    law = make()
    while len(known) >= _KEPT:
        known.pop(next(iter(known)))
    known[key] = mechanism, law
    return law


def found_once(key: Hashable, find: Callable[[], T]) -> T:
    """What ``find`` gives, or the same of this decision; the key has all that it depends on."""
    decision = _decision.get()
    if decision is None:
        return find()
    known = decision.found
    if key not in known:
        while len(known) >= _MOST_FOUND:
            known.pop(next(iter(known)))
        known[key] = find()
    return cast(T, known[key])

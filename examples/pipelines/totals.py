"""The total spent by members, bounds known beforehand."""

from __future__ import annotations

from typing import Any

import liptest as lt

TABLE = lt.Table({"spent": lt.Integer(0, 1000, step=5), "member": lt.Bit()}, rows=100_000)
CLAIM = {"epsilon": 1.0}


@lt.mechanism
def right(frame: Any, rng: Any) -> Any:
    members = frame[frame.member == 1]
    return members.spent.clip(0, 500).sum() + rng.laplace(scale=500)


@lt.mechanism
def bounds_of_the_data(frame: Any, rng: Any) -> Any:
    top = frame.spent.max()
    return frame.spent.clip(0, 500).sum() / top + rng.laplace(scale=1)


@lt.mechanism
def exact_small_counts(frame: Any, rng: Any) -> Any:
    members = frame[frame.member == 1]
    total = members.spent.clip(0, 500).sum()
    return total + rng.laplace(scale=500) if len(members) > 100 else 0.0


BUGS = {
    "few members are told apart exactly": exact_small_counts,
    "the scale is that of the data": bounds_of_the_data,
}

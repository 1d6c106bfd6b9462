"""How many people are active in each region: everybody counts once."""

from __future__ import annotations

from typing import Any

import liptest as lt

REGIONS = ["north", "south", "east", "west"]
COLUMNS = {"user": lt.Key(), "region": lt.Category(REGIONS), "paid": lt.Bit()}
TABLE = lt.Table(COLUMNS, rows=100_000, unit="user")
CLAIM = {"epsilon": 1.0}


@lt.mechanism
def right(frame: Any, rng: Any) -> Any:
    once = frame[frame["paid"] == 1].drop_duplicates("user")
    counts = once["region"].value_counts().reindex(REGIONS, fill_value=0)
    return (counts + rng.laplace(scale=2, size=len(REGIONS))).to_dict()


@lt.mechanism
def rows_are_counted(frame: Any, rng: Any) -> Any:
    counts = frame[frame["paid"] == 1]["region"].value_counts().reindex(REGIONS, fill_value=0)
    return (counts + rng.laplace(scale=2, size=len(REGIONS))).to_dict()


@lt.mechanism
def once_in_each_region(frame: Any, rng: Any) -> Any:
    paid = frame[frame["paid"] == 1]
    counts = {one: paid[paid["region"] == one]["user"].nunique() for one in REGIONS}
    return {one: counts[one] + rng.laplace(scale=2) for one in REGIONS}


BUGS = {
    "rows are counted, not users": rows_are_counted,
    "a user counts in every region": once_in_each_region,
}

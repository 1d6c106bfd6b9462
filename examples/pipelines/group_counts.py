"""How many people live in each region; small counts are left out after the noise."""

from __future__ import annotations

from typing import Any

import liptest as lt

REGIONS = ["north", "south", "east", "west"]
TABLE = lt.Table({"region": lt.Category(REGIONS)}, rows=100_000)
CLAIM = {"epsilon": 1.0}


@lt.mechanism
def right(frame: Any, rng: Any) -> Any:
    counts = frame.groupby("region").size().reindex(REGIONS, fill_value=0)
    noisy = counts + rng.laplace(scale=2, size=len(REGIONS))
    return noisy[noisy > 20].to_dict()


@lt.mechanism
def keys_of_the_data(frame: Any, rng: Any) -> Any:
    counts = frame.groupby("region").size()
    return (counts + rng.laplace(scale=2, size=len(counts))).to_dict()


@lt.mechanism
def threshold_before_noise(frame: Any, rng: Any) -> Any:
    counts = frame.groupby("region").size().reindex(REGIONS, fill_value=0)
    counts = counts[counts > 20]
    return (counts + rng.laplace(scale=2, size=len(counts))).to_dict()


@lt.mechanism
def noise_for_one_group(frame: Any, rng: Any) -> Any:
    counts = frame.groupby("region").size().reindex(REGIONS, fill_value=0)
    return (counts + rng.laplace(scale=1, size=len(REGIONS))).to_dict()


BUGS = {
    "keys are those that occur": keys_of_the_data,
    "the threshold looks at exact counts": threshold_before_noise,
    "a replaced row changes two groups": noise_for_one_group,
}

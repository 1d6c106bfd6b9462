"""How many people are in each age band, by edges that are known in advance."""

from __future__ import annotations

from typing import Any

import pandas as pd

import liptest as lt

TABLE = lt.Table({"age": lt.Real(0, 120)}, rows=100_000)
CLAIM = {"epsilon": 1.0}
EDGES, BANDS = [0, 18, 40, 65, 120], ["child", "young", "middle", "old"]


@lt.mechanism
def right(frame: Any, rng: Any) -> Any:
    bands = pd.cut(frame["age"], EDGES, labels=BANDS, include_lowest=True)
    counts = bands.value_counts(sort=False)
    return (counts + rng.laplace(scale=2, size=len(BANDS))).to_dict()


@lt.mechanism
def edges_of_the_data(frame: Any, rng: Any) -> Any:
    counts = pd.cut(frame["age"], len(BANDS), labels=BANDS).value_counts(sort=False)
    return (counts + rng.laplace(scale=2, size=len(BANDS))).to_dict()


@lt.mechanism
def noise_for_one_band(frame: Any, rng: Any) -> Any:
    bands = pd.cut(frame["age"], EDGES, labels=BANDS, include_lowest=True)
    counts = bands.value_counts(sort=False)
    return (counts + rng.laplace(scale=1, size=len(BANDS))).to_dict()


BUGS = {
    "edges are those of the data": edges_of_the_data,
    "a replaced row changes two bands": noise_for_one_band,
}

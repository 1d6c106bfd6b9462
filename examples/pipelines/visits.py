"""What people spend in all: who comes often counts three times at most."""

from __future__ import annotations

from typing import Any

import liptest as lt

COLUMNS = {"user": lt.Key(), "spend": lt.Integer(0, 50)}
TABLE = lt.Table(COLUMNS, rows=100_000, unit="user", relation="add_remove")
CLAIM = {"epsilon": 1.0}
VISITS, MOST = 3, 20


@lt.mechanism
def right(frame: Any, rng: Any) -> Any:
    few = frame.groupby("user").head(VISITS)
    return few["spend"].clip(0, MOST).sum() + rng.laplace(scale=VISITS * MOST)


@lt.mechanism
def one_row_more(frame: Any, rng: Any) -> Any:
    few = frame.groupby("user").head(VISITS + 1)
    return few["spend"].clip(0, MOST).sum() + rng.laplace(scale=VISITS * MOST)


@lt.mechanism
def not_bounded(frame: Any, rng: Any) -> Any:
    frame.groupby("user").head(VISITS)
    return frame["spend"].clip(0, MOST).sum() + rng.laplace(scale=VISITS * MOST)


@lt.mechanism
def noise_for_rows(frame: Any, rng: Any) -> Any:
    few = frame.groupby("user").head(VISITS)
    return few["spend"].clip(0, MOST).sum() + rng.laplace(scale=MOST)


BUGS = {
    "one row more than the noise is for": one_row_more,
    "the bounded rows are not used": not_bounded,
    "the noise is for one row": noise_for_rows,
}

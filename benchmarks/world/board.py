"""All environments and rows."""

from __future__ import annotations

from benchmarks.world.libraries import (
    diffprivlib,
    learning,
    opendp,
    others,
    pure_ldp,
    response,
    smartnoise,
)
from benchmarks.world.rows import Environment, Row

_PARTS = (opendp, diffprivlib, smartnoise, pure_ldp, response, others, learning)
ENVIRONMENTS: tuple[Environment, ...] = tuple(e for part in _PARTS for e in part.ENVIRONMENTS)
ROWS: tuple[Row, ...] = tuple(row for part in _PARTS for row in part.ROWS)


def environment_of(row: Row, version: str) -> Environment:
    return next(e for e in ENVIRONMENTS if (e.library, e.version) == (row.library, version))

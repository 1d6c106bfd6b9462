"""Comparisons as they are written: what each sign does, and what it is with its sides exchanged."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from typing import Any

#: What the six signs of numbers do.
COMPARISONS: Mapping[type[ast.cmpop], Any] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
#: The four of order, with their sides exchanged.
MIRRORED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}

"""Which rows of each user a sum is of, where the contributions of users are bounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Table = NDArray[Any]


@dataclass(frozen=True)
class RowBound:
    """Of each user the first ``most`` rows whose values are ``kept``, of what ``before`` leaves.

    With ``order`` a float64 by value, and the first ones are those of the smallest. With ``by`` an
    int64 by value, and these are the first rows of each user in each group. ``is_all``: all rows of
    users who have at most so many, and none of the others.
    """

    before: RowBound | None
    kept: bytes
    most: int
    order: bytes = b""
    by: bytes = b""
    is_all: bool = False

    @property
    def rows(self) -> int:
        """The most rows of a user that are left."""
        most = self.most * len(self.groups())
        return most if self.before is None else min(most, self.before.rows)

    def groups(self) -> list[Table]:
        """By group which values are of it, (values,) truths each."""
        kept = np.frombuffer(self.kept, dtype=np.bool_)
        if not self.by:
            return [kept]
        codes = np.frombuffer(self.by, dtype=np.int64)
        return [kept & (codes == code) for code in np.unique(codes[kept])]

    def count_left_of_equal(self, times: int) -> int:
        """How many of so many equal rows of a user are left."""
        there = times if self.before is None else self.before.count_left_of_equal(times)
        return 0 if self.is_all and there > self.most else min(there, self.most)

"""What a fit is asked for, and what it finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.data.fitted import Fitted
from liptest.domains import Domain
from liptest.errors import InputError, check_count, check_non_negative, check_positive


@dataclass(frozen=True)
class Wanted:
    """The arguments of ``ProductDistribution.fit``."""

    domain: Domain | None = None
    columns: str | Sequence[str] | None = None
    groups: Any = None
    record_groups: Any = None
    records: int | None = None
    histogram_of: float | None = None
    categories: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    shrinkage: float = 10.0
    smoothing: float = 0.0
    max_values: int = 1000

    def check(self) -> None:
        """InputError when a number is wrong, or what a row is was said twice."""
        check_positive("shrinkage", self.shrinkage)
        check_non_negative("smoothing", self.smoothing)
        check_count("max_values", self.max_values)
        if self.histogram_of is not None and (self.has_groups or self.records is not None):
            raise InputError(
                "histogram_of: a histogram counts its records whatever their group; leave out "
                "groups, record_groups and records",
                name="histogram_of",
            )
        if self.records is not None and self.has_groups:
            raise InputError(
                "records: with groups the modelled records are those of record_groups; leave out "
                "records",
                name="records",
            )

    @property
    def has_groups(self) -> bool:
        """Whether groups were named."""
        return self.groups is not None or self.record_groups is not None


@dataclass(frozen=True)
class Found:
    """A domain and the law of each coordinate, what was read, and where from in words.

    ``laws`` is an array (d, values) or a list of d laws.
    """

    domain: Domain
    laws: NDArray[np.float64] | list[NDArray[np.float64]]
    fitted: Fitted
    where: str

    def bits(self) -> NDArray[np.float64]:
        """(d,) chances of a 1."""
        if isinstance(self.laws, np.ndarray):
            return np.ascontiguousarray(self.laws[:, 1])
        return np.array([law[1] for law in self.laws])

    def words(self, source: str) -> str:
        """The sentence part for verdicts; of an array the user's own words alone."""
        if not self.fitted.columns:
            return source or self.where
        return f"{source or self.where} ({self.fitted.words})"

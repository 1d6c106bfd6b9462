"""What a mechanism may see of a dataset, with all pairs of values that neighbours can have."""

from __future__ import annotations

from liptest.statistics.counting_queries import CountingQueries
from liptest.statistics.order_statistics import OrderStatistic
from liptest.statistics.protocol import Statistic
from liptest.statistics.sums import (
    ContingencyTables,
    Contributions,
    Count,
    Histogram,
    RecordSum,
    WeightedSum,
)
from liptest.statistics.user_statistic import UserStatistic

__all__ = [
    "ContingencyTables",
    "Contributions",
    "Count",
    "CountingQueries",
    "Histogram",
    "OrderStatistic",
    "RecordSum",
    "Statistic",
    "UserStatistic",
    "WeightedSum",
]

"""Statistics by their names, as a command line says them: ``Count``, ``Histogram(4)``."""

from __future__ import annotations

import re

from liptest.errors import InputError, quote
from liptest.runs.extensions import STATISTICS, find_offered, load_offered
from liptest.statistics.order_statistics import OrderStatistic
from liptest.statistics.protocol import Statistic
from liptest.statistics.sums import Count, Histogram

#: Shipped ones that whole numbers describe; OrderStatistic(3) is the third smallest record.
_OWN = {kind.__name__: kind for kind in (Count, Histogram, OrderStatistic)}
_WRITTEN = re.compile(r"([A-Za-z_][\w.-]*)(?:\(\s*(\d+(?:\s*,\s*\d+)*)?\s*\))?")


def find_named_statistic(written: str) -> Statistic:
    """The statistic of a name, with whole numbers in parentheses where it takes any.

    Shipped, or offered by another package under the entry point ``liptest.statistics``: a
    statistic, or a class or function that makes one of these numbers. Raises InputError where there
    is none, or where it takes other numbers.
    """
    match = _WRITTEN.fullmatch(written.strip())
    name, numbers = (match[1], match[2]) if match else ("", None)
    statistic = _OWN.get(name) or load_offered(STATISTICS, name)
    if statistic is None:
        names = ", ".join([*_OWN, *sorted(find_offered(STATISTICS).keys() - set(_OWN))])
        raise InputError(
            f"statistic={quote(written)} is not known; use one of {names}, with whole numbers in "
            f"parentheses where it takes any: Count, Histogram(4)",
            name="statistic",
            value=written,
        )
    if isinstance(statistic, Statistic) and match and "(" not in match[0]:
        return statistic
    return _make(
        statistic, written, [int(number) for number in (numbers or "").split(",") if number]
    )


def _make(maker: object, written: str, numbers: list[int]) -> Statistic:
    statistic: object = None
    if callable(maker):
        try:
            statistic = maker(*numbers)
        except TypeError as error:
            raise InputError(
                f"statistic={quote(written)}: {error}; write its whole numbers in parentheses: "
                f"Count, Histogram(4)",
                name="statistic",
                value=written,
            ) from None
    if not isinstance(statistic, Statistic):
        raise InputError(
            f"statistic={quote(written)}: its package offers {quote(maker)}, which makes no "
            f"statistic of these numbers",
            name="statistic",
            value=written,
        )
    return statistic

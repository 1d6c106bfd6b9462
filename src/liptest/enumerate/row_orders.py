"""Whether a program's answers depend on the order in which polars gives rows.

Where a program asks for no order, its law on plain frames is followed only if its analysis on
symbolic ones has shown that no order matters: there everything that looks at one is refused, and
the answers are sums of whole numbers, which no order changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from liptest.data.domains import Domain
from liptest.enumerate.polars_calls import UnorderedRowsError

T = TypeVar("T")
_ROUNDED = "in another order it may be rounded otherwise, or it reads how many rows there are"


@dataclass
class RowOrders:
    """What is known of one program on one table; None where there is no table."""

    domain: Domain | None = None
    #: Whether no order of rows changes what it answers.
    is_free: bool = False
    _reason: str | None = None

    def in_any(self, calculate: Callable[[], T], follow: Callable[[Domain], Any]) -> T:
        """``calculate()``, once more where an order that it leaves open turns out not to matter.

        ``follow`` gives the symbolic paths, or why there are none, which the error then says first.
        """
        try:
            return calculate()
        except UnorderedRowsError as error:
            if self.domain is None:
                raise
            if self._reason is None:
                followed = follow(self.domain)
                self._reason = _ROUNDED if followed.paths else followed.reason
                self.is_free = bool(followed.paths) and not followed.reads_length
            if not self.is_free:
                raise UnorderedRowsError(f"{self._reason}; and {error}") from None
        return calculate()

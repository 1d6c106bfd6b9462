"""Lists of records by keys: ``groups[key].append(v)`` of a ``defaultdict(list)``, ``setdefault``.

Which keys there are depends on the data. Of a constant key the list is that of a selection of the
records, empty where there are none; nothing else can be asked.
"""

from __future__ import annotations

from typing import Any, NoReturn

from liptest.enumerate.pure_code import is_plain
from liptest.enumerate.record_counts import ColumnRows
from liptest.values.unfollowed import Unfollowed


class Groups(Unfollowed):
    """Lists by keys of which some records made each; ``raises`` where a key is missing."""

    described = "lists by keys, which depend on which records there are"

    def __init__(self, rows: ColumnRows, lists: dict[Any, Any], *, raises: bool) -> None:
        self._rows = rows
        self._lists = lists
        self._raises = raises

    def refuse(self, use: str) -> NoReturn:
        """End the run."""
        self._rows.refuse(use)

    def __getitem__(self, key: Any) -> Any:
        if self._raises:
            self.refuse("an entry of a dict that is there for some records only; use .get")
        self._check(key)
        return self._lists.setdefault(key, [])

    def get(self, key: Any, default: Any = None) -> Any:
        """The list of a key; with a default that is not empty it tells whether there are any."""
        if type(default) not in (list, tuple) or default:
            self.refuse("a dict's get without an empty list as default")
        self._check(key)
        return self._lists.get(key, default)

    def _check(self, key: Any) -> None:
        if not is_plain(key):
            self.refuse("a list of a key that is not constant")

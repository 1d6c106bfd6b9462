"""What other packages offer by entry points: testers, adapters and statistics, each by its name."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from liptest.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: Groups of entry points (docs/extending.md).
TESTERS, ADAPTERS, STATISTICS = "liptest.testers", "liptest.adapters", "liptest.statistics"


@cache
def find_offered(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group by name, as they were at the first use."""
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=group)}


def load_offered(group: str, name: str) -> Any:
    """The object that an installed package offers under this name; None where none does.

    Raises InputError where it cannot be imported.
    """
    entry = find_offered(group).get(name)
    if entry is None:
        return None
    try:
        return entry.load()
    except Exception as error:  # somebody else's package may raise anything
        raise InputError(
            f"{name}: the entry point {group!r} names {entry.value!r}, which cannot be loaded: "
            f"{type(error).__name__}: {error}"
        ) from error

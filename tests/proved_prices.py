"""What is proved of a program beside the largest change that it can make, found without liptest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from liptest.privacy.proofs.prices import Alignment


def compare_with_change(found: Alignment, largest_change: Callable[[], float], *told: Any) -> str:
    """ "equal", "above" or "refused"; fails where the price is below the change.

    ``largest_change`` is asked for only where there is a price; ``told`` is shown in a failure.
    """
    if found.price is None:
        return "refused"
    change = largest_change()
    assert found.epsilon >= change - 1e-9, (*told, found.epsilon, change)
    return "equal" if found.epsilon <= change + 1e-9 else "above"

"""What a release of some numbers of a frame costs, with Laplace noise of scale 1 each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import liptest as lt
from liptest.privacy.prices import align


def price_of(expression: Callable[[Any], Any], table: Any) -> float:
    """The price of what an expression gives, one number or a tuple of them."""

    def released(frame: Any, rng: Any) -> Any:
        value = expression(frame)
        return [one + rng.laplace() for one in (value if isinstance(value, tuple) else (value,))]

    found = align(lt.mechanism(released).on_domain(table), table)
    assert found.price is not None, found.reason
    return found.epsilon

"""Programs with noise that are made to mislead: no wrong law, no wrong verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import liptest as lt
from liptest.errors import BudgetError

Program = Callable[[Any, Any], Any]
PAIR = lt.Hypercube(2)


def rarely_reveals(data: Any, rng: Any) -> Any:
    steps = 0
    while rng.random() < 0.5:
        steps += 1
    return (data.sum() if steps > 3 else 0) + rng.laplace(0, 1.0)


def counts_beside(data: Any, rng: Any) -> Any:
    return rng.geometric(0.5), data.sum() + rng.laplace(0, 1.0)


@pytest.mark.parametrize(
    ("program", "options"),
    [(rarely_reveals, {"max_leaves": 8}), (rarely_reveals, {}), (counts_beside, {})],
)
def test_partial_laws_of_real_numbers_have_no_epsilon(
    program: Program, options: dict[str, Any]
) -> None:
    with pytest.raises(BudgetError, match="not walked"):
        lt.exact_epsilon(lt.mechanism(program, **options), PAIR)
    law = lt.ProductDistribution.uniform(PAIR)
    with pytest.raises(BudgetError, match="not walked"):
        lt.check_privacy(lt.mechanism(program, **options), law, epsilon=5.0, method="exhaustive")

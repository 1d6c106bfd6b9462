"""``@lt.mechanism``: a Python function as a mechanism."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, overload

from liptest.mechanisms.laws import Output
from liptest.statistics.protocol import Statistic
from liptest.whitebox.function import PythonFunction
from liptest.whitebox.tree.budgets import MAX_CHOICES, MAX_LEAVES
from liptest.whitebox.tree.running import RandomFunction


@overload
def mechanism(function: RandomFunction, /) -> PythonFunction: ...


@overload
def mechanism(
    *,
    outputs: Sequence[Output] | None = None,
    statistic: Statistic | None = None,
    name: str = "",
    typed_outputs: bool = False,
    max_leaves: int = MAX_LEAVES,
    max_choices: int = MAX_CHOICES,
    max_seconds: float | None = None,
) -> Callable[[RandomFunction], PythonFunction]: ...


def mechanism(function: RandomFunction | None = None, /, **options: Any) -> Any:
    """Make a mechanism of a Python function ``(data, rng) -> output``.

    Use as ``@lt.mechanism`` or ``@lt.mechanism(outputs=[...], statistic=lt.Count(), name=...,
    typed_outputs=..., max_leaves=..., max_choices=..., max_seconds=...)``; parameters and errors as
    for ``PythonFunction``.
    """
    if function is not None:
        return PythonFunction(function, **options)
    return lambda decorated: PythonFunction(decorated, **options)

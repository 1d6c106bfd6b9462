"""Pipelines on data frames: right ones are proved at 100,000 rows, bugs have a witness of rows."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import liptest as lt

PIPELINES = (
    *("group_counts", "group_means", "regression", "quantile", "gradient_step", "totals"),
    *("visits", "active_users", "user_gradient", "incomes", "age_bands", "income_quantile"),
    "epoch",
)
#: The six kinds of pipelines, in pandas above and in polars.
IN_POLARS = ("visits", "group_counts", "group_means", "regression", "quantile", "epoch")
PIPELINES += tuple(f"in_polars.{one}" for one in IN_POLARS)
MODULES: dict[str, Any] = {one: import_module(f"examples.pipelines.{one}") for one in PIPELINES}
LONG = {*PIPELINES[1:]} - {"in_polars.visits"}


def _marked(name: str, *values: str) -> Any:
    return pytest.param(name, *values, marks=[pytest.mark.slow] if name in LONG else [])


BUGS = [_marked(name, bug) for name, module in MODULES.items() for bug in module.BUGS]


@pytest.mark.slow
@pytest.mark.parametrize("name", [_marked(one) for one in PIPELINES])
def test_the_right_ones_are_proved(name: str) -> None:
    module = MODULES[name]
    verdict = lt.check_privacy(module.right, module.TABLE, **module.CLAIM)
    assert verdict.decision == "YES", str(verdict)
    assert verdict.guarantee.kind == "proof"
    assert module.TABLE.rows == 100_000


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bug"), BUGS)
def test_bugs_are_shown_by_two_tables(name: str, bug: str) -> None:
    module = MODULES[name]
    verdict = lt.check_privacy(module.BUGS[bug], module.TABLE, **module.CLAIM)
    assert verdict.decision == "NO", str(verdict)
    witness = verdict.witness
    assert witness is not None
    assert witness.verify(module.BUGS[bug].on_domain(module.TABLE))
    assert witness.rows is not None
    assert all(line in str(verdict) for line in witness.rows)

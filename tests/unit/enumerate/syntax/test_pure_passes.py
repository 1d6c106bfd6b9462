"""What a pass of a loop is handed must not change: lists and arrays that calls write to.

Without the comparison with plain data, which rare records escape, a program that is followed must
still cost what its sums change by.
"""

from __future__ import annotations

import inspect
import itertools
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.symbols import symbolic_data
from liptest.enumerate.syntax import pure_code
from liptest.privacy.proofs.prices import align
from tests.unit.written_programs import program

SMALL = lt.RecordGrid([3] * 3)
TABLE = np.arange(6.0).reshape(3, 2)
#: Expressions of a record ``v`` that change ``told``, a list, or ``kept``, an array of two floats.
CHANGING = {
    "ufunc": "np.add(kept, v, kept)[0]",
    "ufunc of a table": "np.add(TABLE[v], kept, kept)[0]",
    "product": "np.multiply(kept + 1, v, kept)[1]",
    "clip": "np.clip(TABLE[v], 0, 9, kept)[0]",
    "clip of an array": "TABLE[v].clip(0, 9, kept)[0]",
    "sum": "np.sum(TABLE[v:v + 1], 0, None, kept)[0]",
    "sum of an array": "TABLE[v:v + 1].sum(0, None, kept)[0]",
    "cumsum": "np.cumsum(TABLE[v], 0, None, kept)[0]",
    "mean": "np.mean(TABLE[v:v + 1], 0, None, kept)[0]",
    "dot": "np.dot(TABLE[v:v + 1], np.eye(2), kept[None])[0, 0]",
    "round": "np.round(TABLE[v], 0, kept)[0]",
    "key of max": "max([v], key=told.append)",
    "key of min": "min([v], key=told.append)",
    "key of sorted": "sorted([v], key=told.append)[0]",
    "through a function": "handed([v], told)",
}
FORMS = {
    "loop": "t = 0\nfor v in data:\n    t += 0 * {}",
    "list": "t = 0 * sum([{} for v in data])",
    "generator": "t = 0 * sum({} for v in data)",
}


def handed(values: Any, told: Any) -> Any:
    return max(values, key=told.append)


class Still:
    """A generator whose noise is 0."""

    def laplace(self, loc: float = 0.0, scale: float = 1.0) -> float:
        return loc


def written(expression: str, form: str, names: dict[str, Any]) -> Any:
    lines = ("told, kept = [], np.zeros(2)", FORMS[form].format(expression))
    end = "return t + sum(told) + kept[0] + kept[1] + rng.laplace(0, 1.0)"
    return program("\n".join((*lines, end)), TABLE=TABLE, handed=handed, **names)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("expression", CHANGING)
def test_what_changes_is_not_taken_for_what_calculates(
    expression: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symbolic_data, "check_points", lambda *given: ())
    function = written(CHANGING[expression], form, {})
    sums = {
        point: float(function(np.array(point), Still()))
        for point in itertools.product(range(3), repeat=3)
    }
    change = max(
        abs(value - sums[(*point[:place], other, *point[place + 1 :])])
        for point, value in sums.items()
        for place in range(3)
        for other in range(3)
    )
    assert change > 0
    assert align(lt.mechanism(function), SMALL).epsilon >= change - 1e-9


def test_rare_records_do_not_escape() -> None:
    """The last possible value takes back what a rare one has written, as drawn data show it."""
    lines = (
        "kept, t = np.zeros(1), 0",
        "for v in data:",
        "    t += 0 * np.add(kept, 1000 * (v == 1234), kept)[0]",
        "    t += 0 * np.multiply(kept, v != 1999, kept)[0]",
        "return t + kept[0] + rng.laplace(0, 1.0)",
    )
    assert align(lt.mechanism(program("\n".join(lines))), lt.RecordGrid([2000] * 5)).price is None


def test_where_numpy_writes_to_is_known() -> None:
    known = {function.__name__: most for function, most in pure_code._BEFORE_OUT}
    for name in pure_code._OF_NUMPY:
        function = vars(np)[name]
        try:
            names = list(inspect.signature(function).parameters)
        except ValueError:  # of older versions, which tell it of few
            continue
        if "out" in names and not isinstance(function, np.ufunc):
            assert known[function.__name__] == names.index("out")

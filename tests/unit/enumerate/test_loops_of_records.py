"""Draws that are made again for each record: the law of one record has the rules of loops."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.by_records import RowFunction
from tests.unit.written_programs import program

COUNT = 5_000

# Randomised response: the value with probability p, else another one, each as likely.
AGAIN = {
    "called for each record": """def one(v):
    if rng.random() < {p}:
        return v
    x = rng.integers(0, {k})
    while x == v:
        x = rng.integers(0, {k})
    return x
return [one(v) for v in data]""",
    "given the generator": """def one(v, rng):
    if rng.random() < {p}:
        return int(v)
    x = int(rng.integers({k}))
    while x == v:
        x = int(rng.integers({k}))
    return x
return [one(v, rng) for v in data]""",
    "in a loop": """out = []
for v in data:
    if rng.random() < {p}:
        out.append(v)
    else:
        x = rng.integers(0, {k})
        while x == v:
            x = rng.integers(0, {k})
        out.append(x)
return np.array(out)""",
    "left by break": """out = []
for v in data:
    x = v
    if rng.random() >= {p}:
        while True:
            x = rng.integers({k})
            if x != v:
                break
    out.append(int(x))
return out""",
}


def _law(made: Any, value: int) -> dict[Any, Fraction]:
    mechanism = lt.mechanism(made).of_one_record(np.zeros(COUNT, dtype=np.int64))
    assert mechanism is not None
    law = mechanism.fresh_law(np.array([value]))
    assert law.fractions is not None
    assert law.unexplored == 0
    return {int(one): mass for one, mass in zip(law.outputs, law.fractions, strict=True)}


@pytest.mark.parametrize("spelling", AGAIN)
@pytest.mark.parametrize(("kinds", "kept"), [(3, "0.5"), (4, "0.25"), (7, "0.625")])
def test_the_law_is_that_of_randomised_response(spelling: str, kinds: int, kept: str) -> None:
    made = program(AGAIN[spelling].format(k=kinds, p=kept))
    keeping = Fraction(kept)
    for value in (0, kinds - 1):
        law = _law(made, value)
        assert law.pop(value) == keeping
        assert law == {
            other: (1 - keeping) / (kinds - 1) for other in range(kinds) if other != value
        }


@pytest.mark.parametrize("spelling", AGAIN)
def test_the_claim_holds_exactly_for_any_number_of_records(spelling: str) -> None:
    made = program(AGAIN[spelling].format(k=4, p="0.5"))
    domain = lt.RecordGrid([4] * COUNT)
    right = lt.check_privacy(made, domain, epsilon=math.log(3) + 1e-9)
    assert right.decision == "YES", str(right)
    assert "start over" in str(right)
    wrong = lt.check_privacy(made, domain, epsilon=math.log(3) - 1e-6)
    assert wrong.decision == "NO", str(wrong)


def test_a_loop_that_counts_its_passes_is_not_summed_up() -> None:
    made = program("""def one(v):
    x = rng.integers(0, 2)
    tries = 0
    while x != v and tries < 2:
        tries += 1
        x = rng.integers(0, 2)
    return x
return [one(v) for v in data]""")
    assert _law(made, 1) == {1: Fraction(7, 8), 0: Fraction(1, 8)}


@pytest.mark.parametrize(
    "body",
    [
        # What an earlier record left is read.
        """x, out = 0, []
for v in data:
    while x == v:
        x = rng.integers(0, 3)
    out.append(x)
return out""",
        # A generator function of all records within the treatment of one.
        """out = []
for v in data:
    x = v
    while x == v:
        x = rng.integers(0, 3)
        out.append(x)
return out""",
    ],
)
def test_what_records_hand_on_is_refused(body: str) -> None:
    verdict = lt.check_privacy(program(body), lt.RecordGrid([3] * COUNT), epsilon=1)
    assert verdict.decision == "INCONCLUSIVE", str(verdict)


def test_code_is_rewritten_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[RowFunction] = []
    renewed = RowFunction.with_rewritten

    def noted(self: RowFunction, rewrite: Any) -> RowFunction:
        made.append(renewed(self, rewrite))
        return made[-1]

    monkeypatch.setattr(RowFunction, "with_rewritten", noted)
    _law(program(AGAIN["in a loop"].format(k=3, p="0.5")), 0)
    assert [len(one.rewriting._made) for one in made if one.rewriting] in ([1], [1, 1], [1, 1, 1])

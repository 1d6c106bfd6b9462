"""A divergence that is exactly delta keeps the claim; one that is above by anything breaks it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from liptest.mechanisms.laws import OutputLaw
from liptest.privacy.claims import Claim, log
from liptest.privacy.comparison import Answer, compare_laws


def law(*weights: Fraction | int) -> OutputLaw:
    total = sum(map(Fraction, weights))
    return OutputLaw.from_fractions({k: Fraction(w) / total for k, w in enumerate(weights)})


TINY = Fraction(1, 2**400)


@pytest.mark.parametrize(
    ("left", "right", "answer"),
    [
        # 1/2 - 3/2 * 1/4 = 1/8, and the same the other way round.
        (law(1, 1, 2), law(1, 2, 1), Answer.CLEAR),
        (law(1, 2, 1), law(1, 1, 2), Answer.CLEAR),
        (law(1 - TINY, 1, 2 + TINY), law(1, 2, 1), Answer.VIOLATED),
        (law(1 + TINY, 1, 2 - TINY), law(1, 1, 1), Answer.CLEAR),
    ],
)
def test_a_tie_at_delta_is_decided(left: OutputLaw, right: OutputLaw, answer: Answer) -> None:
    claim = Claim(log(Fraction(3, 2)), 0.125, 0.0)
    assert compare_laws(left, right, claim).answer is answer

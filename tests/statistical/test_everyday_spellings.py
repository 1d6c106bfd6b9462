"""Everyday programs in other spellings: each is decided at its size, by a proof where it is YES."""

from __future__ import annotations

import pytest

import liptest as lt
from tests.statistical.everyday_spellings import SPELLED, YES


@pytest.mark.slow
@pytest.mark.parametrize("name", SPELLED)
def test_the_answer_is_right(name: str) -> None:
    program, domain, expected, epsilon, delta = SPELLED[name]
    mechanism = lt.mechanism(program)
    verdict = lt.check_privacy(mechanism, domain(), epsilon=epsilon, delta=delta, seed=1)
    assert verdict.decision == expected
    if expected == YES:
        assert verdict.guarantee.kind == "proof"
    else:
        assert verdict.witness is not None

"""No proof accepts a program that leaks, however it hides the leak."""

from __future__ import annotations

from fractions import Fraction

import pytest

import liptest as lt
from liptest.data.domains import Domain
from liptest.enumerate.symbols.symbolic_paths import NoPaths
from liptest.symbolic.alignment import price_paths
from tests.property.leaky_programs import ANSWERS, BITS, LEAKS, VALUES, Leak
from tests.shares import mostly_slow

_RECORDS = 6
_DOMAINS: dict[str, Domain] = {
    BITS: lt.Hypercube(_RECORDS),
    VALUES: lt.RecordGrid([4] * _RECORDS),
    ANSWERS: lt.Answers(5),
}


#: Seconds each.
_LONG = {"values_that_occur", "answers_told_above_a_noisy_threshold"}
_QUICK, _DEAR = ([leak for leak in LEAKS if (leak.name in _LONG) is long] for long in (False, True))


@pytest.mark.parametrize(
    "leak",
    [*mostly_slow(_QUICK, 3), *(pytest.param(leak, marks=pytest.mark.slow) for leak in _DEAR)],
    ids=lambda leak: leak.name,
)
@pytest.mark.parametrize("way", ["released", pytest.param("branches", marks=pytest.mark.slow)])
def test_no_price_is_below_what_a_leak_costs(leak: Leak, way: str) -> None:
    found = lt.mechanism(leak.function).align_paths(_DOMAINS[leak.data], way=way)
    if isinstance(found, NoPaths):
        return
    price = price_paths(found.paths, found.differences)
    assert price.epsilon is None or price.epsilon > Fraction(leak.epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.name)
def test_the_law_of_one_record_proves_no_leak(leak: Leak) -> None:
    if leak.data == ANSWERS:
        return
    law = lt.ProductDistribution.uniform(_DOMAINS[leak.data])
    claim = {"epsilon": leak.epsilon, "delta": leak.delta}
    try:
        verdict = lt.check_privacy(
            lt.mechanism(leak.function), law, method="per-record", seed=1, **claim
        )
    except lt.errors.LiptestError:
        return
    assert verdict.decision != "YES"

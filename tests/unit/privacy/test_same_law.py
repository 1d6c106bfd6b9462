"""Is it the same law? Asked twice, with budgets that end at another place, or of nothing at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest

import liptest as lt
from liptest.data.points import PointBatch
from liptest.enumerate.python_function import PythonFunction
from liptest.enumerate.trees.law_memory import law_table
from liptest.errors import MechanismError, NonDeterministicError
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import LawTable, OutputLaw, find_once, laws_of_one_decision
from liptest.privacy import comparison
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import check_same_law, compare_laws, enclose_loss


@dataclass(frozen=True, eq=False)
class Changing(Mechanism):
    """A law each time it is asked: as a budget of seconds has it end here or there."""

    given: list[OutputLaw]
    name: str = "changing"
    outputs: None = None
    statistic: None = None
    source: str = "enumerated"
    asked: list[int] = field(default_factory=list)

    def law(self, dataset) -> OutputLaw:
        self.asked.append(0)
        return self.given[min(len(self.asked), len(self.given)) - 1]

    def laws(self, points: PointBatch) -> LawTable:
        return law_table([self.law(point) for point in points.array()], None, None)


def _law(unexplored: str, **probabilities: str) -> OutputLaw:
    given = {output: Fraction(text) for output, text in probabilities.items()}
    return OutputLaw.from_fractions(given, unexplored=Fraction(unexplored))


PART = _law("1/2", a="1/4", b="1/4")


@pytest.mark.parametrize(
    "again",
    [
        _law("1/4", a="1/2", b="1/4"),  # further on
        _law("3/4", a="1/4"),  # not so far
        _law("1/4", a="1/4", c="1/2"),  # elsewhere, as far as is just possible
        _law("0", a="1/2", b="1/4", c="1/4"),  # whole
        PART,
    ],
)
def test_a_law_that_is_explored_further_is_the_same_law(again):
    mechanism = Changing([again])
    check_same_law(mechanism, law_table([PART], None, None), np.array([0]))


@pytest.mark.parametrize(
    "again",
    [
        _law("1/2", a="1/2"),  # the same part, and something else in it
        _law("0", b="1"),  # a has less than it had
        _law("0", a="1/5", b="4/5"),
        _law("1/4", c="3/4"),
    ],
)
def test_a_law_that_no_completion_makes_equal_has_changed(again):
    mechanism = Changing([again])
    with pytest.raises(NonDeterministicError, match="keep no state"):
        check_same_law(mechanism, law_table([PART], None, None), np.array([0]))


def test_whole_laws_must_be_equal():
    first, second = _law("0", a="1/2", b="1/2"), _law("0", a="501/1000", b="499/1000")
    with pytest.raises(NonDeterministicError):
        check_same_law(Changing([second]), law_table([first], None, None), np.array([0]))


def test_pure_code_whose_time_ends_here_or_there_is_not_accused():
    parts = [_law(f"{64 - k}/64", a=f"{k}/64") for k in (8, 9, 11, 10, 12, 9)]
    found = lt.exact_loss(Changing(parts), [([0], [1])])
    assert (found.lower, found.upper) == (0.0, np.inf)
    verdict = lt.check_privacy(
        Changing(parts), lt.ProductDistribution.uniform(lt.RecordGrid([2])), epsilon=1.0
    )
    assert verdict.decision == "INCONCLUSIVE"


@pytest.mark.parametrize("domain", [lt.Hypercube(2), lt.RecordGrid([2, 3])])
def test_code_that_only_raises_has_no_epsilon(domain):
    mechanism = lt.mechanism(lambda data: int(data.sum()) // 0)
    with pytest.raises(MechanismError, match="raised an exception on every dataset"):
        lt.exact_epsilon(mechanism, domain)


def test_code_that_answers_somewhere_has_one():
    mechanism = lt.mechanism(lambda data: 1 // int(data[0]))
    assert lt.exact_epsilon(mechanism, lt.Hypercube(2)).value == np.inf


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[1, 1], [1], [1, 1, 1]])
@pytest.mark.parametrize("kind", [lt.RecordGrid, lt.Hypergrid])
def test_a_domain_of_one_dataset_has_no_neighbours(kind, sizes):
    mechanism = lt.mechanism(lambda data, rng: int(data[-1]))
    assert lt.exact_epsilon(mechanism, kind(sizes)).value == 0.0
    law = lt.ProductDistribution.uniform(kind(sizes))
    for method in ("auto", "exhaustive", "neighbourhoods"):
        assert lt.check_privacy(mechanism, law, epsilon=1.0, method=method).decision == "YES"


def test_coordinates_of_one_value_beside_others():
    mechanism = lt.mechanism(lambda data, rng: int(data[-1]))
    assert lt.exact_epsilon(mechanism, lt.RecordGrid([1, 1, 2])).value == np.inf


@pytest.mark.slow
def test_one_decision_enumerates_each_law_once(monkeypatch):
    """The laws of a pair are used for its comparison, all points of a curve and the witness."""
    fresh = []
    own = PythonFunction.fresh_law

    def counted(self, dataset):
        fresh.append(tuple(dataset.tolist()))
        return own(self, dataset)

    monkeypatch.setattr(PythonFunction, "fresh_law", counted)
    flip = lt.mechanism(lambda data, rng: int(data[0]) ^ int(rng.random() < 0.25))
    for claim in ({"epsilon": 1.0}, {"curve": {1.0: 0.01, 1.05: 0.001}}):
        verdict = lt.check_privacy(flip, lt.Hypercube(1), method="exhaustive", **claim)
        assert verdict.decision == "NO"
        assert fresh.count((1,)) == 1
        assert verdict.witness.verify(flip)
        fresh.clear()


@pytest.mark.parametrize("in_floats", [False, True])
def test_what_laws_say_of_an_output_is_looked_at_once(monkeypatch, in_floats):
    """Ties, outputs of one side only, and laws with a part that was not explored."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        left, right = (_random_law(rng, in_floats=in_floats) for _ in range(2))
        claim = Claim(float(rng.choice([0.1, 0.7, 1.5])), 0.0)
        few = enclose_loss(left, right), compare_laws(left, right, claim)
        with monkeypatch.context() as one_by_one:
            one_by_one.setattr(comparison, "_outputs_apart", comparison._outputs)
            assert few == (enclose_loss(left, right), compare_laws(left, right, claim))


def _random_law(rng, *, in_floats):
    weights = rng.integers(1, 4, 8)
    total = int(weights.sum()) + int(rng.integers(0, 2))
    if in_floats:
        return OutputLaw(range(8), np.log(weights / weights.sum()), rng.choice([0.0, 1e-9], 8))
    masses = {k: Fraction(int(n), total) for k, n in enumerate(weights) if rng.random() < 0.9}
    return OutputLaw.from_fractions(masses, unexplored=1 - sum(masses.values()))


def test_laws_over_all_numbers_are_computed_anew_once_a_decision(monkeypatch):
    asked = []
    anew = PythonFunction.fresh_law

    def noted(mechanism, dataset):
        asked.append(tuple(dataset.tolist()))
        return anew(mechanism, dataset)

    def count(data, rng):
        return int(data.sum() + rng.geometric(0.5) - rng.geometric(0.5))

    pair = np.array([0, 1]), np.array([1, 1])
    seen = lt.mechanism(count).over_all_numbers(pair[0])
    monkeypatch.setattr(PythonFunction, "fresh_law", noted)
    with laws_of_one_decision():
        loss = str(seen.pair_loss(*pair))
        assert str(seen.pair_loss(*pair)) == loss
        seen.pair_witness(*pair, 0.1)
    assert sorted(asked) == [(0, 1), (1, 1)]
    seen.pair_loss(*pair)
    assert sorted(asked) == [(0, 1), (0, 1), (1, 1), (1, 1)]


def test_what_is_found_in_a_decision_is_forgotten_with_it():
    made = []

    def find():
        made.append(len(made))
        return made[-1]

    assert [find_once("a", find), find_once("a", find)] == [0, 1]
    with laws_of_one_decision():
        assert [find_once("a", find), find_once("a", find), find_once("b", find)] == [2, 2, 3]
        with laws_of_one_decision():
            assert find_once("a", find) == 2
        for number in range(100):
            find_once(number, find)
        assert find_once("a", find) > 3  # few are kept
    assert find_once("a", find) == made[-1]

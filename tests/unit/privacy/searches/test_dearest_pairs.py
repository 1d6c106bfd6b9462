"""Both ends of epsilon for any real answers, beside laws that are enumerated."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.evidence.verify import refutation_problems
from liptest.mechanisms.base import check_mechanism
from liptest.privacy.claims import Claim
from liptest.privacy.path_probabilities import probability_of_path
from liptest.privacy.searches.dearest_pairs import (
    enclose_by_path,
    find_again,
    find_violation,
)
from tests.shares import mostly_slow
from tests.unit.written_programs import program

_SPARSE = """t, told = rng.laplace(0, 2.0), []
for a in data:
    if a + {noise} >= t:
        told.append(1)
    else:
        told.append(0)
return tuple(told)"""
NOISY = program(_SPARSE.format(noise="rng.laplace(0, 2.0)"))
BARE = program(_SPARSE.format(noise="0"))
LARGEST = program("return int(np.argmax(data + rng.laplace(0, 2.0, len(data))))")
LARGEST_EXPONENTIAL = program("return int(np.argmax(data + rng.exponential(2.0, len(data))))")
OF_NOISE = program(
    """z = rng.laplace()
if z > 1:
    return 2
return int(data[0] + rng.laplace() > z)"""
)
NESTED = program(
    """z = data[0] + rng.laplace()
if z > 1:
    return 3 if z > 2 else 2
return 0 if data[1] + rng.laplace() > z else 1"""
)
SHARED = program(
    """t, told = rng.laplace(), []
for a in data:
    if a + rng.laplace() > t:
        told.append(1)
    elif t > 0:
        told.append(2)
    else:
        told.append(0)
return tuple(told)"""
)
WHOLE = program("return int(data[0] + rng.geometric(0.5) - rng.geometric(0.5) > 1)")
GAUSSIAN = program("return bool(data[0] + rng.normal() > 0)")
TOLD = program("return data[0] + rng.laplace()")
COIN = program("return int(data[0] + rng.laplace() > 0) * int(rng.integers(2))")
SUMMED = program("return int(data[0] + rng.laplace() > 0) + int(data[1] + rng.laplace() > 0)")


@pytest.mark.parametrize(
    "function",
    [NOISY, BARE, LARGEST, LARGEST_EXPONENTIAL, OF_NOISE, NESTED, SHARED, WHOLE, GAUSSIAN],
)
@pytest.mark.parametrize("answers", mostly_slow([(0, 0, 0), (2, -1, 0), (-3, 1, 1)], 3))
def test_probabilities_of_paths_are_those_of_outputs(function: Any, answers: Any) -> None:
    followed: Any = lt.mechanism(function).align_paths(lt.Answers(3), way="branches")
    law = lt.output_law(lt.mechanism(function), list(answers))
    for path in followed.paths:
        (output,) = followed.alone(path)
        mass = probability_of_path(path, np.array(answers))
        assert float(mass.mid()) == pytest.approx(law.get(output, 0.0), rel=1e-12, abs=1e-300)
        assert mass.is_zero() == (law.get(output, 0.0) == 0.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "queries", "relation", "epsilon"),
    [
        (NOISY, 4, "all", 2.0),
        (NOISY, 4, "one", 0.5),
        (LARGEST, 3, "all", 1.0),
        (LARGEST_EXPONENTIAL, 3, "all", 1.0),
    ],
)
def test_ends_meet(function: Any, queries: int, relation: str, epsilon: float) -> None:
    domain = lt.Answers(queries, relation=relation)
    found = lt.exact_epsilon(lt.mechanism(function), domain)
    assert found.ends_meet
    assert found.lower <= epsilon <= found.upper
    assert found.upper == pytest.approx(epsilon, rel=1e-12)
    witness = found.witness
    assert witness is not None
    assert int(domain.distance(witness.dataset, witness.neighbour)[0]) == 1
    assert witness.verify(lt.mechanism(function))


@pytest.mark.slow
def test_ends_that_do_not_quite_meet_are_the_closest_ones() -> None:
    flat = program("return int(np.argmax(data + rng.laplace(0, 2000.0, len(data))))")
    found = lt.exact_epsilon(lt.mechanism(flat), lt.Answers(3))
    assert not found.ends_meet  # answers below 2**31 are not far enough out
    assert found.upper == pytest.approx(0.001, rel=1e-12)
    assert 0.000999 < found.lower < found.upper


def test_what_is_possible_on_one_side_only_is_found_at_once() -> None:
    found = lt.exact_epsilon(lt.mechanism(BARE), lt.Answers(3))
    assert found.lower == math.inf
    assert found.ends_meet
    witness = found.witness
    assert witness is not None
    assert witness.neighbour_probability == 0 < witness.probability
    assert witness.verify(lt.mechanism(BARE))


@pytest.mark.slow
@pytest.mark.parametrize("function", [NOISY, LARGEST, LARGEST_EXPONENTIAL])
def test_no_loss_of_a_pair_exceeds_what_is_enclosed(function: Any) -> None:
    found = lt.exact_epsilon(lt.mechanism(function), lt.Answers(3))
    rng = np.random.default_rng(0)
    for _ in range(3):
        left = rng.integers(-3, 4, 3)
        right = left + rng.choice([-1, 1], 3)
        assert lt.exact_loss(lt.mechanism(function), [(left, right)]).value <= found.upper


@pytest.mark.parametrize("function", [GAUSSIAN, TOLD, COIN, SUMMED])
def test_what_several_runs_answer_or_has_no_price_is_left_to_others(function: Any) -> None:
    mechanism = check_mechanism(lt.mechanism(function))
    both = enclose_by_path(mechanism, lt.Answers(2))
    if both is not None:  # an output that one run alone gives
        assert both.witness.loss_lower <= both.upper
        assert both.witness.verify(mechanism)


TOP = "return tuple(int(k) for k in np.argsort(-(data + rng.{noise}(0, 1.0, {size})))[:2])"


@pytest.mark.parametrize("noise", ["laplace", "gumbel"])
def test_the_order_of_the_largest_is_decided(noise: str) -> None:
    top = program(TOP.format(noise=noise, size=9))
    assert lt.check_privacy(top, lt.Answers(9), epsilon=4.0).decision == "YES"
    verdict = lt.check_privacy(top, lt.Answers(9), epsilon=3.9)
    assert verdict.decision == "NO"
    witness = verdict.witness
    assert witness is not None
    assert int(lt.Answers(9).distance(witness.dataset, witness.neighbour)[0]) == 1
    assert 3.9 < witness.loss_lower <= 4


@pytest.mark.parametrize("noise", ["laplace", "gumbel"])
def test_what_the_dearest_path_refutes_laws_refute_too(noise: str) -> None:
    mechanism = check_mechanism(lt.mechanism(program(TOP.format(noise=noise, size=4))))
    witness = find_violation(mechanism, lt.Answers(4), Claim(3.5))
    assert witness is not None
    assert witness.verify(mechanism)
    assert find_violation(mechanism, lt.Answers(4), Claim(4.0)) is None
    assert find_violation(mechanism, lt.Answers(4), Claim(4.0, tolerance=0.0)) is None
    assert find_violation(mechanism, lt.Answers(4), Claim(1.0, delta=1e-9)) is None


def test_a_witness_on_a_path_is_found_again_without_laws() -> None:
    mechanism = check_mechanism(lt.mechanism(program(TOP.format(noise="gumbel", size=9))))
    answers = lt.Answers(9)
    verdict = lt.check_privacy(mechanism, answers, epsilon=3.9)
    witness = verdict.witness
    assert witness is not None
    again = find_again(mechanism, answers, witness)
    assert again is not None
    assert again.bounds == witness.bounds
    other = check_mechanism(lt.mechanism(program(TOP.format(noise="laplace", size=9))))
    different = find_again(other, answers, witness)
    assert different is not None
    assert different.bounds != witness.bounds
    assert find_again(check_mechanism(lt.mechanism(NOISY)), answers, witness) is None


@pytest.mark.slow
def test_such_a_witness_is_verified() -> None:
    mechanism = check_mechanism(lt.mechanism(program(TOP.format(noise="laplace", size=9))))
    answers = lt.Answers(9)
    verdict = lt.check_privacy(mechanism, answers, epsilon=3.9)
    assert verdict.witness is not None
    assert verdict.witness.verify(mechanism)
    assert not verdict.witness.verify(lt.mechanism(NOISY))
    assert refutation_problems(verdict, mechanism, answers) == []
    wrong = replace(verdict.witness, bounds=(("1/9", "1/8", "1/9", "1/8"),))
    assert refutation_problems(replace(verdict, witness=wrong), mechanism, answers)


def test_answers_are_whole_numbers_on_both_sides_of_0() -> None:
    answers = lt.Answers(3)
    assert answers.check_points([-5, 0, 7]).tolist() == [[-5, 0, 7]]
    for wrong in ([1, 2], [0.5, 0, 0], [2**31, 0, 0], [-(2**31), 0, 0], [np.nan, 0, 0]):
        with pytest.raises(lt.errors.DatasetError):
            answers.check_points(wrong)

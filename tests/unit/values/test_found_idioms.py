"""Ways of writing that are common in published programs: each in one small program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liptest as lt

GROUPS = lt.RecordGrid([3] * 40)


def in_two_dimensions(answers: Any, rng: Any) -> Any:
    rows = np.atleast_2d(answers) + rng.laplace(0, 8.0, size=(1, answers.shape[0]))
    return rows[0].tolist()


def expanded(answers: Any, rng: Any) -> Any:
    return (np.expand_dims(answers, 0) + rng.laplace(0, 8.0, size=8)).tolist()


def rolled(answers: Any, rng: Any) -> Any:
    return np.roll(answers + rng.laplace(0, 8.0, size=8), 1).tolist()


def resized(answers: Any, rng: Any) -> Any:
    return (np.resize(answers, (2, 4)) + rng.laplace(0, 8.0, size=(2, 4))).tolist()


def on_the_diagonal(answers: Any, rng: Any) -> Any:
    return (np.diagonal(answers[:4].reshape(2, 2)) + rng.laplace(0, 2.0, size=2)).tolist()


def of_one(answers: Any, rng: Any) -> Any:
    return np.atleast_1d(answers.sum() + rng.laplace(0, 8.0)).tolist()


MOVED = [in_two_dimensions, expanded, rolled, resized, on_the_diagonal, of_one]


@pytest.mark.parametrize("program", MOVED)
def test_answers_are_moved(program: Any) -> None:
    verdict = lt.check_privacy(lt.mechanism(program), lt.Answers(8), epsilon=1.0, floats="ideal")
    assert (verdict.decision, verdict.method) == ("YES", "alignment")


def by_norm(data: Any, rng: Any) -> int:
    counts = np.bincount(data, minlength=3)
    weights = np.exp(0.5 * (counts - counts.max()))
    return int(rng.choice(3, p=weights / np.linalg.norm(weights, ord=1)))


def a_list_by_its_norm(data: Any, rng: Any) -> int:
    scores = [(data == group).sum() for group in range(3)]
    weights = [np.exp(0.5 * (score - max(scores))) for score in scores]
    shares = weights / np.linalg.norm(weights, ord=1)
    return int(rng.choice(3, p=shares))


@pytest.mark.slow
@pytest.mark.parametrize("program", [by_norm, a_list_by_its_norm])
def test_weights_over_their_norm_are_shares(program: Any) -> None:
    mechanism = lt.mechanism(program)
    verdict = lt.check_privacy(mechanism, GROUPS, epsilon=1.0, delta=1e-9)
    assert (verdict.decision, verdict.method) == ("YES", "alignment")
    verdict = lt.check_privacy(mechanism, GROUPS, epsilon=0.5, delta=1e-9)
    assert verdict.decision == "NO"


def test_of_plain_numbers_the_norm_is_that_of_numpy() -> None:
    def program(data: Any, rng: Any) -> float:
        shares = [1.0, -3.0] / np.linalg.norm([1.0, -3.0], ord=1)
        return float(shares[1] * data.sum() + rng.laplace(0, 0.75))

    verdict = lt.check_privacy(lt.mechanism(program), lt.Hypercube(50), epsilon=1.0, floats="ideal")
    assert verdict.decision == "YES"


def mean_by_shape(frame: Any, rng: Any) -> float:
    ages = frame["age"]
    return float(ages.sum() / ages.shape[0] + rng.laplace(0, 100 / ages.size))


@pytest.mark.slow
@pytest.mark.parametrize(("relation", "decision"), [("replace", "YES"), ("add_remove", "NO")])
def test_the_shape_of_a_column_is_the_number_of_rows(relation: str, decision: str) -> None:
    more = {} if relation == "replace" else {"relation": relation}
    people = lt.Table({"age": lt.Integer(0, 100)}, rows=200, **more)
    verdict = lt.check_privacy(lt.mechanism(mean_by_shape), people, epsilon=1.0, floats="ideal")
    assert verdict.decision == decision


def weight_against_uniform(data: Any, rng: Any) -> int:
    counts = np.bincount(data, minlength=3).astype(float)
    counts -= counts.max()
    weights = np.exp(counts * 0.5)
    shares = weights / weights.sum()
    return int(np.argmax(shares.cumsum() >= rng.uniform()))


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "decision"), [(1.0, "YES"), (0.5, "NO")])
def test_shares_against_a_uniform_number_are_a_choice(epsilon: float, decision: str) -> None:
    verdict = lt.check_privacy(
        lt.mechanism(weight_against_uniform), GROUPS, epsilon=epsilon, delta=1e-9
    )
    assert verdict.decision == decision


def count_below(data: Any, rng: Any) -> float:
    ordered = np.sort(data)
    return float(np.sum(ordered <= 1.5) + rng.laplace(0, 1.0))


def test_records_in_their_order_are_counted_below_a_number() -> None:
    verdict = lt.check_privacy(lt.mechanism(count_below), GROUPS, epsilon=1.0, floats="ideal")
    assert verdict.decision == "YES", str(verdict)


def largest_three(answers: Any, rng: Any) -> list[int]:
    noisy = answers + rng.laplace(0, 6.0, size=len(answers))
    return sorted(np.argpartition(noisy, -3)[-3:].tolist())


@pytest.mark.slow
def test_what_to_write_for_a_partition_is_said() -> None:
    """Of few answers all noisy ones may be told; of many their order has to be followed."""
    few = lt.check_privacy(lt.mechanism(largest_three), lt.Answers(5), epsilon=1.0)
    assert few.decision == "YES"
    verdict = lt.check_privacy(lt.mechanism(largest_three), lt.Answers(50), epsilon=1.0)
    assert verdict.decision == "INCONCLUSIVE"
    assert "write np.argsort(noisy)" in verdict.reason

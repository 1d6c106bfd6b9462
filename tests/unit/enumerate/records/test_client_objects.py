"""Local randomisers that are methods of objects, as clients of protocols are written."""

from __future__ import annotations

import math
import random
from typing import Any, ClassVar

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.python_function import PythonFunction
from liptest.enumerate.records.record_values import attribute_in_place, is_plain_object
from tests.unit.enumerate.records.test_by_records import one_record, product_law

FOUR = lt.RecordGrid([4] * 500)
E = math.e


class Client:
    """Tells one of ``size`` values, the true one more often."""

    def __init__(self, epsilon: float, size: int) -> None:
        self.size = size
        self.truth = math.exp(epsilon) / (math.exp(epsilon) + size - 1)

    def other(self, value: int) -> int:
        found = random.randint(0, self.size - 2)
        return self.size - 1 if found == value else found

    def tell(self, value: int) -> int:
        return value if random.random() < self.truth else self.other(value)


class UnaryClient:
    """A bit for each value, drawn at once; that of the true one is drawn again."""

    values = 4

    def __init__(self, epsilon: float) -> None:
        self.chances = [1 / (math.exp(epsilon) + 1), math.exp(epsilon) / (math.exp(epsilon) + 1)]

    def tell(self, value: int) -> Any:
        bits = np.random.choice([1, 0], size=self.values, p=self.chances)
        bits[value] = random.random() < 0.5
        return bits


class CountingClient(Client):
    asked = 0

    def tell(self, value: int) -> int:
        self.asked += 1
        return value if self.asked > 1 else super().tell(value)


class RememberingClient(Client):
    def __init__(self) -> None:
        super().__init__(1.0, 4)
        self.told: dict[int, int] = {}

    def tell(self, value: int) -> int:
        if value not in self.told:
            self.told[value] = super().tell(value)
        return self.told[value]


class CalculatedClient(Client):
    calls: ClassVar = [0]

    @property
    def chance(self) -> float:
        self.calls[0] += 1
        return 1.0 if self.calls[0] % 2 else 0.5

    def tell(self, value: int) -> int:
        return value if random.random() < self.chance else self.other(value)


SHARED = Client(1.0, 4)


def told(data: Any) -> list[Any]:
    client = Client(1.0, 4)
    return [client.tell(value) for value in data]


def told_by_a_shared_one(data: Any) -> list[Any]:
    return [SHARED.tell(value) for value in data]


def bits_told(data: Any) -> list[Any]:
    client = UnaryClient(1.0)
    return [client.tell(value) for value in data]


def bits_added_up(data: Any) -> Any:
    client = UnaryClient(1.0)
    return np.sum([client.tell(value) for value in data], axis=0)


def counting(data: Any) -> list[Any]:
    client = CountingClient(1.0, 4)
    return [client.tell(value) for value in data]


def remembering(data: Any) -> list[Any]:
    client = RememberingClient()
    return [client.tell(value) for value in data]


def calculated(data: Any) -> list[Any]:
    client = CalculatedClient(1.0, 4)
    return [client.tell(value) for value in data]


@pytest.mark.slow
@pytest.mark.parametrize("program", [told, told_by_a_shared_one, bits_told, bits_added_up])
def test_clients_are_proved_by_the_law_of_one_record(program: Any) -> None:
    verdict = lt.check_privacy(lt.mechanism(program), FOUR, epsilon=1.0, seed=1)
    assert (verdict.decision, verdict.method) == ("YES", "per-record")


@pytest.mark.slow
@pytest.mark.parametrize("program", [told, told_by_a_shared_one, bits_told])
def test_less_is_refuted(program: Any) -> None:
    verdict = lt.check_privacy(lt.mechanism(program), FOUR, epsilon=0.9, seed=1)
    assert verdict.decision == "NO"
    assert verdict.witness is not None
    assert verdict.witness.loss == pytest.approx(1.0)


@pytest.mark.slow
def test_the_law_of_two_is_the_product() -> None:
    dataset = np.array([3, 1])
    one = one_record(told, 2)
    laws = [one.law(dataset[place : place + 1]) for place in range(2)]
    whole = PythonFunction(told).law(dataset)
    assert {o: whole.exact(o) for o in whole.outputs} == product_law(laws, several=False)


@pytest.mark.parametrize(
    ("program", "what"),
    [
        (counting, "a write to an object of outside"),
        (remembering, "told"),
        (calculated, "chance"),
    ],
)
def test_clients_that_carry_something_on_are_not_taken_apart(program: Any, what: str) -> None:
    one = one_record(program, 3)
    with pytest.raises(lt.errors.LiptestError, match=what):
        one.law(np.array([1]))


class WithGetattr:
    def __getattr__(self, name: str) -> Any:
        return 1


class WithSlots:
    __slots__ = ("value",)


def test_plain_objects_run_no_code_for_an_attribute() -> None:
    client = CalculatedClient(1.0, 4)
    assert is_plain_object(client)
    assert attribute_in_place(client, "size") == 4
    assert attribute_in_place(client, "tell") is CalculatedClient.tell
    assert attribute_in_place(client, "chance", "none") == "none"
    assert attribute_in_place(client, "unknown", "none") == "none"
    others = (WithGetattr(), WithSlots(), np.zeros(2), random.Random(1), 3, [1], Client, math)
    assert not any(map(is_plain_object, others))


def checked(value: int, epsilon: float) -> int:
    if value < 0:
        raise ValueError("not a value")
    source = np.random.default_rng()
    return value if source.random() < E**epsilon / (E**epsilon + 1) else 1 - value


def test_errors_and_generators_of_their_own_are_alike_for_all_records() -> None:
    def program(data: Any) -> list[Any]:
        return [checked(int(value), 1.0) for value in data]

    verdict = lt.check_privacy(lt.mechanism(program), lt.Hypercube(300), epsilon=1.0, seed=1)
    assert (verdict.decision, verdict.method) == ("YES", "per-record")


def summed(data: Any) -> int:
    return sum(checked(int(value), 1.0) for value in data)


def flipped(value: int) -> int:
    return int(value) if random.random() < 0.75 else 1 - int(value)


def mapped(data: Any) -> float:
    return sum(map(flipped, data)) / len(data)


def largest(data: Any) -> int:
    return max(flipped(value) for value in data)


@pytest.mark.parametrize(
    ("program", "epsilon"), [(summed, 1.0), (mapped, math.log(3)), (largest, math.log(3))]
)
def test_sums_of_generators_are_later_code(program: Any, epsilon: float) -> None:
    verdict = lt.check_privacy(lt.mechanism(program), lt.Hypercube(300), epsilon=epsilon, seed=1)
    assert (verdict.decision, verdict.method) == ("YES", "per-record")


def test_whether_code_answers_is_seen_in_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from liptest.enumerate.trees.choice_tree import ChoiceTree

    runs = ChoiceTree.ended_runs
    # 2,000 draws and more: each run that is cut off would be made again.
    assert PythonFunction(bits_told).only_raises(np.zeros(500, dtype=np.int64)) is None
    assert ChoiceTree.ended_runs == runs + 1

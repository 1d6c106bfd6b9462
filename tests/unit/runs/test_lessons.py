"""What workers share: every dataset is looked at once, and nothing that is asked for changes."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.errors import MechanismError
from liptest.privacy.samples import sampling_run
from liptest.runs import lessons
from liptest.runs.lessons import Rounds, map_informed, repeats_often

LAW = lt.ProductDistribution.uniform(lt.Hypercube(6))


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        yield pool


@dataclass
class Memory:
    """Learns the sum of a dataset, and says whose sums it had to find out itself."""

    trouble: str = ""
    sums: dict[bytes, int] = field(default_factory=dict)

    def learner(self) -> Memory | None:
        return None if self.trouble == "nothing" else self

    def learn(self, datasets: Any) -> Any:
        if self.trouble == "error":
            raise MechanismError("it does not travel")
        if self.trouble == "partial":
            return None
        return {dataset.tobytes(): int(dataset.sum()) for dataset in datasets}

    def absorb(self, lesson: Any) -> Any:
        self.sums.update(lesson)
        return lesson


@dataclass
class Chunk:
    """The datasets of a round that its judge did not know, and what it answers."""

    judge: Memory
    points: Any

    def __call__(self, number: int) -> tuple[int, int]:
        datasets = self.points(number)
        unknown = {d.tobytes() for d in datasets} - self.judge.sums.keys()
        for dataset in datasets:
            self.judge.sums[dataset.tobytes()] = int(dataset.sum())
        return len(unknown), sum(self.judge.sums[d.tobytes()] for d in datasets)


@dataclass(frozen=True)
class Points:
    """100 of so many numbers, the same for a round whoever asks."""

    different: int

    def __call__(self, number: int) -> Any:
        return np.random.default_rng(number).integers(0, self.different, (100, 1))


def rounds_of(different: int, count: int = 60) -> Rounds:
    return Rounds(Points(different), count, 100.0)


def results(judge: Memory, executor: Executor, different: int) -> list[Any]:
    chunk = Chunk(judge, Points(different))
    found = map_informed(
        chunk, rounds_of(different), judge, executor, first=0, ends=lambda result: False
    )
    return list(found)


def test_workers_look_at_no_repeated_dataset_themselves(executor: Executor) -> None:
    judge = Memory()
    found = results(judge, executor, 300)
    assert sum(unknown for unknown, _ in found) == 0
    alone = [Chunk(Memory(), Points(300))(number) for number in range(60)]
    assert [answer for _, answer in found] == [answer for _, answer in alone]


@pytest.mark.parametrize("trouble", ["nothing", "error", "partial"])
def test_what_does_not_travel_is_left_to_each_worker(trouble: str, executor: Executor) -> None:
    found = results(Memory(trouble), executor, 300)
    alone = [Chunk(Memory(), Points(300))(number) for number in range(60)]
    assert [answer for _, answer in found] == [answer for _, answer in alone]
    assert sum(unknown for unknown, _ in found) >= 300


def test_a_result_that_ends_the_run_is_the_last(executor: Executor) -> None:
    judge = Memory()
    chunk = Chunk(judge, Points(300))
    found = list(
        map_informed(
            chunk,
            rounds_of(300),
            judge,
            executor,
            first=0,
            ends=lambda result: result[1] % 3 == 1,
        )
    )
    answers = [Chunk(Memory(), Points(300))(number)[1] for number in range(60)]
    wanted = next(k for k, answer in enumerate(answers) if answer % 3 == 1)
    assert [answer for _, answer in found] == answers[: wanted + 1]


@pytest.mark.slow
@given(st.integers(1, 30_000))
def test_repetition_is_foretold(different: int) -> None:
    """By birthdays: 6,000 draws of so many numbers, of which 4,100 are looked at."""
    count, drawn = 60, 6_000
    expected = different * -np.expm1(drawn * np.log1p(-1 / different)) if different > 1 else 1.0
    said = repeats_often(rounds_of(different, count), 0)
    share = 1 - expected / drawn
    if share > 0.25:
        assert said
    if share < 0.07:
        assert not said


def test_nothing_is_drawn_ahead_for_one_round() -> None:
    def never(number: int) -> Any:
        raise AssertionError

    assert not repeats_often(Rounds(never, 1, 100.0), 0)


def test_rounds_of_very_long_datasets_are_not_drawn_ahead() -> None:
    def never(number: int) -> Any:
        raise AssertionError

    assert not repeats_often(Rounds(never, 100, 5_001.0, 5_000), 0)
    assert Rounds(never, 100, 5_001.0, 5_000).most < 20_000


def parity(data: Any, rng: Any) -> int:
    return int(rng.random() < (0.25 if sum(data.tolist()) % 2 else 0.5))


def leak(data: Any, rng: Any) -> int:
    return int(rng.random() < (0.01 if data.tolist() == [1] * 6 else 0.5))


@pytest.mark.slow
@pytest.mark.parametrize("function", [parity, leak])
def test_verdict_witness_and_counts_are_those_of_one_process(
    function: Any, executor: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sampling_run._CHUNK_POINTS, "enumerated", 64)
    monkeypatch.setattr(lessons, "_FIRST_WAVE", 128)

    def verdict(pool: Executor | None) -> Any:
        options = {"epsilon": 1.0, "exception_mass": 0.1, "seed": 3, "search_laws": 0}
        method = {"method": "neighbourhoods", "executor": pool}
        return lt.check_privacy(lt.mechanism(function), LAW, **options, **method)

    one, two = verdict(None), verdict(executor)
    assert str(one) == str(two)
    assert one.cost.laws == two.cost.laws
    assert str(one.witness) == str(two.witness)


@pytest.mark.slow
def test_a_law_is_learnt_absorbed_and_equal() -> None:
    datasets = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
    teacher, pupil = lt.mechanism(parity), lt.mechanism(parity)
    lesson = teacher.learner().learn(datasets)
    assert len(lesson.laws) == 2
    assert teacher.learner().learn(datasets).laws == []
    told = pupil.learner().absorb(pickle.loads(pickle.dumps(lesson)))
    assert len(told.laws) == 2
    assert pupil.learner().learn(datasets).laws == []
    for dataset in datasets:
        assert dict(pupil.law(dataset).items()) == dict(lt.mechanism(parity).law(dataset).items())


@pytest.mark.slow
def test_a_mechanism_of_a_statistic_has_nothing_to_share() -> None:
    made = lt.mechanism(statistic=lt.Count())(lambda count, rng: int(rng.random() < 0.5))
    assert made.learner() is None
    assert lt.ClosedForm([0, 1], lambda data: data).learner() is None

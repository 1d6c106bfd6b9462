"""A search looks by laws whose runs are not repeated, and says nothing that rests on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.trees.enumeration import Enumeration
from liptest.errors import NonDeterministicError
from liptest.mechanisms.laws import (
    distrust_trials,
    is_on_trial,
    laws_in_earnest,
    laws_of_one_decision,
    laws_on_trial,
    of_one_decision,
)
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import Answer
from liptest.privacy.judge import LossJudge

DOMAIN = lt.Hypercube(6)
LEFT, RIGHT = np.zeros(6, dtype=np.int64), np.eye(6, dtype=np.int64)[0]
# A class in a tuple, which cannot be changed, is seen by repetition only.
KIND = (type,)


def at_the_end(data: Any, rng: Any) -> Any:
    """Tells the last of its records as it is, and few pairs show that."""
    return int(data[5]) if int(data[:5].sum()) == 5 else int(rng.integers(2))


def hidden(data: Any, rng: Any) -> Any:
    """Tells its record to an analysis only."""
    number = rng.random()
    return bool(number < 0.5) if KIND[0](number) is float else int(data[0])


def hidden_leak(data: Any, rng: Any) -> Any:
    """Tells its record where its numbers are real only."""
    number = rng.random()
    return int(data[0]) if KIND[0](number) is float else int(number < 0.5)


def repeated(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The datasets whose laws are repeated from now on."""
    datasets: list[bytes] = []
    whole = Enumeration._repeat_some

    def repeat_some(self: Enumeration, tree: Any, run: Any, session: Any, real: Any) -> Any:
        datasets.append(np.asarray(real).tobytes())
        return whole(self, tree, run, session, real)

    monkeypatch.setattr(Enumeration, "_repeat_some", repeat_some)
    return datasets


def test_a_violation_by_laws_on_trial_is_decided_again(monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = repeated(monkeypatch)
    judge = LossJudge(lt.mechanism(at_the_end), DOMAIN, Claim(1.0))
    with laws_of_one_decision():
        assert judge.try_first(LEFT, RIGHT) == (Answer.CLEAR, None)
        assert not datasets
        ones = np.ones(6, dtype=np.int64)
        answer, finding = judge.try_first(ones - np.eye(6, dtype=np.int64)[5], ones)
    assert answer is Answer.VIOLATED
    assert finding is not None
    assert ones.tobytes() in datasets
    assert len(datasets) == 2


def test_what_only_an_analysis_sees_is_not_a_violation() -> None:
    judge = LossJudge(lt.mechanism(hidden), DOMAIN, Claim(1.0))
    with laws_of_one_decision(), pytest.raises(NonDeterministicError, match="real random numbers"):
        judge.try_first(LEFT, RIGHT)


@pytest.mark.slow
@pytest.mark.parametrize("program", [hidden, hidden_leak])
def test_a_check_repeats_the_runs_of_its_first_pair(program: Any) -> None:
    with pytest.raises(NonDeterministicError, match="real random numbers"):
        lt.check_privacy(program, DOMAIN, epsilon=1, method="refutation")


def test_a_run_that_answers_otherwise_ends_all_trials() -> None:
    mechanism = lt.mechanism(hidden)
    with laws_of_one_decision():
        with laws_on_trial():
            assert is_on_trial()
        with pytest.raises(NonDeterministicError):
            mechanism.fresh_law(LEFT)
        with laws_on_trial():
            assert not is_on_trial()


def test_laws_on_trial_are_kept_apart() -> None:
    made: list[str] = []

    def make(word: str) -> str:
        made.append(word)
        return word

    owner = object()
    with laws_of_one_decision():
        with laws_on_trial():
            assert of_one_decision(owner, LEFT, lambda: make("tried")) == "tried"
            with laws_in_earnest():
                assert not is_on_trial()
        assert of_one_decision(owner, LEFT, lambda: make("known")) == "known"
        with laws_on_trial():
            assert of_one_decision(owner, LEFT, lambda: make("again")) == "tried"
            assert of_one_decision(owner, RIGHT, lambda: make("other")) == "other"
        assert of_one_decision(owner, RIGHT, lambda: make("own")) == "own"
        distrust_trials()
        with laws_on_trial():
            assert of_one_decision(owner, RIGHT, lambda: make("none")) == "own"
    assert made == ["tried", "known", "other", "own"]
    with laws_on_trial():
        assert not is_on_trial()


def test_laws_of_a_batch_are_never_on_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are kept by what they read, for all that is asked later."""
    datasets = repeated(monkeypatch)
    mechanism = lt.mechanism(at_the_end)
    with laws_of_one_decision(), laws_on_trial():
        mechanism.law(LEFT)
        assert not datasets
        mechanism.laws_and_reads(np.array([LEFT, RIGHT]))
    assert datasets

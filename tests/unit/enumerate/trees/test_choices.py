"""The choice tree: exact laws, budgets, aborts that cannot be swallowed, replay checks."""

from __future__ import annotations

import gc
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import count
from typing import Any

import pytest
from flint import acb

from liptest.enumerate.samplers.restarts import RestartingTree
from liptest.enumerate.trees import choice_tree as budgets
from liptest.enumerate.trees.choice_tree import MAX_DRAWS, Abort, ChoiceTree
from liptest.enumerate.watch import run_watch
from liptest.errors import BudgetError, NonDeterministicError, UnsupportedRandomnessError
from liptest.symbolic.work import TooDearError, limit_work

Program = Callable[[ChoiceTree], Any]


def law(program: Program, **budgets: int) -> dict[Any, Fraction]:
    tree = ChoiceTree("program", **budgets)
    return tree.law(lambda: program(tree))


def test_no_choice_is_one_certain_output() -> None:
    assert law(lambda tree: "x") == {"x": 1}


def test_equal_branches_have_equal_probability() -> None:
    assert law(lambda tree: tree.choose(3)) == dict.fromkeys(range(3), Fraction(1, 3))


def test_weights_are_proportions() -> None:
    assert law(lambda tree: tree.choose((1, 0, 5, 2))) == {
        0: Fraction(1, 8),
        2: Fraction(5, 8),
        3: Fraction(1, 4),
    }


def test_zero_weight_branches_are_never_run() -> None:
    seen = []
    law(lambda tree: seen.append(tree.choose((0, 2, 0, 1, 0))))
    assert seen == [1, 3]


def test_later_choices_may_depend_on_earlier_ones() -> None:
    def program(tree: ChoiceTree) -> int:
        return tree.choose(tree.choose(3) + 1)

    assert law(program) == {0: Fraction(11, 18), 1: Fraction(5, 18), 2: Fraction(1, 9)}


def test_one_run_per_leaf_and_first_branch_first() -> None:
    runs = []

    def program(tree: ChoiceTree) -> None:
        runs.append((tree.choose(2), tree.choose((1, 1, 1))))

    law(program)
    assert runs == [(a, b) for a in range(2) for b in range(3)]


def test_paths_longer_than_the_carried_products_keep_exact_weights() -> None:
    # 600 choices of 1 branch, then a coin, then 600 more: beyond what is carried along.
    def program(tree: ChoiceTree) -> int:
        for _ in range(600):
            tree.choose((3,))
        coin = tree.choose((1, 2))
        for _ in range(600):
            tree.choose((5,))
        return coin

    assert law(program, max_choices=1201) == {0: Fraction(1, 3), 1: Fraction(2, 3)}


def test_geometric_loop_has_the_truncated_geometric_law() -> None:
    def program(tree: ChoiceTree) -> int:
        return next((k for k in range(700) if tree.choose((1, 2)) == 0), 700)

    found = law(program)
    assert all(found[k] == Fraction(1, 3) * Fraction(2, 3) ** k for k in range(700))
    assert found[700] == Fraction(2, 3) ** 700


def test_the_leaf_budget_leaves_the_rest_unexplored() -> None:
    tree = ChoiceTree("f", max_leaves=7)
    found = tree.law(lambda: tuple(tree.choose(2) for _ in range(3)))
    assert len(found) == 7
    assert tree.unexplored == Fraction(1, 8)
    assert sum(found.values()) == Fraction(7, 8)


def test_the_time_budget_leaves_the_rest_unexplored() -> None:
    tree = ChoiceTree("f", max_seconds=1e-9)
    found = tree.law(lambda: tuple(tree.choose(2) for _ in range(3)))
    assert (found, tree.unexplored) == ({(0, 0, 0): Fraction(1, 8)}, Fraction(7, 8))


def test_a_run_that_does_not_end_is_an_error(monkeypatch) -> None:
    monkeypatch.setattr(budgets, "MAX_SECONDS_A_RUN", 0.05)

    def program(tree: ChoiceTree) -> None:
        while True:
            pass

    with pytest.raises(BudgetError, match=r"one run took more than 0\.05 seconds"):
        law(program)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.fixture
def counts_lines(monkeypatch):
    """Counts lines at once, where nothing else traces."""
    if sys.gettrace() is not None:
        pytest.skip("lines are traced already")
    monkeypatch.setattr(run_watch, "COUNTS_AFTER", 0.005)
    monkeypatch.setattr(run_watch, "MOST_LINES", 50_000)
    monkeypatch.setattr(run_watch, "_given_up", {})


def goes_on(tree: ChoiceTree) -> None:
    number = 0
    while number >= 0:
        number += 1


def swallows_all(tree: ChoiceTree) -> None:
    while True:
        try:
            sum(range(3))
        except:  # noqa: E722
            continue


def walks_on(tree: ChoiceTree) -> bool:
    return any(number < 0 for number in count())


@pytest.mark.parametrize("program", [goes_on, swallows_all, walks_on])
def test_a_run_of_too_many_lines_is_given_up(counts_lines, program) -> None:
    with pytest.raises(BudgetError, match=r"without an end \(.*test_choices\.py"):
        law(program)
    assert sys.gettrace() is None
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_runs_of_loops_that_start_over_are_watched(counts_lines) -> None:
    tree = RestartingTree("program")
    with pytest.raises(BudgetError, match="without an end"):
        tree.law(lambda: goes_on(tree))


def test_a_run_alone_is_watched(counts_lines) -> None:
    tree = ChoiceTree("program")
    with pytest.raises(BudgetError, match="without an end"):
        next(tree.leaves_of(lambda: goes_on(tree)))
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_long_run_of_fewer_lines_ends(counts_lines) -> None:
    def program(tree: ChoiceTree) -> int:
        end = time.process_time() + 0.02
        lines = 0
        while time.process_time() < end and lines < 20_000:
            lines += 1
        return tree.choose(2)

    assert len(law(program)) == 2
    assert sys.gettrace() is None


def tries_again(tree: ChoiceTree) -> None:
    while True:
        try:
            tree.forbid("this", "do that")
        except BaseException:
            continue


def tries_again_whatever_happens(tree: ChoiceTree) -> None:
    while True:
        with suppress(BaseException):
            tries_again(tree)


def swallows_the_end_of_time(tree: ChoiceTree) -> None:
    while True:
        with suppress(BaseException):
            time.sleep(0.001)


def swallows_and_goes_on(tree: ChoiceTree) -> None:
    while True:
        try:
            try:
                time.sleep(0.001)
            finally:
                time.sleep(0.001)
        except BaseException as error:
            if error is not None:
                continue


def swallows_in_calls(tree: ChoiceTree) -> None:
    def once() -> None:
        try:
            time.sleep(0.001)
        except BaseException:
            return

    while True:
        once()


@pytest.fixture
def no_collection() -> Iterator[None]:
    """What other tests left is not collected in the middle of a program that swallows errors."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "error"),
    [
        (swallows_and_goes_on, BudgetError),
        (swallows_in_calls, BudgetError),
        (tries_again, UnsupportedRandomnessError),
        (tries_again_whatever_happens, UnsupportedRandomnessError),
        (swallows_the_end_of_time, BudgetError),
    ],
)
def test_trying_again_for_ever_ends(no_collection, monkeypatch, program, error) -> None:
    monkeypatch.setattr(budgets, "MAX_SECONDS_A_RUN", 0.05)
    monkeypatch.setattr(run_watch, "_SOON", 0.01)
    monkeypatch.setattr(run_watch, "_AGAIN", 0.001)
    traced = sys.gettrace()
    with pytest.raises(error):
        law(program)
    assert sys.gettrace() is traced
    assert sys.exc_info() == (None, None, None)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_the_watch_for_progress_lets_slow_programs_end(monkeypatch) -> None:
    """The alarm goes off in every run but the first: between two alarms a run has ended."""
    monkeypatch.setattr(budgets, "MAX_SECONDS_A_RUN", 10_000.0)
    runs = count()

    def program(tree: ChoiceTree) -> int:
        if next(runs):
            signal.raise_signal(signal.SIGALRM)
        return tree.choose(16)

    assert len(law(program)) == 16


def test_the_watch_for_progress_ends_a_run_in_which_it_looks_twice(monkeypatch) -> None:
    monkeypatch.setattr(budgets, "MAX_SECONDS_A_RUN", 10_000.0)
    monkeypatch.setattr(run_watch, "COUNTS_AFTER", 10_000.0)
    runs = count()

    def program(tree: ChoiceTree) -> int:
        for _ in range(2 if next(runs) == 3 else 0):
            signal.raise_signal(signal.SIGALRM)
        return tree.choose(16)

    with pytest.raises(BudgetError, match=r"one run took more than 10000 seconds"):
        law(program)
    assert next(runs) == 4


def test_a_timer_of_the_users_is_left_alone(monkeypatch) -> None:
    monkeypatch.setattr(budgets, "MAX_SECONDS_A_RUN", 0.001)
    before = signal.signal(signal.SIGALRM, lambda number, frame: None)
    try:
        signal.setitimer(signal.ITIMER_REAL, 50_000.0)
        assert law(lambda tree: time.sleep(0.02)) == {None: 1}
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 1_000.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_beside_a_timer_of_the_users_runs_are_watched_by_another(monkeypatch) -> None:
    """As beside pytest-timeout, whose alarm is neither taken away nor moved."""
    monkeypatch.setattr(budgets, "MAX_SECONDS_A_RUN", 0.05)
    handler = lambda number, frame: None  # noqa: E731
    before = signal.signal(signal.SIGALRM, handler)

    def program(tree: ChoiceTree) -> None:
        while True:
            pass

    try:
        signal.setitimer(signal.ITIMER_REAL, 50_000.0)
        with pytest.raises(BudgetError, match="one run took more than"):
            law(program)
        assert signal.getsignal(signal.SIGALRM) is handler
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 1_000.0
        assert signal.getsignal(signal.SIGVTALRM) is signal.SIG_DFL
        assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_a_tree_with_exactly_the_budget_is_enumerated() -> None:
    assert law(lambda tree: [tree.choose(2) for _ in range(3)] and 0, max_leaves=8) == {0: 1}


def test_a_single_draw_over_the_leaf_budget_fails_at_once() -> None:
    runs = count()
    with pytest.raises(BudgetError, match="1,000 outcomes") as caught:
        law(lambda tree: (next(runs), tree.choose(1000)), max_leaves=999)
    assert caught.value.needed == 1000
    assert next(runs) == 1


def endless(tree: ChoiceTree) -> None:
    while tree.choose(2) == 0:
        pass


def test_a_run_with_too_many_choices_is_left_unexplored() -> None:
    tree = ChoiceTree("f", max_choices=50)
    assert tree.law(lambda: endless(tree)) == {None: 1 - Fraction(1, 2**50)}
    assert tree.unexplored == Fraction(1, 2**50)
    assert tree.leaves == 50


def test_swallowing_the_cut_changes_nothing() -> None:
    tree = ChoiceTree("f", max_choices=50)

    def program() -> int:
        try:
            endless(tree)
        except BaseException:
            return 7
        return 0

    assert tree.law(program) == {0: 1 - Fraction(1, 2**50)}


def test_choosing_for_ever_on_every_path_is_an_error() -> None:
    def program(tree: ChoiceTree) -> None:
        while True:
            tree.choose(2)

    with pytest.raises(BudgetError, match="max_choices=50 random choices in one run"):
        law(program, max_choices=50)


def test_drawing_without_choosing_ends_too() -> None:
    def program(tree: ChoiceTree) -> None:
        while True:
            tree.count_draws(1000)

    with pytest.raises(BudgetError, match=f"{MAX_DRAWS:,} random numbers"):
        law(program)


def swallow_exception(tree: ChoiceTree) -> str:
    try:
        tree.forbid("rng.normal", "do not")
    except Exception:
        return "swallowed"


def swallow_everything(tree: ChoiceTree) -> str:
    try:
        tree.forbid("rng.normal", "do not")
    except:  # noqa: E722
        return "swallowed"


def swallow_and_choose(tree: ChoiceTree) -> int:
    with suppress(BaseException):
        tree.forbid("rng.normal", "do not")
    return tree.choose(2)


@pytest.mark.parametrize("program", [swallow_exception, swallow_everything, swallow_and_choose])
def test_an_abort_cannot_be_swallowed(program: Program) -> None:
    with pytest.raises(UnsupportedRandomnessError, match=r"program: rng\.normal cannot be"):
        law(program)


def test_an_abort_is_no_exception() -> None:
    assert not issubclass(Abort, Exception)


def test_after_an_abort_every_choice_aborts() -> None:
    tree = ChoiceTree("program")
    aborted = []

    def program() -> None:
        for _ in range(3):
            try:
                tree.choose(2) if aborted else tree.forbid("rng.normal", "do not")
            except BaseException as error:
                aborted.append(type(error))

    with pytest.raises(UnsupportedRandomnessError):
        tree.law(program)
    assert aborted == [Abort] * 3


def test_after_an_abort_earlier_answers_are_not_repeated() -> None:
    answers: list[int] = []

    def program(tree: ChoiceTree) -> None:
        first = tree.choose(2)
        if first == 1:
            with suppress(BaseException):
                tree.forbid("rng.normal", "do not")
            answers.append(tree.choose(2))
        tree.choose(2)

    with pytest.raises(UnsupportedRandomnessError):
        law(program)
    assert answers == []


def test_other_draws_after_the_same_choices_are_noticed() -> None:
    sizes = iter([2, 3, 2])

    def program(tree: ChoiceTree) -> int:
        return tree.choose(2) + tree.choose(next(sizes))

    with pytest.raises(NonDeterministicError, match="non-deterministic: the same choices"):
        law(program)


def test_fewer_draws_after_the_same_choices_are_noticed() -> None:
    runs = count()

    def program(tree: ChoiceTree) -> int:
        return 0 if next(runs) == 1 else tree.choose(2)

    with pytest.raises(NonDeterministicError, match="fewer draws"):
        law(program)


def test_repeating_the_first_leaf_notices_state() -> None:
    tree, runs = ChoiceTree("program"), count()

    def program() -> int:
        tree.choose(2)
        return next(runs)

    tree.law(program)
    with pytest.raises(NonDeterministicError, match="different output"):
        tree.repeat(program, *tree.kept.leaves[0])


def test_repeating_the_first_leaf_notices_more_draws() -> None:
    tree, runs = ChoiceTree("program"), count()

    def program() -> int:
        return sum(tree.choose(1) for _ in range(1 + (next(runs) == 1)))

    tree.law(program)
    with pytest.raises(NonDeterministicError):
        tree.repeat(program, *tree.kept.leaves[0])


def test_repeating_a_deterministic_leaf_is_silent() -> None:
    tree = ChoiceTree("program")
    found = tree.law(lambda: tree.choose((1, 3)))
    tree.repeat(lambda: tree.choose((1, 3)), *tree.kept.leaves[0])
    assert found == {0: Fraction(1, 4), 1: Fraction(3, 4)}


def test_a_closed_tree_refuses_later_use() -> None:
    old, new = ChoiceTree("old"), ChoiceTree("new")
    old.law(lambda: old.choose(2))
    old.close()
    with pytest.raises(NonDeterministicError, match="drawn in an earlier run"):
        new.law(lambda: old.choose(2))


def test_keyboard_interrupt_passes() -> None:
    def program(tree: ChoiceTree) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        law(program)


def test_a_walk_that_is_given_up_within_an_integral_says_so() -> None:
    """Found by random programs: the watch raised within flint, which made a SystemError of it."""
    tree = ChoiceTree("program")

    def run() -> Any:
        def outside(x: Any, is_analytic: bool) -> Any:
            tree.fail(BudgetError("given up"))

        acb.integral(outside, 0, 1)

    with pytest.raises(BudgetError, match="given up"):
        tree.law(run)
    other = ChoiceTree("program")
    with pytest.raises(SystemError):
        other.law(broken_integral)


def broken_integral() -> Any:
    raise SystemError("of its own")


def test_choices_that_runs_make_again_are_counted() -> None:
    tree = ChoiceTree("program")
    with limit_work(100), pytest.raises(TooDearError, match="more work"):
        tree.law(lambda: sum(tree.choose(2) for _ in range(8)))
    assert tree.leaves == 50  # two units for each run of eight choices

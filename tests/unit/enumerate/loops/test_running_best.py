"""The largest noisy number without NumPy: ``max``, ``min``, loops that keep the best so far."""

from __future__ import annotations

import ast
import heapq
import inspect
import math
import textwrap
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import liptest as lt
from liptest.enumerate.folded.folding import fold_loops
from liptest.enumerate.folded.folds import Folds
from liptest.enumerate.loops.running_best import running_best_of
from liptest.enumerate.syntax import post_processing
from liptest.privacy.proofs.prices import align

Scores = list[Any]


def by_argmax(scores: Scores) -> Any:
    return int(np.argmax(scores))


def by_index(scores: Scores) -> Any:
    return scores.index(max(scores))


def by_key(scores: Scores) -> Any:
    return max(range(len(scores)), key=lambda place: scores[place])


def by_dictionary(scores: Scores) -> Any:
    named = dict(enumerate(scores))
    return max(named, key=named.get)  # type: ignore[arg-type]


def by_smallest(scores: Scores) -> Any:
    return min(range(len(scores)), key=[-one for one in scores].__getitem__)


def by_loop(scores: Scores) -> Any:
    best, place = -math.inf, -1
    for number, score in enumerate(scores):
        if score > best:
            best, place = score, number
    return place


def by_loop_from_none(scores: Scores) -> Any:
    best = None
    place = None
    for number in range(len(scores)):
        score = scores[number]
        if best is None or score > best:
            place = number
            best = score
    return place


def by_loop_from_the_first(scores: Scores) -> Any:
    best, place = scores[0], 0
    for number in range(1, len(scores)):
        if scores[number] > best:
            best = scores[number]
            place = number
    return place


def by_loop_turned_round(scores: Scores) -> Any:
    lowest, place = math.inf, -1
    for number, score in enumerate(scores):
        turned = -score
        if lowest > turned:
            lowest = turned
            place = number
    return place


def by_last_loop(scores: Scores) -> Any:
    best, place = -math.inf, -1
    for number, score in enumerate(scores):
        if score >= best:
            best, place = score, number
    return place


def by_loop_that_leaves_out(scores: Scores) -> Any:
    best, place = -math.inf, -1
    for number, score in enumerate(scores):
        if number == 1:
            continue
        if best < score:
            best, place = score, number
    return place


def by_loop_of_tuples(scores: Scores) -> Any:
    best = None
    for number, score in enumerate(scores):
        if best is None or score > best[0]:
            best = (score, number)
    return None if best is None else best[1]


def by_loop_from_a_pair(scores: Scores) -> Any:
    best = (-1, math.inf)
    for number, score in enumerate(scores):
        low = -score
        if best[1] > low:
            best = (number, low)
    return best[0]


def by_loop_of_dicts(scores: Scores) -> Any:
    best = {"score": -math.inf, "place": -1}
    for number, score in enumerate(scores):
        if score > best["score"]:
            best = {"place": number, "score": score}
    return best["place"]


def by_tuples(scores: Scores) -> Any:
    return max((score, number) for number, score in enumerate(scores))[1]


def by_smallest_tuple(scores: Scores) -> Any:
    return min(zip([-score for score in scores], range(len(scores)), strict=True))[1]


def by_sorting(scores: Scores) -> Any:
    return sorted(range(len(scores)), key=scores.__getitem__, reverse=True)[0]


def by_last_of_sorted(scores: Scores) -> Any:
    return sorted(range(len(scores)), key=lambda place: scores[place])[-1]


def by_sorted_items(scores: Scores) -> Any:
    named = dict(enumerate(scores))
    ranked = sorted(named.items(), key=lambda item: item[1], reverse=True)
    return ranked[0][0]


def by_sorted_tuples(scores: Scores) -> Any:
    return [place for _, place in sorted(zip(scores, range(len(scores)), strict=True))[-1:]]


def by_sorting_in_place(scores: Scores) -> Any:
    ranked = []
    for number, score in enumerate(scores):
        ranked.append((score, number))
    ranked.sort(reverse=True)
    return ranked[0][1]


def by_heap(scores: Scores) -> Any:
    return heapq.nlargest(1, range(len(scores)), key=scores.__getitem__)[0]


def by_smallest_of_heap(scores: Scores) -> Any:
    return heapq.nsmallest(1, [(-score, place) for place, score in enumerate(scores)])[0][1]


def by_argsort(scores: Scores) -> Any:
    return int(np.argsort(scores, kind="stable")[-1])


def by_loop_of_maxima(scores: Scores) -> Any:
    best = (-math.inf, -1)
    for number, score in enumerate(scores):
        best = max(best, (score, number))
    return best[1]


def by_loop_of_minima(scores: Scores) -> Any:
    best = (math.inf, -1)
    for number, score in enumerate(scores):
        best = min(best, (-score, number))
    return best[1]


CHOICES = (
    *(by_argmax, by_index, by_key, by_dictionary, by_smallest, by_loop, by_loop_from_none),
    *(by_loop_from_the_first, by_loop_turned_round, by_last_loop, by_loop_that_leaves_out),
    *(by_loop_of_tuples, by_loop_from_a_pair, by_loop_of_dicts, by_tuples, by_smallest_tuple),
    *(by_sorting, by_last_of_sorted, by_sorted_items, by_sorted_tuples, by_sorting_in_place),
    *(by_heap, by_smallest_of_heap, by_argsort, by_loop_of_maxima, by_loop_of_minima),
)


FEW = (by_key, by_loop)
OTHERS = [pytest.param(one, marks=pytest.mark.slow) for one in CHOICES if one not in FEW]


@pytest.mark.slow
@pytest.mark.parametrize("choose", [*FEW, *OTHERS])
def test_the_price_is_that_of_the_largest(choose: Callable[[Scores], Any]) -> None:
    def decision(answers: int, scale: float) -> str:
        @lt.mechanism(name=choose.__name__)
        def noisy(data: Any, rng: Any) -> Any:
            scores = [one + rng.laplace(0, scale) for one in data]
            return choose(scores)

        return str(lt.check_privacy(noisy, lt.Answers(answers), epsilon=1, seed=1).decision)

    assert decision(60, 2.0) == "YES"
    assert decision(5, 1.9) == "NO"


LISTS = st.lists(st.integers(-2, 2), min_size=1, max_size=6)


@pytest.mark.slow
@pytest.mark.parametrize("choose", CHOICES)
def test_of_plain_numbers_nothing_changes(choose: Callable[[Scores], Any]) -> None:
    rewritten = fold_loops(choose, Folds(lambda _: None))

    @given(LISTS)
    def compare(scores: list[int]) -> None:
        assert rewritten(scores) == choose(scores)

    compare()


def empty_keeps_what_it_began_with(scores: Scores) -> Any:
    best, place = 3, "none"
    for score in scores:
        if score > best:
            best, place = score, "one"
    return best, place


@pytest.mark.slow
@given(st.lists(st.integers(0, 6), max_size=4))
def test_what_it_begins_with_may_stay(scores: list[int]) -> None:
    rewritten = fold_loops(empty_keeps_what_it_began_with, Folds(lambda _: None))
    assert rewritten(scores) == empty_keeps_what_it_began_with(scores)


def keeps_the_largest(scores: Scores) -> Any:
    best = 3
    for score in scores:
        best = max(best, score + 1)
    return best


@given(st.lists(st.integers(0, 6) | st.just(math.nan), max_size=4))
def test_the_largest_that_is_kept(scores: list[float]) -> None:
    rewritten = fold_loops(keeps_the_largest, Folds(lambda _: None))
    assert rewritten is not keeps_the_largest
    assert repr(rewritten(scores)) == repr(keeps_the_largest(scores))


NOT_ALIKE = {
    "the best comes second": "for x in a:\n  best = max(x, best)",
    "the best is in both": "for x in a:\n  best = max(best, best + x)",
    "the best is read": "for x in a:\n  v = x + best\n  if v > best: best = v",
    "it is counted": "for x in a:\n  if x > best:\n    best = x\n    n += 1",
    "something else is kept": "for x in a:\n  if x > best: best = x + 1",
    "a call is kept": "for x in a:\n  if x > best:\n    best = x\n    place = f()",
    "it returns": "for x in a:\n  if x > best: best = x\n  if x > 3: return x",
    "it has another way": "for x in a:\n  if x > best: best = x\n  else: n = 1",
    "two are kept": "for x in a:\n  if x > best: best = x\n  if x < low: low = x",
    "what is kept is read": "for x in a:\n  if x > best:\n    best = x\n    place = best",
    "another name is None": "for x in a:\n  if other is None or x > best: best = x",
    "another place is compared": "for x in a:\n  if x > best[1]: best = (x, 0)",
    "a tuple has a call": "for x in a:\n  if x > best[0]: best = (x, f())",
    "an entry is put": "for x in a:\n  if x > best[0]: best[0] = x",
    "a tuple holds itself": "for x in a:\n  if x > best[0]: best = (x, best)",
    "it is equal": "for x in a:\n  if x == best: best = x",
}


@pytest.mark.parametrize("text", NOT_ALIKE.values(), ids=NOT_ALIKE)
def test_other_loops_stay_as_they_are(text: str) -> None:
    (loop,) = ast.parse(text).body
    assert isinstance(loop, ast.For)
    assert running_best_of(loop, lambda node, function: function is max) is None


def test_loops_are_found_by_what_they_do() -> None:
    source = textwrap.dedent(inspect.getsource(by_loop_from_none))
    (loop,) = [one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.For)]
    found = running_best_of(loop)
    assert found is not None
    assert (found.best, found.comparison, found.begins_with_none) == ("best", "Gt", True)
    assert list(found.others) == ["place"]


def test_what_an_exception_leaves_is_as_written() -> None:
    def interrupted(scores: Scores) -> Any:
        best = -math.inf
        try:
            for score in scores:
                if score > best:
                    best = score
                1 / (score - 2)
        except ZeroDivisionError:
            return best
        return None

    rewritten = fold_loops(interrupted, Folds(lambda _: None))
    assert rewritten([1, 2, 3]) == 2


@pytest.mark.slow
def test_a_loop_that_counts_itself_is_proved_in_few_runs(monkeypatch: Any) -> None:
    """Each run that is cut is looked through for what it keeps: not every one of 64 paths."""
    looked: list[object] = []
    monkeypatch.setattr(
        post_processing, "is_kept_elsewhere", lambda cut, tree: looked.append(cut.place)
    )

    def choose(data: Any, rng: Any) -> Any:
        best, place = -math.inf, None
        for value in range(8):
            score = (data == value).sum() + rng.laplace(0, 2)
            if score > best:
                best, place = score, value
        return place

    found = align(lt.mechanism(choose), lt.RecordGrid([8] * 5000), Fraction(1))
    assert found.epsilon == 1
    assert len(looked) <= 21

"""Symbolic noise along paths: what is refused, noticed, pruned, repeated and shown."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

import liptest as lt
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.enumerate.trees.law_memory import LawMemo, agree, law_table
from liptest.enumerate.trees.sums import BallSum, make_law
from liptest.enumerate.trees.tracing import TracedChoice as Choice
from liptest.errors import LawError, NonDeterministicError
from liptest.mechanisms.laws import OutputLaw
from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.values.draws.noise_run import NoiseRun, constrain_sum
from liptest.values.draws.questions import ListedBranches, QuestionContext
from liptest.verdicts import Decision

# A class in a tuple, which cannot be changed, is seen by repetition only.
KIND = (type,)
Program = Callable[[Any, Any], Any]


def law(program: Program, *data: int) -> OutputLaw:
    return lt.output_law(lt.mechanism(program), np.array(data or (2,)))


ESCAPES = {
    "float": lambda d, g: next(map(float, [g.laplace()])) > 0,
    "format": lambda d, g: f"{g.laplace():.2f}",
    "str": lambda d, g: str(g.laplace()),
    "repr": lambda d, g: repr(g.laplace(size=2)),
    "hash": lambda d, g: {g.laplace(): 1},
    "set": lambda d, g: len({1.0, g.normal()}),
    "output": lambda d, g: d[0] + g.laplace(),
    "array output": lambda d, g: d + g.laplace(size=1),
    "list output": lambda d, g: {"a": [1, g.laplace()]},
    "maximum": lambda d, g: np.max(d + g.laplace(size=3)),
    "exp": lambda d, g: np.exp(g.laplace()) > 2,
    "math.exp": lambda d, g: math.exp(g.laplace()) > 2,
    "product": lambda d, g: g.laplace() * g.laplace() > 0,
    "square": lambda d, g: g.laplace() ** 2 > 1,
    "quotient": lambda d, g: 1 / g.laplace() > 1,
    "modulo": lambda d, g: g.laplace() % 1 > 0.5,
    "infinite factor": lambda d, g: g.laplace() * math.inf > 0,
    "median": lambda d, g: np.median(g.laplace(size=3)) > 0,
    "std": lambda d, g: g.laplace(size=3).std() > 0,
    "float32": lambda d, g: g.laplace(size=3).astype(np.float32) > 0,
    "out": lambda d, g: np.add(np.zeros(2), g.laplace(size=2), out=np.zeros(2)),
    "writing": lambda d, g: np.copyto(np.linspace(0, 1, 2), g.laplace(size=2)),
    "isclose": lambda d, g: np.isclose(g.laplace(size=2), 0.0, rtol=g.laplace()),
    "infinite scale": lambda d, g: g.laplace(0, math.inf) > 0,
    "dtype": lambda d, g: g.standard_normal(dtype=np.float32) > 0,
}


@pytest.mark.parametrize("program", ESCAPES.values(), ids=ESCAPES)
def test_what_would_be_one_value_out_of_many_is_refused(program: Program) -> None:
    def caught(data: Any, rng: Any) -> Any:
        try:
            return program(data, rng)
        except Exception:
            return "swallowed"

    told = r"caught: .*(cannot be enumerated|no single value has)"
    with pytest.raises(lt.errors.UnsupportedRandomnessError, match=told):
        law(caught)


@pytest.mark.parametrize(
    ("scale", "words"), [(math.inf, "of infinite scale"), (math.nan, "of a scale that is NaN")]
)
@pytest.mark.parametrize("draw", ["laplace", "normal"])
def test_a_scale_that_is_not_a_number_is_called_so(draw: str, scale: float, words: str) -> None:
    for size in (None, 2):
        with pytest.raises(lt.errors.UnsupportedRandomnessError, match=f"{words}.*finite scale"):
            law(lambda data, rng, size=size: getattr(rng, draw)(0.0, scale, size))


def test_a_refusal_at_the_end_of_a_run_names_the_line_that_asked_last() -> None:
    def program(data: Any, rng: Any) -> Any:
        first, second = rng.laplace(), rng.laplace()
        answer = first + rng.gumbel() + rng.normal() + second > 0  # here
        return bool(answer)

    with pytest.raises(
        lt.errors.UnsupportedRandomnessError, match=r"test_noise_paths\.py:\d+: .*# here"
    ):
        law(program)


def test_a_refusal_names_the_line_and_says_what_to_do() -> None:
    def program(data: Any, rng: Any) -> Any:
        return next(map(float, [data[0] + rng.laplace()])) > 1  # here

    with pytest.raises(lt.errors.UnsupportedRandomnessError) as caught:
        law(program)
    words = str(caught.value)
    assert "return next(map(float, [data[0] + rng.laplace()])) > 1  # here" in words
    assert "test_noise_paths.py:" in words
    assert "numpy.round" in words
    assert "lt.check_samples" in words
    with pytest.raises(
        lt.errors.UnsupportedRandomnessError, match=r"its output is a number with.*round"
    ):
        law(lambda data, rng: rng.laplace())


def test_impossible_ways_are_not_taken() -> None:
    def program(data: Any, rng: Any) -> Any:
        noise = rng.laplace()
        return noise > 1, noise > 0, noise > -1, noise == 0.5

    found = law(program)
    assert len(found) == found.leaves == 4
    assert set(found) == {
        (a, b, c, False) for a, b, c in [(1, 1, 1), (0, 1, 1), (0, 0, 1), (0, 0, 0)]
    }

    found = law(lambda d, g: (g.exponential() > 0, g.geometric(0.5) >= 1, g.exponential() < -1))
    assert dict(found) == {(True, True, False): 1.0}
    assert found.source == "enumerated" or found.error < 1e-13


def test_what_is_known_is_not_asked_again() -> None:
    def program(data: Any, rng: Any) -> Any:
        rounded = round(rng.laplace())
        if rounded < -1 or rounded > 1:
            return None
        return rounded, rounded + 1, [rounded * 2], int(rounded), f"{rounded}", range(5)[rounded]

    found = law(program)
    assert found.leaves == 5
    assert (1, 2, (2,), 1, "1", 1) in found
    assert (-1, 0, (-2,), -1, "-1", 4) in found


def test_floats_made_of_rounded_noise_are_those_of_the_code() -> None:
    def program(data: Any, rng: Any) -> Any:
        k = np.clip(np.round(rng.laplace()), 0, 5)
        return k * 0.1, k * 0.1 == 0.3, k * 0.1 == 0.5, 0.7 - k / 10 > 0.4, (k + 0.5) // 1

    expected = {
        (k * 0.1, k * 0.1 == 0.3, k * 0.1 == 0.5, 0.7 - k / 10 > 0.4, (k + 0.5) // 1)
        for k in map(float, range(6))
    }
    assert set(law(program)) == expected


def test_leaves_are_repeated_with_real_noise() -> None:
    seen: list[Any] = []

    def program(data: Any, rng: Any) -> Any:
        noise = data + rng.laplace(size=2)
        seen.append(KIND[0](noise))
        return int(np.argmax(noise))

    found = law(program, 0, 1)
    assert found.repeated == 2
    assert seen.count(np.ndarray) == 8


def test_code_that_looks_at_the_kind_of_noise_is_noticed() -> None:
    def looks(data: Any, rng: Any) -> Any:
        noise = rng.laplace()
        return KIND[0](noise) is float or noise > 0

    with pytest.raises(NonDeterministicError, match="with real random numbers it answers otherw"):
        law(looks)


def test_state_between_runs_is_noticed() -> None:
    scales = iter(range(1, 1000))

    def other_scale(data: Any, rng: Any) -> Any:
        return rng.laplace(0, next(scales)) > 1

    with pytest.raises(NonDeterministicError):
        law(other_scale)
    kept: list[Any] = []

    def keeps(data: Any, rng: Any) -> Any:
        kept.append(rng.laplace())
        return kept[0] > 0 and kept[-1] > 0

    with pytest.raises(NonDeterministicError):
        law(keeps)
    limits = iter(range(1000))
    with pytest.raises(NonDeterministicError):
        law(lambda data, rng: rng.laplace() > next(limits))


@pytest.mark.slow
def test_datasets_on_which_the_same_is_read_share_a_law() -> None:
    runs: list[int] = []

    @lt.mechanism
    def count(data: Any, rng: Any) -> Any:
        runs.append(1)
        return bool(data.sum() + rng.laplace() > 1)

    first = lt.output_law(count, np.array([1, 0, 0]))
    before = len(runs)
    law = lt.ProductDistribution.uniform(lt.Hypercube(12))
    verdict = lt.check_privacy(count, law, epsilon=1.0)
    assert verdict.decision is Decision.YES
    assert len(runs) - before < 13 * 28
    assert first[True] == pytest.approx(0.5, abs=1e-15)


def test_a_budget_leaves_the_rest_unexplored() -> None:
    @lt.mechanism(max_leaves=4)
    def many(data: Any, rng: Any) -> Any:
        return tuple(bool(x + rng.laplace() > 1) for x in data)

    found = lt.output_law(many, np.array([0, 1, 2]))
    assert len(found) == 4
    assert math.fsum(found.values()) + float(found.unexplored) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.slow
def test_traces_lead_to_outputs_and_back() -> None:
    @lt.mechanism
    def program(data: Any, rng: Any) -> Any:
        coin = rng.random() < 0.5
        return coin, int(np.clip(np.round(data[0] + rng.laplace()), 0, 3)), rng.laplace() > 1

    data = np.array([1])
    for output in lt.output_law(program, data):
        choices = program.trace(data, output)
        assert choices is not None
        assert program.replay(data, choices) == output
        assert [Choice.from_dict(choice.to_dict()) for choice in choices] == choices
        assert all(0 < choice.probability < 1 or choice.probability == 1 for choice in choices)
        assert "rng.laplace() > 1" in choices[-1].draw
    # About as likely as they are: the last comparison says yes with probability 1/(2e).
    found = program.trace(data, (True, 0, True))
    assert float(found[-1].probability) == pytest.approx(math.exp(-1) / 2, rel=1e-12)


def test_sums_of_balls_are_checked() -> None:
    parts = BallSum()
    parts.add("a", Fraction(1, 2), arb(1) / 3)
    parts.add("a", Fraction(1, 2), arb(1) / 3)
    with pytest.raises(LawError, match="add up to"):
        parts.joined({}, cuts=0)
    masses, rest = parts.joined({"b": Fraction(1, 3)}, cuts=None)
    assert float(rest) == pytest.approx(1 / 3)
    parts.leave_out(Fraction(1, 3), arb(1))
    masses, rest = parts.joined({"b": Fraction(1, 3)}, cuts=1)
    assert rest >= Fraction(1, 3)
    found = make_law(masses, rest)
    assert found.source == "integrated"
    assert found["b"] == pytest.approx(1 / 3, rel=1e-15)
    low, high = map(float, found.log_bounds("b"))
    assert -1e-15 < -math.log(3) - low < 2e-15
    assert -1e-15 < high + math.log(3) < 2e-15
    with pytest.raises(LawError, match="not known to be above 0"):
        make_law({"a": arb(0.5, 0.6), "b": arb(0.5)}, Fraction(0))


def test_laws_with_noise_are_kept_and_compared_up_to_their_errors() -> None:
    first = make_law({0: arb(1) / 4, 1: arb(3) / 4}, Fraction(0))
    same = make_law({1: arb(3) / 4, 0: arb(1) / 4}, Fraction(0))
    near = make_law({0: arb(0.25, 1e-13), 1: arb(0.75, 1e-13)}, Fraction(0))
    other = make_law({0: arb(0.26), 1: arb(0.74)}, Fraction(0))
    memo = LawMemo()
    assert memo.add(b"1", first) is memo.add(b"2", same) is first
    assert memo.add(b"3", near) is near
    assert agree(first, near)
    assert not agree(first, other)
    assert not agree(first, make_law({0: arb(1)}, Fraction(0)))
    table = law_table([first, near, other], None, None)
    assert len(set(table.exact or ())) == 3
    assert table.errors.max() < 1e-12


def test_the_last_way_needs_no_test_and_questions_know_what_is_free() -> None:
    tree = ChoiceTree("program")
    run = NoiseRun.of(tree)
    first, second = (run.new(Noise("laplace", Fraction(1))) for _ in range(2))
    run.constraints = (constrain_sum(first, low=Fraction(5)),)
    asked = run.asked()
    assert asked.drawn == (Noise("laplace", Fraction(1)),) * 2
    below, above = (
        (constrain_sum(first, high=Fraction(3)),),
        (constrain_sum(first, low=Fraction(3)),),
    )
    question = ListedBranches(asked, "key", lambda: (below, None, above))
    assert question.following(-1) == 2
    assert question.following(2) is None
    assert list(map(bool, map(question.__getitem__, range(3)))) == [False, False, True]
    assert question == (0, 0, 7)
    assert question != (1, 0, 7)
    assert question != (1, 1)
    assert question == ListedBranches(asked, "key", lambda: ())
    assert question != ListedBranches(asked, "other", lambda: (below, None, above))
    assert question != ListedBranches(
        QuestionContext((), *asked[1:]), "key", lambda: (below, None, above)
    )
    free = constrain_sum(first + second, high=Fraction(-100))
    assert ListedBranches(asked, 0, lambda: ((free,),)).is_possible((free,))
    with pytest.raises(TypeError):
        hash(question)
    assert Form.of(3) == run.current(Form.of(3))

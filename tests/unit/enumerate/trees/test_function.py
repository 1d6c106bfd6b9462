"""Python functions as mechanisms: what they get, what they may return, what is remembered."""

from __future__ import annotations

import math
import pickle
import random
from dataclasses import replace
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.data.points import PointBatch, from_array
from liptest.enumerate.intercept import generator
from liptest.enumerate.python_function import PythonFunction
from liptest.enumerate.trees import enumeration
from liptest.enumerate.trees.law_memory import LawMemo
from liptest.mechanisms.base import check_mechanism
from liptest.mechanisms.laws import ZERO_LOG, OutputLaw, Raised

BITS = np.array([0, 1, 1], dtype=np.int8)


@lt.mechanism
def noisy_count(data: Any, rng: Any) -> int:
    return int(data.sum()) + int(rng.random() < 0.5)


@lt.mechanism(outputs=[0, 1, 2], statistic=lt.Count(), name="halved", max_leaves=10)
def halved(count: int, rng: Any) -> int:
    return min(2, count // 2 + rng.integers(2))


def plain(data: Any, rng: Any) -> bool:
    return rng.random() < 0.25


def exact(law: OutputLaw) -> dict[Any, Any]:
    return {output: law.exact(output) for output in law}


def test_the_law_of_a_decorated_function() -> None:
    law = lt.output_law(noisy_count, [0, 1, 1])
    assert exact(law) == {2: Fraction(1, 2), 3: Fraction(1, 2)}
    assert (law.source, law.error, law.unexplored) == ("enumerated", 0.0, 0)


def test_a_decorated_function_is_a_mechanism_and_still_a_function() -> None:
    assert check_mechanism(noisy_count) is noisy_count
    assert (noisy_count.name, noisy_count.outputs, noisy_count.source) == (
        "noisy_count",
        None,
        "enumerated",
    )
    assert noisy_count(BITS, np.random.default_rng(0)) in (2, 3)
    assert (halved.name, halved.outputs, halved.statistic) == ("halved", (0, 1, 2), lt.Count())


@pytest.mark.slow
def test_twelve_coins_are_4096_leaves() -> None:
    @lt.mechanism
    def twelve(data: Any, rng: Any) -> int:
        heads = 0
        for bit in data:
            if rng.random() < 0.25:
                bit = 1 - bit
            heads += bit
        return heads

    law = exact(twelve.law(np.zeros(12, dtype=np.int8)))
    quarter = Fraction(1, 4)
    assert law == {k: math.comb(12, k) * quarter**k * (1 - quarter) ** (12 - k) for k in range(13)}


def test_the_function_gets_a_read_only_int64_array() -> None:
    seen: list[np.ndarray[Any, Any]] = []
    lt.mechanism(lambda data, rng: seen.append(data)).law(BITS)
    assert seen[0].dtype == np.int64
    assert seen[0].tolist() == BITS.tolist()
    with pytest.raises(ValueError, match="read-only"):
        seen[0][0] = 1
    with pytest.raises(ValueError):
        seen[0].setflags(write=True)


def test_a_function_that_writes_to_its_data_raises_and_its_words_are_kept() -> None:
    @lt.mechanism
    def writes(data: Any, rng: Any) -> int:
        data[0] = rng.integers(2)
        return 0

    table = writes.laws(from_array(BITS[None, :]))
    assert table.outputs == (Raised("ValueError"),)
    assert not table.is_answered()
    line = writes.function.__code__.co_firstlineno + 2
    assert writes.first_exception == (
        "ValueError: 'assignment destination is read-only' "
        f"at test_function.py:{line}: data[0] = rng.integers(2)"
    )


def test_exceptions_are_outputs_by_type() -> None:
    @lt.mechanism
    def fails(data: Any, rng: Any) -> int:
        if rng.random() < 0.25:
            raise KeyError(data)
        return 0

    assert exact(fails.law(BITS)) == {Raised("KeyError"): Fraction(1, 4), 0: Fraction(3, 4)}
    fails.laws(from_array(BITS[None, :]))
    assert fails.first_exception is None


def test_a_fault_of_a_stand_in_is_no_output(monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = lt.mechanism(lambda data, rng: tuple(rng.choice(2, 2, replace=False).tolist()))
    assert exact(drawing.law(BITS)) == {(0, 1): Fraction(1, 2), (1, 0): Fraction(1, 2)}
    monkeypatch.delattr(generator, "draw_distinct")
    with pytest.raises(
        lt.errors.UnsupportedRandomnessError, match=r"raised NameError there.*generator"
    ):
        drawing.fresh_law(BITS)
    own = lt.mechanism(lambda data, rng: {}["missing"])
    assert exact(own.law(BITS)) == {Raised("KeyError"): 1}


def test_first_exception_is_not_taken_from_a_single_law() -> None:
    # The gate asks for the law on private data; nothing of them may stay behind.
    fails = lt.mechanism(lambda data, rng: data.nothing)
    fails.law(BITS)
    fails.fresh_law(BITS)
    assert fails.first_exception is None
    assert len(fails._known._memo) == 0


def test_what_ends_the_program_is_an_error() -> None:
    def leaves(data: Any, rng: Any) -> int:
        raise SystemExit(0)

    with pytest.raises(lt.errors.MechanismError, match="raised SystemExit, which ends the program"):
        lt.mechanism(leaves).law(BITS)


def test_keyboard_interrupt_passes() -> None:
    def interrupted(data: Any, rng: Any) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lt.mechanism(interrupted).law(BITS)


def test_unsupported_randomness_is_an_error_however_much_is_caught() -> None:
    def catches(data: Any, rng: Any) -> float:
        try:
            return rng.gamma(2, 1)
        except:  # noqa: E722
            return 0.0

    with pytest.raises(lt.errors.UnsupportedRandomnessError, match=r"catches: rng\.gamma"):
        lt.mechanism(catches).law(BITS)


def test_an_escaped_number_is_an_error() -> None:
    for function in (
        lambda data, rng: rng.random(),
        lambda data, rng: (1, rng.random()),
        lambda data, rng: rng.random(2),
    ):
        with pytest.raises(
            lt.errors.UnsupportedRandomnessError, match=r"no single value has a probability"
        ):
            lt.mechanism(function).law(BITS)


def test_budgets_can_be_set() -> None:
    function = lambda data, rng: sum(rng.random() < 0.5 for _ in range(4))  # noqa: E731
    assert len(lt.mechanism(max_leaves=16)(function).law(BITS)) == 5
    assert lt.mechanism(max_leaves=15)(function).law(BITS).unexplored == Fraction(1, 16)
    with pytest.raises(lt.errors.InputError, match="max_seconds"):
        lt.mechanism(max_seconds=0.0)(function)
    with pytest.raises(lt.errors.BudgetError, match="max_choices=3"):
        lt.mechanism(max_choices=3)(function).law(BITS)


def test_unhashable_outputs_are_an_error_that_says_what_to_return() -> None:
    with pytest.raises(lt.errors.MechanismError, match=r"f: .*unhashable; return a number"):
        lt.mechanism(name="f")(lambda data, rng: bytearray()).law(BITS)


def test_outputs_compare_by_value_or_by_type_too() -> None:
    def changing(data: Any, rng: Any) -> Any:
        return [1] if rng.integers(2) else (1,)

    by_value, by_type = lt.mechanism(changing), lt.mechanism(typed_outputs=True)(changing)
    assert exact(by_value.law(BITS)) == {(1,): 1}
    assert sorted(map(repr, by_type.law(BITS))) == ["list((int(1),))", "tuple((int(1),))"]
    verdicts = [
        lt.check_privacy(one, lt.ProductDistribution.uniform(lt.Hypercube(2)), epsilon=1)
        for one in (by_value, by_type)
    ]
    assert ["of different types" in str(verdict) for verdict in verdicts] == [False, True]
    declared = lt.mechanism(typed_outputs=True, outputs=[[1], (1,)])(changing)
    assert set(declared.law(BITS)) == set(declared.outputs)
    assert pickle.loads(pickle.dumps(lt.mechanism(typed_outputs=True)(plain))).typed_outputs


def test_an_undeclared_output_is_an_error_that_names_it() -> None:
    tested = lt.mechanism(outputs=[0, 1], name="f")(lambda data, rng: rng.integers(3))
    with pytest.raises(
        lt.errors.MechanismError, match=r"f: output=2 is not among outputs=\(0, 1\)"
    ):
        tested.law(BITS)


def test_an_undeclared_exception_is_an_error_with_its_words() -> None:
    def fails(data: Any, rng: Any) -> int:
        raise ValueError("no such column")

    with pytest.raises(lt.errors.MechanismError, match=r"Raised\('ValueError'\).*no such column"):
        lt.mechanism(outputs=[0])(fails).law(BITS)
    declared = lt.mechanism(outputs=[0, Raised("ValueError")])(fails)
    assert declared.law(BITS) == {Raised("ValueError"): 1.0}


def test_state_between_calls_is_noticed() -> None:
    calls = count()
    with pytest.raises(lt.errors.NonDeterministicError, match="draw every random number from rng"):
        lt.mechanism(lambda data, rng: next(calls)).law(BITS)


def test_no_law_meets_a_number_that_was_kept_from_an_earlier_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(enumeration, "is_looked_at", lambda laws: False)
    kept: list[Any] = []

    def keeps(data: Any, rng: Any) -> bool:
        kept.append(rng.random())
        return bool(kept[0] < data[0] / 2)

    tested = lt.mechanism(keeps)
    assert tested.law(BITS) == {False: 1.0}
    assert tested.law(1 - BITS) == {False: 0.5, True: 0.5}


def test_tables_share_rows_of_equal_laws() -> None:
    runs: list[int] = []

    @lt.mechanism
    def total(data: Any, rng: Any) -> int:
        runs.append(1)
        return int(data.sum())

    points = np.array([[0, 1], [1, 0], [1, 1], [0, 1]], dtype=np.int8)
    table = total.laws(from_array(points))
    assert table.outputs == (1, 2)
    assert table.rows is not None
    assert table.rows.tolist() == [0, 0, 1, 0]
    assert table.logs.tolist() == [[0.0, ZERO_LOG], [ZERO_LOG, 0.0]]
    assert table.zeros_exact
    # Only the sum is read: two different ones, each run once and repeated twice.
    assert len(runs) == 6


def test_laws_are_remembered_and_fresh_laws_are_not() -> None:
    runs: list[int] = []
    tested = lt.mechanism(lambda data, rng: runs.append(1) or int(data[0]))
    for _ in range(2):
        tested.laws(from_array(BITS[None, :]))
        tested.law(BITS)
    assert len(runs) == 3
    tested.fresh_law(BITS)
    assert len(runs) == 6


def test_declared_outputs_are_the_columns() -> None:
    table = halved.laws(from_array(np.array([[0, 0, 0]], dtype=np.int8)))
    assert table.outputs == (0, 1, 2)
    assert table.logs[0, 2] == ZERO_LOG


def test_a_statistic_is_all_the_function_sees() -> None:
    seen: list[Any] = []

    @lt.mechanism(statistic=lt.Count())
    def released(value: int, rng: Any) -> bool:
        seen.append(value)
        return rng.random() < value / 8

    centres = np.array([[0, 1, 1], [1, 1, 1]], dtype=np.int8)
    batch = PointBatch(centres, np.array([0, 0]), np.array([0, 1]), np.array([1, 0]))
    table = released.laws(batch)
    assert table.rows is not None
    assert table.rows.tolist() == [1, 2, 2, 0]
    assert {type(value) for value in seen} == {int}
    # Values 1, 2 and 3: two runs, each of which is repeated twice, and with four real numbers.
    assert sorted(seen) == [1] * 14 + [2] * 14 + [3] * 14
    released.laws(batch)
    assert len(seen) == 42
    assert exact(released.law(centres[0])) == {True: Fraction(1, 4), False: Fraction(3, 4)}


def test_a_statistic_of_several_numbers_is_a_read_only_array() -> None:
    @lt.mechanism(statistic=lt.Histogram(3))
    def largest(cells: Any, rng: Any) -> int:
        assert not cells.flags.writeable
        assert cells.dtype == np.int64
        return int(np.argmax(cells)) if rng.random() < 0.75 else rng.integers(3)

    points = np.array([[0, 0, 2], [0, 2, 0], [1, 1, 1]], dtype=np.int8)
    table = largest.laws(from_array(points))
    assert len(table.logs) == 2
    law = exact(largest.law(points[2]))
    assert law == {0: Fraction(1, 12), 1: Fraction(10, 12), 2: Fraction(1, 12)}


def test_laws_of_values_come_in_the_order_given() -> None:
    table = halved.laws_of(np.array([3, 0, 3]))
    rows = table.distinct(np.arange(3))
    assert rows[0] == rows[2] != rows[1]
    assert np.exp(table.logs[rows[0]]).tolist() == [0.0, 0.5, 0.5]
    assert np.exp(table.logs[rows[1]]).tolist() == [0.5, 0.5, 0.0]


def test_a_statistic_takes_large_slices_and_a_dataset_small_ones() -> None:
    domain = lt.Hypercube(3)
    assert noisy_count.points_per_slice(domain) == 64
    assert halved.points_per_slice(domain) > 1000


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda: 0, r"takes \(\); it must take \(data, rng\)"),
        (lambda data, rng, size: 0, r"takes \(data, rng, size\)"),
        (lambda *, data, rng: 0, r"takes \(\*, data, rng\)"),
        (lambda data, *, rng: 0, r"takes \(data, \*, rng\).*functools\.partial"),
        (3, "must be a function"),
        (int, "must be a function"),
        (noisy_count, "is a mechanism already"),
    ],
)
def test_what_is_no_function_of_data_and_rng(function: Any, words: str) -> None:
    with pytest.raises(lt.errors.InputError, match=words):
        lt.mechanism(function)


def test_a_function_of_the_data_alone_is_fine() -> None:
    one = lt.mechanism(lambda data: int(data.sum()))
    assert exact(one.law(BITS)) == {2: 1}
    assert one(BITS) == one(BITS, None) == 2


def test_generators_and_coroutines_are_refused() -> None:
    def yields(data: Any, rng: Any) -> Any:
        yield 0

    async def waits(data: Any, rng: Any) -> int:
        return 0

    for function in (yields, waits):
        with pytest.raises(lt.errors.InputError, match="must return its output"):
            lt.mechanism(function)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"outputs": []}, "outputs"),
        ({"outputs": [bytearray()]}, "hashable"),
        ({"outputs": [1, True]}, "duplicates"),
        ({"statistic": "count"}, r"lt\.Count\(\)"),
        ({"max_leaves": 0}, "max_leaves=0"),
        ({"max_choices": 1.5}, "max_choices=1.5"),
    ],
)
def test_wrong_options(options: dict[str, Any], words: str) -> None:
    with pytest.raises(lt.errors.InputError, match=words):
        lt.mechanism(**options)(plain)


def test_extra_parameters_with_defaults_are_fine() -> None:
    law = lt.mechanism(lambda data, rng, p=0.25: rng.random() < p).law(BITS)
    assert law[True] == 0.25


def test_a_second_parameter_with_a_default_is_a_generator_only_if_it_says_so() -> None:
    def by_epsilon(data: Any, epsilon: float = 1.0) -> bool:
        return random.random() < epsilon / 4

    def with_a_switch(data: Any, exact: bool = False) -> bool:
        return bool(exact) or random.random() < 0.25

    def seeded(data: Any, random_state: Any = None) -> bool:
        return np.random.RandomState(random_state).rand() < 0.25

    def none_or_given(data: Any, rng: Any = None) -> bool:
        assert rng is not None
        return rng.random() < 0.25

    def annotated(data: Any, source: np.random.Generator | None = None) -> bool:
        assert source is not None
        return source.random() < 0.25

    def held(data: Any, source: Any = np.random.default_rng()) -> bool:  # noqa: B008
        return source.random() < 0.25

    for function in (by_epsilon, with_a_switch, seeded, none_or_given, annotated, held):
        assert lt.mechanism(function).law(BITS) == {True: 0.25, False: 0.75}


def test_decorated_functions_pickle_by_name() -> None:
    assert pickle.loads(pickle.dumps(noisy_count)) is noisy_count


def test_plain_functions_pickle_without_their_memo() -> None:
    tested = PythonFunction(plain, name="p")
    tested.laws(from_array(BITS[None, :]))
    copied = pickle.loads(pickle.dumps(tested))
    assert (copied.function, copied.name, len(copied._known._memo)) == (plain, "p", 0)
    assert len(tested._known._memo) == 1


def test_a_renamed_decorated_function_pickles() -> None:
    copied = pickle.loads(pickle.dumps(replace(halved, name="other")))
    assert (copied.name, copied.statistic, copied.max_leaves) == ("other", lt.Count(), 10)
    assert copied.function is halved.function


def test_the_memo_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liptest.enumerate.trees.law_memory._MEMORY", 3000)
    memo = LawMemo()
    for number in range(20):
        law = OutputLaw.from_fractions({number: Fraction(1)})
        memo.add(bytes([number]), law)
        assert memo.get(bytes([number])) is law
    assert len(memo) < 6


def test_equal_laws_are_one_object() -> None:
    memo = LawMemo()
    one = OutputLaw.from_fractions({"a": Fraction(1, 2), "b": Fraction(1, 2)})
    same = OutputLaw.from_fractions({"b": Fraction(1, 2), "a": Fraction(1, 2)})
    assert memo.add(b"1", one) is memo.add(b"2", same)
    assert memo.get(b"2") is one


def test_a_memo_holds_no_dataset() -> None:
    tested = lt.mechanism(lambda data, rng: int(data[3]) + data.tolist()[4])
    points = np.arange(500, dtype=np.int16)[None, :]
    tested.laws(from_array(points))
    assert {len(key) for key in tested._known._memo._laws} == {24}
    assert {len(place) for place in tested._known._transcripts._next} == {1, 24}
    assert list(tested._known._transcripts._next.values()) == [((), ("entry", 3)), ((), ("whole",))]

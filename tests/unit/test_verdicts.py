"""Records: JSON both ways, checked keys; witnesses that verify exactly."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from liptest.data.domains import Hypercube, Hypergrid
from liptest.errors import FunctionError, InputError
from liptest.lipschitz.verdicts import LipschitzVerdict, QueryPlan, Witness
from liptest.verdicts import Cost, Decision, Guarantee, Record, jsonable, round_up

WITNESS = Witness((0, 1), (1, 1), 0.1, math.inf, 1, 1.0)
PLAN = QueryPlan("CS12", 5, 10, 2.5, 1.0, "words", "theory 2")
GUARANTEE = Guarantee(
    "inf", "sampling", "nan", exception_mass=0.1, failure_probability=None, not_covered=(1, 2)
)
COST = Cost(1, 2, 3, 4, 5, 0.1)
VERDICT = LipschitzVerdict(
    Decision.REJECT, "nan", 1.5, WITNESS, GUARANTEE, COST, PLAN, 2**64 - 1, math.inf, "-inf"
)
RECORDS: list[Record] = [
    WITNESS,
    PLAN,
    GUARANTEE,
    COST,
    VERDICT,
    replace(VERDICT, witness=None, decision=Decision.ACCEPT, largest_ratio=1 / 3),
]
names = pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)


@names
def test_json_both_ways(record: Record) -> None:
    text = record.to_json()
    again = type(record).from_json(text)
    assert again == record
    assert again.to_json() == text
    # Strict JSON: no Infinity or NaN outside of strings.
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    for item in fields(record):  # type: ignore[arg-type]
        assert type(getattr(again, item.name)) is type(getattr(record, item.name))


@names
def test_records_are_frozen_and_pickle(record: Record) -> None:
    assert pickle.loads(pickle.dumps(record)) == record
    with pytest.raises(FrozenInstanceError):
        setattr(record, fields(record)[0].name, 0)  # type: ignore[arg-type]


@names
def test_unknown_and_missing_keys_are_named(record: Record) -> None:
    data = record.to_dict()
    with pytest.raises(InputError, match="unknown key 'surprise'"):
        type(record).from_dict({**data, "surprise": 1})
    required = [key for key in data if key in ("point", "tester", "sentence", "function", "plan")]
    for key in required:
        with pytest.raises(InputError, match=key):
            type(record).from_dict({k: v for k, v in data.items() if k != key})
    assert required or isinstance(record, Cost)


@names
@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '"text"'])
def test_what_is_no_record_is_refused(record: Record, text: str) -> None:
    with pytest.raises(InputError, match=type(record).__name__):
        type(record).from_json(text)


def test_wrong_parts_of_a_verdict_are_refused() -> None:
    for key, value in (("decision", "MAYBE"), ("guarantee", None), ("cost", 3), ("witness", [1])):
        with pytest.raises(InputError):
            LipschitzVerdict.from_dict({**VERDICT.to_dict(), key: value})


def test_jsonable() -> None:
    value = {
        3: Fraction(1, 3),
        "array": np.array([[1.5, -math.inf], [math.nan, 0]]),
        "scalars": (np.int8(3), np.float64(math.inf), np.bool_(True)),
        "plain": [None, True, "text", 10**30, 0.1],
    }
    assert jsonable(value) == {
        "3": "1/3",
        "array": [[1.5, "-inf"], ["nan", 0.0]],
        "scalars": [3, "inf", True],
        "plain": [None, True, "text", 10**30, 0.1],
    }


def test_decisions_are_plain_strings() -> None:
    assert Decision.REJECT == "REJECT"
    assert str(Decision.YES) == "YES"
    assert json.dumps(Decision.NO) == '"NO"'


def test_a_verdict_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match="compare"):
        bool(VERDICT)


def test_a_verdict_prints_what_it_says() -> None:
    text = str(VERDICT)
    for part in ("1.5-Lipschitz", "REJECT", "CS12", "Witness", "coordinate 0", "Meaning: inf"):
        assert part in text
    assert "Witness" not in str(replace(VERDICT, witness=None))


def witness(gap: float, distance: int = 1, limit: float = 1.0) -> Witness:
    return Witness((0, 0), (0, distance), 0.0, gap, distance, limit)


GRID = Hypergrid([2, 4])


def slope(factor: float) -> Any:
    return lambda points: factor * points[:, 1]


@pytest.mark.parametrize(
    ("factor", "limit", "expected"),
    [
        (1.0, 1.0, False),
        (math.nextafter(1.0, 2), 1.0, True),
        (-math.nextafter(1.0, 2), 1.0, True),
        (math.nextafter(1.0, 0), 1.0, False),
        (0.1, 0.1, False),
        (5e-324, 5e-324, False),
        (1e-323, 5e-324, True),
        (1.7e308, 1.0, True),
    ],
)
def test_a_witness_is_decided_exactly(factor: float, limit: float, expected: bool) -> None:
    assert witness(factor, limit=limit).verify(slope(factor), GRID) is expected


def test_values_that_differ_by_more_than_the_largest_float() -> None:
    found = Witness((0, 0), (0, 1), -1.7e308, 1.7e308, 1, 1.0)
    assert found.difference == math.inf
    assert found.verify(lambda x: np.where(x[:, 1] == 1, 1.7e308, -1.7e308), GRID)


def test_a_witness_at_another_distance_does_not_verify() -> None:
    assert not replace(witness(9.0), distance=2).verify(slope(9.0), GRID)
    assert witness(9.0, distance=3, limit=3.0).verify(slope(3.0), GRID)


def test_a_witness_asks_the_function_not_itself() -> None:
    assert not witness(9.0).verify(slope(0.5), GRID)
    assert witness(0.0).verify(slope(2.0), GRID)


def test_a_witness_needs_its_domain_and_a_sound_function() -> None:
    with pytest.raises(InputError):
        witness(9.0).verify(slope(1.0), Hypercube(3))
    with pytest.raises(InputError):
        witness(9.0, distance=9).verify(slope(1.0), GRID)
    with pytest.raises(FunctionError):
        witness(9.0).verify(slope(math.nan), GRID)


def test_a_witness_is_readable() -> None:
    assert "coordinate 1" in str(witness(9.0))
    assert "difference 9 > 1" in str(witness(9.0))
    far = Witness((0, 0), (1, 1), 0.0, 9.0, 2, 2.0)
    assert "2 coordinates" in str(far)


def test_a_guarantee_is_its_sentence() -> None:
    assert str(GUARANTEE) == "inf"


@pytest.mark.parametrize("mass", [0.1234, 0.12341, 1e-300, 1 - 2**-53, 5e-5, 1 / 3])
def test_masses_are_rounded_up(mass: float) -> None:
    text = f"{round_up(mass):.4g}"
    assert mass <= float(text) <= mass * 1.0011


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("draws", "3"),
        ("draws", 3.0),
        ("draws", True),
        ("draws", -1),
        ("draws", None),
        ("seconds", "1.5"),
        ("seconds", False),
        ("seconds", "inf"),
        ("seconds", math.inf),
    ],
)
def test_nothing_is_taken_for_a_number_that_is_none(key: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"Cost.{key}="):
        Cost.from_dict({**COST.to_dict(), key: value})


def test_whatever_a_text_or_a_number_holds_comes_back() -> None:
    odd = replace(PLAN, tester="a\ud800\u202e\x00", queries=10**3000, points_per_draw=3)
    again = QueryPlan.from_json(odd.to_json())
    assert again == odd
    assert type(again.points_per_draw) is int


def test_numbers_of_numpy_are_written_as_plain_ones() -> None:
    odd = replace(COST, draws=np.int64(3), seconds=np.float64(0.5))
    assert Cost.from_json(odd.to_json()) == odd


def test_all_that_is_wrong_is_told() -> None:
    data = {**VERDICT.to_dict(), "seed": "x", "more": 1}
    del data["plan"]["tester"]
    with pytest.raises(InputError) as told:
        LipschitzVerdict.read(data, "verdict")
    assert told.value.value == [
        "verdict.plan lacks 'tester'",
        "verdict.seed='x': it should be a valid integer",
        "verdict has an unknown key 'more'",
    ]

"""Records that are treated one by one with numbers of ``random`` and ``numpy.random``."""

# ruff: noqa: PERF401

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.errors import InputError

P = math.e / (1 + math.e)
BITS, KINDS = lt.Hypercube(500), lt.RecordGrid([4] * 500)


def flipped(bit: int, keep: float) -> int:
    return bit if random.random() < keep else 1 - bit


def comprehension(data: Any, rng: Any) -> Any:
    return [int(bit) if random.random() < P else 1 - int(bit) for bit in data]


def helper(data: Any, rng: Any) -> Any:
    return [flipped(int(bit), P) for bit in data]


def helper_too_true(data: Any, rng: Any) -> Any:
    return [flipped(int(bit), 0.8) for bit in data]


def legacy(data: Any, rng: Any) -> Any:
    return [bit if np.random.rand() < P else 1 - bit for bit in data]


def appended_too_true(data: Any, rng: Any) -> Any:
    told = []
    for kind in data:
        told.append(int(kind) if random.random() < 0.5 else random.randint(0, 3))
    return told


def appended(data: Any, rng: Any) -> Any:
    told = []
    for kind in data:
        told.append(int(kind) if random.random() < 0.3 else random.randrange(4))
    return told


RIGHT: list[Any] = [(comprehension, BITS), (helper, BITS), (legacy, BITS), (appended, KINDS)]
WRONG: list[Any] = [(helper_too_true, BITS), (appended_too_true, KINDS)]


@pytest.mark.parametrize(
    ("program", "domain", "decision"),
    [(*one, "YES") for one in RIGHT] + [(*one, "NO") for one in WRONG],
)
def test_the_law_of_one_record_decides(program: Any, domain: Any, decision: str) -> None:
    verdict = lt.check_privacy(
        lt.mechanism(program), domain, epsilon=1, method="per-record", floats="ideal"
    )
    assert verdict.decision == decision, str(verdict)


def shared_draw(data: Any, rng: Any) -> Any:
    same = random.random() < P
    return [int(bit) if same else 1 - int(bit) for bit in data]


def depends_on_its_place(data: Any, rng: Any) -> Any:
    told: list[int] = []
    for bit in data:
        told.append(int(bit) if random.random() < P or len(told) == 3 else 1 - int(bit))
    return told


def looks_at_others(data: Any, rng: Any) -> Any:
    return [int(bit) if random.random() < P else int(data[0]) for bit in data]


@pytest.mark.parametrize("program", [shared_draw, depends_on_its_place, looks_at_others])
def test_what_is_not_of_one_record_is_not_proved(program: Any) -> None:
    with pytest.raises(InputError):
        lt.check_privacy(lt.mechanism(program), BITS, epsilon=1, method="per-record")


def test_the_shared_generators_keep_their_states() -> None:
    random.seed(5)
    np.random.seed(5)
    before = random.getstate(), np.random.get_state(legacy=False)["state"]["pos"]
    mechanism = lt.mechanism(comprehension)
    lt.check_privacy(mechanism, BITS, epsilon=1, method="per-record", floats="ideal")
    assert (random.getstate(), np.random.get_state(legacy=False)["state"]["pos"]) == before

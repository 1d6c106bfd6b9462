"""Paths with several contests: those that are taken for one have one price."""

from __future__ import annotations

from typing import Any

import pytest

import liptest as lt
from liptest.enumerate.symbols import symbolic_data
from liptest.symbolic.alignment import price_paths
from tests.unit.written_programs import program

PROGRAMS = {
    "the largest in their order": """noisy = data + rng.laplace(0, 1, len(data))
return [int(k) for k in np.argsort(noisy)[::-1][:3]]""",
    "one after the other": """left = np.array(data)
told = []
for _ in range(2):
    told.append(int(np.argmax(left + rng.laplace(0, 1, len(data)))))
    left[told[-1]] = -np.inf
return told""",
    "fixed parts": """noisy = data + rng.laplace(0, 1, len(data))
return int(np.argmax(noisy)), int(np.argmax(noisy[:3])), int(np.argmax(noisy[2:]))""",
    "parts that the first winner says": """noisy = data + rng.laplace(0, 1, len(data))
k = int(np.argmax(noisy))
if k % 2:
    return k, int(np.argmax(noisy[:3])), int(np.argmax(noisy[:3]))
return k, int(np.argmax(noisy[1:4])), int(np.argmax(noisy[2:]))""",
    "other noise for other winners": """k = int(np.argmax(data + rng.laplace(0, 2, len(data))))
scale = 1 if k < 2 else 4
return k, int(np.argmax(data[:3] + rng.laplace(0, scale, 3)))""",
    "the same noise for other answers": """noise = rng.laplace(0, 1, len(data))
k = int(np.argmax(data + noise))
return k, int(np.argmax(data[::-1] + noise))""",
    "largest and smallest": """noisy = data + rng.laplace(0, 1, len(data))
return int(np.argmax(noisy)), int(np.argmin(noisy))""",
    "and a threshold": """noisy = data + rng.laplace(0, 1, len(data))
k = int(np.argmax(noisy))
return k, bool(noisy[0] > 3), int(np.argmax(noisy[1:]))""",
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("relation", ["all", "one"])
def test_one_price_for_paths_that_an_exchange_makes_the_same(
    name: str, relation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = lt.Answers(5, relation=relation)
    mechanism = lt.mechanism(program(PROGRAMS[name]))
    merged: Any = mechanism.align_paths(domain, way="branches")
    monkeypatch.setattr(
        symbolic_data,
        "find_winners",
        lambda contests, *_, **__: tuple((id(contest), place) for contest, place in contests),
    )
    every: Any = mechanism.align_paths(domain, way="branches")
    assert len(merged.paths) <= len(every.paths)
    assert len(merged.ends) == len(every.ends)
    prices = {}
    for end, other in zip(merged.ends, every.ends, strict=True):
        assert end.output == other.output
        for path in (end.path, other.path):
            if id(path) not in prices:
                prices[id(path)] = price_paths([path], merged.differences).epsilon
        assert prices[id(end.path)] == prices[id(other.path)]


def test_the_largest_of_many_are_one_path() -> None:
    mechanism = lt.mechanism(program(PROGRAMS["the largest in their order"]))
    followed: Any = mechanism.align_paths(lt.Answers(7), way="branches")
    assert len(followed.ends) == 7 * 6 * 5
    assert len(followed.paths) == 1

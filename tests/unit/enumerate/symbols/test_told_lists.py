"""Outputs that one run alone gives, also where runs meet: never one that several runs give."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import liptest as lt
from liptest.enumerate.symbols.symbolic_data import SymbolicPaths
from liptest.enumerate.symbols.told_lists import ToldLists
from tests.shares import mostly_slow
from tests.unit.written_programs import program

_LOOP = """t, hits, told = rng.laplace(0, 2.0), 0, []
for a in data:
    if a + rng.laplace(0, 4.0) >= t:
        {above}
    else:
        {below}
return {told}"""
_APPEND = "told.append({})"


def _loop(above: str, below: str, told: str = "tuple(told)") -> Any:
    lines = (one.replace("; ", "\n        ") for one in (above, below))
    return program(_LOOP.format(above=next(lines), below=next(lines), told=told))


ALONE = {
    "a bit a pass": _loop(_APPEND.format(1), _APPEND.format(0)),
    "a list": _loop(_APPEND.format(True), _APPEND.format(None), "told"),
    "words": _loop(_APPEND.format("'up'"), _APPEND.format("'down'"), "list(told)"),
    "nothing below": _loop(_APPEND.format(1), "pass"),
    "stops": _loop(_APPEND.format(1) + "; hits += 1; if hits == 2: break", _APPEND.format(0)),
    "two entries": _loop(_APPEND.format(1) + "; " + _APPEND.format(1), _APPEND.format(1)),
    "no entries": _loop("pass", "pass"),
    "equal entries": _loop(_APPEND.format(1), _APPEND.format("True")),
    "the length": _loop(_APPEND.format(1), "pass", "len(told)"),
    "the same each time": _loop(_APPEND.format(1), _APPEND.format(0), "(len(told), 1)"),
    "beside the length": _loop(_APPEND.format(1), "pass", "(tuple(told), len(told))"),
    "sorted": _loop(_APPEND.format(1), _APPEND.format(0), "tuple(sorted(told))"),
    "only some": _loop(_APPEND.format(1), _APPEND.format(0), "tuple(told[1:])"),
    "never told": _loop(_APPEND.format(1), _APPEND.format(0), "(0, 1)"),
    "told by a hit": _loop(
        _APPEND.format(1) + "; hits += 1", _APPEND.format(0), "tuple(told) if hits < 2 else (0, 1)"
    ),
}


def _paths(mechanism: Any, way: str, answers: int = 4) -> SymbolicPaths:
    found = lt.mechanism(mechanism).align_paths(lt.Answers(answers), way=way)
    assert isinstance(found, SymbolicPaths)
    return found


@pytest.mark.parametrize("name", mostly_slow(ALONE, 4))
def test_no_other_run_has_an_output_that_is_said_to_be_of_one(name: str) -> None:
    every = Counter(end.output for end in _paths(ALONE[name], "every branch").ends)
    met = _paths(ALONE[name], "branches")
    for path in met.paths:
        alone = met.alone(path)
        assert alone is None or every[alone[0]] == 1


@pytest.mark.parametrize("name", ["a bit a pass", "a list", "words", "stops"])
def test_lists_are_told_apart_where_runs_meet(name: str) -> None:
    met = _paths(ALONE[name], "branches", 5)
    assert not met.ends
    assert all(met.alone(path) is not None for path in met.paths)


@pytest.mark.parametrize("name", ["nothing below", "two entries", "no entries", "equal entries"])
def test_lists_of_several_runs_are_not_told_apart(name: str) -> None:
    met = _paths(ALONE[name], "branches", 5)
    assert any(met.alone(path) is None for path in met.paths)


def test_choices_by_chance_are_not_told_apart() -> None:
    coin = program("return int(data[0] + rng.laplace() > 0) + 2 * int(rng.integers(2))")
    paths = _paths(coin, "branches", 1)
    assert all(paths.alone(path) is None for path in paths.paths)


def test_walks_that_spell_an_output() -> None:
    lists = ToldLists()
    assert not lists.is_told_once(())
    lists.end((0, 1), (2,))
    assert lists.is_told_once((0, 1))
    assert not lists.is_told_once((0,))
    for steps in ((0,), (1,)):  # both come to the same head, and go on in the same ways
        lists.begin()
        lists.reach("head", [[steps[0]]], steps)
    lists.end((1, 1), (1, 0))
    assert lists.is_known
    assert lists.is_told_once((1, 1))
    assert not lists.is_told_once((0, 1))  # also by the run that met
    lists.begin()
    lists.reach("head", None, (3,))
    assert not lists.is_told_once((1, 1))


def test_circles_without_entries_end() -> None:
    lists = ToldLists()
    lists.reach("head", [[]], ())
    lists.reach("head", [[]], (0,))
    lists.end((), (0, 1))
    assert not lists.is_told_once(())


def test_lists_are_looked_at_once_for_each_head(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = Counter[str]()
    for name in ("reach", "repeat"):
        written = getattr(ToldLists, name)

        def noted(lists: Any, *given: Any, _name: str = name, _written: Any = written) -> None:
            looked[_name] += 1
            _written(lists, *given)

        monkeypatch.setattr(ToldLists, name, noted)
    _paths(ALONE["stops"], "branches", 30)
    # Runs that repeat the passes of others do not copy their lists once more.
    assert 30 <= looked["reach"] < 8 * 30 < looked["repeat"]

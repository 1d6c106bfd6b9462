"""Runs that meet at a pass of a loop: the same prices as without (docs/theory/loops.md, L8)."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

import liptest as lt
from liptest.enumerate.loops.meeting_loops import only_draws
from liptest.enumerate.symbols import symbolic_data
from liptest.enumerate.symbols.alike_pasts import Pasts
from liptest.symbolic.alignment import price_paths
from tests.unit.enumerate.looped_programs import looped_program
from tests.unit.written_programs import program

_SPARSE = """t, hits, told = rng.laplace(0, 2.0), 0, []
for {walk}:
    {first}
    if a + rng.laplace(0, {scale}) >= t:
        told.append(True)
        hits += 1
        if hits == 3:
            break
    else:
        told.append(False)
return {told}"""


def _sparse(
    walk: str = "a in data", first: str = "pass", scale: float = 12.0, told: str = "told"
) -> Any:
    return program(_SPARSE.format(walk=walk, first=first, scale=scale, told=told))


def _priced(mechanism: Any, answers: int) -> tuple[Fraction | None, int]:
    paths = lt.mechanism(mechanism).align_paths(lt.Answers(answers), way="branches")
    assert isinstance(paths, symbolic_data.SymbolicPaths)
    return price_paths(paths.paths, paths.differences).epsilon, len(paths.paths)


def lap(rng: Any, scale: float) -> Any:
    """What many programs call their noise."""
    return rng.laplace(0, scale)


def of_uniform(rng: Any, scale: float) -> Any:
    half = scale / 2
    return 2 * rng.laplace(0, half)


_SEEN: list[float] = []


def keeping(rng: Any, scale: float) -> Any:
    noise = rng.laplace(0, scale)
    _SEEN[:] = [scale]
    return noise


def once_in_a_while(rng: Any, scale: float) -> Any:
    return rng.laplace(0, scale) if scale > 1 else rng.laplace(0, 1)


def told_by(noise: Any) -> Any:
    def tell(data: Any, rng: Any, *, draw: Any = noise) -> Any:
        t, told = draw(rng, 2.0), []
        for a in data:
            if a + draw(rng, 2.0) >= t:
                told.append(True)
            else:
                told.append(False)
        return tuple(told)

    return tell


def told_by_name(data: Any, rng: Any) -> Any:
    t, told = lap(rng, 2.0), []
    for a in data:
        told.append(a + lap(rng, scale=2.0) >= t)  # noqa: PERF401
    return told


class TestNoiseOfAFunction:
    """``lap(rng, 2.0)``, of the module or given as an argument, draws as the method does."""

    @pytest.mark.parametrize("tell", [told_by(lap), told_by(of_uniform), told_by_name])
    def test_it_is_followed(self, tell: Any) -> None:
        price, paths = _priced(tell, 10)
        assert price == Fraction(11, 2) - Fraction(1, 2)
        assert paths < 60  # of 1,024

    @pytest.mark.parametrize("noise", [keeping, once_in_a_while])
    def test_what_does_more_is_not(self, noise: Any) -> None:
        assert not only_draws(noise)
        assert only_draws(lap)

    @pytest.mark.slow
    def test_thirty_answers_are_proved(self) -> None:
        verdict = lt.check_privacy(told_by(lap), lt.Answers(30), epsilon=15)
        assert verdict.decision == "YES"


class TestHitsAtOnce:
    @pytest.mark.parametrize(
        ("walk", "first", "told"),
        [
            ("a in data", "pass", "told"),
            ("i, a in enumerate(data)", "pass", "tuple(told)"),
            ("i in range(len(data))", "a = data[i]", "{'told': told, 'hits': hits}"),
            ("a in data", "pass", "told, hits"),
        ],
    )
    def test_three_hits_among_many(self, walk: str, first: str, told: str) -> None:
        price, paths = _priced(_sparse(walk, first, told=told), 24)
        assert price == 1
        assert paths < 60  # of 2,325

    def test_a_while_loop(self) -> None:
        text = """t, hits, told, i = rng.laplace(0, 2.0), 0, [], 0
while i < len(data) and hits < 3:
    is_hit = data[i] + rng.laplace(0, 12.0) >= t
    told.append(is_hit)
    hits += is_hit
    i += 1
return told"""
        price, paths = _priced(program(text), 24)
        assert price == 1
        assert paths < 60

    def test_noise_that_was_drawn_before(self) -> None:
        text = """t, hits, told = rng.laplace(0, 2.0), 0, []
noisy = data + rng.laplace(0, 12.0, size=len(data))
for y in noisy:
    told.append(y >= t)
    if y >= t:
        hits += 1
    if hits == 3:
        break
return told"""
        price, paths = _priced(program(text), 20)
        assert price == 1
        assert paths < 60

    @pytest.mark.slow
    def test_a_claim_on_fifty_answers(self) -> None:
        verdict = lt.check_privacy(_sparse(), lt.Answers(50), epsilon=1.0)
        assert verdict.decision == "YES"
        assert "loss at most 1.000000" in str(verdict)


class TestRunsThatDoNotMeet:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "end",
        [
            "return told if told[0] else hits",
            "return float(noisy[0] - t), told",
            "return told, bool(noisy[1] > t)",
            "return told, bool(data[0] + rng.laplace(0, 1.0) > t)",
        ],
    )
    def test_what_is_read_again(self, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
        text = f"""t, hits, told = rng.laplace(0, 2.0), 0, []
noisy = data + rng.laplace(0, 8.0, size=len(data))
for y in noisy:
    told.append(y >= t)
    hits += y >= t
{end}"""
        price, _ = _priced(program(text), 4)
        monkeypatch.setattr(symbolic_data, "Pasts", lambda: None)
        assert _priced(program(text), 4)[0] == price

    @pytest.mark.slow
    def test_a_bound_that_is_asked_in_each_pass(self, monkeypatch: pytest.MonkeyPatch) -> None:
        text = """t, told = rng.laplace(0, 2.0), []
for a in data:
    told.append(a + rng.laplace(0, 8.0) >= t if t > 1 else a + rng.laplace(0, 4.0) > 0)
return len(told)"""
        price, _ = _priced(program(text), 4)
        monkeypatch.setattr(symbolic_data, "Pasts", lambda: None)
        assert _priced(program(text), 4)[0] == price

    def test_a_store_beyond_the_end_of_a_list(self, monkeypatch: pytest.MonkeyPatch) -> None:
        text = """t, told = rng.laplace(0, 2.0), []
for i, a in enumerate(data):
    if i < 3:
        if a + rng.laplace(0, 8.0) >= t:
            told.append(True)
        else:
            t_is_told = False
    else:
        told[1] = False
        if a + rng.laplace(0, 1.0) > t:
            return told
return told"""
        price, _ = _priced(program(text), 4)
        monkeypatch.setattr(symbolic_data, "Pasts", lambda: None)
        assert _priced(program(text), 4)[0] == price


class TestRedraws:
    def test_noise_that_is_redrawn_says_nothing_of_the_data(self) -> None:
        text = """z = rng.laplace(0, 1.0)
while z > 5:
    z = rng.laplace(0, 1.0)
return bool(data[0] + rng.laplace(0, 1.0) > z)"""
        price, paths = _priced(program(text), 3)
        assert (price, paths) == (1, 4)


def _leaves(seed: int, answers: int, monkeypatch: pytest.MonkeyPatch, *, meets: bool) -> Any:
    seen: dict[str, Any] = {}

    def keep(_program: Any, _data: Any, leaves: Any, _dimension: Any, way: Any) -> None:
        seen.update(leaves=leaves, pasts=way.pasts)

    monkeypatch.setattr(symbolic_data, "check_points", keep)
    monkeypatch.setattr(symbolic_data, "Pasts", Pasts if meets else lambda: None)
    mechanism = lt.mechanism(looped_program(seed))
    followed = mechanism.align_paths(lt.Answers(answers), way="branches")
    return followed, seen


@pytest.mark.slow
class TestRandomPrograms:
    @pytest.mark.parametrize("seeds", [range(1020, 1026), range(1040, 1046)])
    def test_every_path_costs_what_its_representative_costs(
        self, seeds: range, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        met = 0
        for seed in seeds:
            followed, seen = _leaves(seed, 3, monkeypatch, meets=True)
            pasts = seen.get("pasts")
            if pasts is None or not pasts.met:
                continue
            met += 1
            own = {leaf.branches: leaf.path for leaf in seen["leaves"]}
            _, every = _leaves(seed, 3, monkeypatch, meets=False)
            for leaf in every["leaves"]:
                twin = own[pasts.representative(leaf.branches)]
                costs = [
                    price_paths([path], followed.differences).epsilon for path in (leaf.path, twin)
                ]
                assert costs[0] == costs[1], seed
        assert met

    def test_what_a_run_repeats_is_as_it_would_be_found_again(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        met = 0
        for seed in range(1020, 1050):
            found = []
            for repeats in (Pasts._repeats, lambda _pasts: False):
                with monkeypatch.context() as patch:
                    patch.setattr(Pasts, "_repeats", repeats)
                    seen = _leaves(seed, 3, patch, meets=True)[1]
                    pasts = seen.get("pasts")
                    told = None if pasts is None else (pasts.met, pasts.told.is_known)
                    ends = [leaf.branches for leaf in seen.get("leaves", ())]
                    found.append((ends, told, None if pasts is None else pasts.told._steps))
                    met += pasts is not None and bool(pasts.met)
            assert found[0] == found[1], seed
        assert met > 8


@pytest.mark.slow
def test_a_pass_costs_the_same_after_many(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    possible = Pasts._possible_name

    def noted(self: Any, v: int) -> Any:
        asked.append(v)
        return possible(self, v)

    monkeypatch.setattr(Pasts, "_possible_name", noted)

    def first_above(answers: Any, rng: Any) -> int:
        bar = rng.laplace(scale=2)
        for place, answer in enumerate(answers):
            if answer + rng.laplace(scale=4) >= bar:
                return int(place)
        return -1

    counts = []
    for queries in (25, 50):
        asked.clear()
        verdict = lt.check_privacy(first_above, lt.Answers(queries), epsilon=1, floats="ideal")
        assert verdict.decision == "YES"
        counts.append(len(asked))
    # Runs replay the passes before their own, which is a square; a cube would be 8.
    assert counts[1] < 5 * counts[0], counts


def test_states_are_looked_at_once_for_each_head(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: Counter[str] = Counter()
    for name in ("_key", "begin_pass"):
        written = getattr(Pasts, name)

        def noted(*given: Any, _name: str = name, _written: Any = written, **more: Any) -> Any:
            counts[_name] += 1
            return _written(*given, **more)

        monkeypatch.setattr(Pasts, name, noted)
    assert _priced(_sparse(), 30)[0] is not None
    # Three hits at most: one head for each pass and number of hits, and as many that are met.
    assert 60 <= counts["_key"] < 6 * 30
    assert counts["begin_pass"] > 8 * counts["_key"]

"""Lines of a run are counted while the program goes on, not while liptest calculates for it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from liptest.enumerate.watch import run_watch


def frame(file: str, place: int, back: Any = None) -> Any:
    return SimpleNamespace(f_code=SimpleNamespace(co_filename=file), f_lasti=place, f_back=back)


OWN = run_watch.__file__


def watched() -> Any:
    never = run_watch._Timer(0, 0)
    give_up: Any = None
    return run_watch._Watch(never, lambda: 0, give_up, frame.__code__, 60.0, "f")


def test_a_program_at_work_goes_on() -> None:
    assert watched()._goes_on_since(frame("program.py", 4))


def test_one_that_waits_for_liptest_does_not() -> None:
    watch, program = watched(), frame("program.py", 4)
    for depth in (10, 20, 30):
        assert not watch._goes_on_since(frame(OWN, depth, program))


def test_one_that_calls_liptest_at_another_place_does() -> None:
    watch, program = watched(), frame("program.py", 4)
    assert not watch._goes_on_since(frame(OWN, 1, program))
    program.f_lasti = 6
    assert watch._goes_on_since(frame(OWN, 1, program))
    assert not watch._goes_on_since(frame(OWN, 1, program))


def test_one_in_another_frame_does() -> None:
    watch, program, other = watched(), frame("program.py", 4), frame("program.py", 4)
    assert not watch._goes_on_since(frame(OWN, 1, program))
    assert watch._goes_on_since(frame(OWN, 1, other))

"""Code that behaves while it is checked: it looks at the calls that are under way.

Of such code any verdict would be one about the check, not about the release. What looks at every
call is taken away by Python once it has ended a run; so nothing that came after may count.
"""

from __future__ import annotations

import collections
import inspect
import operator
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import liptest as lt
from liptest.errors import NonDeterministicError

FRAME_OF_CALL, STACK, LINES = sys._getframe, inspect.stack, {"of": traceback.format_stack}


def _is_checked() -> bool:
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "check_privacy":
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None


def _swallows() -> bool:
    try:
        return _is_checked()
    except BaseException:
        return True


def _is_seen_from_alias() -> bool:
    return FRAME_OF_CALL(9).f_code.co_name != "release"


def _is_seen_by_name() -> bool:
    found: bool = getattr(sys, "_get" + "frame")(9).f_code.co_name != "release"
    return found


def _is_on_stack() -> bool:
    return any("check" in one.function for one in STACK())


def _is_in_lines() -> bool:
    return any("check" in line for line in LINES["of"]())


def _is_under_error() -> bool:
    try:
        raise ValueError
    except ValueError as error:
        return error.__traceback__.tb_frame.f_back is not None  # type: ignore[union-attr]


def _is_under_traceback() -> bool:
    try:
        raise ValueError
    except ValueError:
        return operator.attrgetter("tb" + "_frame")(sys.exc_info()[2]) is not None


def _is_under_attribute() -> bool:
    try:
        raise ValueError
    except ValueError as error:
        return getattr(getattr(error, "__trace" + "back__"), "tb" + "_frame") is not None


def _is_in_generator() -> bool:
    numbers = (number for number in (1, 2))
    return getattr(numbers, "gi" + "_frame") is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    "is_watched",
    [
        *(_is_checked, _swallows, _is_seen_from_alias, _is_seen_by_name, _is_on_stack),
        *(_is_in_lines, _is_under_error, _is_under_traceback, _is_under_attribute),
        _is_in_generator,
    ],
)
@pytest.mark.parametrize("records", [3, pytest.param(50, marks=pytest.mark.slow)])
def test_code_that_behaves_while_it_is_checked(
    is_watched: Callable[[], bool], records: int
) -> None:
    def tells_all_else(data: Any, rng: Any) -> float:
        return float(data.sum() + (rng.laplace() if is_watched() else 0))

    with pytest.raises(NonDeterministicError, match=r"looks at who calls it|its first call"):
        lt.check_privacy(lt.mechanism(tells_all_else), lt.Hypercube(records), epsilon=1)


@pytest.mark.slow
def test_what_a_process_holds_is_not_asked_in_a_proof_by_alignment() -> None:
    def asks(data: Any, rng: Any) -> float:
        return float(data.sum() + (rng.laplace() if "liptest" in sys.modules else 0))

    with pytest.raises(NonDeterministicError, match=r"looks at sys\.modules"):
        lt.check_privacy(lt.mechanism(asks), lt.Hypercube(50), epsilon=1)


@pytest.mark.slow
def test_who_handles_a_signal_is_not_asked() -> None:
    def asks(data: Any, rng: Any) -> float:
        handled = signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        return float(data.sum() + (rng.laplace() if handled else 0))

    with pytest.raises(NonDeterministicError, match=r"asks signal\.getsignal"):
        lt.check_privacy(lt.mechanism(asks), lt.Hypercube(50), epsilon=1)


def test_what_the_standard_library_looks_at_for_itself_is_let_pass() -> None:
    def makes_a_tuple(data: Any, rng: Any) -> float:
        pair = collections.namedtuple("pair", ["count", "noise"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.warn("one", stacklevel=1)
        told = pair(data.sum(), rng.laplace())
        return float(told.count + told.noise)

    verdict = lt.check_privacy(lt.mechanism(makes_a_tuple), lt.Hypercube(50), epsilon=1)
    assert verdict.decision == "YES"

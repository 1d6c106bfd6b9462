"""What one law may cost, and what is said when it costs more."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from liptest.errors import BudgetError
from liptest.whitebox.tree.unwinding import forget, raise_soon, runs

#: Runs for one law: twenty fair coins, under a minute and under 1 GB if all outputs differ.
MAX_LEAVES = 1 << 20


#: Choices in one run. A path of k choices has at least k leaves beside it, each replayed from
#: the start with weights of up to 53 k digits: a loop that never ends is noticed in seconds.
MAX_CHOICES = 1_000


#: Draws in one run, whether they lead to a choice or not: ends ``while rng.random() < 1``.
MAX_DRAWS = 1_000_000


#: Runs that are cut off at ``max_choices`` before the law is given up, unless more runs end.
MAX_CUTS = 16


#: Once a run was cut off at ``max_choices`` the law is known in part only, and paths of a
#: probability below 2**-LIGHT are not walked to their ends: two loops have a million of them.
LIGHT = 64


#: Seconds without the end of a run, after which a loop is taken for endless.
MAX_SECONDS_A_RUN = 60.0


_REMEDY = "or declare the law with lt.ClosedForm"


def is_light(numerator: int, denominator: int) -> bool:
    """Whether a probability is below 2**-LIGHT, or a little above."""
    return denominator.bit_length() - numerator.bit_length() > LIGHT


def too_many_draws(name: str) -> BudgetError:
    """More than MAX_DRAWS in one run."""
    return BudgetError(
        f"{name}: more than {MAX_DRAWS:,} random numbers drawn in one run; does it loop for "
        f"ever? Draw fewer, {_REMEDY}",
        budget=MAX_DRAWS,
    )


def too_many_choices(name: str, max_choices: int) -> BudgetError:
    """No run ends within ``max_choices``."""
    return BudgetError(
        f"{name}: more than max_choices={max_choices:,} random choices in one run; does it "
        f"choose for ever? Bound the loop, raise it with @lt.mechanism(max_choices=...), {_REMEDY}",
        budget=max_choices,
    )


def too_many_leaves(name: str, max_leaves: int, needed: int | None = None) -> BudgetError:
    """More runs than ``max_leaves``; ``needed`` outcomes of one draw alone."""
    what = f"more than max_leaves={max_leaves:,} runs"
    if needed is not None:
        what = "one draw has too many outcomes"
        if needed < 10**30:
            what = f"one draw has {needed:,} outcomes, more than max_leaves={max_leaves:,}"
    return BudgetError(
        f"{name}: {what} to enumerate its random choices on one dataset; draw from fewer values, "
        f"hand it a statistic of the data only (statistic=lt.Count()), raise it with "
        f"@lt.mechanism(max_leaves=...), {_REMEDY}",
        needed=needed,
        budget=max_leaves,
    )


def endless(name: str, seconds: float) -> BudgetError:
    """One run did not end in time."""
    return BudgetError(
        f"{name}: one run took more than {seconds:g} seconds; does it loop for ever? Bound the "
        f"loop, {_REMEDY}"
    )


@contextmanager
def watched_for_progress(
    progress: Callable[[], int],
    give_up: Callable[[], None],
    inside: CodeType,
    seconds: float = MAX_SECONDS_A_RUN,
) -> Iterator[None]:
    """Call ``give_up`` when ``progress()`` is the same number ``seconds`` later.

    Again and again then, so that a loop around an ``except:`` ends too, but only while a function
    with the code ``inside`` runs. By the timer of the main thread; elsewhere, where that timer is
    in use, and on systems without it nothing is watched.
    """
    if not _timer_is_free():
        yield
        return
    known = [progress()]

    def look(number: int, frame: FrameType | None) -> None:
        last, known[0] = known[0], progress()
        if known[0] == last and runs(inside, frame):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN, _AGAIN)
            raise_soon(give_up, frame, inside)
            give_up()

    before = signal.signal(signal.SIGALRM, look)
    _watches.append(look)
    signal.setitimer(signal.ITIMER_REAL, seconds, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        _watches.remove(look)
        forget()


def hurry() -> None:
    """A run has failed: what is left of it is given little time, where it is watched."""
    if _watches and signal.getsignal(signal.SIGALRM) is _watches[-1]:
        signal.setitimer(signal.ITIMER_REAL, _SOON, _AGAIN)


_SOON, _AGAIN = 1.0, 0.005


_watches: list[Any] = []


def _timer_is_free() -> bool:
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        return False
    return (
        signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
        and signal.getitimer(signal.ITIMER_REAL)[0] == 0.0
    )

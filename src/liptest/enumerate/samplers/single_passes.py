"""Laws of programs that draw noise again until it fits: one pass, given that it leaves its loop.

A run that would make a second pass of a loop ends there instead. Where every run enters the same
loops, and each of them reads the same values, a pass leaves with the same probability in all runs.
So the law of the program is that of the runs of one pass, divided by the probability that no loop
makes a second one (docs/theory/loops.md, L10).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from flint import arb

from liptest.balls import CERTIFIED_BITS, precision
from liptest.enumerate.folded.folding import Rewritten
from liptest.enumerate.folded.folds import Folds
from liptest.enumerate.intercept.generator import is_generator
from liptest.enumerate.samplers.loop_passes import NoisyLoops, PlainPasses, is_plain_value
from liptest.enumerate.trees.choice_tree import ChoiceTree
from liptest.enumerate.watch.access_tracking import TrackedArray
from liptest.errors import UnsupportedRandomnessError
from liptest.mechanisms.laws import Output, Raised, as_fraction, exact_ball

#: What laws of such programs rest on.
LEFT_AT_ONCE = "a loop that draws noise again until it fits counts as one pass (theory L10)"
#: What a run answers where a second pass would begin; a program that answers it is refused.
AGAIN = Raised("a second pass of a loop")


class _SecondPass(BaseException):
    """A loop would make a second pass."""


class _FewPasses:
    """The one pass of a loop in one run, or the few that it may make."""

    starts_over = True

    def __init__(self, loops: _Loops) -> None:
        self._loops = loops
        self._begun = 0

    def begin(self) -> None:
        """Of one pass more than there may be: the run ends."""
        if self._begun == self._loops.most:
            self._loops.end_run()
        self._begun += 1

    def end(self) -> None:
        """The loop is left."""


class _Loops(NoisyLoops):
    """Says to ``folds`` where the passes of loops are, and notes which ones a run has entered."""

    def __init__(self) -> None:
        super().__init__()
        self.begin_law(1)
        self.begin_run()

    def begin_law(self, most: int) -> None:
        """Runs of another law begin, in which a loop makes so many passes."""
        self.most = most
        self._entered_first: tuple[Any, ...] | None = None
        self._begun: set[tuple[Any, ...]] = set()

    def begin_run(self) -> None:
        """A run begins."""
        self.is_again = False
        self._entered: tuple[Any, ...] = ()

    def passes_of(self, values: tuple[Any, ...] | None, *, in_place: bool, loop: Any) -> Any:
        """The passes of a loop that starts over, and reads these values of outside."""
        others = [value for value in values or () if not is_generator(value)]
        if values is None or not all(is_plain_value(value, in_place=in_place) for value in others):
            return PlainPasses()
        self._entered = *self._entered, (loop, tuple(map(_make_key, others)))
        return _FewPasses(self)

    def end_run(self) -> NoReturn:
        """A second pass would begin."""
        self.is_again = True
        self._begun.add(self._entered)
        raise _SecondPass

    def note_answer(self) -> None:
        """A run has come to its end. Raises UnsupportedRandomnessError: other loops than before."""
        if self._entered_first is None:
            self._entered_first = self._entered
        if self._entered != self._entered_first:
            raise _not_alike()

    def check_alike(self) -> None:
        """All runs of a law entered the same loops, or ended in one of them."""
        entered = self._entered_first or ()
        if any(begun != entered[: len(begun)] for begun in self._begun):
            raise _not_alike()


def _not_alike() -> UnsupportedRandomnessError:
    return UnsupportedRandomnessError("runs that enter other loops that start over")


def _make_taken_error() -> UnsupportedRandomnessError:
    return UnsupportedRandomnessError("an output that stands for a second pass")


def _make_key(value: Any) -> Any:
    """Equal for equal values that a loop reads, as plain ones and as parts of one dataset."""
    kind = type(value)
    if kind is TrackedArray:
        return _make_key(value._values)  # not a read: it is compared with itself alone
    if kind is np.ndarray:
        return kind, value.dtype.str, value.shape, value.tobytes()
    if kind in (list, tuple):
        return kind, tuple(map(_make_key, value))
    return kind, repr(value)


class SinglePasses:
    """A Python function whose loops that start over are left in their first pass, if at all."""

    def __init__(self, function: Any) -> None:
        self._loops = _Loops()
        self._rewritten = Rewritten(function, Folds(lambda value: None, samplers=self._loops))

    def of_session(self, session: Any, passes: int = 1) -> Callable[[Any, Any], Any] | None:
        """The function in one session; None where no loop of it starts over.

        ``passes``: how many a loop may make.
        """
        loops, made = self._loops, self._rewritten(session)
        loops.begin_law(passes)
        if not loops.loops:
            return None

        def call(data: Any, rng: Any) -> Any:
            loops.begin_run()
            try:
                answer = made(data, rng)
            except (Exception, _SecondPass) as error:
                if loops.is_again:
                    return AGAIN
                if type(error).__qualname__ == AGAIN.exception:
                    raise _make_taken_error() from None
                loops.note_answer()
                raise
            if loops.is_again:
                return AGAIN  # whatever the program does after a second pass has begun
            if isinstance(answer, Raised):
                raise _make_taken_error()
            loops.note_answer()
            return answer

        return call

    def count_loops(self, session: Any) -> int:
        """How many loops of the code start over, those that draw noise among them."""
        self._rewritten(session)
        return self._loops.loops

    def tree(self, name: str, **budgets: Any) -> LeavingTree:
        """A tree whose law is that of the runs that leave all loops at once, given that they do."""
        return LeavingTree(name, self._loops, **budgets)


class LeavingTree(ChoiceTree):
    """A choice tree of single passes, whose law is given that no loop makes a second one."""

    __slots__ = ("_loops",)

    def __init__(self, name: str, loops: _Loops, **budgets: Any) -> None:
        super().__init__(name, **budgets)
        self._loops = loops

    def law(self, run: Callable[[], Output]) -> dict[Output, Fraction] | dict[Output, arb]:
        """As ``ChoiceTree.law``, given that all loops are left in their first pass.

        Of a law that is known in part the parts are smaller than the true ones.
        """
        masses: dict[Output, Any] = dict(super().law(run))
        self._loops.check_alike()
        again = masses.pop(AGAIN, None)
        if again is None:
            return masses
        if self.unexplored:
            exact = isinstance(again, Fraction)
            self.unexplored += again if exact else as_fraction(again.upper())
            return masses
        if isinstance(again, Fraction) and again < 1:
            return {output: mass / (1 - again) for output, mass in masses.items()}
        with precision(CERTIFIED_BITS):
            left = sum(map(exact_ball, masses.values()), arb(0))
            if not left > 0:
                raise UnsupportedRandomnessError("a loop that starts over, and is hardly ever left")
            return {output: mass / left for output, mass in masses.items()}

"""Programs that answer at once where a loop that starts over would make a second pass.

Where the loop asks its noise alone, all data leave a pass with the same probability. So the program
itself is private exactly where this one is, at a delta that is smaller by that probability
(docs/theory/loops.md, L10); and this one has no runs without an end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

from liptest.enumerate.enumeration import KnownLaws, copied
from liptest.enumerate.folding import Rewritten
from liptest.enumerate.folds import Folds
from liptest.enumerate.generator import is_generator
from liptest.enumerate.loop_passes import NoisyLoops, PlainPasses, is_plain_value
from liptest.enumerate.symbolic_paths import NoPaths, SymbolicPaths
from liptest.errors import UnsupportedRandomnessError
from liptest.mechanisms.laws import Raised


class SecondPass(BaseException):
    """A loop would make a second pass."""


#: What the program answers then; a program that answers it by itself is refused.
AGAIN = Raised("a second pass of a loop")


class _SinglePass:
    """The one pass of a loop in one run."""

    starts_over = True

    def __init__(self, samplers: _SinglePasses) -> None:
        self._samplers = samplers
        self._is_begun = False

    def begin(self) -> None:
        """Of a second pass: the run ends."""
        if self._is_begun:
            self._samplers.end_run()
        self._is_begun = True

    def end(self) -> None:
        """The loop is left."""


class _SinglePasses(NoisyLoops):
    """Says to ``folds`` where the passes of loops are, and whether a run came to a second one."""

    def __init__(self) -> None:
        super().__init__()
        self.begin_run()

    def begin_run(self) -> None:
        """A run begins."""
        self.is_again = self._is_entered = False

    def passes_of(self, values: tuple[Any, ...] | None, *, in_place: bool) -> Any:
        """The passes of a loop that starts over, and reads these values of outside."""
        others = [value for value in values or () if not is_generator(value)]
        if values is None or not all(is_plain_value(value, in_place=in_place) for value in others):
            return PlainPasses()
        if self._is_entered:
            raise UnsupportedRandomnessError("two loops that start over")
        self._is_entered = True
        return _SinglePass(self)

    def end_run(self) -> NoReturn:
        """A second pass would begin."""
        self.is_again = True
        raise SecondPass


class _Rewrite:
    """The function of one session; whatever it does after a second pass has begun is left out."""

    def __init__(self, function: Any) -> None:
        self._samplers = _SinglePasses()
        folds = Folds(lambda value: None, samplers=self._samplers)
        self._rewritten = Rewritten(function, folds)

    def __call__(self, session: Any) -> Any:
        samplers, made = self._samplers, self._rewritten(session)

        def called(data: Any, rng: Any) -> Any:
            samplers.begin_run()
            try:
                answer = made(data, rng)
            except (Exception, SecondPass) as error:
                if samplers.is_again:
                    return AGAIN
                if type(error).__qualname__ == AGAIN.exception:
                    raise _taken() from None
                raise
            if samplers.is_again:
                return AGAIN
            if isinstance(answer, Raised):
                raise _taken()
            return answer

        return called


def _taken() -> UnsupportedRandomnessError:
    return UnsupportedRandomnessError("an output that stands for a second pass")


def with_single_passes(function: Any, followed: SymbolicPaths | NoPaths) -> SymbolicPaths | NoPaths:
    """The paths of a program, and its single passes where these stand for it (theory L10)."""
    if isinstance(followed, NoPaths) or followed.leaving is None:
        return followed
    laws = KnownLaws(function.name, function._known.records)
    changes: dict[str, Any] = {"outputs": None, "_known": laws, "_rewrite": _Rewrite(function)}
    return replace(followed, single=copied(function, **changes))

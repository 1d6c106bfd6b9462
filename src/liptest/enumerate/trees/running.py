"""One run of a function under analysis, and what its exceptions mean."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import FunctionType
from typing import Any

from liptest.enumerate.intercept.analysis_session import Session
from liptest.enumerate.intercept.replaceable_names import is_foreign
from liptest.enumerate.trees.choice_tree import Abort, ChoiceTree
from liptest.enumerate.trees.outputs import EndlessOutput, make_raised, walk_output
from liptest.enumerate.watch.run_watch import CaughtFaults
from liptest.errors import MechanismError, UnsupportedRandomnessError, quote
from liptest.mechanisms.laws import Output
from liptest.values.faults import Fault, fault_in, place_raised
from liptest.values.lines import line_in_words

#: ``(data, rng) -> output``.
RandomFunction = Callable[[Any, Any], Any]


class NotFollowed(UnsupportedRandomnessError):
    """An exception of liptest's own where code under analysis called it."""


class Run:
    """One run of the function; keeps the words of the first exception, never its frames.

    ``data()`` is what the function is given in this run.
    """

    __slots__ = (
        *("_canonical", "_function", "_name", "_rng", "_session", "data", "exception"),
        "is_repeated",
    )

    def __init__(
        self,
        function: RandomFunction,
        data: Callable[[], Any],
        rng: Any,
        name: str,
        canonical: Callable[[Any], Output],
        session: Session,
    ) -> None:
        self._session = session
        self._canonical = canonical
        self._function = function
        self.data = data
        self._rng = rng
        self._name = name
        self.exception: str | None = None
        #: Whether a leaf is run again as it was.
        self.is_repeated = False

    def follow(self, tree: ChoiceTree) -> None:
        """Ask this tree from now on."""
        self._rng._tree = tree
        self._session.follow(tree)

    def real_floats(self) -> AbstractContextManager[None]:
        """With Python's own ``float`` in the code of the function."""
        return self._session.real_floats()

    def check_keeps_no_state(self, again: Callable[[], object]) -> None:
        """NonDeterministicError where a run, just made, changes once more what is held."""
        self._session.check_keeps_no_state(again)

    def __call__(self) -> Output:
        try:
            return self._answered()
        finally:
            if self._session.from_handlers:
                raise self._session.from_handlers[0]

    def _answered(self) -> Output:
        if self._session.may_hold:
            self._session.put_back()
        if self._session.touched:
            self._session.begin()
        caught, outside = self._new_caught(), sys.exception()
        try:
            with caught or nullcontext():
                output = walk_output(self._function(self.data(), self._rng), self._name)
            self._check_caught(caught)
        except (Abort, EndlessOutput, KeyboardInterrupt):
            raise
        except (RecursionError, MemoryError) as error:
            raise _make_machine_error(self._name, error) from error
        except Exception as error:
            if self._session.has_read_clock:
                self._session.look_at_clock()
            self._check_caught(caught)
            fault = fault_in(error, outside, exported=bool(self._rng._tree.exported))
            if fault is not None:
                self._rng._tree.fail(_not_followed(self._name, fault))
            if self.exception is None:
                self.exception = _words(error)
            return make_raised(error)
        except BaseException as error:
            ended = make_raised(error)
        else:
            return self._as_output(output)
        raise MechanismError(
            f"{self._name}: it raised {ended.exception}, which ends the program; a mechanism must "
            f"return an output or raise an Exception"
        )

    def _as_output(self, output: Any) -> Output:
        try:
            return self._canonical(output)
        except RecursionError:
            raise MechanismError(
                f"{self._name}: its output holds lists or the like in each other, too deep to be "
                f"compared, or itself; return a flat list"
            ) from None

    def _new_caught(self) -> CaughtFaults | None:
        surroundings = self._session.surroundings
        if not surroundings.catches or not (self.is_repeated or surroundings.seen_catching):
            return None
        if not self.is_repeated:
            surroundings.seen_catching -= 1
        return CaughtFaults()

    def _check_caught(self, caught: CaughtFaults | None) -> None:
        if caught is not None and caught.fault is not None:
            self._rng._tree.fail(_not_followed(self._name, caught.fault))


def _make_machine_error(name: str, error: Exception) -> MechanismError:
    return MechanismError(
        f"{name}: it raised {type(error).__name__}: the limit of stack or memory depends on the "
        f"machine and the caller, so this is not an output; use less of it, or raise the limit "
        f"(sys.setrecursionlimit; the analysis needs some frames itself)"
    )


# What Python says of a call of a method that does not take its arguments.
_CALL_WITH = re.compile(
    r"(\w+)\(\) (got an unexpected keyword argument|takes .*positional arg|got multiple values)"
    r"(?: '(\w+)')?"
)


def _not_followed(name: str, fault: Fault) -> NotFollowed:
    line = line_in_words(fault.file, fault.line)
    kind = type(fault.error).__name__
    call = _CALL_WITH.search(str(fault.error)) if kind == "TypeError" else None
    if call is not None:
        return NotFollowed(
            f"{name}: {call[1]}() with these arguments{f' at {line}' if line else ''} is not "
            f"followed where data or noise are symbolic; leave out {call[3] or 'some of them'}, or "
            f"calculate it by other methods"
        )
    by = f"liptest itself raised {kind} there ({fault.raised_at})"
    if not fault.raised_at:
        by = f"what is called there takes known numbers only, and raised {kind}"
    return NotFollowed(
        f"{name}: what is done with random numbers{f' at {line}' if line else ''} cannot be "
        f"followed: {by}, which is not an output of the program; write the line otherwise, or "
        f"declare the law with lt.ClosedForm(outputs, log_pmf)"
    )


def _words(error: Exception) -> str:
    """Type, message and line of the program of an exception."""
    line = line_in_words(*place_raised(error))
    at = f" at {line}" if line else ""
    said = f": {quote(str(error), 200)}" if _is_plain(error) else ""
    return f"{type(error).__name__}{said}{at}"


def _is_plain(error: Exception) -> bool:
    """Whether its text asks nothing of code of the program, and of no number that is symbolic."""
    told = type(error).__str__
    if isinstance(told, FunctionType):
        return is_foreign(told.__module__)  # of NumPy and the like, which name kinds
    return all(type(argument) in _PLAIN for argument in error.args)


_PLAIN = (str, bytes, int, float, bool, type(None))

"""The laws of one function that are known already, by what it has read, and how others join."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any, TypeVar

from numpy.typing import NDArray

from liptest.mechanisms.laws import OutputLaw
from liptest.whitebox.reading.reads import Read
from liptest.whitebox.reading.transcripts import Transcripts
from liptest.whitebox.stand_ins.session import Session
from liptest.whitebox.tree.budgets import MAX_LEAVES
from liptest.whitebox.tree.enumeration import Enumerated
from liptest.whitebox.tree.memo import LawMemo, law_key

# Runs spent on laws that stay partial before the rest of a batch is left out.
_MAX_PARTIAL_LEAVES = 4 * MAX_LEAVES


# Nothing is known of a law that was left out.
_UNKNOWN = Enumerated(OutputLaw.from_fractions({}, unexplored=Fraction(1)), None, 0, {})


T = TypeVar("T")


Enumerate = Callable[[NDArray[Any], Session], Enumerated]


class KnownLaws:
    """Laws by place in the tree of reads, or, where reads are not noted, by argument."""

    def __init__(self, name: str, records: bool) -> None:
        self.records = records
        #: Laws that were enumerated.
        self.count = 0
        #: Whether one of them was integrated over noise.
        self.noisy = False
        self._memo = LawMemo()
        self._transcripts = Transcripts(name)

    @property
    def first_exception(self) -> str | None:
        """Type and message of an exception, where a dataset made every run raise one."""
        return self._memo.first_exception

    def noted(self, found: Enumerated) -> Enumerated:
        """What was found, with its source noted."""
        self.noisy = self.noisy or found.law.source == "integrated"
        return found

    def get(self, argument: NDArray[Any]) -> OutputLaw | None:
        """The law, if it is known."""
        return self._memo.get(self._place(argument))

    def reads_of(self, dataset: NDArray[Any]) -> list[Read]:
        """What is known to be read of a dataset."""
        return self._transcripts.reads_of(dataset)

    def laws(
        self,
        arguments: list[NDArray[Any]],
        begin: Callable[[], AbstractContextManager[Session]],
        enumerate_one: Enumerate,
    ) -> list[OutputLaw]:
        """The laws of all arguments; those that are not known are enumerated in one session."""
        found = [self.get(argument) for argument in arguments]
        missing = [position for position, law in enumerate(found) if law is None]
        if missing:
            with begin() as session:
                fresh = self._fresh([arguments[k] for k in missing], enumerate_one, session)
            # Kept only after the session found nothing: a memo must not hide a later error.
            for position, (place, known) in zip(missing, fresh, strict=True):
                found[position] = self._memo.get(place) or self._kept(place, known)
        return [law for law in found if law is not None]

    def _kept(self, place: bytes, known: Enumerated) -> OutputLaw:
        if known is _UNKNOWN:
            return known.law
        return self._memo.add(place, known.law, known.exception)

    def _fresh(
        self, arguments: list[NDArray[Any]], enumerate_one: Enumerate, session: Session
    ) -> list[tuple[bytes, Enumerated]]:
        done: dict[bytes, Enumerated] = {}
        found, spent = [], 0
        for argument in arguments:
            place = self._place(argument)
            known = done.get(place)
            if known is None and spent > _MAX_PARTIAL_LEAVES:
                # The rest is left out, so that a hopeless mechanism is noticed in a minute or two.
                found.append((place, _UNKNOWN))
                continue
            if known is None:
                known = enumerate_one(argument, session)
                self.count += 1
                place = self._transcripts.add(known.reads) if self.records else place
                spent += known.leaves if known.law.unexplored else 0
                done[place] = known
            found.append((place, known))
        return found

    def _place(self, argument: NDArray[Any]) -> bytes:
        return self._transcripts.place_of(argument) if self.records else law_key(argument)


def copied(mechanism: T, **changes: Any) -> T:
    """A copy with other attributes."""
    # Not copy(), which pickles by name: the name leads to the mechanism itself.
    seen = object.__new__(type(mechanism))
    seen.__dict__.update(vars(mechanism) | changes)
    return seen

"""One law from the code: the tree of a function's random choices on one dataset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from liptest.errors import NonDeterministicError
from liptest.mechanisms.laws import Output, OutputLaw, Raised
from liptest.runs.interrupts import interruptions
from liptest.whitebox.honesty import repeat
from liptest.whitebox.noise.laws import law_of
from liptest.whitebox.reading.reads import WHOLE, Read
from liptest.whitebox.reading.recorded import Reads, Recorded
from liptest.whitebox.stand_ins.generator import ChoiceGenerator
from liptest.whitebox.stand_ins.session import Session
from liptest.whitebox.tree.choices import ChoiceTree
from liptest.whitebox.tree.memo import agree
from liptest.whitebox.tree.paths import differing
from liptest.whitebox.tree.running import NotFollowed, RandomFunction, Run
from liptest.whitebox.tree.tracing import TracingTree

T = TypeVar("T")


# Laws of a function of which many leaves are repeated; of later ones only the first leaf.
_THOROUGH = 64


@dataclass(frozen=True)
class Enumerated:
    """A law, the words of the first exception, the runs that ended, and what was read."""

    law: OutputLaw
    exception: str | None
    leaves: int
    reads: dict[Read, Any]


@dataclass(frozen=True)
class Enumeration:
    """How the laws of one function are enumerated; ``new_tree`` knows the budgets.

    ``known_laws`` says how many were enumerated before.
    """

    name: str
    function: RandomFunction
    canonical: Callable[[Any], Output]
    new_tree: Callable[[], ChoiceTree]
    known_laws: int = 0

    def plain(self, argument: NDArray[Any], session: Session) -> Enumerated:
        """The law given a value of a statistic, or a dataset of which reads are not noted."""
        data = handed(argument)
        return self._law(session, lambda: data, data)

    def recorded(self, dataset: NDArray[Any], session: Session) -> Enumerated:
        """The law on a dataset, with the reads that it rests on.

        What raises an exception, or answers otherwise when it is given a real array, is
        enumerated on real arrays: it may be compiled code that knows no others.
        """
        reads = Reads(handed(dataset))
        found, error = self._noted(reads, session)
        raises = found is not None and any(isinstance(o, Raised) for o in found.law.outputs)
        if found is None or (raises and not reads.everything):
            noted, found = found, self.plain(dataset, session)
            reads.note(WHOLE, reads.array)
            if noted is None or not agree(noted.law, found.law):
                self._check_stand_in(dataset, session, noted, error)
        return replace(found, reads=reads.known)

    def _noted(
        self, reads: Reads, session: Session
    ) -> tuple[Enumerated | None, NonDeterministicError | NotFollowed | None]:
        """The law on a dataset that notes its reads, or why there is none."""
        stand_in = Recorded(reads)

        def data() -> Any:
            return reads.array if reads.everything else stand_in

        try:
            return self._law(session, data, reads.array), None
        except (NonDeterministicError, NotFollowed) as error:
            return None, error.with_traceback(None)

    def _check_stand_in(
        self,
        dataset: NDArray[Any],
        session: Session,
        noted: Enumerated | None,
        error: NonDeterministicError | NotFollowed | None,
    ) -> None:
        """It must have been the stand-in that made the difference, not state between calls."""
        again, _ = self._noted(Reads(handed(dataset)), session)
        if noted is None and again is None:
            return
        if noted is None or again is None or not agree(noted.law, again.law):
            raise error or differing(self.name, "the same choices led to a different output")

    def traced(
        self, argument: NDArray[Any], session: Session, use: Callable[[TracingTree, Run], T]
    ) -> T:
        """``use`` a tree that looks for outputs, and the run that it walks."""
        data = handed(argument)
        tree = TracingTree(self.name, max_choices=self.new_tree().max_choices)
        session.follow(tree)
        rng = ChoiceGenerator(tree)
        try:
            return use(
                tree,
                Run(self.function, lambda: data, rng, self.name, self.canonical, session),
            )
        finally:
            tree.close()

    def _law(self, session: Session, data: Callable[[], Any], real: Any) -> Enumerated:
        tree = self.new_tree()
        session.follow(tree)
        rng = ChoiceGenerator(tree)
        run = Run(self.function, data, rng, self.name, self.canonical, session)
        before = interruptions()
        try:
            probabilities = tree.law(run)
            run.data = lambda: real
            samples = tree.samples if self.known_laws < _THOROUGH else tree.samples[:1]
            with session.watch.no_system_randomness():
                repeat(tree, run, *samples[0])
            for path, output in samples[1:]:
                repeat(tree, run, path, output)
        finally:
            tree.close()
        if interruptions() != before:
            raise KeyboardInterrupt  # the function swallowed it: no law may be kept of this
        law = law_of(probabilities, tree.unexplored)
        law.leaves, law.repeated = tree.leaves, len(samples)
        return Enumerated(law, run.exception, tree.leaves, {})


def handed(argument: NDArray[Any]) -> Any:
    """What the function gets: an int, or an array over bytes, which nobody can make writeable."""
    if argument.ndim == 0:
        return int(argument)
    return np.frombuffer(argument.astype(np.int64).tobytes(), dtype=np.int64)

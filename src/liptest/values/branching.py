"""What a symbolic value asks of the analysis that it is part of: which branch a run takes.

The choice tree of ``enumerate`` answers this protocol. A value knows no more of it.
"""

from __future__ import annotations

from typing import Any, NoReturn, Protocol

from liptest.errors import LiptestError, NonDeterministicError


class UnweightedBranches:
    """Branches without weights: of each is known whether it is possible, 1, or not, 0.

    The probability of all that a run takes of them is found at its leaf (``noise_run``).
    """

    def __len__(self) -> int:
        raise NotImplementedError

    def __getitem__(self, place: int) -> int:
        raise NotImplementedError

    def following(self, branch: int) -> int | None:
        """The next possible branch after one, -1 before the first; None after the last."""
        raise NotImplementedError

    def weights(self) -> tuple[int, ...]:
        """Whole-number weights about as likely as the branches, 0 for impossible ones only."""
        raise NotImplementedError


#: What can be chosen from: n branches of equal weight, whole-number weights, or unweighted ones.
Branches = int | tuple[int, ...] | UnweightedBranches
#: Choices from the root to a leaf, with the branches taken.
Path = list[tuple[Branches, int]]


#: What a draw with known parameters is noted as, in place of how many positions an order has.
KNOWN = -2


class DrawLog(Protocol):
    """Is told of every random value, or array of them, that a program draws."""

    def hand_out(self, number: Any, law: Any) -> Any:
        """What the program gets for a number of a law; laws that are equal are the same."""
        ...

    def is_seed(self, number: Any) -> bool:
        """Whether it stands for a random number that seeds a generator."""
        ...

    def next_order(self, total: int, length: int) -> Any:
        """So many of all positions in a random order, (length,); None where it is to be drawn."""
        ...

    def note_order(self, total: int, positions: Any) -> None:
        """Is told of an order that was drawn."""
        ...


class Branching(Protocol):
    """The analysis of one program on one input."""

    name: str
    max_leaves: int
    max_choices: int
    #: Whether whole numbers with noise are answered as they are, not value by value.
    keeps_whole: bool
    #: Whether uniform numbers become the noise of which they are made the inverse cdf.
    inverts: bool
    #: Whether parts of an output that nobody has looked at are not chosen.
    keeps_parts: bool
    #: Whether ways that noise next to never takes are left out.
    leaves_out_light: bool
    #: Whether plain arrays that the program makes have room for symbolic numbers.
    keeps_room: bool
    #: Draws of this run, and how many are allowed.
    draws: int
    most_draws: int
    draw_log: DrawLog | None
    #: What a run keeps of its 0/1 variables, and of its noise; each run begins with None.
    bits: Any
    noise: Any
    #: Arrays of this run that numpy.asarray() gave plain copies of.
    exported: list[Any]
    #: The choices of this run, known ones among them, and how many of them were asked.
    path: Path
    depth: int
    #: Whether runs are walked for a law, and not in search of one of them, or by chance.
    walks_all: bool
    #: Whether symbolic data are read record by record, and whether rows of a frame are made for it.
    walks_records: bool
    makes_rows: bool

    @property
    def floats_at_once(self) -> int:
        """So many random floats of one call count as one draw."""
        ...

    def choose(self, branches: Branches) -> int:
        """The branch to take; branches of weight 0 are never taken."""
        ...

    def count_draws(self, count: int) -> None:
        """Note draws that may never lead to a choice."""
        ...

    def leave_out(self) -> NoReturn:
        """End this run, which stands for values that no budget allows: it stays unexplored."""
        ...

    def fail(self, error: LiptestError) -> NoReturn:
        """End this run and all later ones with an error."""
        ...

    def forbid(self, what: str, advice: str) -> NoReturn:
        """End the analysis: the program uses randomness in a way that is not followed."""
        ...


def make_used_again_error(name: str) -> NonDeterministicError:
    """The error of a program that keeps a random number from run to run."""
    return NonDeterministicError(
        f"{name}: non-deterministic: a random number drawn in an earlier run is used "
        f"again; a mechanism may keep no state"
    )

"""What a path through the tree of choices is made of, and what ends it."""

from __future__ import annotations

from typing import Any, Protocol

from liptest.errors import LiptestError, NonDeterministicError
from liptest.mechanisms.laws import Output, Raised
from liptest.whitebox.tree.sums import product

# Leaves that are kept as samples: so many first ones, and those numbered 2, 4, 8, ..
_SAMPLED = 4
# Of each exception so many more.
_RAISED = 16


class Ways:
    """Branches without weights: of each is known whether it is possible, 1, or not, 0.

    The probability of all that a run takes of them is found at its leaf (``noise.runs``).
    """

    def __len__(self) -> int:
        raise NotImplementedError

    def __getitem__(self, place: int) -> int:
        raise NotImplementedError

    def following(self, branch: int) -> int | None:
        """The next possible way after one, -1 before the first; None after the last."""
        raise NotImplementedError

    def weights(self) -> tuple[int, ...]:
        """Whole-number weights about as likely as the ways, 0 for impossible ones only."""
        raise NotImplementedError


#: What can be chosen from: n branches of equal weight, whole-number weights, or ways.
Branches = int | tuple[int, ...] | Ways
#: Choices from the root to a leaf, with the branches taken.
Path = list[tuple[Branches, int]]


class Births(Protocol):
    """Is told of every random float, or array of them, that a program draws."""

    def of(self, number: Any) -> Any:
        """What the program gets."""
        ...


class Abort(BaseException):
    """Ends a run. No ``except Exception`` of the program under analysis catches it."""

    def __init__(self, error: LiptestError) -> None:
        super().__init__(str(error))
        self.error = error


def differing(name: str, what: str) -> NonDeterministicError:
    """The error of a program that answers otherwise after the same choices."""
    return NonDeterministicError(
        f"{name}: non-deterministic: {what} on one dataset; draw every random number "
        f"from rng and keep no state between calls"
    )


def used_again(name: str) -> NonDeterministicError:
    """The error of a program that keeps a random number from run to run."""
    return NonDeterministicError(
        f"{name}: non-deterministic: a random number drawn in an earlier run is used "
        f"again; a mechanism may keep no state"
    )


def next_branch(branches: Branches, branch: int) -> int | None:
    """The next branch after one that has a weight; None after the last."""
    if isinstance(branches, int):
        return branch + 1 if branch + 1 < branches else None
    if isinstance(branches, Ways):
        return branches.following(branch)
    for following in range(branch + 1, len(branches)):
        if branches[following]:
            return following
    return None


def is_sample(number: int, output: Output, samples: list[tuple[Path, Output]]) -> bool:
    """Whether a leaf, the first of which has number 1, is one of those to repeat.

    Exceptions are among them: what takes real floats only, as ``json.dumps``, may raise one just
    because it meets what stands for a random number.
    """
    if number <= _SAMPLED or number & (number - 1) == 0:
        return True
    return isinstance(output, Raised) and [known for _, known in samples].count(output) < _RAISED


def weight_of(path: Path) -> tuple[int, int]:
    """The probability of a path as numerator and denominator, not reduced."""
    weights = [1 if isinstance(branches, int) else branches[branch] for branches, branch in path]
    return product(weights), product([total_of(branches) for branches, _ in path])


def total_of(branches: Branches) -> int:
    """The sum of the weights; 1 for ways, which have none."""
    if isinstance(branches, int):
        return branches
    return 1 if isinstance(branches, Ways) else sum(branches)

"""What a path through the tree of choices is made of, and what ends it."""

from __future__ import annotations

from liptest.errors import LiptestError, NonDeterministicError
from liptest.mechanisms.laws import Output, Raised
from liptest.values.branching import Branches, Path, UnweightedBranches
from liptest.whitebox.tree.sums import product

# Leaves that are kept as samples: so many first ones, and those numbered 2, 4, 8, ..
_SAMPLED = 4


# Of each exception so many more.
_RAISED = 16


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


def next_branch(branches: Branches, branch: int) -> int | None:
    """The next branch after one that has a weight; None after the last."""
    if isinstance(branches, int):
        return branch + 1 if branch + 1 < branches else None
    if isinstance(branches, UnweightedBranches):
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
    return 1 if isinstance(branches, UnweightedBranches) else sum(branches)

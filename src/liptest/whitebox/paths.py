"""What a path through the tree of choices is made of, and what ends it."""

from __future__ import annotations

from typing import Any, Protocol

from liptest.errors import LiptestError

#: What can be chosen from: n branches of equal weight, or whole-number weights.
Branches = int | tuple[int, ...]
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


def next_branch(branches: Branches, branch: int) -> int | None:
    """The next branch after one that has a weight; None after the last."""
    if isinstance(branches, int):
        return branch + 1 if branch + 1 < branches else None
    for following in range(branch + 1, len(branches)):
        if branches[following]:
            return following
    return None

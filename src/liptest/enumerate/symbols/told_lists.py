"""Which outputs one run alone gives, where runs that meet fill a list that is told as it is.

Runs that meet at a pass of a loop (``alike_pasts``) go on in the same ways, whatever they have put
into their list so far. So what runs put into it from one head of a pass to the next are the labels
of a graph, and the runs with an output are the walks through it that spell the output.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from liptest.mechanisms.laws import Output
from liptest.values.answers.decisions import Alternative, AtLeast, LargestOf

if TYPE_CHECKING:
    from liptest.enumerate.symbols.symbolic_paths import PathEnd
    from liptest.symbolic.answers import AlignedPath

Branches = tuple[int, ...]
_PLAIN = frozenset({bool, int, str, type(None)})
# Where every run begins, and where it has ended; heads of passes have keys of their own.
_BEGIN, _END = "begin", "end"
_SEVERAL = 2


class ToldLists:
    """The graph of one analysis: ``begin`` a run, ``reach`` heads of passes, ``end`` it."""

    def __init__(self) -> None:
        #: Whether each output is the list of its run.
        self.is_known = True
        # By the head where they begin and by what the run takes on the way: what is put into the
        # list, and the head where they end.
        self._steps: dict[Any, dict[Branches, tuple[tuple[Any, ...], Any]]] = {}
        # By head what the first run that came there had put into the list, and how far it was.
        self._reached: dict[Any, tuple[tuple[Any, ...], int]] = {}
        self.begin()

    def begin(self) -> None:
        """Start a run."""
        self._at: Any = _BEGIN
        self._told: tuple[Any, ...] = ()
        self._depth = 0

    def reach(self, head: Any, lists: Sequence[Any] | None, branches: Branches) -> None:
        """A run has come to a head with these branches; ``lists`` None: they are not told so."""
        if lists is None or len(lists) != 1 or type(lists[0]) is not list:
            self.is_known = False
            return
        self._step(head, tuple(lists[0]), branches)
        self._reached.setdefault(head, (self._told, self._depth))

    def repeat(self, head: Any) -> None:
        """A run has come to a head as the first run that came there did."""
        if head in self._reached:
            self._at, (self._told, self._depth) = head, self._reached[head]

    def end(self, output: Output, branches: Branches) -> None:
        """A run has ended."""
        if self._at != _BEGIN and type(output) is not tuple:
            self.is_known = False
            return
        self._step(_END, output if isinstance(output, tuple) else (output,), branches)

    def _step(self, head: Any, told: tuple[Any, ...], branches: Branches) -> None:
        before, taken = self._told, branches[self._depth :]
        if told[: len(before)] != before or not _PLAIN.issuperset(map(type, told)):
            self.is_known = False
            return
        step = told[len(before) :], head
        if self._steps.setdefault(self._at, {}).setdefault(taken, step) != step:
            self.is_known = False
        self._at, self._told, self._depth = head, told, len(branches)

    def is_told_once(self, output: tuple[Any, ...]) -> bool:
        """Whether exactly one run has this output."""
        if not self.is_known:
            return False
        ended, at = 0, {(_BEGIN, 0): 1}
        for _ in range(len(self._steps) + 1):
            later: dict[tuple[Any, int], int] = {}
            for (head, place), runs in at.items():
                for told, then in self._steps.get(head, {}).values():
                    end = place + len(told)
                    if output[place:end] != told:
                        continue
                    if then == _END:
                        ended += runs * (end == len(output))
                    else:
                        later[then, end] = min(later.get((then, end), 0) + runs, _SEVERAL)
            at = later
        return ended == 1 and not at


def is_plain_list(output: Output) -> bool:
    """Whether it has no number with noise in it, as is seen at once."""
    return type(output) is tuple and _PLAIN.issuperset(map(type, output))


def find_output_alone(
    leaves: Iterable[PathEnd], lists: ToldLists | None, path: AlignedPath
) -> tuple[Output] | None:
    """The output of a path, where no other run has it and only comparisons of sums lead to it.

    ``lists`` where runs have met. None where that is not seen: then other runs may have it, too.
    """
    leaves = list(leaves)
    # Those that are equal but for names share the path of the first.
    leaf = next(leaf for leaf in leaves if leaf.path is path)
    output = leaf.output
    if path.places or leaf.raises or leaf.rounding or leaf.missing or leaf.exits:
        return None
    if not is_plain_list(output if type(output) is tuple else (output,)) or not all(
        type(choice) is Alternative and isinstance(choice.asked, (AtLeast, LargestOf))
        for choice, _ in leaf.choices
    ):
        return None
    if lists is not None:
        is_alone = type(output) is tuple and lists.is_told_once(output)
    else:
        is_alone = sum(other.output == output for other in leaves) == 1
    return (output,) if is_alone else None

"""Whether an order that the next run may not have can be told from what a program answers.

The order of a set of strings or objects is another one in the next process. Byte code says what
follows a set: a membership test, ``sorted`` and the like do not depend on the order; a loop does.
Steps are read as Python 3.11 writes them: later versions join two loads into one step, and put the
loops of comprehensions into the function itself (PEP 709).

Polars gives rows in no certain order where a program asks for none. Its law on plain frames is
followed only if its analysis on symbolic ones has shown that no order matters: there everything
that looks at one is refused, and the answers are sums of whole numbers.
"""

from __future__ import annotations

import datetime
import dis
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from types import CodeType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from liptest.data.domains import Domain
from liptest.enumerate.intercept.replaceable_names import has_step
from liptest.enumerate.watch.polars_calls import UnorderedRowsError

# Members of a set that are looked at.
_MEMBERS = 100
_NUMBERS = (int, float, complex, Fraction, Decimal, np.number, np.bool_)
_STRINGS = (str, bytes, datetime.date, datetime.time, datetime.timedelta)
_SILENT = frozenset({"CACHE", "RESUME", "PRECALL", "EXTENDED_ARG", "NOP", "COPY_FREE_VARS"})
_SILENT |= {"TO_BOOL", "NOT_TAKEN"}
# Of Python 3.14, which also writes x[k] as one of the operations.
_OLD_NAMES = {"LOAD_SMALL_INT": "LOAD_CONST"}
# What can be done with a set so that its order does not matter.
_HARMLESS = frozenset({"CONTAINS_OP", "COMPARE_OP", "IS_OP", "POP_TOP", "UNARY_NOT"})
_ASKING = frozenset({"len", "sorted", "bool", "min", "max", "any", "all"})
_METHODS = frozenset(
    {"add", "discard", "remove", "update", "clear", "issubset", "issuperset", "isdisjoint"}
    | {"__contains__", "__len__"}
)
_MAKERS = frozenset({"set", "frozenset"})
# What gives a number, or raises.
_TO_NUMBERS = frozenset({"int", "float", "len", "bool", "round", "abs"})
_NAMES = frozenset({"LOAD_FAST", "LOAD_NAME", "LOAD_GLOBAL", "LOAD_DEREF"})
# Views of dicts make sets, too: ``d.keys() | other``.
_VIEWS = frozenset({"keys", "items"})
_VIEW_TYPES: tuple[type, ...] = (type(dict[str, int]().keys()), type(dict[str, int]().items()))
_OF_SETS = frozenset(
    step.arg
    for text in ("a & b", "a | b", "a ^ b", "a - b", "a &= b", "a |= b", "a ^= b", "a -= b")
    for step in dis.get_instructions(compile(text, "", "exec"))
    if step.opname == "BINARY_OP"
)
_PLUS_AND_MINUS = frozenset(
    step.arg
    for text in ("a + b", "a - b", "a += b", "a -= b")
    for step in dis.get_instructions(compile(text, "", "exec"))
    if step.opname == "BINARY_OP"
)


def hashes_differ() -> bool:
    """Whether the hashes of strings differ in the next process."""
    return bool(sys.flags.hash_randomization) and not os.environ.get("PYTHONHASHSEED", "").isdigit()


def has_no_order(value: Any) -> bool:
    """Whether it is a set whose order may be another one in the next process."""
    return type(value) in (set, frozenset) and len(value) > 1 and not _are_stable(value)


def _are_stable(values: Any) -> bool:
    return not any(_is_unstable(member) for member, _ in zip(values, range(_MEMBERS), strict=False))


def _is_unstable(value: Any) -> bool:
    if isinstance(value, _NUMBERS):
        return False
    if type(value) in (tuple, frozenset):
        return any(map(_is_unstable, value))
    return not isinstance(value, _STRINGS) or hashes_differ()


class CodeStep(NamedTuple):
    """One step of byte code; ``effect`` is how much higher it leaves the stack."""

    name: str
    value: Any
    number: int
    offset: int
    line: int | None
    effect: int
    is_called: bool = False


class Use(NamedTuple):
    """A set at one step of code, and whether what is done with it is harmless."""

    step: CodeStep
    is_harmless: bool


@lru_cache(maxsize=1 << 12)
def find_steps(code: CodeType) -> tuple[CodeStep, ...]:
    """The steps of code, without those that do nothing; one for each name that is loaded."""
    cells = {*code.co_cellvars, *code.co_freevars}
    steps: list[CodeStep] = []
    effect = 0  # of silent steps before
    for instruction in dis.get_instructions(code):
        effect += dis.stack_effect(instruction.opcode, instruction.arg, jump=False)
        if instruction.opname in _SILENT:
            continue
        line = instruction.positions.lineno if instruction.positions is not None else None
        parts = _find_parts(
            _OLD_NAMES.get(instruction.opname, instruction.opname).replace("_BORROW", ""),
            instruction.argval,
        )
        if instruction.opname == "BINARY_OP" and instruction.argrepr == "[]":
            parts = [("BINARY_SUBSCR", instruction.argval)]
        for place, (name, value) in enumerate(parts):
            kind = "LOAD_CLOSURE" if name == "LOAD_FAST" and value in cells else name
            own = effect if len(parts) == 1 else 1 if name.startswith("LOAD") else -1
            is_called = name == "LOAD_GLOBAL" and bool((instruction.arg or 0) & 1)
            steps.append(
                CodeStep(
                    kind,
                    value,
                    instruction.arg or 0,
                    instruction.offset + place,
                    line,
                    own,
                    is_called,
                )
            )
        effect = 0
    return tuple(steps)


def _find_parts(name: str, value: Any) -> list[tuple[str, Any]]:
    """``LOAD_FAST_LOAD_FAST`` of two names is two loads."""
    if isinstance(value, tuple) and name.count("_FAST") == 2:
        middle = name.index("_FAST") + len("_FAST")
        return [(name[:middle], value[0]), (name[middle + 1 :], value[1])]
    return [(name, value)]


def adds_little(constant: CodeStep, operation: CodeStep) -> bool:
    """Whether a small constant is added or taken away; other steps raise for some numbers only."""
    value = constant.value
    is_small = type(value) in (int, float) and abs(value) < 1 << 63
    is_text = type(value) is str
    return operation.number in _PLUS_AND_MINUS and (is_small or is_text)


@lru_cache(maxsize=1 << 12)
def walks_constant_sets(code: CodeType) -> bool:
    """Whether code does more with its constant sets than ask what is in them."""
    if not any(isinstance(constant, frozenset) for constant in code.co_consts):
        return False
    return not all(use.is_harmless for use in uses_of_constants(code))


def makes_sets(code: CodeType) -> bool:
    """Whether code makes a set."""
    if has_step(code, "BUILD_SET", "SET_ADD") or not _MAKERS.isdisjoint(code.co_names):
        return True
    return has_step(code, "BINARY_OP") and not _VIEWS.isdisjoint(code.co_names)


def uses_of_constants(code: CodeType) -> Iterator[Use]:
    """Loads of constant sets; the value of the step is the set."""
    steps = find_steps(code)
    for place, step in enumerate(steps):
        if step.name == "LOAD_CONST" and isinstance(step.value, frozenset):
            # {"a", "b", "c"} builds an empty set, and adds the constant.
            built = steps[place + 1].name == "SET_UPDATE"
            yield Use(step, _is_fine(steps, place - built, place + built))


def uses_of_name(code: CodeType, name: str) -> Iterator[Use]:
    """Loads of a name."""
    steps = find_steps(code)
    for place, step in enumerate(steps):
        is_load = step.name.startswith("LOAD_") and step.name != "LOAD_CLOSURE"
        if step.value == name and is_load and step.name != "LOAD_FAST_AND_CLEAR":
            start = place
            while start and steps[start].name in ("LOAD_ATTR", "LOAD_METHOD"):
                start -= 1
            yield Use(step, _is_fine(steps, start, place))


def is_harmless_after(code: CodeType, offset: int) -> bool:
    """Whether what code does with a set that it gets from the call at ``offset`` is harmless."""
    steps = find_steps(code)
    place = sum(step.offset <= offset for step in steps) - 1
    return _is_fine(steps, place, place) and _is_kept_well(code, place + 1)


def walks_of_made_sets(code: CodeType, held: Mapping[str, Any]) -> Iterator[CodeStep]:
    """Steps that make sets, walked on the spot, of members that nobody sees to be numbers.

    ``held`` are the variables of the function at its end.
    """
    steps = find_steps(code)
    sets = dict(_find_made_sets(code))
    joined = dict(_find_joined_sets(steps, {end: start for start, end in sets.items()}, held))
    parts = [place for place in sets if any(a <= place < b for a, b in joined.items())]
    whole = {start: end for start, end in sets.items() if start not in parts}
    for start, end in (whole | joined).items():
        following = [step.name for step in steps[end + 1 : end + 3]]
        if following == ["GET_ITER", "CALL"]:  # a function inside walks it, and is seen to
            continue
        if following and following[0].startswith("STORE_"):
            is_set = type(held.get(steps[end + 1].value)) in (set, frozenset)  # seen at the end
            is_harmless = is_set or _is_kept_well(code, end + 1)
        else:
            is_harmless = _is_fine(steps, start, end)
        if not is_harmless and not _holds_only_numbers(steps, start, end, held):
            yield steps[end]


def _is_kept_well(code: CodeType, place: int) -> bool:
    """Whether the name that a step stores is not walked before it stands for something else."""
    steps = find_steps(code)
    stored = steps[place]
    if not stored.name.startswith("STORE_"):
        return True
    others = [
        step.offset
        for step in steps[place + 1 :]
        if step.value == stored.value and step.name.startswith(("STORE_", "DELETE_"))
    ]
    end = min(others, default=steps[-1].offset)
    uses = uses_of_name(code, stored.value)
    return all(use.is_harmless for use in uses if stored.offset < use.step.offset < end)


@lru_cache(maxsize=1 << 12)
def _find_made_sets(code: CodeType) -> tuple[tuple[int, int], ...]:
    """(first, last) step of each set that is made from parts, called for, or comprehended."""
    steps = find_steps(code)
    spans = []
    for place, step in enumerate(steps):
        end = place
        if step.name == "BUILD_SET" and _is_comprehended(steps, place):
            end, start = _end_of_comprehension(steps, place), _find_start(steps, place - 1)
            while start is not None and steps[start].name == "LOAD_FAST_AND_CLEAR":
                start = _find_start(steps, start - 1)
        elif step.name == "BUILD_SET" and step.number > 1:
            start = _find_start(steps, place)
        elif step.name == "CALL" and step.number == 1:
            start = _find_start(steps, place)
            if start is None or steps[start].value not in _MAKERS:
                continue
        else:
            continue
        if start is not None:
            spans.append((start, end))
    return tuple(spans)


def _is_comprehended(steps: tuple[CodeStep, ...], place: int) -> bool:
    before = [step.name for step in steps[:place] if step.name != "SWAP"]
    return before[-1:] == ["LOAD_FAST_AND_CLEAR"]


def _end_of_comprehension(steps: tuple[CodeStep, ...], place: int) -> int:
    """The step that gives the last variable back."""
    first = place
    while steps[first - 1].name in ("SWAP", "LOAD_FAST_AND_CLEAR"):
        first -= 1
    variables = sum(step.name == "LOAD_FAST_AND_CLEAR" for step in steps[first:place])
    depth, end = 0, place
    while True:
        end += 1
        depth += (steps[end].name == "FOR_ITER") - (steps[end].name == "END_FOR")
        if steps[end].name == "END_FOR" and not depth:
            break
    while steps[end + 1].name in ("POP_TOP", "POP_ITER"):
        end += 1
    # A result that is stored at once is stored before the variables are given back.
    return end + 1 + variables if steps[end + 1].name == "SWAP" else end


def _find_start(steps: tuple[CodeStep, ...], end: int) -> int | None:
    """The first step of those that leave one value, made by the step ``end``."""
    height = 0
    for place in range(end, -1, -1):
        if steps[place].name.startswith(("JUMP", "POP_JUMP", "FOR_ITER", "END_FOR", "RETURN")):
            return None
        height += steps[place].effect
        if height == 1:
            return place
    return None


def _find_joined_sets(
    steps: tuple[CodeStep, ...], made: dict[int, int], held: Mapping[str, Any]
) -> Iterator[tuple[int, int]]:
    """(first, last) step of each largest join of sets made on the spot, or of views of dicts.

    ``made`` are those sets, their first steps by their last.
    """
    spans = dict(made)
    largest: dict[int, int] = {}
    for place, step in enumerate(steps):
        if step.name != "BINARY_OP" or step.number not in _OF_SETS:
            continue
        middle = _find_start(steps, place - 1)
        start = None if middle is None else _find_start(steps, middle - 1)
        if start is None or middle is None:
            continue
        if any(end in spans or _is_view(steps, end, held) for end in (middle - 1, place - 1)):
            spans[place] = start
            largest = {a: b for a, b in largest.items() if not start <= a <= b < place}
            largest[start] = place
    yield from largest.items()


def _is_view(steps: tuple[CodeStep, ...], end: int, held: Mapping[str, Any]) -> bool:
    """Whether a step leaves the keys or items of a dict."""
    step = steps[end]
    if step.name in _NAMES:
        return isinstance(held.get(step.value), _VIEW_TYPES)
    return step.name == "CALL" and step.number == 0 and steps[end - 1].value in _VIEWS


def _holds_only_numbers(
    steps: tuple[CodeStep, ...], start: int, end: int, held: Mapping[str, Any]
) -> bool:
    """Whether what goes into a set is seen to be numbers."""
    if steps[end].name == "BINARY_OP":
        middle = _find_start(steps, end - 1)
        halves = [] if middle is None else [(start, middle - 1), (middle, end - 1)]
        return bool(halves) and all(_is_of_numbers(steps, *half, held) for half in halves)
    if steps[start].value in _MAKERS:  # set(values), set(values.tolist())
        names = [step for step in steps[start + 1 : end] if step.name in _NAMES]
        others = [step for step in steps[start + 1 : end] if step.name not in _NAMES]
        is_plain = all(step.value == "tolist" or step.name == "CALL" for step in others)
        return len(names) == 1 and is_plain and _holds_numbers(held.get(names[0].value))
    added = [place for place in range(start, end) if steps[place].name == "SET_ADD"]
    if added:
        return all(_is_number(steps, position - 1, held) is not None for position in added)
    place: int | None = end - 1
    while place is not None and place >= start:
        first = _is_number(steps, place, held)
        place = None if first is None else first - 1
    return place is not None


def _is_of_numbers(
    steps: tuple[CodeStep, ...], start: int, end: int, held: Mapping[str, Any]
) -> bool:
    """Whether one side of a join is seen to hold numbers only."""
    value = held.get(steps[start].value)
    if start == end and steps[end].name in _NAMES:
        return _are_stable(value) if isinstance(value, _VIEW_TYPES) else _holds_numbers(value)
    if _is_view(steps, end, held):
        if steps[start].name not in _NAMES or end != start + 2 or not isinstance(value, dict):
            return False
        return _are_stable(value.items() if steps[end - 1].value == "items" else value)
    return _holds_only_numbers(steps, start, end, held)


def _is_number(steps: tuple[CodeStep, ...], end: int, held: Mapping[str, Any]) -> int | None:
    """Where the steps begin that leave a number at ``end``; None if that is not seen.

    A string, too, where all processes hash it alike.
    """
    if steps[end].name == "BINARY_OP":
        right = _is_number(steps, end - 1, held)
        return None if right is None else _is_number(steps, right - 1, held)
    start = _find_start(steps, end)
    if start is None:
        return None
    first = steps[start]
    is_number = first.name == "LOAD_CONST" and isinstance(first.value, _NUMBERS)
    is_number |= first.is_called and first.value in _TO_NUMBERS
    is_number |= first.name in _NAMES and isinstance(held.get(first.value), _NUMBERS)
    if not hashes_differ():
        is_number |= isinstance(first.value, str) and first.name == "LOAD_CONST"
        is_number |= first.is_called and first.value == "str"
    return start if is_number else None


def _holds_numbers(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufc"
    if type(value) in (list, tuple, set, frozenset, range):
        return _are_stable(value)
    return hasattr(value, "__array_function__")  # stand-ins of data and of noise


def _is_fine(steps: tuple[CodeStep, ...], start: int, end: int) -> bool:
    """Whether what comes after a value, loaded from ``start`` to ``end``, is harmless."""
    if end + 1 >= len(steps):
        return False
    following = steps[end + 1]
    name = following.name
    if name in _HARMLESS or name.startswith(("STORE_", "POP_JUMP", "JUMP_IF", "RETURN")):
        return True
    if name in ("LOAD_ATTR", "LOAD_METHOD"):
        return following.value in _METHODS
    if name.startswith("CALL") and following.number == 1 and start:
        called = steps[start - 1]
        return called.name == "LOAD_GLOBAL" and called.value in _ASKING
    if name.startswith("LOAD_") and end + 2 < len(steps):  # the other side of an operation
        return steps[end + 2].name in _HARMLESS or _makes_another(steps, end + 2)
    return _makes_another(steps, end + 1)


def _makes_another(steps: tuple[CodeStep, ...], place: int) -> bool:
    """Whether two sets are joined, and the outcome is stored or compared."""
    is_join = steps[place].name == "BINARY_OP" and steps[place].number in _OF_SETS
    if not is_join or place + 1 >= len(steps):
        return False
    return steps[place + 1].name.startswith(("STORE_", "COMPARE", "CONTAINS", "RETURN"))


T = TypeVar("T")
_ROUNDED = "in another order it may be rounded otherwise, or it reads how many rows there are"


@dataclass
class RowOrders:
    """What is known of one program on one table; None where there is no table."""

    domain: Domain | None = None
    #: Whether no order of rows changes what it answers.
    is_free: bool = False
    _reason: str | None = None

    def in_any(self, calculate: Callable[[], T], follow: Callable[[Domain], Any]) -> T:
        """``calculate()``, once more where an order that it leaves open turns out not to matter.

        ``follow`` gives the symbolic paths, or why there are none, which the error then says first.
        """
        try:
            return calculate()
        except UnorderedRowsError as error:
            if self.domain is None:
                raise
            if self._reason is None:
                followed = follow(self.domain)
                self._reason = _ROUNDED if followed.paths else followed.reason
                self.is_free = bool(followed.paths) and not followed.reads_length
            if not self.is_free:
                raise UnorderedRowsError(f"{self._reason}; and {error}") from None
        return calculate()

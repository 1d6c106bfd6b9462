"""What a function leaves behind from call to call: refused, though it may never be met again.

The same call, twice in a row and with the same random numbers, must leave all that the function
holds as it was after the first time. A table that is filled when it is first needed passes, as each
run of an analysis is a first call (``first_calls``); a counter, a list that grows, or an iterator
that goes on does not. An answer may depend on it in a later call than any that was analysed. What
the code only writes and never reads is let pass: names here, attributes by ``unread_attributes``.
"""

from __future__ import annotations

import dis
from functools import lru_cache
from itertools import zip_longest
from types import CodeType
from typing import Any

from liptest.enumerate.intercept.replaceable_names import find_attribute, is_plain_state
from liptest.enumerate.watch.set_orders import CodeStep, adds_little, find_steps
from liptest.errors import NonDeterministicError
from liptest.runs.fingerprints import describe_state
from liptest.runs.surroundings import describe_surroundings
from liptest.values.faults import codes_in
from liptest.values.lines import line_in_words

_ADVICE = (
    "what a later call answers may depend on it. A mechanism must keep no state between calls: "
    "begin anew in each call, or hand it in as data"
)
# Laws of which each is looked at; after these only some.
_FIRST = 16
# Methods of lists, sets and dicts that change them, and answer None.
CHANGING = frozenset({"append", "appendleft", "add", "extend", "update", "clear"})
_NAMED = ("global ", "attribute ")


def is_looked_at(laws: int) -> bool:
    """Whether state is looked for in the law of this number, from 1 on."""
    return laws <= _FIRST or laws & (laws - 1) == 0


def check_same_state(name: str, function: Any, before: list[str], after: list[str]) -> None:
    """NonDeterministicError, with the line, where a call has changed what a function holds."""
    if before == after:
        return
    raise _changes(name, function, _name(before, after), "each call changes")


def leaves_state(
    name: str, function: Any, before: list[str], after: list[str]
) -> NonDeterministicError:
    """The error where the first calls have changed what a function holds, and it stays changed."""
    return _changes(name, function, _name(before, after), "its first call changes")


def leaves_state_in(name: str, module: str) -> NonDeterministicError:
    """The error where a module that a first call has imported may keep something."""
    return NonDeterministicError(
        f"{name}: non-deterministic: its first call imports {module}, whose code changes names or "
        f"contents of its own. Import {module} at the top of the file, so that what it holds "
        f"before the first call is known"
    )


def _changes(name: str, function: Any, where: str, what: str) -> NonDeterministicError:
    code = find_attribute(function, "__code__")
    line = _find_line(code, where) if isinstance(code, CodeType) else ""
    words = f"{where}{f' ({line})' if line else ''}"
    return NonDeterministicError(f"{name}: non-deterministic: {what} {words}; {_ADVICE}")


def describe_all_state(function: Any, unread: frozenset[str] = frozenset()) -> list[str]:
    """Lines that determine what a function holds, and what it may change of its process.

    Attributes with these names are left out.
    """
    surroundings = describe_surroundings().items()
    held = describe_held(function, unread)
    return [*held, *(f"global {key}\n{value}" for key, value in surroundings)]


def without_attributes(lines: list[str], unread: frozenset[str]) -> list[str]:
    """Lines but for those of attributes with these names, as far as no other name follows."""
    kept, is_left_out = [], False
    for line in lines:
        if line.startswith(_NAMED):
            is_left_out = line.removeprefix("attribute ") in unread
        if not is_left_out:
            kept.append(line)
    return kept


def describe_held(
    function: Any, unread: frozenset[str] = frozenset(), left_out: frozenset[str] | None = None
) -> list[str]:
    """Lines that determine what a function holds, as ``describe_state``."""
    program = find_attribute(function, "function") or function
    try:
        return describe_state(program, is_read, unread, left_out)
    except RecursionError:
        return []


def is_read(code: CodeType, name: str, value: Any) -> bool:
    """Whether code, with functions inside it, may see the value that a global or free name has."""
    return not is_plain_state(value) or _is_seen(code, name)


@lru_cache(maxsize=1 << 12)
def _is_seen(code: CodeType, name: str) -> bool:
    for inner in codes_in(code):
        steps = find_steps(inner)
        for place, step in enumerate(steps):
            is_load = step.name in ("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME", "LOAD_ATTR")
            if is_load and step.value == name and not _is_write(steps[place:]):
                return True
    return False


def _is_write(steps: tuple[CodeStep, ...]) -> bool:
    """Whether a name is loaded to be changed only: ``x.append(..)``, ``x[0] += 1``, ``x += 1``."""
    names = tuple(step.name for step in steps[1:10])
    if names[0] in ("LOAD_METHOD", "LOAD_ATTR"):
        return steps[1].value in CHANGING
    if names[:1] == ("LOAD_CONST",) and names[1:2] == ("STORE_SUBSCR",):
        return True
    if names[:4] == ("LOAD_CONST", "COPY", "COPY", "BINARY_SUBSCR"):
        is_stored = names[4:] == ("LOAD_CONST", "BINARY_OP", "SWAP", "SWAP", "STORE_SUBSCR")
        return is_stored and adds_little(steps[5], steps[6])
    is_added_to = names[:2] == ("LOAD_CONST", "BINARY_OP") and names[2].startswith("STORE_")
    is_same = is_added_to and steps[3].value == steps[0].value
    return is_same and adds_little(steps[1], steps[2])


def _name(before: list[str], after: list[str]) -> str:
    """The name under which what differs is held."""
    name = "what it holds"
    for one, other in zip_longest(before, after, fillvalue=""):
        if one.startswith(_NAMED):
            name = one.partition(" ")[2].partition("\n")[0]
        if one != other:
            break
    return name


def _find_line(code: CodeType, name: str) -> str:
    """The first line that names it."""
    for inner in codes_in(code):
        if name in inner.co_names:
            for step in dis.get_instructions(inner):
                place = step.positions
                if step.argval == name and place is not None and place.lineno is not None:
                    return line_in_words(inner.co_filename, place.lineno)
    return ""

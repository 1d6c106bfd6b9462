"""Texts in which numbers stand that a run has not chosen yet: what such a text tells.

A text is cut into words: runs of the letters that numbers are written with and that can be read as
a number, and what stands between them, without spaces at its ends. So much is a function of the
text, whatever it was written by, so a claim that words break the text breaks (docs/theory/whole.md,
W6). Here a text is made of plain parts and of numbers, and its words are found without choosing
these: each has to stand by itself.
"""

from __future__ import annotations

import json
import re
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from string import Formatter
from typing import Any, NoReturn

import numpy as np

from liptest.values.protocol import SymbolicValue, is_symbolic

_LETTERS = "0-9+.eEinfa-"
_RUNS = re.compile(f"[{_LETTERS}]+|[^{_LETTERS}]+")
_LETTER = re.compile(f"[{_LETTERS}]")
# Widths only add spaces, or zeros in front.
_FORMAT = re.compile(r"[<>^]?[+ -]?0?\d*(?:\.(\d+))?([f%d]?)")
_PERCENT = re.compile(r"%(?:\((\w+)\))?([+ -]?0?\d*(?:\.\d+)?)([sdif%])")
_KINDS = (float, int, np.float64, np.int64)
_PLAIN_KINDS = (float, int)
_PLACES = 6  # of ``{:f}``
_TOUCHED = "a text, beside letters that could belong to it"
_MARK = "@liptest:{}@"
_MARKED = re.compile('"@liptest:([0-9]+)@"')
_CONVERSIONS: dict[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}
_DEFAULTS = (float, int)
_DICTS = (dict, OrderedDict, defaultdict, Counter)
# Kept: while a program is analysed the name may stand for something else.
_DUMPS = json.dumps
_PARSE = Formatter().parse

# A plain text, or a symbolic number.
Part = Any


class Text:
    """A text made of plain parts and numbers. All that looks at it ends the analysis."""

    __slots__ = ("parts",)

    def __init__(self, parts: Iterable[Part]) -> None:
        self.parts = tuple(parts)

    def __add__(self, other: Any) -> Any:
        more = _parts_of(other)
        return self._refuse("+") if more is None else Text((*self.parts, *more))

    def __radd__(self, other: Any) -> Any:
        more = _parts_of(other)
        return self._refuse("+") if more is None else Text((*more, *self.parts))

    def __getattr__(self, name: str) -> NoReturn:
        self._refuse(f".{name}")

    def _refuse(self, use: str) -> NoReturn:
        number = next(part for part in self.parts if is_symbolic(part))
        raise AssertionError(number.refuse(f"a text that is looked at ({use})"))

    def words(self) -> tuple[Any, ...]:
        """What it tells; numbers that touch letters that could be theirs are refused."""
        words: list[Any] = []
        between = ""
        number: Any = None
        for part in (*self.parts, None):
            if part is not None and not is_symbolic(part):
                between += part
                continue
            if number is not None and (
                _LETTER.match(between) or (part is not None and not between)
            ):
                number.refuse(_TOUCHED)
            if part is not None and _LETTER.match(between[-1:]):
                part.refuse(_TOUCHED)
            words += _words_of(between)
            words += [] if part is None else [part]
            between, number = "", part
        return tuple(words)


def _refusing(name: str) -> Callable[..., Any]:
    return lambda self, *_: self._refuse(name)


for _name in (
    *("str", "repr", "format", "len", "iter", "contains", "getitem", "bool", "hash", "eq", "ne"),
    *("lt", "le", "gt", "ge", "mul", "rmul", "mod", "bytes", "int", "float", "index", "fspath"),
):
    setattr(Text, f"__{_name}__", _refusing(_name))


def _parts_of(value: Any) -> tuple[Part, ...] | None:
    if type(value) is Text:
        return value.parts
    return (value,) if type(value) is str else None


def join_parts(parts: Iterable[Part]) -> str | Text:
    """A text of parts; a plain one where no number in it is left open."""
    listed = list(parts)
    return Text(listed) if any(map(is_symbolic, listed)) else "".join(map(str, listed))


def tell_words(output: Any) -> Any:
    """An output with words in the place of each text; lists, tuples and dicts are gone through."""
    kind = type(output)
    if kind is Text:
        return output.words()
    if kind is str:
        return tuple(_words_of(output))
    if kind in (list, tuple):
        return kind(map(tell_words, output))
    if kind is dict:
        return {key: tell_words(value) for key, value in output.items()}
    return output


def _words_of(text: str) -> list[Any]:
    words: list[Any] = []
    other = ""
    for run in (*_RUNS.findall(text), None):
        number = None if run is None else _as_number(run)
        if run is not None and number is None:
            other += run
            continue
        words += [other.strip(" ")] if other.strip(" ") else []
        words += [] if number is None else [number]
        other = ""
    return words


def _as_number(word: str) -> int | float | None:
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            pass
    return None


def format_parts(*parts: Any) -> str | Text:
    """An f-string: plain texts, and (value, conversion, format) of what is put in."""
    made: list[Part] = []
    for part in parts:
        made += (part,) if type(part) is str else _put_in(*part)
    return join_parts(made)


def _put_in(value: Any, conversion: str, spec: str) -> tuple[Part, ...]:
    if conversion == "s" or not conversion:
        parts = _written(value) if not spec else _formatted(value, spec)
        if parts is not None:
            return parts
    shown = _CONVERSIONS[conversion](value) if conversion else value
    return (format(shown, spec),)


def _is_number(value: Any, kinds: tuple[type, ...] = _KINDS) -> bool:
    return is_symbolic(value) and isinstance(value, SymbolicValue) and value.kind in kinds


def _written(value: Any) -> tuple[Part, ...] | None:
    """What ``str`` writes; None where it is plain, or not known."""
    if type(value) is Text:
        return tuple(value.parts)
    if _is_number(value):
        return (value,)
    kind = type(value)
    if kind not in (list, tuple, dict) or not value:
        return None
    ends = "[]" if kind is list else "()" if kind is tuple else "{}"
    parts: list[Part] = [ends[0]]
    for place, item in enumerate(value):
        inner = _represented(item)
        if kind is dict:
            inner = (f"{item!r}: ", *_represented(value[item]))
        parts += (", " if place else "", *inner)
    parts += ("," if kind is tuple and len(value) == 1 else "", ends[1])
    return tuple(parts)


def _represented(item: Any) -> tuple[Part, ...]:
    """What ``repr`` writes of an item."""
    if _is_number(item, _PLAIN_KINDS):
        return (item,)
    parts = None if is_symbolic(item) or type(item) is Text else _written(item)
    return (repr(item),) if parts is None else parts


def _formatted(value: Any, spec: str) -> tuple[Part, ...] | None:
    matched = _FORMAT.fullmatch(spec)
    if matched is None or not _is_number(value):
        return None
    digits, kind = matched.groups()
    whole = issubclass(value.kind, (int, np.integer))
    if kind == "d" or (not kind and digits is None):
        return (value,) if whole or not kind else None
    if not kind:
        return None  # significant digits
    places = _PLACES if digits is None else int(digits)
    if kind == "%":
        return round(value * 100, places), "%"
    return (value if whole else round(value, places),)


def format_percent(text: Any, values: Any) -> Any:
    """``text % values``."""
    if type(text) is not str:
        return text % values
    given = values if type(values) is tuple else (values,)
    parts: list[Any] = []
    end = place = 0
    for matched in _PERCENT.finditer(text):
        parts.append(text[end : matched.start()])
        end = matched.end()
        name, spec, kind = matched.groups()
        if kind == "%":
            parts.append("%")
            continue
        if name is None and place >= len(given):
            return text % values
        value = values[name] if name is not None else given[place]
        place += name is None
        if not _is_number(value) and type(value) is not Text:
            parts.append(f"%{spec}{kind}" % (value,))
        else:
            parts.append((value, "", "" if kind == "s" and not spec else spec + kind))
    rest = text[end:]
    if "%" in rest or any("%" in part for part in parts if type(part) is str and part != "%"):
        return text % values
    return format_parts(*parts, rest)


def format_text(text: Any, *values: Any, **named: Any) -> Any:
    """``text.format(*values, **named)``."""
    if type(text) is not str:
        return text.format(*values, **named)
    parts: list[Any] = []
    count = 0
    for plain, name, spec, conversion in _PARSE(text):
        parts.append(plain)
        if name is None:
            continue
        if name == "":
            name, count = str(count), count + 1
        known: Mapping[str, Any] = named | {str(place): one for place, one in enumerate(values)}
        if name not in known or "{" in (spec or ""):
            return text.format(*values, **named)
        parts.append((known[name], conversion or "", spec or ""))
    return format_parts(*parts)


def write(value: Any = "", *more: Any, **options: Any) -> Any:
    """``str(value)``."""
    if more or options:
        return str(value, *more, **options)
    return format_parts((value, "s", ""))


def join_texts(between: Any, items: Any) -> Any:
    """``between.join(items)``."""
    if type(between) is not str:
        return between.join(items)
    listed = list(items)
    if not any(type(item) is Text for item in listed):
        return between.join(listed)
    parts: list[Part] = []
    for place, item in enumerate(listed):
        inner = _parts_of(item)
        if inner is None:
            return between.join(listed)
        parts += (between if place else "", *inner)
    return join_parts(parts)


def dump_json(value: Any, **options: Any) -> Any:
    """``json.dumps(value, **options)``."""
    numbers: list[Any] = []
    kinds = _KINDS[:3] if options.get("default") not in _DEFAULTS else _KINDS

    def hold(item: Any) -> Any:
        if _is_number(item, kinds):
            numbers.append(item)
            return _MARK.format(len(numbers) - 1)
        if type(item) in _DICTS:
            return {key: hold(entry) for key, entry in item.items()}
        if type(item) in (list, tuple):
            return [hold(entry) for entry in item]
        if is_symbolic(item) or type(item) is Text:
            item.refuse("json.dumps") if is_symbolic(item) else item._refuse("json.dumps")
        return item

    held = hold(value)
    text = _DUMPS(held, **options)
    pieces = _MARKED.split(text)
    if len(pieces) != 2 * len(numbers) + 1:
        return _DUMPS(value, **options)
    return join_parts(
        numbers[int(piece)] if place % 2 else piece for place, piece in enumerate(pieces)
    )

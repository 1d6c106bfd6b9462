"""Queries that are sums over the rows of one table, as arrays of its columns calculate them.

``SELECT key, COUNT(*), SUM(..) FROM table WHERE .. GROUP BY key ORDER BY key``: aggregates of what
single rows have, conditions that compare columns, constants and parameters. All else is
``NotSumsError``. Columns may be plain arrays or symbolic ones: the same code says what a query
answers on plain rows, which is compared with what the engine answers (``symbolic_databases``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from liptest.values.records.column import find_column

Entries = Any
_COMPARED: dict[str, Any] = {
    **{"=": np.equal, "==": np.equal, "!=": np.not_equal, "<>": np.not_equal},
    **{"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal},
}
_SUMS = frozenset({"sum", "total", "count", "avg"})
_OF_TWO = {"min": np.minimum, "max": np.maximum, "least": np.minimum, "greatest": np.maximum}
# Numbers in queries, and products of whole numbers.
_LARGEST, _LARGEST_PRODUCT = 2**31, 2**60


class PlacedParameter(str):
    """A parameter without a name, with its place among all of them."""

    place: int


class NotSumsError(Exception):
    """A query is not one of those in the module; what is in it, in words."""


@dataclass(frozen=True)
class Aggregate:
    """A sum over the rows: ``value(entries)`` of each row, where ``among(entries)`` holds.

    ``kind`` is "count", "sum", "total" or "avg"; ``fills`` says that nothing is 0.
    "distinct" is how many values of a ``column`` there are.
    """

    kind: str
    value: Callable[[Entries], Any] | None
    among: Callable[[Entries], Any] | None = None
    fills: bool = False
    column: str = ""


@dataclass(frozen=True)
class SumQuery:
    """What a query asks for, by column of its answer: the key of the group, or a sum."""

    names: tuple[str, ...]
    items: tuple[Aggregate | None, ...]
    among: Callable[[Entries], Any] | None
    key: str = ""
    is_ordered: bool = False
    is_falling: bool = False
    #: A sum of each group that is compared, its comparison and the number.
    having: tuple[Aggregate, Any, float] | None = None
    #: What makes the rows, where these are numbers of each user (``sql_users``).
    users: Any = None


@dataclass
class QueryReader:
    """Reads one query; ``words`` are its tokens, with parameters by their places."""

    words: list[tuple[str, str]]
    table: str
    columns: Mapping[str, bool]
    parameters: Any
    place: int = 0
    #: How many parameters were read, and what numbers there are.
    taken: int = 0
    numbers: list[float] = field(default_factory=list)

    #: Words that begin a number of a row, and are not a column.
    functions: ClassVar[frozenset[str]] = frozenset({"case", "abs", "not", *_OF_TWO})

    # ---- words

    @property
    def word(self) -> str:
        kind, word = self.words[self.place] if self.place < len(self.words) else ("", "")
        return "" if kind in ("text", "quoted") else word

    def next(self) -> tuple[str, str]:
        if self.place >= len(self.words):
            raise NotSumsError("it ends too early")
        self.place += 1
        return self.words[self.place - 1]

    def takes(self, *wanted: str) -> bool:
        """Whether these words come next, which are then taken."""
        following = [
            "" if kind in ("text", "quoted") else word
            for kind, word in self.words[self.place : self.place + len(wanted)]
        ]
        if following != list(wanted):
            return False
        self.place += len(wanted)
        return True

    def needs(self, *wanted: str) -> None:
        if not self.takes(*wanted):
            raise NotSumsError(f"{self.word!r} where {' '.join(wanted)!r} is followed")

    def column(self) -> str:
        """The name of a column."""
        kind, word = self.next()
        own = [name for name in self.columns if name.lower() == word.lower()]
        if kind not in ("word", "quoted") or len(own) != 1:
            raise NotSumsError(f"{word!r}, which is not a column")
        return own[0]

    # ---- clauses

    def query(self) -> SumQuery:
        self.needs("select")
        items, names = [], []
        while True:
            first = self.place
            items.append(self.item())
            words = "".join(word for _, word in self.words[first : self.place])
            if self.takes("as") or self.word not in (",", "from"):
                words = self.next()[1]
            names.append(words)
            if not self.takes(","):
                break
        among = self.rows_of_table()
        key, ordered, falling = "", False, False
        having: tuple[Aggregate, Any, float] | None = None
        if self.takes("group", "by"):
            key = self.column()
            having = self.comparison_of_groups(names, items) if self.takes("having") else None
        if self.takes("order", "by"):
            ordered = True
            number = str(1 + items.index(key)) if key in items else ""
            if self.word == number and number:
                self.next()
            elif self.column() != key or not key:
                raise NotSumsError("an order by something else than the key of its groups")
            falling = self.takes("desc")
            if not falling:
                self.takes("asc")
        self.takes(";")
        if self.place < len(self.words):
            raise NotSumsError(f"{self.words[self.place][1]!r}")
        if any(isinstance(selected, str) and selected != key for selected in items):
            raise NotSumsError("a column that is not added up")
        sums = tuple(None if isinstance(selected, str) else selected for selected in items)
        return SumQuery(tuple(names), sums, among, key, ordered, falling, having)

    def rows_of_table(self) -> Any:
        """FROM the table, or what stands for it, and the condition of WHERE, if there is one."""
        self.needs("from")
        if self.next()[1].lower() != self.table.lower():
            raise NotSumsError("another table, or a subquery")
        return self.condition() if self.takes("where") else None

    def ends(self) -> None:
        """Nothing follows a subquery."""
        if self.place < len(self.words):
            raise NotSumsError(f"{self.words[self.place][1]!r} in a subquery")

    def comparison_of_groups(self, names: list[str], items: list[Any]) -> Any:
        """A sum, or the name of one, and the number that it is compared with."""
        if self.word in names:
            compared = items[names.index(self.next()[1])]
        else:
            compared = self.aggregate()
        comparison = _COMPARED.get(self.sign())
        kind, word = self.next()
        if isinstance(compared, str) or comparison is None or kind != "number":
            raise NotSumsError("another HAVING than a sum by a number")
        return compared, comparison, float(word)

    def sign(self) -> str:
        """A sign of a comparison, of one or two characters."""
        sign = self.next()[1]
        if self.word == "=" and sign in ("=", "<", ">", "!"):
            sign += self.next()[1]
        elif sign == "<" and self.takes(">"):
            sign = "<>"
        return sign

    def item(self) -> Aggregate | str:
        if self.takes("coalesce", "(") or self.takes("ifnull", "("):
            aggregate = self.aggregate()
            self.needs(",")
            kind, word = self.next()
            if kind != "number" or float(word) != 0:
                raise NotSumsError("another number than 0 in the place of no rows")
            self.needs(")")
            return Aggregate(aggregate.kind, aggregate.value, aggregate.among, fills=True)
        return self.aggregate() if self.word in _SUMS else self.column()

    def aggregate(self) -> Aggregate:
        kind = self.next()[1]
        if kind not in _SUMS:
            raise NotSumsError(f"{kind!r} instead of a sum")
        self.needs("(")
        value: Any = None
        among: Any = None
        column = ""
        if kind == "count" and self.takes("*"):
            pass
        elif kind == "count" and self.takes("distinct"):
            kind, column = "distinct", self.column()
        elif self.takes("case", "when"):
            among = self.condition()
            self.needs("then")
            value = self.sum()
            if self.takes("else"):
                value, among = _case(among, value, self.sum()), None
            self.needs("end")
        else:
            value = self.sum()
        self.needs(")")
        if self.takes("filter", "(", "where"):
            more = self.condition()
            among = more if among is None else _both(among, more)
            self.needs(")")
        return Aggregate(kind, None if kind == "count" else value, among, column=column)

    # ---- conditions

    def condition(self) -> Callable[[Entries], Any]:
        test = self.conjunction()
        while self.takes("or"):
            test = _join(np.logical_or, test, self.conjunction())
        return test

    def conjunction(self) -> Callable[[Entries], Any]:
        test = self.negation()
        while self.takes("and"):
            test = _both(test, self.negation())
        return test

    def negation(self) -> Callable[[Entries], Any]:
        if self.takes("not"):
            inner = self.negation()
            return lambda entries: np.logical_not(inner(entries))
        if self.word == "(":
            before = self.place, self.taken
            try:
                self.next()
                test = self.condition()
                self.needs(")")
                if self.word not in _COMPARED and self.word not in ("+", "-", "*", "/"):
                    return test
            except NotSumsError:
                pass
            self.place, self.taken = before
        return self.comparison()

    def comparison(self) -> Callable[[Entries], Any]:
        left = self.operand()
        negated = self.takes("not")
        if self.takes("between"):
            low = self.operand()
            self.needs("and")
            high = self.operand()
            _check_alike(left, low, high)
            test = _both(
                _join(np.greater_equal, left.of, low.of), _join(np.less_equal, left.of, high.of)
            )
        elif self.takes("in", "("):
            test = self.membership(left)
        elif not negated:
            test = self.compared(left)
        else:
            raise NotSumsError("a condition")
        return (lambda entries: np.logical_not(test(entries))) if negated else test

    def compared(self, left: _Operand) -> Callable[[Entries], Any]:
        sign = self.sign()
        if sign not in _COMPARED:
            raise NotSumsError("a condition that is not a comparison")
        right = self.operand()
        _check_alike(left, right)
        if left.is_text and _COMPARED[sign] not in (np.equal, np.not_equal):
            raise NotSumsError("an order of names")
        return _join(_COMPARED[sign], left.of, right.of)

    def membership(self, left: _Operand) -> Callable[[Entries], Any]:
        test: Any = None
        while True:
            operand = self.operand()
            _check_alike(left, operand)
            equal = _join(np.equal, left.of, operand.of)
            test = equal if test is None else _join(np.logical_or, test, equal)
            if not self.takes(","):
                break
        self.needs(")")
        return test  # type: ignore[no-any-return]

    def operand(self) -> _Operand:
        kind, word = self.words[self.place] if self.place < len(self.words) else ("", "")
        if kind == "text":
            self.next()
            return _Operand(_constant(word[1:-1].replace("''", "'")), is_text=True)
        if kind == "parameter":
            before = self.place, self.taken
            value = self.parameter()
            if isinstance(value, str):
                return _Operand(_constant(value), is_text=True)
            self.place, self.taken = before
        if kind in ("word", "quoted") and word not in self.functions:
            before = self.place, self.taken
            name = self.column()
            if self.columns[name]:
                return _Operand(find_entry(name), is_text=True)
            self.place, self.taken = before
        return _Operand(self.sum())

    # ---- numbers of a row

    def sum(self) -> Callable[[Entries], Any]:
        total = self.product()
        while self.word in ("+", "-"):
            function = np.add if self.next()[1] == "+" else np.subtract
            total = _make_calculation(function, total, self.product())
        return total

    def product(self) -> Callable[[Entries], Any]:
        product = self.factor()
        while self.word == "*":
            self.next()
            product = _make_calculation(np.multiply, product, self.factor())
        if self.word == "/":
            raise NotSumsError("a division")
        return product

    def factor(self) -> Callable[[Entries], Any]:
        if self.takes("-"):
            inner = self.factor()
            return lambda entries: np.negative(inner(entries))
        if self.takes("("):
            total = self.sum()
            self.needs(")")
            return total
        if self.takes("abs", "("):
            inner = self.sum()
            self.needs(")")
            return lambda entries: np.abs(inner(entries))
        if self.takes("case", "when"):
            condition = self.condition()
            self.needs("then")
            first = self.sum()
            self.needs("else")
            second = self.sum()
            self.needs("end")
            return _case(condition, first, second)
        if self.word in _OF_TWO:
            return self.of_two()
        kind, word = self.words[self.place] if self.place < len(self.words) else ("", "")
        if kind == "number":
            self.next()
            return self.number(int(word) if word.isdigit() else float(word))
        if kind == "parameter":
            return self.number(self.parameter())
        name = self.column()
        if self.columns[name]:
            raise NotSumsError(f"{name!r} as a number")
        return find_entry(name)

    def of_two(self) -> Callable[[Entries], Any]:
        function = _OF_TWO[self.next()[1]]
        self.needs("(")
        extreme = self.sum()
        if self.word != ",":
            raise NotSumsError("the largest or smallest of all rows")
        while self.takes(","):
            extreme = _join(function, extreme, self.sum())
        self.needs(")")
        return extreme

    def number(self, value: Any) -> Callable[[Entries], Any]:
        if type(value) not in (int, float) or not abs(value) < _LARGEST:
            raise NotSumsError("a parameter that is not a small number or a string")
        self.numbers.append(value)
        return _constant(value)

    def parameter(self) -> Any:
        word = self.next()[1]
        given = self.parameters
        try:
            if isinstance(word, PlacedParameter):
                self.taken += 1
                return given[word.place]
            return given[re.findall(r"\w+", word)[0]]
        except (LookupError, TypeError):
            raise NotSumsError(f"the parameter {word!r}") from None


@dataclass(frozen=True)
class _Operand:
    of: Callable[[Entries], Any]
    is_text: bool = False


def _check_alike(*operands: _Operand) -> None:
    if len({operand.is_text for operand in operands}) > 1:
        raise NotSumsError("a comparison of a name with a number")


def _constant(value: Any) -> Callable[[Entries], Any]:
    return lambda entries: value


def find_entry(name: str) -> Callable[[Entries], Any]:
    """What a row has in a column."""
    return lambda entries: entries(name)


def _join(function: Any, left: Any, right: Any) -> Callable[[Entries], Any]:
    return lambda entries: function(left(entries), right(entries))


def _both(left: Any, right: Any) -> Callable[[Entries], Any]:
    return _join(np.logical_and, left, right)


def _case(condition: Any, first: Any, second: Any) -> Callable[[Entries], Any]:
    return lambda entries: np.where(condition(entries), first(entries), second(entries))


def _make_calculation(function: Any, left: Any, right: Any) -> Callable[[Entries], Any]:
    """Arithmetic, of whole numbers that stay within 64 bits."""

    def value(entries: Entries) -> Any:
        pair = left(entries), right(entries)
        sizes = [size_of_whole(operand) for operand in pair]
        if None not in sizes and (sizes[0] or 1) * (sizes[1] or 1) >= _LARGEST_PRODUCT:
            raise NotSumsError("whole numbers that are too large")
        return function(*pair)

    return value


def size_of_whole(value: Any) -> int | None:
    """The largest size of whole numbers; None for floats."""
    column = find_column(value)
    table = value if column is None else column.table
    if isinstance(table, (int, np.ndarray)) and np.asarray(table).dtype.kind in "iu":
        return int(np.abs(np.asarray(table)).max(initial=0))
    return None

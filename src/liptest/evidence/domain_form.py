"""What a certificate says of its domain: which datasets exist, and which two are neighbours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from liptest.data.answers import Answers
from liptest.data.domains import AllAnswers, Domain, Hypercube, Hypergrid, OneAnswer, RecordGrid
from liptest.data.real_tables import (
    AddedRealRows,
    AddedRealUsers,
    Real,
    ReplacedRealRows,
    ReplacedRealUsers,
)
from liptest.data.tables import (
    AddedRows,
    AddedUsers,
    Category,
    ColumnKind,
    Integer,
    Key,
    ReplacedRows,
    ReplacedUsers,
    Table,
)
from liptest.errors import InputError, quote
from liptest.verdicts import Positive, Record, Words, as_one_of, as_tuple

_KINDS: dict[str, type[Domain]] = {
    "hypercube": Hypercube,
    "hypergrid": Hypergrid,
    "recordgrid": RecordGrid,
    "answergrid, all move": AllAnswers,
    "answergrid, one moves": OneAnswer,
    "answers": Answers,
    "table, a row replaced": ReplacedRows,
    "table, a row more or less": AddedRows,
    "table, a user replaced": ReplacedUsers,
    "table, a user more or less": AddedUsers,
    "real table, a row replaced": ReplacedRealRows,
    "real table, a row more or less": AddedRealRows,
    "real table, a user replaced": ReplacedRealUsers,
    "real table, a user more or less": AddedRealUsers,
}
#: What kinds were called before, in certificates that exist.
_FORMER = {
    "cube": "hypercube",
    "grid": "hypergrid",
    "records": "recordgrid",
    "answers, all move": "answergrid, all move",
    "answers, one moves": "answergrid, one moves",
    "real answers": "answers",
}
_REPLACED = (ReplacedRows, ReplacedUsers, ReplacedRealRows, ReplacedRealUsers)


def current_kind(said: str) -> str:
    """The name of a kind, also of a certificate that has the name of before."""
    return _FORMER.get(said, said)


@dataclass(frozen=True)
class ColumnForm(Record):
    """A column of a table: whole numbers from low to high, a step apart, names, real, or users."""

    name: Words
    numbers: tuple[int, int, int] | None = None
    names: Annotated[tuple[str, ...], as_tuple(Words, min_length=1)] | None = None
    real: tuple[float, float] | None = None
    optional: ClassVar[frozenset[str]] = frozenset({"numbers", "names", "real"})

    @classmethod
    def of(cls, name: str, kind: ColumnKind) -> ColumnForm:
        """The column of a table."""
        if isinstance(kind, Category):
            return cls(name, names=tuple(kind.names))
        if isinstance(kind, Key):
            return cls(name)
        if isinstance(kind, Real):
            return cls(name, real=(kind.lower, kind.upper))
        assert isinstance(kind, Integer)
        return cls(name, numbers=(kind.low, kind.high, kind.step))

    def kind(self) -> ColumnKind:
        """InputError where it says both; a column that says nothing is of users."""
        said = sum(part is not None for part in (self.numbers, self.names, self.real))
        if said > 1:
            raise InputError(f"column {quote(self.name)} must have numbers or names")
        if self.real is not None:
            return Real(*self.real)
        if not said:
            return Key()
        return Category(self.names) if self.names is not None else Integer(*self.numbers or (0, 0))


_MOST_COORDINATES = 10**7


@dataclass(frozen=True)
class DomainForm(Record):
    """Which datasets exist, and which two are neighbours; sizes: one number when all are equal."""

    kind: Annotated[str, as_one_of(*_KINDS, *_FORMER)]
    dimension: Positive
    sizes: Positive | Annotated[tuple[int, ...], as_tuple(Positive, min_length=1)]
    neighbours: Words
    columns: tuple[ColumnForm, ...] | None = None
    at_most: Positive | None = None
    optional: ClassVar[frozenset[str]] = frozenset({"columns", "at_most"})

    @classmethod
    def of(cls, domain: Domain | None) -> DomainForm:
        """InputError for a domain that is not of this package."""
        kind = next(
            (key for key, domain_type in _KINDS.items() if type(domain) is domain_type), None
        )
        is_listed = isinstance(domain, Answers) and domain.kind == "moves"
        if kind is None or domain is None or is_listed:
            raise InputError(
                f"domain={domain} is not one of this package, or has listed moves, so no "
                f"certificate can say what its neighbours are; the verdict can be written: "
                f"verdict.to_json()",
                name="domain",
            )
        sizes = domain.sizes[0] if len(set(domain.sizes)) == 1 else tuple(domain.sizes)
        columns = (
            tuple(ColumnForm.of(*column) for column in domain.columns.items())
            if isinstance(domain, Table)
            else None
        )
        most = domain.at_most if isinstance(domain, Table) else None
        return cls(kind, domain.dimension, sizes, domain.neighbour_words, columns, most)

    def domain(self) -> Domain:
        """InputError when sizes and dimension contradict each other."""
        if self.dimension > _MOST_COORDINATES:
            raise InputError(
                f"dimension={quote(self.dimension)} is more than {_MOST_COORDINATES:,}, the most "
                f"that a certificate is read for"
            )
        kind = current_kind(self.kind)
        if kind == "hypercube":
            return Hypercube(self.dimension)
        if kind == "answers":
            return _real_answers(self.dimension, self.neighbours)
        if issubclass(_KINDS[kind], Table):
            return self._table()
        listed = [self.sizes] * self.dimension if isinstance(self.sizes, int) else self.sizes
        if len(listed) != self.dimension:
            raise InputError(
                f"sizes={quote(self.sizes)}: {len(listed)} sizes for {self.dimension} coordinates"
            )
        made: Any = _KINDS[kind]
        domain: Domain = made(listed)
        return domain

    def _table(self) -> Domain:
        """InputError where its columns do not make rows of so many values."""
        kinds = {column.name: column.kind() for column in self.columns or ()}
        relation = "replace" if _KINDS[self.kind] in _REPLACED else "add_remove"
        keys = [name for name, kind in kinds.items() if isinstance(kind, Key)]
        unit = keys[0] if keys else "row"
        width = 1 + 2 * sum(kind.is_real for kind in kinds.values())
        rows, rest = divmod(self.dimension, width)
        if rest or not rows:
            raise InputError(
                f"dimension={self.dimension} is not a number of rows of {width} numbers"
            )
        table = Table(kinds, rows=rows, relation=relation, unit=unit, at_most=self.at_most)
        if type(table) is not _KINDS[self.kind]:
            raise InputError(f"kind={quote(self.kind)} does not fit the columns")
        sizes = table.sizes[0] if width == 1 else table.sizes
        if self.sizes != sizes or len(kinds) != len(self.columns or ()):
            raise InputError(f"sizes={quote(self.sizes)} do not follow from the columns")
        return table


def _real_answers(m: int, words: str) -> Domain:
    """The domain whose neighbours are said so; InputError where there is none."""
    written = re.fullmatch(r"moving (every|one) answer by at most ([0-9]+(/[0-9]+)?)", words)
    if written is None:
        raise InputError(f"neighbours={quote(words)}: real answers do not move so")
    relation = {"every": "all", "one": "one"}[written[1]]
    return Answers(m, Fraction(written[2]), relation)


def domain_to_dict(domain: Domain) -> dict[str, Any]:
    """A domain of this package as certificates write it; InputError for another."""
    return DomainForm.of(domain).to_dict()


def read_domain(document: Any) -> Domain:
    """Inverse of ``domain_to_dict``; InputError for anything else."""
    return DomainForm.read(document, "domain").domain()

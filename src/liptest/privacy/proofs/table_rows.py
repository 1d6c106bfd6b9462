"""Tables whose rows are treated one by one: which rows are compared, and how (records.md, P6).

A law depends on the columns that the program reads, so rows differ in these only. Of few such rows
all pairs are compared, first those at the ends of all columns. A table of one row is one of any
number of rows, so for real columns, and for many rows, the price of noise is that of one row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np

from liptest.data.distributions import DomainAlone
from liptest.data.domains import IntArray
from liptest.data.real_tables import RealRows
from liptest.data.tables import Table
from liptest.errors import LiptestError
from liptest.mechanisms.base import Mechanism
from liptest.privacy.request import Task
from liptest.privacy.verdicts import PrivacyVerdict
from liptest.verdicts import Decision

#: Values of one record: each has a law, and all pairs of them are compared.
MOST_VALUES = 2_000
# Rows of which all pairs are compared before the price of noise is looked at.
_FEW_ROWS = 128
Check = Callable[[Mechanism, int], PrivacyVerdict | str]
Decide = Callable[[Task], PrivacyVerdict | str]


def too_many_values(values: int) -> str:
    """Why a record is not looked at."""
    return f"one record has {values:,} values, and more than {MOST_VALUES:,} are not compared"


def check_rows(
    task: Task, one: Mechanism, table: Table, check: Check, decide: Decide
) -> PrivacyVerdict | str:
    """What the law of one row decides, or why nothing.

    ``check`` compares so many rows, ``decide`` a claim at any size of the data.
    """
    if isinstance(table, RealRows):
        return _check_as_table(task, one, table, decide)
    ends = rows_by(table, table.columns, ends=True)[[0, -1]]
    if ends[0] == ends[1]:
        return "all rows are alike"
    verdict = _check_some(one, ends, check)
    if isinstance(verdict, str):
        return verdict
    read: frozenset[str] = frozenset()
    while read != one.columns_read:
        read = one.columns_read
        rows = rows_by(table, read)
        if len(rows) > _FEW_ROWS:
            if _is(verdict, Decision.NO):
                return _without_remedy(verdict)
            proved = _check_as_table(task, one, table, decide)
            if _is(proved, Decision.YES):
                return proved
        if len(rows) > MOST_VALUES:
            return _check_ends(one, table, read, check)
        verdict = _check_some(one, rows, check)
        if isinstance(verdict, str):
            return verdict
    return verdict


def _is(verdict: PrivacyVerdict | str, decision: Decision) -> bool:
    return not isinstance(verdict, str) and verdict.decision is decision


def _without_remedy(verdict: PrivacyVerdict) -> PrivacyVerdict:
    """Of a few rows: what is enough for these may not be so for all."""
    return replace(verdict, remedy=None)


def _check_ends(
    one: Mechanism, table: Table, read: frozenset[str], check: Check
) -> PrivacyVerdict | str:
    """A refutation by rows at the ends of columns, where there are too many others."""
    too_many = too_many_values(len(rows_by(table, read)))
    rows = rows_by(table, read, ends=True)
    verdict = _check_some(one, rows, check) if len(rows) <= _FEW_ROWS else too_many
    if isinstance(verdict, str) or verdict.decision is not Decision.NO:
        return too_many
    return _without_remedy(verdict)


def _check_some(one: Mechanism, rows: IntArray, check: Check) -> PrivacyVerdict | str:
    """What some rows decide; datasets of the witness are these rows."""
    verdict = check(one.of_rows(rows), len(rows))
    if isinstance(verdict, str) or verdict.witness is None:
        return verdict
    witness = verdict.witness
    ends = (
        tuple(int(rows[place]) for place in side) for side in (witness.dataset, witness.neighbour)
    )
    dataset, neighbour = ends
    return replace(verdict, witness=replace(witness, dataset=dataset, neighbour=neighbour))


def rows_by(table: Table, columns: Collection[str], *, ends: bool = False) -> IntArray:
    """Rows with all entries of some columns, the first entry in all others.

    ``ends``: with the first and the last entry of each only.
    """
    rows, step = np.array([table.first], dtype=np.int64), 1
    for name, kind in reversed(table.columns.items()):
        count = len(kind.values)
        places = np.arange(count if name in columns else 1)
        places = np.unique(places[[0, -1]]) if ends else places
        rows = (rows[None, :] + step * places[:, None]).reshape(-1)
        step *= count
    return rows


def _check_as_table(
    task: Task, one: Mechanism, table: Table, decide: Decide
) -> PrivacyVerdict | str:
    """The claim of the table of one row, at any size; or why neither."""
    alone = replace(task.alone(), mechanism=one, distribution=DomainAlone(table.resized(1)))
    try:
        one.check_examples()
        return decide(alone)
    except LiptestError as error:
        return str(error)

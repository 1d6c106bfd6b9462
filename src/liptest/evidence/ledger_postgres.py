"""A ledger in PostgreSQL: the same rows, each appended in one serializable transaction.

Of two that append at once one is undone by the server and begins anew after the other. Triggers
refuse changes, as in a file; whoever owns the tables can switch them off, so give the right to
append and to read to others than the owner, and keep the head elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from liptest.errors import LedgerError
from liptest.evidence.ledger_file import (
    COLUMNS,
    START,
    TABLE,
    VERSION,
    Draft,
    LastRowChanged,
    Past,
    Row,
    append_row,
    chain_problems,
    find_stored_rows,
)
from liptest.evidence.postgres import Postgres, PostgresSession, first_line, show_url

T = TypeVar("T")
#: The schema of a ledger that names none.
LEDGER = "ledger"
_REFUSE = """
BEGIN RAISE EXCEPTION 'a ledger is append-only: rows are never changed or deleted'; END
"""
_FOLLOW = f"""
BEGIN
  IF NEW.number IS DISTINCT FROM (SELECT coalesce(max(number), 0) + 1 FROM entries)
    OR NEW.previous IS DISTINCT FROM
      coalesce((SELECT hash FROM entries ORDER BY number DESC LIMIT 1), '{START}')
  THEN RAISE EXCEPTION 'a ledger is append-only: a row follows the last one'; END IF;
  RETURN NEW;
END
"""
# Trigger -> what it calls, the text of that, and when.
_TRIGGERS = {
    "entries_are_not_changed": (
        *("refuse_change", _REFUSE),
        "BEFORE UPDATE OR DELETE OR TRUNCATE ON entries FOR EACH STATEMENT",
    ),
    "entries_follow_each_other": (
        *("follow_the_last", _FOLLOW),
        "BEFORE INSERT ON entries FOR EACH ROW",
    ),
}
_TABLE = tuple(statement.replace("INTEGER", "BIGINT") for statement in TABLE)
# How each trigger stands: on, when it fires, and the text of what it calls.
_FOUND = """SELECT tgname, tgenabled::text, pg_get_triggerdef(t.oid), prosrc
FROM pg_trigger t JOIN pg_proc p ON p.oid = tgfoid
WHERE tgrelid = to_regclass('entries') AND NOT tgisinternal"""


class PostgresChain:
    """A ledger in a schema of a PostgreSQL database: ``postgresql://host/name#schema``.

    Raises LedgerError wherever the database gives no answer, holds no ledger, or is busy for
    ``patience`` seconds.
    """

    def __init__(self, url: str, *, patience: float = 30.0) -> None:
        place, _, schema = url.partition("#")
        self.schema = schema or LEDGER
        self.path = f"{show_url(place)}#{self.schema}"
        if not (self.schema.isidentifier() and self.schema.isascii() and self.schema.islower()):
            raise self._error("after # comes the name of a schema, in small letters")
        self._base = Postgres(place, self.schema, named=False, patience=patience)

    def prepare(self) -> None:
        """Create the tables if there are none."""
        self._check(self._asked(lambda: self._base.prepare(_make, VERSION)))

    def append(self, compose: Callable[[Past], Draft]) -> Row:
        """Append the row that ``compose`` makes of the past; on the disk when this returns.

        ``compose`` may run several times. When it raises, nothing is written.
        """

        def append(session: PostgresSession) -> Row:
            if _trigger_problems(session):
                raise self._error("its triggers were changed; see liptest ledger verify")
            return append_row(session, Past(session, has_caps=True), compose)

        try:
            return self._asked(lambda: self._base.write(append))
        except LastRowChanged as error:
            raise self._error(str(error)) from None

    def rows(self) -> list[Row]:
        """All rows, in order."""
        self._check(self._asked(self._base.version))
        query = f"SELECT {COLUMNS} FROM entries ORDER BY number"
        return [Row(*entry) for entry in self._asked(lambda: self._base.rows(query))]

    def problems(self) -> list[str]:
        """What is wrong, in sentences that name the row; nothing when the chain is intact."""
        self._check(self._asked(self._base.version))

        def read(session: PostgresSession) -> list[str]:
            rows = list(find_stored_rows(session, "ORDER BY number"))
            return _trigger_problems(session) + chain_problems(rows)

        return self._asked(lambda: self._base.write(read))

    def _check(self, version: int) -> None:
        if version > VERSION:
            raise self._error(f"has version {version}, this liptest knows {VERSION}; update it")

    def _asked(self, action: Callable[[], T]) -> T:
        try:
            return action()
        except self._base.failures as error:
            told = f"{first_line(error)}; nothing is released without a record in it"
            raise self._error(told) from error

    def _error(self, text: str) -> LedgerError:
        return LedgerError(f"ledger={self.path!r}: {text}")


def _make(session: PostgresSession) -> None:
    for statement in _TABLE:
        session.execute(statement)
    for name, (function, text, when) in _TRIGGERS.items():
        session.execute(
            f"CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql "
            f"SET search_path FROM CURRENT AS $${text}$$"
        )
        session.execute(f"CREATE TRIGGER {name} {when} EXECUTE FUNCTION {function}()")


def _trigger_problems(session: PostgresSession) -> list[str]:
    """Triggers that are not as they were made."""
    triggers = {name: (on, text, call) for name, on, call, text in session.execute(_FOUND)}
    wrong = []
    for name, (function, text, when) in _TRIGGERS.items():
        on, stored, call = triggers.get(name, ("", "", ""))
        told = _words(f"CREATE TRIGGER {name} {when} EXECUTE FUNCTION {function}()")
        if (on, stored) != ("O", text) or _words(call) != told:
            wrong.append(f"schema: {name} was removed, changed or switched off")
    return wrong


def _words(call: str) -> list[str]:
    """Of a trigger, without schemas, and events in one order."""
    return sorted(word.rpartition(".")[2] for word in call.split())

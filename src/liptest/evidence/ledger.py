"""The ledger and its recorder: attempt before the test, then verdict, release before each draw."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from liptest.data.distributions import Distribution
from liptest.errors import GateError, InputError, LedgerError, check_count, check_non_negative
from liptest.evidence.certificate import Certificate, V
from liptest.evidence.ledger_answers import Recalled, StoredAnswer
from liptest.evidence.ledger_caps import Cap, find_people, list_caps
from liptest.evidence.ledger_cost import TableCost, cost_of_table
from liptest.evidence.ledger_entries import (
    CAP,
    NO_VERDICT,
    NOT_OURS,
    Attempt,
    Summary,
    add_row,
    attempt_fields,
    check_name,
    clean_name,
    fold_rows,
    release_fields,
    row_order_problems,
    verdict_fields,
)
from liptest.evidence.ledger_file import START, Chain, Draft, Past, Row, first_changed
from liptest.evidence.ledger_postgres import PostgresChain
from liptest.evidence.postgres import is_url
from liptest.privacy.claims import AnyClaim
from liptest.runs.fingerprints import Fingerprint, distribution_hash

# The ledger: attempts and releases, kept in a file that only grows (theory 3.11).
#
# Each attempt of a vendor adds its failure probability to the chance of a wrong YES, each release
# adds its epsilon. A gate that is given a ledger writes an attempt before the test draws its seed,
# the verdict when it is decided, and every release before the draw. What cannot be written is not
# released.


#: Releases of which nobody says from what: all of them count as from one private table.
UNNAMED_TABLE = "unnamed"


class Ledger:
    """A file of attempts and releases; created when there is none.

    Threads and processes may share it. Every record is on the disk when the method that writes
    it returns.

    Parameters
    ----------
    path
        A file on a local disk. SQLite keeps two more files beside it while it is in use. Or the
        URL of a PostgreSQL database, ``postgresql://host/name``; a schema is named after ``#``.
    create
        False: only read what is there.
    patience
        Seconds to wait for others that write.

    Raises
    ------
    LedgerError
        Here and in every method: the file cannot be read or written, is not a ledger, or belongs
        to a newer version.
    """

    def __init__(
        self, path: str | PathLike[str], *, create: bool = True, patience: float = 30.0
    ) -> None:
        self._chain = (
            PostgresChain(str(path), patience=patience)
            if is_url(path)
            else Chain(path, patience=patience)
        )
        if create:
            self._chain.prepare()

    @property
    def path(self) -> Path | str:
        """Where the file is, or the URL of the database without its password."""
        return self._chain.path

    def record_attempt(
        self,
        vendor: str,
        *,
        mechanism: str,
        code: str,
        distribution: str,
        claim: AnyClaim,
        failure_probability: float,
        private_table: str | None = None,
    ) -> Attempt:
        """Write that a test begins; its ``count`` says which of the vendor's attempts it is.

        ``code`` and ``distribution`` are hashes. ``private_table`` names the data that a release
        is wanted from: a name, never the data. What cannot answer a wrong YES has
        failure_probability 0. Raises InputError for names that are not one printable line.
        """
        check_name("vendor", vendor)
        if private_table is not None:
            check_name("private_table", private_table)
        failure = check_non_negative("failure_probability", failure_probability, below=1.0)

        def compose(past: Past) -> Draft:
            told = attempt_fields(
                mechanism=mechanism,
                code=code,
                distribution=distribution,
                claim=claim,
                failure_probability=failure,
                private_table=private_table,
                count=past.count("attempt", vendor) + 1,
            )
            return Draft("attempt", vendor, None, told)

        row = self._chain.append(compose)
        return fold_rows([row])[row.number]

    def record_verdict(self, attempt: int, certificate: Certificate[Any]) -> Attempt:
        """Write how an attempt, by its number, was decided; on samples alone nothing is released.

        Raises LedgerError when there is no such attempt or it has its verdict already.
        """

        def tell(known: Attempt, past: Past) -> dict[str, Any]:
            if known.decision != NO_VERDICT:
                raise self._error(f"attempt {attempt} has its verdict already")
            return verdict_fields(certificate, known)

        return self._follow("verdict", attempt, tell)

    def record_release(self, attempt: int, *, answer: StoredAnswer | None = None) -> Attempt:
        """Write that an output is drawn: call it before the draw, or give what draws as ``answer``.

        An ``answer`` is drawn and written in one transaction: where this raises, nothing was
        released, and what was drawn must not be shown.

        Raises GateError when the attempt's verdict allows no release, or no further one: also
        when another process used the last. Also when all releases from the private table would
        cost more than its cap. Raises Recalled when the answer's key has one already.
        """

        def tell(known: Attempt, past: Past) -> dict[str, Any]:
            if answer is not None:
                answer.recall(past, known)
            if known.releases == 0:
                raise GateError(
                    f"attempt {attempt} of ledger {str(self.path)!r} allows no release: the "
                    f"decision is {known.decision}, the private table {known.private_table}"
                )
            if known.used >= known.releases:
                raise GateError(
                    f"releases={known.releases}: the ledger has all of them as used; a further "
                    f"one needs a new gate and costs its epsilon again"
                )
            self._check_whole(past)
            self._check_cap(known, past)
            return release_fields(known) | ({} if answer is None else answer.fields())

        return self._follow("release", attempt, tell)

    def attempts(self, vendor: str | None = None) -> list[Attempt]:
        """Attempts of a vendor, or all of them, in order."""
        every = self._fold(self._chain.rows()).values()
        return [attempt for attempt in every if vendor in (None, attempt.vendor)]

    def summary(self) -> Summary:
        """What it adds up to, per vendor and per private table."""
        rows = self._chain.rows()
        attempts = list(self._fold(rows).values())
        return Summary.of(attempts, rows=len(rows), head=rows[-1].hash if rows else START)

    def cost(self, private_table: str, *, delta: float) -> TableCost:
        """What all releases from a private table cost together at a delta (theory 6.12).

        Less than the sums of a summary where there are many releases. Raises InputError unless
        delta lies between 0 and 1.
        """
        return cost_of_table(self.attempts(), check_name("private_table", private_table), delta)

    def set_cap(self, private_table: str, *, epsilon: float, delta: float) -> Cap:
        """Cap what all releases from a private table may cost together at a delta.

        Releases beyond it are refused before anything is drawn; the last cap of a table counts.
        Raises InputError for numbers out of range, LedgerError for a ledger of a version without
        caps.
        """
        cap = Cap.checked(private_table, epsilon, delta)

        def compose(past: Past) -> Draft:
            if not past.has_caps:
                raise self._error("was made by a version without caps; begin a new ledger")
            return Draft(CAP, private_table, None, cap.fields())

        self._chain.append(compose)
        return cap

    def set_people(
        self,
        name: str,
        tables: Iterable[str],
        *,
        epsilon: float,
        delta: float,
        widen_only: bool = False,
    ) -> Cap:
        """Cap what all releases from tables about the same people may cost together at a delta.

        Each table's own cap holds, too. The last cap under a name counts; with ``widen_only`` one
        that is there keeps its numbers, and tables are added only. Raises InputError for numbers
        out of range and where no table is named, GateError where a cap would be loosened.
        """
        cap = Cap.of_people(name, tables, epsilon, delta)

        def compose(past: Past) -> Draft:
            if not past.has_caps:
                raise self._error("was made by a version without caps; begin a new ledger")
            earlier = find_people(past.caps()).get(name)
            if widen_only and earlier is not None and not cap.widens(earlier):
                raise GateError(
                    f"the ledger caps {earlier.title} already: {earlier}; liptest ledger people "
                    f"changes that"
                )
            return Draft(CAP, name, None, cap.fields())

        self._chain.append(compose)
        return cap

    def people(self) -> dict[str, Cap]:
        """The cap of each group of people, with the tables that concern them."""
        try:
            return find_people(self._chain.rows())
        except NOT_OURS as error:
            raise self._error(f"{error}; see liptest ledger verify") from error

    def caps(self) -> dict[str, Cap]:
        """The cap of each private table that has one."""
        try:
            return list_caps(self._chain.rows())
        except NOT_OURS as error:
            raise self._error(f"{error}; see liptest ledger verify") from error

    def released(self, private_table: str, key: str) -> str | None:
        """The text of the output that a private table gave to a key; None when it gave none."""
        found = self.answered(private_table, key)
        return None if found is None else found[1]

    def answered(self, private_table: str, key: str) -> tuple[Attempt, str] | None:
        """The same with the attempt that it was released after."""
        rows = self._chain.rows()
        for row in rows:
            fields = row.fields if row.kind == "release" else {}
            if (fields.get("private_table"), fields.get("key")) == (private_table, key):
                return self._fold(rows)[row.attempt], str(fields["output"])
        return None

    def problems(self, *, head: str | None = None) -> list[str]:
        """What is wrong with the file, in sentences that name the row; nothing when intact.

        A chain does not show that its end was cut off. Keep the ``head`` of a summary elsewhere
        and give it here: the row with that hash must still be there.
        """
        wrong = self._chain.problems()
        if any(problem.startswith("schema: entries was") for problem in wrong):
            return wrong
        rows = self._chain.rows()
        if not wrong:
            wrong += row_order_problems(rows)
        if head is not None and head not in (START, *(row.hash for row in rows)):
            wrong.append(f"head: no row has the hash {head}: rows were cut off or made anew")
        return wrong

    def _check_whole(self, past: Past) -> None:
        """Refuse a release after rows that were changed: what was spent is not known then."""
        try:
            changed = first_changed(past.rows())
        except NOT_OURS as error:
            raise self._error(f"{error}; see liptest ledger verify") from error
        if changed is not None:
            raise self._error(f"row {changed} was changed; see liptest ledger verify")

    def _check_cap(self, known: Attempt, past: Past) -> None:
        """Refuse a release beyond a cap that its table is under, while nobody else can write."""
        rows, table = past.caps(), str(known.private_table)
        try:
            every = [*list_caps(rows).values(), *find_people(rows).values()]
        except NOT_OURS as error:
            raise self._error(f"{error}; see liptest ledger verify") from error
        caps = [cap for cap in every if table in cap.tables]
        if caps:
            attempts = self._fold(past.rows()).values()
            for cap in caps:
                cap.check(attempts, known.number)

    def _follow(
        self, kind: str, attempt: int, told: Callable[[Attempt, Past], dict[str, Any]]
    ) -> Attempt:
        before: list[Attempt] = []

        def compose(past: Past) -> Draft:
            rows = past.of_attempt(check_count("attempt", attempt))
            if not rows:
                raise self._error(f"there is no attempt {attempt}")
            before[:] = [self._fold(rows)[attempt]]
            return Draft(kind, before[0].vendor, attempt, told(before[0], past))

        row = self._chain.append(compose)
        return add_row(before[0], row)

    def _fold(self, rows: list[Row]) -> dict[int, Attempt]:
        try:
            return fold_rows(rows)
        except NOT_OURS as error:
            raise self._error(f"{error}; see liptest ledger verify") from error

    def _error(self, text: str) -> LedgerError:
        return LedgerError(f"ledger={str(self.path)!r}: {text}")


#: A ledger, the path of one, or None for none.
LedgerLike = Ledger | str | PathLike[str] | None


class Named(Protocol):
    """A mechanism or a sampler."""

    @property
    def name(self) -> str: ...


class LedgerRecorder:
    """What one test and the releases after it write to a ledger, if there is one.

    A verdict that cannot be written is kept, and is written at the next chance: ``settle`` says
    whether it was. Until then nothing may be released.

    Parameters
    ----------
    ledger
        A ledger, its path, or None: then nothing is written.
    vendor
        Whose attempt it is; None means the mechanism's name.
    private_table
        What is to be released from, by name; None for a test alone.
    """

    def __init__(
        self, ledger: LedgerLike, *, vendor: str | None = None, private_table: str | None = None
    ) -> None:
        # Opened before the test: one that cannot be written must not cost the time of a test.
        self._ledger = ledger if isinstance(ledger, Ledger | None) else Ledger(ledger)
        self._vendor = vendor
        self._table = private_table
        self._attempt: Attempt | None = None
        self._unwritten: Certificate[Any] | None = None

    @classmethod
    def of_gate(
        cls, ledger: LedgerLike, *, vendor: str | None, private_table: str | None
    ) -> LedgerRecorder:
        """The recorder of a gate; InputError for names without a ledger."""
        if ledger is None and (vendor, private_table) != (None, None):
            raise InputError(
                "ledger=None: vendor and private_table are names in a ledger; give ledger=, too",
                name="ledger",
            )
        table = UNNAMED_TABLE if private_table is None else private_table
        return cls(ledger, vendor=vendor, private_table=table)

    def begin(
        self,
        mechanism: Named,
        code: Fingerprint,
        distribution: Distribution,
        claim: AnyClaim,
        failure_probability: float,
    ) -> None:
        """Write the attempt; a test that never ends counts all the same."""
        if self._ledger is None:
            return
        self._attempt = self._ledger.record_attempt(
            clean_name(mechanism.name) if self._vendor is None else self._vendor,
            mechanism=mechanism.name,
            code=code.code,
            distribution=distribution_hash(distribution),
            claim=claim,
            failure_probability=failure_probability,
            private_table=self._table,
        )

    def decided(self, certificate: Certificate[V]) -> Certificate[V]:
        """Write the verdict, or keep it; returns the certificate with the number of attempts."""
        if self._ledger is None or self._attempt is None:
            return certificate
        numbered = replace(certificate, attempts=self._attempt.count)
        try:
            self._ledger.record_verdict(self._attempt.number, numbered)
        except LedgerError:
            self._unwritten = numbered
        return numbered

    def settle(self) -> None:
        """Make sure that the verdict is written; LedgerError when it still cannot be."""
        if self._ledger is None or self._attempt is None or self._unwritten is None:
            return
        number = self._attempt.number
        # A write that was reported as failed may have reached the disk.
        digests = {attempt.number: attempt.certificate for attempt in self._ledger.attempts()}
        if digests.get(number) != self._unwritten.to_dict()["digest"]:
            self._ledger.record_verdict(number, self._unwritten)
        self._unwritten = None

    def release(
        self, key: str | None = None, draw: Callable[[], str | None] = lambda: None
    ) -> str | None:
        """Draw an output and write it, at once; returns its text, or the one that ``key`` has.

        Raises LedgerError when it cannot be written, GateError when the ledger allows no more.
        """
        if self._ledger is None or self._attempt is None:
            return draw()
        answer = StoredAnswer(draw, key)
        try:
            self._ledger.record_release(self._attempt.number, answer=answer)
        except Recalled as found:
            return found.text
        return answer.text

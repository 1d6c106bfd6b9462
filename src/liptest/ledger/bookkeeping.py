"""Who tests keeps books: an attempt before the test, its verdict, a release before each draw."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Protocol, TypeVar

from liptest.certificates.samples import SampleCertificate
from liptest.certificates.verification import Certificate
from liptest.distributions import Distribution
from liptest.errors import InputError, LedgerError
from liptest.fingerprints import Fingerprint, distribution_hash
from liptest.ledger.book import UNNAMED_TABLE, Ledger
from liptest.ledger.entries import Attempt, clean_name
from liptest.privacy.claims import Claim

#: A ledger, the path of one, or None for none.
LedgerLike = Ledger | str | PathLike[str] | None
AnyCertificate = TypeVar("AnyCertificate", Certificate, SampleCertificate)


class Named(Protocol):
    """A mechanism or a sampler."""

    @property
    def name(self) -> str: ...


class Bookkeeper:
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
        self._unwritten: Certificate | SampleCertificate | None = None

    @classmethod
    def of_gate(
        cls, ledger: LedgerLike, *, vendor: str | None, private_table: str | None
    ) -> Bookkeeper:
        """The books of a gate; InputError for names without a ledger."""
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
        claim: Claim,
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

    def decided(self, certificate: AnyCertificate) -> AnyCertificate:
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
        known = {one.number: one.certificate for one in self._ledger.attempts()}
        if known.get(number) != self._unwritten.to_dict()["digest"]:
            self._ledger.record_verdict(number, self._unwritten)
        self._unwritten = None

    def release(self) -> None:
        """Write that an output is about to be drawn.

        Raises LedgerError when it cannot be written, GateError when the ledger allows no more.
        """
        if self._ledger is not None and self._attempt is not None:
            self._ledger.record_release(self._attempt.number)

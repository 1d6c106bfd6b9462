"""Accumulated numbers of a ledger (theory 3.11, 3.18): exact sums, and how they are printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

from liptest.ledger.entries import NO_VERDICT, Attempt, decimal_text
from liptest.privacy.wording import counted
from liptest.verdicts import Decision

_DIGITS = 6


@dataclass(frozen=True)
class Totals:
    """Sums over some attempts and the releases after them, as exact Fractions.

    ``failure_probability`` is the sum over all attempts: it bounds the probability that any of
    them ended in a wrong YES. ``epsilon`` and ``delta`` are the sums over all releases.
    ``joint_delta`` adds, for each attempt, the larger of its failure probability and the deltas
    of its releases; ``exception_mass`` counts once for each attempt that was followed by a
    release. All releases together are (epsilon, joint_delta)-private off datasets of that mass,
    provided that the ``conditions`` of their proofs hold.
    """

    attempts: int
    decisions: dict[str, int]
    failure_probability: Fraction
    releases: int
    epsilon: Fraction
    delta: Fraction
    joint_delta: Fraction
    exception_mass: Fraction
    seeds_of_callers: int
    conditions: tuple[str, ...]

    @classmethod
    def of(cls, attempts: Iterable[Attempt]) -> Totals:
        """The sums over these attempts."""
        every = list(attempts)
        return cls(
            attempts=len(every),
            decisions=dict(sorted(Counter(one.decision for one in every).items())),
            failure_probability=_sum(one.failure_probability for one in every),
            releases=sum(one.used for one in every),
            epsilon=_sum(one.used * one.epsilon for one in every),
            delta=_sum(one.used * one.delta for one in every),
            joint_delta=_sum(max(one.used * one.delta, one.failure_probability) for one in every),
            exception_mass=_sum(one.exception_mass for one in every if one.used),
            seeds_of_callers=sum(one.seed_source.startswith("caller") for one in every),
            conditions=tuple(sorted({one.condition for one in every if one.used} - {""})),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; sums as exact decimal texts."""
        return {
            name: decimal_text(value) if isinstance(value, Fraction) else value
            for name, value in vars(self).items()
        }


@dataclass(frozen=True)
class Summary:
    """What a ledger adds up to, per vendor and per private table.

    A vendor's attempts are all its tests; a private table's are those that were made to release
    from it, whose code it was. ``head`` is the hash of the last row.
    """

    rows: int
    head: str
    vendors: dict[str, Totals]
    private_tables: dict[str, Totals]
    total: Totals

    @classmethod
    def of(cls, attempts: list[Attempt], *, rows: int, head: str) -> Summary:
        """Sums of all attempts."""
        aimed = [one for one in attempts if one.private_table is not None]
        return cls(
            rows=rows,
            head=head,
            vendors=_grouped(attempts, lambda one: one.vendor),
            private_tables=_grouped(aimed, lambda one: str(one.private_table)),
            total=Totals.of(attempts),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; sums as exact decimal texts."""
        return {
            "rows": self.rows,
            "head": self.head,
            "vendors": {name: one.to_dict() for name, one in self.vendors.items()},
            "private_tables": {name: one.to_dict() for name, one in self.private_tables.items()},
            "total": self.total.to_dict(),
        }

    def __str__(self) -> str:
        return "\n\n".join(self.paragraphs())

    def paragraphs(self) -> list[str]:
        """The summary as text: one paragraph per vendor and per private table."""
        parts = [vendor_text(f"vendor {name}", one) for name, one in self.vendors.items()]
        if len(self.vendors) > 1:
            parts.append(vendor_text("all vendors", self.total))
        parts += [table_text(name, one) for name, one in self.private_tables.items()]
        return parts or ["no attempts, no releases"]


def vendor_text(heading: str, totals: Totals) -> str:
    """Attempts and releases of a vendor, in lines."""
    found = [f"{count} {_WORDS.get(name, name)}" for name, count in totals.decisions.items()]
    lines = [
        heading,
        f"  {counted(totals.attempts, 'attempt')} ({', '.join(found)}); that any of them was a "
        f"wrong YES has a probability of at most {printed(totals.failure_probability)}",
        f"  {counted(totals.releases, 'release')}: epsilon {printed(totals.epsilon)}, "
        f"delta {printed(totals.delta)} together",
    ]
    return "\n".join(lines + _provided(totals))


def attempt_text(attempt: Attempt) -> str:
    """One line about an attempt."""
    decision = _WORDS.get(attempt.decision, attempt.decision)
    method = f" by {attempt.method}" if attempt.method else ""
    aim = f", {counted(attempt.used, 'release')} from {attempt.private_table}"
    return (
        f"  {attempt.count}. {attempt.time} {attempt.mechanism}: {attempt.claim}: "
        f"{decision}{method}{aim if attempt.private_table is not None else ''}; "
        f"code {attempt.code[:12]}"
    )


def table_text(name: str, totals: Totals) -> str:
    """What was released from a private table, in lines."""
    lines = [f"private table {name}"]
    done = f"{counted(totals.releases, 'release')} after {counted(totals.attempts, 'attempt')}"
    if totals.releases == 0:
        return "\n".join([*lines, f"  {done}"])
    mass = totals.exception_mass
    # A bound of 1 is none: from there on the numbers say nothing.
    if totals.joint_delta >= 1 or mass >= 1:
        return "\n".join([*lines, f"  {done}: so many that together they promise nothing"])
    where = f"off datasets of total probability {printed(mass)}" if mass else "on every dataset"
    together = " together" if totals.releases > 1 else ""
    pair = f"({printed(totals.epsilon)}, {printed(totals.joint_delta)})-private"
    return "\n".join([*lines, f"  {done}:{together} {pair} {where}", *_provided(totals)])


def _provided(totals: Totals) -> list[str]:
    lines = [f"  provided that {condition}" for condition in totals.conditions]
    if totals.seeds_of_callers:
        lines.append(
            f"  {counted(totals.seeds_of_callers, 'attempt')} with a seed chosen by the caller: "
            f"valid only if the code was written without knowing it"
        )
    return lines


def printed(value: Fraction) -> str:
    """A sum in at most 6 significant digits, rounded up; a probability above 1 as 1 and more."""
    number = Context(prec=_DIGITS, rounding=ROUND_CEILING).create_decimal(
        Decimal(decimal_text(value))
    )
    if number and not -5 <= number.adjusted() < 9:
        return f"{number.normalize():e}"
    return f"{number.normalize():f}"


_WORDS = {NO_VERDICT: "without a verdict", **{str(one): str(one) for one in Decision}}


def _grouped(attempts: list[Attempt], key: Callable[[Attempt], str]) -> dict[str, Totals]:
    groups: dict[str, list[Attempt]] = {}
    for one in attempts:
        groups.setdefault(key(one), []).append(one)
    return {name: Totals.of(groups[name]) for name in sorted(groups)}


def _sum(values: Iterable[Fraction]) -> Fraction:
    return sum(values, Fraction(0))

"""Whether what a certificate says of floats holds: by itself, and with the NumPy that is here."""

from __future__ import annotations

from collections.abc import Iterator

from liptest.data.domains import Domain
from liptest.errors import LiptestError
from liptest.floats.records import AsImplemented, ImpossibleOutput
from liptest.privacy.verdicts import PrivacyVerdict
from liptest.verdicts import Decision


def implemented_problems(verdict: PrivacyVerdict, domain: Domain) -> Iterator[str]:
    """Where the line about the floats contradicts itself or the domain."""
    outcome = verdict.implemented
    if outcome is None:
        return
    if outcome.decision is Decision.NO and outcome.witness is None and outcome.loss is None:
        yield "implemented: a NO without a witness"
    if outcome.decision is Decision.YES and (outcome.witness is not None or outcome.loss is None):
        yield "implemented: a YES without the losses that it rests on"
    if outcome.loss is not None and not outcome.loss[0] <= outcome.loss[1]:
        yield f"implemented: the loss cannot lie between {outcome.loss[0]} and {outcome.loss[1]}"
    if outcome.witness is not None:
        yield from _about_domain(outcome.witness, domain)


def _about_domain(witness: ImpossibleOutput, domain: Domain) -> Iterator[str]:
    try:
        ends = domain.check_points([witness.dataset]), domain.check_points([witness.neighbour])
    except LiptestError as error:
        yield f"implemented: the datasets of the witness: {error}"
        return
    if int(domain.distance(*ends)[0]) != 1:
        yield "implemented: the datasets of the witness are not neighbours"
    elif witness.rows not in (None, domain.pair_words(witness.dataset, witness.neighbour)):
        yield "implemented: the words on the rows of the witness are not those of its datasets"


def replay_problems(found: AsImplemented | None) -> list[str]:
    """What the NumPy that is here does otherwise than a witness says, without the code."""
    if found is None or found.witness is None:
        return []
    try:
        told = found.witness.problems()
    except (LiptestError, ArithmeticError, ValueError) as error:
        told = [f"it cannot be replayed: {error}"]
    return [f"implemented: {line}" for line in told]

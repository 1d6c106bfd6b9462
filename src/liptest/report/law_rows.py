"""The two output distributions of a witness as a few rows that add up to all of both laws."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from liptest.enumerate.numbers.density_curves import DensityCurves, density_curves
from liptest.errors import ContinuousOutputs
from liptest.mechanisms.base import Mechanism
from liptest.mechanisms.laws import Output, OutputLaw
from liptest.privacy.witnesses import PrivacyWitness
from liptest.verdicts import Number, Record, Text, Whole

#: How exactly a loss must be known, at least, to be shown.
CLOSE = 1e-6
# Outputs that are drawn one by one: all of few; of more the likelier ones, beside two tails.
_FEW, _MOST_ROWS, _FAINT = 8, 14, 1e-3
# Where they would show less than this of a law, runs of neighbouring numbers are drawn.
_ENOUGH = 0.5
# Two evaluations of one law agree to this, as when a mechanism is tested.
_SAME = 1e-6


class Missing(Exception):
    """A drawing cannot be made; the message, a clause in words, takes its place."""


@dataclass(frozen=True)
class LawRow(Record):
    """An output, or several taken together, with the probability on both datasets.

    ``decides`` is whether it is the output, or one of the outputs, that decide.
    """

    label: Text
    probability: Number
    neighbour_probability: Number
    decides: bool = False
    outputs: Whole = 1


def witness_rows(mechanism: Mechanism, witness: PrivacyWitness) -> tuple[LawRow, ...]:
    """Both laws of a witness; the rows add up to 1 on each side, except for what is unexplored.

    Outputs that are real numbers have two rows: those that decide, and all others.

    Raises Missing where the mechanism does not give the witness's probabilities, and what the
    mechanism raises.
    """
    try:
        left, right = map(mechanism.law, witness.arrays)
    except ContinuousOutputs:
        return rows_in_two(witness)
    if not _is_that_of(witness, left, right):
        raise Missing("the mechanism at hand does not give the probabilities of the verdict")
    outputs = list(dict.fromkeys((*left.outputs, *right.outputs)))
    masses = {output: (left.get(output, 0.0), right.get(output, 0.0)) for output in outputs}
    return tuple(_rows(_order(outputs), masses, frozenset(witness.event)))


def witness_densities(mechanism: Mechanism, witness: PrivacyWitness) -> DensityCurves | None:
    """Both densities of a witness whose outputs are real numbers; None for any other."""
    sides = witness.arrays
    try:
        mechanism.law(sides[0])
    except ContinuousOutputs:
        return density_curves(mechanism, *sides, witness.event)
    return None


def rows_in_two(witness: PrivacyWitness) -> tuple[LawRow, LawRow]:
    """The outputs that decide, and all others: all that a witness by itself knows."""
    pieces = len(witness.event)
    label = repr(witness.output) if pieces == 1 else f"{pieces:,} ranges together"
    first, second = witness.probability, witness.neighbour_probability
    return (
        LawRow(label, first, second, True, pieces),
        LawRow("any other output", 1.0 - first, 1.0 - second),
    )


def _is_that_of(witness: PrivacyWitness, left: OutputLaw, right: OutputLaw) -> bool:
    stated = (witness.probability, witness.neighbour_probability)
    for law, expected in zip((left, right), stated, strict=True):
        mass = math.fsum(law.get(output, 0.0) for output in witness.event)
        if not math.isclose(mass, expected, rel_tol=_SAME, abs_tol=1e-12):
            return False
    return True


Masses = dict[Output, tuple[float, float]]


def _rows(outputs: Sequence[Output], masses: Masses, event: frozenset[Output]) -> Iterable[LawRow]:
    chosen = set(_choose(outputs, masses, event))
    is_ordered = all(map(_is_number, outputs))
    drawn = [math.fsum(masses[output][side] for output in chosen) for side in (0, 1)]
    whole = [math.fsum(masses[output][side] for output in outputs) for side in (0, 1)]
    few = any(part < _ENOUGH * total for part, total in zip(drawn, whole, strict=True))
    if few and is_ordered:
        yield from _runs(outputs, masses, event)
        return
    rest = [output for output in outputs if output not in chosen]
    deciding = [output for output in rest if output in event]
    others = [output for output in rest if output not in event]
    # Both tails together would hide the loss that each of them has.
    lower = [o for o in others if is_ordered and o < min(chosen)]  # type: ignore[operator,type-var]
    higher = [o for o in others if is_ordered and o > max(chosen)]  # type: ignore[operator,type-var]
    between = [output for output in others if output not in {*lower, *higher}]
    yield from _name_rows(lower, "lower", masses)
    for output in outputs:
        if output in chosen:
            yield LawRow(repr(output), *masses[output], output in event)
    yield from _name_rows(higher, "higher", masses)
    yield from _name_rows(deciding, "more decide", masses, decides=True)
    yield from _name_rows(between, "others", masses)


def _name_rows(
    some: Sequence[Output], words: str, masses: Masses, *, decides: bool = False
) -> Iterable[LawRow]:
    if some:
        yield _together(f"{len(some):,} {words}", some, masses, decides=decides)


def _choose(
    outputs: Sequence[Output], masses: Masses, event: frozenset[Output]
) -> Sequence[Output]:
    """All of few; else the likeliest, with half the room at most for those that decide."""
    if len(outputs) <= _FEW:
        return outputs
    ranked = sorted(outputs, key=lambda output: max(masses[output]), reverse=True)
    deciding = [output for output in ranked if output in event][: _MOST_ROWS // 2 - 1]
    others = [output for output in ranked if output not in event][: _MOST_ROWS - 2 - len(deciding)]
    return [*deciding, *(output for output in others if max(masses[output]) >= _FAINT)]


def _runs(outputs: Sequence[Output], masses: Masses, event: frozenset[Output]) -> Iterable[LawRow]:
    """Runs of numbers of about the same probability, cut where the outputs that decide begin."""
    total = math.fsum(sum(masses[output]) for output in outputs)
    run: list[Output] = []
    weight = 0.0
    for output in outputs:
        if run and ((output in event) is not (run[0] in event) or weight >= total / _MOST_ROWS):
            yield _run(run, masses, event)
            run, weight = [], 0.0
        run.append(output)
        weight += sum(masses[output])
    yield _run(run, masses, event)


def _run(run: Sequence[Output], masses: Masses, event: frozenset[Output]) -> LawRow:
    label = repr(run[0]) if len(run) == 1 else f"{run[0]!r} to {run[-1]!r}"
    return _together(label, run, masses, decides=run[0] in event)


def _together(label: str, some: Sequence[Output], masses: Masses, *, decides: bool) -> LawRow:
    first, second = (math.fsum(masses[output][side] for output in some) for side in (0, 1))
    return LawRow(label, first, second, decides, len(some))


def _order(outputs: Sequence[Output]) -> list[Output]:
    if all(_is_number(output) for output in outputs):
        return sorted(outputs)  # type: ignore[type-var]
    return list(outputs)


def _is_number(output: Output) -> bool:
    return isinstance(output, (int, float)) and math.isfinite(output)

"""A witness as plain lines, in the manner of a diff: for test output and machine-read reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import wrap

from liptest.blackbox.verdicts import BlackBoxVerdict, bound_lines
from liptest.privacy.verdicts import PrivacyVerdict, headline, tested
from liptest.privacy.witnesses import PrivacyWitness
from liptest.privacy.wording import coordinate_noun, counted, open_loss_words
from liptest.verdicts import Decision

# A dataset of so many records is shown whole; of a longer one the records around the change.
_WHOLE = 24
_AROUND = 8
_LONG_TEXT = 60
_WIDTH = 92
_MOST = 4


def finding_lines(verdict: PrivacyVerdict | BlackBoxVerdict) -> list[str]:
    """Headline, what was tested, the witness if there is one, the meaning."""
    if isinstance(verdict, BlackBoxVerdict):
        return _sampled_lines(verdict)
    lines = [f"claim: {verdict.claim}", *wrap(headline(verdict), _WIDTH)]
    lines += wrap(tested(verdict), _WIDTH)
    if verdict.witness is not None:
        is_certain = verdict.decision is Decision.NO
        lines += [
            "",
            *witness_lines(verdict.witness, relation=verdict.relation, is_certain=is_certain),
            "",
        ]
    return lines + wrap(f"Meaning: {verdict.guarantee.sentence}", _WIDTH)


def _sampled_lines(verdict: BlackBoxVerdict) -> list[str]:
    lines = [f"claim: {verdict.claim}", *wrap(f"{verdict.decision} {verdict.note}", _WIDTH)]
    lines += wrap(verdict.tested, _WIDTH)
    if verdict.shown_bound is not None:
        lines += ["", *bound_lines(verdict.shown_bound, coordinate_noun(verdict.relation)), ""]
    return lines + wrap(f"Meaning: {verdict.guarantee.sentence}", _WIDTH)


def witness_lines(
    witness: PrivacyWitness, *, relation: str = "", is_certain: bool = True
) -> list[str]:
    """The two datasets and the two probabilities, one above the other; the loss, the claim.

    ``relation`` is that of the domain. Where it is not certain, the pair is one left open.
    """
    noun = coordinate_noun(relation)
    changed = ", ".join(map(str, witness.changed[:_MOST])) + (
        ", .." if len(witness.changed) > _MOST else ""
    )
    plural = "" if len(witness.changed) == 1 else "s"
    total = counted(len(witness.dataset), noun)
    head = [
        f"{'' if is_certain else 'left open: '}two datasets of {total}, equal but for "
        f"{noun}{plural} {changed} (counted from 0):",
        *_dataset_lines(witness, noun),
    ]
    probabilities = [
        f"probability of {_event(witness)}:",
        f"- {_probability(witness.probability, witness.exact[0])}",
        f"+ {_probability(witness.neighbour_probability, witness.exact[1])}",
    ]
    if not is_certain:
        return [*head, *(probabilities if witness.event else []), open_loss_words(witness)]
    certain = "Certain: certified arithmetic, not a statistical estimate."
    return [*head, *probabilities, _loss(witness), certain]


def law_expressions(witness: PrivacyWitness, name: str = "mechanism") -> list[str]:
    """Python expressions that give both output laws again; ``lt`` is liptest, ``np`` numpy."""
    return [
        f"lt.output_law({name}, {dataset_expression(side)})"
        for side in (witness.dataset, witness.neighbour)
    ]


def dataset_expression(dataset: Sequence[int]) -> str:
    """A dataset as Python: a list, or shorter where it is long and of few values other than 0."""
    text = repr(list(dataset))
    if len(text) <= _LONG_TEXT:
        return text
    values = sorted(set(dataset) - {0})
    base = f"np.arange({len(dataset)})"
    terms = [
        f"{v} * np.isin({base}, {[i for i, w in enumerate(dataset) if w == v]})" for v in values
    ]
    short = " + ".join(terms) or f"0 * {base}"
    return short if len(short) < len(text) else text


def _dataset_lines(witness: PrivacyWitness, noun: str) -> list[str]:
    start, stop = _window(len(witness.dataset), witness.changed)
    width = max(len(str(v)) for v in witness.dataset[start:stop] + witness.neighbour[start:stop])
    ends = (f".. (from {noun} {start}) " if start else "", " .." * (stop < len(witness.dataset)))
    rows = []
    for sign, side in (("-", witness.dataset), ("+", witness.neighbour)):
        cells = " ".join(f"{value:{width}d}" for value in side[start:stop])
        rows.append(f"{sign} {ends[0]}{cells}{ends[1]}{_sum(side)}")
    marks = " ".join(("^" if i in witness.changed else " ") * width for i in range(start, stop))
    return [*rows, f"? {' ' * len(ends[0])}{marks}".rstrip()]


def _window(length: int, changed: tuple[int, ...]) -> tuple[int, int]:
    if length <= _WHOLE:
        return 0, length
    start = max(0, min(changed[0] - _AROUND, length - 2 * _AROUND - 1))
    return start, min(length, start + 2 * _AROUND + 1)


def _sum(side: tuple[int, ...]) -> str:
    """What the eye cannot add up."""
    return f"   (sum {sum(side)})" if len(side) > _WHOLE else ""


def _event(witness: PrivacyWitness) -> str:
    if len(witness.event) == 1:
        return f"output {witness.output!r}"
    some = ", ".join(repr(output) for output in witness.event[:_MOST])
    more = ", .." if len(witness.event) > _MOST else ""
    return f"one of {len(witness.event)} outputs ({some}{more})"


def _probability(value: float, exact: str) -> str:
    # A certified ball is "[midpoint +/- radius]".
    is_fraction = "/" in exact and not exact.startswith("[")
    shown = f"   exactly {exact}" if is_fraction and len(exact) <= _LONG_TEXT else ""
    return f"{value:.9g}{shown}"


def _loss(witness: PrivacyWitness) -> str:
    claim = witness.claim
    if claim.delta > 0:
        return (
            f"excess over e^epsilon times the other: at least {witness.excess:.9g}, claim "
            f"{claim.delta:g}"
        )
    limit = claim.threshold * witness.distance
    found = "infinite" if math.isinf(witness.loss_lower) else f"{witness.loss_lower:.12g}"
    return f"loss {found}, claim at most {limit:.12g} ({claim})"

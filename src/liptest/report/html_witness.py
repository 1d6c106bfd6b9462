"""The witness on a page: which record changed, and how the output law moved with it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from liptest.privacy.verdicts import PrivacyVerdict, coordinate_noun, pair_text
from liptest.privacy.witnesses import PrivacyWitness
from liptest.report.findings import Findings
from liptest.report.html_tags import code, figure, figures, legend, section, shown, table
from liptest.report.svg import law_bars
from liptest.verdicts import Decision

# Records shown of a dataset: all of a short one, else some around each of the first changes.
_WHOLE, _AROUND, _CHANGES = 9, 3, 3


_MOST_VALUES = 6


_LONG_NUMBER = 600


def witness_section(
    name: str, verdict: PrivacyVerdict, witness: PrivacyWitness, found: Findings
) -> str:
    """Both datasets, both probabilities, both laws."""
    title = "Witness" if verdict.decision is Decision.NO else "The pair left open"
    lines = [line.strip() for line in pair_text(verdict, witness).splitlines()]
    said = "".join(f"<p>{shown(line, 700)}</p>" for line in lines)
    noun = coordinate_noun(verdict.relation)
    parts = [f'<div class="said">{said}</div>', datasets(witness, noun)]
    if witness.event:
        parts.append(_laws(name, found, noun if len(witness.changed) == 1 else f"{noun}s"))
        parts.append(_exactly(witness))
    return section(title, "".join(parts))


class Pair(Protocol):
    """Two datasets and where they differ."""

    @property
    def dataset(self) -> tuple[int, ...]: ...

    @property
    def neighbour(self) -> tuple[int, ...]: ...

    @property
    def changed(self) -> tuple[int, ...]: ...


def datasets(witness: Pair, noun: str) -> str:
    """Both datasets, one above the other, about what changed; ``noun`` is one coordinate."""
    places = _places(len(witness.dataset), witness.changed)
    rows = (
        (noun, None),
        ("first", witness.dataset),
        ("second", witness.neighbour),
    )
    body = "".join(_strip(name, side, places, witness.changed) for name, side in rows)
    framed = f"{noun} is framed" if len(witness.changed) == 1 else f"{noun}s are framed"
    return (
        f'<table class="strip" aria-label="Both datasets"><tbody>{body}</tbody></table>'
        f'<p class="under">The changed {framed}, counted from 0.</p>'
        f"{_counts(witness, places, noun)}"
    )


def _places(length: int, changed: Sequence[int]) -> list[int | None]:
    """Records to show, ascending; None for a gap."""
    if length <= _WHOLE:
        return list(range(length))
    near = {
        place
        for change in changed[:_CHANGES]
        for place in range(change - _AROUND, change + _AROUND + 1)
        if 0 <= place < length
    }
    if len(changed) > 1:  # room is for the changes then
        near = {place for place in near if min(abs(place - c) for c in changed[:_CHANGES]) <= 1}
    found: list[int | None] = []
    last = -1
    for place in sorted(near):
        if place > last + 1:
            found.append(None)
        found.append(place)
        last = place
    return found if last == length - 1 else [*found, None]


def _strip(
    name: str, side: Sequence[int] | None, places: Sequence[int | None], changed: Sequence[int]
) -> str:
    cells = []
    for place in places:
        if place is None:
            cells.append('<td class="gap">…</td>')
            continue
        text = place if side is None else side[place]
        kind = ' class="changed"' if place in changed else ""
        cells.append(
            f'<th scope="col"{kind}>{text}</th>' if side is None else f"<td{kind}>{text}</td>"
        )
    return f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>'


def _counts(witness: Pair, places: Sequence[int | None], noun: str) -> str:
    """What cannot be seen of long datasets: how often each value occurs."""
    if None not in places:
        return ""
    total = len(witness.dataset)
    sides = [Counter(side) for side in (witness.dataset, witness.neighbour)]
    values = sorted({*sides[0], *sides[1]})
    shared = total - len(witness.changed)
    text = f"<p>{total:,} {noun}s in each; {shared:,} of them are equal in both.</p>"
    if len(values) > _MOST_VALUES:
        sums = f"{sum(witness.dataset):,} and {sum(witness.neighbour):,}"
        return f"{text}<p>They add up to {sums}.</p>"
    rows = [
        [f"{name} dataset", *(f"{side[value]:,}" for value in values)]
        for name, side in zip(("first", "second"), sides, strict=True)
    ]
    heads = [f"how many {noun}s are", *map(str, values)]
    return text + table(heads, rows, kind="numbers")


def _laws(name: str, found: Findings, changed: str) -> str:
    if isinstance(found.laws, str):
        return f'<p class="absent">The output laws are not drawn: {shown(found.laws)}.</p>'
    rows = [
        [
            code(row.label) + (" (decides)" if row.decides else ""),
            *figures(row.probability, row.neighbour_probability),
        ]
        for row in found.laws
    ]
    caption = f"How the output law moves with the changed {changed}."
    taken = sum(row.outputs for row in found.laws)
    if taken > len(found.laws):
        caption += f" {taken:,} outputs, some of them taken together."
    picture = law_bars(f"{name}-laws", found.laws)
    return legend() + figure(picture, caption, ("output", "on the first", "on the second"), rows)


def _exactly(witness: PrivacyWitness) -> str:
    rows = [
        ["first dataset", f"{witness.probability:.12g}", code(witness.exact[0], _LONG_NUMBER)],
        [
            "second dataset",
            f"{witness.neighbour_probability:.12g}",
            code(witness.exact[1], _LONG_NUMBER),
        ],
    ]
    event = witness.output if len(witness.event) == 1 else witness.event
    limit = witness.claim.threshold * witness.distance
    facts = [["decides", code(repr(event), _LONG_NUMBER)]]
    if not witness.claim.delta:
        facts.append(["loss", _between(witness.loss_lower, witness.loss_upper)])
        facts.append(["the claim allows", f"{limit:.12g}, tolerance included"])
    return (
        f"<details><summary>Exact values</summary>"
        f"{table(('on the', 'probability', 'exactly'), rows)}{table((), facts)}</details>"
    )


def _between(lower: float, upper: float) -> str:
    if math.isinf(lower):
        return "infinite"
    ends = [f"{end:.12g}" for end in (lower, upper)]
    return ends[0] if ends[0] == ends[1] else f"between {ends[0]} and {ends[1]}"

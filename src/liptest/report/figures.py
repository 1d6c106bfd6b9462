"""The drawings of a page, each with its words and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from liptest.blackbox.verdicts import BlackBoxVerdict, LossBound
from liptest.enumerate.numbers.density_curves import DensityCurves
from liptest.privacy.claims import Claim
from liptest.privacy.notions import find_claimed_number, name_measure
from liptest.privacy.verdicts import PrivacyVerdict
from liptest.privacy.witnesses import PrivacyWitness
from liptest.report.density_picture import density_picture
from liptest.report.law_rows import CLOSE, LawRow
from liptest.report.svg import Bar, Drawing, bars, law_bars, number, row_losses
from liptest.verdicts import Decision

# Values of a density that are given as numbers.
_POINTS = 12


@dataclass(frozen=True)
class Code:
    """An output or a name, in letters of one width; of a longer one the beginning."""

    text: str
    most: int = 120
    after: str = ""


Cell = str | Code
Rows = list[list[Cell]]


@dataclass(frozen=True)
class Figure:
    """A drawing with its words and its numbers."""

    drawing: Drawing
    caption: str
    names: Sequence[str]
    rows: Rows


def loss_figure(
    name: str, title: str, caption: str, rows: Sequence[Bar], measure: str = ""
) -> Figure:
    """Losses as bars, with a claim among them."""
    numbers: Rows = [[row.label, number(row.value, 12)] for row in rows]
    names = (measure, "size") if measure else ("loss", "natural logarithm")
    axis = measure or "loss (natural logarithm)"
    picture = bars(f"{name}-losses", title, rows, axis=axis)
    return Figure(picture, caption, names, numbers)


def finding_figures(
    name: str, verdict: PrivacyVerdict, exact_epsilon: float | None = None
) -> list[Figure]:
    """The losses against the claim as bars; with delta the excess, too."""
    rows = [
        Bar("claimed", find_claimed_number(verdict.claim), "claim"),
        Bar("largest found", float(verdict.largest_loss), loss_kind(verdict.largest_loss, verdict)),
    ]
    caption = "Losses are logarithms of ratios of probabilities."
    measure = ""
    if not isinstance(verdict.claim, Claim):
        measure = name_measure(verdict.claim)
        caption = f"What is measured is {measure}."
    if exact_epsilon is not None:
        rows.append(Bar("exact epsilon", exact_epsilon, loss_kind(exact_epsilon, verdict)))
        caption += " The exact epsilon is the largest loss over all neighbouring datasets."
    if isinstance(verdict.claim, Claim) and verdict.claim.delta:
        caption += (
            f" With delta {verdict.claim.delta:g} a loss above epsilon may occur, as long as it "
            f"is rare enough."
        )
    return [
        loss_figure(name, "Losses against the claim", caption, rows, measure),
        *_excess(name, verdict),
    ]


def _excess(name: str, verdict: PrivacyVerdict) -> list[Figure]:
    """With delta, what decides is the excess of one law over the other."""
    witness = verdict.witness
    delta = verdict.claim.delta if isinstance(verdict.claim, Claim) else 0.0
    if not delta or witness is None or verdict.decision is not Decision.NO:
        return []
    rows = [Bar("claimed delta", delta, "claim"), Bar("excess found", witness.excess, "over")]
    caption = "At least so much does one law exceed e^epsilon times the other at the witness."
    picture = bars(f"{name}-excess", "Excess against delta", rows, axis="probability")
    numbers: Rows = [[row.label, number(row.value)] for row in rows]
    return [Figure(picture, caption, ("excess", "probability"), numbers)]


def loss_kind(loss: float, verdict: PrivacyVerdict) -> str:
    """With delta, a loss above epsilon breaks nothing by itself."""
    claim = verdict.claim
    if not isinstance(claim, Claim):
        return "over" if verdict.decision is Decision.NO else "within"
    return "over" if loss > claim.threshold * (1 + CLOSE) and not claim.delta else "within"


def bound_figure(name: str, verdict: BlackBoxVerdict) -> Figure:
    """The lower bound of a loss against the claim."""
    is_refuted = verdict.decision is Decision.NO
    rows = [
        Bar("claimed", float(verdict.claim.epsilon), "claim"),
        Bar("at least", verdict.largest_loss, "over" if is_refuted else "within"),
    ]
    excess = f" beyond delta {verdict.claim.delta:g}" if verdict.claim.delta else ""
    caption = (
        f"Losses are logarithms of ratios of probabilities. The lower bar is a lower bound of the "
        f"loss{excess}, at the confidence stated below: the true loss may be larger."
    )
    title = "Lower bound of the loss against the claim"
    return loss_figure(name, title, caption, rows)


def law_figure(name: str, laws: Sequence[LawRow], changed: str) -> Figure:
    """Both output distributions, one above the other at each row."""
    rows: Rows = [
        [
            Code(row.label, after=" (decides)" if row.decides else ""),
            number(row.probability),
            number(row.neighbour_probability),
        ]
        for row in laws
    ]
    caption = f"How the output distribution moves with the changed {changed}."
    taken = sum(row.outputs for row in laws)
    if taken > len(laws):
        caption += f" {taken:,} outputs, some of them taken together."
    picture = law_bars(f"{name}-laws", laws)
    return Figure(picture, caption, ("output", "on the first", "on the second"), rows)


def row_loss_figure(name: str, laws: Sequence[LawRow], witness: PrivacyWitness) -> Figure | None:
    """The loss of each row, against what the claim allows; nothing for claims without epsilon."""
    claim = witness.claim
    if not isinstance(claim, Claim):
        return None
    drawn, losses = row_losses(f"{name}-row-losses", laws, claim.threshold * witness.distance)
    numbers: Rows = [[Code(bar.label), number(bar.value, 12)] for bar in losses]
    caption = "Outputs that are taken together have the loss of their sum."
    if claim.delta:
        caption += " With delta a loss above epsilon may occur, as long as it is rare enough."
    return Figure(drawn, caption, ("output", "loss"), numbers)


def density_figure(name: str, curves: DensityCurves, witness: PrivacyWitness) -> Figure:
    """Both densities, the event shaded; a dozen of their values as numbers."""
    shares = witness.probability, witness.neighbour_probability
    event = repr(witness.output)
    if len(witness.event) > 1:
        event = f"{len(witness.event):,} ranges together"
    picture = density_picture(f"{name}-densities", curves, shares, event)
    step = max(1, len(curves.first) // _POINTS)
    middles = [(a + b) / 2 for a, b in pairwise(curves.edges)]
    points = zip(middles, curves.first, curves.second, strict=True)
    rows: Rows = [[number(value, 4) for value in point] for point in [*points][step // 2 :: step]]
    caption = (
        "How likely each output is; the outputs that decide have a grey background, and the areas "
        "under the curves there are their probabilities."
    )
    if curves.numbers > 1:
        caption = (
            "How likely each value of one number of the output is; where the outputs that decide "
            "have it, the background is grey."
        )
    elif curves.is_rare:
        caption = (
            "How likely each output is, on a logarithmic scale, since the outputs that decide are "
            "rare; they have a grey background."
        )
    return Figure(picture, caption, ("output", "on the first", "on the second"), rows)


def share_figure(name: str, bound: LossBound) -> Figure:
    """The event that was counted, on both datasets."""
    first, second = bound.shares
    rows = [
        LawRow(str(bound.event).removeprefix("output "), first, second, decides=True),
        LawRow("any other output", 1.0 - first, 1.0 - second),
    ]
    numbers: Rows = [
        [f"{place} dataset", f"{draws:,}", f"{hits:,}", number(hits / draws)]
        for place, draws, hits in zip(("first", "second"), bound.draws, bound.hits, strict=True)
    ]
    caption = "Shares of the samples, not probabilities. " + (
        "Pair and event were fixed before these samples were drawn."
        if bound.bets is None
        else "Each sample was counted in the event of its time; shown is the last one."
    )
    title = "Shares of the samples of the first and second dataset"
    picture = law_bars(f"{name}-shares", rows, title=title)
    heads = ("on the", "samples", "in the event", "share")
    return Figure(picture, caption, heads, numbers)

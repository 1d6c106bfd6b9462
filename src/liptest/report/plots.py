"""The drawings of a report as matplotlib figures, for notebooks and papers (extra ``plots``)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from liptest.data.dependence import Dependence
from liptest.data.distributions import Distribution
from liptest.errors import InputError
from liptest.mechanisms.base import check_mechanism
from liptest.privacy.notions import find_claimed_number, name_measure
from liptest.privacy.verdicts import PrivacyVerdict, coordinate_noun
from liptest.privacy.wording.profile_result import PrivacyProfile
from liptest.report.findings import exposure_rows, losses_by_record
from liptest.report.law_rows import CLOSE, Missing, witness_rows
from liptest.report.svg import number, short, visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_FIRST, _SECOND, _CLAIM = "#25588f", "#c26a12", "#b01818"


def profile_figure(profile: PrivacyProfile, *, claimed: float | None = None) -> Figure:
    """Exception mass against epsilon, as bands where it is known in bands.

    Raises InputError when matplotlib is missing or the profile has no points.
    """
    if not profile.points:
        raise InputError("profile: it has no points", name="profile")
    figure, axes = new_figure()
    epsilons = [point.epsilon for point in profile.points]
    upper = [point.upper for point in profile.points]
    lower = [point.lower for point in profile.points]
    axes.fill_between(epsilons, lower, upper, step="post", color=_FIRST, alpha=0.15)
    axes.step(epsilons, upper, where="post", color=_FIRST, label="upper")
    if lower != upper:
        axes.step(epsilons, lower, where="post", color=_SECOND, label="lower")
        axes.legend()
    _mark(axes, claimed)
    axes.set(xlabel="epsilon", ylabel="exception mass", ylim=(0, None))
    return figure


def curves_figure(profile: PrivacyProfile) -> Figure:
    """The epsilon-delta, Renyi and trade-off curves of a profile, as bands between their ends.

    Raises InputError when matplotlib is missing or the profile has no curves.
    """
    curves = profile.curves
    if curves is None:
        raise InputError(
            "profile: it has no curves; ask for them: lt.privacy_profile(.., curves=True)",
            name="profile",
        )
    figure, axes = new_figure(3)
    drawn = (
        ("epsilon", "delta", curves.deltas),
        ("order", "Renyi divergence", curves.divergences),
        ("false alarms", "misses of the best test", curves.trade_off),
    )
    for axis, (at, value, points) in zip(axes, drawn, strict=True):
        finite = [point for point in points if math.isfinite(point.upper)]
        places = [point.at for point in finite]
        lower, upper = [point.lower for point in finite], [point.upper for point in finite]
        axis.fill_between(places, lower, upper, color=_FIRST, alpha=0.3)
        axis.plot(places, upper, color=_FIRST)
        axis.set(xlabel=at, ylabel=value, ylim=(0, None))
    axes[1].set_xscale("log")
    if curves.divergences and not any(
        math.isfinite(divergence.upper) for divergence in curves.divergences
    ):
        axes[1].annotate("infinite at every order", (0.1, 0.5), xycoords="axes fraction")
    axes[2].plot([0, 1], [1, 0], color="#888888", linestyle=":")
    return figure


def claim_figure(verdict: PrivacyVerdict) -> Figure:
    """The claimed epsilon beside the largest loss that was found.

    Raises InputError when matplotlib is missing.
    """
    claimed, largest = find_claimed_number(verdict.claim), float(verdict.largest_loss)
    return _bars(
        [("claimed", claimed), ("largest found", largest)], claimed, name_measure(verdict.claim)
    )


def exposure_figure(
    mechanism: Any, distribution: Distribution, *, claimed: float | None = None
) -> Figure:
    """Largest loss by record; of many records equal ones together.

    Raises InputError when matplotlib is missing, or the losses are not known at little cost.
    """
    try:
        losses = losses_by_record(check_mechanism(mechanism), distribution.domain).tolist()
    except Missing as missing:
        raise InputError(
            f"mechanism, distribution={distribution.domain}: {missing}", name="distribution"
        ) from None
    noun = coordinate_noun(distribution.domain.relation)
    rows = [(row.label(noun), row.loss) for row in exposure_rows(losses)]
    return _bars(rows, claimed, "largest loss")


def witness_figure(verdict: PrivacyVerdict, mechanism: Any) -> Figure:
    """Both output distributions of a verdict's witness; of many outputs the likelier ones.

    Raises InputError when matplotlib is missing, the verdict has no witness, or the mechanism
    does not give its probabilities.
    """
    checked = check_mechanism(mechanism)
    if verdict.witness is None:
        raise InputError("verdict: it has no witness to draw", name="verdict")
    try:
        rows = witness_rows(checked, verdict.witness)
    except Missing as missing:
        raise InputError(f"mechanism={checked.name}: {missing}", name="mechanism") from None
    figure, axes = new_figure()
    places = range(len(rows))
    for shift, name, colour, hatch, values in (
        (-0.2, "first dataset", _FIRST, "", [row.probability for row in rows]),
        (0.2, "second dataset", _SECOND, "///", [row.neighbour_probability for row in rows]),
    ):
        at = [x + shift for x in places]
        axes.bar(at, values, 0.4, label=name, color=colour, hatch=hatch, edgecolor="white")
    labels = [short(row.label) + (" *" if row.decides else "") for row in rows]
    axes.set_xticks(list(places), [plain_text(label) for label in labels], rotation=45, ha="right")
    axes.set(ylabel="probability", xlabel="output (* decides)")
    axes.legend()
    return figure


def _bars(rows: list[tuple[str, float]], claimed: float | None, title: str) -> Figure:
    """Bars; an infinite one is drawn to the edge and said so."""
    figure, axes = new_figure()
    finite = [value for _, value in rows if math.isfinite(value)]
    edge = 1.2 * max([*finite, claimed or 0.0, 1e-12])
    limit = math.inf if claimed is None else claimed * (1 + CLOSE)
    colours = [_CLAIM if v > limit or math.isinf(v) else _FIRST for _, v in rows]
    places = range(len(rows))
    axes.barh(places, [min(value, edge) for _, value in rows], color=colours)
    for place, (_, value) in enumerate(rows):
        axes.annotate(f" {number(value)}", (min(value, edge), place), va="center", fontsize=8)
    axes.set_yticks(list(places), [label for label, _ in rows])
    axes.invert_yaxis()
    axes.margins(x=0.15)
    _mark(axes, claimed)
    axes.set(xlabel=title)
    return figure


def plain_text(text: str) -> str:
    """No letter of an output is a formula."""
    return visible(text).replace("$", r"\$")


def _mark(axes: Any, claimed: float | None) -> None:
    if claimed is not None:
        axes.axvline(claimed, color=_CLAIM, linestyle="--")
        axes.annotate(f"claimed {claimed:g}", (claimed, 0.98), xycoords=("data", "axes fraction"))


def new_figure(panels: int = 1) -> tuple[Figure, Any]:
    """An empty figure and its axes, side by side; InputError when matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "plots need matplotlib; install liptest with its extra: pip install 'liptest[plots]'"
        ) from None
    figure = Figure(figsize=(3.6 * panels if panels > 1 else 6.4, 3.6), layout="constrained")
    return figure, figure.subplots(1, panels)


_LABELS = 24


def dependence_figure(found: Dependence) -> Figure:
    """Total variation of each pair of columns from the product law, as a square of colours.

    Pairs whose dependence is proved have a dot. Raises InputError when matplotlib is missing.
    """
    figure, axes = new_figure()
    matrix = found.matrix()
    image = axes.imshow(matrix, cmap="Blues", vmin=0.0, vmax=max(float(matrix.max()), 1e-12))
    figure.colorbar(image, ax=axes, label="total variation from independence")
    place = {name: i for i, name in enumerate(found.columns)}
    proved = [(place[p.first], place[p.second]) for p in found.pairs if p.proved > 0]
    dots = [(a, b) for i, j in proved for a, b in ((i, j), (j, i))]
    axes.plot([x for x, _ in dots], [y for _, y in dots], ".", color="#c26a12", label="proved")
    if dots:
        axes.legend(loc="upper left", bbox_to_anchor=(0.0, 1.16), frameon=False)
    names = [plain_text(name) for name in found.columns]
    if len(names) <= _LABELS:
        axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
        axes.set_yticks(range(len(names)), names)
    return figure

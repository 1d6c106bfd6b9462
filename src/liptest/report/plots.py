"""The drawings of a report as matplotlib figures, for notebooks and papers (extra ``plots``)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from liptest.distributions import Distribution
from liptest.errors import InputError
from liptest.mechanisms.base import check_mechanism
from liptest.privacy.profile_result import PrivacyProfile
from liptest.privacy.verdicts import PrivacyVerdict
from liptest.report.exposure import losses_by_record, witness_laws

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FIRST, _SECOND, _CLAIM = "#2b5f9e", "#b4570b", "#ab1f17"


def profile_figure(profile: PrivacyProfile, *, claimed: float | None = None) -> Figure:
    """Exception mass against epsilon, as bands where it is known in bands.

    Raises InputError when matplotlib is missing or the profile has no points.
    """
    if not profile.points:
        raise InputError("profile: it has no points", name="profile")
    figure, axes = _figure()
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


def exposure_figure(
    mechanism: Any, distribution: Distribution, *, claimed: float | None = None
) -> Figure:
    """Largest loss by record; infinite ones are drawn to the edge and said so.

    Raises InputError when matplotlib is missing, or the domain is too large to visit.
    """
    losses = losses_by_record(check_mechanism(mechanism), distribution)
    if losses is None:
        raise InputError(
            f"distribution: {distribution.domain} has too many datasets to be visited, or the "
            f"outputs are unbounded",
            name="distribution",
        )
    figure, axes = _figure()
    finite = [loss for loss in losses if math.isfinite(loss)]
    edge = 1.2 * max([*finite, claimed or 0.0, 1e-12])
    colours = [_FIRST if math.isfinite(loss) else _CLAIM for loss in losses]
    axes.bar(range(len(losses)), [min(loss, edge) for loss in losses], color=colours)
    for record, loss in enumerate(losses):
        if math.isinf(loss):
            axes.annotate("infinite", (record, edge), ha="center", va="bottom", fontsize=8)
    if claimed is not None:
        axes.axhline(claimed, color=_CLAIM, linestyle="--")
    axes.set(xlabel="record", ylabel="largest loss")
    return figure


def witness_figure(verdict: PrivacyVerdict, mechanism: Any) -> Figure:
    """Both output laws of a verdict's witness, the likelier outputs of them.

    Raises InputError when matplotlib is missing, the verdict has no witness, or its laws are
    unbounded.
    """
    checked = check_mechanism(mechanism)
    laws = None if verdict.witness is None else witness_laws(checked, verdict.witness)
    if laws is None:
        raise InputError("verdict: it has no witness with finite laws to draw", name="verdict")
    figure, axes = _figure()
    places = range(len(laws.rows))
    for shift, name, colour, values in (
        (-0.2, "first dataset", _FIRST, [row.probability for row in laws.rows]),
        (0.2, "second dataset", _SECOND, [row.neighbour_probability for row in laws.rows]),
    ):
        axes.bar([x + shift for x in places], values, 0.4, label=name, color=colour)
    axes.set_xticks(list(places), [repr(row.output) for row in laws.rows], rotation=45, ha="right")
    axes.set(ylabel="probability")
    axes.legend()
    return figure


def _mark(axes: Any, claimed: float | None) -> None:
    if claimed is not None:
        axes.axvline(claimed, color=_CLAIM, linestyle="--")
        axes.annotate(f"claimed {claimed:g}", (claimed, 0.98), xycoords=("data", "axes fraction"))


def _figure() -> tuple[Figure, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "plots need matplotlib; install liptest with its extra: pip install 'liptest[plots]'"
        ) from None
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    return figure, figure.add_subplot()

"""A picture of the dependence of columns; needs matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from liptest.data.dependence_result import Dependence
from liptest.report.plots import new_figure, plain_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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

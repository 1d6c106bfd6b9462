"""Functions and distributions as the commands of the laboratory name them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liptest.commands.jobs import muted, numbers
from liptest.commands.loading import load_object
from liptest.config import DistributionModel, DomainModel, validated
from liptest.data.distributions import ProductDistribution
from liptest.data.domains import IntArray
from liptest.errors import FunctionError, InputError, shown


@dataclass(frozen=True)
class NamedFunction:
    """A function from a file: what it raises, or an attempt to exit, is its own fault."""

    function: Callable[[IntArray], Any]
    label: str

    @property
    def __name__(self) -> str:
        return self.label

    def __call__(self, points: IntArray) -> Any:
        try:
            return self.function(points)
        except (Exception, SystemExit) as error:
            said = f"{type(error).__name__}: {shown(str(error), 200)}"
            raise FunctionError(
                f"{self.label}: it raised {said}; it is called with an (n, d) array, wrap a "
                f"function of one point in lt.scalar(...)"
            ) from None


def load_function(where: str) -> tuple[Any, str]:
    """A callable or a table, and its label."""
    if where.endswith(".npy"):
        return _table(Path(where)), Path(where).stem
    with muted():
        found, label = load_object(where)
    return (NamedFunction(found, label) if callable(found) else found), label


def _table(path: Path) -> NDArray[Any]:
    if not path.is_file():
        raise InputError(f"{path}: there is no such file", name="function")
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (ValueError, OSError, EOFError):
        raise InputError(
            f"{path}: it is no readable .npy table of numbers", name="function"
        ) from None


def read_law(options: dict[str, Any], function: Any) -> ProductDistribution:
    """The distribution asked for; a table gives its own sizes."""
    sizes, dimension = numbers(options["sizes"], always_list=True), options["dimension"]
    if isinstance(function, np.ndarray) and sizes is None and dimension is None:
        sizes, dimension = list(function.shape), function.ndim
    probabilities = numbers(options["probabilities"])
    is_cube = options["domain"] == "cube"
    if is_cube and sizes is not None and set(sizes) != {2}:
        raise InputError(
            f"sizes={shown(sizes)}: coordinates of more values need --domain grid (counts moved "
            f"by 1) or --domain records (records replaced)",
            name="sizes",
        )
    domain = {
        "kind": options["domain"],
        "dimension": len(sizes) if is_cube and sizes is not None else dimension,
        "sizes": None if is_cube else sizes,
    }
    data = {"probabilities": probabilities, "uniform": probabilities is None}
    known = validated(DomainModel, domain, "arguments").build()
    return validated(DistributionModel, data, "arguments").build(known, Path())

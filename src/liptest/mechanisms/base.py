"""What a mechanism is, and the exact law of one dataset.

A mechanism is a randomised algorithm from datasets to outputs; liptest asks for its output
laws, never for its intentions. Three methods are the whole seam; tables of laws are compared
through four more, so that unbounded outputs can answer in closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.data.domains import Domain, IntArray
from liptest.data.points import PointBatch
from liptest.errors import ContinuousOutputs, GateError, InputError, LiptestError, shown
from liptest.mechanisms.laws import Output, OutputLaw


class ComparableLaws(Protocol):
    """Laws of q queries, some of which share one of u distinct laws.

    ``left`` and ``right`` are (p,) indices of distinct laws.
    """

    def distinct(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Distinct law of each queried position."""
        ...

    def losses(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        """Loss of each pair, natural log units."""
        ...

    def hockey_sticks(
        self, left: NDArray[np.int64], right: NDArray[np.int64], epsilon: float
    ) -> NDArray[np.float64]:
        """Hockey-stick divergence of each pair, the larger direction."""
        ...

    def screen_error(
        self, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Bound on the error of each loss."""
        ...

    def has_uncertain_zeros(
        self, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Pairs in which an output may be an underflow on both sides."""
        ...

    def is_answered(self) -> bool:
        """False when every output is a raised exception."""
        ...


@runtime_checkable
class Mechanism(Protocol):
    """A randomised algorithm whose output law can be asked for.

    ``name`` is printed; ``outputs`` is the declared finite range or None; ``source`` says where
    laws come from ("declared", "enumerated"); ``statistic`` is the only thing the mechanism
    sees of a dataset, or None when it sees all of it. ``points_per_slice(domain)`` bounds how
    many laws are asked for at once. A method ``neighbour_laws`` is optional: see
    ``liptest.mechanisms.neighbourhoods``.
    """

    @property
    def name(self) -> str:
        """Printed in verdicts."""
        ...

    @property
    def outputs(self) -> tuple[Output, ...] | None:
        """Declared finite range, None when there is none."""
        ...

    @property
    def source(self) -> str:
        """Where laws come from: "declared" or "enumerated"."""
        ...

    @property
    def statistic(self) -> Any:
        """All that it sees of a dataset; None when it sees the dataset itself."""
        ...

    def points_per_slice(self, domain: Domain) -> int:
        """How many laws to ask for at once."""
        ...

    def laws(self, points: PointBatch) -> ComparableLaws:
        """Laws at all points of a batch, centres first."""
        ...

    def law(self, dataset: IntArray) -> OutputLaw:
        """Law on one dataset, (d,) integers, as exactly as it is known."""
        ...


T = TypeVar("T")


class ReadsMore(Exception):
    """On some dataset a narrowed mechanism reads more than the statistic it was narrowed to."""


def through_reads(mechanism: Mechanism, domain: Domain, use: Callable[[Mechanism], T]) -> T:
    """``use`` the mechanism through the little that it reads of a dataset, if it reads little.

    Mechanisms that know what their code reads have ``narrowed(domain)``: the same mechanism with
    a statistic, or None. It raises ReadsMore when a dataset shows that more is read; then ``use``
    starts again with the mechanism itself. Mechanisms with real outputs raise ContinuousOutputs and
    have ``with_densities()``, the mechanism that compares them.
    """
    return through_densities(mechanism, lambda seen: _through_reads(seen, domain, use))


def through_densities(mechanism: Mechanism, use: Callable[[Mechanism], T]) -> T:
    """``use`` the mechanism, or where its outputs are real numbers the one that has densities."""
    try:
        return use(mechanism)
    except ContinuousOutputs:
        with_densities = getattr(mechanism, "with_densities", None)
        if with_densities is None:
            raise
    return use(with_densities())


def require_probabilities(mechanism: Mechanism, domain: Domain) -> None:
    """Raise GateError where outputs are real numbers: there is no law to draw from exactly."""
    if not hasattr(mechanism, "with_densities"):
        return
    try:
        mechanism.law(domain.points([0])[0])
    except ContinuousOutputs:
        raise GateError(
            f"mechanism={mechanism.name}: its outputs are real numbers with noise; a gate draws "
            f"with exact probabilities: round the output in the code, for example numpy.round(x)"
        ) from None
    except LiptestError:
        return  # whoever tests it says what is wrong


def _through_reads(mechanism: Mechanism, domain: Domain, use: Callable[[Mechanism], T]) -> T:
    narrowed = getattr(mechanism, "narrowed", None)
    # Edges of what is read are known where neighbours differ in one coordinate.
    seen = None if narrowed is None or not domain.one_at_a_time else narrowed(domain)
    if seen is not None:
        with suppress(ReadsMore):
            return use(seen)
    return use(mechanism)


def check_mechanism(mechanism: object) -> Mechanism:
    """Return a mechanism, or raise InputError that says how to make one."""
    if hasattr(mechanism, "check_privacy"):
        raise InputError(
            f"mechanism={shown(mechanism)} gives samples and no output laws; use "
            f"lt.check_samples(sampler, distribution, ..) or lt.epsilon_lower_bound; nothing is "
            f"released on samples",
            name="mechanism",
            value=mechanism,
        )
    if isinstance(mechanism, type) or not isinstance(mechanism, Mechanism):
        raise InputError(
            f"mechanism={shown(mechanism)} is no mechanism; decorate a function (data, rng) with "
            f"@lt.mechanism, or declare its law with lt.ClosedForm(outputs, log_pmf)",
            name="mechanism",
        )
    return mechanism


def output_law(mechanism: object, dataset: ArrayLike) -> OutputLaw:
    """Exact output law of a mechanism on one dataset, (d,) whole numbers.

    Raises InputError for what is no mechanism or no dataset, MechanismError for a broken one.
    """
    checked = check_mechanism(mechanism)
    array = np.asarray(dataset)
    if array.ndim != 1 or array.dtype.kind not in "iub" or array.size == 0:
        raise InputError(
            f"dataset: shape={array.shape}, dtype={array.dtype}; give one dataset as a 1-d array "
            f"of whole numbers",
            name="dataset",
        )
    return checked.law(array)

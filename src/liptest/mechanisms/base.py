"""What a mechanism is, and the exact law of one dataset.

A mechanism is a randomised algorithm from datasets to outputs; liptest asks for its output
laws, never for its intentions. ``law`` and ``laws`` are the whole seam; every other answer has a
default, which a mechanism overrides where it knows more.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial, singledispatch
from itertools import islice
from types import FunctionType
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import numpy as np
from flint import arb
from numpy.typing import NDArray

from liptest.data.domains import Domain, IntArray
from liptest.data.points import PointBatch
from liptest.data.tables import Table
from liptest.errors import (
    BudgetError,
    ContinuousOutputs,
    GateError,
    InputError,
    LiptestError,
    MechanismError,
    SymbolicError,
    UnsupportedForm,
    UnsupportedRandomnessError,
    quote,
)
from liptest.mechanisms.adapting import adapt
from liptest.mechanisms.laws import ComparableLaws, Output, OutputLaw

if TYPE_CHECKING:
    from liptest.mechanisms.likelihood_cells import PairCells

#: A condition of a verdict.
EQUAL_ARE_ONE = (
    "outputs that are equal count as one, whatever their type, the sign of a zero or the order of "
    "a dict (typed_outputs=True tells them apart)"
)
#: Before the words of a constant seed, among the conditions that ``law_source`` tells.
DETERMINED = "determined by the constant seed"
Balls = tuple[arb, arb]
T = TypeVar("T")
#: Paths of code whose data are symbols.
MOST_PATHS = 4096
# The answers without which nothing is a mechanism.
_NEEDED = ("name", "outputs", "source", "statistic", "points_per_slice", "laws", "law")


class Mechanism(ABC):
    """A randomised algorithm whose output distribution can be computed.

    A subclass gives ``name``, ``outputs``, ``law`` and ``laws``. All else is optional: the defaults
    are those of a declared formula that sees the whole dataset. Faster laws of neighbourhoods are
    another optional answer, see ``liptest.mechanisms.neighbourhoods``.
    """

    #: Printed in verdicts.
    name: str
    #: Declared finite range. Without one declared laws are taken to be unbounded.
    outputs: tuple[Output, ...] | None = None
    #: Where laws come from: "declared" or "enumerated".
    source: str = "declared"
    #: All that it sees of a dataset; None when it sees the dataset itself.
    statistic: Any = None

    @abstractmethod
    def laws(self, points: PointBatch) -> ComparableLaws:
        """Laws at all points of a batch, centres first."""

    @abstractmethod
    def law(self, dataset: IntArray) -> OutputLaw:
        """Law on one dataset, (d,) integers, as exactly as it is known."""

    def laws_of(self, values: NDArray[np.int64]) -> ComparableLaws:
        """Laws given m values of the statistic, (m,) or (m, k), in the order given.

        Whoever sees a statistic overrides it.
        """
        raise InputError(
            f"mechanism={self.name} has a statistic, but no laws_of(values); define it, or leave "
            f"the statistic out",
            name="mechanism",
        )

    def points_per_slice(self, domain: Domain) -> int:
        """How many laws are computed at once."""
        return 1 << 10

    @property
    def law_source(self) -> str:
        """Where the laws that were computed so far came from."""
        return self.source

    def learner(self) -> Any:
        """What shares its laws with other processes (``runs.lessons``), or None."""
        return None

    @property
    def determined(self) -> str:
        """How a constant seed determines the outputs, as ``law_source`` says; else empty."""
        conditions = self.law_source.split("; ")
        return next((condition for condition in conditions if condition.startswith(DETERMINED)), "")

    def check_not_determined(self) -> None:
        """MechanismError where outputs are determined, and those of its first call do no harm.

        What a later call answers is determined, too, and was not looked at.
        """
        if self.determined:
            raise MechanismError(
                f"{self.name}: its output is {self.determined}; on its first call no claim is "
                f"broken, of later ones nothing is known; make the generator without a seed"
            )

    @property
    def reads_only(self) -> bool:
        """Whether the statistic is what code was seen to read, not what it is given."""
        return False

    @property
    def first_exception(self) -> str | None:
        """Type and message of an exception, where a dataset made every run raise one."""
        return None

    @property
    def has_trace(self) -> bool:
        """Whether ``trace`` knows the random choices behind an output."""
        return False

    def trace(self, dataset: IntArray, *outputs: Output) -> Any:
        """Random choices that lead to one of the outputs on a dataset; None when not found."""
        return None

    def fresh_law(self, dataset: IntArray) -> OutputLaw:
        """``law`` without a memo, so that a mechanism that changes its answers is noticed."""
        return self.law(dataset)

    def afresh(self) -> Self:
        """The same mechanism, of which no law was computed yet."""
        return self

    def within(self, runs: int) -> Self:
        """The same mechanism with no more than so many runs of its code for one law."""
        return self

    def without_light(self, runs: int) -> Self | None:
        """``within``, with laws that leave what noise next to never does unexplored; None: not so.

        Where noisy numbers are far from each other such a law has few paths.
        """
        return None

    def telling_words(self) -> Self | None:
        """The same mechanism with the words of each text that it answers; None: it makes none.

        A claim that the words break the text breaks (docs/theory/whole.md, W6).
        """
        return None

    def float_paths(self, dataset: IntArray) -> Any:
        """All paths of its code on a dataset, float by float, with ``paths`` empty and a ``reason``
        where it is not followed; None where there is no code to follow.
        """
        return None

    @property
    def walks_records(self) -> bool:
        """Whether its code was seen to read its data record by record."""
        return False

    def align_paths(
        self, domain: Domain, *, way: str = "released", max_paths: int = MOST_PATHS
    ) -> Any:
        """Its paths with data and noise as symbols, with ``paths`` empty and a ``reason`` where it
        is not followed; None where there is no code to follow.

        ``way``: "released" counts all that the program looks at as part of its output, "branches"
        follows its comparisons, "every branch" also those of runs that meet (docs/theory, loops).
        No more paths than ``max_paths`` are followed; ``has_too_many`` says where that ended it.
        """
        return None

    def find_added_law(self, domain: Domain) -> Any:
        """The law of whole noise of its own making that it adds to sums of its data; a sentence
        that says why there is none.
        """
        return f"{self.name}: there is no code to follow"

    def drawing_noise(self) -> Mechanism | None:
        """The same mechanism, whose code draws noise where a function of its own makes it."""
        return None

    def only_raises(self, dataset: IntArray) -> str | None:
        """The exception that every run on a dataset raises; None where some run answers, or where
        that is not seen in few runs."""
        return None

    def narrowed(self, domain: Domain) -> Mechanism | None:
        """The same mechanism with a statistic, where its code reads little of a dataset.

        It raises ReadsMore on use when a dataset shows that more is read.
        """
        return None

    @property
    def has_symbolic_data(self) -> bool:
        """Whether it is code, and all that it gets of data can be symbols."""
        return self.source != "declared" and self.statistic is None

    @property
    def is_drawn_as_followed(self) -> bool:
        """Whether a release draws exactly what its paths say, so that their price is enough."""
        return False

    @property
    def is_per_record(self) -> bool:
        """Whether it is declared as the function of one record."""
        return False

    def on_domain(self, domain: Domain) -> Mechanism:
        """The mechanism that gets the datasets of a domain: a table's reach it as data frames.

        Raises InputError where it takes none.
        """
        if isinstance(domain, Table):
            raise InputError(
                f"mechanism={self.name!r} with a table: give a Python function (frame, rng), which "
                f"gets its data frame",
                name="mechanism",
            )
        return self

    def of_one_record(self, example: IntArray) -> Mechanism | None:
        """The mechanism of one record, where the records of a dataset are treated one by one.

        Its datasets are of one record; an output distribution of this mechanism is then the
        product of its laws, one for each place. ``example`` is any dataset, (d,). None where that
        is not known.
        """
        return None

    def inner_records(self, example: IntArray) -> Iterator[Mechanism]:
        """Mechanisms of one record whose outputs, one for each, are all that the output is made of.

        The output is private where they are; it may be more private.
        """
        return iter(())

    def note_parts(self, dataset: IntArray) -> Iterator[Any]:
        """What it calculates from notes of its records alone: ``told_totals.NotePart``, so many
        records as the dataset has."""
        return iter(())

    def by_totals(self, dataset: IntArray) -> Iterator[Mechanism]:
        """Mechanisms that tell less of its outputs, on datasets with the values of this one."""
        for part in islice(self.note_parts(dataset), MOST_NOTE_PARTS):
            with suppress(LiptestError):
                yield from part.views(dataset)

    def of_rows(self, rows: IntArray) -> Mechanism:
        """Of a mechanism of one row of a table: the one whose datasets are places among some rows.

        ``rows`` are numbers of rows, (k,), as the table's datasets hold them.
        """
        raise UnsupportedForm(f"{self.name}: not of one row of a table")

    #: Of a mechanism of one record: how many numbers of a dataset hold a record.
    record_width = 1

    def check_examples(self) -> None:
        """Of a mechanism of one record: compare it with the function itself on whole datasets.

        Raises NotByRecords where they differ.
        """
        return

    @property
    def columns_read(self) -> frozenset[str]:
        """Of a mechanism of one row of a table: the columns that its laws so far depend on."""
        return frozenset()

    def product_law(self, value: int) -> Any:
        """Of one record of this value, where the parts of its output are independent.

        A ``product_laws.ProductLaw``. Raises UnsupportedForm where that is not known.
        """
        raise UnsupportedForm(f"{self.name}: the parts of its output are not told apart")

    def densities(self) -> Mechanism | None:
        """The same mechanism where outputs are real numbers: laws are compared by densities."""
        return None

    def over_all_numbers(self, dataset: IntArray) -> Mechanism | None:
        """The same mechanism, compared over all whole numbers, where code answers some with noise.

        ``dataset`` is one on which it may be run to see that.
        """
        return None

    def near_all_numbers(self, dataset: IntArray) -> Mechanism | None:
        """The same, where samplers of its own draw nearly discrete Laplace noise: to refute only.

        What it says of two laws is a lower bound of how far they differ.
        """
        return None


class ClosedFormLosses(Mechanism):
    """A mechanism with unbounded outputs: losses of two datasets as balls, not finite laws."""

    @abstractmethod
    def pair_loss(self, dataset: IntArray, neighbour: IntArray) -> arb:
        """Ball that contains the loss of two datasets."""

    @abstractmethod
    def pair_hockey_stick(self, dataset: IntArray, neighbour: IntArray, epsilon: arb) -> arb:
        """Ball that contains their larger hockey-stick divergence for all epsilon of a ball."""

    def pair_curve(self, dataset: IntArray, neighbour: IntArray) -> Callable[[arb], arb]:
        """``pair_hockey_stick`` of one pair, to be asked for many epsilon."""
        return partial(self.pair_hockey_stick, dataset, neighbour)

    @abstractmethod
    def pair_witness(
        self, dataset: IntArray, neighbour: IntArray, epsilon: float
    ) -> tuple[Output, arb, arb]:
        """An output whose loss exceeds ``epsilon``, with both probabilities as balls.

        Where no output's loss does, the output of the largest loss.
        """

    def pair_cells(self, dataset: IntArray, neighbour: IntArray) -> PairCells:
        """Both laws as cells; UnsupportedForm where they are not compared so."""
        raise UnsupportedForm(f"{self.name}: compared by its largest loss and its deltas only")

    def pair_event(
        self, dataset: IntArray, neighbour: IntArray, epsilon: arb
    ) -> tuple[tuple[Output, ...], list[Balls]] | None:
        """The outputs of that divergence, with both probabilities of each as balls.

        None: they are looked for among the outputs that ``law`` lists.
        """
        return None


@dataclass(frozen=True, eq=False)
class MechanismWrapper(Mechanism):
    """A mechanism seen in another way; what a subclass does not say is what ``inner`` says."""

    inner: Mechanism
    name: str = field(init=False)
    outputs: tuple[Output, ...] | None = field(init=False)
    source: str = field(init=False)
    statistic: Any = field(init=False)

    def __post_init__(self) -> None:
        for key in ("name", "outputs", "source", "statistic"):
            vars(self).setdefault(key, getattr(self.inner, key))

    @property
    def law_source(self) -> str:
        return self.inner.law_source

    @property
    def reads_only(self) -> bool:
        return self.inner.reads_only

    @property
    def first_exception(self) -> str | None:
        return self.inner.first_exception

    def points_per_slice(self, domain: Domain) -> int:
        return self.inner.points_per_slice(domain)

    def laws(self, points: PointBatch) -> ComparableLaws:
        return self.inner.laws(points)

    def laws_of(self, values: NDArray[np.int64]) -> ComparableLaws:
        return self.inner.laws_of(values)

    def law(self, dataset: IntArray) -> OutputLaw:
        return self.inner.law(dataset)


class _Adapted(MechanismWrapper):
    """An object that has the needed answers of a mechanism, and none of the optional ones."""

    law_source = Mechanism.law_source
    reads_only = Mechanism.reads_only
    first_exception = Mechanism.first_exception


class SamplesOnly:
    """A mechanism that only gives samples: ``lt.Sampler``."""


@singledispatch
def check_by_samples(sampler: object, distribution: Any, **options: Any) -> Any:
    """Test a claim about what is not a mechanism but a sampler; the black box registers itself.

    Raises InputError for everything else.
    """
    raise InputError(
        f"method='black-box': mechanism={quote(sampler)} is not a sampler; wrap a function "
        f"(dataset, n, rng) in lt.Sampler(function), or choose another method",
        name="method",
    )


class ReadsMore(Exception):
    """On some dataset a narrowed mechanism reads more than the statistic it was narrowed to."""


def through_reads(mechanism: Mechanism, domain: Domain, use: Callable[[Mechanism], T]) -> T:
    """``use`` the mechanism through the little that it reads of a dataset, if it reads little.

    Mechanisms that know what their code reads have ``narrowed(domain)``: the same mechanism with
    a statistic, or None. It raises ReadsMore when a dataset shows that more is read; then ``use``
    starts again with the mechanism itself. Mechanisms with real outputs raise ContinuousOutputs and
    have ``densities()``, the mechanism that compares them.
    """
    return through_densities(mechanism, lambda seen: _through_reads(seen, domain, use))


def through_all_numbers(
    mechanism: Mechanism, dataset: IntArray, use: Callable[[Mechanism], T]
) -> T:
    """``use`` the mechanism, where it answers whole numbers with noise the one that compares all.

    What that does not follow is looked at value by value, as ever.
    """
    seen = mechanism.over_all_numbers(dataset)
    if seen is not None:
        with suppress(UnsupportedForm, SymbolicError, BudgetError, UnsupportedRandomnessError):
            return use(seen)
    return use(mechanism)


def to_refute(
    mechanism: Mechanism,
    dataset: IntArray,
    use: Callable[[Mechanism], T],
    is_enough: Callable[[T], bool],
) -> T:
    """``use`` the mechanism that can only refute, where there is one and what it says is enough;
    else as ``through_all_numbers``."""
    for near in _views_to_refute(mechanism, dataset):
        if near is None:
            continue
        with suppress(LiptestError):
            found = use(near)
            if is_enough(found):
                return found
    return through_all_numbers(mechanism, dataset, use)


def _views_to_refute(mechanism: Mechanism, dataset: IntArray) -> Iterator[Mechanism | None]:
    if len(dataset) >= FEWEST_RECORDS:
        yield from mechanism.by_totals(dataset)
    yield mechanism.near_all_numbers(dataset)
    yield mechanism.without_light(LIGHT_RUNS)


#: Parts of code in which notes are looked for.
MOST_NOTE_PARTS = 8
#: Totals are asked of datasets of so many records.
FEWEST_RECORDS = 6
#: Runs for one law without what is next to never.
LIGHT_RUNS = 256


def through_densities(mechanism: Mechanism, use: Callable[[Mechanism], T]) -> T:
    """``use`` the mechanism, or where its outputs are real numbers the one that has densities."""
    try:
        return use(mechanism)
    except ContinuousOutputs:
        seen = mechanism.densities()
        if seen is None:
            raise
    return use(seen)


def require_probabilities(mechanism: Mechanism, domain: Domain) -> None:
    """Raise GateError where outputs are real numbers: there is no law to draw from exactly."""
    if mechanism.densities() is None:
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
    # Edges of what is read are known where neighbours differ in one coordinate.
    seen = mechanism.narrowed(domain) if domain.one_at_a_time else None
    if seen is not None:
        with suppress(ReadsMore):
            return use(seen)
    return use(mechanism)


def _instead_of(value: object) -> str:
    """What to give in the place of a value that cannot be called."""
    if isinstance(value, str):
        name = _name_in(value)
        return f"give a function (data, rng) itself, as from mine import {name}, not its name"
    if value is None or isinstance(value, (int, float, list, tuple, dict, np.generic, np.ndarray)):
        return (
            "give a function (data, rng), count, not its answer, count(data, rng); or subclass "
            "lt.Mechanism"
        )
    if isinstance(value, Domain):
        return (
            "it says what the data are, and comes after the mechanism, as in "
            "lt.check_privacy(count, lt.Hypercube(5000), epsilon=1)"
        )
    kind = type(value)
    methods = [name for name, one in vars(kind).items() if isinstance(one, FunctionType)]
    public = [name for name in methods if not name.startswith("_")]
    own = f"give one of its methods ({', '.join(public[:8])}), " if public else "give "
    return (
        f"{own}a function (data, rng), or decorate it with @lt.mechanism, declare its law with "
        f"lt.ClosedForm(outputs, log_pmf), or subclass lt.Mechanism"
    )


def _name(value: object) -> str:
    """A value as an error names it; of an object without words of its own its class."""
    is_plain = type(value).__repr__ is object.__repr__
    return f"{type(value).__name__}(..)" if is_plain else quote(value)


def _name_in(text: str) -> str:
    name = text.rpartition(":")[2].rpartition(".")[2]
    return name if name.isidentifier() else "count"


def check_mechanism(mechanism: object, domain: object = None) -> Mechanism:
    """Return a mechanism, or raise InputError that says how to make one.

    Functions, bound methods and objects of libraries with an adapter become one (``adapting``).
    With a domain it is the one that gets datasets of it, see ``Mechanism.on_domain``.
    """
    if isinstance(mechanism, Mechanism):
        return mechanism.on_domain(domain) if isinstance(domain, Domain) else mechanism
    if isinstance(mechanism, SamplesOnly):
        raise InputError(
            f"mechanism={quote(mechanism)} gives samples and no output distributions; use "
            f"lt.check_samples(sampler, distribution, ..) or "
            f"liptest.blackbox.check.epsilon_lower_bound; nothing is released on samples",
            name="mechanism",
            value=mechanism,
        )
    if isinstance(mechanism, type) or not all(hasattr(mechanism, key) for key in _NEEDED):
        adapted = adapt(mechanism, domain)
        if isinstance(adapted, Mechanism):
            return adapted.on_domain(domain) if isinstance(domain, Domain) else adapted
        if isinstance(mechanism, type):
            name = mechanism.__name__
            raise InputError(
                f"mechanism={name} is a class; make an object of it, it = {name}(..), and give "
                f"the object, or its method it.release",
                name="mechanism",
            )
        raise InputError(
            f"mechanism={_name(mechanism)} is not a mechanism; {_instead_of(mechanism)}",
            name="mechanism",
        )
    warnings.warn(
        f"{type(mechanism).__name__} should be a subclass of lt.Mechanism; objects that only have "
        f"its methods will not be taken in the next version",
        DeprecationWarning,
        stacklevel=3,
    )
    return _Adapted(cast(Mechanism, mechanism))

"""``@lt.mechanism``: a Python function as a mechanism."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from liptest.data.domains import Domain, IntArray
from liptest.data.points import PointBatch
from liptest.data.tables import Table
from liptest.enumerate.folded.column_rows import choosing_at_once, rewrite_for_columns
from liptest.enumerate.intercept.analysis_session import Session
from liptest.enumerate.intercept.interception import intercept_randomness
from liptest.enumerate.numbers.float_paths import FloatPaths, follow_floats
from liptest.enumerate.numbers.noise_outputs import is_continuous, make_refusal
from liptest.enumerate.numbers.whole_outputs import WholeTree
from liptest.enumerate.records.by_records import (
    OF_PARTS,
    FirstRecord,
    RowFunction,
    part_functions,
    row_function,
)
from liptest.enumerate.records.record_products import ComesApart
from liptest.enumerate.records.row_replay import check_replayed, check_stateless
from liptest.enumerate.samplers.exp_coins import ExpCoins
from liptest.enumerate.samplers.sampler_noise import drawing_noise
from liptest.enumerate.samplers.sub_samplers import SamplerLaws, find_tree
from liptest.enumerate.samplers.summed_up import (
    draws_noise_again,
    enumerate_with_loops,
    of_first_passes,
)
from liptest.enumerate.sql import handing
from liptest.enumerate.sql.frame_programs import make_frame
from liptest.enumerate.symbols.loops_of_paths import PathSamplers
from liptest.enumerate.symbols.plain_points import Program, answers_at_a_point
from liptest.enumerate.symbols.statistic_programs import is_sum_of_rows, on_datasets
from liptest.enumerate.symbols.symbolic_data import FEW_PATHS, follow_first
from liptest.enumerate.symbols.symbolic_datasets import find_data
from liptest.enumerate.symbols.symbolic_paths import (
    ASKS_TYPES,
    MAX_PATHS_CURVED,
    NoPaths,
    SymbolicPaths,
)
from liptest.enumerate.syntax.post_processing import Tail, call_without_tuple
from liptest.enumerate.syntax.signatures import (
    as_called,
    check_called_alone,
    find_name,
    takes_generator,
)
from liptest.enumerate.syntax.told_texts import BY_WORDS, tell_texts_by_words
from liptest.enumerate.trees.choice_tree import (
    MAX_CHOICES,
    MAX_LEAVES,
    ChoiceTree,
    GridTree,
    LightTree,
)
from liptest.enumerate.trees.enumeration import (
    Enumerated,
    Enumeration,
    KnownLaws,
    RaisingTree,
    copy_with,
)
from liptest.enumerate.trees.law_memory import law_table
from liptest.enumerate.trees.outputs import Typed, canonical_output
from liptest.enumerate.trees.running import RandomFunction, Run
from liptest.enumerate.trees.tracing import TracedChoice, TracingTree
from liptest.enumerate.watch.access_tracking import Read
from liptest.enumerate.watch.compiled_code import check_packages
from liptest.enumerate.watch.first_calls import FirstCalls
from liptest.enumerate.watch.set_orders import RowOrders
from liptest.enumerate.watch.side_effects import find_conditions, side_effects_noticed
from liptest.errors import (
    InputError,
    LawError,
    LiptestError,
    MechanismError,
    check_count,
    check_positive,
)
from liptest.mechanisms.base import MOST_PATHS, Mechanism
from liptest.mechanisms.declared import check_among, check_outputs, distinct_values
from liptest.mechanisms.laws import LawTable, Output, OutputLaw, Raised
from liptest.runs.surroundings import surroundings_kept
from liptest.runs.workers import find_by_name, import_by_name, travels_by_value
from liptest.statistics.protocol import Statistic, check_is_statistic
from liptest.values.records.rows import NotByRecords

T = TypeVar("T")
_BUDGETS = ("max_leaves", "max_choices", "max_seconds")
_FEW_RUNS = 64  # that show whether a dataset is answered at all


@dataclass(frozen=True, eq=False)
class PythonFunction(Mechanism):
    """A Python function ``(data, rng) -> output`` or ``(data) -> output`` with its exact laws.

    ``data`` is one dataset, a read-only 1-d int64 array, or with ``statistic`` only its value: an
    int, or a read-only 1-d int64 array. ``rng`` stands in for a numpy.random.Generator; the
    function is run once for each way its random choices can fall out. An exception that it
    raises is an output, ``liptest.mechanisms.laws.Raised(type)``.

    Parameters
    ----------
    function
        Must be deterministic except for ``rng`` and keep no state. Called directly, the mechanism
        is this function.
    outputs
        Every possible output, exceptions included, if that is known.
    statistic
        All the function sees of a dataset; its law is then enumerated once per value.
    name
        Printed in verdicts.
    typed_outputs
        Whether outputs of different types, or dicts in another order, are different ones. If not,
        outputs compare by value (``liptest.enumerate.trees.outputs.canonical_output``).
    max_leaves, max_choices, max_seconds
        Budgets for one law: runs, random choices in one run, and time (None: no limit; with a
        limit the law depends on the speed of the machine). Where one ends, the law is partial:
        ``OutputLaw.unexplored`` says how much probability is left, and a verdict is given only
        if it holds however that is distributed.
    deterministic
        Names of packages whose compiled code draws no random numbers; verdicts say that this was
        taken for granted. Without it code that calls such a package is refused.
    frame
        Of an ``lt.Table``: "pandas", "polars", "sqlite", "duckdb" ("duckdb:name" of the table, else
        ``data``), the URL of a PostgreSQL server; "" as annotated (``con: sqlite3.Connection``).

    Raises
    ------
    InputError
        Anything but a function of (data, rng); outputs empty, unhashable or duplicated.
    MechanismError
        On use: an unhashable output, or one that is not among ``outputs``.
    NonDeterministicError
        On use: random numbers from elsewhere than ``rng``, or state kept between calls.
    UnsupportedRandomnessError
        On use: random numbers that have no exact finite law here.
    BudgetError
        On use: a budget ended before a single run did.
    """

    function: RandomFunction
    outputs: tuple[Output, ...] | None = None
    statistic: Statistic | None = None
    name: str = ""
    typed_outputs: bool = False
    max_leaves: int = MAX_LEAVES
    max_choices: int = MAX_CHOICES
    max_seconds: float | None = None
    deterministic: tuple[str, ...] = ()
    frame: str = field(default="", repr=False)
    _takes_generator: bool = field(default=True, init=False, repr=False, compare=False)
    _effects: set[str] = field(default_factory=set, init=False, repr=False, compare=False)
    _first: FirstCalls = field(default_factory=FirstCalls, init=False, repr=False, compare=False)
    _orders: RowOrders = field(default_factory=RowOrders, init=False, repr=False, compare=False)
    _known: KnownLaws = field(init=False, repr=False, compare=False)
    _plain: PythonFunction | None = field(default=None, init=False, repr=False, compare=False)
    _tree: Any = field(default=ChoiceTree, init=False, repr=False, compare=False)
    _table: Table | None = field(default=None, init=False, repr=False, compare=False)
    _rewrite: Any = field(default=None, init=False, repr=False, compare=False)
    _draws_noise: bool = field(default=False, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "function", as_called(self.function))
        if isinstance(self.function, PythonFunction):
            raise InputError(
                f"function={self.function.name} is a mechanism already", name="function"
            )
        object.__setattr__(self, "_takes_generator", takes_generator(self.function))
        if self.statistic is not None:
            check_is_statistic(self.statistic)
        object.__setattr__(self, "name", self.name or find_name(self.function))
        object.__setattr__(self, "source", "enumerated" + " by type" * self.typed_outputs)
        # With a limit of time the reads depend on the speed of the machine, too.
        records = self.statistic is None and self.max_seconds is None
        object.__setattr__(self, "_known", KnownLaws(self.name, records))
        if self.outputs is not None:
            object.__setattr__(self, "outputs", self._find_declared(self.outputs))
        check_count("max_leaves", self.max_leaves)
        check_count("max_choices", self.max_choices)
        object.__setattr__(self, "deterministic", check_packages(self.deterministic))
        object.__setattr__(self, "frame", handing.find_handing(self.function, self.frame))
        if self.max_seconds is not None:
            check_positive("max_seconds", self.max_seconds)

    def __call__(self, data: Any, rng: Any = None) -> Any:
        function: Any = self.function
        if rng is None and self._takes_generator:
            check_called_alone(function)
            return function(data)
        return function(data, rng) if self._takes_generator else function(data)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._plain is not None:
            return partial(copy_with, _plain=self._plain), (self._plain,)
        if self._table is not None:
            return _on_table, (copy_with(self, _table=None), self._table)
        # A decorated function's own name leads to this mechanism, not to the function.
        where = getattr(self.function, "__module__", ""), getattr(self.function, "__qualname__", "")
        # Where code travels by value, names of this process lead nowhere.
        named = None if travels_by_value() else find_by_name(*where)
        if named is self:
            return import_by_name, where
        options = (self.typed_outputs, *self._budgets.values(), self.deterministic, self.frame)
        parameters = (self.outputs, self.statistic, self.name, *options)
        if isinstance(named, PythonFunction) and named.function is self.function:
            return _rebuild, (*where, parameters)
        return PythonFunction, (self.function, *parameters)

    has_trace: ClassVar[bool] = True

    @property
    def first_exception(self) -> str | None:
        """Type and message of an exception, where a dataset made every run raise one."""
        return self._known.first_exception

    @property
    def walks_records(self) -> bool:
        return self._known.walks_records

    @property
    def law_source(self) -> str:
        """Where the laws that were computed came from: ``source``, or integrated over noise."""
        found = "integrated" if self._known.noisy else "enumerated"
        source = self.source.replace("enumerated", found)
        return "; ".join((source, *self._known.list_conditions(), *find_conditions(self._effects)))

    def points_per_slice(self, domain: Domain) -> int:
        """Few datasets, each of which costs many runs; many values of a statistic."""
        return 64 if self.statistic is None else 1 << 16

    def laws(self, points: PointBatch) -> LawTable:
        """One law per different dataset or statistic value; equal laws share a row."""
        if self.statistic is None:
            return law_table(
                self._find_known_laws(points.array().astype(np.int64)), self.outputs, None
            )
        values, rows = distinct_values(self.statistic, points)
        return law_table(self._find_known_laws(values), self.outputs, rows)

    def laws_of(self, values: NDArray[np.int64]) -> LawTable:
        """Laws given m values of the statistic, (m,) or (m, k), in the order given."""
        return law_table(self._find_known_laws(values), self.outputs, None)

    def law(self, dataset: IntArray) -> OutputLaw:
        """The exact law on one dataset, (d,) whole numbers; leaves no trace of it behind."""
        argument = self._argument(dataset)
        return self._with_probabilities(self._known.get(argument) or self._enumerated(argument))

    def fresh_law(self, dataset: IntArray) -> OutputLaw:
        """The law enumerated anew, so that a function that changes its answers is noticed."""
        return self._with_probabilities(self._enumerated(self._argument(dataset)))

    def within(self, runs: int, *, choices: int = MAX_CHOICES) -> PythonFunction:
        """The same function, with no more than so many runs for one law, and choices in a run."""
        runs, most = min(runs, self.max_leaves), min(choices, self.max_choices)
        return copy_with(self.afresh(), max_leaves=runs, max_choices=most)

    def without_light(self, runs: int) -> PythonFunction:
        """``within``, and ways that noise next to never takes stay unexplored."""
        return copy_with(self.within(runs), _tree=LightTree, has_trace=False)

    def telling_words(self) -> PythonFunction | None:
        if self.outputs is not None or self.typed_outputs:
            return None
        made = tell_texts_by_words(self.function)
        if made is None:
            return None
        return copy_with(self.afresh(), function=made, source=f"{self.source}; {BY_WORDS}")

    def as_written(self, runs: int, choices: int) -> PythonFunction:
        """``within``, and nothing of it is summed up."""
        return copy_with(self.within(runs, choices=choices), _rewrite=lambda session: self._called)

    def only_raises(self, dataset: IntArray) -> str | None:
        """The exception that every run on a dataset, (d,), raises; None where some run answers.

        None also where that is not seen in few runs, or where the code is not followed.
        """
        budgets = self._budgets | {"max_leaves": min(_FEW_RUNS, self.max_leaves)}
        runs = replace(self._enumeration, new_tree=partial(RaisingTree, self.name, **budgets))
        argument = self._argument(dataset)
        try:
            with self._session() as session:
                if runs.answers_once(argument, session):
                    return None
            with self._intercept(symbolic_data=True) as session:
                if answers_at_a_point(self._program(session), np.asarray(dataset)):
                    return None
            with self._session() as session:
                enumerated = (runs.recorded if self._known.records else runs.plain)(
                    argument, session
                )
        except LiptestError:
            return None
        return None if enumerated.law.unexplored else enumerated.exception

    def afresh(self) -> PythonFunction:
        """The same function, of which no law is known."""
        return copy_with(self, _known=KnownLaws(self.name, self._known.records))

    def learner(self) -> Any:
        """Shares laws with other processes; None where laws do not go by what is read."""
        return self._known.learner(self._effects, self._session, self._enumerate)

    def laws_and_reads(
        self, datasets: NDArray[np.int64]
    ) -> tuple[list[OutputLaw], list[list[Read]]]:
        """Laws on n datasets, (n, d), and all that was read of each, in the order of reading."""
        laws = self._find_known_laws(datasets)
        return laws, [self._known.reads_of(dataset) for dataset in datasets]

    def first_reads(self, dataset: NDArray[np.int64]) -> list[Read]:
        """What is read of one dataset, (d,), in the first of the runs that make up its law."""
        with self._session() as session:
            every = of_first_passes(self, self._enumeration, session)
            first = replace(every, new_tree=partial(every.new_tree, max_seconds=1e-9))
            return list(self._known.noted(first.recorded(dataset, session)).reads)

    def trace(self, dataset: IntArray, *outputs: Output) -> list[TracedChoice] | None:
        """Random choices that lead to one of the outputs on a dataset, (d,).

        None where it was not found: it is impossible, or very rare.
        """
        wanted = [self._canonical(output) for output in outputs]
        return self._trace(dataset, lambda tree, run: tree.find(run, wanted))

    def replay(self, dataset: IntArray, choices: Sequence[TracedChoice]) -> Output:
        """The output on a dataset, (d,), after the choices of a trace.

        Raises InputError when the function asks for other choices.
        """
        return self._trace(dataset, lambda tree, run: tree.replay(run, choices))

    def _trace(self, dataset: IntArray, use: Callable[[TracingTree, Run], T]) -> T:
        with self._session() as session:
            every = of_first_passes(self, self._enumeration, session)
            return every.trace_outputs(self._argument(dataset), session, use)

    def narrowed(self, domain: Domain) -> Mechanism | None:
        """The same mechanism, seen through all that it reads of a dataset, where that is little.

        A count of bits, or a few coordinates; None when it reads more (docs/theory/readings.md).
        """
        from liptest.enumerate.narrowing import narrow_function

        return narrow_function(self, domain) if self._known.records else None

    def of_one_record(self, example: IntArray) -> Mechanism | None:
        """The law of one record, where the code treats those of a dataset one by one.

        Its laws raise NotByRecords where that is not seen (docs/theory/records.md).
        """
        if not self._may_be_of_rows:
            return None
        row = row_function(*self._records_of(example), refused=self._known.refused)
        one_record = self._one_record(row)
        one_record.examples.append(example)
        return one_record

    @property
    def _may_be_of_rows(self) -> bool:
        """Whether it may treat the records of its data one by one.

        The type of a column of pandas depends on all rows, so types do not count there.
        """
        table, is_plain = self._table, self.statistic is None and self.max_seconds is None
        if table is None:
            return is_plain
        is_of_rows = table.kind == "replace" and table.unit == "row" and self.frame == "pandas"
        return is_plain and is_of_rows and not self.typed_outputs

    def _records_of(self, example: IntArray) -> tuple[Any, bool, int, Table | None]:
        """The function, how many records a dataset has, and the table of one of them."""
        own, table = (self.function, self._takes_generator), self._table
        return (*own, len(example), None) if table is None else (*own, table.rows, table.resized(1))

    def inner_records(self, example: IntArray) -> Iterator[Mechanism]:
        """The laws of one record in a part of the code, from which alone the rest calculates."""
        if self._may_be_of_rows:
            own = self._records_of(example)
            for function, _ in part_functions(*own, refused=self._known.refused):
                yield replace(self._one_record(function), **OF_PARTS)

    def note_parts(self, dataset: IntArray) -> Iterator[Any]:
        from liptest.enumerate.records.told_totals import note_parts

        is_followed = self._may_be_of_rows and self._table is None
        return note_parts(self, len(dataset)) if is_followed else iter(())

    def _one_record(self, function: RowFunction) -> OneRecord:
        options: Any = {key: getattr(self, key) for key in ("typed_outputs", "deterministic")}
        function = replace(function, make_frame=make_frame)
        return OneRecord(function, name=self.name, **options, **self._budgets)

    def densities(self) -> Mechanism:
        """The same mechanism where outputs are real numbers: laws are compared by densities."""
        from liptest.enumerate.numbers.outputs_by_cells import ByCells
        from liptest.enumerate.numbers.real_outputs import ContinuousFunction

        view = ByCells if self._tree.leaves_out_light else ContinuousFunction
        return view(copy_with(self, _plain=self))

    def over_all_numbers(self, dataset: IntArray) -> Mechanism | None:
        """As ``Mechanism``; None where no such output is seen on the dataset in few runs."""
        from liptest.enumerate.numbers.whole_numbers import find_over_all_numbers

        return find_over_all_numbers(self, dataset)

    def near_all_numbers(self, dataset: IntArray) -> Mechanism | None:
        from liptest.enumerate.samplers.near_numbers import find_near_numbers

        return find_near_numbers(self, dataset)

    def draws_noise_again(self) -> bool:
        """Whether a loop of it that starts over draws noise."""
        return draws_noise_again(self)

    def of_leaves(self, runs: int, rewrite: Any = None, **changes: Any) -> PythonFunction:
        """The same function, whose laws are of leaves with whole numbers, within so many runs.

        ``rewrite(session)`` is the function with loops that are not run as they are written.
        """
        own = {"outputs": None, "_tree": WholeTree, "_rewrite": rewrite} | changes
        return copy_with(self.afresh(), max_leaves=min(runs, self.max_leaves), **own)

    def align_paths(
        self, domain: Domain, *, way: str = "released", max_paths: int = MOST_PATHS
    ) -> SymbolicPaths | NoPaths:
        """All paths of the function where data are symbolic, for data of any size, or why not.

        ``way``: see ``liptest.enumerate.symbols.symbolic_paths``.
        """
        if not self.has_symbolic_data:
            return NoPaths(f"{self.name}: what records add to its statistic is not known")
        try:
            with self._followed() as session:
                samplers = PathSamplers(find_tree) if way == "passes" else None
                coins = ExpCoins(SamplerLaws(self.name), find_tree)
                made = rewrite_for_columns(self.function, samplers=samplers, coins=coins)
                own = self.function, self._of_datasets
                program = self._program(session, self._of_datasets(made))
                program = choosing_at_once(program, *own, coins)
                if session.asks_types:
                    return NoPaths(f"{self.name}: {ASKS_TYPES}")
                if samplers is not None and not samplers.loops:
                    return NoPaths(f"{self.name}: no loop of it starts over")
                programs: Iterable[tuple[Program, int]] = self._programs(program, way, max_paths)
                if self._draws_noise:
                    programs = [(drawing_noise(program, *own, self._known.conditions), max_paths)]
                elif way in ("passes", "curved"):
                    most = min(max_paths, MAX_PATHS_CURVED) if way == "curved" else max_paths
                    programs = [(program, most)]
                return follow_first(programs, domain, way)
        except LiptestError as error:
            return NoPaths(str(error))

    def find_added_law(self, domain: Domain) -> Any:
        """The law of whole noise that it adds to sums of its data, or why there is none."""
        from liptest.enumerate.samplers.added_law import Adding, find_added_law

        data = None if self._table is not None else find_data(domain)
        if self.statistic is not None or data is None:
            return f"{self.name}: data of {domain} are not made symbolic"
        try:
            with self._followed() as session:
                own = self.name, self.function, self._takes_generator, self._outputs
                law = find_added_law(Adding(*own, session), data)
        except LawError:
            raise
        except LiptestError as error:
            return str(error)
        self._known.conditions |= set() if isinstance(law, str) else law.conditions
        return law

    def drawing_noise(self) -> Mechanism:
        return copy_with(self, _draws_noise=True)

    def float_paths(self, dataset: IntArray) -> FloatPaths:
        """All paths on a dataset, (d,), with every float operation that was done with noise."""
        try:
            with self._followed() as session:
                own = self.name, self._called, self._argument(dataset), session
                paths = follow_floats(*own, runs=self._takes_generator)
        except LiptestError as error:
            paths = FloatPaths(reason=str(error))
        return replace(paths, on_grid=copy_with(self, _tree=GridTree))

    def _programs(
        self, program: Program, way: str, max_paths: int
    ) -> Iterator[tuple[Program, int]]:
        """The program as a whole, and cut where the rest is post-processing; with how many paths.

        The whole is tried with few first; each cut is looked through for what the code keeps.
        """
        yield program, FEW_PATHS if way == "released" else max_paths
        tail = Tail.of(self.function)
        if tail is not None:
            options: dict[str, Any] = {"takes_generator": self._takes_generator}
            run = tail.run(rewrite_for_columns(self.function, tail), **options)
            options |= {"tail": tail, "rewritten": call_without_tuple(self._on_datasets(run))}
            yield replace(program, **options), FEW_PATHS
        if way == "released":
            yield program, max_paths

    def _program(self, session: Session, rewritten: RandomFunction | None = None) -> Program:
        called = self._on_datasets(self.function if self._takes_generator else self)
        own = self.name, called, rewritten or called, self._outputs, session
        return Program(*own, presented=self._on_datasets)

    def _of_datasets(self, made: Any) -> RandomFunction:
        """A function that was made of this one, of datasets and a generator."""
        return self._on_datasets(made if self._takes_generator else lambda data, rng: made(data))

    @property
    def _called(self) -> RandomFunction:
        """The function as it is called with a dataset and a generator."""
        return self._present(self.function if self._takes_generator else self)

    def _present(self, function: RandomFunction) -> RandomFunction:
        """A function of what the program gets, as one of what is enumerated."""
        if self._table is None:
            return function
        from liptest.enumerate.sql.databases import present

        return present(function, self._table, self.frame)

    def _on_datasets(self, function: RandomFunction) -> RandomFunction:
        """A function of what the program gets, as one of datasets."""
        return on_datasets(self._present(function), self.statistic)

    @property
    def has_symbolic_data(self) -> bool:
        """Whether all that it gets of data can be symbols."""
        return is_sum_of_rows(self.statistic)

    def on_domain(self, domain: Domain) -> Mechanism:
        if not isinstance(domain, Table) or self._table == domain:
            return self
        if self.statistic is not None:
            raise InputError(
                f"statistic= of {self.name}: a mechanism on a table gets its frame; leave it out",
                name="statistic",
            )
        handing.import_needed(self.frame)
        return _on_table(self, domain)

    def _find_known_laws(self, arguments: NDArray[Any]) -> list[OutputLaw]:
        laws = self._orders.in_any(
            lambda: self._known.laws(list(arguments), self._session, self._enumerate),
            self.align_paths,
        )
        return list(map(self._with_probabilities, laws))

    def _with_probabilities(self, law: OutputLaw) -> OutputLaw:
        if self._plain is None and is_continuous(law):
            raise make_refusal(self.name)
        return law

    @contextmanager
    def _session(self) -> Iterator[Session]:
        with (
            surroundings_kept(),
            side_effects_noticed(self.name, self._effects),
            self._intercept() as session,
        ):
            yield session

    @contextmanager
    def _followed(self) -> Iterator[Session]:
        with (
            side_effects_noticed(self.name, self._effects),
            self._intercept(symbolic_data=True) as session,
            session.calls_watched(),
        ):
            yield session

    @contextmanager
    def _intercept(self, *, symbolic_data: bool = False) -> Iterator[Session]:
        own: Any = {"symbolic_data": symbolic_data, "keeps_whole": self._tree.keeps_whole}
        own["trusted"] = frozenset(self.deterministic)
        with intercept_randomness(self.name, self.function, **own) as session:
            if self._table is not None and self.frame == "polars":
                session.surroundings.sees_all = True
                session.takes_any_order = self._orders.is_free
            with self._first.watched(session), self._known.watched(session):
                yield session
        self._known.conditions |= session.conditions

    def _enumerate(self, argument: NDArray[Any], session: Session) -> Enumerated:
        enumerated = enumerate_with_loops(self, self._enumeration, argument, session)
        return self._checked(self._known.noted(enumerated))

    def _argument(self, dataset: IntArray) -> NDArray[Any]:
        if self.statistic is None:
            return np.asarray(dataset).astype(np.int64, copy=False)
        return np.asarray(self.statistic.values(np.asarray(dataset)[None, :])[0])

    def _enumerated(self, argument: NDArray[Any]) -> OutputLaw:
        return self._orders.in_any(lambda: self._law_alone(argument), self.align_paths)

    def _law_alone(self, argument: NDArray[Any]) -> OutputLaw:
        with self._session() as session:
            return self._enumerate(argument, session).law

    @property
    def _budgets(self) -> dict[str, Any]:
        return {budget: getattr(self, budget) for budget in _BUDGETS}

    @property
    def _enumeration(self) -> Enumeration:
        new_tree, again = partial(self._tree, self.name, **self._budgets), self._known.repetition
        return Enumeration(self.name, self._called, self._outputs, new_tree, again)

    def _find_declared(self, outputs: Sequence[Any]) -> tuple[Output, ...]:
        try:
            return check_outputs([self._canonical(output) for output in outputs])
        except MechanismError as error:
            raise InputError(f"outputs: {error}", name="outputs") from None

    def _canonical(self, output: Any) -> Output:
        if isinstance(output, (Raised, Typed)):  # declared, or of a law
            return output
        return canonical_output(output, self.name, typed=self.typed_outputs)

    def _outputs(self, output: Any) -> Output:
        return self._known.kinds.noted(output, self._canonical(output))

    def _checked(self, found: Enumerated) -> Enumerated:
        if self.outputs is not None:
            check_among(self.name, found.law.outputs, self.outputs, found.exception or "")
        return found


class OneRecord(ComesApart, PythonFunction):
    """One record of a function that treats its records one by one: datasets of one record.

    Its laws are whole and without exceptions: a part that is left open, or an exception, could
    depend on all records. With the first law the function itself is run on an example.
    """

    has_trace = False

    def of_rows(self, rows: IntArray) -> Mechanism:
        function: Any = self.function
        chosen = replace(function, values=tuple(map(int, rows)))
        return copy_with(self.afresh(), function=chosen, _products={}, _refusals=[])

    @property
    def columns_read(self) -> frozenset[str]:
        function: Any = self.function
        return frozenset(function.read)

    @property
    def record_width(self) -> int:  # type: ignore[override]
        function: Any = self.function
        is_of_table = isinstance(function, RowFunction) and function.table is not None
        return function.table.dimension if is_of_table else 1

    def check_examples(self) -> None:
        function: Any = self.function
        while self.examples:
            check = check_stateless if isinstance(function, FirstRecord) else check_replayed
            check(function, self.name, self.examples[-1])
            self.examples.pop()  # where it is refused, it is so again

    def _with_probabilities(self, law: OutputLaw) -> OutputLaw:
        self.check_examples()
        return super()._with_probabilities(law)

    def _checked(self, found: Enumerated) -> Enumerated:
        found = super()._checked(found)
        if found.law.unexplored:
            raise NotByRecords(f"{self.name}: the law of one record is known in part only")
        if any(isinstance(output, Raised) for output in found.law.outputs):
            raise NotByRecords(f"{self.name}: it raised {found.exception} for one of the records")
        return found


def _on_table(function: PythonFunction, table: Table) -> PythonFunction:
    source = "; ".join((function.source, *handing.find_condition(function.frame)))
    own = {"_known": KnownLaws(function.name, True), "_orders": RowOrders(table)}
    return copy_with(function, source=source, _table=table, **own)


def _rebuild(module: str, qualname: str, parameters: tuple[Any, ...]) -> PythonFunction:
    return PythonFunction(import_by_name(module, qualname).function, *parameters)

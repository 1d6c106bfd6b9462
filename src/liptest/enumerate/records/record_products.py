"""The law of one record as a product, where the parts of its output are independent.

The function is run with its loops over parts taken apart (``factored_passes``), and parts that
depend on random variables of their own are not chosen (``product_leaves``). A few runs of the
function as it is written, taken by chance, must fit below.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from liptest.data.domains import IntArray
from liptest.enumerate.intercept.generator import ChoiceGenerator
from liptest.enumerate.records.by_records import RowFunction, as_numbers
from liptest.enumerate.records.factored_passes import Factoring, PartsTree
from liptest.enumerate.samplers.summed_up import ChanceTree
from liptest.enumerate.trees.product_leaves import parts_in, product_leaf
from liptest.enumerate.trees.repeated_leaves import Repetition
from liptest.enumerate.trees.running import Run
from liptest.errors import BudgetError, UnsupportedForm
from liptest.mechanisms.laws import OutputLaw, Raised
from liptest.mechanisms.product_laws import ProductLaw, merge
from liptest.values.records.rows import NotByRecords

# Runs of one record: more of them say that its parts do not come apart.
_MOST_RUNS = 64


class FewByChance(ChanceTree):
    """Some runs of a record as it is written."""

    RUNS = 16
    __slots__ = ()


class ComesApart:
    """A function of one record whose law may be a product; part of ``OneRecord``."""

    @cached_property
    def examples(self) -> list[IntArray]:
        """Datasets on which one record has to do by itself what it does among others."""
        return []

    @cached_property
    def _products(self) -> dict[int, ProductLaw]:
        return {}

    @cached_property
    def _refusals(self) -> list[str]:
        """What ends all runs, before any random number is drawn."""
        return []

    @contextmanager
    def _refusals_kept(self) -> Iterator[None]:
        program: Any = self
        try:
            yield
        except NotByRecords as error:
            if isinstance(program.function, RowFunction) and program.function.is_refused():
                self._refusals.append(str(error))
            raise

    @contextmanager
    def _session(self) -> Iterator[Any]:
        if self._refusals:
            raise NotByRecords(self._refusals[0])
        above: Any = super()
        with above._session() as session:
            yield session

    def product_law(self, value: int) -> ProductLaw:
        """Of a record of this value. Raises a LiptestError where it is not a product."""
        program: Any = self
        if program.outputs is not None or program.record_width > 1:
            raise UnsupportedForm(f"{program.name}: outputs that are declared, or real records")
        if value not in self._products:
            record, written = np.array([value], dtype=np.int64), None
            with program._session() as session, self._refusals_kept():
                law = merge(_leaves(program, record, session))
                if law is None:
                    raise UnsupportedForm("outputs whose parts depend on each other")
                # Of some values, as each run costs as much as one of the program.
                known = len(self._products)
                if known & (known - 1) == 0:
                    written = _law_as_written(program, record, session)
            if written is not None:
                # The function is run as it is there, so nothing may stand for what it draws from.
                _check_fits(program._with_probabilities(written), law)
            self._products[value] = law
        return self._products[value]


def _leaves(function: Any, record: Any, session: Any) -> list[tuple[Fraction, ProductLaw]]:
    program = function.function
    tree = PartsTree(function.name, max_leaves=_MOST_RUNS, max_choices=function.max_choices)
    of_numbers = isinstance(program, RowFunction) and program.is_of_numbers
    if of_numbers:
        program = replace(program, is_of_numbers=False)
    program = program.with_rewritten(Factoring(tree).rewritten)

    def canonical(output: Any) -> Any:
        if tree.noise is not None or tree.pass_walk is not None:
            tree.forbid("noise beside parts that are independent", "")
        plain = as_numbers if of_numbers else _as_it_is
        return product_leaf(output, function.name, plain, typed=function.typed_outputs)

    rng = ChoiceGenerator(tree)
    session.follow(tree)
    run = Run(program, lambda: record, rng, function.name, canonical, session)
    try:
        law = session.watching(lambda: tree.law(run))
    finally:
        tree.close()
    if law is None:  # the second time all runs are watched
        return _leaves(function, record, session)
    if tree.unexplored or any(isinstance(output, Raised) for output in law):
        raise BudgetError(f"{function.name}: the parts of one record do not come apart")
    return [(mass, output) for output, mass in law.items()]


def _as_it_is(value: Any) -> Any:
    return value


def _law_as_written(function: Any, record: Any, session: Any) -> OutputLaw:
    """A part of the law of the function as it is written, of runs that are taken by chance."""
    tree = partial(FewByChance, function.name, max_choices=function.max_choices)
    as_written = replace(function._enumeration, new_tree=tree, repetition=Repetition())
    law: OutputLaw = as_written.plain(record, session).law
    return law


def _check_fits(part: OutputLaw, law: ProductLaw) -> None:
    """Raise UnsupportedForm where a part of a law does not fit below the product."""
    for output in part.outputs:
        mass, found = part.exact(output), parts_in(law.skeleton, output)
        whole = Fraction(0) if found is None else law.probability(found)
        if not isinstance(mass, Fraction) or mass > whole:
            raise UnsupportedForm("outputs whose parts depend on each other")

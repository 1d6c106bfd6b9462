"""The method "per-record": proofs and refutations for records that are treated one by one.

The output is a list with one place for each record, and place i depends on record i and on random
numbers of its own: the law is a product, and a replaced record changes one factor. So the loss of
neighbours is that of the law of one record, whatever the others are, and their number drops out
(docs/theory/records.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from liptest.data.domains import Domain, Hypercube, IntArray, RecordGrid
from liptest.data.product import ProductDistribution
from liptest.data.real_tables import ReplacedRealRows
from liptest.data.tables import Table
from liptest.errors import InputError, LiptestError
from liptest.mechanisms.base import Mechanism, through_densities
from liptest.mechanisms.laws import AtPlace
from liptest.mechanisms.product_laws import comparable
from liptest.privacy.claims import AnyClaim
from liptest.privacy.judge import make_witness
from liptest.privacy.proofs.product_records import check_products
from liptest.privacy.proofs.proof import run_exhaustive
from liptest.privacy.proofs.table_rows import MOST_VALUES, Decide, check_rows, too_many_values
from liptest.privacy.request import Task, make_refuted, promise
from liptest.privacy.verdicts import (
    BY_RECORDS,
    PrivacyPlan,
    PrivacyVerdict,
    Remedy,
    proof_sentence,
    records_sentence,
)
from liptest.privacy.witnesses import PrivacyWitness, changed_records
from liptest.verdicts import Decision

_SOURCE = "docs/theory/records.md"
# Parts of a function that are tried.
_MOST_PARTS = 12


@dataclass(frozen=True)
class Unproved:
    """Why the law of one record decides nothing, and what it does prove."""

    reason: str
    remedy: Remedy | None = None


def prove_by_records(task: Task, decide: Decide) -> PrivacyVerdict | Unproved:
    """YES by proof or NO with a witness; or why neither.

    ``decide`` is asked of tables of one row, at any size of the data.

    Nothing that is raised for the code under test ends the check: other methods may follow.
    """
    domain = task.distribution.domain
    if not isinstance(domain, (Hypercube, RecordGrid, ReplacedRealRows)):
        return Unproved(f"neighbours by {domain.neighbour_words} do not differ in one record")
    values = int(domain.size_array.max())
    if values > MOST_VALUES and not isinstance(domain, Table):
        return Unproved(too_many_values(values))
    example = _example(domain)
    mechanism = task.mechanism.of_one_record(example)
    if mechanism is None:
        return Unproved(f"{task.mechanism.name} has no law of one record")
    verdict = _check(task, mechanism, values, decide)
    if isinstance(verdict, PrivacyVerdict):
        return _of_all_records(task, domain, verdict)
    for mechanism in islice(task.mechanism.inner_records(example), _MOST_PARTS):
        inner = _check(task, mechanism, values, decide)
        if isinstance(inner, str):
            continue
        if inner.decision is Decision.YES:
            return _of_all_records(task, domain, inner, is_later=True)
        if math.isfinite(inner.largest_loss):
            loss = f"{inner.largest_loss:.6g}"
            return Unproved(
                f"the answers that it makes of each record have loss {loss}, and it calculates "
                f"further with them, which may lessen that",
                inner.remedy,
            )
        break
    return Unproved(verdict)


def _example(domain: Domain) -> IntArray:
    """A dataset in which values vary from record to record."""
    if isinstance(domain, ReplacedRealRows):
        return domain.draw(np.random.default_rng(0), 2)
    if domain.are_alike:
        return np.resize(np.arange(domain.sizes[0], dtype=domain.dtype), domain.dimension)
    places = np.arange(domain.dimension)
    return np.asarray(places % domain.size_array).astype(domain.dtype)


def _check(task: Task, one: Mechanism, values: int, decide: Decide) -> PrivacyVerdict | str:
    """What the law of one record decides, or why nothing."""
    domain = task.distribution.domain
    if isinstance(domain, Table):
        return check_rows(task, one, domain, partial(_check_one_record, task), decide)
    return _check_one_record(task, one, values)


def _check_one_record(task: Task, one: Mechanism, values: int) -> PrivacyVerdict | str:
    """All pairs of values of one record, which the largest coordinate has all of; or why not."""
    small = Hypercube(1) if values == 2 else RecordGrid([values])
    settings = replace(task.alone().settings, method="exhaustive", budget=None, search_laws=0)
    alone = replace(
        task.alone(),
        mechanism=one,
        distribution=ProductDistribution.uniform(small),
        settings=settings,
    )
    try:
        verdict = check_products(one, values, partial(_check_pair, alone))
        if verdict is None:
            verdict = through_densities(
                one, lambda seen: run_exhaustive(replace(alone, mechanism=seen))
            )
    except LiptestError as error:
        return str(error)
    if verdict.decision is Decision.INCONCLUSIVE:
        return verdict.reason or "the law of one record leaves the claim open"
    return verdict


def _check_pair(alone: Task, one: Mechanism) -> PrivacyVerdict:
    uniform = ProductDistribution.uniform(Hypercube(1))
    return run_exhaustive(replace(alone, mechanism=one, distribution=uniform))


def _of_all_records(
    task: Task, domain: Domain, found: PrivacyVerdict, *, is_later: bool = False
) -> PrivacyVerdict:
    """What the verdict on one record says of datasets; ``is_later``: of what is made of outputs."""
    witness: PrivacyWitness | None = None
    if found.decision is Decision.NO and found.witness is not None:
        witness = _pad(found.witness, domain)
        guarantee = make_refuted(task, _SOURCE)
    else:
        condition = found.guarantee.condition
        sentence = proof_sentence(task.claim, domain, condition)
        numbers: dict[str, Any] = {"exception_mass": 0.0, "failure_probability": 0.0}
        numbers["condition"] = condition
        why = records_sentence(found.cost.pairs, is_later=is_later)
        guarantee = promise(task, sentence + why, "proof", _SOURCE, per_record=True, **numbers)
    plan = PrivacyPlan(BY_RECORDS, 0, float(found.cost.laws), 0.0, _SOURCE)
    return replace(
        found,
        mechanism=task.mechanism.name,
        law_source=task.mechanism.law_source if is_later else found.law_source,
        method=BY_RECORDS,
        witness=witness,
        guarantee=guarantee,
        plan=plan,
        seed=task.seed,
        relation=domain.relation,
        distribution=task.distribution.source,
        exception_mass_found=None,
        settings=task.record_settings(),
    )


def _pad(witness: PrivacyWitness, domain: Domain) -> PrivacyWitness:
    """Two values of one record as two datasets of all records, the others of value 0.

    Of tables the others are as the first of the two, whose laws are known.
    """
    place = int(np.argmax(domain.size_array))
    if isinstance(domain, Table):
        rest = witness.dataset * (domain.rows - 1)
        left, right = witness.dataset + rest, witness.neighbour + rest
        words = domain.pair_words(left, right) or None
        return replace(_at_place(witness, left, right, 0), rows=words)
    dataset, neighbour = [0] * domain.dimension, [0] * domain.dimension
    dataset[place], neighbour[place] = witness.dataset[0], witness.neighbour[0]
    return _at_place(witness, tuple(dataset), tuple(neighbour), place)


def _at_place(
    witness: PrivacyWitness, dataset: tuple[int, ...], neighbour: tuple[int, ...], place: int
) -> PrivacyWitness:
    event = tuple(AtPlace(place, output) for output in witness.event)
    return replace(witness, dataset=dataset, neighbour=neighbour, event=event, trace=None)


def witness_at_place(
    mechanism: Mechanism, dataset: IntArray, neighbour: IntArray, claim: AnyClaim
) -> PrivacyWitness:
    """The comparison of two datasets that differ in one record, at its place.

    Raises InputError where they differ in more, or the mechanism has no law of one record.
    """
    of_record = mechanism.of_one_record(dataset)
    records = None if of_record is None else changed_records(of_record, dataset, neighbour)
    if of_record is None or records is None:
        raise InputError(f"mechanism={mechanism.name}: no law of the one record that is changed")
    place, left, right = records
    of_record = comparable(of_record, int(left[0]), int(right[0]))
    witness = through_densities(of_record, lambda seen: make_witness(seen, left, right, claim))
    ends = tuple(dataset.tolist()), tuple(neighbour.tolist())
    if witness.dataset != tuple(left.tolist()):
        ends = ends[::-1]  # divergences are of one law from the other
    return _at_place(witness, *ends, place)

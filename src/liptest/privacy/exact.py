"""Exact epsilon, of a whole domain or of listed pairs (theory 3.7, 3.8)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liptest.balls import CERTIFIED_BITS, precision
from liptest.data.answers import Answers
from liptest.data.domains import Domain, IntArray
from liptest.data.points import PointBatch
from liptest.errors import (
    BudgetError,
    InputError,
    LiptestError,
    SymbolicError,
    UnsupportedForm,
    UnsupportedRandomnessError,
    check_count,
    quote,
    with_example,
)
from liptest.mechanisms.base import (
    ClosedFormLosses,
    Mechanism,
    check_mechanism,
    through_all_numbers,
    through_densities,
    through_reads,
)
from liptest.mechanisms.laws import laws_of_one_decision
from liptest.privacy.claims import Claim
from liptest.privacy.comparison import (
    check_same_law,
    enclose_loss,
    exact_law,
    round_ends,
    show_loss,
)
from liptest.privacy.judge import make_witness
from liptest.privacy.proofs.exhaustive import (
    PairBlock,
    TooManyDatasets,
    check_affordable,
    exhaustive_size,
    pair_blocks,
)
from liptest.privacy.proofs.unanswered import check_answered
from liptest.privacy.searches.plain_pairs import is_large, plain_pairs
from liptest.privacy.witnesses import PrivacyWitness
from liptest.runs.workers import elsewhere, has_processes

# Pairs that are looked at before a domain is visited, and when both ends of an enclosure meet.
_PLAIN, _MEET = 8, 1e-9
# Another processor may round exponentials otherwise, which must not choose the witness.
DIGITS = 12
_TIE = 10.0**-DIGITS


@dataclass(frozen=True, eq=False)
class _Narrowing:
    mechanism: Any
    domain: Domain

    def __call__(self) -> None:
        with suppress(LiptestError):  # whoever asks next says what is wrong
            self.mechanism.narrowed(self.domain)


def try_in_worker(mechanism: Any, domain: Domain, executor: Executor | None) -> None:
    """Let a worker find out first what code reads of a dataset, before this process does.

    Code under test may end its process: a crash of native code, no memory left. A worker that dies
    is noticed and told of; the process that asks would take everything with it. Raises
    MechanismError where that ends each worker.
    """
    is_code = mechanism.source != "declared"
    if has_processes(executor) and domain.one_at_a_time and is_code:
        elsewhere(_Narrowing(mechanism, domain), executor)


@dataclass(frozen=True)
class ExactMeasure:
    """The smallest rho or mu, or epsilon, of a mechanism on a whole domain.

    ``lower`` and ``upper`` enclose it with certainty; ``value`` is a float between them, inf when
    an output is possible on one side of a neighbouring pair only. ``witness`` is the pair that
    reaches ``lower``.
    """

    value: float
    lower: float
    upper: float
    witness: PrivacyWitness | None
    pairs: int
    laws: int

    def __float__(self) -> float:
        return self.value

    @property
    def ends_meet(self) -> bool:
        """Whether both ends are the same but for rounding."""
        return self.upper <= self.lower * (1 + _MEET)


@dataclass(frozen=True)
class ExactEpsilon(ExactMeasure):
    """The smallest epsilon for which a mechanism is epsilon-DP on the whole domain.

    Of a domain too large to visit ``lower`` is the largest loss found, ``value`` too, and ``upper``
    what is proved for data of any size (theory S1).
    """


class Enclosing(Protocol):
    """What has a lower and an upper end."""

    @property
    def ends_meet(self) -> bool:
        """Whether nothing is gained by a closer look."""


_Measure = TypeVar("_Measure", bound=Enclosing)


@with_example("lt.exact_epsilon(count, lt.Hypercube(5000))")
def exact_epsilon(
    mechanism: Any,
    domain: Domain,
    *,
    budget: int | None = None,
    executor: Executor | None = None,
) -> ExactEpsilon:
    """Largest loss over all neighbouring pairs of a domain (theory 3.7).

    ``witness`` shows the worst pair; its claim is a stand-in just below the loss. Workers of an
    ``executor`` ask for the laws of datasets; the answer is the same.

    Raises
    ------
    InputError
        No domain, a domain too large to visit, or a statistic that does not fit.
    MechanismError
        The mechanism is broken; also where it raises an exception on every dataset.
    BudgetError
        More output distributions than ``budget``.
    """
    checked, most = check_visit(mechanism, domain, budget)

    def visit(seen: Mechanism) -> ExactEpsilon:
        check_affordable(exhaustive_size(seen, domain), most, seen)
        return largest_over(seen, pair_blocks(seen, domain, executor=executor))

    exact = visit_or_enclosed(checked, domain, executor, enclose=_enclosure, visit=visit)
    if math.isfinite(exact.upper):
        checked.check_not_determined()
    return exact


def check_visit(mechanism: Any, domain: Domain, budget: int | None) -> tuple[Mechanism, int | None]:
    """The mechanism and the budget of a visit of all pairs; raises InputError."""
    checked = check_mechanism(mechanism, domain)
    if not isinstance(domain, Domain):
        raise InputError(f"domain={quote(domain)} must be a domain", name="domain", value=domain)
    return checked, None if budget is None else check_count("budget", budget)


def visit_or_enclosed(
    checked: Mechanism,
    domain: Domain,
    executor: Executor | None,
    *,
    enclose: Callable[[Mechanism, Domain], _Measure | None],
    visit: Callable[[Mechanism], _Measure],
    at_once: bool = False,
) -> _Measure:
    """The measure of all pairs; of code on a large domain, or ``at_once`` of code on any, the
    enclosure where its ends meet; also where a large domain is too large to visit, or its laws
    have no end and would be listed up to a tail."""
    early = None
    is_tried = checked.has_symbolic_data and (at_once or is_large(domain))
    # Code that may end its process is left to workers, where there are any.
    if is_tried and not has_processes(executor):
        early = enclose(checked, domain)
    if early is not None and early.ends_meet:
        return early
    try:
        try_in_worker(checked, domain, executor)
        has_bounds = early is not None and is_large(domain)
        seen = checked.over_all_numbers(domain.zeros) if has_bounds else None
        if seen is not None:
            return through_reads(seen, domain, visit)
        return through_all_numbers(
            checked, domain.zeros, lambda numbers: through_reads(numbers, domain, visit)
        )
    except (
        InputError,
        BudgetError,
        UnsupportedForm,
        SymbolicError,
        UnsupportedRandomnessError,
    ) as error:
        if early is None:
            if isinstance(error, TooManyDatasets):
                raise _say_what_helps(error.many, checked, domain) from None
            raise
    return early


def _say_what_helps(many: str, checked: Mechanism, domain: Domain) -> InputError:
    from liptest.privacy.proofs.prices import align

    why = align(checked, domain).reason if checked.has_symbolic_data else ""
    return InputError(
        f"domain={quote(domain)}: {many}, and no bound for data of any size is known"
        f"{f' ({why})' if why else ''}; give lt.exact_loss the pairs that matter, or let "
        f"lt.check_privacy check a claim",
        name="domain",
        value=domain,
    )


def _enclosure(checked: Mechanism, domain: Domain) -> ExactEpsilon | None:
    """What is found at plain pairs, and what is proved."""
    # Only code is followed: what is declared does not wait for this.
    from liptest.privacy.proofs.prices import align

    by_path = _by_path(checked, domain) if isinstance(domain, Answers) else None
    if by_path is not None and by_path.ends_meet:
        return by_path
    proved = align(checked, domain)
    if math.isinf(proved.epsilon):
        return None
    ends = np.array(list(islice(plain_pairs(domain), _PLAIN)))
    exact = ExactEpsilon(0.0, 0.0, proved.epsilon, None, 0, 0)
    with suppress(LiptestError):
        exact = through_densities(checked, lambda seen: largest_over(seen, _block(seen, ends)))
    if by_path is not None and by_path.lower > exact.lower:
        exact = by_path
    top = proved.epsilon
    return replace(exact, lower=min(exact.lower, top), value=min(exact.value, top), upper=top)


def _by_path(checked: Mechanism, domain: Answers) -> ExactEpsilon | None:
    """What one output of the dearest path shows, and its price."""
    from liptest.privacy.searches.dearest_pairs import enclose_by_path

    ends = enclose_by_path(checked, domain)
    if ends is None:
        return None
    witness = ends.witness
    lower, top = min(witness.loss_lower, ends.upper), ends.upper
    return ExactEpsilon(min(max(witness.loss, lower), top), lower, top, witness, 1, 0)


@laws_of_one_decision()
def largest_over(checked: Mechanism, blocks: Iterable[PairBlock]) -> ExactEpsilon:
    """The largest loss over blocks of pairs, enclosed, with the worst pair as witness."""
    worst, where, value, slack, pairs, laws = -1.0, None, 0.0, 0.0, 0, 0
    top, is_answered = 0.0, False
    for block in blocks:
        pairs, laws = pairs + block.pairs, laws + block.queries
        is_answered |= block.laws.is_answered()
        if len(block.left) == 0:
            continue
        losses = block.laws.losses(block.left, block.right)
        highest = float(np.max(losses))
        # The first of those that are equal but for rounding, which processors do differently.
        k = int(np.argmax(losses >= highest * (1 - _TIE)))
        top = max(top, highest)
        errors = block.laws.screen_error(block.left, block.right)
        slack = max(slack, float(np.max(errors)))
        if np.any(block.laws.has_uncertain_zeros(block.left, block.right)):
            slack = np.inf
        if losses[k] > worst * (1 + _TIE):
            worst, where = float(losses[k]), block.locate(k)
            # Listed outputs of partial laws say little: only what is certain is counted.
            value = 0.0 if np.isinf(errors[k]) else show_loss(worst)
    check_answered(checked, is_answered=is_answered or not laws)
    if where is None or worst == 0.0:
        return ExactEpsilon(0.0, 0.0, slack, None, pairs, laws)
    slack += top - worst if math.isfinite(top) else 0.0
    return _enclose(checked, where, value, slack, pairs, laws)


def _enclose(
    mechanism: Mechanism, where: tuple[Any, Any], value: float, slack: float, pairs: int, laws: int
) -> ExactEpsilon:
    lower = upper = value
    if isinstance(mechanism, ClosedFormLosses):
        with precision(CERTIFIED_BITS):
            ball = mechanism.pair_loss(*where)
            if ball.is_finite():
                lower, upper = round_ends(ball.lower(), ball.upper())
                # Another pair may lie within the screening error of the worst one.
                upper = max(upper, value + slack)
                value = float(ball.mid())
    else:
        enclosure = enclose_loss(exact_law(mechanism, where[0]), exact_law(mechanism, where[1]))
        # Another pair may lie within the screening error of the worst one.
        lower, upper = enclosure.lower, max(enclosure.upper, value + slack)
        value = min(max(value, lower), upper)
    below = Claim(min(max(lower * (1 - 1e-6), 1e-300), 1e6), 0.0, 0.0)
    return ExactEpsilon(value, lower, upper, make_witness(mechanism, *where, below), pairs, laws)


def exact_loss(
    mechanism: Any,
    pairs: Sequence[tuple[ArrayLike, ArrayLike]] | ArrayLike,
    *,
    domain: Domain | None = None,
) -> ExactEpsilon:
    """Largest loss over the given pairs of datasets: a lower bound of epsilon, exact for them.

    Parameters
    ----------
    mechanism
        As for ``check_privacy``.
    pairs
        p pairs (dataset, neighbour) of d whole numbers each, or an array of shape (p, 2, d).
    domain
        Where they must be neighbours. Without it, that they are is the caller's word.

    Returns
    -------
    ExactEpsilon
        ``value`` between ``lower`` and ``upper``; ``witness`` is the worst pair.

    Raises
    ------
    InputError
        No pairs, datasets of different lengths, equal ones, or pairs that are not neighbours.
    MechanismError
        The mechanism is broken.
    """
    checked = check_mechanism(mechanism, domain)
    ends = _check(pairs)
    if domain is not None:
        ends = _neighbours(ends, domain)
    return through_all_numbers(
        checked,
        ends[0, 0],
        lambda numbers: through_densities(
            numbers, lambda seen: largest_over(seen, _block(seen, ends))
        ),
    )


def _block(mechanism: Any, ends: IntArray) -> Iterator[PairBlock]:
    flat = np.ascontiguousarray(ends.reshape(-1, ends.shape[2]))
    points, places = np.unique(flat, axis=0, return_inverse=True)
    laws = mechanism.laws(PointBatch(points))
    check_same_law(mechanism, laws, points[0])
    rows = laws.distinct(np.arange(len(points)))[places.reshape(-1)]

    def locate(k: int) -> tuple[IntArray, IntArray]:
        return ends[k, 0], ends[k, 1]

    yield PairBlock(laws, rows[0::2], rows[1::2], len(ends), len(points), locate)


def _check(pairs: Any) -> NDArray[Any]:
    try:
        array = np.asarray(pairs)
    except ValueError:
        array = np.zeros(0)
    if array.ndim != 3 or array.shape[1] != 2 or 0 in array.shape or array.dtype.kind not in "iu":
        raise InputError(
            f"pairs={quote(pairs)} must be (dataset, neighbour) pairs of whole numbers, all of one "
            f"length: shape (p, 2, d), p and d at least 1",
            name="pairs",
        )
    same = np.flatnonzero((array[:, 0] == array[:, 1]).all(axis=1))
    if len(same):
        raise InputError(
            f"pairs[{same[0]}]={quote(array[same[0]].tolist())}: a dataset is not a neighbour of "
            f"itself",
            name="pairs",
        )
    kind = np.min_scalar_type(-1 - int(np.abs(array.astype(np.float64)).max()))
    return np.ascontiguousarray(array, dtype=kind)


def _neighbours(ends: NDArray[Any], domain: Domain) -> IntArray:
    left, right = (domain.check_points(ends[:, side]) for side in (0, 1))
    far = np.flatnonzero(domain.distance(left, right) != 1)
    if len(far):
        raise InputError(
            f"pairs[{far[0]}]={quote(ends[far[0]].tolist())} are not neighbours on {domain}: "
            f"{domain.relation}",
            name="pairs",
        )
    return np.stack([left, right], axis=1)

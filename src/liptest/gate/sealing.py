"""From a mechanism to sealed laws: which rows there are, and asking for the law of each, once.

Sealed laws of all kinds are read here from plain JSON values, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from liptest.data.domains import Domain, IntArray
from liptest.errors import GateError, InputError, LiptestError, quote
from liptest.evidence.domain_form import read_domain
from liptest.gate.sealed import (
    DOMAINS,
    MOST_ROWS,
    TABLES,
    VERSION,
    LawCollector,
    Sealed,
    SealedNoise,
    SealedTable,
    find_values,
    has_few_edges,
    read_noise,
    read_table,
)
from liptest.gate.sealed_sums import SealedSums, read_sums
from liptest.gate.sum_sealing import seal_decisions, seal_sums
from liptest.mechanisms.additive import (
    AdditiveNoise,
    DiscreteGaussian,
    DiscreteLaplace,
    check_step,
)
from liptest.mechanisms.base import Mechanism, ReadsMore
from liptest.mechanisms.shift import ShiftMechanism, VectorShift
from liptest.privacy.methods import affordable_laws
from liptest.runs.surroundings import surroundings_kept
from liptest.statistics.protocol import Statistic, values_at
from liptest.statistics.tabulated import Tabulated
from liptest.statistics.trusted import read_statistic, statistic_spec

_CHUNK = 1 << 10
_OF_TABLES = (
    "of a table only noisy sums, and decisions on them, are released; where they are real numbers, "
    "state the step of a grid, grid_step=0.01 (--grid-step 0.01), which also tells what else the "
    "code does"
)
_INSTEAD = (
    "let the code receive only a statistic of this package, @lt.mechanism(statistic=lt.Count()) or "
    "another, or declare lt.ShiftMechanism(statistic, lt.DiscreteLaplace(scale)), or give the "
    "records in fewer counts"
)


@dataclass(frozen=True)
class SealPlan:
    """How a mechanism can be sealed on a domain, before any of its laws is computed.

    Parameters
    ----------
    way
        "noise", "tabulated noise", "values", "datasets" or, with a ``reason``, "none".
    statistic
        Of this package, made anew.
    reason
        Why it cannot, and what to write instead.
    """

    way: str
    statistic: Statistic | None = None
    reason: str = ""


@dataclass(frozen=True)
class Seal:
    """What a gate draws from.

    Parameters
    ----------
    sealed
        None where nothing is sealed.
    reason
        Why not.
    trusts_code
        Whether the code may then be asked about the private dataset.
    """

    sealed: Sealed | None = None
    reason: str = ""
    trusts_code: bool = False

    @property
    def words(self) -> str:
        """For the certificate; "" where there is nothing to release from."""
        if self.sealed is not None:
            return (
                f"outputs are drawn from {self.sealed.words}, sealed and compared before private "
                f"data were opened (sha256 {self.sealed.digest}); no code of the mechanism runs"
            )
        if self.reason and self.trusts_code:
            return (
                "the code is asked about the private data (trust_code): the promise holds only if "
                "it answers then as in the test, and tells nobody"
            )
        return ""


def require_sealable(mechanism: Mechanism, domain: Domain, *, trust_code: bool) -> None:
    """InputError where neither a formula (``seal_formula``) nor laws can be sealed.

    Not where code is trusted. Nothing was tested yet.
    """
    if trust_code is not True and (reason := why_no_table(mechanism, domain)):
        raise InputError(
            f"trust_code={quote(trust_code)}: what a release may need cannot be sealed before "
            f"private data are opened: {reason}; or, if you trust its author, trust_code=True",
            name="trust_code",
        )


def seal_formula(mechanism: Mechanism, domain: Domain) -> Sealed | None:
    """What this package computes, made anew from numbers; None where there are laws to ask for.

    It is noise on a statistic of this package, whole sums of the data with noise without an end, or
    decisions on noisy sums of data that are too many for a table.
    """
    way = plan_seal(mechanism, domain).way
    if way == "noise":
        return seal(mechanism, domain)
    whole = _whole_sums(mechanism, domain)
    if whole is not None or way != "none" or _see_narrowly(mechanism, domain) is not None:
        return whole
    return _decisions(mechanism, domain)


def seal_on_grid(mechanism: Mechanism, domain: Domain, grid_step: Any) -> Sealed:
    """The noisy sums of a program, each released as a multiple of a step (theory S15).

    Raises InputError for a step that is not one, and GateError where the program is not made of
    noisy sums of its data.
    """
    step = check_step(grid_step)
    name = _find_name(mechanism)
    with surroundings_kept():
        with suppress(GateError):
            return seal_sums(mechanism, domain, step, name, as_output=True)
        try:
            return seal_decisions(mechanism, domain, step, name)
        except GateError as error:
            reason = error
        with suppress(GateError):
            return seal_sums(mechanism, domain, step, name)
    raise reason


def plan_seal(mechanism: Mechanism, domain: Domain) -> SealPlan:
    """How a mechanism can be sealed; it says so itself nowhere, and no law is computed."""
    if type(domain) in TABLES:
        return SealPlan("none", reason=_OF_TABLES)
    if type(domain) not in DOMAINS:
        return SealPlan("none", reason=f"datasets of {domain} can be neither listed nor added up")
    statistic = _trust(mechanism.statistic, domain)
    if isinstance(mechanism, (ShiftMechanism, VectorShift)) and _is_ours(mechanism):
        if statistic is not None:
            return SealPlan("noise", statistic)
        if domain.size <= MOST_ROWS and type(mechanism) is ShiftMechanism:
            return SealPlan("tabulated noise")
        return SealPlan("none", reason=_too_many(domain, "its statistic is code"))
    if isinstance(mechanism, (ShiftMechanism, VectorShift)):
        return SealPlan(
            "none",
            reason="only noise of this package is drawn: lt.DiscreteLaplace(scale) and "
            "lt.DiscreteGaussian(sigma), and no classes derived from them",
        )
    if statistic is not None and has_few_edges(statistic, domain):
        return SealPlan("values", statistic)
    if domain.size <= min(MOST_ROWS, affordable_laws(mechanism, "plain")):
        return SealPlan("datasets")
    what = (
        "the code is given the whole dataset"
        if mechanism.statistic is None
        else ("its statistic has too many values, or is code")
    )
    return SealPlan("none", reason=_too_many(domain, what))


def seal(mechanism: Mechanism, domain: Domain) -> Sealed:
    """Ask for all laws that a release can need, and fix them as plain numbers.

    Raises GateError where that cannot be done, with what to write instead. The code is told of no
    private data: it is asked about every dataset, or every value of its statistic, in one order.
    """
    name = _find_name(mechanism)
    try:
        sealed = _whole_sums(mechanism, domain) or _narrow(mechanism, domain)
        if sealed is not None:
            return sealed
        plan = plan_seal(mechanism, domain)
        if plan.way == "none":
            decisions = _decisions(mechanism, domain)
            if decisions is None:
                raise GateError(plan.reason)
            return decisions
        if plan.way.endswith("noise"):
            return _seal_noise(mechanism, domain, plan.statistic, name)
        return _seal_table(mechanism, domain, plan.statistic, name)
    except GateError:
        raise
    except Exception as error:  # a query's own exception passes through its oracle as it is
        raise GateError(
            f"a law that a release may need was not computed: {find_words(error)}"
        ) from None


def _find_name(mechanism: Mechanism) -> str:
    return mechanism.name if type(mechanism.name) is str else "mechanism"


def find_words(error: Exception) -> str:
    """What went wrong in the analysis; private data are not known yet."""
    return str(error) if isinstance(error, LiptestError) else type(error).__name__


def why_no_table(mechanism: Mechanism, domain: Domain) -> str:
    """Why its laws cannot be sealed; "" when they can, as far as that is known without them."""
    plan = plan_seal(mechanism, domain)
    is_narrow = plan.way == "none" and _see_narrowly(mechanism, domain) is not None
    return "" if is_narrow else plan.reason


def is_left_open(mechanism: Mechanism, domain: Domain) -> bool:
    """Whether outputs of a law are not explored, on the dataset of zeros: no law can be sealed."""
    with suppress(LiptestError):
        return bool(mechanism.law(np.zeros(domain.dimension, dtype=domain.dtype)).unexplored)
    return False


def _whole_sums(mechanism: Mechanism, domain: Domain) -> SealedSums | None:
    """The output itself where it is made of whole sums with whole noise: 1 is no coarser a grid."""
    with suppress(GateError), surroundings_kept():
        sums = seal_sums(mechanism, domain, Fraction(1), _find_name(mechanism), as_output=True)
        return sums if sums.sums.noises and sums.is_whole else None
    return None


def _decisions(mechanism: Mechanism, domain: Domain) -> SealedSums | None:
    """A tree of decisions on noisy sums that tells no real numbers, so that no step is needed."""
    with suppress(GateError), surroundings_kept():
        decisions = seal_decisions(mechanism, domain, Fraction(1), _find_name(mechanism))
        return decisions if decisions.decides and decisions.is_whole else None
    return None


def _narrow(mechanism: Mechanism, domain: Domain) -> SealedTable | None:
    """By the little that the code is seen to read; the law released is that of this much of it."""
    narrow = _see_narrowly(mechanism, domain)
    if narrow is None:
        return None
    statistic = _trust(narrow.statistic, domain)
    assert statistic is not None
    with suppress(ReadsMore):
        # A law that cannot be drawn from is refused before all others are computed.
        LawCollector().add(narrow.law(next(_representatives(domain, statistic))))
        narrow.laws_of(find_values(statistic, domain)[0])
        return _seal_table(narrow, domain, statistic, narrow.name)
    return None


def _see_narrowly(mechanism: Mechanism, domain: Domain) -> Mechanism | None:
    if mechanism.statistic is not None or not domain.one_at_a_time or type(domain) not in DOMAINS:
        return None
    narrow = mechanism.narrowed(domain)
    if narrow is None:
        return None
    statistic = _trust(narrow.statistic, domain)
    return narrow if statistic is not None and has_few_edges(statistic, domain) else None


def _seal_table(
    mechanism: Mechanism, domain: Domain, statistic: Statistic | None, name: str
) -> SealedTable:
    collector = LawCollector()
    for dataset in _representatives(domain, statistic):
        collector.add(mechanism.law(dataset))
    return collector.table(domain, statistic, name)


def _representatives(domain: Domain, statistic: Statistic | None) -> Iterator[IntArray]:
    """A dataset for each row of the table."""
    if statistic is None:
        for block in domain.all_points(_CHUNK):
            yield from block.copy()
        return
    for pair in find_values(statistic, domain)[1]:
        if pair is None:
            yield np.zeros(domain.dimension, dtype=domain.dtype)
        else:
            yield statistic.realise(domain, *pair)[0]


def _seal_noise(
    mechanism: Any, domain: Domain, statistic: Statistic | None, name: str
) -> SealedNoise:
    if statistic is None:
        blocks = [values_at(mechanism.statistic, block) for block in domain.all_points(_CHUNK)]
        table = np.concatenate(blocks)
        if table.ndim != 1:
            raise GateError("a statistic of several numbers that is code cannot be sealed")
        statistic = Tabulated(table, domain, name)
    noise = _make_anew(mechanism.noise)
    return SealedNoise(domain, statistic, noise, type(mechanism) is VectorShift, name)


def _is_ours(mechanism: ShiftMechanism | VectorShift) -> bool:
    kinds = type(mechanism), type(mechanism.noise)
    return kinds[0] in (ShiftMechanism, VectorShift) and kinds[1] in (
        DiscreteLaplace,
        DiscreteGaussian,
    )


def _make_anew(noise: AdditiveNoise) -> AdditiveNoise:
    width: Any = noise.scale if isinstance(noise, DiscreteLaplace) else noise.sigma  # type: ignore[attr-defined]
    kind: Any = type(noise)
    made: AdditiveNoise = kind(Fraction(int(width.numerator), int(width.denominator)))
    return made


def _trust(statistic: Any, domain: Domain) -> Statistic | None:
    spec = None if statistic is None else statistic_spec(statistic)
    return None if spec is None or not domain.one_at_a_time else read_statistic(spec, domain)


def _too_many(domain: Domain, what: str) -> str:
    size = f"{domain.size:,}" if domain.size < 10**15 else f"2**{domain.size.bit_length() - 1}"
    return (
        f"{what}, and {size} datasets are too many to have a law written down for each; {_INSTEAD}"
    )


_READERS: dict[str, Callable[[dict[str, Any], str], Sealed]] = {
    "table": read_table,
    "noise": read_noise,
    "sums": read_sums,
}


# What reading raises of values that nothing sealed; 0 as a denominator is one of ArithmeticError.
_NOT_SEALED = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, LiptestError)


def read_sealed(document: Any, name: str, domain: Domain | None = None) -> Sealed:
    """What plain JSON values say, of a domain if one is given; InputError for anything else."""
    try:
        stated = read_domain(document["domain"])
        if document["version"] == VERSION and domain in (None, stated):
            return _READERS[document["sealed"]](document, name)
    except _NOT_SEALED:
        pass
    raise InputError(f"sealed={quote(document)} is not what liptest seals")

"""The price of code that does more with its data than add noise to them: the largest loss itself.

Data-dependent scales of noise, ``rng.random() < f(mean)``: where outputs are finitely many and all
sums lie between known ends, the largest loss of neighbouring sums is bounded in balls by branch and
bound, and reached up to the same digits (docs/theory/tables.md, B17).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

from liptest.data.domains import Domain
from liptest.enumerate.symbols.symbolic_paths import (
    MAX_PATHS_CURVED,
    NoPaths,
    Pairs,
    PathEnd,
    SymbolicPaths,
)
from liptest.errors import LiptestError
from liptest.mechanisms.base import Mechanism
from liptest.privacy.proofs.prices import Alignment
from liptest.symbolic.alignment import Price
from liptest.symbolic.answers import Answer, find_parts, largest_step, span_with_rounding
from liptest.symbolic.curved_losses import CurvedLaws, LargestLoss, largest_loss
from liptest.symbolic.curved_masses import CurvedPath
from liptest.symbolic.curves import answers_in
from liptest.values.answers.decisions import Alternative

CURVED = "curved"
_MOST_SUMS = 2
_TELLS_NUMBERS = (
    "it answers numbers with noise; where data are not only added to noise, outputs must be "
    "finitely many (compare the noisy number with constants)"
)


def price_by_curves(
    mechanism: Mechanism, domain: Domain, wanted: Fraction | None, known: Alignment
) -> Alignment:
    """The largest loss over all neighbouring sums, or what was known before."""
    try:
        followed = mechanism.align_paths(domain, way=CURVED)
    except LiptestError:
        return known
    if isinstance(followed, NoPaths):
        return _with_reason(known, followed.reason)
    if followed is None or not followed.ends:
        return known
    laws = _find_laws(followed)
    if isinstance(laws, str):
        return known if known.has_price else replace(known, reason=laws)
    loss = largest_loss(laws, wanted=wanted)
    boundary = _pairs(followed, loss)
    if loss.most is None or (wanted is not None and loss.most > wanted and known.has_price):
        pairs = (*boundary, *known.boundary)
        return replace(known, reason=_words(loss), boundary=pairs)
    price = Price(loss.most, is_by_ends=True, is_by_curves=True)
    counts = len(followed.ends), True
    given = (f"{followed.rounded}, included",) if followed.rounded else ()
    return Alignment(price, *counts, _words(loss), given=given, boundary=boundary, least=loss.least)


def _with_reason(known: Alignment, reason: str) -> Alignment:
    """What was known, where nothing is proved in this way; its reason stays the first one."""
    return known if known.reason or not reason else replace(known, reason=reason)


def _words(loss: LargestLoss) -> str:
    least = f"the largest loss over all values of its sums is at least {loss.least:.6g}"
    return least if loss.most is not None else f"{least}, and {loss.why}"


def _pairs(followed: SymbolicPaths, loss: LargestLoss) -> Pairs:
    """Neighbours around the values of a sum where the loss is largest."""
    if loss.at is None or len(loss.at[0]) != 1:
        return ()
    (number, left), right = next(iter(loss.at[0].items())), next(iter(loss.at[1].values()))
    return followed.pairs_at({number: Fraction(1)}, -(left + right) / 2)


def _find_laws(followed: SymbolicPaths) -> CurvedLaws | str:
    """The laws of a program of which all paths are known, or why they are not followed."""
    ends = followed.ends
    if len(ends) > MAX_PATHS_CURVED:
        return (
            f"more than {MAX_PATHS_CURVED} paths are not followed where scales depend on the data"
        )
    asked = [_find_conditions(end) for end in ends]
    why = next((one for one in asked if isinstance(one, str)), None)
    if why is not None:
        return why
    paths = [path for path in asked if isinstance(path, CurvedPath)]
    answers: dict[int, Answer] = {}
    for end in ends:
        answers |= _find_answers(end)
    if not 0 < len(answers) <= _MOST_SUMS:
        return f"of its data {len(answers)} sums are used in other ways than added to noise"
    parts = find_parts(followed.differences)
    ends_of_sums = {n: span_with_rounding(answer, parts) for n, answer in answers.items()}
    spans = {n: span for n, span in ends_of_sums.items() if span is not None}
    if len(spans) < len(answers):
        return "a sum of its data may be any number: bound the records, or clip them first"
    return CurvedLaws(
        _by_outputs(ends, paths),
        spans,
        {number: largest_step({number: 1}, parts) for number in answers},
        tuple(dict.fromkeys(one for end in ends if end.curved for one in end.curved.positive)),
        tuple(dict.fromkeys(one for end in ends if end.curved for one in end.curved.finite)),
    )


def _find_conditions(end: PathEnd) -> CurvedPath | str:
    curved = end.curved
    if curved is None or end.rounding or end.missing or end.path.conditions:
        return "more than comparisons with noise is asked of its data"
    if end.path.places:
        return _TELLS_NUMBERS
    if not all(_is_public(branches) for branches, _ in end.choices):
        return "its random choices depend on the data"
    if any(len(condition.noise) != 1 for condition in curved.conditions):
        return "it compares sums of several noises, whose scales depend on the data"
    conditions = tuple((condition.noise[0][0], condition) for condition in curved.conditions)
    weights = (_weight(*choice) for choice in end.choices)
    return CurvedPath(end.noises, conditions, prod(weights))  # type: ignore[arg-type]


def _weight(branches: Any, taken: int) -> Fraction:
    """The probability of a choice that does not depend on the data."""
    if isinstance(branches, int):
        return Fraction(1, branches)
    if isinstance(branches, tuple):
        return Fraction(branches[taken], sum(branches))
    return Fraction(1)


def _is_public(branches: Any) -> bool:
    """Whether the probabilities of a choice do not depend on the data, or it is of a curve."""
    if isinstance(branches, Alternative):
        return isinstance(branches.asked, tuple) and branches.asked[:1] == (CURVED,)
    return isinstance(branches, (int, tuple))


def _find_answers(end: PathEnd) -> dict[int, Answer]:
    answers: dict[int, Answer] = {}
    curved = end.curved
    assert curved is not None
    asked = (one for condition in curved.conditions for one in condition.noise)
    curves = [
        *(condition.base for condition in curved.conditions),
        *(factor for _, factor in asked),
        *curved.positive,
        *(curve for curve, _ in curved.finite),
    ]
    for curve in curves:
        answers |= answers_in(curve)
    return answers


def _by_outputs(ends: Iterable[PathEnd], paths: Iterable[CurvedPath]) -> Any:
    """The paths of each output; what is not certainly the same is another one."""
    groups: dict[str, list[tuple[Any, list[CurvedPath]]]] = {}
    for end, path in zip(ends, paths, strict=True):
        group = groups.setdefault(repr(end.output), [])
        alike = next((own for output, own in group if output == end.output), None)
        if alike is None:
            group.append((end.output, [path]))
        else:
            alike.append(path)
    return tuple(tuple(own) for group in groups.values() for _, own in group)

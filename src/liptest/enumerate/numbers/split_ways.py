"""Several ways to one output, where each of its numbers has ways of its own (theory W4).

``[max(0, round(count + noise)) for count in counts]`` comes to 8 numbers in 256 ways: each number
is clipped, or it is not. They are 2 ways for each of 8 numbers, and these are independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from operator import add

from liptest.balls import to_fmpq
from liptest.enumerate.numbers.number_laws import NumberLaw, Way, add_numbers, find_way
from liptest.enumerate.numbers.whole_outputs import WholeLeaf, WholePlace
from liptest.symbolic.exponential_polynomials import ExactRates
from liptest.symbolic.forms import Constraint
from liptest.symbolic.free_sums import independent_groups

#: What a way demands of one part of the noise, and the number that is made of it, if any.
Option = tuple[frozenset[Constraint], WholePlace | None]


def join_ways(rates: ExactRates, leaves: list[WholeLeaf]) -> Way | None:
    """All leaves of one description as one way; None where they are not so made."""
    blocks = _find_blocks(leaves)
    if blocks is None:
        return None
    owners, options = blocks
    first = leaves[0]
    find = _finder(rates, first)
    weight = to_fmpq(first.weight)
    numbers: dict[int, NumberLaw] = {
        place: find((frozenset(), first.places[place])).numbers[0]
        for place in range(len(first.places))
        if place not in owners
    }
    for place, choices in zip(owners, options, strict=True):
        ways = [find(option) for option in choices]
        if place is None:
            weight = weight * reduce(add, [way.weight for way in ways])
        else:
            numbers[place] = add_numbers([way.numbers[0].enlarge_by(way.weight) for way in ways])
    return Way(weight, tuple(numbers[place] for place in range(len(first.places))))


def _finder(rates: ExactRates, first: WholeLeaf) -> Callable[[Option], Way]:
    def find(option: Option) -> Way:
        constraints, place = option
        places = () if place is None else (place,)
        weight = to_fmpq(1)
        leaf = WholeLeaf(first.skeleton, places, first.noises, tuple(constraints), weight, 0)
        return find_way(rates, leaf)

    return find


def _find_blocks(
    leaves: list[WholeLeaf],
) -> tuple[list[int | None], list[list[Option]]] | None:
    """For each independent part of the noise its number, and its options; None if they are tied.

    The leaves must be all combinations of these options, each of them once.
    """
    first = leaves[0]
    alike = {(leaf.noises, leaf.weight, leaf.rounding) for leaf in leaves}
    if len(leaves) < 2 or len(alike) > 1:
        return None
    terms = [constraint.terms for leaf in leaves for constraint in leaf.constraints]
    terms += [place.form.terms for leaf in leaves for place in leaf.places]
    groups = [group for group in independent_groups(list(dict.fromkeys(terms))) if group]
    block_of = {variable: block for block, group in enumerate(groups) for variable in group}
    owners: list[int | None] = [None] * len(groups)
    for place in range(len(first.places)):
        sums = [leaf.places[place].form.terms for leaf in leaves]
        blocks = {block_of[made[0][0]] for made in sums if made}
        if len(blocks) > 1 or any(owners[block] is not None for block in blocks):
            return None
        if not blocks and len({leaf.places[place] for leaf in leaves}) > 1:
            return None
        for block in blocks:
            owners[block] = place
    combined = {_options_of(leaf, owners, block_of) for leaf in leaves}
    options = [list(dict.fromkeys(choices)) for choices in zip(*combined, strict=True)]
    if len(combined) < len(leaves) or math.prod(map(len, options)) != len(leaves):
        return None
    return owners, options


def _options_of(
    leaf: WholeLeaf, owners: list[int | None], block_of: dict[int, int]
) -> tuple[Option, ...]:
    """What one leaf demands of each part of the noise."""
    demanded: list[set[Constraint]] = [set() for _ in owners]
    for constraint in leaf.constraints:
        demanded[block_of[constraint.terms[0][0]]].add(constraint)
    return tuple(
        (frozenset(inside), None if place is None else leaf.places[place])
        for inside, place in zip(demanded, owners, strict=True)
    )

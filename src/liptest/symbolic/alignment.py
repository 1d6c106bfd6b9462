"""The price of a program whose data and noise are symbolic: a bound for datasets of any size.

If for each path and each difference of the answers some shift of the noise keeps the path and its
output at a price of at most epsilon, the program is epsilon-private (docs/theory/size.md, S1; the
idea is Zhang and Kifer's, LightDP, 2017). ``price_paths`` finds such shifts. Nothing is searched
among datasets, and nothing is integrated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from liptest.errors import InputError
from liptest.symbolic.answers import AlignedPath, Answer, Differences, Move
from liptest.symbolic.block_prices import BlockShift, Total, price_blocks
from liptest.symbolic.forms import Rational, lean
from liptest.symbolic.long_paths import LONG, LongShift, find_long_shift
from liptest.symbolic.path_programs import PathRow, RowReader, find_blocks

_MOST_NAMED = 5
_TOO_DEAR = "a path costs more than was claimed"


@dataclass(frozen=True)
class Price:
    """What a proof by alignment says: epsilon and delta for datasets of any size.

    ``epsilon`` is an upper bound of the program's, exact or rounded up by less than 2**-90; None
    where no shift was found, which proves nothing. ``path`` (its number) and ``move`` are dearest:
    where to look for a refutation first.
    """

    epsilon: Fraction | None
    delta: Fraction = Fraction(0)
    path: int = 0
    move: Move = ()
    #: Shift of each noise on the dearest path, as a sentence.
    shifts: tuple[str, ...] = ()
    #: Why there is no price.
    why: str = ""
    #: Whether probabilities at the ends of sums say it, and no shift (``log_concave``).
    is_by_ends: bool = False
    #: Whether the largest loss was bounded itself, over all values of the sums (``curved_losses``).
    is_by_curves: bool = False
    #: Whether not all paths were priced, as one was dearer than wanted.
    has_more: bool = False

    def __str__(self) -> str:
        if self.epsilon is None:
            return f"no price: {self.why}"
        shifts = f", shifts: {', '.join(self.shifts)}" if self.shifts else ""
        return f"price {float(self.epsilon):.6f}{shifts}"


def price_paths(
    paths: Iterable[AlignedPath],
    differences: Differences,
    *,
    wanted: Rational | None = None,
    gives_up: bool = False,
) -> Price:
    """The price of a program that consists of these paths, all of them.

    ``wanted`` is the epsilon of a claim: only where it is exceeded are dearer bounds improved at
    length. With ``gives_up`` the first path that exceeds it ends the work: then there is no price,
    and it ``has_more`` to say. Raises InputError for no paths, and for answers not in D.
    """
    goal = None if wanted is None else Fraction(wanted)
    best, at, dearest = Total(Fraction(0)), 0, None
    reader = RowReader()
    for number, path in enumerate(paths):
        _check(path, differences)
        total, why = _find_price(path, differences, goal, reader)
        if total.price is None:
            return Price(None, path=number, move=total.move, why=why)
        if gives_up and goal is not None and total.price > goal:
            return Price(None, path=number, move=total.move, why=_TOO_DEAR, has_more=True)
        if dearest is None or total.price > (best.price or 0):
            best, at, dearest = total, number, path
    if dearest is None:
        raise InputError("paths=() is not a program", name="paths")
    return Price(best.price, path=at, move=best.move, shifts=words_of_shifts(dearest, best.parts))


def _check(path: AlignedPath, differences: Differences) -> None:
    for what in path.noises:
        if isinstance(what, Answer) and not 0 <= what.number < differences.size:
            raise InputError(
                f"answer {what.number} is unknown: there are {differences.size}", name="paths"
            )


def _find_price(
    path: AlignedPath, differences: Differences, wanted: Fraction | None, reader: RowReader
) -> tuple[Total, str]:
    """The price of one path; why there is none."""
    long = find_long_shift(path, differences.bounds) if len(path.conditions) >= LONG else None
    if long is not None:
        is_cheap = wanted is not None and long.price <= wanted
        if is_cheap or not (any(differences.rows) or long.has_order):
            return Total(long.price, long.move, (long,)), ""
    blocks, conditions, equations = find_blocks(path, reader)
    for rows, sides in ((conditions, (-1,)), (equations, (1, -1))):
        seen = find_bare_move(path, rows, differences, sides)
        if seen is not None:
            return Total(None, seen[0]), seen[1]
    total = price_blocks(blocks, differences, wanted=wanted)
    moved = ", ".join(f"{_name(path, i)} by {_number(by)}" for i, by in total.move[:4])
    more = ", .." if len(total.move) > 4 else ""
    which = f"the path {path.words!r}" if path.words else "a path"
    where = f" where {moved}{more} moves" if moved else ""
    return total, f"no shift of the noise keeps {which}{where}"


def find_bare_move(
    path: AlignedPath,
    rows: Sequence[PathRow],
    differences: Differences,
    sides: Sequence[int] = (1, -1),
) -> tuple[Move, str] | None:
    """A difference that moves a sum without noise to one of these sides, in words, too."""
    where = f" on the path {path.words!r}" if path.words else ""
    for row in rows:
        for side in sides:
            factors = {i: side * factor for i, factor in row.answers}
            if differences.largest(factors):
                what = "is in the output" if len(sides) == 2 else "is compared"
                why = f"{_sumwords_of_shifts(path, row)} {what} without noise{where}"
                return differences.find_largest(factors), why
    return None


def _sumwords_of_shifts(path: AlignedPath, row: PathRow) -> str:
    return " and ".join(_name(path, i) for i, _ in row.answers[:3])


def _name(path: AlignedPath, number: int) -> str:
    named = (
        answer for answer in path.noises if isinstance(answer, Answer) and answer.number == number
    )
    return str(next(named, f"answer {number}"))


def words_of_shifts(path: AlignedPath, parts: Sequence[BlockShift | LongShift]) -> tuple[str, ...]:
    """Each shifted noise of a path: "laplace noise 1 by 1"."""
    order = [v for v, what in enumerate(path.noises) if not isinstance(what, Answer)]
    shifts: dict[int, Rational] = {}
    for part in parts:
        for v, shift in part.shifts().items():
            shifts[v] = lean(Fraction(shifts.get(v, 0) + shift))
    named = [
        f"{path.noises[v].family} noise {order.index(v) + 1} by {_number(shift)}"  # type: ignore[union-attr]
        for v, shift in sorted(shifts.items())
        if shift
    ]
    if len(named) > _MOST_NAMED:
        named[_MOST_NAMED - 1 :] = [f"{len(named) - _MOST_NAMED + 1} more"]
    return tuple(named)


def _number(value: Rational) -> str:
    return str(value) if Fraction(value).denominator < 1000 else f"{float(value):.6g}"

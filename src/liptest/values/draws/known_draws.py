"""Draws whose parameters are known to the outside, as in ``rng.choice(k, n, p=noisy / sum)``.

What is drawn anew, with parameters that follow from released numbers, tells no more than these do:
it is post-processing, whose random numbers are independent of all others (docs/theory/size.md, S7).
So a draw is followed as a function of its parameters. At a point NumPy itself draws, from a seed
that the run on plain data is handed, too.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from liptest.values.answers.aligned import AlignedRun, NoisyData, ReleasedValue
from liptest.values.answers.decisions import Alternative
from liptest.values.array import SymbolicArray, fill_array, make_array
from liptest.values.branching import KNOWN, Branching, Path
from liptest.values.faults import raises_as_numpy
from liptest.values.protocol import is_symbolic

_SEEDS = 1 << 62
_DRAWN = "drawn with known parameters"
#: That NumPy calculates something of known numbers, which may fail.
CALCULATED = "calculated from what is known"
_EXCEPTIONS = {_DRAWN: "ValueError", CALCULATED: "numpy.linalg.LinAlgError"}
_NUMBERS = (int, float, np.number)


class _KnownDraw:
    """One call of a method of a generator, whose weights are known; drawn once at a point."""

    def __init__(self, method: str, first: Any, size: Any, seed: int) -> None:
        self._call = method, first, size
        self._seed = seed
        self._drawn: tuple[tuple[Any, ...], NDArray[Any]] | None = None

    def is_valid(self, weights: tuple[Any, ...]) -> bool:
        """Whether NumPy takes these weights for probabilities."""
        try:
            self._entries(weights)
        except ValueError:
            return False
        return True

    def entry(self, place: int, *weights: Any) -> Any:
        """One entry of what is drawn."""
        return self._entries(weights)[place]

    def _entries(self, weights: tuple[Any, ...]) -> NDArray[Any]:
        if self._drawn is None or self._drawn[0] != weights:
            self._drawn = (
                weights,
                np.ravel(draw_with_known(*self._call, np.array(weights), self._seed)),
            )
        return self._drawn[1]


@raises_as_numpy
def draw_with_known(method: str, first: Any, size: Any, weights: Any, seed: int) -> Any:
    """``choice(first, size, p=weights)`` or ``multinomial(first, weights, size)``, from a seed."""
    rng = np.random.Generator(np.random.PCG64(seed))
    if method == "choice":
        return rng.choice(first, size, p=weights)
    return getattr(rng, method)(first, weights, size)


def find_noted_seed(tree: Branching) -> int | None:
    """The seed of a draw with known parameters, where such a one was noted."""
    log = tree.draw_log
    noted = None if log is None else log.next_order(KNOWN, 1)
    return None if noted is None else int(noted[0])


def draw_known(tree: Branching, method: str, first: Any, size: Any, known: tuple[Any, ...]) -> Any:
    """A draw with ``find_known_weights``, as an array or one number.

    ``first`` is what is chosen from, or how many trials there are. Raises ValueError, on paths of
    their own, where NumPy does: weights below 0 or not a number, or that do not add up to 1.
    """
    run = tree.noise
    made = draw_with_known(
        method, first, size, np.full(len(known), 1 / len(known)), 0
    )  # raises as NumPy
    if np.asarray(made).dtype.kind not in "biuf":
        return _text(tree, first, size, known)
    seed = 0
    if run.point is not None:
        seed = int(run.rng.integers(_SEEDS))
        if tree.draw_log is not None:
            tree.draw_log.note_order(KNOWN, np.array([seed]))
    draw = _KnownDraw(method, first, size, seed)

    def is_valid() -> bool:
        return draw.is_valid(tuple(one.evaluate() if is_symbolic(one) else one for one in known))

    if not run.decide((_DRAWN, run.number_node()), is_valid):
        _refuse_as_numpy()
    kind = np.asarray(made).dtype.type if np.ndim(made) else type(made)
    are_places = method == "choice" and isinstance(first, (int, np.integer))
    choices = len(known) if are_places else 0

    def entry(place: int) -> ReleasedValue:
        return ReleasedValue(run, kind, partial(draw.entry, place), known, choices=choices)

    if not np.ndim(made):
        return entry(0)
    cells = fill_array([entry(place) for place in range(made.size)], made.shape, object)
    return make_array(tree, cells, made.dtype)


def _text(tree: Branching, texts: Any, size: Any, known: tuple[Any, ...]) -> Any:
    """One text, by branching over all of them; several are refused."""
    if np.size(np.empty(() if size is None else size)) != 1:
        tree.forbid(
            "a choice of texts with probabilities that data and noise determine",
            "choose whole numbers, rng.choice(k, size, p=p), and name them after the release",
        )
    place = draw_known(tree, "choice", len(texts), None, known)
    text = np.asarray(texts)[place.concretise("a choice")]
    return text if size is None else np.full(size, text)


@raises_as_numpy
def _refuse_as_numpy() -> NoReturn:
    raise ValueError("probabilities do not sum to 1")


def find_known_weights(tree: Branching, weights: Any) -> tuple[Any, ...] | None:
    """Weights as numbers that are known, some of them symbolic; None for all others."""
    run, kind = tree.noise, type(weights)
    if not isinstance(run, AlignedRun) or kind not in (SymbolicArray, list, tuple):
        return None
    if kind is SymbolicArray and weights.ndim != 1:
        return None
    cells = weights.cells.tolist() if kind is SymbolicArray else list(weights)
    if not any(issubclass(type(cell), NoisyData) for cell in cells):
        return None
    weights_known: list[Any] = []
    for cell in cells:
        if issubclass(type(cell), NoisyData):
            weights_known.append(cell.released("a choice"))
        elif is_symbolic(cell) or not isinstance(cell, _NUMBERS):
            return None
        else:
            weights_known.append(cell)
    return tuple(weights_known)


def ends_refused(path: Path, exception: str) -> bool:
    """Whether the last that happened is that NumPy refused numbers that are known."""
    branches, taken = path[-1] if path else (None, 0)
    asked = branches.asked if isinstance(branches, Alternative) else None
    refused = type(asked) is tuple and _EXCEPTIONS.get(asked[0]) == exception
    return refused and taken == 1

"""A stand-in for numpy.random.Generator that asks a choice tree for every draw.

Draws of continuous noise are symbolic, with the ideal laws of NumPy's methods.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, MutableSequence
from fractions import Fraction
from functools import lru_cache, partial
from math import isfinite
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from liptest.enumerate.intercept.draw_logs import CHOICE, OF_PYTHON, TOTAL
from liptest.enumerate.intercept.finite_draws import (
    CountVectorDraws,
    TailedDraws,
    binomial_bits,
    binomial_weights,
    check_digits,
    choice_weights,
    distinct_by_weight,
    draw_distinct,
    draw_order,
    draw_ranged,
    draw_single_trials,
    hypergeometric_weights,
    integer_range,
    of_two,
    probabilities,
    take_items,
    too_many_bytes,
)
from liptest.enumerate.watch.process_questions import PRIVATE_NAMES, STAND_INS
from liptest.symbolic.forms import Form
from liptest.symbolic.noise import Noise
from liptest.values.answers.curved import scale_noise
from liptest.values.answers.weight_choices import note_comparisons
from liptest.values.answers.weights import SumOfWeights, place_by_weights
from liptest.values.array import SymbolicArray, cells_of, make_array, numbers_in_lists
from liptest.values.branching import Branches, Branching

# It fills in what |u| is.
from liptest.values.draws import folded_uniform as _folded_uniform  # noqa: F401
from liptest.values.draws.drawn_order import DrawnOrder
from liptest.values.draws.grid import GRID, UNIT, Line, exact_line
from liptest.values.draws.known_draws import (
    draw_known,
    draw_with_known,
    find_known_weights,
    find_noted_seed,
)
from liptest.values.draws.noise import find_value
from liptest.values.draws.noise_run import NoiseRun
from liptest.values.draws.packed_uniforms import draw_floats
from liptest.values.draws.uniform import UniformValue, coarse_uniform
from liptest.values.draws.whole_draws import uniform_entry
from liptest.values.faults import NUMPY, raises_as_numpy
from liptest.values.pandas.keyed_series import KeyedSeries
from liptest.values.protocol import Symbolic, is_symbolic
from liptest.values.records.record_storage import is_record_array
from liptest.values.records.rows import DrawsRows

#: Orders of so few are chosen one by one.
_FEW_ORDERED = 8
_ADVICE = "give a finite scale"
_SIZES = "draw a fixed number of noises; of groups, name the groups: .reindex(KEYS, fill_value=0)"


class NoiseDraws:
    """Methods of a Generator for noise that stays symbolic."""

    _tree: Branching
    shape_of: Callable[[Any], tuple[int, ...]]
    #: Whose samplers they stand for: those of a RandomState are not all the same.
    origin = "Generator"

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._locate("laplace", loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._locate("normal", loc, scale, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._locate("gumbel", loc, scale, size)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self._locate("logistic", loc, scale, size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        if self._has_scale_of_data(scale, size):
            draw = partial(self.exponential, 1.0)
            return self._as_one_draw(lambda: scale_noise(draw, 0.0, scale))
        return self._noise("exponential", (scale,), size, partial(_scale, "exponential"))

    def standard_exponential(
        self, size: Any = None, dtype: Any = np.float64, method: Any = "zig", out: Any = None
    ) -> Any:
        self._refuse_options("standard_exponential", dtype, out)
        origin = self.origin if method == "zig" else f"{self.origin}, method={method!r}"
        return self._noise("exponential", (1.0,), size, partial(_scale, "exponential"), origin)

    def standard_normal(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        self._refuse_options("standard_normal", dtype, out)
        return self.normal(0.0, 1.0, size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        return self._noise("geometric", (p,), size, _geometric)

    def _locate(self, family: str, loc: Any, scale: Any, size: Any) -> Any:
        if self._has_scale_of_data(scale, size):
            draw = partial(self._locate, family, 0.0, 1.0, None)
            return self._as_one_draw(lambda: scale_noise(draw, loc, scale))
        if type(loc) is not float and NoiseRun.of(self._tree).has_answers:
            # Around the answers of a list, or of a series, as around an array of them.
            loc = loc.array if type(loc) is KeyedSeries else numbers_in_lists(loc)
            if issubclass(type(loc), Symbolic):
                return self._around(family, loc, scale, size)
        return self._noise(family, (loc, scale), size, partial(_move, family))

    def _around(self, family: str, loc: Any, scale: Any, size: Any) -> Any:
        """Noise around a number, or numbers, of symbolic data: NumPy adds it to them."""
        shape = np.broadcast_shapes(np.shape(loc), np.shape(scale)) if size is None else size
        entries = shape if shape != () else None
        return self._as_one_draw(lambda: self._locate(family, 0.0, scale, entries) + loc)

    def _has_scale_of_data(self, scale: Any, size: Any) -> bool:
        is_one = size is None or (type(size) is tuple and not size)
        return is_one and is_symbolic(scale) and NoiseRun.of(self._tree).is_curved

    def _as_one_draw(self, make: Callable[[], Any]) -> Any:
        """What is made of draws, noted as the one draw that the program asked for."""
        tree = self._tree
        log, tree.draw_log = tree.draw_log, None
        try:
            drawn = make()
        finally:
            tree.draw_log = log
        return drawn if log is None else log.hand_out(drawn, _law_of_noise(drawn))

    def _refuse_options(self, method: str, dtype: Any, out: Any) -> None:
        if np.dtype(dtype) != np.float64 or out is not None:
            self._tree.forbid(f"rng.{method}(dtype=, out=)", "leave both out")

    def _noise(
        self,
        method: str,
        parameters: tuple[Any, ...],
        size: Any,
        draw: Callable[..., Form | float | None],
        origin: str | None = None,
    ) -> Any:
        """One variable, or one for each entry of the broadcast parameters."""
        tree = self._tree
        origin = origin or self.origin
        tree.count_draws(1)
        run = NoiseRun.of(tree)
        if run.has_answers:
            if issubclass(type(size), Symbolic):
                tree.forbid(f"rng.{method}(size=..) of a number that the data determine", _SIZES)
            for parameter in parameters:
                if issubclass(type(parameter), Symbolic):
                    parameter.refuse(f"the parameters of rng.{method}")
        again = run.draw_again(origin, method, parameters, size)
        if again is not None:
            return again
        first = len(run.noises)
        if size is not None:
            self.shape_of(size)
        plain = size is None and all(type(given) is float for given in parameters)
        model = _model(method, *parameters) if plain else _model_output(method, parameters, size)
        is_array = isinstance(model, np.ndarray)
        kind: Any = model.dtype.type if is_array else int if method == "geometric" else float

        def one(*entry: Any) -> Any:
            form = draw(run, *map(float, entry))
            if form is None:
                is_nan = any(math.isnan(float(given)) for given in entry)
                what = "a scale that is NaN" if is_nan else "infinite scale"
                tree.forbid(f"rng.{method} of {what}", _ADVICE)
            return find_value(run, form, kind) if isinstance(form, Form) else form

        if not is_array:
            noisy = one(*parameters)
        else:
            cells = [np.broadcast_to(np.asarray(p), model.shape).ravel() for p in parameters]
            drawn = np.empty(model.size, dtype=object)
            for place, entry in enumerate(zip(*cells, strict=True)):
                drawn[place] = one(*entry)
            noisy = make_array(tree, drawn.reshape(model.shape), model.dtype)
        run.note_draw(noisy, first, origin, method, parameters, size)
        if tree.draw_log is None or type(noisy) in (float, int, np.ndarray):
            return noisy
        return tree.draw_log.hand_out(noisy, _law_of_noise(noisy))


def _law_of_noise(value: Any) -> Any:
    """Equal for draws of one law: a number with noise as it was drawn, or an array of them."""
    if isinstance(value, np.ndarray):
        return value.shape, tuple(map(_law_of_noise, cells_of(value).flat))
    return value.run.law_of(value.form) if is_symbolic(value) else value


def _model_output(method: str, parameters: tuple[Any, ...], size: Any) -> Any:
    """What NumPy itself gives: the type, the shape, or its error."""
    return getattr(NUMPY, method)(*parameters, size=size)


@lru_cache(maxsize=256)
def _model(method: str, *parameters: float) -> Any:
    return _model_output(method, parameters, None)


def _move(family: str, run: NoiseRun, loc: float, scale: float) -> Form | float | None:
    scaled = _scale(family, run, scale)
    if scaled is None or not isfinite(loc):
        return None if scaled is None else loc
    return scaled + Fraction(loc) if loc else scaled


def _scale(family: str, run: NoiseRun, scale: float) -> Form | None:
    if not isfinite(scale):
        return None
    return run.new(_variable(family, scale)) if scale else Form.of(0)


def _geometric(run: NoiseRun, p: float) -> Form:
    return run.new(_variable("geometric", p)) if p < 1 else Form.of(1)


@lru_cache(maxsize=256)
def _variable(family: str, parameter: float) -> Noise:
    return Noise(family, Fraction(parameter))


_DRAW_ADVICE = (
    "draw from finitely many values (rng.random() < p, rng.integers, rng.choice, rng.binomial, "
    "rng.permutation)"
)
#: Under every stand-in, and never drawn from: its state tells of draws past the stand-in's methods.
UNUSED_BITS = np.random.PCG64(0)
_WHOLE = (int, np.integer)


def _count_places(items: Any) -> Any:
    """How many there are, of the places 0, 1, ..; all else as it is."""
    if type(items) is range:
        return len(items) if items == range(len(items)) else items
    if type(items) is np.ndarray:
        is_line = items.ndim == 1 and items.dtype == np.int64
    else:
        is_line = type(items) is list and all(type(item) is int for item in items)
    if not is_line or not len(items):
        return items
    count = len(items)
    return count if np.array_equal(items, np.arange(count)) else items


_FLOAT64 = np.float64
_FLOATS = (float, np.float64)
_NEW: Callable[[type[UniformValue]], UniformValue] = object.__new__


@raises_as_numpy
def _find_items(given: Any) -> Any:
    return np.asarray(given)


def present_as(kind: type, original: type) -> None:
    """Let a class name itself as another one does; what it has of its own may not be asked for."""
    kind.__name__, kind.__qualname__ = original.__name__, original.__qualname__
    kind.__module__, kind.__doc__ = original.__module__, original.__doc__
    STAND_INS.add(kind)
    PRIVATE_NAMES.update(name for name in dir(kind) if name[0] == "_" and name[1] != "_")
    PRIVATE_NAMES.update({"_tree", "_real", "_note_seed"})


class ChoiceGenerator(NoiseDraws, TailedDraws, CountVectorDraws, np.random.Generator):
    """Hands out finite choices in place of random numbers, with NumPy's exact probabilities.

    ``random`` gives grid points that split at comparisons (``values.draws.uniform``); ``integers``,
    ``choice``, ``permutation``, ``shuffle``, ``permuted``, ``bytes`` have the laws of NumPy's code,
    given uniform bits; the others their ideal laws (``noise.draws``, except for a tail ``tails``).
    Wrong arguments raise what NumPy raises. Everything else aborts the analysis.

    It is a Generator, so that isinstance() and numpy.random.default_rng(rng) do what they do
    outside; each of NumPy's own methods is replaced, those of later versions too.
    """

    def __init__(self, tree: Branching) -> None:
        super().__init__(UNUSED_BITS)
        self._tree = tree

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        tree = self._tree
        if size is not None or dtype is not _FLOAT64 or out is not None:
            if size is None and out is None and np.dtype(dtype) == np.float32:
                return coarse_uniform(tree)
            if np.dtype(dtype) != _FLOAT64 or out is not None:
                tree.forbid("rng.random(dtype=, out=)", "leave both out")
            if size is not None:
                return draw_floats(tree, self.shape_of(size, tree.floats_at_once))
        tree.draws += 1
        if tree.draws > tree.most_draws:
            tree.count_draws(0)
        # UniformValue(tree), without the call of __init__: most draws are made here.
        number = _NEW(UniformValue)
        number.branching, number.line = tree, UNIT
        number.noise = number.inverted = None
        number.low, number.high = 0, GRID
        log = tree.draw_log
        return number if log is None else log.hand_out(number, UNIT.law)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        if np.ndim(low) or np.ndim(high):
            self._guard(size)
            limits = np.broadcast_arrays(low, high, NUMPY.uniform(low, high, size))[:2]
            lines = [self._line(*ends) for ends in zip(*(a.flat for a in limits), strict=True)]
            return draw_floats(self._tree, limits[0].shape, *lines)
        total = self._below_total(low, high) if size is None else None
        if total is not None:
            return total
        line = self._line(low, high)
        self._tree.count_draws(1)
        if size is None:
            number = UniformValue(self._tree, line)
            log = self._tree.draw_log
            return number if log is None else log.hand_out(number, line.law)
        shape = self.shape_of(size, self._tree.floats_at_once)
        return draw_floats(self._tree, shape, line)

    def _below_total(self, low: Any, high: Any) -> Any:
        """A number below a total of weights, or what that is on plain data; None for all others."""
        log = self._tree.draw_log
        is_total = type(high) is SumOfWeights
        if not is_total and (log is None or type(high) not in _FLOATS or not 0 < high < math.inf):
            return None
        if is_symbolic(low) or low != 0:
            return None
        if is_total and log is not None:
            log.note_order(TOTAL, np.empty(0))
        elif not is_total and (log is None or log.next_order(TOTAL, 0) is None):
            return None
        return high * self.random()

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Any = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
    ) -> Any:
        if size is None and type(low) is int and (high is None or type(high) is int):
            first, count, kind = integer_range(low, high, dtype, bool(endpoint))
            return uniform_entry(self._tree, first, count, kind)
        lows, highs = (0, low) if high is None else (low, high)
        self.require_whole("integers", lows, highs)
        self._guard(size)
        model = NUMPY.integers(low, high, size, dtype, endpoint)
        return draw_ranged(self._tree, model, lows, highs, endpoint=bool(endpoint))

    def choice(
        self,
        a: Any,
        size: Any = None,
        replace: Any = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> Any:
        is_order = (not replace or size is None) and p is None and axis == 0 and shuffle
        sample = self.random_order(a, size) if is_order else None
        if sample is not None:
            return sample
        if p is not None and replace and axis == 0:
            chosen = self._known("choice", a, size, p)
            if chosen is not None:
                return chosen
        items = _find_items(a)
        is_none = size == 0 if type(size) is int else type(size) is tuple and 0 in size
        if p is not None and (replace or size is None) and not is_none:
            place = place_by_weights(items, p)
            if place is not None:
                return self._choose_by_weights(items, place, size, p, axis)
        return self._choose_among(a, items, size, replace, p, axis, shuffle)

    def _choose_by_weights(self, items: Any, place: int, size: Any, p: Any, axis: int) -> Any:
        """What choices with symbolic weights give, each by itself, after the first place of them.

        A run on plain data finds them noted.
        """
        shape = None if size is None else self.shape_of(size)
        number = 1 if shape is None else math.prod(shape)
        others = (place_by_weights(items, p) for _ in range(number - 1))
        places = [place, *(other for other in others if other is not None)]
        log = self._tree.draw_log
        if log is not None:
            for _ in places:
                log.note_order(CHOICE, np.empty(0))
        return take_items(items, places, shape, axis)

    def _known(self, method: str, first: Any, size: Any, weights: Any) -> Any:
        """A draw whose weights are known to the outside; None for all others."""
        seed = find_noted_seed(self._tree)
        if seed is not None:
            return draw_with_known(method, first, size, weights, seed)
        known = find_known_weights(self._tree, weights)
        if known is None:
            return None
        self._guard(size)
        return draw_known(self._tree, method, first, size, known)

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        counts = self._known("multinomial", n, size, pvals)
        if counts is None and type(n) is int and n == 1 and size is None:
            counts = self._one_of(pvals)
        return super().multinomial(n, pvals, size) if counts is None else counts

    def _one_of(self, weights: Any) -> Any:
        """One trial with symbolic weights, or with what they are on plain data; else None."""
        if type(weights) not in (list, tuple, np.ndarray, SymbolicArray) or np.ndim(weights) != 1:
            return None
        count, log = len(weights), self._tree.draw_log
        place = place_by_weights(np.array(count), weights)
        if place is not None:
            note_comparisons(self._tree.noise, count)
            if log is not None:
                log.note_order(CHOICE, np.empty(0))
        elif self._takes_notes(1):
            place = self._tree.choose(self._choice_weights(count, weights))
        return None if place is None else (np.arange(count) == place).astype(np.int64)

    @raises_as_numpy
    def _choose_among(
        self, a: Any, items: Any, size: Any, replace: Any, p: Any, axis: int, shuffle: bool
    ) -> Any:
        shape = () if size is None else self.shape_of(size)
        number = math.prod(shape)
        is_noted = p is not None and bool(replace or size is None) and self._takes_notes(number)
        if items.ndim == 0 and not isinstance(items.item(), int):
            self._refused("choice", a, size, replace, p, axis, shuffle)
        count = items.item() if items.ndim == 0 else items.shape[axis]
        if (count <= 0 and number) or (not replace and number > count):
            self._refused("choice", a, size, replace, p, axis, shuffle)
        weights = None if p is None else self._choice_weights(count, p)
        if replace or number == 1:
            two = of_two(self._tree, items, shape, weights) if count == 2 and not is_noted else None
            if two is not None:
                return two
            drawn = [self._tree.choose(weights or count) for _ in range(number)]
        else:
            drawn = self._distinct(count, number, p, shuffle)
        return take_items(items, drawn, None if size is None else shape, axis)

    def _distinct(self, count: int, number: int, p: Any, shuffle: bool) -> Any:
        if p is None:
            return draw_distinct(self._tree, count, number, shuffle)
        return distinct_by_weight(self._tree, np.array(p, dtype=np.float64), number)

    def _takes_notes(self, number: int) -> bool:
        """Whether these choices were noted where their weights were symbolic; told once of each."""
        log = self._tree.draw_log
        if log is None or not number or log.next_order(CHOICE, 0) is None:
            return False
        for _ in range(number - 1):
            log.next_order(CHOICE, 0)
        return True

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        def draw(trials: int, success: float) -> int:
            if 0.0 <= success <= 1.0:
                check_digits(self._tree, "binomial", trials, binomial_bits(success))
            return self._tree.choose(binomial_weights(trials, success))

        self.require_whole("binomial", n)
        return self._entries("binomial", draw, (n, p), (int, float), size)

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Any:
        def draw(good: int, bad: int, drawn: int) -> int:
            check_digits(self._tree, "hypergeometric", drawn, (good + bad).bit_length())
            return self._tree.choose(hypergeometric_weights(good, bad, drawn))

        arguments = (ngood, nbad, nsample)
        self.require_whole("hypergeometric", *arguments)
        return self._entries("hypergeometric", draw, arguments, (int, int, int), size)

    @raises_as_numpy
    def permutation(self, x: Any, axis: int = 0) -> Any:
        order = self.random_order(x, ()) if axis == 0 else None
        if order is not None:
            return order
        if isinstance(x, _WHOLE):
            self._tree.count_draws(max(0, int(x)))
        items = np.arange(x) if isinstance(x, _WHOLE) else np.asarray(x)
        if items.ndim == 0:
            self._refused("permutation", x, axis)
        return items.take(draw_order(self._tree, self._length(items, axis)), axis=axis)

    def random_order(self, items: Any, size: Any) -> Any:
        """Items in a random order, so many of them, or all for (); None for an order of choices.

        Orders of records of symbolic data stay unknown.
        """
        log, run = self._tree.draw_log, self._tree.noise
        has_answers = run is not None and run.has_answers
        if log is None and not has_answers:
            return None
        items = _count_places(items)
        is_whole, total = isinstance(items, _WHOLE), 0
        if is_whole:
            total = int(items) if items > _FEW_ORDERED else 0
        elif isinstance(items, (list, np.ndarray)) and np.ndim(items) in (1, 2):
            total = len(items)
        length = 1 if size is None else size
        if type(size) is tuple and len(size) < 2:
            length = size[0] if size else total
        if not isinstance(length, _WHOLE) or not 0 < length <= total or (is_whole and size is None):
            return None
        places = None if log is None else log.next_order(total, int(length))
        are_records = is_record_array(items)
        if places is not None:
            drawn = places if is_whole else np.asarray(items)[places]
        elif not has_answers or not (are_records or is_whole):
            return None
        else:
            positions = None
            if run.point is not None:
                positions = run.rng.permutation(total)[:length]
                if log is not None:
                    log.note_order(total, positions)
            order = DrawnOrder(self._tree, run.order_of(), total, int(length), positions)
            drawn = items[order] if are_records else order
        return drawn if size is not None else drawn[0]

    @raises_as_numpy
    def shuffle(self, x: Any, axis: int = 0) -> None:
        if isinstance(x, np.ndarray):
            if not x.flags.writeable:
                raise ValueError("array is read-only")
            x[...] = x.take(draw_order(self._tree, self._length(x, axis)), axis=axis)
        elif isinstance(x, MutableSequence) and axis == 0:
            for place, item in enumerate([x[i] for i in draw_order(self._tree, len(x))]):
                x[place] = item
        else:
            self._refused("shuffle", x, axis)

    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> Any:
        items = np.array(x)
        lanes = items.reshape(-1) if axis is None else np.moveaxis(items, axis, -1)
        mixed = np.empty_like(lanes)
        for place in np.ndindex(lanes.shape[:-1]):
            mixed[place] = lanes[place].take(draw_order(self._tree, lanes.shape[-1]))
        mixed = mixed.reshape(items.shape) if axis is None else np.moveaxis(mixed, -1, axis)
        if out is None:
            return mixed
        NUMPY.permuted(np.array(x), axis=axis, out=np.array(out))
        out[...] = mixed
        return out

    def bytes(self, length: int) -> bytes:
        if length < 0:
            self._refused("bytes", length)
        self._guard(length)
        if 8 * operator.index(length) >= self._tree.max_leaves.bit_length():
            self._tree.fail(too_many_bytes(self._tree.name, length))
        return bytes(self._tree.choose(256) for _ in range(operator.index(length)))

    @raises_as_numpy
    def spawn(self, n_children: int) -> list[np.random.Generator]:
        """So many generators that are independent of this one and of each other."""
        if type(self) is not ChoiceGenerator:
            self._tree.forbid("rng.spawn where records are treated one by one", "draw from rng")
        if isinstance(n_children, (*_WHOLE, float)):
            if n_children < 0:  # NumPy raises, or not, by how many were spawned before
                self._tree.forbid("rng.spawn of less than 0 generators", "spawn 0 or more")
            self._guard(int(n_children))
        return [ChoiceGenerator(self._tree) for _ in NUMPY.spawn(n_children)]

    def _line(self, low: Any, high: Any) -> Line:
        NUMPY.uniform(low, high)
        line = exact_line(float(low), float(high))
        if line is None:
            self._tree.forbid(
                f"rng.uniform(low={low!r}, high={high!r}) as this processor rounds it",
                "use low=0, or compare rng.random() with (x - low) / (high - low)",
            )
        return line

    def _entries(
        self,
        method: str,
        draw: Callable[..., int],
        arguments: tuple[Any, ...],
        kinds: tuple[type, ...],
        size: Any,
    ) -> Any:
        """One draw for each entry of the broadcast arguments, typed and shaped by NumPy."""
        if size is None and not any(np.ndim(argument) for argument in arguments):
            return draw(*(kind(a) for kind, a in zip(kinds, arguments, strict=True)))
        self._guard(size)
        model = getattr(NUMPY, method)(*arguments, size=size)
        two = draw_single_trials(self._tree, model, *arguments) if method == "binomial" else None
        if two is not None:
            return two
        cells = [np.broadcast_to(np.asarray(a), model.shape).flat for a in arguments]
        for place, entry in enumerate(zip(*cells, strict=True)):
            model.flat[place] = draw(*(kind(a) for kind, a in zip(kinds, entry, strict=True)))
        return model

    def _choice_weights(self, count: int, p: Any) -> Branches:
        key = probabilities(p)
        if key is None:
            self._refused("choice", count, None, True, p)
        return choice_weights(count, *key)

    def shape_of(self, size: Any, at_once: int = 1) -> tuple[int, ...]:
        """``size=`` as a tuple; ValueError below 0, aborts where it is too large.

        ``at_once`` numbers count as one draw.
        """
        shape = self._read_shape(size)
        self._tree.count_draws(-(-math.prod(shape) // at_once))
        return shape

    @raises_as_numpy
    def _read_shape(self, size: Any) -> tuple[int, ...]:
        try:
            shape: tuple[int, ...] = (operator.index(size),)
        except TypeError:
            shape = tuple(operator.index(side) for side in size)
        if any(side < 0 for side in shape):
            raise ValueError("negative dimensions are not allowed")
        return shape

    def _guard(self, size: Any) -> None:
        if size is not None:
            self.shape_of(size)

    @raises_as_numpy
    def _length(self, items: NDArray[Any], axis: int) -> int:
        length: int = np.moveaxis(items, axis, 0).shape[0]
        return length

    @raises_as_numpy
    def require_whole(self, method: str, *arguments: Any) -> None:
        """Abort where NumPy would round fractions down."""
        for argument in arguments:
            array = np.asarray(argument)
            if array.dtype.kind == "f" and not np.all(array == np.floor(array)):
                self._tree.forbid(f"rng.{method} with fractions", "give whole numbers")

    def _refused(self, method: str, *arguments: Any) -> NoReturn:
        """Let NumPy refuse arguments in its own way; what it accepts is not followed here."""
        getattr(NUMPY, method)(*arguments)
        self._tree.forbid(f"rng.{method} with these arguments", _DRAW_ADVICE)


def _make_unsupported(name: str) -> Callable[..., NoReturn]:
    def abort(self: ChoiceGenerator, *arguments: Any, **options: Any) -> NoReturn:
        self._tree.forbid(f"rng.{name}", _DRAW_ADVICE)

    return abort


present_as(ChoiceGenerator, np.random.Generator)
_MIXINS = (NoiseDraws, TailedDraws, CountVectorDraws)
_DRAWING = {name for kind in (ChoiceGenerator, *_MIXINS) for name in vars(kind)}
_ATTRIBUTES = ("bit_generator", "_bit_generator")
_PROTOCOLS = ("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__deepcopy__")


for _name in (*dir(np.random.Generator), *_ATTRIBUTES, *_PROTOCOLS):
    if _name in _ATTRIBUTES:
        setattr(ChoiceGenerator, _name, property(_make_unsupported(_name)))
    elif _name in _PROTOCOLS or (_name[0] != "_" and _name not in _DRAWING):
        setattr(ChoiceGenerator, _name, _make_unsupported(_name))


def is_generator(value: Any) -> bool:
    """Whether the analysis answers what is drawn from it."""
    if isinstance(value, ChoiceGenerator) and isinstance(value, DrawsRows):
        return value.rows.in_record  # for one record, as any other
    return type(value) is ChoiceGenerator or type(value) in OF_PYTHON

"""NumPy's functions of matrices that put entries in other places, or multiply two at a time."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from liptest.values.answers.aligned import NoisyData, ReleasedValue
from liptest.values.array import SymbolicArray, cells_of, fill_array, make_array, make_model
from liptest.values.draws.known_draws import CALCULATED
from liptest.values.faults import raises_as_numpy
from liptest.values.numpy_functions import NOT_ANSWERED, call_plain, follows, is_followed
from liptest.values.protocol import Symbolic, is_symbolic
from liptest.values.ufuncs import names_of_numpy


def _triangle(function: Any) -> Any:
    """Zeros on the other side of a diagonal."""

    def rule(m: Any, k: Any = 0) -> Any:
        if type(m) is not SymbolicArray or is_symbolic(k) or m.ndim < 2:
            return NOT_ANSWERED
        return np.where(function(np.ones(m.shape[-2:], dtype=np.bool_), k), m, np.zeros(1, m.dtype))

    return rule


follows(np.triu)(_triangle(np.triu))
follows(np.tril)(_triangle(np.tril))


@follows(np.diag)
def _diag(v: Any, k: Any = 0) -> Any:
    """The diagonal of a matrix, or a matrix with a line as its main diagonal and zeros."""
    if type(v) is not SymbolicArray or is_symbolic(k) or v.ndim not in (1, 2):
        return NOT_ANSWERED
    if v.ndim == 2:
        return np.diagonal(v, k)
    if k != 0:
        return NOT_ANSWERED
    return np.where(np.eye(len(v), dtype=np.bool_), v[None, :], np.zeros(1, v.dtype))


@follows(np.outer)
def _outer(a: Any, b: Any, out: Any = None) -> Any:
    if out is not None or list in (type(a), type(b)):
        return NOT_ANSWERED
    lines = [np.ravel(line) for line in (a, b)]
    return np.multiply(lines[0][:, None], lines[1][None, :])


# ---- linear functions with constants

# Of what else they are given they are not linear functions.
_OF_THE_FIRST = (np.average, np.gradient, np.ediff1d, np.trace)
# Entries of an array times entries of what is made of it.
_MOST_FACTORS = 1_000_000


def _linear(function: Any) -> Any:
    """A function that is linear in one array, the other arguments being plain.

    It is the matrix of what it makes of each unit vector, times the entries.
    """

    def rule(*arguments: Any, **options: Any) -> Any:
        symbolic = [k for k, one in enumerate(arguments) if issubclass(type(one), Symbolic)]
        if len(symbolic) != 1 or any(issubclass(type(one), Symbolic) for one in options.values()):
            return NOT_ANSWERED
        (place,) = symbolic
        array = arguments[place]
        if type(array) is not SymbolicArray or not is_followed(array.cells):
            return NOT_ANSWERED
        if place and function in _OF_THE_FIRST:
            return NOT_ANSWERED

        def made_of(entries: Any) -> Any:
            given = (*arguments[:place], entries, *arguments[place + 1 :])
            return call_plain(function, given, options)

        zero = np.zeros(array.shape, array.dtype)
        model = made_of(zero)
        if type(model) in (list, tuple) or np.any(model) or not np.all(np.isfinite(model)):
            return NOT_ANSWERED
        if np.size(model) * array.size > _MOST_FACTORS:
            return NOT_ANSWERED
        columns = []
        for k in range(array.size):
            unit = zero.copy()
            unit.flat[k] = 1
            columns.append(np.ravel(made_of(unit)))
        made = np.dot(np.stack(columns, 1), array.reshape(-1))
        return made.reshape(np.shape(model)) if np.ndim(model) else made[0]

    return rule


for _function in names_of_numpy(
    *("convolve", "correlate", "average", "trapezoid", "trapz", "gradient", "ediff1d"),
    *("vdot", "kron", "tensordot", "einsum", "trace"),
):
    follows(_function)(_linear(_function))


# ---- linear algebra of what is known to the outside


class _KnownCall:
    """A function of matrices that are known to the outside: what follows from them is, too."""

    def __init__(self, function: Any, operands: list[Any], options: dict[str, Any]) -> None:
        self._function = function
        self._options = options
        self._layout = [
            (np.shape(operand), np.asarray(make_model(operand)).dtype) for operand in operands
        ]
        # Whatever the numbers are, the results have the shapes and types of this one.
        models = [_regular(shape, dtype) for shape, dtype in self._layout]
        self.model = function(*models, **options)

    def _of(self, values: tuple[Any, ...]) -> Any:
        left = iter(values)
        arrays = [
            np.array([next(left) for _ in range(math.prod(shape))], dtype).reshape(shape)
            for shape, dtype in self._layout
        ]
        return self._function(*arrays, **self._options)

    def ends(self, *values: Any) -> int:
        """Whether it gives numbers: the matrix is not singular, the calculation comes to an end."""
        try:
            self._of(values)
        except np.linalg.LinAlgError:
            return 0
        return 1

    def entry(self, part: int | None, place: int, *values: Any) -> Any:
        """One number of the result."""
        made = self._of(values)
        return np.ravel(made if part is None else made[part])[place]


def _regular(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    rows = np.zeros(shape, dtype)
    return rows + 1 if len(shape) < 2 else rows + np.eye(shape[-2], shape[-1], dtype=dtype)


@raises_as_numpy
def _check(is_calculated: bool) -> None:
    if not is_calculated:
        raise np.linalg.LinAlgError("Singular matrix")


def _of_known(function: Any) -> Any:
    def rule(*operands: Any, **options: Any) -> Any:
        cells = [cell for operand in operands for cell in cells_of(operand).flat]
        noisy = [cell for cell in cells if issubclass(type(cell), NoisyData)]
        others = [cell for cell in cells if is_symbolic(cell)]
        if not noisy or len(others) > len(noisy) or any(map(is_symbolic, options.values())):
            return NOT_ANSWERED
        run = noisy[0].run
        if not run.releases:
            return NOT_ANSWERED
        use = f"numpy.linalg.{function.__name__}"
        known = tuple(cell.released(use) if is_symbolic(cell) else cell for cell in cells)
        call = _KnownCall(function, list(operands), options)
        ends = ReleasedValue(run, int, call.ends, known)
        _check(run.decide((CALCULATED, run.number_node()), ends.evaluate))

        def make(part: int | None, model: Any) -> Any:
            kind = np.asarray(model).dtype
            entries = [
                ReleasedValue(
                    run, kind.type, partial(call.entry, part, place), known, is_finite=False
                )
                for place in range(np.size(model))
            ]
            if not isinstance(model, np.ndarray):
                return entries[0]
            return make_array(run.tree, fill_array(entries, model.shape, object), kind)

        if isinstance(call.model, tuple):
            parts = [make(part, model) for part, model in enumerate(call.model)]
            kind = type(call.model)
            return tuple(parts) if kind is tuple else kind(*parts)
        return make(None, call.model)

    return rule


for _function in (
    *(np.linalg.inv, np.linalg.pinv, np.linalg.solve, np.linalg.eigh, np.linalg.eigvalsh),
    *(np.linalg.cholesky, np.linalg.det, np.linalg.slogdet, np.linalg.svd, np.linalg.qr),
):
    follows(_function)(_of_known(_function))

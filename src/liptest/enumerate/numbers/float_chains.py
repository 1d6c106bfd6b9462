"""Numbers of a run that keep, beside one draw of noise, every float operation done with it.

Other analyses take noise as ideal, and do not follow the rounding of floats. Here a ``ChainValue``
is one draw and the steps after it, in the order of the code (``liptest.floats.chains``). Arithmetic
with constants and roundings are steps; comparisons take both branches; all else is refused: default
deny.
"""

from __future__ import annotations

import dis
import operator
import os
import sys
from math import isfinite
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

import liptest
from liptest.floats.chains import LOGARITHMS, ROUNDINGS, FloatChain, FloatStep
from liptest.floats.counts import Condition
from liptest.floats.samplers import SCALED, UNIFORM, Draw
from liptest.values import protocol, ufuncs
from liptest.values.array import make_array
from liptest.values.branching import Branching
from liptest.values.draws.noise_run import NoiseRun, NoisyNumber
from liptest.values.faults import NUMPY
from liptest.values.protocol import Operation, SymbolicValue, is_symbolic

_FLOATS, _WHOLES = (float, np.float64), (int, np.int64)
_PLAIN = frozenset({bool, int, float, np.bool_, np.int64, np.float64})
_STEPS: dict[tuple[Operation, bool], str] = {
    (operator.add, False): "add",
    (operator.add, True): "add",
    (operator.sub, False): "subtract",
    (operator.sub, True): "from",
    (operator.mul, False): "multiply",
    (operator.mul, True): "multiply",
    (operator.truediv, False): "divide",
}
# Beyond, a whole number of NumPy may overflow, or is not exactly a float.
_MOST_WHOLE = 1 << 40
# Random numbers of one run: each is followed step by step, many times.
_MOST_DRAWS = 256
# Functions of NumPy that move numbers, or treat them one by one.
_ENTRYWISE = frozenset(
    {np.isclose, np.allclose}
    | {np.clip, np.round, np.around, np.where, np.copy, np.reshape, np.ravel, np.transpose}
    | {np.concatenate, np.stack, np.hstack, np.vstack, np.append, np.squeeze, np.atleast_1d}
    | {np.shape, np.ndim, np.size, np.take, np.flip, np.full_like, np.zeros_like, np.ones_like}
)
#: NumPy itself: checks arguments and gives shapes, never values.


_LOGARITHMS = {function: name for name, function in LOGARITHMS.items()}


class ChainRun(NoiseRun):
    """All draws of a run, each of which starts a chain."""

    __slots__ = ("conditions", "is_followed")

    def __init__(self, tree: Branching) -> None:
        super().__init__(tree)
        #: What was compared, and how it came out.
        self.conditions: list[Condition] = []
        #: Whether every choice of the run was such a comparison.
        self.is_followed = True

    def draw_again(self, *draw: Any) -> Any:
        origin, method, parameters, size = draw
        if method not in SCALED:
            self.tree.forbid(f"floats of rng.{method}", "draw other noise")
        if not all(map(_is_plain, parameters)):
            self.tree.forbid(f"rng.{method} with such parameters", "give plain numbers")
        if size is not None and np.prod(size, dtype=float) > _MOST_DRAWS:
            self.tree.forbid("so many random numbers", "draw fewer")
        model = getattr(NUMPY, method)(*parameters, size=size)
        cells = [
            np.broadcast_to(np.asarray(parameter), np.shape(model)) for parameter in parameters
        ]
        if not isinstance(model, np.ndarray):
            return self._drawn(origin, method, [float(cell) for cell in cells])
        drawn = np.empty(model.size, dtype=object)
        for place, entry in enumerate(zip(*(cell.flat for cell in cells), strict=True)):
            drawn[place] = self._drawn(origin, method, list(map(float, entry)), np.float64)
        return make_array(self.tree, drawn.reshape(model.shape), np.float64)

    def uniform(self, origin: str) -> ChainValue:
        """A number of ``rng.random()``."""
        return self._drawn(origin, UNIFORM, [])

    def _drawn(
        self, origin: str, method: str, parameters: list[float], kind: Any = float
    ) -> ChainValue:
        if len(self.noises) >= _MOST_DRAWS:
            self.tree.forbid(f"more than {_MOST_DRAWS} random numbers", "draw fewer")
        self.noises.append(None)  # type: ignore[arg-type]  # only counted
        draw = Draw(origin, method, tuple(parameters), len(self.noises) - 1)
        if not draw.is_plain:
            self.tree.forbid(f"{draw}, of such a size,", "use another scale")
        return ChainValue(self, FloatChain(draw), kind)

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        if function not in _ENTRYWISE:
            self.tree.forbid(
                f"numpy.{function.__name__} of numbers with noise, followed float by float,",
                "add the noise to its result",
            )
        return NotImplemented

    def compares(self, chain: FloatChain, comparison: Operation, bound: Any) -> bool:
        """Both ways, one after the other."""
        self.check_current()
        taken = self.tree.choose(2) == 0
        sign = _SIGNS[comparison] if taken else _OPPOSITE[_SIGNS[comparison]]
        self.conditions.append(Condition(chain, sign, float(bound)))
        return taken


_SIGNS: dict[Operation, str] = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


class ChainValue(NoisyNumber):
    """One draw and what was done with it."""

    __slots__ = ("chain",)

    family = "float chain"
    described = "a number with continuous noise, followed float by float,"
    described_in_arrays = "an array with continuous noise, followed float by float,"
    stays_symbolic = True
    advice = "add constants to one draw, round and clip it"

    __hash__ = SymbolicValue.__hash__

    def __init__(self, run: ChainRun, chain: FloatChain, kind: Any) -> None:
        self.run: ChainRun = run
        self.chain = chain
        self.kind = kind

    def answer_function(self, function: Any, arguments: Any, options: dict[str, Any]) -> Any:
        return self.run.answer_function(function, arguments, options)

    def binary(self, operation: Operation, other: Any, *, swapped: bool) -> Any:
        if not _is_written_out(sys._getframe(1)):
            self.refuse(f"{operation.__name__} in compiled code, whose order is not followed")
        name = _STEPS.get((operation, swapped))
        if is_symbolic(other):
            self.refuse("a sum or product of several draws")
        if name is None or type(other) not in _PLAIN or not isfinite(other):
            self.refuse(f"{operation.__name__} with {other!r}")
        pair = (other, self.kind(1)) if swapped else (self.kind(1), other)
        if other == 0 and name == "divide":
            self.refuse(f"{operation.__name__} with 0")
        kind = type(operation(*pair))
        if other == 0 and name == "multiply" and kind in _FLOATS:
            return kind(0.0)  # or not a number, which is not an output that is ever looked for
        of_whole, to_whole = self.kind in _WHOLES, kind in _WHOLES
        is_whole = type(other) not in _FLOATS
        if kind not in (*_FLOATS, *_WHOLES) or (is_whole and abs(int(other)) > _MOST_WHOLE):
            self.refuse(f"{operation.__name__} with {other!r}")
        # Both a float, or both whole: Python divides whole numbers in one rounding.
        constant = int(other) if of_whole and is_whole else float(other)
        return self._after(FloatStep(name, constant, of_whole, to_whole), kind)

    def compare(self, comparison: Operation, other: Any) -> Any:
        if is_symbolic(other):
            self.refuse("a comparison with another random number")
        if type(other) not in _PLAIN or not isfinite(other):
            self.refuse(f"a comparison with {other!r}")
        return self.run.compares(self.chain, comparison, other)

    def apply(self, ufunc: Any, inputs: tuple[Any, ...]) -> Any:
        return self.apply_math(ufunc)

    def apply_math(self, function: Any) -> Any:
        name = _LOGARITHMS.get(function)
        if name is None or self.kind not in _FLOATS:
            return NotImplemented
        return self._after(FloatStep(name), float if name.startswith("math") else np.float64)

    def typed(self, kind: Any) -> ChainValue:
        if kind is self.kind:
            return self
        of_whole = self.kind in _WHOLES
        if (kind in _FLOATS and not of_whole) or (kind in _WHOLES and of_whole):
            return ChainValue(self.run, self.chain, kind)
        if kind in _WHOLES:
            return self.rounded("trunc", kind)
        if kind in _FLOATS:
            return self._after(FloatStep("add", 0.0, of_whole=True), kind)
        return self.refuse(f"{kind.__name__}()")

    def rounded(self, how: str, kind: Any) -> ChainValue:
        if self.kind in _WHOLES:
            return self.typed(kind)
        if how not in ROUNDINGS or kind not in (*_FLOATS, *_WHOLES):
            self.refuse(how)
        return self._after(FloatStep(how, to_whole=kind in _WHOLES), kind)

    def rounded_to(self, decimals: int, kind: Any, own: Any) -> Any:
        if self.kind in _WHOLES and decimals >= 0:
            return self.typed(kind)
        if self.kind in _WHOLES or kind not in _FLOATS:
            self.refuse("round()")
        if decimals == 0:
            return self.rounded("rint", kind)
        # Numbers of NumPy round in NumPy's way, whoever asks them.
        if (own is not round or self.kind is np.float64) and 0 < decimals < 10:
            scale = 10.0**decimals
            scaled = self._after(FloatStep("multiply", scale), kind).rounded("rint", kind)
            return scaled._after(FloatStep("divide", scale), kind)
        if own is not round or self.kind is not float or not 0 < decimals <= 15:
            self.refuse("round()")
        return self._after(FloatStep("places", decimals), kind)

    def _after(self, step: FloatStep, kind: Any) -> ChainValue:
        if not step.is_plain:
            self.refuse(f"{step.name} with {step.constant!r}")
        return ChainValue(self.run, self.chain.after(step), kind)

    def concretise(self, use: str) -> Any:
        if use != "the output":
            self.refuse(use)
        self.run.check_current()
        return self.chain


def _is_written_out(calculating: Any) -> bool:
    """Whether an operation is one of the program, or of NumPy entry by entry.

    Sums of NumPy, and of Python from 3.12 on, add in an order, or with corrections, that numbers
    which stand for floats do not see. So an operator must be an instruction of the program.
    """
    asking: Any = calculating.f_back
    file: str = asking.f_code.co_filename
    if file == _PROTOCOL and asking.f_code.co_name == "method":
        program = asking.f_back
        code: CodeType = program.f_code
        if code.co_filename.startswith(_LIBRARIES):
            return False
        step, argument = code.co_code[program.f_lasti : program.f_lasti + 2]
        return dis.opname[step] == "BINARY_OP" and argument not in _SUBSCRIPTS
    return file in (_PROTOCOL, _UFUNCS)


# From Python 3.14 on ``a[b]`` is one of the operations; what it calls may be compiled.
_SUBSCRIPTS = frozenset(
    step.arg
    for step in dis.get_instructions(compile("a[b]", "", "eval"))
    if step.opname == "BINARY_OP"
)
_PROTOCOL, _UFUNCS = protocol.__file__, ufuncs.__file__
_LIBRARIES = tuple(
    str(Path(file).resolve().parent) + os.sep for file in (liptest.__file__, np.__file__)
)


def _is_plain(parameter: Any) -> bool:
    """Whether it is a number, or an array of numbers, that nothing stands for."""
    if type(parameter) is np.ndarray:
        return bool(parameter.dtype.kind in "iuf" and parameter.dtype.itemsize == 8)
    return not is_symbolic(parameter) and type(parameter) in _PLAIN

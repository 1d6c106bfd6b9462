"""Samplers: mechanisms of which only draws can be had."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from liptest.blackbox.events import Outputs, as_outputs, collect_outputs
from liptest.data.domains import IntArray
from liptest.errors import InputError, LiptestError, MechanismError, quote
from liptest.mechanisms.base import SamplesOnly
from liptest.mechanisms.laws import Raised
from liptest.runs.workers import map_in_order

#: Draws of one call of a vectorised sampler; part of what a seed means.
CHUNK = 1 << 16
# Draws of one task where a sampler gives one output at a time.
_SCALAR_CHUNK = 1 << 12


@dataclass(frozen=True, init=False)
class Sampler(SamplesOnly):
    """A mechanism that only gives samples: compiled code, a service, an unknown source.

    Parameters
    ----------
    function
        ``(dataset, n, rng) -> n outputs`` along the first axis when ``vectorised``, else
        ``(dataset, rng) -> one output``. ``dataset`` is a read-only (d,) integer array, ``rng``
        a NumPy generator made from the seed; a function may draw from a source of its own
        instead, then a run cannot be repeated.
    vectorised
        Which of the two.
    name
        Printed in verdicts.

    Outputs are numbers, vectors of numbers, texts, tuples or other hashable objects. An exception
    that a scalar function raises is the output ``Raised(type)`` (of ``liptest.mechanisms.laws``);
    a vectorised one may return such objects itself (an object array).

    Raises InputError when ``function`` is not callable, or takes other arguments.
    """

    function: Callable[..., Any]
    vectorised: bool
    name: str

    def __init__(
        self, function: Callable[..., Any], *, vectorised: bool = True, name: str = ""
    ) -> None:
        if not callable(function):
            raise InputError(
                f"function={quote(function)} must be callable as (dataset, n, rng) or, with "
                f"vectorised=False, (dataset, rng)",
                name="function",
            )
        _check_parameters(function, ("dataset", "n", "rng") if vectorised else ("dataset", "rng"))
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "vectorised", bool(vectorised))
        object.__setattr__(self, "name", name or getattr(function, "__name__", "sampler"))

    @property
    def chunk(self) -> int:
        """Draws of one task."""
        return CHUNK if self.vectorised else _SCALAR_CHUNK

    def draw(self, dataset: IntArray, count: int, rng: np.random.Generator) -> Outputs:
        """``count`` outputs on one dataset.

        Raises MechanismError when a vectorised function raises (which of its draws failed cannot
        be told) or returns anything but ``count`` outputs.
        """
        if not self.vectorised:
            return Outputs(collect_outputs([self._single(dataset, rng) for _ in range(count)]))
        try:
            drawn = self.function(dataset, count, rng)
        except LiptestError:  # of a program, which says what went wrong
            raise
        except Exception as error:
            raise MechanismError(
                f"{self.name}: the vectorised sampler raised {type(error).__name__} "
                f"({quote(str(error), 100)}), and which of the {count} draws failed cannot be "
                f"told; mend it, return liptest.mechanisms.laws.Raised(..) in its place, or give a "
                f"function (dataset, rng) with vectorised=False"
            ) from error
        return as_outputs(drawn, count, self.name)

    def _single(self, dataset: IntArray, rng: np.random.Generator) -> Any:
        try:
            return self.function(dataset, rng)
        except MemoryError:
            raise
        except Exception as error:
            return Raised(type(error).__name__)


def _check_parameters(function: Callable[..., Any], given: tuple[str, ...]) -> None:
    """InputError where a plain function cannot be called with so many arguments."""
    if not isinstance(function, FunctionType):
        return
    signature = inspect.signature(function)
    try:
        signature.bind(*given)
    except TypeError:
        fix = "leave vectorised=False (--scalar) out for (dataset, n, rng)"
        if len(given) > 2:
            fix = "give vectorised=False (--scalar) for (dataset, rng), one output a call"
        raise InputError(
            f"function={function.__name__} takes {signature}, and a sampler is called with "
            f"({', '.join(given)}); {fix}",
            name="function",
        ) from None


def check_sampler(sampler: object) -> Sampler:
    """Return the sampler, or raise InputError."""
    if isinstance(sampler, Sampler):
        return sampler
    raise InputError(
        f"sampler={quote(sampler)} is not a sampler; wrap a function (dataset, n, rng) in "
        f"lt.Sampler(function), or (dataset, rng) in lt.Sampler(function, vectorised=False)",
        name="sampler",
    )


@dataclass(frozen=True)
class Request:
    """``count`` draws on a dataset, from the stream that ``key`` names."""

    dataset: bytes
    dtype: str
    count: int
    key: tuple[int, ...]


@dataclass(frozen=True)
class _Task:
    """The k-th chunk of a list of requests; picklable, so that a pool can run it."""

    sampler: Sampler
    chunks: tuple[Request, ...]
    seed: int

    def __call__(self, number: int) -> Outputs:
        request = self.chunks[number]
        dataset = np.frombuffer(request.dataset, dtype=request.dtype)
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=request.key))
        return self.sampler.draw(dataset, request.count, rng)


@dataclass(eq=False)
class Source:
    """Draws in chunks of fixed size, each from a seed of its own; counts them.

    The result does not depend on the number of workers.
    """

    sampler: Sampler
    seed: int
    executor: Executor | None = None
    used: int = 0

    def rng(self, *key: int) -> np.random.Generator:
        """A generator for choices of the test itself; no request has a key of one number."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))

    def stream(self, wanted: list[tuple[IntArray, int]], stage: int) -> Any:
        """Yield (position in ``wanted``, outputs) chunk by chunk, positions ascending."""
        chunks, owners = [], []
        for position, (dataset, count) in enumerate(wanted):
            for number, first in enumerate(range(0, count, self.sampler.chunk)):
                size = min(self.sampler.chunk, count - first)
                key = (stage, position, number)
                chunks.append(Request(dataset.tobytes(), dataset.dtype.str, size, key))
                owners.append(position)
        task = _Task(self.sampler, tuple(chunks), self.seed)
        for owner, outputs in zip(
            owners, map_in_order(task, len(chunks), self.executor), strict=True
        ):
            self.used += len(outputs)
            yield owner, outputs

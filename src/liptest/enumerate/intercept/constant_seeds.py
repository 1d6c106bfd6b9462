"""Generators that were made outside of a function with a constant seed: what they draw is known.

Generators that a function holds are taken as freshly seeded. One whose seed is a constant of the
source is not: whoever reads the source knows what it draws. A seed counts as such where it is one
of the values that follow from the file's constants in a call of a file of the program
(``constant_expressions``), and the generator is in a state that this seed leads to.
"""

from __future__ import annotations

import _random
import ast
import linecache
import pickle
import random
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import chain, repeat
from operator import is_
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from liptest.enumerate.intercept.constant_draws import make_python, make_state
from liptest.enumerate.intercept.constant_expressions import (
    FileConstants,
    find_assignments,
    find_node_name,
)
from liptest.enumerate.intercept.parsing import parse_text
from liptest.enumerate.intercept.replaceable_names import (
    find_attribute,
    is_foreign,
    is_others,
)
from liptest.values.lines import is_of_packages, line_in_words

_MAKERS = frozenset(
    {"default_rng", "RandomState", "Random", "SeedSequence", "seed"}
    | {"PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"}
)
_SEED_NAMES = frozenset({"seed", "a", "x", "entropy"})
_PLAIN = (int, str, bytes, float, list, tuple)
#: The kind of a generator and a digest of its stream.
Stream = tuple[type, bytes]
# How often the words of a Mersenne Twister were used up since it was seeded, at most.
_TWISTS, _WORDS = 32, 624
# Files of a program that are read for constants: one, and what it imports.
_MOST_FILES = 64
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Literal:
    """A seed that a call in a file names; ``at_import`` is whether it is outside of functions."""

    value: Any
    file: str
    line: int
    at_import: bool

    def __str__(self) -> str:
        return line_in_words(self.file, self.line)


def literals_in(file: str) -> tuple[Literal, ...]:
    """Seeds that calls name in a file and in those of the program that it imports."""
    cached = _known.get(file)
    if cached is None or any(linecache.getlines(place) is not text for place, text in cached[0]):
        trees = _find_trees(file)
        sources = [(place, linecache.getlines(place)) for place in {file: None, **trees}]
        found = _find_literals(trees)
        literals = {(repr(literal.value), literal.at_import): literal for literal in found}
        cached = _known[file] = sources, tuple(literals.values())
    return cached[1]


# By file: the lines that were read, of it and of what it imports, as Python keeps them.
_known: dict[str, tuple[list[tuple[str, list[str]]], tuple[Literal, ...]]] = {}


def _find_literals(trees: dict[str, ast.Module]) -> Iterator[Literal]:
    constants = FileConstants(trees.values())
    for file, tree in trees.items():
        makers = _MAKERS.union(_aliases(tree))
        functions = [function for function in ast.walk(tree) if isinstance(function, _FUNCTIONS)]
        inside = {id(node) for function in functions for node in ast.walk(function)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                seeds = map(constants.values_of, _find_seeds(node, makers))
                for seed in chain.from_iterable(seeds):
                    if isinstance(seed, _PLAIN):
                        yield Literal(seed, file, node.lineno, id(node) not in inside)


def _find_trees(file: str) -> dict[str, ast.Module]:
    """A file and those of the program that it imports, parsed; none where no maker is named.

    Of an installed package the file alone.
    """
    trees: dict[str, ast.Module] = {}
    waiting, names_maker = {file: None}, False
    while waiting and len(trees) < _MOST_FILES:
        place = next(iter(waiting))
        del waiting[place]
        text = "".join(linecache.getlines(place))
        tree = _parse(text)
        if tree is not None:
            trees[place] = tree
            # What is not ASCII may be another spelling of a name.
            names_maker |= not text.isascii() or any(maker in text for maker in _MAKERS)
            if not is_of_packages(place):
                imported = filter(None, map(_file_of, _find_imported(place, tree)))
                waiting |= {other: None for other in imported if other not in trees}
    return trees if names_maker else {}


@lru_cache(maxsize=4 * _MOST_FILES)  # several files may import it
def _parse(text: str) -> ast.Module | None:
    try:
        return parse_text(text)
    except (SyntaxError, ValueError):
        return None


def _find_imported(file: str, tree: ast.AST) -> Iterator[str]:
    """Modules that a file may import, by their full names."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    is_relative = any(isinstance(node, ast.ImportFrom) and node.level for node in nodes)
    inside = _package_of(file) if is_relative else []
    for node in nodes:
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            above = inside[: len(inside) + 1 - node.level] if node.level else []
            package = ".".join([*above, *filter(None, [node.module])])
            names = [package, *(f"{package}.{name}" for name in names)]
        yield from names


def _package_of(file: str) -> list[str]:
    """The package that a file is in, in its parts."""
    spaces = (find_attribute(module, "__dict__") for module in [*sys.modules.values()])
    own = (space for space in spaces if type(space) is dict and space.get("__file__") == file)
    return str(next(own, {}).get("__package__") or "").split(".")


def _file_of(module: str) -> str | None:
    """The file of a module of the program that is loaded."""
    space = find_attribute(sys.modules.get(module), "__dict__")
    file = space.get("__file__") if type(space) is dict else None
    if not isinstance(file, str) or is_others(module) or is_of_packages(file):
        return None
    return file if file.endswith(".py") else None


def _find_seeds(call: ast.Call, makers: frozenset[str]) -> list[ast.expr]:
    """What may be the seed in a call of a maker, or in one that a maker is passed to."""
    named = [keyword.value for keyword in call.keywords if keyword.arg in _SEED_NAMES]
    if find_node_name(call.func) in makers or _is_named_by_text(call.func):
        return [*call.args[:1], *named]
    passed = any(find_node_name(value) in makers or _is_named_by_text(value) for value in call.args)
    return [*call.args, *named] if passed else []  # functools.partial(default_rng, 7)


def _aliases(tree: ast.AST) -> Iterator[str]:
    """Other names of makers: of imports, and of assignments."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (
                alias.asname for alias in node.names if alias.asname and alias.name in _MAKERS
            )
        for name, value in find_assignments(node):
            if find_node_name(value) in _MAKERS or _is_named_by_text(value):
                yield name


def _is_named_by_text(node: ast.AST) -> bool:
    """``getattr(np.random, "default_rng")``, ``makers["default_rng"]``."""
    texts = node.args if isinstance(node, ast.Call) else ()
    if isinstance(node, ast.Subscript):
        texts = [node.slice]
    return any(isinstance(text, ast.Constant) and text.value in _MAKERS for text in texts)


class ProgramFiles:
    """Files of the functions that a program reaches, and of modules that hold its generators."""

    def __init__(self) -> None:
        self._files: dict[str, None] = {}

    def note(self, value: Any) -> None:
        """Note what the program reaches."""
        if type(value) is FunctionType and not is_foreign(value.__globals__.get("__name__")):
            self._files[value.__code__.co_filename] = None

    def seed_of(self, generator: Any) -> Literal | None:
        """The constant seed that a generator was made with, where one is found."""
        return _find_leading([*self._seeds_near(generator)], generator)

    def names_entropy(self, sequence: np.random.SeedSequence) -> bool:
        """Whether a file of the program has the entropy of a SeedSequence as a constant."""
        return any(seed.value == sequence.entropy for seed in self._seeds_near(sequence))

    def _seeds_near(self, value: Any) -> Iterator[Literal]:
        """In files of the program, and of modules that name a value."""
        yield from chain.from_iterable(map(literals_in, self._files))
        for file, values in self._modules:
            if file not in self._files and any(map(is_, values, repeat(value))):
                yield from literals_in(file)

    @cached_property
    def _modules(self) -> list[tuple[str, list[Any]]]:
        """Files of modules, and what they name: most programs hold no generator."""
        return list(_find_named_by_modules())

    def seed_at_import(self, generator: Any) -> Literal | None:
        """The same for the generator of a module, which others may seed: outside of functions."""
        every = [seed for file in self._files for seed in literals_in(file) if seed.at_import]
        return _find_leading(every, generator)


def _find_named_by_modules() -> Iterator[tuple[str, list[Any]]]:
    for module in list(sys.modules.values()):
        space = find_attribute(module, "__dict__")
        if type(space) is dict and not is_others(space.get("__name__")):
            file = space.get("__file__")
            if isinstance(file, str):
                yield file, list(space.values())


class _Origin(NamedTuple):
    """What tells the seed of a generator: its entropy, if it has any, and its stream."""

    kind: type
    entropy: Any
    stream: bytes


def _find_leading(seeds: list[Literal], generator: Any) -> Literal | None:
    """The first seed that leads to a generator."""
    origin = _find_origin(generator) if seeds else None
    if origin is None:
        return None
    return next((seed for seed in seeds if _leads_to(seed.value, origin)), None)


def _find_origin(generator: Any) -> _Origin | None:
    try:
        if isinstance(generator, random.Random):
            return _Origin(_PYTHON, None, _python_stream(generator))
        of_numpy = isinstance(generator, np.random.Generator)
        bits = generator.bit_generator if of_numpy else generator._bit_generator
        entropy = find_attribute(bits.seed_seq, "entropy")
        return _Origin(_STATE if entropy is None else type(bits), entropy, _stream(bits))
    except (TypeError, ValueError, KeyError, AttributeError):
        return None  # one of another kind


def find_copies(generators: list[Any]) -> tuple[Any, Any] | None:
    """Two of some generators that go along one stream: one is a copy of the other, or jumped.

    What is drawn of one tells what the other draws. Generators that share their bits draw one after
    the other, and are none.
    """
    bits = {id(_bits_of(generator)): generator for generator in generators}
    streams: list[tuple[Any, Sequence[Stream]]] = []
    for generator in bits.values() if len(bits) > 1 else ():
        ahead = _streams_ahead(generator)
        for other, streams_of_other in streams:
            if ahead and (ahead[0] in streams_of_other or streams_of_other[0] in ahead):
                return other, generator
        if ahead:
            streams.append((generator, ahead))
    return None


def _bits_of(generator: Any) -> Any:
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator
    return generator if isinstance(generator, _PYTHON) else generator._bit_generator


def _streams_ahead(generator: Any) -> Sequence[Stream]:
    """The stream that a generator is in, and of a Mersenne Twister those of its next twists."""
    bits = _bits_of(generator)
    if isinstance(bits, _PYTHON):
        now: Stream = _PYTHON, _python_stream(bits)
    elif type(bits) in _STREAM_PART:
        now = type(bits), _stream(bits)
    else:
        return ()
    if now[0] not in (_PYTHON, _BITS):
        return (now,)
    # All words of a twist follow from those of the one before.
    if now not in _known_ahead:
        if len(_known_ahead) >= _MOST_AHEAD:
            _known_ahead.clear()
        _known_ahead[now] = tuple(_twist(bits))
    return _known_ahead[now]


# By the stream of a Mersenne Twister those of its next twists, with its own.
_known_ahead: dict[Stream, tuple[Stream, ...]] = {}
_MOST_AHEAD = 256


def _twist(bits: Any) -> Iterator[Stream]:
    if isinstance(bits, _PYTHON):
        fresh = make_python(0)
        _random.Random.setstate(fresh, _random.Random.getstate(bits))
        for _ in range(_TWISTS):
            yield _PYTHON, _python_stream(fresh)
            _random.Random.getrandbits(fresh, _WORDS * 32)
    else:
        words = _BITS(0)
        words.state = bits.state
        state = _STATE(words)
        for _ in range(_TWISTS):
            yield _BITS, _stream(state._bit_generator)
            state.bytes(_WORDS * 4)


def _leads_to(seed: Any, origin: _Origin) -> bool:
    try:
        if origin.entropy is not None and np.array_equal(origin.entropy, seed):
            return True
        # What jumped, or was given the state of another, has a sequence that is not its own.
        return origin.stream in _streams_of(origin.kind, seed)
    except (TypeError, ValueError, OverflowError):
        return False  # no seed for such a generator


# By kind and the seed as it is written: digests of the streams that it leads to.
_known_streams: dict[tuple[type, str], frozenset[bytes]] = {}
_MOST_SEEDS = 4096
# Kept, as methods of C are: while a program is analysed, and in what it imports meanwhile, these
# names stand for something else. What is kept of a seed must not depend on that.
_STATE: type[np.random.RandomState] = np.random.RandomState
_BITS = np.random.MT19937
_STREAM_PART: dict[type, str] = {
    **dict.fromkeys((np.random.PCG64, np.random.PCG64DXSM), "inc"),
    **dict.fromkeys((np.random.Philox, np.random.MT19937), "key"),
    np.random.SFC64: "state",
}
_PYTHON = random.Random


def _stream(bits: Any) -> bytes:
    """A digest of the part of a state that tells its stream: draws and jumps leave it alone.

    The words of a Mersenne Twister are used up and made anew; of SFC64 each draw changes all.
    """
    told = bits.state["state"][_STREAM_PART[type(bits)]]
    return _digest(told.tobytes() if isinstance(told, np.ndarray) else str(told).encode())


def _python_stream(generator: random.Random) -> bytes:
    return _digest(array("I", _random.Random.getstate(generator)[:_WORDS]).tobytes())


def _digest(words: bytes) -> bytes:
    return blake2b(words, digest_size=16).digest()


def _streams_of(kind: type, seed: Any) -> frozenset[bytes]:
    key = kind, repr(seed)
    known = _known_streams.get(key)
    if known is None:
        if len(_known_streams) >= _MOST_SEEDS:
            _known_streams.clear()
        known = _known_streams[key] = frozenset(_find_streams(kind, seed))
    return known


def _find_streams(kind: Any, seed: Any) -> Iterator[bytes]:
    if kind is _PYTHON:
        fresh = make_python(seed)
        for _ in range(_TWISTS):
            yield _python_stream(fresh)
            _random.Random.getrandbits(fresh, _WORDS * 32)
    elif kind in (_STATE, _BITS):
        state: Any = make_state(seed) if kind is _STATE else _STATE(_BITS(seed))
        for _ in range(_TWISTS):
            yield _stream(state._bit_generator)
            state.bytes(_WORDS * 4)
    elif kind in _STREAM_PART:
        yield _stream(kind(seed))


class Determined:
    """What stands for a generator whose seed is known: in each run it begins anew.

    ``renew()`` seeds it, and ``state()`` is where it is.
    """

    def __init__(self, words: str, renew: Callable[[], None], state: Callable[[], Any]) -> None:
        self.words = words
        self.renew = renew
        self._state = state
        self._first: bytes | None = None
        #: Whether a run drew from it.
        self.is_drawn = False

    def begin(self) -> None:
        """A run begins."""
        self.renew()
        if self._first is None:
            self._first = pickle.dumps(self._state())

    def end(self) -> None:
        """A run has ended."""
        if not self.is_drawn and self._first is not None:
            self.is_drawn = pickle.dumps(self._state()) != self._first


def fresh_generator(generator: np.random.Generator, seed: Any) -> np.random.Generator:
    """A Generator that has drawn nothing yet, as one was when it was made.

    In the same state as one that jumped or was given a state: its sequence has not the seed.
    """
    bits: Any = generator.bit_generator
    sequence = np.random.SeedSequence(bits.seed_seq.entropy, spawn_key=bits.seed_seq.spawn_key)
    fresh = type(bits)(sequence)
    entropy: Any = sequence.entropy
    if not np.array_equal(entropy, seed):
        fresh.state = bits.state
    return np.random.Generator(fresh)

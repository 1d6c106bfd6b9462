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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import chain, repeat
from operator import is_
from types import FunctionType
from typing import Any

import numpy as np

from liptest.enumerate.intercept.constant_expressions import (
    FileConstants,
    find_assignments,
    find_node_name,
)
from liptest.enumerate.intercept.replaceable_names import find_attribute, is_foreign
from liptest.values.lines import line_in_words

_MAKERS = frozenset(
    {"default_rng", "RandomState", "Random", "SeedSequence", "seed"}
    | {"PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"}
)
_SEED_NAMES = frozenset({"seed", "a", "x", "entropy"})
_PLAIN = (int, str, bytes, float, list, tuple)
# How often the words of a Mersenne Twister were used up since it was seeded, at most.
_TWISTS, _WORDS = 32, 624
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
    """Seeds that calls in a file name, as Python knows its lines."""
    lines = linecache.getlines(file)
    cached = _known.get(file)
    if cached is None or cached[0] is not lines:
        cached = _known[file] = lines, tuple(_literals(file, lines))
    return cached[1]


_known: dict[str, tuple[list[str], tuple[Literal, ...]]] = {}


def _literals(file: str, lines: list[str]) -> list[Literal]:
    text = "".join(lines)
    # Most files name none of them; what is not ASCII may be another spelling of a name.
    if text.isascii() and not any(maker in text for maker in _MAKERS):
        return []
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    constants = FileConstants(tree, _find_imported(file, tree))
    makers = _MAKERS.union(_aliases(tree))
    literals = []
    functions = [function for function in ast.walk(tree) if isinstance(function, _FUNCTIONS)]
    inside = {id(node) for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (values := _find_seeds(node, makers)):
            for value in values:
                literals += [
                    Literal(seed, file, node.lineno, id(node) not in inside)
                    for seed in constants.values_of(value)
                    if isinstance(seed, _PLAIN)
                ]
    return literals


def _find_imported(file: str, tree: ast.AST) -> Iterator[tuple[str, list[Any]]]:
    """Constants of other files of the program, ``from settings import SEED``, ``settings.SEED``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                yield from _constants_of(one.name)
        if isinstance(node, ast.ImportFrom):
            parts = [*_package_of(file, node.level), *filter(None, [node.module])]
            constants = dict(_constants_of(".".join(parts)))
            for one in node.names:
                if one.name == "*":
                    yield from constants.items()
                yield one.asname or one.name, constants.get(one.name, [])
                yield from _constants_of(".".join([*parts, one.name]))


def _package_of(file: str, level: int) -> list[str]:
    """The package that so many dots of an import name in a file, in its parts."""
    if level == 0:
        return []
    spaces = (find_attribute(module, "__dict__") for module in [*sys.modules.values()])
    own = (space for space in spaces if type(space) is dict and space.get("__file__") == file)
    package = str(next(own, {}).get("__package__") or "").split(".")
    return package[: len(package) + 1 - level]


def _constants_of(module: str) -> list[tuple[str, list[Any]]]:
    """The constants of a module that is loaded, in its own file."""
    space = find_attribute(sys.modules.get(module), "__dict__")
    file = space.get("__file__") if type(space) is dict else None
    if is_foreign(module) or not isinstance(file, str):
        return []
    return _constants_in("".join(linecache.getlines(file)))


@lru_cache(maxsize=64)  # several files may import it, and one name by name
def _constants_in(text: str) -> list[tuple[str, list[Any]]]:
    try:
        return [*FileConstants(ast.parse(text)).items()]
    except (SyntaxError, ValueError):
        return []


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
            yield from (one.asname for one in node.names if one.asname and one.name in _MAKERS)
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
        every = self._seeds_near(generator)
        return next((seed for seed in every if _leads_to(seed.value, generator)), None)

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
        return next((seed for seed in every if _leads_to(seed.value, generator)), None)


def _find_named_by_modules() -> Iterator[tuple[str, list[Any]]]:
    for module in list(sys.modules.values()):
        space = find_attribute(module, "__dict__")
        if type(space) is dict and not is_foreign(space.get("__name__")):
            file = space.get("__file__")
            if isinstance(file, str):
                yield file, list(space.values())


def _leads_to(seed: Any, generator: Any) -> bool:
    try:
        if isinstance(generator, random.Random):
            words = _random.Random.getstate(generator)[:_WORDS]
            return _is_twisted(_PYTHON, seed, words)
        bits = generator.bit_generator if isinstance(generator, np.random.Generator) else None
        if bits is None:
            bits = generator._bit_generator
        entropy = find_attribute(bits.seed_seq, "entropy")
        if entropy is not None:
            return bool(np.array_equal(entropy, seed))
        key = bits.state["state"]["key"]
        return _is_twisted(_STATE, seed, key.tolist())
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
        return False  # no seed for such a generator


# By kind and the seed as it is written: digests of the words that a generator comes by.
_words_of: dict[tuple[type, str], frozenset[bytes]] = {}
_MOST_SEEDS = 1024
# Kept, as methods of C are: while a program is analysed, and in what it imports meanwhile, these
# names stand for something else. What is kept of a seed must not depend on that.
_STATE: type[np.random.RandomState] = np.random.RandomState
_BITS = np.random.MT19937
_PYTHON = random.Random
_SEED = random.Random.seed


def _is_twisted(kind: type, seed: Any, words: Iterable[int]) -> bool:
    """Whether a Mersenne Twister of a seed comes by these words."""
    key = kind, repr(seed)
    known = _words_of.get(key)
    if known is None:
        if len(_words_of) >= _MOST_SEEDS:
            _words_of.clear()
        twisted = _twist_in_python(seed) if kind is _PYTHON else _twist_in_numpy(seed)
        known = _words_of[key] = frozenset(map(_digest, twisted))
    return _digest(words) in known


# Begun with 0: without a seed they would ask the operating system, and the watch would hear that.
def _twist_in_python(seed: Any) -> Iterator[Iterable[int]]:
    fresh: Any = _random.Random.__new__(_PYTHON, 0)  # type: ignore[call-arg]
    _SEED(fresh, seed)
    for _ in range(_TWISTS):
        yield _random.Random.getstate(fresh)[:_WORDS]
        _random.Random.getrandbits(fresh, _WORDS * 32)


def _twist_in_numpy(seed: Any) -> Iterator[Iterable[int]]:
    fresh = _STATE(_BITS(0))
    fresh.seed(seed)
    for _ in range(_TWISTS):
        state: Any = fresh.get_state(legacy=False)
        yield state["state"]["key"].tolist()
        fresh.bytes(_WORDS * 4)


def _digest(words: Iterable[int]) -> bytes:
    return blake2b(array("I", words).tobytes(), digest_size=16).digest()


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


def fresh_generator(generator: np.random.Generator) -> np.random.Generator:
    """A Generator with the same seed that has drawn nothing yet."""
    bits: Any = generator.bit_generator
    seed = np.random.SeedSequence(bits.seed_seq.entropy, spawn_key=bits.seed_seq.spawn_key)
    return np.random.Generator(type(bits)(seed))

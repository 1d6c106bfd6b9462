"""The analysis that is under way: what stand-ins for random numbers ask, and what they noticed.

One analysis at a time follows the randomness of the process. Stand-ins of random numbers that
another thread than the one that is analysed calls end the analysis, others do what the original
does.
"""

from __future__ import annotations

import functools
import random
import sys
import threading
from _thread import get_ident
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import ModuleType
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy as np

from liptest.enumerate.intercept.clocks import Seconds
from liptest.enumerate.intercept.constant_seeds import Determined
from liptest.enumerate.intercept.generator import ChoiceGenerator
from liptest.enumerate.intercept.random_state import ChoiceRandomState
from liptest.enumerate.trees.choice_tree import Abort, ChoiceTree
from liptest.enumerate.watch.compiled_code import CompiledCode
from liptest.enumerate.watch.executed_code import ExecutedCode
from liptest.enumerate.watch.first_calls import HeldBefore
from liptest.enumerate.watch.kept_state import check_same_state, describe_all_state
from liptest.enumerate.watch.other_threads import (
    ASKS,
    STARTS,
    make_thread_error,
    not_alone,
    program_line,
    works_for_itself,
)
from liptest.enumerate.watch.side_effects import READS, RandomnessWatch, make_elsewhere_error
from liptest.enumerate.watch.surroundings import CLOCK_ADVICE, HEARD_NAMES, Surroundings, depends
from liptest.enumerate.watch.unread_attributes import unread_attributes
from liptest.errors import LiptestError, UnsupportedRandomnessError
from liptest.mechanisms.base import DETERMINED
from liptest.values.faults import raises_as_numpy

T = TypeVar("T")

#: Said of (data, rng) where rng has a default that everybody knows.
_PASSED = (
    "given that a generator is passed: that of the default has the constant seed {}, so that "
    "calls with data alone are not private"
)


class Session:
    """Answers of the stand-ins during one analysis: fresh randomness, or a seed given inside.

    ``follow(tree)`` starts a law, ``begin()`` a run of it. A generator that the program seeds
    with a number is followed as the determinism that it is, until the run ends.
    """

    def __init__(self, name: str, trusted: frozenset[str] = frozenset()) -> None:
        self.name = name
        #: The function that is analysed; set on installing.
        self.program: Any = None
        self.tree = ChoiceTree(name)
        self.thread = get_ident()
        self.rng = ChoiceGenerator(self.tree)
        #: Seeded in this run: by the id of the object that the program holds.
        self.seeded: dict[int, random.Random] = {}
        self._clock: str | None = None
        self._seeded = False
        self._states: dict[int, tuple[Any, ChoiceRandomState]] = {}
        self._fresh: list[ChoiceRandomState] = []
        self._bits: list[FreshBits] = []
        #: Whether numpy.zeros and the like give arrays that symbolic numbers can be written into.
        self.fills_symbolic = False
        #: Whether the program may ask what kind of object symbolic data are.
        self.asks_types = False
        #: Whether symbolic data were read record by record.
        self.walks_records = self.makes_rows = False
        #: Runs that began, and arrays that the last one made without filling them.
        self.runs = self.unfilled = 0
        #: Whether such a function was called where data are symbolic.
        self.filled_plain = False
        #: Whether a leaf is repeated with Python's own ``float``.
        self.has_real_floats = False
        #: Modules that were imported in a run by a name that is computed.
        self.imported: list[ModuleType] = []
        #: What stands for ``float`` and the like in modules of the program; set on installing.
        self.float_calls: list[Any] = []
        #: Whether what makes arrays has stand-ins.
        self.follows_arrays = False
        #: What handlers of signals have raised, in the middle of the program.
        self.from_handlers: list[BaseException] = []
        self._determined: list[Determined] = []
        #: Generators with constant seeds and what stands for them, by id.
        self.stand_ins: dict[int, tuple[Any, Any]] = {}
        #: Names of generators made elsewhere that are taken as freshly seeded.
        self.taken_as_fresh: set[str] = set()
        #: The constant seed of the generator that stands for one that is not passed, with its line.
        self.default_seed = ""
        #: Whether the last run seeded, read the clock, made bits or arrays that it did not fill.
        self.touched = False
        #: Is told of every stand-in for a generator that is made in a run.
        self.on_new: Callable[[Any], None] = lambda made: None
        #: Takes the stand-in for ``float`` away for a time; set on installing.
        self.real_floats: Callable[[], AbstractContextManager[None]] = nullcontext
        #: Puts stand-ins for what makes arrays in their places; set on installing.
        self.follow_arrays: Callable[[], None] = lambda: None
        #: Watches calls of shared libraries; set on installing.
        self.trap_libraries: Callable[[], None] = lambda: None
        #: What the program reaches, and what it held before it was first called.
        self.reached: list[Any] = []
        self.held: HeldBefore | None = None
        #: Whether the next run may find that it holds something else.
        self.may_hold = False
        self._puts_back = True
        #: Whether it is known that no order of rows changes what the program answers.
        self.takes_any_order = False
        #: Generators without a stand-in; set on installing.
        self.watch = RandomnessWatch(name, [])
        self.surroundings = Surroundings(
            name,
            CompiledCode(name, trusted, self._refuse),
            self._refuse,
        )
        #: Why the hook that sees all calls has ended a run: Python takes it away then.
        self._refused: LiptestError | None = None

    @contextmanager
    def pause_meanwhile(self) -> Iterator[None]:
        """While a handler of a signal runs, which does not belong to the program."""
        thread, self.thread = self.thread, -1
        try:
            yield
        finally:
            self.thread = thread

    def determine(self, generator: Determined) -> None:
        """Follow a generator as the determinism that it is, in each run from its seed on."""
        self._determined.append(generator)
        generator.begin()
        self.touched = True

    @property
    def asks_elsewhere(self) -> bool:
        """Whether the run so far had a seed, a clock or the bits of a generator.

        Where data are symbolic it is ``touched`` by memory that is not filled, too.
        """
        is_of_data = bool(self.unfilled) and not self._seeded
        asked = bool(self._determined or self._bits or self._clock is not None)
        return asked if is_of_data else self.touched

    def follow(self, tree: ChoiceTree) -> None:
        """Ask this tree from now on."""
        self.tree = tree
        tree.keeps_room = self.fills_symbolic
        self.surroundings.takes_any_order = tree.takes_any_order or self.takes_any_order
        self.rng._tree = tree
        for _, state in self._states.values():
            state._tree = tree
        self.may_hold = bool(self.held)

    def put_back(self) -> None:
        """Let the program hold what it held before its first call; needed where it may not."""
        if self._puts_back and self.held is not None:
            self.may_hold = self.held.put_back() or self.held.is_small

    def begin(self) -> None:
        """Forget what the last run seeded; needed where it was ``touched`` only."""
        self.touched = bool(self._determined)
        self.runs, self.unfilled = self.runs + 1, 0
        self.end()
        self._forget()
        for generator in self._determined:
            generator.begin()

    def _forget(self) -> None:
        self._clock, self._seeded = None, False
        self.seeded.clear()
        self._fresh.clear()
        for _, state in self._states.values():
            state.forget_seed()

    def state_for(self, original: np.random.RandomState) -> ChoiceRandomState:
        """The stand-in for a RandomState that exists outside, always the same one."""
        pair = self._states.get(id(original))
        if pair is None:
            pair = original, ChoiceRandomState(self.tree, self.note_seed)
            self._states[id(original)] = pair
            self.on_new(pair[1])
        return pair[1]

    def states(self) -> list[ChoiceRandomState]:
        """All stand-ins for RandomStates so far."""
        return [state for _, state in self._states.values()] + self._fresh

    def new_generator(self) -> ChoiceGenerator:
        """A stand-in for a Generator made inside without a seed."""
        generator = ChoiceGenerator(self.tree)
        self.on_new(generator)
        return generator

    def fresh_state(self) -> ChoiceRandomState:
        """A stand-in for a RandomState made inside without a seed."""
        self._fresh.append(ChoiceRandomState(self.tree, self.note_seed))
        self.on_new(self._fresh[-1])
        return self._fresh[-1]

    def clock(self, name: str, kind: type, line: str) -> Any:
        """What the program gets that reads the time: it may be logged, and nothing else."""
        self.touched = True
        self._clock = f"{name}{f' at {line}' if line else ''}"
        return Seconds(kind, self.look_at_clock)

    @property
    def has_read_clock(self) -> bool:
        """Whether the run that is under way has read the time."""
        return self._clock is not None

    @property
    def conditions(self) -> set[str]:
        """What was taken for granted, in words."""
        fresh = ", ".join(sorted(self.taken_as_fresh))
        return {
            *(
                f"given that compiled code of {package} draws no random numbers, as the caller says"
                for package in self.surroundings.compiled.used
            ),
            *([f"generators made elsewhere ({fresh}) taken as freshly seeded"] if fresh else []),
            *(f"{DETERMINED} {words}" for words in self.determined),
            *([_PASSED.format(self.default_seed)] if self.default_seed else []),
        }

    @property
    def determined(self) -> list[str]:
        """Constant seeds of generators that runs drew from, with their lines."""
        return sorted({generator.words for generator in self._determined if generator.is_drawn})

    def look_at_clock(self) -> NoReturn:
        """Abort: what the program does may depend on the time."""
        self.tree.fail(
            depends(self.name, f"depends on reading the clock ({self._clock})", CLOCK_ADVICE)
        )

    def watching(self, run_all: Callable[[], T]) -> T | None:
        """What the runs of a law find, watched where it is needed.

        None where the runs of this session must all be seen, as turned out: begin anew.
        """
        if not self.surroundings.needed:
            return run_all()
        self._check_no_profiler()
        if self.surroundings.sees_all or not ExecutedCode.is_possible():
            with self.calls_watched():
                return run_all()
        with ExecutedCode() as executed:
            outcome = run_all()
        if self.surroundings.is_harmless(executed):
            return outcome
        self.surroundings.sees_all = True
        return None

    @contextmanager
    def calls_watched(self, *, always: bool = False) -> Iterator[None]:
        """Look at what the program calls, if any of it may tell of its surroundings."""
        if self.surroundings.needed:
            self._check_no_profiler()
        elif not always:
            yield
            return
        with self.watch.no_system_randomness(self.surroundings.look, HEARD_NAMES):
            yield
        if self._refused is not None:
            raise self._refused  # what came after it was not looked at

    def _refuse(self, error: LiptestError) -> NoReturn:
        self._refused = self._refused or error
        self.tree.fail(error)

    def _check_no_profiler(self) -> None:
        if sys.getprofile() is not None:
            raise UnsupportedRandomnessError(
                f"{self.name}: it may look at its surroundings or call compiled code, which a "
                f"profiler that is on (sys.setprofile) hides; analyse it without the profiler"
            )

    def watch_bits(self, bits: FreshBits) -> None:
        """Check at the end of the run that nothing drew from it."""
        self.touched = True
        self._bits.append(bits)

    def end(self) -> None:
        """Abort where the last run drew from bits that are there to be passed on only."""
        for generator in self._determined:
            generator.end()
        bits, self._bits = self._bits, []
        if any(source.drew() for source in bits):
            self.drew_from("a bit generator, in compiled code")

    def note_seed(self) -> None:
        """The program seeds a generator: fails where the clock may be the seed."""
        self.touched = self._seeded = True
        if self._clock is not None:
            self.drew_from(f"a generator seeded after reading the clock ({self._clock})")

    def check_keeps_no_state(self, again: Callable[[], object]) -> None:
        """NonDeterministicError where a call, just made, changes once more what is held."""
        before, after = self._states_around(again, frozenset())
        if before != after and (unread := unread_attributes(self.program)):
            before, after = self._states_around(again, unread)
        check_same_state(self.name, self.program, before, after)

    def _states_around(
        self, again: Callable[[], object], unread: frozenset[str]
    ) -> tuple[list[str], list[str]]:
        before = self._state(unread)
        self._puts_back = False
        try:
            again()
        except Abort as abort:
            raise abort.error from None
        finally:
            self._puts_back = True
        return before, self._state(unread)

    def _state(self, unread: frozenset[str]) -> list[str]:
        with self.watch.set_aside(is_heard=False):
            return describe_all_state(self.program, unread)

    def drew_from(self, where: str) -> NoReturn:
        """Abort: the program uses randomness that cannot be followed."""
        self.tree.fail(make_elsewhere_error(self.name, where))

    def refuse_event(self, event: str) -> None:
        """Abort: the program opens a random device, or starts something that is not followed.

        Libraries that it opens are watched from then on.
        """
        if event == "ctypes.dlopen":
            self.trap_libraries()
            return
        if event == READS:
            line = program_line(sys._getframe(1))
            asked = f"looks at who calls it{f' ({line})' if line else ''}"
            self.tree.fail(depends(self.name, asked, "leave it out"))
        what = STARTS.get(event) or ASKS.get(event)
        if what is None:
            self.drew_from("a random device of the operating system")
        self.tree.fail(not_alone(self.name, what))


class FreshBits(np.random.PCG64):
    """A bit generator made inside without a seed: for a Generator or a RandomState, not to draw."""

    def __init__(self, session: Session) -> None:
        super().__init__(0)
        self._session = session
        session.watch_bits(self)

    def random_raw(self, size: Any = None, output: bool = True) -> NoReturn:
        self._session.tree.forbid("random_raw of a bit generator", "draw from a Generator")

    def drew(self) -> bool:
        """Whether compiled code drew from it."""
        return bool(_STATE.__get__(self)["state"] != _STATE.__get__(_UNUSED)["state"])


_STATE = np.random.PCG64.__dict__["state"]
_UNUSED = np.random.PCG64(0)


def _hidden(self: FreshBits, *arguments: Any) -> NoReturn:
    self._session.tree.forbid("the state of a bit generator", "draw from a Generator")


for _name in ("state", "seed_seq"):
    setattr(FreshBits, _name, property(_hidden, _hidden))


for _name in ("advance", "jumped", "spawn", "__reduce__", "__getstate__", "__setstate__"):
    setattr(FreshBits, _name, _hidden)


#: One analysis at a time, whichever thread it runs in; an analysis within one is another one.
LOCK = threading.RLock()
_ACTIVE: list[Session] = []


def active() -> Session | None:
    """The analysis of this thread, if there is one."""
    if not _ACTIVE:
        return None
    session = _ACTIVE[-1]
    return session if session.thread == get_ident() else None


def draw_beside(original: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What a function that draws random numbers answers in a thread that is not analysed.

    It ends the analysis that is under way, except for threads that work for themselves.
    """
    if not _ACTIVE or _ACTIVE[-1].thread == get_ident():
        return original(*arguments, **options)
    session = _ACTIVE[-1]
    if not works_for_itself():
        session.tree.fail(make_thread_error(session.name))
    with session.watch.forgive_draws():
        return original(*arguments, **options)


def push(session: Session) -> None:
    """Make an analysis the one that stand-ins ask."""
    _ACTIVE.append(session)


def pop(session: Session) -> None:
    """End an analysis, and all that began within it."""
    if session in _ACTIVE:
        del _ACTIVE[_ACTIVE.index(session) :]


def follower(
    original: Callable[..., Any], answer: Callable[..., Any], *, draws: bool = True
) -> Callable[..., Any]:
    """A function that calls ``answer(session, ...)`` while analysed, else the original.

    ``draws`` is whether it gives random numbers: another thread may not ask for them meanwhile.
    """

    @functools.wraps(original, updated=())
    @raises_as_numpy
    def call(*arguments: Any, **options: Any) -> Any:
        session = active()
        if session is None:
            if draws:
                return draw_beside(original, *arguments, **options)
            return original(*arguments, **options)
        return answer(session, *arguments, **options)

    return call


#: The same, made once for the same original and answer.
kept_follower = functools.lru_cache(maxsize=1 << 10)(follower)


class _StandsInFor(type):
    """Classes that make something else while analysed, and are the original in all else."""

    original: ClassVar[type]

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.original)

    def __subclasscheck__(cls, subclass: type) -> bool:
        # An abstract class asks its subclasses, and a stand-in is one of them.
        return type.__subclasscheck__(cls.original, subclass)


def class_for(
    original: type, make: Callable[..., Any], plain: frozenset[type] = frozenset()
) -> type:
    """A subclass whose call is ``make(session, ...)``; None of that calls the original.

    So does a call with one argument of a ``plain`` type, without asking.
    """

    @raises_as_numpy
    def call(cls: type, *arguments: Any, **options: Any) -> Any:
        if cls is stand_in and len(arguments) == 1 and type(arguments[0]) in plain and not options:
            return original(arguments[0])
        session = active()
        made = None
        if session is not None and cls is stand_in:
            made = make(session, *arguments, **options)
        if made is not None:
            return made
        kind = original if cls is stand_in else cls
        return type.__call__(kind, *arguments, **options)

    own = () if type(original) is type else (type(original),)
    meta = type(f"Stand-in {original.__name__}", (_StandsInFor, *own), {"__call__": call})
    namespace = {
        "original": original,
        "__module__": original.__module__,
        "__doc__": original.__doc__,
        "__qualname__": original.__qualname__,
    }
    stand_in: type = meta(original.__name__, (original,), namespace)
    meta.original = original  # type: ignore[attr-defined]
    return stand_in

"""Stand-ins for the random numbers of a process, for the time of an analysis only."""

from __future__ import annotations

import io
import math
import os
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from types import BuiltinMethodType, GeneratorType, MethodType
from typing import Any

import numpy as np

from liptest.balls import outside_precision
from liptest.enumerate.intercept import random_modules, symbolic_arrays
from liptest.enumerate.intercept.analysis_session import (
    LOCK,
    Session,
    active,
    follower,
    kept_follower,
    pop,
    push,
)
from liptest.enumerate.intercept.constant_seeds import (
    Determined,
    Literal,
    ProgramFiles,
    find_copies,
    fresh_generator,
)
from liptest.enumerate.intercept.generator import ChoiceGenerator
from liptest.enumerate.intercept.program_modules import (
    BY_ID,
    INT,
    WHOLE_INT,
    FloatCalls,
    KindQuestions,
    ProgramModules,
    is_alias,
)
from liptest.enumerate.intercept.random_modules import HeldEntropy
from liptest.enumerate.intercept.random_state import ChoiceRandomState
from liptest.enumerate.intercept.replaceable_names import (
    GENERATORS,
    Site,
    find_attribute,
    has_fresh_entropy,
    is_compiled_drawing,
    is_drawing,
    is_others,
    is_plain_kind,
    module_sites,
    reachable,
)
from liptest.enumerate.intercept.symbolic_arrays import inverse_cdf_methods
from liptest.enumerate.syntax.signatures import default_generator_of
from liptest.enumerate.trees.choice_tree import Abort
from liptest.enumerate.watch.asked_of_machine import (
    LiveArguments,
    LiveFile,
    arguments_of_process,
    asking_functions,
    asking_methods,
    find_held_plain_file,
    is_live_file,
    outer_memory_of,
)
from liptest.enumerate.watch.compiled_code import (
    CompiledCode,
    is_known_kind,
    replace_library_calls,
)
from liptest.enumerate.watch.imports import Imports
from liptest.enumerate.watch.other_threads import refusing, starting_functions, starting_methods
from liptest.enumerate.watch.side_effects import (
    events_refused,
    is_random_device,
    make_elsewhere_error,
    notice_held_file,
    system_sources,
)
from liptest.enumerate.watch.surroundings import (
    TIMES,
    ZONE_ADVICE,
    ZONED,
    ZONED_TIMES,
    depends,
    find_import_now,
    find_reader,
)
from liptest.enumerate.watch.unhashable_classes import unhashable_classes_refused
from liptest.errors import LiptestError, MechanismError, UnsupportedRandomnessError
from liptest.runs.interrupts import handlers_noted
from liptest.values.answers.weights import SumOfWeights, Weight
from liptest.values.array import SymbolicArray
from liptest.values.closeness import is_close_number
from liptest.values.draws.transforms import MATH, MATH_OF_TWO
from liptest.values.draws.uniform import of_math
from liptest.values.faults import call_original
from liptest.values.lines import line_in_words
from liptest.values.protocol import is_symbolic
from liptest.values.records.record_list import EntryOfRecord

_METHODS = (BuiltinMethodType, MethodType)
_CACHE = type(lru_cache(abs))
# Kept: while a program is analysed the names stand for something else.
_GLOBAL: np.random.RandomState = np.random.mtrand._rand
_ISCLOSE, _FSUM = math.isclose, math.fsum
#: Takes a change back.
Undo = Callable[[], None]
# Exit code 0 means YES, and code under test may not give it.
_ENDS = (os._exit, os.execv, os.execve)


@contextmanager
def intercept_randomness(
    name: str,
    function: Any,
    *,
    trusted: frozenset[str] = frozenset(),
    symbolic_data: bool = False,
    keeps_whole: bool = False,
) -> Iterator[Session]:
    """Follow the random numbers that a function draws without an rng argument.

    Within, the random numbers of this thread come from the tree given to ``follow``. On any
    exit, interruptions included, everything is as it was.

    Parameters
    ----------
    name
        Of the mechanism, for error messages.
    function
        Generators that it holds, anywhere, are replaced meanwhile.
    trusted
        Packages whose compiled code draws nothing, as the caller says.
    symbolic_data
        Whether ``int()``, ``numpy.asarray`` and the like are to keep symbolic data, too.
    keeps_whole
        Whether ``int()`` is to keep whole numbers with noise.

    Raises
    ------
    NonDeterministicError
        A generator that could not be replaced moved.
    """
    inside = active()
    if inside is not None:
        inside.tree.forbid("an analysis of another mechanism", "analyse that one by itself")
    kept = [INT] if symbolic_data else [WHOLE_INT] if keeps_whole else []
    with (
        unhashable_classes_refused(name),
        outside_precision(),
        LOCK,
        _float_warnings_ignored(),
        _finalizers_end_quietly(),
    ):
        undo: list[Undo] = []
        session = Session(name, trusted)
        session.program = function
        try:
            imports = Imports(
                session,
                partial(_install, session, function, undo, symbolic_data, kept),
                partial(_install_asking, session, undo),
                partial(_take_back, undo),
            )
            imports.begin()
            push(session)
            with (
                handlers_noted(session.from_handlers, session.pause_meanwhile),
                events_refused(session.refuse_event),
                session.watch.standing_still(),
                imports.followed(),
            ):
                yield session
                session.end()
        finally:
            pop(session)
            _take_back(undo)


@contextmanager
def _float_warnings_ignored() -> Iterator[None]:
    """No law depends on ``-W``; code that makes errors of its own warnings still gets them.

    An analysis looks at the ends of what a random float can be, where real ones hardly ever are.
    """
    with warnings.catch_warnings():
        for what in ("divide by zero", "overflow", "underflow", "invalid value"):
            warnings.filterwarnings("ignore", f"{what} encountered", RuntimeWarning)
        yield


@contextmanager
def _finalizers_end_quietly() -> Iterator[None]:
    """What is refused in a finalizer ends the analysis once the run is over: nothing is printed."""
    before = sys.unraisablehook

    def hook(unraisable: sys.UnraisableHookArgs, /) -> None:
        if not isinstance(unraisable.exc_value, (Abort, LiptestError)):
            before(unraisable)

    sys.unraisablehook = hook
    try:
        yield
    finally:
        if sys.unraisablehook is hook:
            sys.unraisablehook = before


def _install(
    session: Session, function: Any, undo: list[Undo], symbolic_data: bool, kept: list[Any]
) -> list[tuple[str, Any]]:
    """Put the stand-ins in their places; what could not be replaced is returned, with a name."""
    _replace_methods(undo)
    stand_in = dict(_replace_names(session))
    arrays = symbolic_arrays.replacements()
    # Modules are looked through once, for all names that any analysis replaces.
    places = module_sites({**arrays, **stand_in})
    _replace(undo, [site for site in places if id(site.value) in stand_in], stand_in)
    watched = partial(_watch_compiled, session)
    session.trap_libraries = lambda: undo.extend(replace_library_calls(watched))
    session.trap_libraries()
    calls: list[ProgramModules]
    calls = [FloatCalls(), *map(FloatCalls, kept), KindQuestions()]
    files = ProgramFiles()
    sites = _find_sites(session, function, files, calls, {*stand_in, *arrays})
    making = [site for site in (*places, *sites) if id(site.value) in arrays]
    asking = [site for site in sites if id(site.value) in BY_ID]
    _replace(undo, [site for site in asking if is_alias(site)], BY_ID)
    sites = [site for site in sites if id(site.value) not in arrays and site not in asking]
    session.follow_arrays = partial(_follow_arrays, session, undo, making, arrays)
    if symbolic_data or session.follows_arrays:
        session.follow_arrays()
    determined = _find_determined(session, files, sites)
    default = default_generator_of(function)
    seed = None if default is None else files.seed_of(default)
    session.default_seed = "" if seed is None else f"{seed.value!r} ({seed})"

    def stand_in_of(value: Any) -> Any:
        is_named = id(value) in stand_in
        return stand_in[id(value)] if is_named else _find_held(session, value, determined)

    left = [
        (site.name, site.value)
        for site in sites
        if not _replace_held(session, undo, site, files, stand_in_of)
    ]
    _check_compiled(session, function)
    _replace_calls(session, undo, calls)
    session.asks_types = symbolic_data and calls[-1].is_named_elsewhere("type")
    return left


def _replace_methods(undo: list[Undo]) -> None:
    """Methods of classes: those that draw, those that ask the machine, those that meet data."""
    _set_methods(undo, random_modules.replace_methods())
    _replace_asking_methods(undo)
    _set_methods(undo, (*symbolic_arrays.methods_meeting_data(), *inverse_cdf_methods()))


def _set_methods(undo: list[Undo], methods: Iterable[tuple[Any, str, Any]]) -> None:
    for owner, name, method in methods:
        undo.append(_method_back(owner, name))
        setattr(owner, name, method)


def _find_sites(
    session: Session,
    function: Any,
    files: ProgramFiles,
    calls: list[ProgramModules],
    replaced: set[int],
) -> list[Site]:
    """Where the function holds what is replaced or refused. All that it reaches is noted.

    ``replaced`` are ids of what has a stand-in by name.
    """
    session.reached.clear()
    caches: list[Any] = []

    def wanted(value: Any) -> bool:
        kind: Any = type(value)
        session.reached.append(value)
        for call in calls:
            call.note(value)
        if id(value) in BY_ID:
            return True
        if kind is _CACHE and not is_others(value.__module__):
            caches.append(value)
        if is_plain_kind(kind) and is_known_kind(kind):
            return id(value) in replaced
        session.surroundings.reach(value)
        files.note(value)
        if issubclass(kind, np.ndarray):
            held = outer_memory_of(value)
            if held is not None:
                notice_held_file(held)
            return False
        if has_fresh_entropy(value) or id(value) in replaced:
            return True
        if is_drawing(value) or is_compiled_drawing(value):
            return True
        if not isinstance(value, io.IOBase):
            return False
        plain = None if is_live_file(value) else find_held_plain_file(value)
        if plain is not None:
            notice_held_file(plain)
        return is_random_device(find_attribute(value, "name")) or is_live_file(value)

    sites = reachable(function, wanted, session.imported)
    # What a cache keeps of random numbers is drawn again; runs that then draw less keep state.
    for cache in caches:
        cache.cache_clear()
    return sites


def _replace_held(
    session: Session,
    undo: list[Undo],
    site: Site,
    files: ProgramFiles,
    stand_in_of: Callable[[Any], Any],
) -> bool:
    """Replace or watch what the program holds at a place; False where it cannot be replaced.

    Raises where the analysis would not see what it draws.
    """
    value = site.value
    if is_compiled_drawing(value):
        raise make_elsewhere_error(
            session.name,
            f"code compiled by Numba ({site.name}; NUMBA_DISABLE_JIT=1 runs it as Python)",
        )
    if isinstance(value, io.IOBase):
        _replace_file(session, undo, site)
        return True
    if has_fresh_entropy(value):
        if not files.names_entropy(value):
            _replace_entropy(session, undo, site)
        return True
    if isinstance(value, np.random.BitGenerator):
        return False
    new = stand_in_of(value)
    return new is value or _is_put(undo, site, new)


def _replace_file(session: Session, undo: list[Undo], site: Site) -> None:
    if is_random_device(find_attribute(site.value, "name")):
        raise make_elsewhere_error(session.name, f"a random device ({site.name})")
    what = f"asks a pipe or a device that it holds ({site.name})"
    if not _is_put(undo, site, LiveFile(site.value, session, what)):
        session.surroundings.watch_file(site.value, what)


def _replace_entropy(session: Session, undo: list[Undo], site: Site) -> None:
    if not _is_put(undo, site, HeldEntropy()):
        raise make_elsewhere_error(session.name, f"a SeedSequence that it holds ({site.name})")


def _is_put(undo: list[Undo], site: Site, new: Any) -> bool:
    """Put something at a place; False where nothing can be put there."""
    if site.put is None:
        return False
    undo.append(partial(site.put, site.value))
    site.put(new)
    return True


def _replace_calls(session: Session, undo: list[Undo], calls: list[ProgramModules]) -> None:
    """``float`` and questions about kinds, where the modules of the program name them."""
    if calls[0].is_cut_off:
        session.surroundings.sees_all = True
    for call in calls:
        undo.append(call.take_back)
        call.choose()
    session.float_calls = calls
    session.real_floats = partial(_real, session)
    if not session.has_real_floats:
        _put_floats(session)


def _install_asking(session: Session, undo: list[Undo]) -> None:
    """Put only those stand-ins in their places that tell of what asks the machine."""
    _replace_asking_methods(undo)
    stand_in = dict(_asking_names(session))
    places = module_sites({**symbolic_arrays.replacements(), **dict(_replace_names(session))})
    _replace(undo, [site for site in places if id(site.value) in stand_in], stand_in)


def _replace_asking_methods(undo: list[Undo]) -> None:
    answers = [(owner, name, refusing(what)) for owner, name, what in starting_methods()]
    for owner, name, answer in (*answers, *asking_methods()):
        undo.append(_method_back(owner, name))
        setattr(owner, name, kept_follower(getattr(owner, name), answer, draws=False))


def _replace(undo: list[Undo], sites: list[Site], stand_in: dict[int, Any]) -> None:
    """Put stand-ins, by the id of the original, where the originals are."""
    undo.append(partial(_put_back, sites))
    for site in sites:
        if site.put is not None:
            site.put(stand_in[id(site.value)])


def _put_back(sites: list[Site]) -> None:
    """The originals at their places; all of them once more, where it was interrupted."""
    for site in sites:
        try:
            if site.put is not None:
                site.put(site.value)
        except AttributeError:  # interrupted before another was put there
            continue


def _follow_arrays(
    session: Session, undo: list[Undo], making: list[Site], arrays: dict[int, Any]
) -> None:
    session.follows_arrays = True
    _replace(undo, making, arrays)


@contextmanager
def _real(session: Session) -> Iterator[None]:
    """With Python's own classes in the code of the function, and NumPy's own arrays."""
    fills, session.fills_symbolic = session.fills_symbolic, False
    session.has_real_floats = True
    try:
        for call in session.float_calls:
            call.take_back()
        yield
    finally:
        session.fills_symbolic = session.tree.keeps_room = fills
        session.has_real_floats = False
        _put_floats(session)


def _put_floats(session: Session) -> None:
    for call in session.float_calls:
        call.put()


def _replace_names(session: Session) -> Iterator[tuple[int, Any]]:
    """Stand-ins for functions and classes that modules offer by name; by id."""
    for original, new in random_modules.python_replacements():
        yield id(original), new
    for original, new in random_modules.numpy_replacements(session):
        yield id(original), new
    yield from symbolic_arrays.taking_lists().items()
    yield from symbolic_arrays.leaving_unfilled().items()
    for name, original in system_sources():
        yield id(original), kept_follower(original, _system_source(name))
    for original in (*MATH, *MATH_OF_TWO, math.isnan, math.isinf, math.isfinite):
        yield id(original), kept_follower(original, _of_math(original), draws=False)
    yield id(math.isclose), kept_follower(math.isclose, _is_close, draws=False)
    yield id(math.fsum), kept_follower(math.fsum, _add_up, draws=False)
    yield from _asking_names(session)
    for original in _ENDS:
        answer = _refuse_process_end(original, os.getpid())
        yield id(original), follower(original, answer, draws=False)


def _asking_names(session: Session) -> Iterator[tuple[int, Any]]:
    """Those of them that ask the machine, or start what cannot be followed."""
    for name, original in vars(time).items():
        if name in TIMES:
            yield id(original), kept_follower(original, _clock(original), draws=False)
    for original, answer in asking_functions():
        yield id(original), kept_follower(original, answer, draws=False)
    if sys.stdin is not None:
        yield id(sys.stdin), LiveFile(sys.stdin, session, "asks for input")
    for arguments in arguments_of_process():
        yield id(arguments), LiveArguments(arguments)
    for original, what in starting_functions():
        yield id(original), kept_follower(original, refusing(what), draws=False)


def _find_determined(session: Session, files: ProgramFiles, sites: list[Site]) -> dict[int, Any]:
    """Stand-ins of generators that were made with a constant seed; by id."""
    stand_ins: dict[int, Any] = {}
    fresh: dict[int, tuple[str, Any]] = {}
    for site in sites:
        value = site.value.__self__ if isinstance(site.value, _METHODS) else site.value
        if not isinstance(value, GENERATORS) or isinstance(value, (random.SystemRandom, type)):
            continue
        if id(value) in stand_ins or value is random._inst or value is _GLOBAL:
            continue
        # Kept by an iterator since an earlier run, or by the analysis itself.
        if issubclass(type(value), (ChoiceGenerator, ChoiceRandomState)):
            continue
        seed = files.seed_of(value)
        if seed is None:
            session.taken_as_fresh.add(site.name)
            fresh[id(value)] = site.name, value
        else:
            stand_ins[id(value)] = _determine(session, value, seed)
    for value, name in ((random._inst, "the module random"), (_GLOBAL, "numpy.random")):
        seed = files.seed_at_import(value)
        if seed is not None:
            _determine(session, value, seed)
        elif fresh:
            fresh[id(value)] = name, value
    _check_apart(session, fresh)
    return stand_ins


def _check_apart(session: Session, fresh: dict[int, tuple[str, Any]]) -> None:
    """Refuse generators of which one is a copy of another: they draw the same numbers."""
    copies = find_copies([value for _, value in fresh.values()])
    if copies is not None:
        first, second = (fresh[id(copy)][0] for copy in copies)
        raise UnsupportedRandomnessError(
            f"{session.name}: {second} draws the numbers of {first}, as a copy of a generator "
            f"does; make each by numpy.random.default_rng() of its own, or by rng.spawn(2)"
        )


def _determine(session: Session, value: Any, seed: Literal) -> Any:
    """Follow a generator from its constant seed on; what stands for it, once for each."""
    earlier = session.stand_ins.get(id(value))
    if earlier is not None:
        return earlier[1]
    stand_in: Any = value
    renew: Callable[[], None]
    state: Callable[[], Any]
    if isinstance(value, random.Random):
        renew = partial(random_modules.seed_anew, session, value, seed.value)
        state = partial(random_modules.where, session, value)
    elif isinstance(value, np.random.RandomState):
        stand_in = session.state_for(value)
        renew, state = partial(stand_in.seed_anew, seed.value), stand_in.where
    else:
        stand_in = fresh_generator(value, seed.value)
        first = stand_in.bit_generator.state
        renew = partial(setattr, stand_in.bit_generator, "state", first)
        state = lambda: stand_in.bit_generator.state  # noqa: E731
    session.stand_ins[id(value)] = value, stand_in
    session.determine(Determined(f"{seed.value!r} ({seed})", renew, state))
    return stand_in


def _find_held(session: Session, value: Any, determined: dict[int, Any]) -> Any:
    """The stand-in for a generator, or a method of one, that exists before the analysis."""
    if id(value) in determined:
        return determined[id(value)]
    if isinstance(value, (ChoiceGenerator, ChoiceRandomState)):
        return value
    if isinstance(value, np.random.Generator):
        return session.rng
    if isinstance(value, np.random.RandomState):
        return session.state_for(value)
    if isinstance(value, random.Random):
        return value  # its class is replaced
    owner = value.__self__
    if isinstance(owner, random.Random):
        return random_modules.bound_method(value) or value
    return getattr(_find_held(session, owner, determined), value.__name__)


@lru_cache
def _system_source(name: str) -> Callable[..., Any]:
    def answer(session: Session, *arguments: Any, **options: Any) -> Any:
        session.drew_from(f"the operating system ({name})")

    return answer


@lru_cache
def _of_math(original: Any) -> Callable[..., Any]:
    def answer(session: Session, *arguments: Any) -> Any:
        if arguments and issubclass(type(arguments[0]), EntryOfRecord):
            return arguments[0].apply_math(original, *arguments[1:])
        return of_math(original, *arguments)

    return answer


def _is_close(session: Session, *arguments: Any, **options: Any) -> Any:
    close = None
    if len(arguments) == 2 and any(map(is_symbolic, arguments)):
        close = is_close_number(*arguments, **options)
    return call_original(_ISCLOSE, *arguments, **options) if close is None else close


def _add_up(session: Session, values: Any, /) -> Any:
    """``math.fsum`` of weights of choices, which are added up one by one."""
    listed = list(values) if type(values) in (GeneratorType, SymbolicArray) else values
    are_weights = type(listed) in (list, tuple) and all(
        type(one) in (Weight, SumOfWeights) for one in listed
    )
    if are_weights and listed:
        return sum(listed, 0.0)
    return call_original(_FSUM, listed)


@lru_cache
def _clock(original: Callable[..., Any]) -> Callable[..., Any]:
    name = original.__name__
    kind = int if name.endswith("_ns") else float

    def answer(session: Session, *arguments: Any) -> Any:
        reader = find_reader(sys._getframe(1))
        # With a time as its argument it reads no clock.
        given = len(arguments) > (name == "strftime") and not name.startswith("clock_")
        if reader is not None and given and name in ZONED_TIMES:
            line = line_in_words(reader.f_code.co_filename, reader.f_lineno)
            session.tree.fail(depends(session.name, f"{ZONED}: time.{name} ({line})", ZONE_ADVICE))
        if reader is None or given:
            return call_original(original, *arguments)
        line = line_in_words(reader.f_code.co_filename, reader.f_lineno)
        imported = find_import_now(reader)
        if imported:
            words = f"imports {imported}, which reads the clock: time.{name} ({line})"
            session.tree.fail(depends(session.name, words, "import it at the top of the file"))
        seconds = session.clock(f"time.{name}", kind, line)
        if name in ("ctime", "gmtime", "localtime", "strftime", "asctime"):
            session.look_at_clock()
        return seconds

    return answer


def _check_compiled(session: Session, function: Any) -> None:
    """Refuse compiled code that is called without a line of Python before: no hook tells of it."""
    try:
        while isinstance(function, partial):
            for argument in function.args:
                session.surroundings.compiled.check(argument, None)
            function = function.func
        session.surroundings.compiled.check(function, None)
    except Abort as abort:
        raise abort.error from None


def _watch_compiled(session: Session) -> CompiledCode | None:
    return session.surroundings.compiled if active() is session else None


def _refuse_process_end(original: Callable[..., Any], own: int) -> Callable[..., Any]:
    def answer(session: Session, *arguments: Any, **options: Any) -> Any:
        if os.getpid() == own:
            session.tree.fail(
                MechanismError(
                    f"{session.name}: it called os.{original.__name__}, which ends the process; "
                    f"a mechanism must return an output or raise an Exception"
                )
            )
        # A process that the program forked is its own affair.
        return original(*arguments, **options)

    return answer


def _method_back(owner: type, name: str) -> Undo:
    if name in vars(owner):
        return partial(setattr, owner, name, vars(owner)[name])
    return partial(delattr, owner, name)


def _take_back(undo: list[Undo]) -> None:
    """Take all changes back, the last one first, whatever interrupts it."""
    interruption: BaseException | None = None
    while undo:
        try:
            undo[-1]()
        except AttributeError:
            undo.pop()  # a method that was interrupted before it was put there
        except BaseException as caught:
            interruption = caught
        else:
            undo.pop()
    if interruption is not None:
        raise interruption


# A child process starts with nothing replaced.
if sys.platform != "win32":
    os.register_at_fork(
        before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release
    )

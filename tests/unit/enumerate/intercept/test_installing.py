"""Randomness of a whole process is followed while a law is enumerated, and given back after."""

from __future__ import annotations

import abc
import contextvars
import functools
import gc
import itertools
import math
import os
import random
import sys
import threading
import time
import types
import uuid
import weakref
from collections import deque
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.intercept import replaceable_names as sites
from liptest.enumerate.intercept.analysis_session import active, class_for
from liptest.enumerate.intercept.interception import intercept_randomness as stand_ins
from liptest.errors import LiptestError, NonDeterministicError, UnsupportedRandomnessError
from liptest.mechanisms.laws import Raised
from tests.unit.enumerate import global_names
from tests.unit.enumerate.global_names import COINS, all_states

HALF = Fraction(1, 2)
DATA = np.array([0, 1])


def law(function: Callable[..., Any]) -> Any:
    return lt.output_law(lt.mechanism(function), DATA)


@pytest.mark.parametrize("name", COINS)
def test_a_coin_is_followed_wherever_it_comes_from(name: str) -> None:
    before = all_states()
    found = law(COINS[name])
    assert dict(zip(found.outputs, found.fractions, strict=True)) == {0: HALF, 1: HALF}
    assert all_states() == before


def test_real_draws_work_again_afterwards() -> None:
    law(COINS["a global Generator"])
    law(COINS["random.random"])
    assert 0.0 <= float(random.random()) < 1.0
    assert type(global_names.GENERATOR.random()) is float
    assert type(np.random.RandomState(3).rand()) is float
    assert np.random.RandomState(3).rand() == np.random.RandomState(3).rand()


class Abstract(metaclass=abc.ABCMeta):  # noqa: B024
    """As ``pandas.Categorical`` is in pandas 2.2."""


def test_a_class_with_a_metaclass_of_its_own_is_replaced_too() -> None:
    stand_in: Any = class_for(Abstract, lambda session: 5)
    assert type(stand_in()) is Abstract
    with stand_ins("coin", law):
        assert stand_in() == 5
    # An abstract class asks its subclasses, and the stand-in is one of them.
    assert isinstance(Abstract(), stand_in)
    assert not isinstance(3, Abstract)
    assert issubclass(Abstract, stand_in)
    assert not issubclass(int, stand_in)


REGISTRY = types.SimpleNamespace(
    queue=deque([np.random.default_rng()]),
    table={"all": [np.random.default_rng()]},
    cycle=itertools.cycle([np.random.default_rng()]),
    bits=np.random.PCG64(),
    array=np.array([np.random.default_rng(), None], dtype=object),
    variable=contextvars.ContextVar("variable", default=np.random.default_rng()),  # noqa: B039
)
REGISTERED = np.random.default_rng()


class Settings(dict[str, Any]):
    rng: Any


SETTINGS = Settings()
SETTINGS.rng = np.random.default_rng()

FOUND: list[Callable[[Any], bool]] = [
    lambda data: REGISTRY.queue[0].random() < 0.5,
    lambda data: REGISTRY.table["all"][0].random() < 0.5,
    lambda data: SETTINGS.rng.random() < 0.5,
    lambda data: globals()["REGISTER" + "ED"].random() < 0.5,
    lambda data: getattr(global_names, "GENER" + "ATOR").random() < 0.5,
]


def test_a_cycle_goes_on_with_each_call() -> None:
    with pytest.raises(NonDeterministicError, match="its first call changes cycle"):
        law(lambda data: next(REGISTRY.cycle).random() < 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(FOUND)))
def test_generators_are_found_in_containers_and_under_made_up_names(place: int) -> None:
    found = law(FOUND[place])
    assert dict(zip(found.outputs, found.fractions, strict=True)) == {False: HALF, True: HALF}


@pytest.mark.parametrize(
    "draw",
    [
        lambda data: np.random.Generator(REGISTRY.bits).random() < 2,
        lambda data: REGISTRY.array[0].random() < 2,
        lambda data: REGISTRY.variable.get().random() < 2,
    ],
)
def test_what_cannot_be_put_elsewhere_is_watched(draw: Callable[[Any], bool]) -> None:
    # From Python 3.14 on nobody sees where the cycle beside it is.
    words = "changes cycle" if sys.version_info >= (3, 14) else "a generator that it holds"
    with pytest.raises(NonDeterministicError, match=words):
        law(draw)


class Drawing(np.random.Generator):
    """Weak references to it can be made."""


class Kind(type):
    rng = np.random.default_rng()


class OfKind(metaclass=Kind):
    pass


HELD = Drawing(np.random.PCG64())
LOCAL = contextvars.ContextVar[Any]("LOCAL")
GETTER = {"rng": np.random.default_rng()}.get
CALLED = np.frompyfunc(lambda limit: HELD.random() < limit, 1, 1)
KEY = {np.random.default_rng(): "key"}
WEAK = weakref.WeakValueDictionary({"rng": HELD})
PROXY, REFERENCE = weakref.proxy(HELD), weakref.ref(HELD)


def annotated(data: Any) -> bool:
    return bool(annotated.__annotations__["rng"].random() < RARE)


annotated.__annotations__["rng"] = np.random.default_rng()
RARE = 2.0**-20
HIDDEN: list[Callable[[Any], bool]] = [
    lambda data: LOCAL.get().random() < RARE,
    lambda data: OfKind.rng.random() < RARE,
    lambda data: GETTER("rng").random() < RARE,
    lambda data: CALLED(RARE),
    lambda data: PROXY.random() < RARE,
    annotated,
]


def one_of_many() -> Callable[[Any], bool]:
    """Not at the top, where all code that reaches every module would find a thousand of them."""
    many = [np.random.default_rng() for _ in range(1_100)]
    return lambda data: many[1_050].random() < RARE


WATCHED: list[Callable[[Any], bool]] = [
    lambda data: WEAK["rng"].random() < RARE,
    lambda data: REFERENCE().random() < RARE,
    lambda data: next(iter(KEY)).random() < RARE,
]


@pytest.mark.slow
def test_a_rare_draw_is_followed_wherever_its_generator_is_hidden() -> None:
    """Two runs that agree would not show it: each was taken for an answer that is always 0."""
    token = LOCAL.set(np.random.default_rng())
    for draw in (*HIDDEN, one_of_many()):
        assert dict(law(draw)) == {False: 1 - RARE, True: RARE}
    assert type(LOCAL.get().random()) is float
    LOCAL.reset(token)
    for draw in WATCHED:
        with pytest.raises(NonDeterministicError, match="a generator that it holds"):
            law(draw)


@pytest.mark.slow
def test_generators_among_very_many_objects_must_stand_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sites, "MOST", 2)
    with pytest.raises(NonDeterministicError, match="one of very many objects"):
        law(one_of_many())


@pytest.mark.slow
def test_parameters_are_checked_by_a_generator_that_is_none_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sites, "MOST", 2)
    held = [[number] for number in range(10)]
    calls = [
        lambda data, rng: (rng.poisson(0.1), len(held)),
        lambda data, rng: (rng.binomial(1, 0.5), len(held)),
        lambda data, rng: (rng.integers(2), len(held)),
        lambda data, rng: (rng.laplace() > 0, len(held)),
    ]
    for draw in calls:
        assert len(dict(law(draw))) > 1


def test_objects_held_apart_are_independent() -> None:
    found = law(
        lambda data: (int(global_names.GENERATOR.integers(2)), global_names.STATE.randint(2))
    )
    assert len(found) == 4


class Interruption(BaseException):
    pass


@pytest.mark.parametrize("ending", [KeyboardInterrupt, Interruption, SystemExit, ValueError])
def test_nothing_stays_patched_however_it_ends(ending: type[BaseException]) -> None:
    before = all_states()

    def function(data: Any) -> int:
        coin = random.randrange(2) + int(global_names.GENERATOR.integers(2))
        if coin == 1:
            raise ending
        return coin

    if ending is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            law(function)
    elif ending is ValueError:
        assert law(function).exact(Raised("ValueError")) == HALF
    else:
        with pytest.raises(LiptestError):
            law(function)
    assert active() is None
    assert all_states() == before


def test_an_interruption_of_installing_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    before = all_states()

    def interrupted(function: Any, wanted: Any, modules: Any = ()) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("liptest.enumerate.intercept.interception.reachable", interrupted)
    with pytest.raises(KeyboardInterrupt):
        law(COINS["random.random"])
    monkeypatch.undo()
    assert all_states() == before
    assert len(law(COINS["random.random"])) == 2


def test_an_abort_is_taken_back() -> None:
    before = all_states()
    with pytest.raises(UnsupportedRandomnessError, match=r"random\.lognormvariate"):
        law(lambda data: random.lognormvariate(0, 1))
    assert all_states() == before


@pytest.mark.slow
def test_an_import_inside_keeps_no_stand_in() -> None:
    space: dict[str, Any] = {}

    def function(data: Any) -> int:
        exec("from random import randrange, random", space)
        return int(space["random"]() < 0.5)

    assert len(law(function)) == 2
    assert space == {}  # as before the first call
    assert function(DATA) in (0, 1)
    assert 0.0 <= float(space["random"]()) < 1.0


def seeds(data: Any) -> Any:
    random.seed(4)
    np.random.seed(3)
    state, python = np.random.RandomState(4), random.Random("a")
    generator = np.random.default_rng(5)
    return (
        random.random(),
        random.gauss(0, 1),
        np.random.rand(),
        state.normal(),
        python.random(),
        python.getrandbits(40),
        generator.random(),
        np.random.default_rng(np.random.SeedSequence(2)).random(),
        np.random.Generator(np.random.MT19937(5)).random(),
    )


def test_a_seed_given_inside_is_followed_as_the_determinism_that_it_is() -> None:
    kept = random.getstate(), np.random.get_state()
    try:
        expected = seeds(DATA)
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])
    before = all_states()
    assert list(law(seeds)) == [expected]
    assert all_states() == before


def test_a_clock_that_the_garbage_collector_reads_is_no_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[float] = []
    monkeypatch.setattr(gc, "callbacks", [lambda phase, info: read.append(time.perf_counter())])

    def function(data: Any) -> int:
        for callback in gc.callbacks:
            callback("start", {})
        return int(np.random.default_rng(3).integers(10))

    assert list(law(function)) == [int(np.random.default_rng(3).integers(10))]
    assert read


def test_a_seed_lasts_until_the_run_ends() -> None:
    def function(data: Any) -> Any:
        first = random.randrange(2)
        if first:
            random.seed(1)
        return first, random.randrange(1000) if first else random.randrange(2)

    assert len(law(function)) == 3


def test_a_seed_of_none_is_fresh_again() -> None:
    def function(data: Any) -> Any:
        random.seed(1)
        np.random.seed(1)
        random.seed()
        np.random.seed(None)
        return random.randrange(2), np.random.randint(2)

    assert len(law(function)) == 4


def test_seeding_what_is_held_does_not_move_it() -> None:
    state = np.random.RandomState(0)
    python = random.Random(0)
    expected = np.random.RandomState(0).rand(), random.Random(0).random()

    def function(data: Any) -> Any:
        state.seed(7)
        python.seed(7)
        return state.rand(), python.random()

    assert list(law(function)) == [(np.random.RandomState(7).rand(), random.Random(7).random())]
    assert (state.rand(), python.random()) == expected


UNFOLLOWED: list[tuple[Callable[..., Any], str]] = [
    (lambda data: len(os.urandom(2)), r"the operating system \(os\.urandom\)"),
    (lambda data: uuid.uuid4().version, "the operating system"),
    (lambda data: np.random.SeedSequence().pool[0] and 0, "SeedSequence"),
    (lambda data: np.random.seed(int(time.time())), "reading the clock"),
    (lambda data: random.seed(time.time_ns()), "reading the clock"),
    (lambda data: np.random.Generator.random(global_names.GENERATOR) < 2, "past its public"),
    (lambda data: np.random.RandomState.random_sample(global_names.STATE) < 2, "past its public"),
]


@pytest.mark.parametrize(("function", "where"), UNFOLLOWED)
def test_what_cannot_be_followed_is_named(function: Any, where: str) -> None:
    before = all_states()
    with pytest.raises(NonDeterministicError, match=f"{where}.*cannot be followed"):
        law(function)
    assert all_states() == before


@pytest.mark.parametrize(
    "function",
    [
        lambda data: random.getstate(),
        lambda data: np.random.get_state(),
        lambda data: np.random.normal(),
        lambda data: np.random.PCG64().random_raw(),
        lambda data: np.random.PCG64().state,
        lambda data: random.normalvariate(0, 1),
        lambda data: random.betavariate(1, 2),
        lambda data: np.random.get_bit_generator(),
        lambda data: lt.output_law(lt.mechanism(lambda data: 0), DATA),
    ],
)
def test_what_has_no_finite_law_aborts(function: Any) -> None:
    with pytest.raises(UnsupportedRandomnessError, match=r"cannot be enumerated|no single value"):
        law(function)


def test_a_generator_that_nobody_can_replace_must_stand_still() -> None:
    held = (np.random.default_rng(0),)
    with pytest.raises(NonDeterministicError, match="a generator that it holds"):
        law(lambda data: held[0].random() < 2)
    assert len(law(lambda data: held is None)) == 1


def test_two_threads_analyse_one_after_the_other() -> None:
    found: list[Any] = []
    function = lambda data: (random.randrange(3), np.random.randint(2))  # noqa: E731
    threads = [threading.Thread(target=lambda: found.append(law(function))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(one) for one in found] == [6] * 4


def test_isinstance_and_the_like_are_as_ever() -> None:
    def function(data: Any) -> Any:
        state = np.random.RandomState()
        generator = np.random.default_rng()
        return (
            isinstance(state, np.random.RandomState),
            isinstance(generator, np.random.Generator),
            isinstance(global_names.STATE, np.random.RandomState),
            issubclass(np.random.RandomState, object),
            np.random.default_rng(generator) is generator,
            np.random.mtrand._rand is np.random.mtrand._rand,
            random.random.__name__,
            isinstance(np.random.PCG64(), np.random.BitGenerator),
        )

    assert list(law(function)) == [(True,) * 6 + ("random", True)]


def test_an_analysis_inside_of_one_is_refused_and_leaves_the_outer_one_alone() -> None:
    with stand_ins("outer", functools.partial(int, 0)) as outer:
        with (
            pytest.raises(BaseException, match="an analysis of another mechanism"),
            stand_ins("inner", int),
        ):
            pass
        assert active() is outer
    assert active() is None


def test_modules_that_are_gone_are_not_kept() -> None:
    gone = types.ModuleType("gone")
    vars(gone)["random"] = random.random
    sys.modules["gone"] = gone
    law(COINS["random.random"])
    assert id(vars(gone)) in sites._looked.found
    del sys.modules["gone"]
    assert len(law(COINS["from random import random"])) == 2
    assert id(vars(gone)) not in sites._looked.found
    assert all(module is not gone for module in sites._looked.modules)


class Refuses:
    """As objects of some libraries that are not ready yet."""

    __slots__ = ("rng",)

    def __init__(self) -> None:
        self.rng = np.random.default_rng()

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name} of me")


REFUSES = Refuses()


def test_objects_that_refuse_to_be_looked_at_are_looked_at() -> None:
    found = law(lambda data: REFUSES.rng.random() < 0.5)
    assert dict(zip(found.outputs, found.fractions, strict=True)) == {False: HALF, True: HALF}


@functools.lru_cache
def kept_coin() -> bool:
    return bool(np.random.rand() < RARE)


@functools.lru_cache
def kept_weight(place: int) -> int:
    return 2 * place + 1


def test_random_numbers_in_a_cache_are_state() -> None:
    """It got a certain NO: a first run had filled the cache, so that later ones drew nothing."""
    held = lt.mechanism(lambda data: bool(data[0]) ^ kept_coin())
    law = lt.ProductDistribution.uniform(lt.Hypercube(1))
    for _ in range(2):
        with pytest.raises(NonDeterministicError, match="fewer draws"):
            lt.check_privacy(held, law, epsilon=10.0)


def test_a_cache_of_plain_numbers_is_no_state() -> None:
    weighted = lt.mechanism(
        lambda data, rng: int(data[0]) * kept_weight(0) + int(rng.integers(2)) * kept_weight(1)
    )
    assert lt.exact_epsilon(weighted, lt.Hypercube(1)).value == math.inf
    assert dict(lt.output_law(weighted, np.array([1]))) == {1: 0.5, 4: 0.5}

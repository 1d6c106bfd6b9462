"""What code asks of its process, or of the kind of generator it has, is refused with the line."""

from __future__ import annotations

import decimal
import functools
import inspect
import sys
import warnings
from sys import modules
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.enumerate.watch.process_questions import may_ask
from liptest.errors import NonDeterministicError

DATA = np.array([1, 0])


def law(function: Any) -> dict[Any, float]:
    return dict(lt.mechanism(function).law(DATA))


@functools.cache
def kept(value: int) -> int:
    return value


def by_cache(data: Any) -> bool:
    kept(int(data[0]))
    return kept.cache_info().hits > 10**9


def by_prec(data: Any) -> int:
    with decimal.localcontext() as context:
        context.prec += 2
        return len(str(decimal.Decimal(1) / 3))


def imports_modules(data: Any) -> bool:
    import sys as system

    return "liptest" in system.modules


def imports_its_name(data: Any) -> bool:
    from sys import modules as loaded

    return "liptest" in loaded


def imports_filters(data: Any) -> int:
    import warnings

    return len(warnings.filters)


ASKED: list[tuple[Any, str]] = [
    (imports_modules, r"sys\.modules"),
    (imports_its_name, r"sys\.modules"),
    (imports_filters, r"warnings\.filters"),
    (lambda data: "liptest" in sys.modules, r"sys\.modules"),
    (lambda data: "liptest" in modules, r"sys\.modules"),
    (lambda data: len(sys.path), r"sys\.path"),
    (lambda data: len(warnings.filters), r"warnings\.filters"),
    (lambda data: len(warnings.onceregistry), r"warnings\.onceregistry"),  # type: ignore[attr-defined]
    (lambda data: np.geterr()["divide"], r"numpy\.geterr"),
    (lambda data: np.geterrcall() is None, r"numpy\.geterrcall"),
    (lambda data: np.getbufsize(), r"numpy\.getbufsize"),
    (lambda data: np.get_printoptions()["precision"], r"numpy\.get_printoptions"),
    (lambda data: decimal.getcontext().prec, "the decimal context: prec"),
    (lambda data: decimal.getcontext().flags[decimal.Inexact], "the decimal context: flags"),
    (by_prec, "the decimal context: prec"),
    (by_cache, "a cache has counted"),
    (lambda data: sys.getrecursionlimit(), r"sys\.getrecursionlimit"),
    (lambda data: sys.gettrace() is None, r"sys\.gettrace"),
    (lambda data: sys.getsizeof(data), r"sys\.getsizeof"),
]


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(ASKED)))
def test_a_question_to_the_process_is_refused(place: int) -> None:
    """Each had a law: a program could wait there for a sign, or count its calls."""
    function, words = ASKED[place]
    with pytest.raises(NonDeterministicError, match=rf"{words} \(test_process_questions\.py:\d+"):
        law(function)


class WithoutHash(type):
    def __eq__(cls, other: object) -> bool:
        return cls is other


@pytest.mark.slow
def test_what_other_modules_hold_is_not_accused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code that asks for modules may reach what they hold, whatever its class is."""
    module = ModuleType("holds_such_a_class")
    vars(module)["held"] = WithoutHash("Held", (), {})()
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with pytest.raises(NonDeterministicError, match=r"sys\.modules"):
        law(lambda data: "liptest" in sys.modules)


KINDS: list[Any] = [
    lambda data, rng: type(rng) is np.random.Generator,
    lambda data, rng: type(rng).__module__,
    lambda data, rng: rng.__class__.__name__,
    lambda data, rng: len(rng.__dict__),
    lambda data, rng: len(vars(rng)),
    lambda data, rng: len(dir(rng)),
    lambda data, rng: hasattr(rng, "_tree"),
    lambda data, rng: getattr(rng, "_tree", None) is None,
    lambda data, rng: rng._tree is None,
    lambda data, rng: type(rng.random).__name__,
    lambda data, rng: getattr(rng.random, "__module__", None),
    lambda data, rng: inspect.isbuiltin(rng.random),
]


@pytest.mark.parametrize("place", range(len(KINDS)))
def test_what_kind_of_object_a_generator_is_may_not_be_asked(place: int) -> None:
    """Each told the analysis from a run outside of it."""
    with pytest.raises(NonDeterministicError, match=r"(kind of object rng is|inspect\.isbuiltin)"):
        law(KINDS[place])


def test_made_up_questions_meet_what_names_itself_as_numpys() -> None:
    """Not found in the byte code; the stand-ins say what NumPy's own say."""

    def asks(data: Any, rng: Any) -> Any:
        kinds = [*map(type, (rng, np.random.mtrand._rand))]
        return [(kind.__module__, kind.__qualname__) for kind in kinds]

    outside = asks(DATA, np.random.default_rng(1))
    assert law(asks) == {tuple(outside): 1.0}


def ordinary(data: Any, rng: Any) -> Any:
    """What programs do ask of their generators, contexts and settings."""
    if not isinstance(rng, np.random.Generator) or rng is None or not hasattr(rng, "integers"):
        raise TypeError(type(data).__name__)
    for name in ("integers",):
        draw = getattr(rng, name)
    if type(rng.integers(1)) is list or type(rng.bytes(0)) is list:
        raise TypeError
    if not hasattr(rng.choice(["a", "b"]), "upper") and hasattr(rng.integers(1), "upper"):
        raise TypeError
    with np.errstate(divide="ignore"), np.printoptions(precision=3):
        text = str(np.array([1 / 3]))
    with decimal.localcontext(decimal.Context(prec=5)) as context:
        context.rounding = decimal.ROUND_DOWN
        third = str(decimal.Decimal(1) / 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return int(draw(2)), text, third, kept(3), sys.version_info[0]


def test_ordinary_questions_are_answered() -> None:
    assert law(ordinary) == {(i, "[0.333]", "0.33333", 3, 3): 0.5 for i in (0, 1)}


def of_an_outer_function() -> Any:
    import sys as system

    return lambda data, rng: len(system.path)


def test_what_an_outer_function_imported_is_seen() -> None:
    with pytest.raises(NonDeterministicError, match=r"looks at sys\.path"):
        law(of_an_outer_function())


def test_the_text_of_a_decimal_context_is_no_answer() -> None:
    with pytest.raises(NonDeterministicError, match="answers the decimal context"):
        law(lambda data, rng: (1, repr(decimal.getcontext())))


class Base:
    def __init__(self, share: float) -> None:
        self.share = share


class Inherits(Base):
    def __init__(self, share: float) -> None:
        super().__init__(share)
        self._half = share / 2


class AsksItsKind(Base):
    def named(self) -> str:
        return self.share.__class__.__name__


def test_a_name_of_python_itself_is_no_question_of_a_generator() -> None:
    """``super().__init__`` is in most classes; code that is watched takes five times as long."""
    assert not may_ask(Inherits.__init__.__code__)
    assert may_ask(AsksItsKind.named.__code__)
    assert may_ask((lambda rng: type(rng)).__code__)
    assert may_ask((lambda rng: hasattr(rng, "_tree")).__code__)
    assert not may_ask((lambda rng: hasattr(rng, "random")).__code__)

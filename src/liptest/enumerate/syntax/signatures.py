"""Whether a function is one of (data, rng) or of (data) alone, by its signature."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import lru_cache, partial
from types import FunctionType
from typing import Any

from liptest.enumerate.watch.unhashable_classes import check_class_has_hash
from liptest.errors import InputError, quote

_CACHE = type(lru_cache(abs))


@dataclass(frozen=True)
class ByName:
    """A functools.partial that takes its generator by name only, as a function (data, rng)."""

    function: partial[Any]
    dataset: str | None
    generator: str

    def __call__(self, data: Any, rng: Any) -> Any:
        if self.dataset is None:
            return self.function(data, **{self.generator: rng})
        return self.function(**{self.dataset: data, self.generator: rng})


def find_name(function: Any) -> str:
    """Its own name; of a functools.partial that of the function in it."""
    if type(function) is ByName:
        function = function.function
    while type(function) is partial:
        function = function.func
    return getattr(function, "__name__", type(function).__name__)


def as_called(function: Any) -> Any:
    """The function, or a functools.partial as it is called with data and a generator.

    What stands behind a name that is bound can be passed by its own name only. That is done where
    the dataset, or nothing, comes first, and one generator and nothing else is left to be passed.
    """
    check_class_has_hash(function)
    if type(function) is not partial or type(function.func) is _CACHE:
        return function
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:
        return function
    needed = [
        parameter
        for parameter in parameters
        if parameter.default is parameter.empty and not _is_variable(parameter)
    ]
    generators = [one.name for one in needed if one.kind is one.KEYWORD_ONLY and _is_generator(one)]
    rest = [one for one in needed if one.name not in generators]
    if len(generators) != 1 or len(rest) != 1:
        return function
    if rest[0].kind is rest[0].KEYWORD_ONLY:
        return ByName(function, rest[0].name, generators[0])
    return ByName(function, None, generators[0]) if parameters[0] is rest[0] else function


def _is_variable(one: inspect.Parameter) -> bool:
    return one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD)


def takes_generator(function: Any) -> bool:
    """Whether the function wants ``(data, rng)``; else it takes ``(data)`` only.

    A second parameter with a default is a generator only where its name, annotation or default
    says so: others, as ``epsilon=1.0``, keep their defaults.

    Raises InputError when it takes neither, or yields instead of returning.
    """
    name = find_name(function)
    _check_returns(function, name)
    try:
        signature = inspect.signature(function)
    except ValueError:
        return True
    _check_data_first(function, name, signature)
    if _binds(signature, None, None):
        return not _has_another_second(signature)
    if _binds(signature, None):
        return False
    raise InputError(
        f"function={name} takes {_bare(signature)}; it must take (data, rng): one dataset, or the "
        f"value of its statistic, and a random generator; or (data) only, if it draws from random "
        f"or numpy.random; bind other parameters with functools.partial, or give them defaults",
        name="function",
    )


def _check_returns(function: Any, name: str) -> None:
    """Raise InputError for what is not a function, or returns no output, or no new one."""
    if not callable(function) or isinstance(function, type):
        raise InputError(
            f"function={quote(function)} must be a function (data, rng) -> output", name="function"
        )
    if type(function.func if type(function) is partial else function) is _CACHE:
        raise InputError(
            f"function={name} is kept by functools.lru_cache or cache: the second time it gives "
            f"the answer of the first, without new noise; test the function without it, "
            f"{name}.__wrapped__",
            name="function",
        )
    if inspect.isgeneratorfunction(function):
        raise InputError(f"function={name} must return its output, not yield it", name="function")
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise InputError(
            f"function={name} must return its output, and async def returns a coroutine; write def",
            name="function",
        )


def _check_data_first(function: Any, name: str, signature: inspect.Signature) -> None:
    """Raise InputError where another parameter than the dataset comes first."""
    wanted = _generator_elsewhere(signature)
    if wanted:
        raise InputError(
            f"function={name} takes {_bare(signature)}: the dataset comes first and the generator "
            f"second, and here {wanted}; write (data, rng) and give the rest defaults after them, "
            f"or give a function (data, rng) that calls it: "
            f"{_calling(function, signature)}; functools.partial binds the parameters "
            f"after the generator",
            name="function",
        )
    if next(iter(signature.parameters), "") == "self":
        raise InputError(
            f"function={name} takes {_bare(signature)}: it is a method of a class; make an object, "
            f"it = TheClass(..), and give its method it.{name}",
            name="function",
        )


def default_generator_of(function: Any) -> Any:
    """What stands for the generator where (data, rng) is called with data alone, or None."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    if len(parameters) < 2 or parameters[1].default is inspect.Parameter.empty:
        return None
    return parameters[1].default if _is_generator(parameters[1]) else None


def check_called_alone(function: Any) -> None:
    """Raise InputError where a function is called with data alone, and needs a generator."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        return
    if not _binds(signature, None):
        name = find_name(function)
        raise InputError(
            f"rng: {name} needs a generator; call it as {name}(data, numpy.random.default_rng())",
            name="rng",
        )


def _has_another_second(signature: inspect.Signature) -> bool:
    """Whether the second parameter has a default and is not a generator."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    places = [
        parameter for parameter in signature.parameters.values() if parameter.kind in positional
    ]
    if len(places) < 2 or places[1].default is inspect.Parameter.empty:
        return False
    return not _is_generator(places[1])


def _is_generator(one: inspect.Parameter) -> bool:
    """Whether its name, annotation or default says so."""
    says = f"{one.name} {one.annotation} {type(one.default).__name__}".lower()
    return any(word in says for word in ("rng", "generator"))


def _generator_elsewhere(signature: inspect.Signature) -> str:
    """Where a parameter is that is called as a generator is, when the second is none; else ""."""
    places = list(signature.parameters.values())
    if len(places) < 2 or places[0].name == "self":
        return ""
    by_name = [
        parameter
        for parameter in places[1:]
        if parameter.kind is parameter.KEYWORD_ONLY
        and parameter.default is parameter.empty
        and _is_generator(parameter)
    ]
    second = places[1]
    if by_name and not (second.kind is not second.KEYWORD_ONLY and _is_generator(second)):
        return f"{by_name[0].name} is passed by its name alone"
    if _is_generator(second):
        return ""
    if "rng" in places[0].name.lower():
        return f"{places[0].name} is first"
    if second.default is not inspect.Parameter.empty or second.kind is second.VAR_POSITIONAL:
        return ""
    later = [parameter.name for parameter in places[2:] if "rng" in parameter.name.lower()]
    return f"{later[0]} comes later" if later else ""


def _calling(function: Any, signature: inspect.Signature) -> str:
    """A lambda that hands the data and the generator to where they belong.

    Of a functools.partial the function in it is called, with what is bound.
    """
    inner, handed, bound = function, [], {}
    if type(function) is partial:
        inner, bound = function.func, function.keywords
        handed = [quote(argument) for argument in function.args]
    name = find_name(inner)
    for place, one in enumerate(signature.parameters.values()):
        if _is_variable(one):
            continue
        if "rng" in one.name.lower() or _is_generator(one):
            value = "rng"
        elif one.name in bound:
            value = quote(bound[one.name])
        elif one.default is not one.empty:
            continue
        else:
            value = "data" if not place or one.name == "data" else ".."
        handed.append(value if one.kind is one.POSITIONAL_ONLY else f"{one.name}={value}")
    known = name if name.isidentifier() else "it"
    return f"lambda data, rng: {known}({', '.join(handed)})"


def _bare(signature: inspect.Signature) -> str:
    """A signature without annotations."""
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
    ]
    return str(signature.replace(parameters=parameters, return_annotation=signature.empty))


def _binds(signature: inspect.Signature, *arguments: Any) -> bool:
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True


def bound_in_order(
    function: FunctionType, arguments: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, ...] | None:
    """The arguments of a call by their places, defaults filled in; None where it raises.

    None, too, for functions that take some arguments by name or by place only.
    """
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    optional = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    named = dict(zip(names, arguments, strict=False))
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS) or code.co_kwonlyargcount:
        return None
    if len(arguments) > len(names) or named.keys() & options or code.co_posonlyargcount:
        return None
    bound = optional | named | options
    return tuple(bound[name] for name in names) if bound.keys() == set(names) else None

"""The source of a function, read and compiled again."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
from pathlib import Path
from typing import Any

import pytest

from liptest.enumerate.syntax.source import copy_tree, read_source

FACTOR = 3


def plain(x: int, y: int = 2, *, z: int = 5) -> int:
    """A docstring."""
    return x * FACTOR + y - z


def with_cells(start: int) -> Any:
    step = start + 1

    def inner(x: int) -> int:
        nonlocal step
        step += 1
        return x + step + start

    return inner


@functools.lru_cache
def cached(x: int) -> int:
    return x


def wrapped(function: Any) -> Any:
    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return function(*arguments) + 1

    return call


@wrapped
def decorated(x: int) -> int:
    return x


pair = (lambda x: x + 1), (lambda x: x + 2)
alike = (lambda x: x), (lambda x: x)


def same(function: Any) -> Any:
    source = read_source(function)
    assert source is not None
    return source.compiled(source.with_body(source.body), {})


def test_compiled_again_it_does_the_same() -> None:
    again = same(plain)
    assert again(1) == plain(1)
    assert again(1, 7, z=1) == plain(1, 7, z=1)
    assert again.__globals__ is plain.__globals__
    assert again.__qualname__ == plain.__qualname__
    assert again.__code__.co_firstlineno == plain.__code__.co_firstlineno
    lines = [line for *_, line in plain.__code__.co_lines()]
    assert [line for *_, line in again.__code__.co_lines()] == lines


def test_cells_are_shared() -> None:
    one = with_cells(10)
    again = same(one)
    assert [one(0), again(0), one(0)] == [22, 23, 24]


def test_lambdas_of_one_line_are_told_apart() -> None:
    assert [same(one)(10) for one in pair] == [11, 12]
    assert [same(one)(10) for one in alike] == [10, 10]


def test_what_a_decorator_made_is_not_what_it_wraps() -> None:
    source = read_source(decorated)
    assert source is not None
    assert source.node.lineno != decorated.__wrapped__.__code__.co_firstlineno
    assert same(decorated)(1) == 2
    assert read_source(cached) is None


def made(text: str, name: str, *, said: str | None = None) -> Any:
    """A function of a text; ``said`` is what its file says."""
    file = f"<{name} in a test>"
    linecache.cache[file] = len(text), None, (said or text).splitlines(keepends=True), file
    space: dict[str, Any] = {}
    exec(compile(text, file, "exec"), space)
    return space[name]


def test_a_source_that_is_not_the_function_s_is_not_taken() -> None:
    text = "def f(x):\n    return x + 1\n"
    assert read_source(made(text, "f")) is not None
    for other in ("x + 2", "x - 1", "x + 1.0", "y + 1", "x + True"):
        assert read_source(made(text, "f", said=text.replace("x + 1", other))) is None
    assert read_source(made(text, "f", said="def f(x):\n    return (x +\n")) is None
    hidden: Any = eval("lambda x: x")
    assert read_source(hidden) is None
    assert read_source(len) is None
    assert read_source(made) is not None


def factorial(n: int) -> int:
    return 1 if n == 0 else n * factorial(n - 1)


def inner_factorial() -> Any:
    def call(n: int) -> int:
        return 1 if n == 0 else n * call(n - 1)

    return call


@pytest.mark.parametrize("function", [factorial, inner_factorial()])
def test_functions_that_call_themselves(function: Any) -> None:
    again = same(function)
    assert again(5) == 120
    assert again.__code__.co_names == function.__code__.co_names
    other = f"def {function.__name__}(n):\n    return 1 if n == 0 else {function.__name__}(n - 1)\n"
    assert read_source(made(other, function.__name__)) is not None
    assert read_source(made(other, function.__name__, said=other.replace("- 1", "- 2"))) is None


@pytest.mark.parametrize("text", ["yield x", "return (yield)", "return x\n    yield"])
def test_generators_are_left(text: str) -> None:
    assert read_source(made(f"def g(x):\n    {text}\n", "g")) is None


def test_helpers_are_cells() -> None:
    source = read_source(plain)
    assert source is not None
    tree = ast.parse("helper(x)").body[0]
    assert isinstance(tree, ast.Expr)
    changed = source.with_body([ast.Return(tree.value)])
    again = source.compiled(changed, {"helper": lambda x: x + FACTOR})
    assert again is not None
    assert again(4) == 7
    assert "helper" not in plain.__globals__


def test_what_names_stand_for() -> None:
    source = read_source(with_cells(4))
    assert source is not None
    assert source.value_of("start") == 4
    assert source.value_of("FACTOR") == 3
    assert source.value_of("len") is len
    for name in ("x", "nowhere"):
        with pytest.raises(KeyError):
            source.value_of(name)


def test_a_copied_tree_is_the_same_and_shares_nothing_that_is_changed() -> None:
    file = inspect.getsourcefile(copy_tree)
    assert file is not None
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    made = copy_tree(tree)
    assert ast.dump(made, include_attributes=True) == ast.dump(tree, include_attributes=True)
    of_tree, of_made = ({id(one) for one in ast.walk(root) if vars(one)} for root in (tree, made))
    assert len(of_tree) == len(of_made)
    assert not of_tree & of_made
    held = {id(value) for one in ast.walk(tree) for value in vars(one).values() if value == []}
    assert not held & {id(value) for one in ast.walk(made) for value in vars(one).values()}


class _Private:
    """Its private names are compiled with the name of the class, without the bars before it."""

    def __init__(self, start: int) -> None:
        self.__start = start
        self.__last__ = 1

    def __shift(self, __by: int) -> int:
        return self.__start + __by

    def read(self, x: int) -> Any:
        __own = self.__shift(x)

        return sum(__own + __y + self.__last__ for __y in [_Private.__shift(self, 1)])

    class __Inside:
        __table: int = 4

        @classmethod
        def read(cls) -> int:
            return cls.__table

    inside = __Inside


class __:
    """A class whose name has bars alone has no private names."""

    def __init__(self) -> None:
        self.__x = 2

    def read(self) -> int:
        return self.__x


def test_private_names_of_classes_are_read_as_they_are_compiled() -> None:
    made = _Private(10)
    shift = read_source(_Private._Private__shift)  # type: ignore[attr-defined]
    assert shift is not None
    assert "self._Private__start + _Private__by" in ast.unparse(shift.node)
    assert same(_Private.read)(made, 5) == made.read(5) == 15 + 11 + 1
    assert same(_Private.inside.read.__func__)(_Private.inside) == 4  # type: ignore[attr-defined]
    assert same(__.read)(__()) == 2

"""Arrays that may be used, such as an index, and are not looked at."""

from __future__ import annotations

from typing import Any

from liptest.values.array import AnyArray


class OpaqueArray(AnyArray):
    """What may be used, and is not looked at."""

    __slots__ = ()

    def __iter__(self) -> Any:
        self.refuse("a loop")

    def __len__(self) -> Any:
        self.refuse("len()")

    def __getitem__(self, index: Any) -> Any:
        self.refuse("an index")

    def __setitem__(self, index: Any, value: Any) -> Any:
        self.refuse("a write")

    def __contains__(self, value: Any) -> Any:
        self.refuse("a test whether it is empty")

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.refuse("numpy.array()")

    __hash__ = None  # type: ignore[assignment]


class OpaqueLine(OpaqueArray):
    """A line of them: how many there are depends on the data."""

    __slots__ = ()
    __hash__ = None

    def how_many(self) -> Any:
        """How many there are: an answer."""
        raise NotImplementedError

    @property
    def size(self) -> Any:
        """How many there are."""
        return self.how_many()

    @property
    def shape(self) -> tuple[Any]:
        """That of a line."""
        return (self.how_many(),)

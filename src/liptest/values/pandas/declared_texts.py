"""``series.str``: what pandas makes of each name that a column may hold."""

from __future__ import annotations

from typing import Any

from liptest.values.pandas.of_pandas import PartOfPandas
from liptest.values.pandas.record_series import RecordSeries

# Of each name a text, a number or a truth, whatever the other rows hold.
_FOLLOWED = frozenset(
    {
        *("capitalize", "casefold", "contains", "count", "endswith", "fullmatch", "len", "lower"),
        *("lstrip", "match", "replace", "rstrip", "slice", "startswith", "strip", "title", "upper"),
    }
)


class DeclaredTexts(PartOfPandas):
    """``.str`` of a column of names."""

    __slots__ = ()

    _of: RecordSeries
    advice = "make a column of texts with .map({..}), with an entry for every name"

    def __getattr__(self, name: str) -> Any:
        if name not in _FOLLOWED or self._of.names is None:
            return super().__getattr__(name)

        def method(*arguments: Any, **options: Any) -> Any:
            return self._made(name, arguments, options)

        return method

    def __getitem__(self, key: Any) -> Any:
        return self._made("__getitem__", (key,), {}) if self._of.names else self.refuse("an index")

    def _made(self, name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """What pandas makes of a series of all names."""
        import pandas

        assert self._of.names is not None
        names = list(self._of.names)
        found = getattr(pandas.Series(names).str, name)(*arguments, **options).tolist()
        return self._of.mapped(dict(zip(names, found, strict=True)), f".str.{name}")


RecordSeries.str = property(DeclaredTexts)  # type: ignore[attr-defined]

"""What pandas does with noisy numbers after the noise: labels, places, order, text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import liptest as lt
from liptest.values.array import CellStorage, SymbolicArray, fill_array
from liptest.values.pandas.hidden_entries import HiddenEntry, hide, move_entries, show_entries
from liptest.values.pandas.keyed_frame import KeyedFrame
from liptest.values.pandas.keyed_series import KeyedSeries
from liptest.values.pandas.made_frames import is_line_of_cells
from tests.shares import mostly_slow

pd = pytest.importorskip("pandas")

CITIES = ["a", "b", "c"]
ROWS = lt.Table(
    {"city": lt.Category(CITIES), "age": lt.Integer(0, 9), "smokes": lt.Bit()}, rows=1000
)


class _Tree:
    """An analysis, as far as arrays ask for it."""

    keeps_room = True

    def forbid(self, what: str, advice: str) -> Any:
        raise lt.errors.UnsupportedRandomnessError(f"{what}: {advice}")


def as_array(numbers: list[float]) -> SymbolicArray:
    cells = fill_array(list(map(np.float64, numbers)), (len(numbers),), object)
    tree: Any = _Tree()
    return SymbolicArray(CellStorage(tree, cells, np.dtype(float)))


def as_frame(numbers: list[float]) -> KeyedFrame:
    """Of labels, and of two columns of numbers."""
    half = len(numbers) // 2
    keys = [f"k{place}" for place in range(half)]
    columns = {
        "label": KeyedSeries(keys, np.array([*"xyz" * half][:half], dtype=object), {}),
        "m": KeyedSeries(keys, as_array(numbers[:half]), {}),
        "n": KeyedSeries(keys, as_array(numbers[half : 2 * half]), {}),
    }
    return KeyedFrame(keys, columns, {"index_names": ("key",)})


def as_plain(frame: KeyedFrame) -> Any:
    columns = {name: list(one.array) for name, one in frame.columns_.items()}
    return pd.DataFrame(columns, index=pd.Index(list(frame.keys_), name="key"))


def entries_of(made: Any) -> Any:
    """Labels, names and numbers of what was made, NaN as text."""
    if isinstance(made, (KeyedSeries, pd.Series)):
        series = made if isinstance(made, KeyedSeries) else KeyedSeries(made.index, made.array)
        return [*series.keys_], [str(float(one)) for one in series.array]
    if isinstance(made, KeyedFrame):
        return [*made.columns_], [_column(one.keys_, one.array) for one in made.columns_.values()]
    if isinstance(made, pd.DataFrame):
        return [*made.columns], [_column(made.index, made[name].array) for name in made.columns]
    return repr(made)


def _column(keys: Any, entries: Any) -> Any:
    return [*keys], [one if isinstance(one, str) else str(float(one)) for one in entries]


MOVES: dict[str, Callable[[Any], Any]] = {
    "reset_index": lambda frame: frame.reset_index(),
    "set_index": lambda frame: frame.set_index("label"),
    "rename": lambda frame: frame.rename(columns={"m": "p"}),
    "T": lambda frame: frame[["m", "n"]].T,
    "melt": lambda frame: frame.melt(id_vars="label", value_name="v"),
    "stack": lambda frame: frame[["n", "m"]].stack(),
    "pivot": lambda frame: frame.reset_index().pivot(index="key", columns="label", values="n"),
    "reindex": lambda frame: frame[["m"]].reindex(["k1", "zz", "k0"]),
    "merge": lambda frame: frame.merge(pd.DataFrame({"label": ["x", "y"], "p": [1, 2]})),
    "join": lambda frame: frame.join(pd.DataFrame({"p": [1.0, 2.0]}, index=["k0", "k1"])),
    "sort_index": lambda frame: frame.sort_index(ascending=False),
    "sort of labels": lambda frame: frame.sort_values("label", kind="stable"),
    "head": lambda frame: frame.head(2),
    "iloc": lambda frame: frame.iloc[1:, 1],
    "loc": lambda frame: frame.loc[["k1", "k0"], ["n"]],
    "condition of labels": lambda frame: frame[frame["label"] == "x"],
    "shift": lambda frame: frame["n"].shift(1),
    "add_prefix": lambda frame: frame["n"].add_prefix("p_"),
}


@pytest.mark.parametrize("name", mostly_slow(MOVES, 4))
@settings(max_examples=15, deadline=None)
@given(numbers=st.lists(st.floats(-5, 5), min_size=6, max_size=12))
def test_entries_go_where_pandas_puts_them(name: str, numbers: list[float]) -> None:
    frame = as_frame(numbers)
    assert entries_of(MOVES[name](frame)) == entries_of(MOVES[name](as_plain(frame)))


def test_concat_is_that_of_pandas() -> None:
    left, right = as_frame([1.0, 2.0, 3.0, 4.0]), as_frame([5.0, 6.0, 7.0, 8.0])
    assert is_line_of_cells(left["n"].array)
    made = move_entries(left, "concat", pd.concat, [left, right], ignore_index=True)
    expected = pd.concat([as_plain(left), as_plain(right)], ignore_index=True)
    assert entries_of(made) == entries_of(expected)


LOOKS: dict[str, Callable[[Any], Any]] = {
    "equal": lambda entry: entry == 1,
    "less": lambda entry: entry < 1,
    "sum": lambda entry: entry + 1,
    "truth": bool,
    "text": str,
    "repr": repr,
    "float": float,
    "round": round,
    "hash": hash,
    "format": lambda entry: f"{entry:.2f}",
}


@pytest.mark.parametrize("name", LOOKS)
def test_an_entry_tells_nothing(name: str) -> None:
    with pytest.raises(Exception):  # noqa: B017  # whatever it is, it is refused
        LOOKS[name](HiddenEntry(as_array([1.0]), 0))


@pytest.mark.parametrize(
    "looks",
    [
        lambda frame: frame.sort_values("n"),
        lambda frame: frame.groupby("n").size(),
        lambda frame: frame.set_index("n"),
        lambda frame: frame.drop_duplicates(),
        lambda frame: frame["n"].value_counts(),
        lambda frame: frame.to_csv(),
        lambda frame: frame["n"] > 1,
        lambda frame: frame["n"].round(),
        lambda frame: frame["n"].astype(float).sum(),
        lambda frame: frame.merge(pd.DataFrame({"n": [1.0]}), on="n"),
    ],
)
def test_what_looks_at_entries_is_refused(looks: Any) -> None:
    frame = as_frame([1.0, 2.0, 3.0, 4.0])
    with pytest.raises(lt.errors.UnsupportedRandomnessError):
        move_entries(frame, "it", looks, frame)


def test_names_that_are_not_known_do_not_become_labels() -> None:
    series = KeyedSeries(CITIES, as_array([1.0, 2.0, 3.0]))
    assert list(series.rename_axis("city").reset_index(name="n").columns_) == ["city", "n"]
    with pytest.raises(lt.errors.UnsupportedRandomnessError, match="names"):
        series.reset_index()


def test_what_is_hidden_comes_back() -> None:
    frame = as_frame([1.0, 2.0, 3.0, 4.0])
    assert entries_of(show_entries(hide(frame), frame, "it")) == entries_of(frame)

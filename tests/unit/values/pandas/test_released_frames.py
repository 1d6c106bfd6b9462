"""Series and frames as outputs: with their order, names and categories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import liptest as lt

pd = pytest.importorskip("pandas")

CITIES = ["a", "b", "c"]
ROWS = lt.Table({"city": lt.Category(CITIES), "age": lt.Integer(0, 9)}, rows=1000)
FEW = lt.RecordGrid([3] * 4)


def count(frame: Any) -> Any:
    return frame["city"].value_counts().reindex(CITIES, fill_value=0)


def of_columns(frame: Any, rng: Any) -> Any:
    return pd.DataFrame({"city": CITIES, "n": count(frame).to_numpy() + rng.laplace(size=3)})


def of_a_series(frame: Any, rng: Any) -> Any:
    return (count(frame) + rng.laplace(size=3)).to_frame("n")


def of_an_array(frame: Any, rng: Any) -> Any:
    noisy = count(frame).to_numpy() + rng.laplace(size=3)
    return pd.Series(noisy, index=CITIES, name="n").clip(lower=0)


def in_a_new_column(frame: Any, rng: Any) -> Any:
    out = pd.DataFrame({"city": CITIES})
    out["n"] = count(frame).to_numpy() + rng.laplace(size=3)
    return out


def beside_the_counts(frame: Any, rng: Any) -> Any:
    out = count(frame).to_frame("n")
    out["noisy"] = out["n"] + rng.laplace(size=3)
    return out.drop(columns="n")


def of_dicts(frame: Any, rng: Any) -> Any:
    counts = [(frame["city"] == city).sum() + rng.laplace() for city in CITIES]
    return pd.DataFrame([{"city": c, "n": n} for c, n in zip(CITIES, counts, strict=True)])


def as_records(frame: Any, rng: Any) -> Any:
    return of_columns(frame, rng).to_dict("records")


RELEASED = [of_columns, of_a_series, of_an_array, in_a_new_column, beside_the_counts, of_dicts]
RELEASED += [as_records]


@pytest.mark.slow
@pytest.mark.parametrize("released", RELEASED)
def test_series_and_frames_of_noisy_counts_are_released(released: Callable[..., Any]) -> None:
    assert lt.check_privacy(lt.mechanism(released), ROWS, epsilon=2).decision == "YES"
    assert lt.check_privacy(lt.mechanism(released), ROWS, epsilon=1.9).decision == "NO"


@pytest.mark.slow
@pytest.mark.parametrize("released", [of_columns, of_an_array])
def test_the_floats_of_a_series_or_frame_are_looked_at(released: Callable[..., Any]) -> None:
    found = lt.check_privacy(lt.mechanism(released), ROWS, epsilon=2)
    assert "an output of type" not in str(found)


@pytest.mark.slow
def test_plain_counts_in_a_column_are_found() -> None:
    def both(frame: Any, rng: Any) -> Any:
        out = count(frame).to_frame("n")
        out["noisy"] = out["n"] + rng.laplace(size=3)
        return out

    assert lt.check_privacy(lt.mechanism(both), ROWS, epsilon=2).decision == "NO"


def ones(data: Any) -> int:
    return int((data == 1).sum())


#: What each tells: whether there is a record 1.
TELLING: dict[str, Callable[[Any], Any]] = {
    "a key twice": lambda data: pd.Series([ones(data), 0], index=["a", "a"]),
    "the order": lambda data: pd.Series(dict.fromkeys(["a", "b"] if ones(data) else ["b", "a"], 0)),
    "the name": lambda data: pd.Series([0], name=f"n{ones(data)}"),
    "the name of the index": lambda data: pd.Series([0], index=pd.Index(["a"], name=ones(data))),
    "categories": lambda data: pd.Series(pd.Categorical(["a"], categories=["a", str(ones(data))])),
    "keys with categories": lambda data: pd.Series(
        [0], index=pd.CategoricalIndex(["a"], categories=["a", str(ones(data))])
    ),
    "attrs": lambda data: _with_attrs(pd.Series([0]), ones(data)),
    "a column twice": lambda data: pd.DataFrame([[ones(data), 0]], columns=["a", "a"]),
    "a column's order": lambda data: pd.DataFrame([[0, 0]], columns=_order(data)),
    "the name of the columns": lambda data: pd.DataFrame(
        [[0]], columns=pd.Index(["a"], name=f"n{ones(data)}")
    ),
    "keys of no columns": lambda data: pd.DataFrame(index=range(ones(data))),
    "an entry": lambda data: pd.DataFrame({"a": [ones(data)]}),
}


def _order(data: Any) -> list[str]:
    return ["a", "b"] if ones(data) else ["b", "a"]


def _with_attrs(series: Any, value: Any) -> Any:
    series.attrs["n"] = value
    return series


@pytest.mark.slow
@pytest.mark.parametrize("name", TELLING)
def test_all_that_a_series_or_frame_tells_is_in_the_output(name: str) -> None:
    found = lt.check_privacy(lt.mechanism(TELLING[name]), FEW, epsilon=5, method="exhaustive")
    assert found.decision == "NO"


WITH_NOISE = ["the order", "the name", "the name of the index", "keys with categories", "attrs"]
WITH_NOISE += ["a column's order", "the name of the columns"]


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_NOISE)
def test_so_it_is_where_noise_is_added(name: str) -> None:
    def noisy(data: Any, rng: Any) -> Any:
        made = TELLING[name](data)
        return made + rng.laplace(size=made.shape)

    found = lt.check_privacy(lt.mechanism(noisy), lt.RecordGrid([3] * 2), epsilon=5)
    assert found.decision == "NO"


@pytest.mark.slow
def test_two_columns_of_one_name_do_not_meet_noise() -> None:
    def noisy(data: Any, rng: Any) -> Any:
        return pd.DataFrame([[ones(data), 0]], columns=["a", "a"]) + rng.laplace(size=(1, 2))

    with pytest.raises(lt.errors.UnsupportedRandomnessError, match="two columns of one name"):
        lt.check_privacy(lt.mechanism(noisy), lt.RecordGrid([3] * 2), epsilon=5)


def test_a_key_that_occurs_twice_is_in_the_output() -> None:
    law = lt.output_law(lt.mechanism(TELLING["a key twice"]), np.array([1, 0, 1, 0]))
    [output] = law.outputs
    assert str(output) == "Series(index=('a', 'a'), values=(2, 0))"


def test_what_is_no_plain_type_is_refused() -> None:
    def intervals(data: Any) -> Any:
        return pd.Series([1], index=pd.interval_range(0, 1))

    with pytest.raises(lt.errors.MechanismError, match="unhashable; return"):
        lt.output_law(lt.mechanism(intervals), np.array([0, 1]))


def test_a_class_that_calls_itself_a_series_is_not_one() -> None:
    class Series:
        __module__ = "pandas.core.series"
        __hash__ = None  # type: ignore[assignment]

        def __eq__(self, other: object) -> bool:
            return True

        def tolist(self) -> list[int]:
            return [0]

    with pytest.raises(lt.errors.MechanismError, match="unhashable"):
        lt.output_law(lt.mechanism(lambda data: Series()), np.array([0, 1]))

"""What programs do with noisy series and frames after the noise is free; what they do before it is
not.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import liptest as lt

pd = pytest.importorskip("pandas")

CITIES = ["a", "b", "c"]
ROWS = lt.Table(
    {"city": lt.Category(CITIES), "age": lt.Integer(0, 9), "smokes": lt.Bit()}, rows=1000
)


def counts(frame: Any) -> Any:
    return frame["city"].value_counts().reindex(CITIES, fill_value=0)


def noisy(frame: Any, rng: Any) -> Any:
    return counts(frame) + rng.laplace(size=3)


def crossed(frame: Any, rng: Any) -> Any:
    sizes = frame.groupby(["city", "smokes"]).size().unstack(fill_value=0)
    named = sizes.reindex(index=CITIES, columns=[0, 1], fill_value=0)
    return named + rng.laplace(size=named.shape)


def labels_in_columns(frame: Any, rng: Any) -> Any:
    return noisy(frame, rng).rename_axis("town").reset_index(name="n")


def names_of_pandas(frame: Any, rng: Any) -> Any:
    return noisy(frame, rng).reset_index()


def largest_two(frame: Any, rng: Any) -> Any:
    return noisy(frame, rng).sort_values(ascending=False).head(2)


def a_threshold(frame: Any, rng: Any) -> Any:
    released = noisy(frame, rng)
    return released[released > 2].index.tolist()


def statistics(frame: Any, rng: Any) -> Any:
    released = noisy(frame, rng)
    return released.median(), released.std(), released.quantile(0.25), released.idxmin()


def shares_of_rows(frame: Any, rng: Any) -> Any:
    released = crossed(frame, rng).clip(lower=0)
    return released.div(released.sum(axis=1), axis=0)


def turned(frame: Any, rng: Any) -> Any:
    return crossed(frame, rng).T.to_dict("index")


def long_form(frame: Any, rng: Any) -> Any:
    return crossed(frame, rng).reset_index().melt(id_vars="city", value_name="n")


def put_together(frame: Any, rng: Any) -> Any:
    return pd.concat([noisy(frame, rng).round(), pd.Series({"z": 1.0})])


def beside_constants(frame: Any, rng: Any) -> Any:
    made = pd.DataFrame({"k": CITIES, "n": noisy(frame, rng).to_numpy()})
    return made.merge(pd.DataFrame({"k": CITIES, "people": [10, 20, 30]}), on="k")


def by_groups_of_labels(frame: Any, rng: Any) -> Any:
    made = pd.DataFrame({"k": ["x", "x", "y"], "n": noisy(frame, rng).to_numpy()})
    return made.groupby("k")["n"].max(), noisy_rows(made)


def noisy_rows(made: Any) -> Any:
    return {row["k"]: max(0, row["n"]) for _, row in made.iterrows()}


def as_text(frame: Any, rng: Any) -> Any:
    return noisy(frame, rng).round().astype(int).to_json()


def as_lines(frame: Any, rng: Any) -> Any:
    return pd.DataFrame({"k": CITIES, "n": noisy(frame, rng).to_numpy()}).to_csv(index=False)


def of_a_dict(frame: Any, rng: Any) -> Any:
    made = {city: (frame["city"] == city).sum() + rng.laplace() for city in CITIES}
    return pd.Series(made).nlargest(1)


def around_a_list(frame: Any, rng: Any) -> Any:
    return rng.laplace([(frame["city"] == city).sum() for city in CITIES], [1.0, 1.0, 1.0])


def around_a_series(frame: Any, rng: Any) -> Any:
    return rng.laplace(counts(frame), 1.0)


AFTER = [labels_in_columns, names_of_pandas, largest_two, a_threshold, statistics]
AFTER += [shares_of_rows, turned, long_form, put_together, beside_constants, by_groups_of_labels]
AFTER += [as_text, as_lines, of_a_dict, around_a_list, around_a_series]


@pytest.mark.slow
@pytest.mark.parametrize("program", AFTER)
def test_what_is_done_after_the_noise_is_free(program: Callable[..., Any]) -> None:
    assert lt.check_privacy(lt.mechanism(program), ROWS, epsilon=2).decision == "YES"


def beside_counts(frame: Any, rng: Any) -> Any:
    made = pd.DataFrame({"k": CITIES, "n": noisy(frame, rng).to_numpy()})
    return made.merge(pd.DataFrame({"k": CITIES, "c": counts(frame).to_numpy()}), on="k")


def in_the_order_of_counts(frame: Any, rng: Any) -> Any:
    made = pd.DataFrame({"n": noisy(frame, rng).to_numpy(), "c": counts(frame).to_numpy()})
    return made.sort_values("c")["n"]


def where_counts_are_large(frame: Any, rng: Any) -> Any:
    return noisy(frame, rng)[counts(frame) > 5]


def filled_by_counts(frame: Any, rng: Any) -> Any:
    return noisy(frame, rng).where(counts(frame) > 0).fillna(-1)


def largest_count(frame: Any, rng: Any) -> Any:
    return counts(frame).idxmax()


def keys_by_count(frame: Any, rng: Any) -> Any:
    order = counts(frame).sort_values(ascending=False).index
    return pd.Series(rng.laplace(size=3), index=order)


def a_name_by_count(frame: Any, rng: Any) -> Any:
    made = pd.Series(rng.laplace(size=3), index=CITIES)
    return made.rename("p") if frame["smokes"].sum() > 10 else made.rename("q")


def names_of_columns_by_count(frame: Any, rng: Any) -> Any:
    ages = frame.groupby("city")["age"].sum().reindex(CITIES, fill_value=0) * 0
    bits = frame.groupby("city")["smokes"].sum().reindex(CITIES, fill_value=0) * 0
    return (ages if frame["smokes"].sum() > 10 else bits) + rng.laplace(size=3)


def rows_by_count(frame: Any, rng: Any) -> Any:
    made = pd.Series(rng.laplace(size=3), index=CITIES)
    return made.head(int(min(frame["smokes"].sum(), 2)))


def keys_in_text_by_count(frame: Any, rng: Any) -> Any:
    noise = rng.laplace()
    made = {"a": noise} if frame["smokes"].sum() > 10 else {"b": noise}
    return json.dumps(made)


def a_new_column_of_counts(frame: Any, rng: Any) -> Any:
    return noisy(frame, rng).to_frame("n").assign(c=counts(frame)).to_csv()


TELLING = [beside_counts, in_the_order_of_counts, where_counts_are_large, filled_by_counts]
TELLING += [largest_count, keys_by_count, a_name_by_count, names_of_columns_by_count]
TELLING += [rows_by_count, keys_in_text_by_count, a_new_column_of_counts]


@pytest.mark.slow
@pytest.mark.parametrize("program", TELLING)
def test_what_tells_counts_without_noise_is_not_free(program: Callable[..., Any]) -> None:
    try:
        decision = str(lt.check_privacy(lt.mechanism(program), ROWS, epsilon=5).decision)
    except lt.errors.LiptestError:
        decision = "refused"
    assert decision != "YES"

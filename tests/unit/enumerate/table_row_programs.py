"""Programs that treat the rows of a frame one by one, and some that do so only seemingly."""

# Nobody's notebook is tidy.
# ruff: noqa: PERF401

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd


def flipped(frame: Any, rng: Any) -> Any:
    flip = rng.integers(0, 4, len(frame)) == 0
    frame["smoker"] = np.where(flip, 1 - frame["smoker"], frame["smoker"])
    return frame[["smoker"]]


def flipped_by_xor(frame: Any, rng: Any) -> Any:
    return frame["smoker"] ^ (rng.integers(0, 4, size=len(frame)) == 0)


def flipped_at_places(frame: Any, rng: Any) -> Any:
    flip = rng.integers(0, 4, len(frame)) == 0
    frame.loc[flip, "smoker"] = 1 - frame.loc[flip, "smoker"]
    return frame["smoker"]


def flipped_in_a_loop(frame: Any, rng: Any) -> Any:
    told = []
    for row in frame.itertuples(index=False):
        told.append(int(row.smoker) if rng.integers(4) else 1 - int(row.smoker))
    return told


def flipped_by_rows(frame: Any, rng: Any) -> Any:
    told = []
    for _, row in frame.iterrows():
        told.append(int(row["smoker"]) if rng.integers(4) else 1 - int(row["smoker"]))
    return told


def flipped_by_apply(frame: Any, rng: Any) -> Any:
    return frame["smoker"].apply(lambda bit: bit if rng.integers(4) else 1 - bit)


def flipped_by_a_function(frame: Any, rng: Any) -> Any:
    def respond(bit: Any) -> Any:
        return bit if rng.integers(4) else 1 - bit

    frame["smoker"] = frame["smoker"].map(respond)
    return frame["smoker"].tolist()


def flipped_by_axis(frame: Any, rng: Any) -> Any:
    return frame.apply(lambda row: row["smoker"] if rng.integers(4) else 1 - row.smoker, axis=1)


def flipped_in_dicts(frame: Any, rng: Any) -> Any:
    rows = frame.to_dict("records")
    return [row["smoker"] if rng.integers(4) else 1 - row["smoker"] for row in rows]


def name_or_another(frame: Any, rng: Any) -> Any:
    keep = rng.integers(0, 2, len(frame)) == 0
    return np.where(keep, frame["kind"], rng.choice(["a", "b"], size=len(frame)))


#: Of each the law of all rows is the product of the laws of one.
EXACT = (
    *(flipped, flipped_by_xor, flipped_at_places, flipped_in_a_loop, flipped_by_rows),
    *(flipped_by_apply, flipped_by_a_function, flipped_by_axis, flipped_in_dicts),
    name_or_another,
)


def noisy_column(frame: Any, rng: Any) -> Any:
    frame["age"] += rng.laplace(0, 8, size=len(frame))
    return frame[["age"]]


def noisy_frame(frame: Any, rng: Any) -> Any:
    return frame.assign(
        age=frame["age"].clip(0, 4) + rng.laplace(0, 8, len(frame)),
        smoker=lambda own: own["smoker"] + rng.laplace(0, 2, len(own)),
    ).drop(columns="kind")


def noisy_columns(frame: Any, rng: Any) -> Any:
    told = {}
    for name, width in [("age", 8), ("smoker", 1)]:
        told[name] = frame[name] + rng.laplace(0, 2 * width, len(frame))
    return pd.DataFrame(told)


def noisy_mean(frame: Any, rng: Any) -> Any:
    return (frame["age"] + rng.laplace(0, 8, len(frame))).mean()


def noisy_in_order(frame: Any, rng: Any) -> Any:
    noisy = frame["age"] + rng.laplace(0, 8, len(frame))
    return noisy.sort_values().reset_index(drop=True)


PRIVATE = (noisy_column, noisy_frame, noisy_columns, noisy_mean, noisy_in_order)


def too_little_noise(frame: Any, rng: Any) -> Any:
    return frame["age"] + rng.laplace(0, 7, len(frame))


def column_that_stays(frame: Any, rng: Any) -> Any:
    frame["age"] = frame["age"] + rng.laplace(0, 8, len(frame))
    return frame


def key_that_stays(frame: Any, rng: Any) -> Any:
    noisy = frame["age"] + rng.laplace(0, 8, len(frame))
    noisy.index = frame["smoker"]
    return noisy


def index_that_stays(frame: Any, rng: Any) -> Any:
    frame["age"] += rng.laplace(0, 8, len(frame))
    return frame[["age", "kind"]].set_index("kind")


def noise_told(frame: Any, rng: Any) -> Any:
    noise = rng.laplace(0, 8, len(frame))
    return {"noisy": frame["age"] + noise, "noise": noise}


def noise_by_data(frame: Any, rng: Any) -> Any:
    return frame["age"] + rng.laplace(0, 8 + 4 * frame["age"], len(frame))


LEAKING = (
    *(too_little_noise, column_that_stays, key_that_stays, index_that_stays, noise_told),
    noise_by_data,
)


def shared_noise(frame: Any, rng: Any) -> Any:
    return frame["age"] + rng.laplace(0, 8)


def largest_as_scale(frame: Any, rng: Any) -> Any:
    return frame["age"] + rng.laplace(0, 8 + frame["age"].max(), len(frame))


def in_order_before(frame: Any, rng: Any) -> Any:
    frame = frame.sort_values("age")
    return frame["smoker"] + rng.laplace(0, 1, len(frame))


def some_rows(frame: Any, rng: Any) -> Any:
    old = frame[frame["age"] > 4]
    return old["age"] + rng.laplace(0, 8, len(old))


def some_noisy_rows(frame: Any, rng: Any) -> Any:
    noisy = frame["age"] + rng.laplace(0, 8, len(frame))
    return noisy[frame["smoker"] == 1]


def shifted_noise(frame: Any, rng: Any) -> Any:
    noise = rng.laplace(0, 8, len(frame))
    return np.column_stack([frame["age"] + noise, np.roll(noise, 1)])


def named_by_data(frame: Any, rng: Any) -> Any:
    noisy = frame["age"] + rng.laplace(0, 8, len(frame))
    noisy.name = str(frame["age"].sum())
    return noisy


def noted_data(frame: Any, rng: Any) -> Any:
    noisy = frame["age"] + rng.laplace(0, 8, len(frame))
    noisy.attrs["age"] = frame["age"].tolist()
    return noisy


def first_row_apart(frame: Any, rng: Any) -> Any:
    told = []
    for place, row in frame.iterrows():
        told.append(row["smoker"] if place == 0 or rng.integers(4) else 1 - row["smoker"])
    return told


def first_tuple_apart(frame: Any, rng: Any) -> Any:
    rows = frame.itertuples()
    return [row.smoker if not row.Index or rng.integers(4) else 1 - row.smoker for row in rows]


def apply_that_remembers(frame: Any, rng: Any) -> Any:
    seen: list[Any] = []

    def respond(bit: Any) -> Any:
        seen.append(bit)
        return seen[0] if rng.integers(4) else 1 - seen[0]

    return frame["smoker"].apply(respond)


def seeded_noise(frame: Any) -> Any:
    return frame["age"] + np.random.default_rng(0).laplace(0, 8, len(frame))


def columns_that_occur(frame: Any, rng: Any) -> Any:
    return pd.get_dummies(frame["kind"]).to_numpy() ^ (rng.random((len(frame), 2)) < 0.3)


def unknown_option(frame: Any, rng: Any) -> Any:
    try:
        clipped = frame["age"].clip(0, 4, axis=0)
    except TypeError:
        clipped = 0 * frame["age"]
    return clipped + rng.laplace(0, 1, len(frame))


#: Rows are not seen to be treated one by one.
JOINT = (
    *(shared_noise, largest_as_scale, in_order_before, some_rows, some_noisy_rows, shifted_noise),
    *(named_by_data, noted_data, first_row_apart, first_tuple_apart, apply_that_remembers),
    *(seeded_noise, columns_that_occur, unknown_option),
)


def real_column(frame: Any, rng: Any) -> Any:
    frame["pay"] = frame["pay"].clip(10, 60) + rng.laplace(0, 50, size=len(frame))
    return frame[["pay"]]


def real_and_whole(frame: Any, rng: Any) -> Any:
    pay = frame["pay"] + rng.laplace(0, 200, len(frame))
    return pd.DataFrame({"pay": pay, "smoker": frame["smoker"] + rng.laplace(0, 2, len(frame))})


def real_by_apply(frame: Any, rng: Any) -> Any:
    return frame["pay"].apply(lambda own: own + rng.laplace(0, 100))


REAL_PRIVATE = (real_column, real_and_whole, real_by_apply)


def real_too_little(frame: Any, rng: Any) -> Any:
    return frame["pay"].clip(10, 60) + rng.laplace(0, 40, size=len(frame))


def real_that_stays(frame: Any, rng: Any) -> Any:
    return frame.assign(noisy=frame["pay"] + rng.laplace(0, 100, size=len(frame)))


def real_side(frame: Any, rng: Any) -> Any:
    return frame["pay"] + rng.laplace(0, 100, size=len(frame)), frame["pay"] > 50


def real_where(frame: Any, rng: Any) -> Any:
    noisy = frame["pay"] + rng.laplace(0, 100, len(frame))
    return np.where(frame["pay"] > 50, frame["pay"], noisy)


def real_and_whole_at_once(frame: Any, rng: Any) -> Any:
    """Of both columns together the price is 1.01, of their sum it would be so, too."""
    return frame[["pay", "smoker"]].to_numpy() + rng.laplace(0, 100, (len(frame), 2))


def real_with_truth(frame: Any, rng: Any) -> Any:
    return (frame["pay"] > 50) ^ (rng.random(len(frame)) < 0.2)


REAL_LEAKING = (real_too_little, real_that_stays, real_side, real_where, real_with_truth)

"""What to write instead of methods of pandas that look at rows together, without noise."""

from __future__ import annotations

_NOISY_COUNTS = (
    "count the rows between constant edges, pandas.cut(x, EDGES).value_counts(sort=False), add "
    "noise, and look for it in the noisy counts"
)
_MOMENTS = (
    "add noise to the sums of the columns, of their squares and of their products, each of clipped "
    "columns, and calculate it from these"
)
_ORDER = (
    "places in an order depend on all rows: compare columns with constants, or count the rows "
    "between constant edges"
)
_EARLIER_ROWS = "a row may not depend on the rows before it: add up, or count, over all rows"
_SOME_ROWS = "choose rows by what is in them, frame[condition], and columns by their names"
_LARGEST_COUNT = (
    "count each value, value_counts().reindex(KEYS, fill_value=0), add noise, and take .idxmax() "
    "of the noisy counts"
)
_ONE_BY_ONE = "add up, or count, the columns one by one"

#: By the name of a method.
INSTEAD = {
    **dict.fromkeys(("quantile", "median", "max", "min", "argmax", "argmin"), _NOISY_COUNTS),
    **dict.fromkeys(("std", "var", "sem", "skew", "kurt", "corr", "cov", "corrwith"), _MOMENTS),
    **dict.fromkeys(("rank", "sort_values", "nlargest", "nsmallest", "argsort"), _ORDER),
    **dict.fromkeys(("diff", "shift", "rolling", "expanding", "ewm", "pct_change"), _EARLIER_ROWS),
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin", "ffill", "bfill"), _EARLIER_ROWS),
    **dict.fromkeys(("head", "tail", "iloc", "iat", "sample", "take", "truncate"), _SOME_ROWS),
    **dict.fromkeys(("mode", "idxmax", "idxmin"), _LARGEST_COUNT),
    **dict.fromkeys(("melt", "stack", "explode", "T", "transpose", "append"), _ONE_BY_ONE),
    "describe": (
        "add noise to .count() and .sum(), and for quantiles to the counts between constant edges"
    ),
    "replace": ".map({..}), with an entry for every value that is declared",
    "unique": "name the values that are declared",
    "mean": (
        "sum and count each group, add noise to both, and divide these (a mean by group divides "
        "by a private count)"
    ),
    "filter": "add noise to the size of each group, and leave groups out by it: noisy[noisy > 20]",
    "transform": (
        "a number of the group of each row depends on the other rows: sum or count by group, with "
        "noise"
    ),
    "apply": ("make a column of it first, with frame.assign(new=..), and sum or count it by group"),
}


def words_of_use(name: str) -> str:
    """What was asked for; pandas itself asks for names that begin with _."""
    return "a function of pandas that is not followed" if name.startswith("_") else f".{name}"

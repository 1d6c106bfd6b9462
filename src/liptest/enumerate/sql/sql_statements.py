"""Which SQL only reads one table, and answers alike whenever it is asked: all else is refused.

Words are known ones: those of SELECT, names of columns and of what a query names itself, and
functions that calculate. ``random()``, the time, settings, other tables, files and all that writes
are not. The engines have their own locks beside this one (``databases``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

#: Functions that calculate from their arguments, or from the rows.
FUNCTIONS = frozenset(
    {
        *("count", "sum", "total", "avg", "min", "max", "median", "stddev", "stddev_pop", "mode"),
        *("stddev_samp", "variance", "var_pop", "var_samp", "covar_pop", "covar_samp", "corr"),
        *("bool_and", "bool_or", "every", "group_concat", "string_agg", "percentile_cont"),
        *("percentile_disc", "quantile_cont", "quantile_disc", "abs", "round", "coalesce"),
        *("ifnull", "nullif", "greatest", "least", "length", "lower", "upper", "substr", "trunc"),
        *("substring", "replace", "trim", "ltrim", "rtrim", "iif", "if", "sign", "floor", "ceil"),
        *("ceiling", "sqrt", "power", "pow", "exp", "ln", "log", "log10", "log2", "mod", "instr"),
        *("concat", "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile"),
        *("lag", "lead", "first_value", "last_value", "nth_value", "width_bucket", "any_value"),
        *("count_if", "countif", "sumif", "product", "square"),
    }
)
_KEYWORDS = frozenset(
    {
        *("select", "from", "where", "group", "by", "having", "order", "limit", "offset", "all"),
        *("distinct", "as", "and", "or", "not", "in", "is", "null", "between", "like", "ilike"),
        *("glob", "escape", "case", "when", "then", "else", "end", "exists", "any", "some"),
        *("union", "except", "intersect", "with", "recursive", "join", "inner", "left", "right"),
        *("full", "outer", "cross", "natural", "on", "using", "asc", "desc", "nulls", "first"),
        *("last", "over", "partition", "rows", "range", "groups", "unbounded", "preceding"),
        *("following", "current", "row", "exclude", "ties", "others", "filter", "within", "cast"),
        *("true", "false", "values", "collate", "grouping", "sets", "rollup", "cube", "qualify"),
        *("fetch", "next", "only", "isnull", "notnull", "int", "integer", "bigint", "smallint"),
        *("real", "double", "precision", "float", "text", "varchar", "numeric", "decimal"),
        "boolean",
    }
)
# Names that say something else each time, and what engines say of themselves.
_NEVER = re.compile(
    r"current_(date|time|timestamp)|localtime|localtimestamp|ctid|xmin|xmax|cmin|cmax|tableoid|into|sample|tablesample"
    r"|(pg|sqlite|duckdb|pragma)_\w+|information_schema"
)
_TOKEN = re.compile(
    r"""
      (?P<space>\s+|--[^\n]*|/\*.*?\*/)
    | (?P<text>'(?:[^']|'')*')
    | (?P<quoted>"(?:[^"]|"")*"|`[^`]*`)
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<parameter>\?\d*|%s|%\(\w+\)s|(?<!:):(?!:)[A-Za-z_]\w*|\$\w+|@\w+)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<sign>::|[-+*/%<>=!|&~^.,()\[\];])
    """,
    re.VERBOSE | re.DOTALL,
)
_BY_QUOTES = ("text", "number", "parameter")
# A word before a string changes what the string says.
_PREFIXES = frozenset({"e", "u", "b", "x", "n"})


def find_fault(statement: str, names: Iterable[str]) -> str | None:
    """What a statement does beside reading columns and tables of these names; None for nothing."""
    tokens = list(read_tokens(statement))
    if any(kind == "" for kind, _ in tokens):
        return f"the sign {next(word for kind, word in tokens if kind == '')!r}"
    while tokens and tokens[-1][1] == ";":
        tokens.pop()
    if not tokens or tokens[0][1] not in ("select", "with", "(", "values", "from"):
        return f"a statement that begins with {tokens[0][1]!r}" if tokens else "nothing"
    allowed = {name.lower() for name in names} | set(_own_names(tokens))
    tables = dict(_tables_with_columns(tokens))
    allowed |= {word for place, stop in tables.items() for _, word in tokens[place:stop]}
    for place, (kind, word) in enumerate(tokens):
        if place in tables:
            continue
        following = tokens[place + 1] if place + 1 < len(tokens) else ("", "")
        fault = _find_fault(kind, word, following, allowed)
        if fault:
            return fault
    return None


def read_tokens(statement: str) -> Iterator[tuple[str, str]]:
    """Kinds and words, small letters but in strings; kind "" for what is not known."""
    place = 0
    while place < len(statement):
        matched = _TOKEN.match(statement, place)
        if matched is None:
            yield "", statement[place]
            return
        kind, word = str(matched.lastgroup), matched[0]
        if kind == "quoted":
            word = word[1:-1].replace('""', '"')
        if kind != "space":
            yield kind, word if kind == "text" else word.lower()
        place = matched.end()


def _own_names(tokens: list[tuple[str, str]]) -> Iterator[str]:
    """What a query names: after AS, before AS (..), after a table or a subquery."""
    for place, (kind, word) in enumerate(tokens):
        if kind not in ("word", "quoted") or (kind == "word" and word in _KEYWORDS):
            continue
        before = tokens[place - 1] if place else ("", "")
        after = [text for _, text in tokens[place + 1 : place + 3]]
        is_named = before in (("word", "as"), ("sign", ")")) or after == ["as", "("]
        follows_name = before[0] in ("quoted", "word") and before[1] not in _KEYWORDS
        if (is_named or follows_name) and (not after or after[0] != "("):
            yield word


def _tables_with_columns(tokens: list[tuple[str, str]]) -> Iterator[tuple[int, int]]:
    """Of ``WITH name(column, ..) AS (..), ..`` and ``(VALUES ..) AS name(column, ..)``.

    Where a name is, and its closing bracket.
    """
    words = [word if kind != "text" else "" for kind, word in tokens]
    for place in range(1, len(tokens)):
        if words[place + 1 : place + 2] != ["("] or ")" not in words[place:]:
            continue
        stop = words.index(")", place)
        names, commas = tokens[place + 2 : stop : 2], words[place + 3 : stop : 2]
        kinds = {kind for kind, _ in (tokens[place], *names)}
        if not names or not kinds <= {"word", "quoted"} or not {*commas} <= {","}:
            continue
        before, follows = words[max(place - 2, 0) : place], words[stop + 1 : stop + 3]
        is_next = before[-1] in ("with", "recursive") or before == [")", ","]
        is_with = words[0] == "with" and is_next and follows == ["as", "("]
        is_named = before == [")", "as"] or (before[-1] == ")" and words[place] not in _KEYWORDS)
        if is_with or is_named:
            yield place, stop


def _find_fault(kind: str, word: str, following: tuple[str, str], known: set[str]) -> str | None:
    if kind in ("sign", *_BY_QUOTES):
        return "more than one statement" if word == ";" else None
    if _NEVER.fullmatch(word):
        return f"{word!r}, which is not of the data"
    if following[1] == "(" and following[0] == "sign":
        allowed = word in FUNCTIONS or (kind == "word" and word in _KEYWORDS)
        return None if allowed else f"the function {word!r}"
    if following[0] == "text" and word in _PREFIXES:
        return f"a string that begins with {word!r}"
    if kind == "quoted" or word in known or word in _KEYWORDS:
        return None
    return f"{word!r}, which is not a column, nor the table"

"""Wrong command lines, generated: every option of every command with values that it cannot take."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

VENDOR = """\
import random

number = 3


class Kind:
    pass


def rr(data, rng):
    return int(data[0] ^ (rng.random() < 0.25))


def raises(data, rng):
    raise ValueError("always\\nand on two lines")


def draw(dataset, n, rng):
    return rng.integers(0, 2, n)


def mean(points):
    return points.mean(axis=1)
"""
FILES = {
    "vendor.py": VENDOR,
    "broken.py": "def f(:\n",
    "exits.py": "raise SystemExit(0)\n",
    "loops.py": "import loops2\n",
    "clicks.csv": "click,item\n0,a\n1,b\n",
    "words.csv": "click\nyes\nno\n",
    "empty.csv": "",
    "latin.csv": b"click\n\xff\xfe\n",
    "one.toml": "[domain]\ndimension = 2\n[distribution]\nuniform = true\n"
    '[[check]]\nmechanism = "vendor.py:rr"\nepsilon = 2.0\n',
    "bad.toml": "[[check]\n",
    "odd.toml": '[[check]]\nmechanism = 3\nepsilon = "x"\n',
    "none.toml": "[domain]\ndimension = 2\n",
    "list.json": "[]",
    "number.json": "3",
    "text.json": "not json",
    "deep.json": "[" * 100_000,
    "latin.json": b"\xff\xfe\x00",
    "query.txt": "x",
}

TEXT = ("x", "")
NUMBER = (*TEXT, "nan", "inf", "-1", "1e999", "1,2", "0x")
INSIDE = (*NUMBER, "0", "1")  # strictly between 0 and 1
WHOLE = ("x", "", "1.5", "7.9", "nan", "-1", "1e3", "inf", "3.0")
POSITIVE = (*WHOLE, "0")
OUTPUT = ("no/such/file", ".", "vendor.py/file", "x" * 300, "vendor.py", "a\0b")
INPUT = ("no/such/file", ".", "x" * 300)
EPSILON = (*NUMBER, "0", "log(1)", "log(x)", "log()", "log(0)", "log(-3)", "log(1/0)")

RR = ["vendor.py:rr"]
COLUMN = ["--private-column", "click"]
CUBE = ["--dimension", "2", "--uniform"]
MECHANISMS = (
    *("vendor.py", "no.py:rr", "vendor.py:nothing", "no.module:x", ":", "vendor.py:", ":rr", ""),
    *("broken.py:f", "exits.py:f", "loops.py:f", "vendor.py:number", "vendor.py:Kind", "../x.py:f"),
    *("query.txt:f", "json:no", "a b:c", "vendor.py:rr:rr", "vendor.py:__no__"),
)
DATA = {
    "--dimension": POSITIVE,
    "--sizes": (*TEXT, "2", "1.5", "nan", "2,,2"),
    "--domain": TEXT,
    "--relation": (*TEXT, "all"),
    "--probabilities": ("x", "", "nan", "2", "-1", "0.1,0.2,0.3", "inf", "0.5"),
    "--table": ("clicks.csv", "no.csv"),
    "--marginals": ("0.5",),
    "--sql": ("x",),
}
CLAIM = {
    "--epsilon": EPSILON,
    "--delta": (*NUMBER, "1"),
    "--failure-probability": INSIDE,
}
KEPT = {f"--{name}": OUTPUT for name in ("json", "html", "junit", "sarif", "ledger")}
CHECK = {
    **CLAIM,
    **DATA,
    **KEPT,
    "--exception-mass": INSIDE,
    "--method": ("x", "", "black-box", "Exhaustive"),
    "--budget": POSITIVE,
    "--search-laws": WHOLE,
    "--seed": WHOLE,
    "--workers": (*POSITIVE, "1000000"),
    "--vendor": ("acme",),
    "--config": (*INPUT, "one.toml"),
    "--nonsense": ("1",),
}
FUNCTION = {
    "--dimension": POSITIVE,
    "--sizes": TEXT,
    "--domain": TEXT,
    "--probabilities": ("x", "", "nan", "2", "0.1,0.2,0.3,0.4"),
    "--json": OUTPUT,
}
#: A command that is right, and per option what makes it wrong.
COMMANDS: dict[str, tuple[list[str], dict[str, tuple[str, ...]]]] = {
    "check": (
        ["check", *RR, "--epsilon", "2", *CUBE],
        {**CHECK, "--checkpoint": OUTPUT, "--resume": (None,)},  # type: ignore[dict-item]
    ),
    "release": (
        [*("release", *RR, "--epsilon", "2", *CUBE), "--private=clicks.csv", *COLUMN],
        {
            **CHECK,
            "--private": (*INPUT, "empty.csv", "number.json"),
            "--private-column": ("no", ""),
            "--private-rows": ("x", "1", "1:x", "a:b", "0:999999", "-999999:"),
        },
    ),
    "law": (
        ["law", *RR, "--ones", "1", "--dimension", "2"],
        {
            "--ones": (*WHOLE, "3"),
            "--dimension": POSITIVE,
            "--dataset": ("0,1",),
            "--trace": ("x",),
        },
    ),
    "law of a dataset": (
        ["law", *RR, "--dataset", "0,1"],
        {"--dataset": ("x", "", "1.5", "nan", "0,,1", "inf"), "--ones": ("1",)},
    ),
    "init": (
        ["init", *RR, "--output", "new.toml"],
        {
            "--output": (*OUTPUT, "one.toml"),
            "--epsilon": EPSILON,
            "--delta": (*NUMBER, "1"),
            "--dimension": POSITIVE,
            "--domain": TEXT,
            "--sizes": ("x", "2"),
            "--probabilities": ("x", ""),
            "--table": INPUT,
        },
    ),
    "lipschitz": (
        ["lipschitz", "vendor.py:mean", "--dimension", "3", "--proximity", "0.2"],
        {
            **FUNCTION,
            "--proximity": INSIDE,
            "--failure-probability": INSIDE,
            "--lipschitz-constant": (*NUMBER, "0"),
            "--tolerance": (*NUMBER, "1"),
            "--tester": ("x", "", "AUTO"),
            "--range-step": (*NUMBER, "0"),
            "--seed": WHOLE,
            "--workers": POSITIVE,
        },
    ),
    "distance": (
        ["distance", "vendor.py:mean", "--dimension", "3"],
        {**FUNCTION, "--lipschitz-constant": (*NUMBER, "0"), "--tolerance": (*NUMBER, "1")},
    ),
    "repair": (
        ["repair", "vendor.py:mean", "--dimension", "3", "--output", "r.npy"],
        {
            **{k: v for k, v in FUNCTION.items() if k != "--json"},
            "--output": (*OUTPUT, "table.txt"),
            "--range-step": (*NUMBER, "0"),
        },
    ),
    "plan": (
        ["plan", "--dimension", "3", "--outputs", "2"],
        {
            **FUNCTION,
            "--json": OUTPUT[:4],
            "--proximity": INSIDE,
            "--failure-probability": INSIDE,
            "--outputs": POSITIVE,
            "--epsilon": EPSILON,
            "--exception-mass": INSIDE,
        },
    ),
    "profile": (
        ["profile", *RR, *CUBE, "--epsilon", "1,2"],
        {
            **DATA,
            "--epsilon": ("x", "", "0", "-1", "nan", "1,,2", "inf"),
            "--claim": (*NUMBER, "0"),
            "--delta": (*NUMBER, "1"),
            "--exception-mass": INSIDE,
            "--failure-probability": INSIDE,
            "--method": TEXT,
            "--budget": POSITIVE,
            "--seed": WHOLE,
            "--workers": POSITIVE,
            "--json": OUTPUT,
            "--config": (*INPUT, "one.toml"),
        },
    ),
    "samples": (
        ["samples", "vendor.py:draw", "--epsilon", "1", *CUBE, "--samples", "2000"],
        {
            **CLAIM,
            **{k: v for k, v in DATA.items() if k != "--probabilities"},
            "--resolution": INSIDE,
            "--samples": POSITIVE,
            "--seed": WHOLE,
            "--workers": POSITIVE,
            "--json": OUTPUT,
            "--html": OUTPUT,
            "--ledger": OUTPUT,
            "--vendor": ("acme",),
            "--floats": (*TEXT, "both"),
            "--batch": POSITIVE,
            "--memory": POSITIVE,
            "--seconds": NUMBER,
            "--endpoint": ("", "x", "ftp://host/x", "http://user:word@host/"),
            "--select": TEXT,
            "--command": ("", "'", "no-such-program"),
        },
    ),
    "verify": (["verify", "list.json"], {"--config": INPUT, "--dimension": ("x", "1.5")}),
    "ledger": (["ledger", "show", "no.db"], {"--vendor": ("x",)}),
}
#: What is said of a table, where there is none.
OF_A_TABLE = {
    **{"--column": "click", "--columns": "click", "--group": "item", "--rows": "0:5"},
    **{"--record-table": "clicks.csv", "--record-rows": "0:5", "--histogram-of": "5"},
    **{"--sql-table": "clicks", "--query": "select 1", "--at-most": "3", "--frame": "polars"},
    "--drawn-rows": "5",
}
#: Whole command lines.
OTHERS = [
    *(["check", name, "--epsilon", "2", *CUBE] for name in MECHANISMS),
    *(["law", name, "--dataset", "0,1"] for name in MECHANISMS),
    *(["init", name, "--output", "new.toml"] for name in MECHANISMS),
    *(["samples", name, "--epsilon", "1", *CUBE] for name in ("", "no.py:x", "vendor.py:number")),
    *(
        ["samples", "--epsilon", "1", *CUBE, "--command", command, *more]
        for command in ("", "'", "no-such-program", "./vendor.py")
        for more in ([], ["--sequential"], ["--endpoint", "http://host/"], ["vendor.py:draw"])
    ),
    *(
        ["sign", name, "--key", key, "--output", output]
        for name in ("no.json", ".", "list.json", "deep.json", "latin.json")
        for key in ("no.pem", "query.txt")
        for output in ("new.json", "no/such/file")
    ),
    *(["verify", "list.json", "--key", name] for name in ("no.pem", "query.txt", ".")),
    *(["lipschitz", name, "--dimension", "3", "--proximity", ".2"] for name in ("", "no.npy", ":")),
    *(["check", "--config", name] for name in ("bad.toml", "odd.toml", "none.toml", "list.json")),
    *(["verify", name] for name in ("no.json", ".", *(n for n in FILES if n.endswith(".json")))),
    *(["ledger", "verify", name] for name in ("no.db", ".", "vendor.py", "one.toml")),
    *(["ledger", "show", name] for name in ("no.db", ".", "vendor.py", "one.toml")),
    *([word] for word in ("nonsense", "--nonsense", "check", "release", "law", "init", "verify")),
    ["check", *RR],
    ["check", *RR, *CUBE],
    ["check", *RR, "--epsilon", "2"],
    ["check", *RR, "--epsilon", "2", "--uniform"],
    ["check", *RR, "--epsilon"],
    ["check", *RR, "another.py:x", "--epsilon", "2", *CUBE],
    ["check", *RR, "--epsilon", "2", *CUBE, "--json", "a", "--html", "a"],
    ["check", *RR, "--epsilon", "2", *CUBE, "--json", "a", "--ledger", "./a"],
    ["check", *RR, "--epsilon", "2", "--dimension", "2", "--table", "words.csv"],
    ["check", *RR, "--epsilon", "2", "--dimension", "2", "--table", "latin.csv"],
    ["check", *RR, "--epsilon", "2", "--dimension", "2", "--table", "empty.csv"],
    ["check", *RR, "--epsilon", "2", "--dimension", "2", "--table", "clicks.csv"],
    *(
        ["check", *RR, "--epsilon", "2", "--dimension", "2", *law, option, value]
        for law in ([], ["--uniform"])
        for option, value in OF_A_TABLE.items()
    ),
    ["check", "--config", "one.toml", "--epsilon", "3"],
    ["check", "--config", "one.toml", "--seed", "3"],
    ["check", "--config", "one.toml", "--dimension", "3"],
    ["check", "--config", "one.toml", "--vendor", "acme"],
    ["release", "--config", "one.toml"],
    ["release", *RR, "--epsilon", "2", *CUBE],
    ["demo", "nonsense"],
    ["doctor", "nonsense"],
    ["completion", "nonsense"],
    ["ledger", "nonsense"],
    ["paper", "--share", "x"],
    ["law", *RR],
    ["law", *RR, "--ones", "1"],
    ["law", *RR, "--dimension", "1"],
]


def invocations() -> Iterator[list[str]]:
    """All of them; every one is answered with exit code 2 before anything runs."""
    for base, options in COMMANDS.values():
        for option, values in options.items():
            for value in values:
                yield with_option(base, option, value)
    yield from OTHERS


def with_option(base: list[str], option: str, value: str | None) -> list[str]:
    """A command with an option as given, or added."""
    kept = [word for word in base if not word.startswith(f"{option}=")]
    if option in kept:
        place = kept.index(option)
        del kept[place : place + 2]
    return [*kept, option] if value is None else [*kept, f"{option}={value}"]


def write_files(folder: Path) -> None:
    """What the commands read."""
    for name, text in FILES.items():
        path = folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

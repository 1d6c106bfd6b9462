"""Published mechanisms in plain NumPy, with what is known of their privacy (``table.toml``).

Put the folder ``examples`` on the path of Python; then ``catalogue.entries()`` lists them.
"""

import tomllib
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path

_TABLE = Path(__file__).with_name("table.toml")


@dataclass(frozen=True)
class Entry:
    """One mechanism with its parameters.

    ``claimed`` is the epsilon that its authors state under the relation ``moves`` ("all": every
    answer moves by at most 1, "one": one answer does). ``true_all`` and ``true_one`` are exact on
    the grid of answers 0 .. sizes[r] - 1, inf where there is none, None where not known.
    ``outputs``: "finite", "whole numbers" (unbounded) or "numbers" (a continuous law).
    """

    name: str
    module: str
    function: str
    source: str
    moves: str
    claimed: float
    sizes: tuple[int, ...]
    outputs: str
    how: str
    true_all: float | None = None
    true_one: float | None = None
    noise: str = ""
    parameters: dict = field(default_factory=dict)
    differs: str = ""

    def build(self):
        """The function (answers, rng) -> output."""
        made = getattr(import_module(f"catalogue.{self.module}"), self.function)
        options = dict(self.parameters)
        if self.noise:
            options["noise"] = getattr(import_module("catalogue.noise"), self.noise)
        return partial(made, **options) if options else made

    def true(self, relation):
        """Exact epsilon under "all" or "one"; None where it is not known."""
        return self.true_all if relation == "all" else self.true_one


def entries():
    """All entries of the table, in its order."""
    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    return [Entry(**(row | {"sizes": tuple(row["sizes"])})) for row in table["mechanism"]]

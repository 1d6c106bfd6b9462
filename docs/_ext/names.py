"""The API pages: ``public`` shows names of liptest, ``other`` those that stand on no page."""

from __future__ import annotations

import inspect
import re
import types
from importlib import import_module
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import liptest

_LISTED = re.compile(r"^```\{public\}\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Public(SphinxDirective):
    """Docstrings of the names in its content, one name a line."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Nodes of all names, in their order."""
        return self._shown([line.strip() for line in self.content if line.strip()])

    def _shown(self, names: list[str]) -> list[nodes.Node]:
        lines = [line for name in names for line in _documented(name)]
        made = nodes.container()
        self.state.nested_parse(StringList(lines, "liptest"), self.content_offset, made)
        return made.children


class Other(Public):
    """Docstrings of public names that no page of this folder lists."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        """Nodes of these names, or a sentence that there are none."""
        folder = Path(self.env.doc2path(self.env.docname)).parent
        listed: set[str] = set()
        for page in folder.glob("*.md"):
            self.env.note_dependency(page)
            for block in _LISTED.findall(page.read_text(encoding="utf-8")):
                listed.update(block.split())
        namespaces = {name.split(".")[0] for name in listed}
        rest = [name for name in liptest.__all__ if name not in listed | namespaces]
        return self._shown(rest) if rest else [nodes.paragraph(text="At present there are none.")]


def _documented(name: str) -> list[str]:
    value, where = _found(name)
    if isinstance(value, types.ModuleType):
        parts = [f"{value.__name__}.{part}" for part in value.__all__]
        return [line for part in parts for line in _automatic("function", part)]
    if inspect.isclass(value):
        return _automatic("exception" if issubclass(value, BaseException) else "class", where)
    return _automatic("function", where)


def _found(name: str) -> tuple[Any, str]:
    """A name of liptest, of one of its namespaces, or of a module; and where it is."""
    home, _, last = name.rpartition(".")
    if not home:
        return getattr(liptest, name), f"liptest.{name}"
    if home in liptest.__all__:
        module = getattr(liptest, home)
    else:
        module = import_module(f"liptest.{home}")
    return getattr(module, last), f"{module.__name__}.{last}"


def _automatic(kind: str, name: str) -> list[str]:
    return ["```{eval-rst}", f".. auto{kind}:: {name}", "```", ""]


# What NumPy's names for arrays stand for, back into these names. In front of a name of a
# signature stand its package and a tilde.
_ARRAYS = [
    (re.compile(pattern.replace("@", r"~?(?:\w+\.)*")), short)
    for pattern, short in (
        (
            r"@_Buffer \| @_SupportsArray\[@dtype\[@Any\]\] \| "
            r"@_NestedSequence\[@_SupportsArray\[@dtype\[@Any\]\]\] \| "
            r"complex \| bytes \| str \| @_NestedSequence\[complex \| bytes \| str\]",
            "ArrayLike",
        ),
        (r"@ndarray\[tuple\[@Any, \.\.\.\], @dtype\[@signedinteger\[@Any\]\]\]", "IntArray"),
        (r"@ndarray\[tuple\[@Any, \.\.\.\], @dtype\[@(\w+)\]\]", r"NDArray[\1]"),
    )
]


def short_types(
    app: Sphinx, what: str, name: str, value: Any, options: Any, *texts: str | None
) -> tuple[str | None, ...]:
    """Signature and return annotation with the names of arrays as they are written."""
    found = []
    for text in texts:
        for pattern, short in _ARRAYS:
            text = pattern.sub(short, text) if text else text
        found.append(text)
    return tuple(found)


def keep_bars(
    app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]
) -> None:
    """Absolute values are not substitutions: ``|x|`` outside of literals is escaped."""
    for place, line in enumerate(lines):
        parts = re.split(r"(``.*?``)", line)
        parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
        lines[place] = "".join(parts)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    # Before napoleon, which takes the sections apart.
    app.connect("autodoc-process-docstring", keep_bars, priority=100)
    app.connect("autodoc-process-signature", short_types)
    app.add_directive("public", Public)
    app.add_directive("other", Other)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""Examples of the pages run as they stand, and the commands that pages show exist.

Pages that are notebooks run when the site is built; docs/pytest.md and docs/running.md have tests
of their own.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import liptest as lt
from liptest.cli import main
from liptest.cli.app import app

ROOT = Path(__file__).parents[3]
PAGES = (
    "README.md",
    *(f"docs/{name}.md" for name in ("index", "answers", "black_box", "code", "ledger")),
)
PAGES += tuple(f"docs/{name}.md" for name in ("noiseless", "notions", "profile", "searching"))


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def given_names() -> dict[str, Any]:
    """What pages take for granted: a mechanism, data, a vendor's library."""
    keep = 1 / (1 + np.exp(-1.0))

    def noisy_count(dataset: Any, n: int) -> Any:
        flipped = np.random.default_rng(0).random((n, len(dataset))) > keep
        return (np.asarray(dataset) ^ flipped).sum(axis=1)

    return {
        "lt": lt,
        "np": np,
        "mechanism": lt.catalogue.randomised_response(8, 1.0),
        "distribution": lt.ProductDistribution.uniform(lt.Hypercube(8)),
        "vendor_library": SimpleNamespace(noisy_count=noisy_count),
        "x": np.array([0] * 10),
        "y": np.array([1] + [0] * 9),
    }


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_the_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", text_of(page), re.MULTILINE | re.DOTALL)
    assert blocks
    names = given_names()
    for block in blocks:
        exec(compile(block, f"<{page}>", "exec"), names)
    if page in ("README.md", "docs/index.md"):
        assert names["verdict"].decision == "NO"
        assert names["verdict"].witness.verify(names["noisy_count"])


def test_no_page_has_examples_that_nobody_runs() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/*.py"))
    for path in ROOT.glob("docs/*.md"):
        text = path.read_text(encoding="utf-8")
        if "```python" not in text or "file_format: mystnb" in text:
            continue
        known = f"docs/{path.name}" in PAGES or f'{path.name}"' in tests
        assert known, f"docs/{path.name}: no test runs its examples; add it to PAGES"


def commands() -> list[tuple[str, str]]:
    """(page, command) for each line of a block that begins with liptest, and between backticks."""
    found = []
    for page in ["README.md", *(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/**/*.md"))]:
        text = text_of(page).replace("\\\n", " ")
        blocks = re.findall(r"^```.*?^```", text, re.MULTILINE | re.DOTALL)
        lines = re.findall(r"^(?:\$ )?(liptest [a-z]+ .*)$", "\n".join(blocks), re.MULTILINE)
        lines = [line for line in lines if not line.endswith(".")]  # output, not a command
        lines += re.findall(r"^    (liptest [a-z].*)$", text, re.MULTILINE)
        found += [(page, line) for line in lines + re.findall(r"`(liptest [a-z][^`]*)`", text)]
    return found


@pytest.mark.slow
def test_the_commands_exist() -> None:
    known = {"--help", "--version", "-h"}
    shown = commands()
    assert len(shown) > 20
    for page, line in shown:
        words = shlex.split(line.partition(" | ")[0].partition("#")[0])[1:]
        options = {word.partition("=")[0] for word in words if word.startswith("--")} - known
        assert words[0] in app, f"{page}: {line}: there is no such command"
        command = app[words[0]]
        for word in words[1:]:
            if word in command:
                command = command[word]
        taken = {
            name for argument in command.assemble_argument_collection() for name in argument.names
        }
        assert options <= taken, f"{page}: {line}: {options - taken}"


@pytest.mark.slow
def test_the_first_five_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = text_of("docs/first_steps.md")
    [vendor] = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("vendor.py").write_text(vendor)
    # A third of the rows of the page, which take a third of the time.
    ones = np.random.default_rng(0).random(1000) < 0.07
    Path("visits.csv").write_text("returned\n" + "".join(f"{int(one)}\n" for one in ones))
    claim = ["--epsilon", "0.5", "--table", "visits.csv", "--column", "returned"]
    assert main(["init", "vendor.py:returning", *claim]) == 0
    assert "Slow: method light-neighbourhoods" in capsys.readouterr().out
    assert main(["check"]) == 1
    out = capsys.readouterr().out
    assert "NO refuted with a witness" in out
    assert "probability 1.90412e-07 against 0" in out
    assert "probability 1.90412e-07 against 0" in page

    claim_file = Path("liptest.toml").read_text()
    assert "\ndelta" not in claim_file
    Path("liptest.toml").write_text(f"{claim_file}delta = 1e-6\n")
    Path("mended.py").write_text(mended(vendor))
    Path("vendor.py").unlink()
    Path("liptest.toml").write_text(
        Path("liptest.toml").read_text().replace("vendor.py", "mended.py")
    )
    Path("this_month.csv").write_text(Path("visits.csv").read_text())
    private = ["--private", "this_month.csv", "--private-column", "returned"]
    assert main(["release", *private]) == 0
    out = capsys.readouterr().out
    assert "YES by proof - every case checked" in out
    assert "the 1,000 pairs of its neighbouring values cover all" in " ".join(out.split())
    assert "(1 release: (0.5, 1e-06)-private on every dataset)" in out
    assert "(1 release: (0.5, 1e-06)-private on every dataset)" in page


def mended(vendor: str) -> str:
    """Step 5 of the page: the function is handed the count."""
    text = vendor.replace("import math\n", "import math\n\nimport liptest as lt\n")
    text = text.replace(
        "def returning(data, rng):",
        "@lt.mechanism(statistic=lt.Count())\ndef returning(count, rng):",
    )
    return text.replace("    count = sum(int(v) for v in data)\n", "")

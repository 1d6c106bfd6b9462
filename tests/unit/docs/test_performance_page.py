"""docs/performance.md: its example runs on real Dask programs, its exact numbers are recomputed."""

from __future__ import annotations

import importlib
import math
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

import liptest as lt
from liptest.lipschitz.oracles import SLICE_BYTES
from liptest.privacy.methods import edges, group, light, neighbourhoods, paper_laws
from liptest.privacy.proofs import domain_laws
from liptest.privacy.samples import sampling_run
from liptest.runs import driver
from liptest.runs import workers as executors

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
WORDS = " ".join(PAGE.split())


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("sizes")


def rows(heading: str) -> list[list[str]]:
    """Cells of the table under a heading, without its head."""
    text = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells[2:] if not set("".join(row)) <= set("-")]


@pytest.mark.slow
def test_laws_of_the_sizes_are_those_of_the_benchmark(sizes: ModuleType) -> None:
    told = [cells for cells in rows("Which method for which size") if len(cells) == 7]
    assert len(told) == len(sizes.CASES)
    for (_, d, law, method, holds, laws, _), case in zip(told, sizes.CASES, strict=True):
        assert d == f"{case.d:,}"
        assert method == case.method
        if method == "exhaustive":
            assert (law, holds) == ("any", "everywhere")
        else:
            uniform = case.probability == 0.5
            assert law == ("uniform" if uniform else f"ones {case.probability:g}")
            assert holds == f"off {case.mass:g}"
        assert laws == f"{case.planned(case):,}", case.name


def test_laws_of_very_many_datasets() -> None:
    told = [cells for cells in rows("Which method for which size") if len(cells) == 5]
    law = lt.ProductDistribution.uniform(lt.Hypercube(1_000_000))
    wanted = [2**24, 2**24, sum(range(1001)) + 1, 1_000_001]
    wanted.append(round(neighbourhoods(law, 1e-2, 1e-6).plan.laws))
    found = [laws for name, _, laws, _, _ in told if name != "what"]
    assert found == [f"{laws:,}" for laws in wanted]
    assert f"({24 * 2**23:,} pairs)" in WORDS


def test_the_numbers_beside_the_paper() -> None:
    told = {name: cells for name, *cells in rows("Beside the paper and the lower bounds")}
    for k, (d, mass) in enumerate(((20, 1e-2), (100, 1e-3), (1000, 1e-4))):
        law = lt.ProductDistribution.uniform(lt.Hypercube(d))
        numbers = law, mass, 1e-6
        mechanism = lt.catalogue.truncated_geometric_count(d, 1.0)
        column = {name: cells[k] for name, cells in told.items()}
        least = math.ceil(math.log(1e-6) / math.log1p(-mass))
        assert column["datasets that any tester needs"] == f"{least:,}"
        assert least == neighbourhoods(*numbers).plan.draws == light(*numbers).plan.draws
        assert column["queries that any Lipschitz tester needs, up to a constant"] == f"{d:,}"
        assert column["light neighbourhoods, expected"] == shown(light(*numbers).plan.laws)
        assert column["edges"] == shown(edges(*numbers).plan.laws)
        assert column["neighbourhoods"] == shown(neighbourhoods(*numbers).plan.laws)
        assert column["group"] == shown(group(mechanism, *numbers).plan.laws)
        assert column["paper, as printed"] == shown(paper_laws(law, d + 1, mass, 1e-6))


def shown(laws: float) -> str:
    return f"{round(laws):,}" if laws < 2e8 else f"{laws:.1e}"


def test_other_exact_numbers_of_the_page() -> None:
    law = lt.ProductDistribution.uniform(lt.Hypercube(12))
    assert f"({neighbourhoods(law, 0.1, 1e-6).plan.laws:,.0f} against {2**12:,})" in WORDS
    small = lt.ProductDistribution.uniform(lt.Hypercube(4))
    tester = lt.testers.DJT12(range_step=lt.testers.DJT12.best_step(small, 0.05))
    plan = tester.plan(small, proximity=0.05, failure_probability=5e-7)
    assert f"{2 * 2 * plan.draws:,} laws" in WORDS
    assert f"against {neighbourhoods(small, 0.1, 1e-6).plan.laws:.0f} of" in WORDS
    rare = lt.ProductDistribution.bernoulli([0.004] * 5000)
    found = light(rare, 1e-3, 1e-6).plan
    assert f"{found.laws_per_draw:.0f} instead of {5001:,}" in WORDS


def test_what_the_page_says_of_the_code() -> None:
    assert f"two chunks of about {SLICE_BYTES >> 20} MiB" in WORDS
    assert domain_laws._MEMORY == 1 << 30
    assert "at 1 GiB of different laws" in WORDS
    assert f"{sampling_run._CHUNK_POINTS['enumerated']} laws of enumerated code" in WORDS
    assert f"{driver._CHUNK_POINTS:,} laws of a formula" in WORDS
    values = f"{driver._CHUNK_COORDINATES:,} values"
    assert f"{values} (from d = {driver._CHUNK_COORDINATES // driver._CHUNK_POINTS} on)" in WORDS
    assert f"groups of about {executors._GROUP_SECONDS} seconds" in WORDS


def test_running_links_to_the_page() -> None:
    assert "(performance.md" in (ROOT / "docs" / "running.md").read_text(encoding="utf-8")


@contextmanager
def programs(commands: list[list[str]]) -> Iterator[None]:
    running: list[subprocess.Popen[bytes]] = []
    try:
        for command in commands:
            quiet = subprocess.DEVNULL
            running.append(subprocess.Popen(command, stdout=quiet, stderr=quiet))
            time.sleep(0.2)
        yield
    finally:
        for process in reversed(running):
            process.terminate()
        for process in reversed(running):
            process.wait(timeout=30)


def free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return int(place.getsockname()[1])


@pytest.mark.slow
def test_the_cluster_of_the_page_gives_its_verdict(tmp_path: Path) -> None:
    (commands,) = re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)
    code = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
    (printed,) = re.findall(r"It prints `(.*?)`", PAGE)
    port = str(free_port())
    script = tmp_path / "example.py"
    script.write_text(code.replace("8786", port), encoding="utf-8")
    lines = [shlex.split(line.replace("8786", port)) for line in commands.splitlines()]
    assert [line[0] for line in lines] == ["dask", "dask"]
    started = [[sys.executable, "-m", *line, "--no-dashboard"] for line in lines]
    with programs(started):
        done = subprocess.run(
            [sys.executable, str(script)],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            timeout=120,
        )
    assert (done.stdout, done.stderr) == (f"{printed}\n", "")
    assert (tmp_path / "flip.json").exists()

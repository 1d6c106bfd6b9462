"""Compiled programs by samples: naive Laplace noise is found, discrete and snapped noise never.

Run ``python benchmarks/compiled.py [--seeds 1000] [--only Go]``. A count with noise in C++, Java,
Rust and Go (``examples/programs``, at most 65 lines each), claim 1 at failure 1e-6: noise added in
floats, of whole numbers, and on a grid. Where a compiler is missing its rows are left out.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import liptest as lt
from liptest.blackbox.programs import ExternalProgram
from liptest.verdicts import Decision

EXAMPLES = Path(__file__).parents[1] / "examples" / "programs"
#: Language -> compiler, and its arguments before the source; {out} is a new file or folder.
LANGUAGES = {
    "C++": ("noiser.cpp", "g++ -O2 -o {out}"),
    "Java": ("Noiser.java", "javac -d {out}"),
    "Rust": ("noiser.rs", "rustc -O -o {out}"),
    "Go": ("noiser.go", "go build -o {out}"),
}
#: Kind of noise -> most samples, and whether it must be found.
KINDS = {"laplace": (100_000, True), "discrete": (4_000, False), "snapped": (4_000, False)}


def build(language: str, folder: Path) -> tuple[str, ...] | None:
    """Compile an example; the command that runs it, or None where there is no compiler."""
    source, line = LANGUAGES[language]
    if shutil.which(line.split()[0]) is None:
        return None
    out = str(folder / language)
    words = [word.format(out=out) for word in line.split()]
    subprocess.run([*words, str(EXAMPLES / source)], check=True)
    return ("java", "-cp", out, "Noiser") if language == "Java" else (out,)


def refuted(command: tuple[str, ...], seeds: int, samples: int) -> list[int]:
    """How many samples each NO took, ascending; one process answers all seeds."""
    program = ExternalProgram(command)
    used = []
    for seed in range(seeds):
        verdict = lt.check_samples(
            program.sampler(),
            [([0], [1])],
            epsilon=1.0,
            samples=samples,
            seed=seed,
            sequential=True,
        )
        if verdict.decision == Decision.NO:
            used.append(verdict.cost.draws)
    program.close()
    return sorted(used)


def main() -> None:
    """Print a line for each language and kind of noise."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=1_000)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(f"A count with noise, claim 1, failure 1e-6, {options.seeds:,} seeds")
    print(f"{'language':<10}{'noise':<10}{'samples':>9}{'NO':>9}{'median':>9}{'most':>9}{'s':>7}")
    with TemporaryDirectory() as folder:
        for language in (name for name in LANGUAGES if options.only in name):
            command = build(language, Path(folder))
            if command is None:
                print(f"{language:<10}left out: no compiler here")
                continue
            for kind, (samples, is_found) in KINDS.items():
                started = time.perf_counter()
                used = refuted((*command, kind), options.seeds, samples)
                seconds = time.perf_counter() - started
                row = (f"{used[len(used) // 2]:,}", f"{used[-1]:,}") if used else ("", "")
                print(
                    f"{language:<10}{kind:<10}{samples:>9,}{len(used):>9,}"
                    f"{row[0]:>9}{row[1]:>9}{seconds:>7.0f}",
                    flush=True,
                )
                assert len(used) == (options.seeds if is_found else 0)


if __name__ == "__main__":
    main()

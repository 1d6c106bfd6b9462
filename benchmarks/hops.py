"""How far a check goes: files and functions of liptest that run from the call to the verdict.

A reader who follows one check with a debugger sees that many. Imports are warm: a first run, which
is not counted, does them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import liptest as lt

FOLDER = str(Path(lt.__file__).parent)
DATA = lt.ProductDistribution.bernoulli(np.full(6, 0.2))
ANSWERS = lt.ProductDistribution.uniform(lt.AnswerGrid([2] * 3, relation="all"))
#: For the three lines of Python under an exhaustive proof.
MOST_FILES, MOST_FUNCTIONS = 30, 200


def noisy_count(data: Any, rng: Any) -> int:
    noise = 0
    while noise < 8 and rng.random() < 0.36787944117144233:
        noise += 1
    return int(data.sum()) + noise


def sparse_vector(answers: Any, rng: Any) -> tuple[bool, ...]:
    threshold, told = rng.laplace(0, 4.0), []
    for answer in answers:
        told.append(bool(answer + rng.laplace(0, 4 / 3) >= threshold))
        if told[-1]:
            break
    return tuple(told)


def real_output(data: Any, rng: Any) -> float:
    return float(data.sum() + rng.laplace(0, 1.0))


@dataclass
class Hops:
    """What was entered: files, functions, arrows between files, and the deepest stack."""

    files: set[str] = field(default_factory=set)
    functions: set[tuple[str, str]] = field(default_factory=set)
    arrows: set[tuple[str, str]] = field(default_factory=set)
    deepest: int = 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Note a call; for ``sys.setprofile``."""
        file = frame.f_code.co_filename
        if event != "call" or not file.startswith(FOLDER):
            return
        self.files.add(file)
        self.functions.add((file, frame.f_code.co_qualname))
        callers = [caller for caller in _callers(frame) if caller.startswith(FOLDER)]
        self.deepest = max(self.deepest, len(callers) + 1)
        if callers and callers[0] != file:
            self.arrows.add((callers[0], file))


def _callers(frame: FrameType) -> list[str]:
    files = []
    caller = frame.f_back
    while caller is not None:
        files.append(caller.f_code.co_filename)
        caller = caller.f_back
    return files


def hops_of(task: Callable[[], Any]) -> Hops:
    """What a task enters when it runs for the second time."""
    task()
    hops = Hops()
    sys.setprofile(hops)
    try:
        task()
    finally:
        sys.setprofile(None)
    return hops


def check(mechanism: Callable[[], Any], law: Any, **options: Any) -> Callable[[], Any]:
    """A check that makes its mechanism anew, so that no law is known from the run before."""
    return lambda: lt.check_privacy(mechanism(), law, epsilon=1.0, seed=1, **options)


SAMPLED = {"method": "neighbourhoods", "exception_mass": 0.1}
TASKS: dict[str, Callable[[], Any]] = {
    "three lines of Python": check(lambda: lt.mechanism(noisy_count), DATA),
    "the same, by neighbourhoods": check(lambda: lt.mechanism(noisy_count), DATA, **SAMPLED),
    "sparse vector": check(lambda: lt.mechanism(sparse_vector), ANSWERS),
    "a real output": check(lambda: lt.mechanism(real_output), DATA),
    "count + discrete Laplace": check(
        lambda: lt.ShiftMechanism(lt.Count(), lt.DiscreteLaplace(1)), DATA
    ),
}


def main() -> int:
    """Print a row per task; 1 where three lines of Python enter more than they should."""
    print(f"{'':30}{'files':>8}{'functions':>11}{'arrows':>8}{'deepest':>9}")
    wrong = False
    for name, task in TASKS.items():
        hops = hops_of(task)
        files, functions = len(hops.files), len(hops.functions)
        print(f"{name:30}{files:8}{functions:11}{len(hops.arrows):8}{hops.deepest:9}")
        if name == "three lines of Python":
            wrong = files > MOST_FILES or functions > MOST_FUNCTIONS
    print(f"goal of the first: at most {MOST_FILES} files and {MOST_FUNCTIONS} functions")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())

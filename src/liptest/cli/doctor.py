"""``liptest doctor``: what is installed, and whether it works on this machine."""

from __future__ import annotations

import platform
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import liptest
from liptest.errors import LiptestError


def doctor() -> int:
    """Say whether all that is installed works here.

    Example: liptest doctor
    """
    return run_doctor()


_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[.*?\])?\s*([^;]*)(?:;.*extra\s*==\s*['\"]([\w-]+)['\"])?")
_SECONDS = 60.0


def run_doctor() -> int:
    """Print the findings; 0 when everything that liptest needs works."""
    start = time.perf_counter()
    problems: list[str] = []
    for line in _places():
        print(line)
    for title, findings in (
        ("needed", _packages(extras=False, problems=problems)),
        ("optional", _packages(extras=True, problems=[])),
        ("self test", _self_test(problems)),
        ("worker processes", _processes(problems)),
        ("vendors' code in liptest release", _confinement()),
    ):
        print(f"\n{title}:")
        for line in findings:
            print(f"  {line}")
    seconds = time.perf_counter() - start
    print(f"\n{_conclusion(problems)} ({seconds:.1f} s)")
    return 1 if problems else 0


def _conclusion(problems: list[str]) -> str:
    if not problems:
        return "Everything works."
    return f"{len(problems)} problem{'s' * (len(problems) > 1)}: {'; '.join(problems)}."


def _places() -> Iterator[str]:
    yield f"liptest {liptest.__version__}   {Path(liptest.__file__).parent}"
    system = f"{platform.system()} {platform.machine()}"
    yield f"Python {platform.python_version()}   {sys.executable}   {system}"
    command = shutil.which("liptest")
    yield f"command   {command or 'not on PATH; python -m liptest does the same'}"


def _packages(*, extras: bool, problems: list[str]) -> Iterator[str]:
    """The packages that liptest's own metadata name, with what is installed of them."""
    try:
        declared = metadata.requires("liptest") or []
    except metadata.PackageNotFoundError:
        yield "unknown: liptest runs from its source and is not installed"
        return
    matches = [match for text in declared if (match := _REQUIREMENT.match(text))]
    chosen = [match.groups() for match in matches if bool(match[3]) is extras]
    for name, bounds, extra in chosen:
        yield _package(name, bounds.strip(" ()"), extra, problems)
    if not chosen:
        yield "none declared"


def _package(name: str, bounds: str, extra: str | None, problems: list[str]) -> str:
    advice = f"pip install {repr(f'liptest[{extra}]') if extra else repr(name + bounds)}"
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        problems.append(f"{name} is missing")
        return f"{name:16} missing: {advice}"
    least = re.search(r">=\s*([\d.]+)", bounds)
    if least and _numbers(version) < _numbers(least[1]):
        problems.append(f"{name} {version} is too old")
        return f"{name:16} {version} is too old, {bounds} is needed: {advice}"
    return f"{name:16} {version}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])


def _self_test(problems: list[str]) -> Iterator[str]:
    """Claims of which the answer is known."""
    tests: list[tuple[str, Callable[[], Any]]] = [
        ("randomised response at epsilon 1 keeps its claim: YES by proof", _check_known_yes),
        ("the same on thousands of drawn datasets: YES by sampling", _check_known_sampled_yes),
        ("the same misses epsilon 0.999999: NO, the witness verifies", _check_known_no),
        ("noise that is forgotten, found in Python code: NO, loss infinite", _check_known_leak),
    ]
    for words, test in tests:
        yield f"{_outcome(test, words, problems)}   {words}"


def _outcome(test: Callable[[], Any], words: str, problems: list[str]) -> str:
    try:
        good = bool(test())
    except (LiptestError, ImportError, ArithmeticError, TypeError, ValueError) as error:
        problems.append(f"{words}: {type(error).__name__}: {error}")
        return "FAILED"
    if not good:
        problems.append(f"not so: {words}")
    return "good" if good else "WRONG"


def _check(epsilon: float, **options: Any) -> tuple[Any, Any]:
    import liptest as lt

    mechanism = lt.catalogue.randomised_response(3, 1.0)
    law = lt.ProductDistribution.bernoulli([0.1, 0.5, 0.9])
    return lt.check_privacy(mechanism, law, epsilon=epsilon, seed=1, **options), mechanism


def _check_known_yes() -> bool:
    verdict, _ = _check(1.0)
    return bool(verdict.decision == "YES" and verdict.guarantee.kind == "proof")


def _check_known_sampled_yes() -> bool:
    verdict, _ = _check(1.0, method="neighbourhoods")
    return bool(verdict.decision == "YES" and verdict.guarantee.kind == "sampling")


def _check_known_no() -> bool:
    verdict, mechanism = _check(0.999999)
    return bool(verdict.decision == "NO" and verdict.witness.verify(mechanism))


def _check_known_leak() -> bool:
    import liptest as lt

    mechanism = lt.mechanism(_forgetful)
    law = lt.ProductDistribution.uniform(lt.Hypercube(6))
    verdict = lt.check_privacy(mechanism, law, epsilon=1.0, seed=1)
    witness = verdict.witness
    if verdict.decision != "NO" or witness is None:
        return False
    return witness.loss == float("inf") and witness.verify(mechanism)


def _forgetful(data: Any, rng: Any) -> int:
    """A count whose noise is drawn only when there is something to hide."""
    return int(data.sum()) + (int(rng.random() < 0.5) if data.sum() else 0)


def _confinement() -> Iterator[str]:
    from liptest.runs.cgroups import describe_group
    from liptest.runs.jail import confinement

    yield confinement()
    yield describe_group()


def _processes(problems: list[str]) -> Iterator[str]:
    from liptest.cli.workers import pool

    try:
        with pool(2) as executor:
            assert executor is not None
            answers = [executor.submit(abs, -n).result(_SECONDS) for n in range(8)]
            alone, shared = (
                _check(1.0, method="edges", executor=workers)[0] for workers in (None, executor)
            )
    except (LiptestError, OSError, RuntimeError, ValueError) as error:
        problems.append("worker processes cannot be used; --workers 1 needs none")
        yield f"FAILED   {type(error).__name__}: {error}"
        return
    same = answers == list(range(8)) and alone.cost.laws == shared.cost.laws
    if not same:
        problems.append("2 worker processes gave another answer than one process")
    yield f"{'good' if same else 'WRONG'}   2 processes give the answer of one"

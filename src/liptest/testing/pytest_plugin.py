"""pytest plugin: a claim of privacy as a test; see docs/pytest.md.

pytest loads this module in every project of an environment that has liptest, so nothing but
pytest is imported before the first check.
"""

from __future__ import annotations

import inspect
import json
import os
import shlex
from argparse import ArgumentTypeError
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from liptest.data.distributions import Distribution
    from liptest.data.domains import Domain
    from liptest.lipschitz.testers.base import LipschitzTester
    from liptest.privacy.claims import ExactLog
    from liptest.privacy.verdicts import PrivacyVerdict
    from liptest.privacy.witnesses import PrivacyWitness
    from liptest.runs.driver import Progress


#: Seed of every check that names none, so that a test run can be repeated.
SEED = 20120918
_MARK = "private(mechanism, distribution, epsilon=1)"


class ClaimNotConfirmed(AssertionError):
    """The answer was NO or INCONCLUSIVE; ``verdict`` is the whole answer."""

    def __init__(self, message: str, verdict: PrivacyVerdict | None = None) -> None:
        super().__init__(message)
        self.verdict = verdict


def assert_private(
    mechanism: Any,
    distribution: Distribution | Domain,
    *,
    epsilon: float | str | ExactLog | None = None,
    delta: float = 0.0,
    rho: float | None = None,
    renyi: Any = None,
    mu: float | None = None,
    curve: Mapping[float | str | ExactLog, float] | None = None,
    exception_mass: float = 1e-3,
    failure_probability: float = 1e-6,
    method: str | LipschitzTester = "auto",
    tolerance: float = 1e-9,
    budget: int | None = None,
    search_laws: int | None = None,
    floats: str = "both",
    seed: int | None = None,
    max_seconds: float | None = None,
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> PrivacyVerdict:
    """``check_privacy``, and an assertion that the answer is YES; returns the verdict.

    Arguments and errors are those of ``liptest.check_privacy``, except for ``seed``: without one
    the seed is that of ``--liptest-seed``, else ``SEED``. A seed that the author of the code
    can know makes a sampled YES a regression test, not evidence against a dishonest author
    (theory 3.11).

    Raises
    ------
    ClaimNotConfirmed
        NO, with the witness, or INCONCLUSIVE, with its reason; an AssertionError.
    """
    __tracebackhide__ = True
    from liptest.errors import LiptestError
    from liptest.privacy.check import check_privacy

    test = _running[-1] if _running else None
    try:
        verdict = check_privacy(
            mechanism,
            distribution,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            renyi=renyi,
            mu=mu,
            curve=curve,
            exception_mass=exception_mass,
            failure_probability=failure_probability,
            method=method,
            tolerance=tolerance,
            budget=budget,
            search_laws=search_laws,
            floats=floats,
            seed=_seed(test) if seed is None else seed,
            max_seconds=max_seconds,
            executor=executor,
            progress=progress,
            checkpoint=checkpoint,
        )
    except LiptestError as error:
        # These messages say what to do; the frames inside liptest would only hide the test.
        raise error.with_traceback(None) from None
    if test is not None:
        test.add(verdict)
    if verdict.decision != "YES":
        raise ClaimNotConfirmed(_message(verdict, test), verdict)
    return verdict


class _Test:
    """What was checked in the test that is running."""

    def __init__(self, item: pytest.Item) -> None:
        self.item = item
        self.checks = self.laws = self.pairs = 0
        self.worst: PrivacyVerdict | None = None

    def add(self, verdict: PrivacyVerdict) -> None:
        self.checks += 1
        self.laws += verdict.cost.laws
        self.pairs += verdict.cost.pairs
        if self.worst is None or _badness(verdict) > _badness(self.worst):
            self.worst = verdict

    def properties(self) -> list[tuple[str, object]]:
        """For JUnit XML; a test of many checks, as under Hypothesis, tells its worst one."""
        if self.worst is None:
            return []
        from liptest.report.findings import verdict_facts

        totals = {"checks": self.checks, "laws": self.laws, "pairs": self.pairs}
        told: dict[str, object] = {**verdict_facts(self.worst), **totals}
        return [(f"liptest.{name}", value) for name, value in told.items()]


def _badness(verdict: PrivacyVerdict) -> tuple[int, float]:
    return ("YES", "INCONCLUSIVE", "NO").index(verdict.decision), verdict.largest_loss


# A stack: pytest can run inside of a test.
_running: list[_Test] = []


def _message(verdict: PrivacyVerdict, test: _Test | None) -> str:
    from liptest.privacy.witnesses import PrivacyWitness
    from liptest.report.text import finding_lines, law_expressions

    lines = [f"{verdict.mechanism}: {verdict.decision}", *finding_lines(verdict), ""]
    lines += [f"To run it again: {command}" for command in [_command(verdict, test)] if command]
    if isinstance(verdict.witness, PrivacyWitness) and _has_laws(verdict.witness):
        name = verdict.mechanism if verdict.mechanism.isidentifier() else "mechanism"
        first, second = law_expressions(verdict.witness, name)
        lines.append(f"Both output distributions: {first}")
        lines.append(f"                  {second}")
    return "\n".join(lines)


def _has_laws(witness: PrivacyWitness) -> bool:
    """Whether single outputs have probabilities, on datasets that are not data frames.

    Sets of real numbers are written as they are printed.
    """
    from liptest.privacy.witnesses import output_to_json

    return not witness.rows and '{"repr": ' not in json.dumps(
        [output_to_json(output) for output in witness.event]
    )


def _command(verdict: PrivacyVerdict, test: _Test | None) -> str:
    if test is None:
        node = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    else:
        # A node's name starts at the root of the project, a command where it is typed.
        _, colons, inner = test.item.nodeid.partition("::")
        start = test.item.config.invocation_params.dir
        node = os.path.relpath(test.item.path, start) + colons + inner
    seed = "" if verdict.seed == SEED else f" --liptest-seed={verdict.seed}"
    return f"pytest {shlex.quote(node)}{seed}" if node else ""


def _seed(test: _Test | None) -> int | None:
    """None lets the operating system choose."""
    given = None if test is None else test.item.config.getoption("--liptest-seed", None)
    if given is None:
        return SEED
    return None if given == "random" else int(given)


def _seed_option(text: str) -> str:
    if text != "random" and not (text.isascii() and text.isdecimal()):
        raise ArgumentTypeError(f"{text!r} must be a whole number of at least 0, or random")
    return text


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--liptest-seed``."""
    parser.getgroup("liptest", "privacy claims").addoption(
        "--liptest-seed",
        type=_seed_option,
        metavar="N|random",
        help=f"seed of privacy checks that name none (default {SEED}); random: a new one for "
        f"each check, from the operating system, shown when the check fails",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, for --strict-markers."""
    config.addinivalue_line(
        "markers",
        f"{_MARK}: before the test, assert that the claim holds; takes all arguments of "
        f"liptest.check_privacy.",
    )


# The older kind of wrapper: an installed liptest must not stop an older pytest from starting.
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Run the checks of the markers, then the test; keep what was found for the reports."""
    __tracebackhide__ = True
    test = _Test(item)
    _running.append(test)
    try:
        for mark in item.iter_markers("private"):
            _check_marked(mark)
        yield
    finally:
        _running.remove(test)
        item.user_properties.extend(test.properties())


def _check_marked(mark: pytest.Mark) -> None:
    __tracebackhide__ = True
    try:
        inspect.signature(assert_private).bind(*mark.args, **mark.kwargs)
    except TypeError as error:
        raise pytest.UsageError(f"@pytest.mark.private: {error}; write {_MARK}") from None
    assert_private(*mark.args, **mark.kwargs)


@pytest.fixture(name="assert_private", scope="session")
def _assert_private() -> Callable[..., PrivacyVerdict]:
    """``assert_private`` of this module: assert that a mechanism is private as claimed."""
    # Of the session, because Hypothesis does not reset fixtures of a function.
    return assert_private

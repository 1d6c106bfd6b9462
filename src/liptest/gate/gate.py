"""The gate (paper Algorithm 2, A_privGen): test first, release only after a YES."""

from __future__ import annotations

import contextlib
import io
import logging
import math
import secrets
import threading
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liptest.data.distributions import Distribution, check_distribution
from liptest.data.domains import Domain, IntArray
from liptest.data.fitted import recognised
from liptest.errors import CodeChangedError, GateError, check_count
from liptest.evidence.certificate import Certificate, certify
from liptest.evidence.ledger import LedgerLike, LedgerRecorder
from liptest.lipschitz.testers.base import LipschitzTester
from liptest.mechanisms.additive import DiscreteGaussian, DiscreteLaplace
from liptest.mechanisms.base import Mechanism, check_mechanism, require_probabilities
from liptest.mechanisms.laws import Output, OutputLaw, released_weights
from liptest.mechanisms.shift import ShiftMechanism, VectorShift
from liptest.privacy.check import check_with_settings
from liptest.privacy.claims import ExactLog
from liptest.privacy.request import validated_request
from liptest.privacy.settings import CheckSettings
from liptest.privacy.verdicts import PrivacyVerdict
from liptest.runs.driver import Progress
from liptest.runs.fingerprints import Fingerprint, fingerprint
from liptest.verdicts import Decision

RandomBelow = Callable[[int], int]


@dataclass(frozen=True)
class Released:
    """One draw of the tested law on the private dataset.

    ``warning`` is for the operator only, as it tells about the private dataset: it is the table
    that the distribution was fitted on. "" otherwise.
    """

    output: Output
    certificate: Certificate
    warning: str = ""


@dataclass(frozen=True)
class Refused:
    """No output: the claim was not confirmed. Does not depend on the private dataset."""

    certificate: Certificate


class Gate:
    """What all routes to a release share: the certificate, the count, the frozen code.

    Use one of its subclasses. The private dataset is looked at only in ``release``, and only
    when the certificate says YES.
    """

    _law: Distribution | None = None

    def __init__(
        self,
        mechanism: Mechanism,
        domain: Domain,
        code: Fingerprint,
        certificate: Certificate,
        recorder: LedgerRecorder,
    ) -> None:
        self._mechanism = mechanism
        self._domain = domain
        self._code = code
        self._certificate = recorder.decided(certificate)
        self._recorder = recorder
        self._left = certificate.releases
        self._counting = threading.Lock()

    @property
    def certificate(self) -> Certificate:
        """The verdict with hashes of what was tested."""
        return self._certificate

    @property
    def releases_left(self) -> int:
        """How many outputs may still be drawn."""
        return self._left

    def release(self, dataset: ArrayLike) -> Released | Refused:
        """Draw the mechanism's output on the private dataset, (d,) whole numbers.

        The draw uses cryptographic randomness and the tested, normalised law, with exact
        integer weights.

        Raises
        ------
        DatasetError
            The dataset lies outside the domain; nothing ran, nothing is quoted.
        CodeChangedError
            The code, or a local module it imports, is not what was tested.
        GateError
            All releases are used, or the mechanism failed on the private dataset; the
            reason is withheld, because it could tell about the data.
        LedgerError
            The release, or the verdict before it, cannot be written to the ledger; nothing
            was drawn, and ``certificate`` still holds the verdict.
        """
        self._recorder.settle()
        if self._certificate.decision is not Decision.YES:
            return Refused(self._certificate)
        self._check_left()
        private = self._domain.check_points(dataset, private=True)
        if len(private) != 1:
            raise GateError("dataset: give one dataset, not a batch")
        if fingerprint(self._mechanism).code != self._code.code:
            raise CodeChangedError(
                f"{self._mechanism.name}: the code, a parameter or a local module it imports "
                f"changed after the test; nothing is released. Test it again"
            )
        warning = self._warning(private)
        # Counted before the draw: an answer that fails half-way is an answer.
        with self._counting:
            self._check_left()
            self._recorder.release()
            self._left -= 1
        copy = private[0].copy()
        failed, output = _quietly(lambda: _draw(self._mechanism, copy))
        if failed:
            raise GateError(
                f"{self._mechanism.name}: it failed on the private dataset; the reason is "
                f"withheld because it may tell about the data"
            )
        return Released(output, self._certificate, warning)

    def _warning(self, private: IntArray) -> str:
        guarantee = self._certificate.verdict.guarantee
        if self._law is None or (guarantee.kind == "proof" and not guarantee.exception_mass):
            return ""  # a proof holds whatever the distribution was fitted on
        return recognised(self._law, private[0])

    def _check_left(self) -> None:
        if self._left <= 0:
            raise GateError(
                f"releases={self._certificate.releases}: all are used; a further one needs a "
                f"new gate and costs its epsilon again"
            )


class PrivacyGate(Gate):
    """Tests a claim on construction; ``release`` answers only after a YES (theory 3.11).

    The code is hashed first and the seed drawn from the operating system afterwards, so that
    its author cannot have known it. The private dataset is never looked at before a YES.

    Parameters
    ----------
    mechanism, distribution, epsilon, delta, rho, renyi, mu, curve
    exception_mass, failure_probability, method, search_laws
        As for ``check_privacy``.
    releases
        How many outputs may be drawn in all; each costs epsilon once more.
    seed
        For reproduction only: the certificate then says that it holds only if the code was
        written without knowing the seed.
    ledger
        A ``Ledger`` or its path: the attempt is written to it before the seed is drawn, the
        verdict when it is decided, each release before its draw. None keeps no ledger.
    vendor
        Whose attempt it is in the ledger; None means the mechanism's name. The author of the
        code chooses that name, so better give one.
    private_table
        Name of the data in the ledger, never the data; releases of the same name add up.

    Raises
    ------
    InputError, MechanismError
        As ``check_privacy``; there is no gate then.
    LedgerError
        The ledger cannot be written; nothing was tested.
    """

    def __init__(
        self,
        mechanism: Any,
        distribution: Distribution,
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
        releases: int = 1,
        seed: int | None = None,
        max_seconds: float | None = None,
        executor: Executor | None = None,
        progress: Progress | None = None,
        ledger: LedgerLike = None,
        vendor: str | None = None,
        private_table: str | None = None,
    ) -> None:
        checked = check_mechanism(mechanism)
        domain = check_distribution(distribution, together=True).domain
        check_count("releases", releases)
        require_probabilities(checked, domain)
        settings = CheckSettings(
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
            seed=seed,
            max_seconds=max_seconds,
            executor=executor,
            progress=progress,
        )
        validated_request(checked, distribution, settings)
        recorder = LedgerRecorder.of_gate(ledger, vendor=vendor, private_table=private_table)
        code = fingerprint(checked)
        recorder.begin(checked, code, distribution, settings.claim, settings.failure_probability)
        drawn = secrets.randbits(128) if seed is None else seed
        # What is released is drawn from a law: a proof has to have seen them.
        run = replace(settings, seed=drawn)
        verdict = check_with_settings(checked, distribution, run, for_release=True)
        worded = self._worded(verdict)
        certificate = certify(worded, code, distribution, own_seed=seed is None, releases=releases)
        super().__init__(checked, domain, code, certificate, recorder)
        self._law = distribution

    def _worded(self, verdict: PrivacyVerdict) -> PrivacyVerdict:
        """The verdict in the words of the route, before it is certified."""
        return verdict


def _quietly(action: Callable[[], Output]) -> tuple[bool, Output]:
    # What the mechanism prints, warns or raises may quote private data: nothing passes. The
    # caller raises outside of any except clause, so that no context carries the exception on.
    sink = io.StringIO()
    with (
        contextlib.redirect_stdout(sink),
        contextlib.redirect_stderr(sink),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        disabled = logging.root.manager.disable
        logging.disable(logging.CRITICAL)
        try:
            return False, action()
        except BaseException:  # SystemExit prints its message, too
            return True, None
        finally:
            logging.disable(disabled)


def _draw(
    mechanism: Mechanism, dataset: IntArray, below: RandomBelow = secrets.randbelow
) -> Output:
    # Nobody else's way of drawing: it need not follow the law that was tested.
    if isinstance(mechanism, (ShiftMechanism, VectorShift)):
        ours = type(mechanism) in (ShiftMechanism, VectorShift)
        if not ours or type(mechanism.noise) not in (DiscreteLaplace, DiscreteGaussian):
            raise GateError("only noise of this package is drawn: its draws follow its law")
        return mechanism.draw(dataset, below)
    return draw_output(mechanism.law(np.asarray(dataset)), below)


def draw_output(law: OutputLaw, below: RandomBelow = secrets.randbelow) -> Output:
    """Draw from a law with exact integer weights; ``below(n)`` is uniform on 0 .. n-1.

    Raises GateError when part of the law is unexplored.
    """
    if law.unexplored:
        raise GateError("the law has unexplored mass and cannot be drawn from")
    weights = integer_weights(released_weights(law))
    ticket = below(sum(weights))
    for output, weight in zip(law.outputs, weights, strict=True):
        ticket -= weight
        if ticket < 0:
            return output
    raise AssertionError("weights do not add up")


def integer_weights(probabilities: list[Fraction]) -> list[int]:
    """Whole numbers in exactly the given proportions."""
    common = math.lcm(*(p.denominator for p in probabilities))
    return [p.numerator * (common // p.denominator) for p in probabilities]

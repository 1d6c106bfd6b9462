"""The gate (paper Algorithm 2, A_privGen): test first, release only after a YES.

All laws that a release can need are sealed as plain numbers, and these are compared, before a
private dataset is looked at (theory 3.19).
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import secrets
import threading
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from liptest.data.distributions import (
    Distribution,
    check_distribution,
    distribution_or_domain,
)
from liptest.data.domains import Domain, IntArray
from liptest.data.fitted import recognise
from liptest.data.sources import is_table
from liptest.data.tables import Table
from liptest.errors import CodeChangedError, GateError, check_count, quote
from liptest.evidence.certificate import Certificate, certify
from liptest.evidence.ledger import LedgerLike, LedgerRecorder
from liptest.evidence.ledger_entries import check_name
from liptest.gate.plain import FAILED, read_output, write_text
from liptest.gate.sealed import RandomBelow, Sealed, in_plain_values
from liptest.gate.sealed_sums import SealedSums
from liptest.gate.sealing import (
    Seal,
    is_left_open,
    require_sealable,
    seal,
    seal_formula,
    seal_on_grid,
)
from liptest.lipschitz.testers.base import LipschitzTester
from liptest.mechanisms.additive import DiscreteGaussian, DiscreteLaplace, exact_positive
from liptest.mechanisms.base import Mechanism, check_mechanism, require_probabilities
from liptest.mechanisms.laws import Output, OutputLaw, find_released_weights, integer_weights
from liptest.mechanisms.shift import ShiftMechanism, VectorShift
from liptest.privacy.check import check_with_settings
from liptest.privacy.claims import ExactLog
from liptest.privacy.request import validate_request
from liptest.privacy.settings import CheckSettings
from liptest.privacy.verdicts import BY_ALIGNMENT, BY_RECORDS, PrivacyVerdict
from liptest.runs.driver import Progress
from liptest.runs.fingerprints import Fingerprint, fingerprint
from liptest.verdicts import Decision


@dataclass(frozen=True)
class Released:
    """One draw of the tested law on the private dataset.

    ``warning`` is for the operator only, as it tells about the private dataset: it is the table
    that the distribution was fitted on. "" otherwise.
    """

    output: Output
    certificate: Certificate
    warning: str = ""

    is_released: ClassVar[bool] = True


@dataclass(frozen=True)
class Refused:
    """No output: the claim was not confirmed. Does not depend on the private dataset."""

    certificate: Certificate

    is_released: ClassVar[bool] = False


class Gate:
    """What all routes to a release share: the certificate, the count, the sealed laws.

    Use one of its subclasses. The private dataset is looked at only in ``release``, and only
    when the certificate says YES. A gate cannot be copied, and releases in the process that made
    it only: a copy could release what was released already.
    """

    _law: Distribution | None = None

    def __init__(
        self,
        mechanism: Mechanism,
        domain: Domain,
        code: Fingerprint,
        certificate: Certificate,
        recorder: LedgerRecorder,
        seal: Seal,
    ) -> None:
        self._mechanism = mechanism
        self._domain = domain
        self._code = code
        self._certificate = recorder.decided(certificate)
        self._recorder = recorder
        self._seal = seal
        self._left = certificate.releases
        self._counting = threading.Lock()
        self._process = os.getpid()
        self._answers: dict[str, str] = {}

    @property
    def certificate(self) -> Certificate:
        """The verdict with hashes of what was tested."""
        return self._certificate

    @property
    def releases_left(self) -> int:
        """How many outputs may still be drawn."""
        return self._left

    @property
    def sealed(self) -> Sealed | None:
        """What outputs are drawn from; None where the code itself is asked, or nothing is."""
        return self._seal.sealed

    def release(self, dataset: ArrayLike, *, key: str | None = None) -> Released | Refused:
        """Draw the mechanism's output on the private dataset, (d,) whole numbers.

        The draw uses cryptographic randomness and the tested, normalised law, with exact
        integer weights. The law is one of those that were sealed before: no code of a vendor's
        runs (theory 3.19), unless the gate was made with ``trust_code=True`` and nothing could be
        sealed.

        ``key`` names the request: a further call with the same key returns the stored answer and
        draws nothing. With a ledger it is stored there, for all processes. Only what is drawn from
        sealed laws is stored.

        Raises
        ------
        DatasetError
            The dataset lies outside the domain; nothing ran, nothing is quoted.
        CodeChangedError
            Only where code is trusted: it, or a local module it imports, is not what was tested.
        GateError
            All releases are used, the laws could not be sealed, or trusted code failed on the
            private dataset; the reason is then withheld, because it could tell about the data.
        LedgerError
            The release, or the verdict before it, cannot be written to the ledger; nothing
            was released, and ``certificate`` still holds the verdict.
        """
        self._check_process()
        self._recorder.settle()
        if self._certificate.decision is not Decision.YES:
            return Refused(self._certificate)
        if self._seal.reason and not self._seal.trusts_code:
            raise GateError(f"{self._mechanism.name}: nothing is released: {self._seal.reason}")
        if key is not None and self._seal.sealed is None:
            raise GateError(f"key={quote(key)}: answers of code that is trusted are not stored")
        stored = self._find_stored(key)
        if stored is None:
            self._check_left()
        private = self._read(dataset)
        warning = self._warning(private)
        text = self._drawn(private.copy(), key) if stored is None else stored
        if text == FAILED:
            raise GateError(
                f"{self._mechanism.name}: it failed on the private dataset; the reason is "
                f"withheld because it may tell about the data"
            )
        return Released(read_output(text), self._certificate, warning)

    def _read(self, dataset: Any) -> IntArray:
        """A private dataset, (d,); of a table also a data frame, or a dict of columns."""
        is_frame = isinstance(dataset, dict) or is_table(dataset)
        if is_frame and isinstance(self._domain, Table):
            return self._domain.encode(dataset)
        private = self._domain.check_points(dataset, private=True)
        if len(private) != 1:
            raise GateError("dataset: give one dataset, not a batch")
        return np.asarray(private[0])

    def _drawn(self, private: IntArray, key: str | None) -> str:
        """The text of an output, drawn, counted and recorded at once."""
        sealed = self._seal.sealed
        if sealed is None:
            return self._asked(private)
        with self._counting:
            stored = None if key is None else self._answers.get(key)
            if stored is not None:
                return stored
            self._check_left()
            drawn: list[str] = []

            def draw() -> str:
                # That a draw fails is an answer, too: it is written, and it counts.
                failed, text = quietly(lambda: sealed.draw(private, secrets.randbelow))
                drawn[:] = [FAILED if failed else str(text)]
                return drawn[0]

            text = str(self._recorder.release(key, draw))
            # What the ledger had stored under the key was counted when it was drawn.
            self._left -= len(drawn)
            if key is not None:
                self._answers[key] = text
        return text

    def _asked(self, private: IntArray) -> str:
        """The same from code that is trusted: it is asked about the private dataset."""
        if fingerprint(self._mechanism).code != self._code.code:
            raise CodeChangedError(
                f"{self._mechanism.name}: the code, a parameter or a local module it imports "
                f"changed after the test; nothing is released. Test it again"
            )
        # Counted before the draw: an answer that fails half-way is an answer.
        with self._counting:
            self._check_left()
            self._recorder.release(None, lambda: None)
            self._left -= 1
        failed, output = quietly(lambda: write_text(_draw(self._mechanism, private)))
        return FAILED if failed or os.getpid() != self._process else str(output)

    def _find_stored(self, key: str | None) -> str | None:
        if key is None:
            return None
        check_name("key", key)
        return self._answers.get(key)

    def __reduce__(self) -> Any:
        raise GateError("a gate is not copied: a copy could release again; make a new gate")

    def __copy__(self) -> Any:
        return self.__reduce__()

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__reduce__()

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise GateError(
                "a gate releases in the process that made it only; make the gate in this one"
            )

    def _warning(self, private: IntArray) -> str:
        guarantee = self._certificate.verdict.guarantee
        if self._law is None or (guarantee.kind == "proof" and not guarantee.exception_mass):
            return ""  # a proof holds whatever the distribution was fitted on
        return recognise(self._law, private)

    def _check_left(self) -> None:
        if self._left <= 0:
            raise GateError(
                f"releases={self._certificate.releases}: all are used; a further one needs a "
                f"new gate and costs its epsilon again"
            )


class PrivacyGate(Gate):
    """Tests a claim on construction; ``release`` answers only after a YES (theory 3.11, 3.19).

    The code is hashed first and the seed drawn from the operating system afterwards, so that
    its author cannot have known it. The private dataset is never looked at before a YES.

    Parameters
    ----------
    mechanism, distribution, epsilon, delta, rho, renyi, mu, curve
    exception_mass, failure_probability, method, search_laws, floats
        As for ``check_privacy``. What is released is drawn from an enumerated law, so floats are
        looked at where "implemented" asks for it.
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
    trust_code
        Where laws cannot be sealed (too many datasets, and the code is given all of them), let
        the release ask the code about the private dataset. Hostile code can then release what it
        likes; the certificate says so. What can be sealed is sealed all the same.
    grid_step
        For code whose answers are real numbers, or whose data are too many for a table: the noisy
        sums of which it makes its output are calculated by this package, with exact noise of its
        law, and each is told as a multiple of this step (theory S15). GateError for other code.

    Raises
    ------
    InputError, MechanismError
        As ``check_privacy``, or the laws cannot be sealed and code is not trusted; there is no
        gate then.
    LedgerError
        The ledger cannot be written; nothing was tested.
    """

    def __init__(
        self,
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
        releases: int = 1,
        seed: int | None = None,
        max_seconds: float | None = None,
        executor: Executor | None = None,
        progress: Progress | None = None,
        ledger: LedgerLike = None,
        vendor: str | None = None,
        private_table: str | None = None,
        trust_code: bool = False,
        grid_step: float | Fraction | None = None,
    ) -> None:
        distribution = check_distribution(distribution_or_domain(distribution), together=True)
        domain = distribution.domain
        checked = check_mechanism(mechanism, domain)
        check_count("releases", releases)
        if grid_step is None:
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
            floats=floats,
            seed=seed,
            max_seconds=max_seconds,
            executor=executor,
            progress=progress,
        )
        validate_request(checked, distribution, settings)
        formula = None
        if grid_step is not None:
            exact_positive("grid_step", grid_step)
        else:
            formula = _find_formula(checked, domain, method, trust_code=trust_code)
        recorder = LedgerRecorder.of_gate(ledger, vendor=vendor, private_table=private_table)
        code = fingerprint(checked)
        recorder.begin(checked, code, distribution, settings.claim, settings.failure_probability)
        drawn = secrets.randbits(128) if seed is None else seed
        # What is released is drawn from a law: a proof has to have seen them.
        run = replace(settings, seed=drawn)
        if grid_step is not None:
            own_seal = Seal(seal_on_grid(checked, domain, grid_step))
        else:
            own_seal = Seal(formula, trusts_code=trust_code)
        verdict = _check_sealed(checked, distribution, run, own_seal)
        if verdict.decision is Decision.YES and own_seal.sealed is None:
            verdict, own_seal = _seal(checked, distribution, settings, verdict, own_seal)
        worded = self._word(verdict)
        certificate = certify(
            worded,
            code,
            distribution,
            own_seed=seed is None,
            releases=releases,
            release_source=own_seal.words,
        )
        super().__init__(checked, domain, code, certificate, recorder, own_seal)
        self._law = distribution

    def _word(self, verdict: PrivacyVerdict) -> PrivacyVerdict:
        """The verdict in the words of the route, before it is certified."""
        return verdict


class SealedGate(Gate):
    """A gate on laws that were sealed elsewhere, whoever computed them: these are tested here.

    Parameters
    ----------
    sealed
        The laws.
    distribution, settings
        Of the data, and of the test.
    code
        What the laws are said to be those of.
    law_source
        How they were obtained, in words.
    recorder
        Has the attempt already.
    releases
        How many outputs may be drawn.
    refuted
        Asked where noisy sums have no proof: the NO to the code itself with its witness, or None.

    Raises
    ------
    InputError, BudgetError
        As ``check_privacy``; there is no gate then.
    """

    def __init__(
        self,
        sealed: Sealed,
        distribution: Distribution,
        settings: CheckSettings,
        *,
        code: Fingerprint,
        law_source: str,
        recorder: LedgerRecorder,
        releases: int = 1,
        refuted: Callable[[], PrivacyVerdict | None] | None = None,
    ) -> None:
        check_count("releases", releases)
        own_seed = settings.seed is None
        run = replace(settings, seed=secrets.randbits(128)) if own_seed else settings
        if settings.method == BY_RECORDS:
            run = replace(run, method="auto")  # of the table nothing is known record by record
        found = check_with_settings(sealed.mechanism, distribution, run, for_release=True)
        verdict = replace(in_plain_values(found), law_source=law_source)
        if isinstance(sealed, SealedSums) and verdict.decision is not Decision.YES and refuted:
            # No laws of sums are computed, so that a witness is found with the code only.
            of_code = refuted()
            verdict = verdict if of_code is None or of_code.decision is Decision.YES else of_code
        own_seal = Seal(sealed)
        certificate = certify(
            verdict,
            code,
            distribution,
            own_seed=own_seed,
            releases=releases,
            release_source=own_seal.words,
        )
        domain = distribution.domain
        super().__init__(sealed.mechanism, domain, code, certificate, recorder, own_seal)
        self._law = distribution


def _find_formula(
    mechanism: Mechanism, domain: Domain, method: str | LipschitzTester, *, trust_code: bool
) -> Sealed | None:
    """What is sealed before the test; GateError where nothing could be sealed after it either."""
    formula = seal_formula(mechanism, domain)
    if formula is None:
        require_sealable(mechanism, domain, trust_code=trust_code)
    if isinstance(formula, SealedSums) and method not in ("auto", BY_ALIGNMENT):
        return None  # sums are compared by the price of their noise alone
    return formula


def _check_sealed(
    mechanism: Mechanism, distribution: Distribution, settings: CheckSettings, own_seal: Seal
) -> PrivacyVerdict:
    """The verdict on what is sealed, or on the code; a NO on the code of sealed sums counts."""
    tested = mechanism if own_seal.sealed is None else own_seal.sealed.mechanism
    # Laws that cannot be sealed need not all be seen.
    is_open = tested is mechanism and not own_seal.trusts_code
    is_open = is_open and is_left_open(mechanism, distribution.domain)
    verdict = check_with_settings(tested, distribution, settings, for_release=not is_open)
    if isinstance(own_seal.sealed, SealedSums) and verdict.decision is not Decision.YES:
        of_code = check_with_settings(mechanism, distribution, settings)
        verdict = of_code if of_code.decision is Decision.NO else verdict
    return verdict


def _seal(
    mechanism: Mechanism,
    distribution: Distribution,
    settings: CheckSettings,
    verdict: PrivacyVerdict,
    found: Seal,
) -> tuple[PrivacyVerdict, Seal]:
    """After a YES: seal the laws, and test what was sealed; that verdict counts unless it is YES.

    A new seed is drawn after sealing, so that what is tested cannot depend on it (theory 3.11).
    """
    try:
        sealed = seal(mechanism, distribution.domain)
    except GateError as error:
        return verdict, replace(found, reason=str(error))
    run = replace(
        settings,
        seed=secrets.randbits(128) if settings.seed is None else settings.seed,
        executor=None,
        progress=None,
    )
    if isinstance(sealed, SealedSums):
        run = replace(run, method=BY_ALIGNMENT, budget=None, max_seconds=None)
    elif verdict.guarantee.kind == "proof":
        run = replace(run, method="exhaustive", budget=None, max_seconds=None)
    elif isinstance(settings.method, str):
        run = replace(run, method=verdict.method)
    again = check_with_settings(sealed.mechanism, distribution, run, for_release=True)
    if again.decision is not Decision.YES:
        verdict = in_plain_values(again)
    return verdict, replace(found, sealed=sealed)


def quietly(action: Callable[[], Output]) -> tuple[bool, Output]:
    """Whether an action failed, and what it gave; nothing of it is printed, warned of or raised."""
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
    weights = integer_weights(find_released_weights(law))
    ticket = below(sum(weights))
    for output, weight in zip(law.outputs, weights, strict=True):
        ticket -= weight
        if ticket < 0:
            return output
    raise AssertionError("weights do not add up")

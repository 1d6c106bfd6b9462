"""The attacks that docs/limits.md describes are tried: what works, and what is caught."""

from __future__ import annotations

import ctypes
import importlib
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import liptest as lt
import liptest.gate.gate
from liptest.gate.gate import Released

# Code that reaches all that is loaded reaches the files of the test runner, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*had opened the file:liptest.enumerate.watch.side_effects.SideEffectWarning"
)
# A class in a tuple, which cannot be changed, is seen by repetition only.
KIND = (type,)
PAGE = (Path(__file__).parents[3] / "docs" / "limits.md").read_text(encoding="utf-8")
KEEP = 0.7310585786300049  # e / (1 + e)
DATA = lt.ProductDistribution.uniform(lt.Hypercube(20))
PRIVATE = [1, 0] * 10
SECRET = "10" * 10

Vendor = Callable[[Any, Any], Any]


def loaded() -> Any:
    """All modules, under a made-up name: asked for plainly they are refused."""
    return getattr(sys, "mod" + "ules")


def kept_aside() -> Any:
    """A list that no fingerprint sees: named plainly it is state, and refused."""
    return getattr(loaded()["hidden_place"], "".join(("se", "en")))


def secret_of(data: Any) -> str:
    return "".join(str(int(bit)) for bit in data)


def honest(data: Any, rng: Any) -> int:
    """One bit under randomised response, of code that reads every record."""
    first = int(secret_of(data)[0])
    return first if rng.random() < KEEP else 1 - first


def gate_of(vendor: Vendor, **options: Any) -> lt.PrivacyGate:
    numbers: dict[str, Any] = {"exception_mass": 0.3, "failure_probability": 0.05}
    how: dict[str, Any] = {"method": "neighbourhoods", "search_laws": 0, "trust_code": True}
    return lt.PrivacyGate(lt.mechanism(vendor), DATA, epsilon=1, **numbers | how | options)


def released_by(gate: lt.PrivacyGate) -> Any:
    assert gate.certificate.decision == "YES"
    answer = gate.release(PRIVATE)
    assert isinstance(answer, Released)
    return answer.output


@pytest.fixture
def hidden() -> Iterator[ModuleType]:
    """A module in which code can keep what no fingerprint sees."""
    module = ModuleType("hidden_place")
    module.seen = []
    module.go = False
    sys.modules["hidden_place"] = module
    yield module
    del sys.modules["hidden_place"]


def named(row: str) -> None:
    assert f"| {row} |" in PAGE, f"docs/limits.md has no row {row!r}"


@pytest.mark.slow
def test_the_honest_code_shows_nothing_else() -> None:
    assert released_by(gate_of(honest)) in (0, 1)


# What works today.


@pytest.mark.slow  # all that a test runner has loaded is within the code's reach
def test_code_that_waits_for_a_sign(hidden: ModuleType) -> None:
    named(
        "waits for a sign among what the interpreter holds, which it reaches under made-up names: "
        "another module's names"
    )

    def vendor(data: Any, rng: Any) -> Any:
        return secret_of(data) if loaded()["hidden_place"].seen else honest(data, rng)

    gate = gate_of(vendor)
    hidden.seen.append("a sign")
    assert released_by(gate) == SECRET


@pytest.mark.slow
def test_looking_for_a_file_or_a_variable_is_refused(tmp_path: Path) -> None:
    named(
        "looks at `sys.argv`, for a file or an environment variable, asks for the folder, the host "
        "or a thread"
    )
    path = tmp_path / "sign"

    def by_file(data: Any, rng: Any) -> Any:
        return secret_of(data) if path.exists() else honest(data, rng)

    def by_variable(data: Any, rng: Any) -> Any:
        return secret_of(data) if "LIPTEST_SIGN" in os.environ else honest(data, rng)

    def by_argument(data: Any, rng: Any) -> Any:
        return secret_of(data) if "--sign" in sys.argv else honest(data, rng)

    for vendor in (by_file, by_variable, by_argument):
        with pytest.raises(lt.errors.NonDeterministicError, match="cannot be followed: hand"):
            gate_of(vendor)


def test_the_clock_is_refused() -> None:
    named("reads the clock, calls `hash()` or `id()`, walks a set of strings")

    def vendor(data: Any, rng: Any) -> Any:
        return secret_of(data) if time.time() > 4e9 else honest(data, rng)

    with pytest.raises(lt.errors.NonDeterministicError, match=r"reading the clock"):
        gate_of(vendor)


@pytest.mark.slow  # all that a test runner has loaded is within the code's reach
def test_code_that_keeps_state_elsewhere(hidden: ModuleType) -> None:
    named("counts its calls where no fingerprint looks, and changes after the test")

    def vendor(data: Any, rng: Any) -> Any:
        return secret_of(data) if loaded()["hidden_place"].go else honest(data, rng)

    gate = gate_of(vendor)
    hidden.go = True
    assert released_by(gate) == SECRET


@pytest.mark.slow
def test_code_that_writes_what_it_reads(tmp_path: Path) -> None:
    named("writes the private table to a file during the release")
    path = str(tmp_path / "copy")

    def vendor(data: Any, rng: Any) -> Any:
        with open(path, "a") as file:
            file.write(secret_of(data) + "\n")
        return honest(data, rng)

    with pytest.warns(UserWarning, match=r"opened the file"):
        gate = gate_of(vendor)
    released_by(gate)
    assert SECRET in Path(path).read_text().split()


@pytest.mark.slow
def test_a_file_opened_before_is_not_noticed(tmp_path: Path) -> None:
    named("the same through a file or pipe that was opened before the test: no warning either")
    path = tmp_path / "copy"
    file = os.open(path, os.O_CREAT | os.O_WRONLY)

    def vendor(data: Any, rng: Any) -> Any:
        os.write(file, secret_of(data).encode() + b"\n")
        return honest(data, rng)

    released_by(gate_of(vendor))
    os.close(file)
    assert SECRET in path.read_text().split()


@pytest.mark.slow  # all that a test runner has loaded is within the code's reach
def test_code_that_replaces_parts_of_liptest(
    hidden: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    named("replaces functions of liptest, which runs in the same process")
    monkeypatch.setattr(liptest.gate.gate, "draw_output", liptest.gate.gate.draw_output)

    def vendor(data: Any, rng: Any) -> Any:
        place = kept_aside()
        place.append(secret_of(data))
        liptest.gate.gate.draw_output = lambda law, below=None: place[-1]
        return honest(data, rng)

    assert released_by(gate_of(vendor)) == SECRET


@pytest.mark.slow
def test_a_fault_on_one_dataset() -> None:
    named("hides a fault on datasets that are never drawn")

    def vendor(data: Any, rng: Any) -> Any:
        return SECRET if secret_of(data) == SECRET else honest(data, rng)

    assert released_by(gate_of(vendor)) == SECRET
    mass = 2.0**-20
    assert mass < gate_of(vendor).certificate.verdict.guarantee.exception_mass


@pytest.mark.slow
def test_code_that_takes_its_time() -> None:
    named("takes long, or fails, on some private tables")

    def vendor(data: Any, rng: Any) -> Any:
        if secret_of(data) == SECRET:
            raise SystemExit
        return honest(data, rng)

    gate = gate_of(vendor)
    with pytest.raises(lt.errors.GateError, match="withheld"):
        gate.release(PRIVATE)


# What is caught.


@pytest.mark.slow
def test_state_in_what_the_code_names() -> None:
    named(
        "keeps state in a global, a closure or an attribute that it names, of its own or of a "
        "module of others: counts its calls, moves an iterator on, lets a list grow"
    )
    calls = [0]

    def vendor(data: Any, rng: Any) -> Any:
        calls[0] += 1
        return secret_of(data) if calls[0] > 10**9 else honest(data, rng)

    with pytest.raises(lt.errors.NonDeterministicError, match="each call changes calls"):
        gate_of(vendor)


@pytest.mark.slow
def test_code_that_is_changed_after_the_test() -> None:
    named("changes the code, a parameter or an imported local module after the test")
    parts = {"answer": honest}

    def vendor(data: Any, rng: Any) -> Any:
        return parts["answer"](data, rng)

    gate = gate_of(vendor)
    parts["answer"] = lambda data, rng: secret_of(data)
    with pytest.raises(lt.errors.CodeChangedError):
        gate.release(PRIVATE)


@pytest.mark.slow
@pytest.mark.parametrize("changed", ["limits_vendor.py", "limits_helper.py"])
def test_a_source_file_or_local_module_that_is_changed(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named("changes the code, a parameter or an imported local module after the test")
    (tmp_path / "limits_helper.py").write_text(f"KEEP = {KEEP}\n")
    (tmp_path / "limits_vendor.py").write_text(
        "import limits_helper\n\n\ndef vendor(data, rng):\n    bits = [int(bit) for bit in data]\n"
        "    return bits[0] if rng.random() < limits_helper.KEEP else 1 - bits[0]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("limits_helper", "limits_vendor"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    gate = gate_of(importlib.import_module("limits_vendor").vendor, releases=2)
    assert released_by(gate) in (0, 1)
    file = tmp_path / changed
    file.write_text(file.read_text() + "\n# another line\n")
    with pytest.raises(lt.errors.CodeChangedError):
        gate.release(PRIVATE)


@pytest.mark.slow
def test_code_that_looks_at_the_stand_ins() -> None:
    named("recognises the stand-in for `rng`, and is honest only before it")

    def by_generator(data: Any, rng: Any) -> Any:
        [kind] = map(type, (rng,))
        return secret_of(data) if kind is np.random.Generator else honest(data, rng)

    def by_number(data: Any, rng: Any) -> Any:
        number = rng.random()
        return secret_of(data) if KIND[0](number) is float else int(number < KEEP)

    assert released_by(gate_of(by_generator)) in (0, 1)
    with pytest.raises(lt.errors.NonDeterministicError):
        gate_of(by_number)


def test_code_that_sees_who_calls_it() -> None:
    named("looks at who calls it (`sys._getframe`, `f_back`), also under made-up names")

    def vendor(data: Any, rng: Any) -> Any:
        frame = getattr(sys, "_get" + "frame")()
        while frame is not None:
            if frame.f_code.co_name == "release":
                return secret_of(data)
            frame = getattr(frame, "f_" + "back")
        return honest(data, rng)

    with pytest.raises(lt.errors.NonDeterministicError, match="it looks at who calls it"):
        gate_of(vendor)


@pytest.mark.slow
def test_questions_to_the_process_and_to_the_generator() -> None:
    named(
        "asks what kind of object `rng` is (`type(rng)`, `rng.__class__`, `inspect`), for "
        "`sys.modules`, `np.geterr()`, `warnings.filters`, the digits of decimals or the hits of a "
        "cache"
    )

    def by_kind(data: Any, rng: Any) -> Any:
        return secret_of(data) if type(rng) is np.random.Generator else honest(data, rng)

    def by_modules(data: Any, rng: Any) -> Any:
        return honest(data, rng) if "liptest" in sys.modules else secret_of(data)

    def by_settings(data: Any, rng: Any) -> Any:
        return secret_of(data) if np.geterr()["over"] == "call" else honest(data, rng)

    for vendor in (by_kind, by_modules, by_settings):
        with pytest.raises(lt.errors.NonDeterministicError, match="cannot be followed"):
            gate_of(vendor)


def test_randomness_of_its_own() -> None:
    named("draws from the operating system past the stand-ins")

    def function(data: Any, rng: Any) -> Any:
        return secret_of(data)[0], os.urandom(4)

    def device(data: Any, rng: Any) -> Any:
        with open("/dev/urandom", "rb") as file:
            return secret_of(data)[0], file.read(4)

    with pytest.raises(lt.errors.NonDeterministicError, match=r"os\.urandom"):
        gate_of(function)
    with pytest.raises(lt.errors.NonDeterministicError, match="a random device"):
        gate_of(device)


def test_randomness_elsewhere() -> None:
    named("draws in another thread, a fork, another process or a pool")

    def vendor(data: Any, rng: Any) -> Any:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(honest, data, np.random.default_rng()).result()

    with pytest.raises(lt.errors.NonDeterministicError, match="other threads and processes"):
        gate_of(vendor)


@pytest.mark.slow
def test_other_programs_and_the_machine() -> None:
    named(
        "uses a socket or a pipe, also one that was opened before, asks for input, "
        "the process's number or the load of the machine"
    )

    def asks(data: Any, rng: Any) -> Any:
        with socket.socket() as one:
            one.connect(("127.0.0.1", 9))
        return honest(data, rng)

    def counts(data: Any, rng: Any) -> Any:
        return honest(data, rng), os.getpid()

    for vendor in (asks, counts):
        with pytest.raises(lt.errors.NonDeterministicError, match="cannot be followed: hand"):
            gate_of(vendor)


def test_compiled_randomness() -> None:
    named("draws in compiled code that is not known (OpenDP, PyTorch, SQLite, ctypes, ..)")
    library = ctypes.pythonapi

    def vendor(data: Any, rng: Any) -> Any:
        return honest(data, rng) ^ (library.Py_GetRecursionLimit() == 1)

    with pytest.raises(lt.errors.UnsupportedRandomnessError, match="compiled code was called"):
        gate_of(vendor)


@pytest.mark.slow
def test_a_constant_seed() -> None:
    named("makes its generator with a constant seed, outside of the function too")
    held = np.random.default_rng(2024)
    tested = lt.mechanism(lambda data: honest(data, held), name="seeded")
    verdict = lt.check_privacy(tested, lt.ProductDistribution.bernoulli([0.5]), epsilon=1.5)
    assert verdict.decision == "NO"
    assert "constant seed 2024" in str(verdict)


@pytest.mark.slow
def test_a_fault_where_a_search_looks() -> None:
    named("hides a fault at corners: all records equal, all but one equal")

    def vendor(data: Any, rng: Any) -> Any:
        return "nobody" if not any(data) else honest(data, rng)

    assert gate_of(vendor).certificate.decision == "YES"
    assert gate_of(vendor, search_laws=None).certificate.decision == "NO"


@pytest.mark.slow
def test_what_the_code_prints(capfd: pytest.CaptureFixture[str]) -> None:
    named("prints, logs or warns during the release")

    def vendor(data: Any, rng: Any) -> Any:
        if secret_of(data) == SECRET:
            print(SECRET)
            sys.stderr.write(SECRET)
        return honest(data, rng)

    released_by(gate_of(vendor))
    assert SECRET not in "".join(capfd.readouterr())


@pytest.mark.slow  # all that a test runner has loaded is within the code's reach
def test_laws_that_are_known_are_not_asked_for_again(hidden: ModuleType) -> None:
    """After a proof the private law is known: the code does not run on the private data."""

    @lt.mechanism(statistic=lt.Count())
    def counted(count: int, rng: Any) -> int:
        kept_aside().append(count)
        return min(max(count + int(rng.random() < 0.5), 0), 20)

    gate = lt.PrivacyGate(counted, DATA, epsilon=50, delta=0.9)
    assert gate.certificate.verdict.guarantee.kind == "proof"
    hidden.seen.clear()
    released_by(gate)
    assert hidden.seen == []

"""Receipts: signed once, verified without a package, refused when any byte is another one."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given, settings
from hypothesis import strategies as st

from liptest.cli import main
from liptest.errors import InputError
from liptest.evidence import check_receipt
from liptest.evidence.check_receipt import (
    ORDER,
    BadSignature,
    NotAReceipt,
    P,
    is_signed,
    open_receipt,
    read_certificate,
    read_public_key,
)
from liptest.evidence.receipts import sign_certificate

PEM = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
PLAIN = serialization.NoEncryption()


def private(seed: int) -> tuple[bytes, str, bytes]:
    """A private key and its public key in PEM, and the 32 bytes of the latter."""
    key = Ed25519PrivateKey.from_private_bytes(bytes([seed] * 32))
    public = key.public_key()
    form = (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    written = key.private_bytes(*PEM, PLAIN), public.public_bytes(*form).decode()
    return *written, public.public_bytes_raw()


KEY, PUBLIC, RAW = private(1)
CERTIFICATES = json.loads((Path(__file__).parents[2] / "golden" / "certificates.json").read_text())
CERTIFICATE = json.dumps(CERTIFICATES["no-laplace"])
RECEIPT = sign_certificate(CERTIFICATE, KEY)


@pytest.mark.parametrize("name", sorted(CERTIFICATES))
def test_what_was_signed_comes_back(name: str) -> None:
    text = json.dumps(CERTIFICATES[name])
    receipt = sign_certificate(text, KEY)
    assert open_receipt(receipt, RAW) == CERTIFICATES[name] == read_certificate(receipt)
    assert sign_certificate(text, KEY) == receipt
    with pytest.raises(BadSignature):
        open_receipt(receipt, private(2)[2])


def test_a_receipt_of_an_earlier_day_verifies() -> None:
    """Made elsewhere, and kept: the form does not change under those who hold one."""
    folder = Path(__file__).parents[2] / "golden"
    text = (folder / "receipt.json").read_bytes().decode()
    assert open_receipt(text, RAW)["verdict"]["decision"] == "NO"


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Path:
    """What another machine made: a program, its receipt and a key whose private half is gone."""
    folder = Path(__file__).parents[2] / "golden" / "elsewhere"
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.slow
def test_a_receipt_made_on_another_machine_verifies(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [sys.executable, "-I", "-S", check_receipt.__file__, "receipt.json", "public.pem"]
    assert subprocess.run(command, capture_output=True).returncode == 0
    whole = ["verify", "receipt.json", "--key", "public.pem"]
    is_same_python = sys.version_info[:2] == (3, 11)  # byte code is that of one version
    assert main([*whole, "noisy.py:answer"] if is_same_python else whole) in (0, 3)
    said = capsys.readouterr().out
    assert "Checked: the signature, by the key" in said
    assert ("Checked: the code is that which was tested" in said) == is_same_python


def _changed_elsewhere(folder: Path, step: int) -> int:
    """How many bytes of the receipt were changed, each in one bit; all must be refused."""
    text = (folder / "receipt.json").read_bytes().decode()
    key = read_public_key((folder / "public.pem").read_text())
    assert open_receipt(text, key)["verdict"]["decision"] == "NO"
    for place in range(0, len(text), step):
        changed = text[:place] + chr(ord(text[place]) ^ 1 << place % 7) + text[place + 1 :]
        with pytest.raises((NotAReceipt, BadSignature)):
            open_receipt(changed, key)
    return len(range(0, len(text), step))


@pytest.mark.slow
def test_a_changed_byte_of_it_is_refused(elsewhere: Path) -> None:
    assert _changed_elsewhere(elsewhere, step=23) > 150


@pytest.mark.slow
def test_each_changed_byte_of_it_is_refused(elsewhere: Path) -> None:
    assert _changed_elsewhere(elsewhere, step=1) > 4000


def test_it_is_an_envelope_that_others_can_verify() -> None:
    """DSSE and in-toto by hand, the signature by another implementation."""
    envelope = json.loads(RECEIPT)
    payload = base64.b64decode(envelope["payload"])
    kind = "application/vnd.in-toto+json"
    assert envelope["payloadType"] == kind
    encoded = f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload
    [signature] = envelope["signatures"]
    public = Ed25519PublicKey.from_public_bytes(RAW)
    public.verify(base64.b64decode(signature["sig"]), encoded)
    statement = json.loads(payload)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicate"] == json.loads(CERTIFICATE)
    digest = statement["predicate"]["code"]["hash"]
    assert statement["subject"][0]["digest"] == {"sha256": digest}


def refused(text: str) -> bool:
    try:
        open_receipt(text, RAW)
    except (NotAReceipt, BadSignature) as error:
        return "\n" not in str(error)
    return False


@pytest.mark.slow
@given(data=st.data())
def test_any_other_byte_is_refused(data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(RECEIPT) - 1))
    other = data.draw(st.characters(max_codepoint=0x10FF).filter(lambda c: c != RECEIPT[place]))
    assert refused(RECEIPT[:place] + other + RECEIPT[place + 1 :])
    assert refused(RECEIPT[:place] + RECEIPT[place + 1 :])
    assert refused(RECEIPT[:place] + other + RECEIPT[place:])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "3",
        "[]",
        "{}",
        "[" * 100_000,
        '{"payload": 3, "signatures": []}',
        '{"payload": "x", "signatures": [{"sig": "eA=="}]}',
        '{"payload": "MQ==", "signatures": [{"sig": "eA=="}]}',
        '{"payload": "e30=", "signatures": [{"sig": "eA=="}]}',
        '{"payload": "eyJwcmVkaWNhdGUiOiB7fX0=", "signatures": [{"sig": "eA=="}]}',
        RECEIPT + RECEIPT,
        RECEIPT.replace("in-toto", "in_toto"),
        RECEIPT.replace("\n", "\r\n"),
        RECEIPT.strip(),
        json.dumps(json.loads(RECEIPT)),
        json.dumps(json.loads(RECEIPT) | {"signatures": json.loads(RECEIPT)["signatures"] * 2}),
    ],
)
def test_hostile_envelopes(text: str) -> None:
    assert refused(text)


def test_a_statement_in_other_words_is_refused_though_signed() -> None:
    key = Ed25519PrivateKey.from_private_bytes(bytes([1] * 32))
    statement = json.loads(base64.b64decode(json.loads(RECEIPT)["payload"]))
    for change in ({"subject": []}, {"predicateType": "urn:other"}, {"more": 1}):
        payload = json.dumps(statement | change, separators=(",", ":")).encode()
        signature = key.sign(check_receipt.make_signed_bytes(payload))
        with pytest.raises(BadSignature, match="statement"):
            open_receipt(check_receipt.write_envelope(payload, RAW, signature), RAW)


@pytest.mark.slow
@settings(max_examples=8)
@given(message=st.binary(max_size=200), seed=st.integers(0, 255))
def test_signatures_are_those_of_another_implementation(message: bytes, seed: int) -> None:
    key = Ed25519PrivateKey.from_private_bytes(bytes([seed] * 32))
    public, signature = key.public_key().public_bytes_raw(), key.sign(message)
    assert is_signed(public, signature, message)
    assert not is_signed(public, signature, message + b"x")
    assert not is_signed(private(seed ^ 1)[2], signature, message)


def test_a_signature_of_the_rfc() -> None:
    """RFC 8032, 7.1, tests 1 and 2."""
    for public, message, signature in (
        (
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
            "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ),
    ):
        assert is_signed(*map(bytes.fromhex, (public, signature, message)))


def test_a_signature_is_written_in_one_way() -> None:
    message = b"message"
    signature = Ed25519PrivateKey.from_private_bytes(bytes([1] * 32)).sign(message)
    scalar = int.from_bytes(signature[32:], "little")
    larger = signature[:32] + (scalar + ORDER).to_bytes(32, "little")
    with pytest.raises(InvalidSignature):
        Ed25519PublicKey.from_public_bytes(RAW).verify(larger, message)
    assert not is_signed(RAW, larger, message)
    assert not is_signed(RAW, signature[:-1], message)
    assert not is_signed((P + 1).to_bytes(32, "little"), signature, message)
    assert not is_signed(b"\xff" * 32, signature, message)


def test_keys_that_are_none() -> None:
    assert read_public_key(PUBLIC) == RAW
    assert read_public_key(PUBLIC.replace("\n", "\r\n")) == RAW
    other = ec.generate_private_key(ec.SECP256R1())
    form = (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    elliptic = other.public_key().public_bytes(*form).decode()
    for text in ("", "x", KEY.decode(), elliptic, PUBLIC.replace("M", "*"), PUBLIC[:60]):
        with pytest.raises(NotAReceipt, match="key"):
            read_public_key(text)
    locked = Ed25519PrivateKey.generate().private_bytes(
        *PEM, serialization.BestAvailableEncryption(b"word")
    )
    for pem in (b"", b"x", PUBLIC.encode(), other.private_bytes(*PEM, PLAIN), locked):
        with pytest.raises(InputError, match=r"^key"):
            sign_certificate(CERTIFICATE, pem)


def test_a_damaged_certificate_is_not_signed() -> None:
    damaged = json.loads(CERTIFICATE) | {"releases": 7}
    for text in (json.dumps(damaged), "[]", "{}", RECEIPT, f"[{CERTIFICATE}, {CERTIFICATE}]"):
        with pytest.raises(InputError):
            sign_certificate(text, KEY)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(InputError, match=r"liptest\[receipts\]"):
        sign_certificate(CERTIFICATE, KEY)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "private.pem").write_bytes(KEY)
    (tmp_path / "public.pem").write_text(PUBLIC)
    (tmp_path / "other.pem").write_text(private(2)[1])
    (tmp_path / "a.json").write_text(CERTIFICATE)
    return tmp_path


@pytest.mark.slow
def test_the_commands(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sign", "a.json", "--key", "private.pem", "--output", "receipt.json"]) == 0
    assert (folder / "receipt.json").read_text() == RECEIPT
    plain = main(["verify", "a.json"])
    told = capsys.readouterr().out
    assert main(["verify", "receipt.json", "--key", "public.pem"]) == plain
    found = capsys.readouterr().out
    assert "Checked: the signature, by the key" in found
    assert told.splitlines()[-3:] != found.splitlines()[:3]
    assert main(["verify", "receipt.json"]) == 3
    assert "Not checked: the signature" in capsys.readouterr().out
    assert main(["verify", "receipt.json", "--key", "other.pem"]) == 1
    assert "DOES NOT HOLD" in capsys.readouterr().out
    (folder / "receipt.json").write_bytes(RECEIPT.replace("\n", "\r\n").encode())
    assert main(["verify", "receipt.json", "--key", "public.pem"]) == 1
    capsys.readouterr()
    for wrong in (
        "verify a.json --key public.pem",
        "verify receipt.json --key private.pem",
        "verify receipt.json --key none.pem",
        "sign a.json --key public.pem --output b.json",
        "sign a.json --key none.pem --output b.json",
        "sign none.json --key private.pem --output b.json",
        "sign a.json --key private.pem --output a.json",
        "sign a.json --key private.pem --output no/b.json",
        "sign receipt.json --key private.pem --output b.json",
    ):
        assert main(wrong.split()) == 2, wrong
        assert capsys.readouterr().err.count("error:") == 1


@pytest.mark.slow
def test_the_checker_runs_alone(folder: Path) -> None:
    (folder / "receipt.json").write_text(RECEIPT)
    (folder / "changed.json").write_text(RECEIPT.replace("A", "B", 1))

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-I", "-S", check_receipt.__file__, *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=folder)

    assert run("receipt.json", "public.pem", "out.json").returncode == 0
    assert json.loads((folder / "out.json").read_text()) == json.loads(CERTIFICATE)
    assert run("receipt.json", "other.pem").returncode == 1
    assert run("changed.json", "public.pem").returncode in (1, 2)
    for words in ((), ("--help",), ("none.json", "public.pem"), ("receipt.json", "private.pem")):
        done = run(*words)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1

"""Checks the signature of a receipt with nothing but the standard library.

    python check_receipt.py receipt.json public.pem [certificate.json]

This one file runs without liptest. A receipt is a DSSE envelope with an in-toto statement about a
certificate, signed with Ed25519 (RFC 8032). The certificate in it is written to the third file,
for ``check_witness.py`` or ``liptest verify``. Every byte counts: what is not written as liptest
writes it is refused, so that there is one form of each receipt.

Exit codes: 0 the key has signed this certificate, 1 it has not, 2 a file cannot be read.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
#: What precedes the 32 bytes of an Ed25519 key in a public key file (RFC 8410).
_PREFIX = bytes.fromhex("302a300506032b6570032100")
_HEAD, _TAIL = "-----BEGIN PUBLIC KEY-----", "-----END PUBLIC KEY-----"
_MOST_BYTES = 1 << 26
#: The keys by which a certificate says which form it has, and the type of statement of each.
FORMS = {
    "certificate": "urn:liptest:certificate:1",
    "sample_certificate": "urn:liptest:sample-certificate:1",
}


class NotAReceipt(ValueError):
    """The text has not the form of a receipt, or the key is none."""


class BadSignature(ValueError):
    """The receipt was not signed by this key, or was changed."""


# Ed25519: points (x, y) of -x^2 + y^2 = 1 + d x^2 y^2 modulo P, in extended coordinates.

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, P - 2, P) % P
_ROOT = pow(2, (P - 1) // 4, P)
Point = tuple[int, int, int, int]


def _add(one: Point, other: Point) -> Point:
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * one[3] * other[3] * _D % P
    d = 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _times(scalar: int, point: Point) -> Point:
    total: Point = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            total = _add(total, point)
        point = _add(point, point)
        scalar >>= 1
    return total


def _read_point(data: bytes) -> Point | None:
    """The point of 32 bytes; None when there is none, or it is written in another way."""
    whole = int.from_bytes(data, "little")
    sign, y = whole >> 255, whole & ((1 << 255) - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * _ROOT % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def _write_point(point: Point) -> bytes:
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


_BASE = _read_point(bytes([0x58, *[0x66] * 31]))


def is_signed(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether an Ed25519 signature of 64 bytes is of this message by this key of 32 bytes.

    As RFC 8032 section 5.1.7, without the factor 8: S B - k A must be written as R is.
    """
    if len(key) != 32 or len(signature) != 64 or _BASE is None:
        return False
    point, scalar = _read_point(key), int.from_bytes(signature[32:], "little")
    if point is None or scalar >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + key + message).digest()
    k = int.from_bytes(digest, "little") % ORDER
    negative: Point = (P - point[0], point[1], point[2], P - point[3])
    expected = _add(_times(scalar, _BASE), _times(k, negative))
    return _write_point(expected) == signature[:32]


def read_public_key(text: str) -> bytes:
    """The 32 bytes of an Ed25519 public key in PEM; NotAReceipt for anything else."""
    lines = text.split()
    joined = " ".join(lines)
    if not joined.startswith(_HEAD) or not joined.endswith(_TAIL):
        raise NotAReceipt("the key is not a public key in PEM (-----BEGIN PUBLIC KEY-----)")
    body = joined.removeprefix(_HEAD).removesuffix(_TAIL).replace(" ", "")
    try:
        data = base64.b64decode(body, validate=True)
    except ValueError:
        raise NotAReceipt("the key is not a public key in PEM: its lines are not base64") from None
    if not data.startswith(_PREFIX) or len(data) != len(_PREFIX) + 32:
        raise NotAReceipt("the key is not an Ed25519 public key")
    return data[len(_PREFIX) :]


def key_id(key: bytes) -> str:
    """By which a receipt names its key: sha256 of its 32 bytes."""
    return hashlib.sha256(key).hexdigest()


def make_signed_bytes(payload: bytes) -> bytes:
    """What is signed: DSSE's pre-authentication encoding of a payload."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def write_statement(certificate: dict[str, Any]) -> bytes:
    """The in-toto statement about a certificate, the one way to write it."""
    form = next(name for name in FORMS if name in certificate)
    statement = {
        "_type": STATEMENT_TYPE,
        "subject": [
            {
                "name": certificate["verdict"]["mechanism"],
                "digest": {"sha256": certificate["code"]["hash"]},
            }
        ],
        "predicateType": FORMS[form],
        "predicate": certificate,
    }
    return json.dumps(statement, separators=(",", ":")).encode()


def write_envelope(payload: bytes, key: bytes, signature: bytes) -> str:
    """A receipt, the one way to write it."""
    envelope = {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": key_id(key), "sig": base64.b64encode(signature).decode()}],
    }
    return json.dumps(envelope, indent=1) + "\n"


def is_receipt(text: str) -> bool:
    """Whether a text is meant to be a receipt: a JSON object with a payload."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and "payload" in document and "signatures" in document


def read_certificate(text: str) -> dict[str, Any]:
    """The certificate in a receipt, whoever signed it; NotAReceipt when there is none."""
    return _read(text)[0]


def open_receipt(text: str, key: bytes) -> dict[str, Any]:
    """The certificate that the key has signed.

    Raises NotAReceipt, or BadSignature when it was signed by another key or changed anywhere.
    """
    certificate, payload, signature = _read(text)
    if write_envelope(payload, key, signature) != text:
        raise BadSignature("the receipt names another key, or was changed after it was written")
    if write_statement(certificate) != payload:
        raise BadSignature("the statement is not what liptest writes of this certificate")
    if not is_signed(key, signature, make_signed_bytes(payload)):
        raise BadSignature("the signature is not of this statement by this key")
    return certificate


def _read(text: str) -> tuple[dict[str, Any], bytes, bytes]:
    if len(text) > _MOST_BYTES:
        raise NotAReceipt(f"it is longer than {_MOST_BYTES >> 20} MiB")
    try:
        envelope = json.loads(text)
        [named] = envelope["signatures"]
        payload = base64.b64decode(envelope["payload"], validate=True)
        signature = base64.b64decode(named["sig"], validate=True)
        certificate = json.loads(payload)["predicate"]
        write_statement(certificate)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, StopIteration):
        raise NotAReceipt("it is not an envelope with a statement about a certificate") from None
    return certificate, payload, signature


def check_named(arguments: list[str]) -> int:
    """Check the receipt named first by the key named second; returns the exit code."""
    if not 2 <= len(arguments) <= 3 or arguments[0].startswith("-"):
        print("usage: check_receipt.py receipt.json public.pem [certificate.json]", file=sys.stderr)
        return 2
    try:
        text, pem = (Path(name).read_bytes().decode() for name in arguments[:2])
        key = read_public_key(pem)
        certificate = open_receipt(text, key)
        if len(arguments) == 3:
            Path(arguments[2]).write_text(json.dumps(certificate, indent=1) + "\n", "utf-8")
    except BadSignature as error:
        print(f"{arguments[0]}: {error}")
        return 1
    except (OSError, ValueError) as error:
        print(f"error: {ascii(str(error))[1:-1]}", file=sys.stderr)
        return 2
    print(f"{arguments[0]}: signed by the key {key_id(key)}")
    return 0


if __name__ == "__main__":
    sys.exit(check_named(sys.argv[1:]))

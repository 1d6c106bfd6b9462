"""Receipts: certificates signed with Ed25519, as DSSE envelopes of in-toto statements.

Signing needs the package cryptography; ``check_receipt`` verifies with the standard library alone.
"""

from __future__ import annotations

import json
from typing import Any

from liptest.errors import InputError
from liptest.evidence.certificate import document_problems, read_document
from liptest.evidence.check_receipt import make_signed_bytes, write_envelope, write_statement


def sign_certificate(certificate: str, private_key: bytes) -> str:
    """The receipt of a certificate, signed with an Ed25519 private key in PEM.

    The same certificate and key give the same receipt.

    Raises InputError when the certificate is damaged, the key is none, or cryptography is missing.
    """
    document = read_document(certificate)
    problems = document_problems(document)
    if problems:
        raise InputError(f"{problems[0]}; only a certificate that agrees with itself is signed")
    key = _load(private_key)
    payload = write_statement(json.loads(json.dumps(document)))
    public: bytes = key.public_key().public_bytes_raw()
    return write_envelope(payload, public, key.sign(make_signed_bytes(payload)))


def _load(pem: bytes) -> Any:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError:
        raise InputError(
            "signing needs the package cryptography: pip install 'liptest[receipts]'"
        ) from None
    try:
        key = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise InputError(
            "key: no private key in PEM without a password; openssl genpkey -algorithm ed25519 "
            "-out private.pem makes one"
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError("key: it is not an Ed25519 key; openssl genpkey -algorithm ed25519")
    return key

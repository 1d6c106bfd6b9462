"""``liptest sign``: a certificate as a signed receipt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from liptest.cli.codes import find_code
from liptest.cli.paths import check_paths
from liptest.errors import InputError, LiptestError
from liptest.evidence.check_receipt import (
    NotAReceipt,
    is_receipt,
    key_id,
    open_receipt,
    read_certificate,
    read_public_key,
)
from liptest.evidence.receipts import sign_certificate
from liptest.report.text import Screen


def sign(
    certificate: Annotated[Path, Parameter(help="JSON file that check or release wrote.")],
    /,
    *,
    key: Annotated[Path, Parameter(help="Ed25519 private key in PEM.")],
    output: Annotated[Path, Parameter(help="The receipt, which is written.")],
) -> int:
    """Sign a certificate, as a receipt.

    liptest verify checks it with the public key.

    Keys are made by: openssl genpkey -algorithm ed25519 -out private.pem, and
    openssl pkey -in private.pem -pubout -out public.pem. Exit code 0 or 2.

    Example: liptest sign vendor.json --key private.pem --output receipt.json
    """
    screen = Screen()
    try:
        check_paths({"output": output}, inputs=[certificate, key])
        text = read_text(certificate)
        receipt = sign_certificate(text, read_text(key).encode())
        output.write_text(receipt, encoding="utf-8")
    except OSError as error:
        return screen.error(InputError(f"--output {output}: {error.strerror}"), 2)
    except LiptestError as error:
        return screen.error(error, find_code(error))
    screen.paragraph(f"{output}: signed")
    return 0


def read_text(file: Path) -> str:
    """The text of a file, its line ends as they are; InputError when it cannot be read."""
    try:
        return file.read_bytes().decode()
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: {error}") from None


def open_signed(text: str, key: Path | None) -> tuple[str, str]:
    """The certificates of a text, and by which key they are signed, "" where none was checked.

    Raises BadSignature, and InputError where there is no receipt, or the key is not a key.
    """
    if not is_receipt(text):
        if key is not None:
            raise InputError("--key: the file is not a signed receipt; liptest sign makes one")
        return text, ""
    try:
        if key is None:
            return json.dumps(read_certificate(text)), ""
        public = read_public_key(read_text(key))
        return json.dumps(open_receipt(text, public)), key_id(public)
    except NotAReceipt as error:
        raise InputError(f"receipt: {error}") from None

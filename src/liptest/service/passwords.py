"""Passwords, tokens and the secrets of sessions: what is stored of them is a hash."""

from __future__ import annotations

import hashlib
import secrets
from functools import cache
from typing import Any

#: Fewest letters of a password.
SHORTEST = 10


@cache
def _hasher() -> Any:
    from argon2 import PasswordHasher

    return PasswordHasher()


@cache
def _of_nobody() -> str:
    """A hash that no password has: a name that is not known takes as long as one that is."""
    return hash_password(secrets.token_urlsafe(32))


def hash_password(password: str) -> str:
    """By argon2id, with its salt and cost."""
    return str(_hasher().hash(password))


def is_password(stored: str | None, password: str) -> bool:
    """Whether it is the password of a stored hash; of no account nothing is."""
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        return bool(_hasher().verify(_of_nobody() if stored is None else stored, password))
    except (VerificationError, InvalidHashError):
        return False


def new_secret() -> str:
    """256 random bits, for a session, a token or a form."""
    return secrets.token_urlsafe(32)


def hash_secret(secret: str) -> str:
    """A secret of 256 bits needs no salt and no cost."""
    return hashlib.sha256(secret.encode()).hexdigest()


def are_equal(left: str, right: str) -> bool:
    """Whether two secrets are one, in the same time for all."""
    return secrets.compare_digest(left.encode(), right.encode())

"""Names of accounts and tables: one name for one picture of it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from liptest.errors import InputError
from liptest.evidence.ledger_entries import checked_name
from liptest.service.records import ServiceError

# Small letters of Cyrillic and Greek, by their numbers, that look like a Latin one, or whose
# capitals do: a part of Unicode's list of confusables.
_CYRILLIC = {
    **{0x430: "a", 0x432: "b", 0x435: "e", 0x43A: "k", 0x43C: "m", 0x43D: "h", 0x43E: "o"},
    **{0x440: "p", 0x441: "c", 0x442: "t", 0x443: "y", 0x445: "x", 0x455: "s", 0x456: "i"},
    **{0x458: "j", 0x4BB: "h", 0x4CF: "l", 0x501: "d", 0x51B: "q", 0x51D: "w"},
}
_GREEK = {
    **{0x3B1: "a", 0x3B2: "b", 0x3B5: "e", 0x3B6: "z", 0x3B7: "n", 0x3B9: "i", 0x3BA: "k"},
    **{0x3BC: "m", 0x3BD: "v", 0x3BF: "o", 0x3C1: "p", 0x3C4: "t", 0x3C5: "u", 0x3C7: "x"},
}
_LOOKS = {**_CYRILLIC, **_GREEK}
# One stroke, and a ring.
_SAME = str.maketrans("i1|\u01310", "llllo")


def new_name(what: str, name: str, known: Iterable[str]) -> str:
    """The name as it is stored. ServiceError for none, and one that looks like a ``known`` one."""
    try:
        made = checked_name(what, unicodedata.normalize("NFC", name))
    except InputError as error:
        raise ServiceError(400, str(error)) from None
    looks = appearance(made)
    other = next((one for one in known if appearance(one) == looks), None)
    if other is not None and other != made:
        raise ServiceError(409, f"{what}: {made!r} looks like {other!r}, which is there already")
    return made


def appearance(name: str) -> str:
    """What a name looks like: equal for names that readers confuse."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return folded.translate(_LOOKS).translate(_SAME)

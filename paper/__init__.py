"""The paper's claims, checked: what each was checked on and what came out.

Beside the package, for those who work on it: ``python -m paper`` prints all rows.
``reproduce()`` runs every check on small domains, exactly wherever that is possible, with fixed
seeds. A row that does not come out as docs/paper.md says is a fault of this program or of
docs/paper.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from paper.extensions import theory_2_1, theory_2_2, theory_2_4, theory_3_8b
from paper.lemma_4_3 import lemma_4_3
from paper.privacy_claims import theorem_3_1, theorem_3_5
from paper.rejection import theorem_4_1
from paper.repairing import lemma_4_9
from paper.rounding import claim_4_8
from paper.rows import ClaimRow
from paper.sample_range import claim_4_4
from paper.section_2 import section_2
from paper.section_5 import section_5

Check = Callable[[float], list[ClaimRow]]

#: In the paper's order, our own inequalities last.
CHECKS: tuple[Check, ...] = (
    section_2,
    theorem_3_1,
    theorem_3_5,
    theorem_4_1,
    lemma_4_3,
    claim_4_4,
    claim_4_8,
    lemma_4_9,
    section_5,
    theory_2_1,
    theory_2_2,
    theory_2_4,
    theory_3_8b,
)


def reproduce(share: float = 1.0) -> Iterator[ClaimRow]:
    """Every row, as soon as it is known.

    ``share`` is the part of the cases to look at; 1 takes about half a minute. The same share
    gives the same rows.
    """
    for check in CHECKS:
        yield from check(share)


__all__ = ["CHECKS", "ClaimRow", "reproduce"]

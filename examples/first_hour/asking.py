"""What the jobs share: ask, and print one line."""

import liptest as lt

KINDS = {"proof": "proved", "refutation": "refuted", "sampling": "by sampling", "none": "open"}


def ask(title, mechanism, data, **claim):
    verdict = lt.check_privacy(mechanism, data, **claim)
    print(f"{title}: {verdict.decision}, {KINDS[verdict.guarantee.kind]}")
    return verdict

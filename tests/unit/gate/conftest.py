"""What the tests of gates share."""

from __future__ import annotations

import pytest

from liptest.gate import routes, sealing


@pytest.fixture
def nothing_can_be_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if all domains were too large: what then runs is what code that is trusted gets."""
    plan = sealing.SealPlan("none", reason="for the test")
    monkeypatch.setattr(sealing, "plan_seal", lambda *_: plan)
    monkeypatch.setattr(sealing, "_see_narrowly", lambda *_: None)
    monkeypatch.setattr(routes, "MOST_ROWS", 0)

"""Settings that another file imports: two seeds, and one that no source tells."""

from __future__ import annotations

import random

IMPORTED = 161
OTHER = 170
ASKED = random.SystemRandom().getrandbits(40)

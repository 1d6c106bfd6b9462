"""``python -m liptest``."""

from __future__ import annotations

import sys

from liptest.cli import main

sys.exit(main())

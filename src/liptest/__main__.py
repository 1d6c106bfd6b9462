"""``python -m liptest``."""

import sys

from liptest.cli import main

sys.exit(main())

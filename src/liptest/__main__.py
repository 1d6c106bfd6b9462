"""``python -m liptest``."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # Python puts the folder it is started in first: what lies there would take the place of
    # packages. Of code that is tested, liptest itself says where it lies.
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not sys.flags.safe_path and os.path.abspath(sys.path[0]) != home:
        del sys.path[0]

    from liptest.cli import main

    sys.exit(main())

"""Claims about mechanisms that only give samples (theory 3.14)."""

# Whoever has a sampler has loaded this, so that check_privacy knows how it is tested.
from liptest.blackbox import check as check

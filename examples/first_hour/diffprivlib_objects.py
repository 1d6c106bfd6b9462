"""Objects of diffprivlib (extra ``diffprivlib``): their own code is run, nothing is taken on trust.

It prints:

a truncated geometric number, its own claim: YES, proved
a truncated geometric number, half of it: NO, refuted
the object as it is, its own claim: YES, proved
geometric noise, its own claim: NO, refuted
geometric noise, with delta 1e-12: YES, proved
"""

from asking import ask
from diffprivlib.mechanisms import Geometric, GeometricTruncated

import liptest as lt

bounded = GeometricTruncated(epsilon=1.0, lower=0, upper=5)
number = lt.adapters.diffprivlib(bounded)
title = "a truncated geometric number"
ask(f"{title}, its own claim", number, number.domain, epsilon=number.epsilon)
ask(f"{title}, half of it", number, number.domain, epsilon=number.epsilon / 2)
ask("the object as it is, its own claim", bounded, number.domain, epsilon=1.0)

# The noise comes from one uniform number of 53 bits, so it ends: that is what the delta is for.
noisy = lt.adapters.diffprivlib(Geometric(epsilon=1.0), domain=lt.Hypergrid([4]))
ask("geometric noise, its own claim", noisy, noisy.domain, epsilon=1.0)
ask("geometric noise, with delta 1e-12", noisy, noisy.domain, epsilon=1.0, delta=1e-12)

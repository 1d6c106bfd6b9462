"""OpenDP's integer Laplace noise before 0.14.2, with the wrong division that it rested on.

OpenDP 0.10.0 to 0.14.1 draws integer noise with the exact algorithm of C. Canonne, G. Kamath and
T. Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020 (Algorithms 1 and 2), in
rational arithmetic. The library used for it divided a rational by a whole number wrongly where the
two have a factor in common (cmpute/dashu issue 57: -2/3 / 4 gave -1/4). The noise is biased for
most scales (opendp/opendp issue 2638, fixed by pull request 2639 in version 0.14.2); for scale 1
no such division occurs. This is a port of the algorithm and of the division, in our own code.
"""

from fractions import Fraction
from math import exp, gcd


def wrong_quotient(a, k):
    """The division of the issue: the common factor is taken out of both denominators."""
    g = gcd(a.numerator, k)
    return Fraction(a.numerator // g, (a.denominator // g) * k)


def right_quotient(a, k):
    """A rational by a whole number."""
    return a / k


def opendp_laplace(answers, rng, *, scale=Fraction(3), divide=wrong_quotient):
    """One answer with the noise of OpenDP 0.10.0 to 0.14.1; the scale is a rational."""
    return int(answers[0]) + _discrete_laplace(rng, scale, divide)


def _discrete_laplace(rng, scale, divide):
    while True:
        negative = _bernoulli(rng, Fraction(1, 2))
        size = _geometric(rng, 1 / Fraction(scale), divide)
        if size or not negative:
            return -size if negative else size


def _geometric(rng, x, divide):
    while True:
        u = int(rng.integers(0, x.denominator))
        if _bernoulli_exp(rng, Fraction(u, x.denominator), divide):
            break
    v = 0
    while _bernoulli_exp(rng, Fraction(1), divide):
        v += 1
    return (v * x.denominator + u) // x.numerator


def _bernoulli_exp(rng, x, divide):
    """1 with probability exp(-x), 0 <= x <= 1, where the division is right."""
    k = 1
    while _bernoulli(rng, divide(x, k)):
        k += 1
    return k % 2 == 1


def _bernoulli(rng, p):
    return int(rng.integers(0, p.denominator)) < p.numerator


def sizes_law(scale, divide=wrong_quotient, trials=40):
    """P(noise = 0), P(noise = 1), .. in units that cancel in ratios, as a function of the size.

    The law that the code above draws from: a size v n + u, n/m = scale, gets exp(-v) times the
    chance that the trials accept u. Trials are counted up to ``trials``; the rest is below
    1 / trials!.
    """
    scale = Fraction(scale)
    if scale.denominator != 1:
        raise ValueError(f"scale={scale}: the formula is for whole scales")
    accept = [float(_accepted(Fraction(u, int(scale)), divide, trials)) for u in range(int(scale))]

    def weight(size):
        v, u = divmod(abs(size), int(scale))
        return accept[u] * exp(-v)

    return weight


def _accepted(x, divide, trials):
    odd, left = Fraction(0), Fraction(1)
    for k in range(1, trials):
        if not left:
            break
        chance = divide(x, k)
        odd += left * (1 - chance) * (k % 2)
        left *= chance
    return odd

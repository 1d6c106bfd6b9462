"""Trade-off curves and mu: how well the best test tells two laws apart, certified.

A test rejects on a set S of outputs; it errs with Q(S) and 1 - P(S). The best pairs of errors form
a convex curve, the lower hull of these points over all S, whose corners are the sets "p/q is at
least t". A mechanism is mu-GDP when its curves lie on or above that of N(0, 1) against N(mu, 1),
``G_mu(x) = Phi(Phi^-1(1 - x) - mu)``. J. Dong, A. Roth, W. Su, "Gaussian Differential Privacy",
2019.

G_mu is convex: a curve of straight pieces lies above it when its corners do. So the smallest mu of
a pair is the largest of ``Phi^-1(P(S)) - Phi^-1(Q(S))`` over corners, and each S gives a lower
bound (theory 6.5). It is the same for (Q, P), and infinite where one law has an output that the
other has not.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from flint import arb

from liptest.balls import precision
from liptest.mechanisms.laws import exact_ball
from liptest.privacy.divergences.likelihoods import Balls, LikelihoodPair

#: Bits with which curves are calculated.
BITS = 192
# Ratios that differ by less are one, where masses are known as balls: their corners coincide.
_SAME_RATIO = 1e-7


@dataclass(frozen=True)
class MuEnclosure:
    """The smallest mu of a pair: between ``lower`` and ``upper``.

    ``ratio`` is the cut whose set {p/q >= ratio} reaches ``lower``; ``masses`` encloses P and Q of
    that set.
    """

    lower: arb
    upper: arb
    ratio: arb
    masses: Balls


def enclose_mu(pair: LikelihoodPair) -> MuEnclosure:
    """The smallest mu for which a pair is mu-GDP."""
    with precision(BITS):
        one_sided = _one_sided(pair)
        if one_sided is not None:
            return one_sided
        atoms = _by_ratio(pair)
        if not pair.is_whole:
            return _of_part(pair, atoms)
        enclosure = largest_of_corners(atoms)
        if pair.exact is not None:
            return enclosure
        certain = bool(pair.left_only == 0) and bool(pair.right_only == 0)
        # What is not certainly there on both sides leaves mu without a bound.
        upper = _hull_bound(atoms) if certain and _all_sure(pair) else arb("+inf")
        return MuEnclosure(
            enclosure.lower, upper.max(enclosure.lower), enclosure.ratio, enclosure.masses
        )


def gaussian_quantile(below: arb, above: arb) -> arb:
    """Phi^-1 of a probability, given with its complement so that no digit is lost."""
    if below <= above:
        return -arb(2).sqrt() * (2 * below).erfcinv()
    return arb(2).sqrt() * (2 * above).erfcinv()


def gaussian_delta(mu: arb, epsilon: arb) -> arb:
    """The smallest delta at epsilon of a pair of normal laws mu apart."""
    near, far = -epsilon / mu + mu / 2, -epsilon / mu - mu / 2
    return normal_mass(near) - epsilon.exp() * normal_mass(far)


def normal_mass(value: arb) -> arb:
    """Phi."""
    return (-value / arb(2).sqrt()).erfc() / 2


def find_normal_mass(value: float) -> arb:
    """Phi of a float, at the current precision."""
    return normal_mass(arb(value))


def curve_corners(pair: LikelihoodPair) -> list[Balls]:
    """Corners (Q(S), 1 - P(S)) of the trade-off curve of a pair from (0, 1 - left_only) on."""
    with precision(BITS):
        left = _ball(pair.left_only)
        x, y = arb(0), 1 - left
        corners = [(x, y)]
        for p, q in _by_ratio(pair):
            x, y = x + q, y - p
            corners.append((x, y))
        return corners


def _one_sided(pair: LikelihoodPair) -> MuEnclosure | None:
    infinite = arb("+inf")
    if pair.left_only > 0 and not pair.open_right:
        return MuEnclosure(infinite, infinite, infinite, (_ball(pair.left_only), arb(0)))
    if pair.right_only > 0 and not pair.open_left:
        rest = 1 - _ball(pair.right_only)
        return MuEnclosure(infinite, infinite, arb(0), (arb(1), rest))
    return None


def _by_ratio(pair: LikelihoodPair) -> list[Balls]:
    """Atoms by falling ratio; exactly where they are exact, else by the middles of balls."""
    if pair.exact is not None:
        return [(exact_ball(p), exact_ball(q)) for p, q in pair.exact]

    def ratio(atom: Balls) -> arb:
        p, q = atom
        return p.mid() / q.mid() if q.mid() > 0 else arb("+inf")

    return sorted(pair.in_balls(), key=lambda atom: float(ratio(atom).mid()), reverse=True)


def mu_of_corners(atoms: list[Balls]) -> list[arb]:
    """The quantile difference of each corner of atoms by falling ratio, the ends left out."""
    inside, outside = _prefix_sums(atoms), _prefix_sums(atoms[::-1])[::-1]
    corners = zip(inside[1:-1], outside[1:-1], strict=True)
    return [
        gaussian_quantile(p.min(arb(1)), p_rest) - gaussian_quantile(q.min(arb(1)), q_rest)
        for (p, q), (p_rest, q_rest) in corners
    ]


def largest_of_corners(atoms: list[Balls]) -> MuEnclosure:
    """The largest of them; its upper end holds where the order of ratios is certain."""
    best, upper = MuEnclosure(arb(0), arb(0), arb("+inf"), (arb(0), arb(0))), arb(0)
    sums = _prefix_sums(atoms)
    for k, mu in enumerate(mu_of_corners(atoms), 1):
        if not mu.is_finite():
            upper = arb("+inf")
            continue
        upper = upper.max(mu.upper())
        if mu.lower() > best.lower:
            best = MuEnclosure(mu.lower(), upper, atoms[k - 1][0] / atoms[k - 1][1], sums[k])
    return MuEnclosure(best.lower, upper, best.ratio, best.masses)


def _of_part(pair: LikelihoodPair, atoms: list[Balls]) -> MuEnclosure:
    """A lower bound where outputs do not account for all: that mass counts against it."""
    best = MuEnclosure(arb(0), arb("+inf"), arb("+inf"), (arb(0), arb(0)))
    p, outside = arb(0), sum((q.lower() for _, q in atoms), _ball(pair.right_only).lower())
    for p_last, q_last in atoms:
        p, outside = (p + p_last.lower()).lower(), (outside - q_last.lower()).lower()
        if not (p > 0 and outside > 0):
            continue
        mu = (gaussian_quantile(p, 1 - p) - gaussian_quantile(1 - outside, outside)).lower()
        if mu > best.lower:
            best = MuEnclosure(mu, best.upper, p_last / q_last, (p, 1 - outside))
    return best


def _prefix_sums(atoms: list[Balls]) -> list[Balls]:
    p, q = arb(0), arb(0)
    sums = [(p, q)]
    for more_p, more_q in atoms:
        p, q = p + more_p, q + more_q
        sums.append((p, q))
    return sums


def _all_sure(pair: LikelihoodPair) -> bool:
    return all(p > 0 and q > 0 for p, q in pair.in_balls())


def _hull_bound(atoms: list[Balls]) -> arb:
    """An upper bound of mu from lines above the curve of the masses, which are balls.

    For each t: P(S) <= t Q(S) + h(t), h(t) = sum max(0, p - t q). The lines of a few t bound the
    curve by a polygon, whose corners decide. At the largest ratio h is 0, at the smallest the
    complement's is.
    """
    ratios = [p / q for p, q in atoms]
    top = max((r.upper() for r in ratios), key=float)
    bottom = min((r.lower() for r in ratios), key=float)
    if top <= bottom:
        return arb(0)
    cuts = [top]
    for ratio in ratios:
        middle = ratio.mid()
        if middle < cuts[-1] * (1 - _SAME_RATIO) and middle > bottom * (1 + _SAME_RATIO):
            cuts.append(middle)
    cuts.append(bottom)
    sticks = [_both_sticks(atoms, t) for t in cuts]
    sticks[0] = (arb(0), top - 1)
    sticks[-1] = (1 - bottom, arb(0))
    best = arb(0)
    for (t, (h, k)), (s, (g, m)) in pairwise(zip(cuts, sticks, strict=True)):
        x, x_rest = (g - h) / (t - s), (k - m) / (t - s)
        y, y_rest = t * x + h, t * x_rest - k
        if not (x.lower() > 0 and y_rest.lower() > 0 and y.lower() > 0 and x_rest.lower() > 0):
            return arb("+inf")
        mu = gaussian_quantile(y, y_rest) - gaussian_quantile(x, x_rest)
        if not mu.is_finite():
            return arb("+inf")
        best = best.max(mu.upper())
    return best


def _both_sticks(atoms: list[Balls], t: arb) -> Balls:
    """Sums of the positive and of the negative parts of p - t q."""
    above, below = arb(0), arb(0)
    for p, q in atoms:
        gap = p - t * q
        above += _positive(gap)
        below += _positive(-gap)
    return above, below


def _positive(gap: arb) -> arb:
    if gap >= 0:
        return gap
    return arb(0) if gap <= 0 else arb(0).union(gap.upper())


def _ball(mass: object) -> arb:
    return mass if isinstance(mass, arb) else exact_ball(mass)  # type: ignore[arg-type]

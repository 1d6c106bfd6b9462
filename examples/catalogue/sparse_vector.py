"""The sparse vector technique: six published variants, with values, and with gaps.

Algorithms 1 to 6 of M. Lyu, D. Su and N. Li, "Understanding the sparse vector technique for
differential privacy", PVLDB 10(6), 2017; answers have sensitivity 1. Each returns a tuple with an
entry per query that was looked at: 1 above the threshold, 0 below, or a number.
"""

from catalogue.noise import laplace


def svt1(answers, rng, *, epsilon=1.0, threshold=0, c=1, noise=laplace):
    """Algorithm 1, Lyu, Su and Li: one noisy threshold, stops after c answers above it."""
    epsilon1 = epsilon / 2
    epsilon2 = epsilon - epsilon1
    rho = noise(rng, 1 / epsilon1)
    out = []
    count = 0
    for answer in answers:
        nu = noise(rng, 2 * c / epsilon2)
        if answer + nu >= threshold + rho:
            out.append(1)
            count += 1
            if count >= c:
                break
        else:
            out.append(0)
    return tuple(out)


def svt2(answers, rng, *, epsilon=1.0, threshold=0, c=1, noise=laplace):
    """Algorithm 2, Dwork and Roth 2014: a fresh threshold after each answer above it."""
    epsilon1 = epsilon / 2
    epsilon2 = epsilon - epsilon1
    rho = noise(rng, c / epsilon1)
    out = []
    count = 0
    for answer in answers:
        nu = noise(rng, 2 * c / epsilon2)
        if answer + nu >= threshold + rho:
            out.append(1)
            count += 1
            if count >= c:
                break
            rho = noise(rng, c / epsilon1)
        else:
            out.append(0)
    return tuple(out)


def svt3(answers, rng, *, epsilon=1.0, threshold=0, c=1, noise=laplace):
    """Algorithm 3, Roth's lecture notes 2011: shows the noisy answer that was compared."""
    epsilon1 = epsilon / 2
    epsilon2 = epsilon - epsilon1
    rho = noise(rng, 1 / epsilon1)
    out = []
    count = 0
    for answer in answers:
        noisy = answer + noise(rng, c / epsilon2)
        if noisy >= threshold + rho:
            out.append(noisy)
            count += 1
            if count >= c:
                break
        else:
            out.append(None)
    return tuple(out)


def svt4(answers, rng, *, epsilon=1.0, threshold=0, c=1, noise=laplace):
    """Algorithm 4, Lee and Clifton 2014: the noise of the answers does not grow with c."""
    epsilon1 = epsilon / 4
    epsilon2 = epsilon - epsilon1
    rho = noise(rng, 1 / epsilon1)
    out = []
    count = 0
    for answer in answers:
        nu = noise(rng, 1 / epsilon2)
        if answer + nu >= threshold + rho:
            out.append(1)
            count += 1
            if count >= c:
                break
        else:
            out.append(0)
    return tuple(out)


def svt5(answers, rng, *, epsilon=1.0, threshold=0, noise=laplace):
    """Algorithm 5, Stoddard, Chen and Machanavajjhala 2014: no noise on the answers, no end."""
    rho = noise(rng, 2 / epsilon)
    out = []
    for answer in answers:
        if answer >= threshold + rho:
            out.append(1)
        else:
            out.append(0)
    return tuple(out)


def svt6(answers, rng, *, epsilon=1.0, threshold=0, noise=laplace):
    """Algorithm 6, Chen, Xiao, Zhang and Xu 2015: no end."""
    epsilon1 = epsilon / 2
    epsilon2 = epsilon - epsilon1
    rho = noise(rng, 1 / epsilon1)
    out = []
    for answer in answers:
        nu = noise(rng, 1 / epsilon2)
        if answer + nu >= threshold + rho:
            out.append(1)
        else:
            out.append(0)
    return tuple(out)


def numerical_svt(answers, rng, *, epsilon=1.0, threshold=0, c=1, noise=laplace):
    """Numerical sparse vector: Y. Wang, Z. Ding, G. Wang, D. Kifer and D. Zhang, "Proving
    differential privacy with shadow execution", PLDI 2019."""
    rho = noise(rng, 3 / epsilon)
    out = []
    count = 0
    for answer in answers:
        nu = noise(rng, 6 * c / epsilon)
        if answer + nu >= threshold + rho:
            out.append(answer + noise(rng, 3 * c / epsilon))
            count += 1
            if count >= c:
                break
        else:
            out.append(0)
    return tuple(out)


def gap_svt(answers, rng, *, epsilon=1.0, threshold=0, c=1, noise=laplace):
    """Sparse vector with gap: Z. Ding, Y. Wang, D. Zhang and D. Kifer, "Free gap information from
    the differentially private sparse vector and noisy max mechanisms", PVLDB 13(3), 2019."""
    rho = noise(rng, 2 / epsilon)
    out = []
    count = 0
    for answer in answers:
        gap = answer + noise(rng, 4 * c / epsilon) - (threshold + rho)
        if gap >= 0:
            out.append(gap)
            count += 1
            if count >= c:
                break
        else:
            out.append(None)
    return tuple(out)

"""An object of OpenDP (extra ``opendp``): its law is known, its own claim comes with it.

It prints:

sum of 100 bits with Laplace noise, its own claim: YES, proved
sum of 100 bits with Laplace noise, half of it: NO, refuted
"""

import opendp.prelude as dp
from asking import ask

import liptest as lt

dp.enable_features("contrib")
measurement = (
    (dp.vector_domain(dp.atom_domain(bounds=(0, 1)), size=100), dp.symmetric_distance())
    >> dp.t.then_sum()
    >> dp.m.then_laplace(scale=2.0)
)
count = lt.adapters.opendp(measurement, draws=5_000)
title = "sum of 100 bits with Laplace noise"
ask(f"{title}, its own claim", count, count.domain, epsilon=count.epsilon)
ask(f"{title}, half of it", count, count.domain, epsilon=count.epsilon / 2)

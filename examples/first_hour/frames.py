"""Data frames of 10,000 rows: groups with a threshold, groups of the data, a Gaussian sum.

It prints:

groups that are declared, above a threshold: YES, proved
groups of the data: NO, refuted
Gaussian sum: YES, proved
Gaussian sum, not clipped: NO, refuted
"""

from asking import ask

import liptest as lt

REGIONS = ["north", "south"]
COLUMNS = {"age": lt.Integer(0, 120), "region": lt.Category(REGIONS)}
PEOPLE = lt.Table(COLUMNS, rows=10_000)


@lt.mechanism
def declared(people, rng):
    counts = people.groupby("region").size().reindex(REGIONS, fill_value=0)
    noisy = counts + rng.laplace(0, 2.0, size=2)
    return noisy[noisy > 20]


@lt.mechanism
def of_data(people, rng):
    return people.groupby("region").size() + rng.laplace(0, 2.0)


@lt.mechanism
def gaussian(people, rng):
    return float(people["age"].clip(0, 50).sum() + rng.normal(0, 50 * 3.74))


@lt.mechanism
def not_clipped(people, rng):
    return float(people["age"].sum() + rng.normal(0, 50 * 3.74))


ask("groups that are declared, above a threshold", declared, PEOPLE, epsilon=1)
ask("groups of the data", of_data, PEOPLE, epsilon=1, delta=1e-6)
ask("Gaussian sum", gaussian, PEOPLE, epsilon=1, delta=1e-5)
ask("Gaussian sum, not clipped", not_clipped, PEOPLE, epsilon=1, delta=1e-5)

"""Sums over all records, with noise added, where data are symbols: numbers and what they tell."""

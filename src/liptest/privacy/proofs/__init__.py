"""Proofs without samples: all pairs of neighbours, or noise that is shifted, at any size."""

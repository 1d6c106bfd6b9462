"""Outputs that are real numbers with noise, compared through their densities."""

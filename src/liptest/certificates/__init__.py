"""Verdicts with hashes of exactly what was tested, and whether they hold."""
